"""Real Pinyin input methods behind one call, where the system has them.

>>> sorted(engine.name for engine in engines())
['libgooglepinyin', 'libime', 'libpinyin', 'librime']
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator


class InputMethod(Protocol):
    """What offers candidates for letters."""

    def candidates(self, keys: str, context: str = "", limit: int = 20) -> list[str]:
        """Return what is offered for the letters `keys`, best first."""
        ...


class Engine(NamedTuple):
    """A real input method: its name, whether it is here, and how to get it."""

    name: str
    available: bool
    install: str


def engines() -> Iterator[Engine]:
    """Yield every input method that lapsus can drive; each is one module of this folder."""
    for module in pkgutil.iter_modules(__path__):
        engine = import_module(f"{__name__}.{module.name}")
        yield Engine(module.name, engine.is_available(), engine.INSTALL)


def load(name: str) -> InputMethod:
    """Return an input method, ready for use."""
    found = {engine.name: engine for engine in engines()}
    if name not in found:
        raise LookupError(f"input method {name!r} is unknown; choose from embedded, {', '.join(sorted(found))}")
    if not found[name].available:
        raise LookupError(f"input method {name!r} is not installed; {found[name].install}")
    return _opened(name)


@cache
def _opened(name: str) -> InputMethod:
    """Open once per process: several of them keep one global state."""
    engine: InputMethod = import_module(f"{__name__}.{name}").open_engine()
    return engine
