"""Python functions that a user names as MODULE:FUNCTION.

>>> named_function("json:dumps")(["rain"])
'["rain"]'
"""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def named_function(name: str) -> Callable[..., Any]:
    """Return the function that MODULE:FUNCTION names, looked up in the working folder too."""
    module_name, _, function_name = name.partition(":")
    if not (module_name and function_name):
        raise ValueError(f"'python:{name}' names no function; write python:MODULE:FUNCTION")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name != module_name.partition(".")[0]:
            raise
        raise ModuleNotFoundError(
            f"there is no module {module_name!r} here; run lapsus in its folder, or set PYTHONPATH"
        ) from error
    function: Callable[..., Any] | None = getattr(module, function_name, None)
    if not callable(function):
        defined = [name for name, value in vars(module).items() if inspect.isfunction(value) and name[0] != "_"]
        raise LookupError(  # noqa: TRY004 - the name is at fault
            f"{module_name} has no function {function_name!r}; it has {', '.join(defined) or 'none'}"
        )
    return function
