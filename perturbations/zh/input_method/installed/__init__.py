"""Where the system keeps libraries and their data."""

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


@cache
def has_library(library: str) -> bool:
    """Say whether the loader finds a library of this name."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


@cache
def find_data(path: str) -> Path | None:
    """Return the first file or folder of this relative path, also below a folder of the machine's architecture."""
    for root in ROOTS:
        for candidate in (Path(root) / path, *sorted(Path(root).glob(f"*-linux-gnu*/{path}"))):
            if candidate.exists():
                return candidate
    return None


def make_scratch_folder() -> Path:
    """Make a folder that lasts as long as the process: what an engine writes there, no other run reads.

    What is registered with atexit after this still finds the folder.
    """
    folder = tempfile.TemporaryDirectory(prefix="lapsus-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


# Real Pinyin input methods behind one call, where the system has them.
# >>> sorted(engine.name for engine in list_input_methods())
# ['libgooglepinyin', 'libime', 'libpinyin', 'librime']


class InputMethod(Protocol):
    """What offers candidates for letters."""

    def candidates(self, keys: str, context: str = "", limit: int = 20) -> list[str]:
        """Return what is offered for the letters `keys`, best first."""
        ...


class InstalledInputMethod(NamedTuple):
    """A real input method: its name, whether it is here, and how to get it."""

    name: str
    available: bool
    install: str


def list_input_methods() -> Iterator[InstalledInputMethod]:
    """Yield every input method that lapsus can drive; each is one module of this folder."""
    for module in pkgutil.iter_modules(__path__):
        engine = import_module(f"{__name__}.{module.name}")
        yield InstalledInputMethod(module.name, engine.is_available(), engine.INSTALL)


def open_input_method(name: str) -> InputMethod:
    """Return an input method, ready for use."""
    methods = {engine.name: engine for engine in list_input_methods()}
    if name not in methods:
        raise LookupError(f"input method {name!r} is unknown; choose from embedded, {', '.join(sorted(methods))}")
    if not methods[name].available:
        raise LookupError(f"input method {name!r} is not installed; {methods[name].install}")
    return _open_once(name)


@cache
def _open_once(name: str) -> InputMethod:
    """Open once per process: several of them keep one global state."""
    engine: InputMethod = import_module(f"{__name__}.{name}").open_engine()
    return engine
