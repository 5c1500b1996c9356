"""Lazy public names: their modules are imported on first use, so that importing a package is fast."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package: `homes` says which module each public name is in.

    >>> lazy("lapsus.kernel", {"shown": "lapsus.kernel.names"})("shown")("ab")
    'a, b'
    """

    def __getattr__(name: str) -> Any:  # noqa: N807 - it is one
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, found)
        return found

    return __getattr__
