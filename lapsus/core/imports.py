"""Optional dependencies are imported on first use; the error for a missing one names the extra to install."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def import_optional(module: str, extra: str, needed_by: str = "this operator") -> Any:
    """Import `module`, which `extra` of lapsus installs; `needed_by` says what needs it.

    >>> import_optional("no_such_module", "en")
    Traceback (most recent call last):
    ...
    ModuleNotFoundError: this operator needs no_such_module; install it with: pip install "lapsus[en]"
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise _missing_error(module, extra, needed_by) from error


def find_package_folder(module: str, extra: str) -> Path:
    """Return the folder of an installed package, without importing it: for reading its data files.

    >>> find_package_folder("click", "en").name
    'click'
    """
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise _missing_error(module, extra)
    return Path(spec.origin).parent


def _missing_error(module: str, extra: str, needed_by: str = "this operator") -> ModuleNotFoundError:
    return ModuleNotFoundError(
        f'{needed_by} needs {module}; install it with: pip install "lapsus[{extra}]"', name=module
    )


# Lazy public names: their modules are imported on first use, so that importing a package is fast.


def make_lazy_getattr(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package: `modules` says which module each public name is in.

    >>> make_lazy_getattr("lapsus.core", {"format_list": "lapsus.core.messages"})("format_list")("ab")
    'a, b'
    """

    def __getattr__(name: str) -> Any:  # noqa: N807 - it is one
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return __getattr__


# Python functions that a user names as MODULE:FUNCTION.
# >>> import_function("json:dumps")(["rain"])
# '["rain"]'


def import_function(name: str) -> Callable[..., Any]:
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
