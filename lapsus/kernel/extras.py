"""Optional dependencies are imported on first use; the error for a missing one names the extra to install."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def needed(module: str, extra: str, by: str = "this operator") -> Any:
    """Import `module`, which `extra` of lapsus installs; `by` says what needs it.

    >>> needed("no_such_module", "en")
    Traceback (most recent call last):
    ...
    ModuleNotFoundError: this operator needs no_such_module; install it with: pip install "lapsus[en]"
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise _missing(module, extra, by) from error


def shipped(module: str, extra: str) -> Path:
    """Return the folder of an installed package, without importing it: for reading its data files.

    >>> shipped("click", "en").name
    'click'
    """
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise _missing(module, extra)
    return Path(spec.origin).parent


def _missing(module: str, extra: str, by: str = "this operator") -> ModuleNotFoundError:
    return ModuleNotFoundError(f'{by} needs {module}; install it with: pip install "lapsus[{extra}]"', name=module)
