"""What an operator needs beyond the core is imported when it is used; when it is missing, one sentence says so."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def needed(module: str, extra: str) -> Any:
    """Import `module`, which `extra` of lapsus installs.

    >>> needed("no_such_module", "en")
    Traceback (most recent call last):
    ...
    ModuleNotFoundError: this operator needs no_such_module; install it with: pip install "lapsus[en]"
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ModuleNotFoundError(
            f'this operator needs {module}; install it with: pip install "lapsus[{extra}]"', name=module
        ) from error
