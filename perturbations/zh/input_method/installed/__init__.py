"""Real Pinyin input methods behind one call, where the system has them; each is one module of this folder.

>>> sorted(method.name for method in list_input_methods())
['libgooglepinyin', 'libime', 'libpinyin', 'librime']
"""

from __future__ import annotations

import atexit
import ctypes
import pkgutil
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator


ROOTS = ("/usr/lib", "/usr/local/lib", "/usr/share", "/usr/local/share")


class InputMethod(Protocol):
    """Software that offers candidates for letters."""

    def candidates(self, keys: str, context: str = "", limit: int = 20) -> list[str]:
        """Return the candidates for the letters `keys`, best first."""
        ...


class InstalledInputMethod(NamedTuple):
    """A real input method: its name, whether it is available, and how to install it."""

    name: str
    available: bool
    install: str


def list_input_methods() -> Iterator[InstalledInputMethod]:
    """Yield every input method that lapsus can use."""
    for module in pkgutil.iter_modules(__path__):
        method = import_module(f"{__name__}.{module.name}")
        yield InstalledInputMethod(module.name, method.is_available(), method.INSTALL)


def open_input_method(name: str) -> InputMethod:
    """Return an input method, ready for use."""
    methods = {method.name: method for method in list_input_methods()}
    if name not in methods:
        raise LookupError(f"input method {name!r} is unknown; choose from embedded, {', '.join(sorted(methods))}")
    if not methods[name].available:
        raise LookupError(f"input method {name!r} is not installed; {methods[name].install}")
    return _open_once(name)


@cache
def _open_once(name: str) -> InputMethod:
    """Open once per process: several input methods have one global state."""
    method: InputMethod = import_module(f"{__name__}.{name}").open_engine()
    return method


@cache
def has_library(library: str) -> bool:
    """Return whether the loader finds a library of this name."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


@cache
def find_data(path: str) -> Path | None:
    """Return the first file or folder of this relative path in `ROOTS`, or in their folders of the architecture."""
    for root in ROOTS:
        for candidate in (Path(root) / path, *sorted(Path(root).glob(f"*-linux-gnu*/{path}"))):
            if candidate.exists():
                return candidate
    return None


def make_scratch_folder() -> Path:
    """Return a new folder that lasts as long as the process, for the files of an input method.

    Functions registered with atexit later still find it.
    """
    folder = tempfile.TemporaryDirectory(prefix="lapsus-")
    atexit.register(folder.cleanup)
    return Path(folder.name)
