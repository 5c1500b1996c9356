"""Imports on first use: of optional dependencies, whose error names the extra to install, and of public names."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def import_optional(module: str, extra: str, needed_by: str = "this operator") -> Any:
    """Import `module`, which the extra `extra` of lapsus installs; `needed_by` is the subject of the error.

    >>> import_optional("no_such_module", "en")
    Traceback (most recent call last):
    ...
    ModuleNotFoundError: this operator needs no_such_module; install it with: pip install "lapsus[en]"
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise _missing_error(module, extra, needed_by) from error


def import_package(module: str, needed_by: str) -> Any:
    """Import a package that no extra of lapsus installs, since it is large or asks for certain machines.

    >>> import_package("no_such_module", "--fast")
    Traceback (most recent call last):
    ...
    ModuleNotFoundError: --fast needs no_such_module; install it with: pip install no_such_module
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ModuleNotFoundError(
            f"{needed_by} needs {module}; install it with: pip install {module}", name=module
        ) from error


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


def make_lazy_getattr(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package that imports a public name's module, as `modules` gives it, on first use.

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
