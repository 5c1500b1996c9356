"""Where units come from: modules with a tuple `UNITS`, in a package of lapsus or named by an entry point.

>>> "filler_bos" in units("lapsus.perturbations", "lapsus.operators", lambda unit: unit.name)
True
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules
from typing import Any

Homed = tuple[str, Any]  # (module of the unit, the unit)


def units(package: str, group: str, name_of: Callable[[Any], str]) -> dict[str, Any]:
    """Return the units of a package of lapsus, and those of other packages that name the entry point `group`."""
    return with_others(_own(package), group, name_of)


def with_others(own: Iterable[Homed], group: str, name_of: Callable[[Any], str]) -> dict[str, Any]:
    """Return these units, and those of other packages that name the entry point `group`, by name.

    A package that cannot be imported is left out with a warning, so that the others stay usable.
    """
    return _named((*own, *_others(group)), name_of)


def _named(homed: Iterable[Homed], name_of: Callable[[Any], str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    homes: dict[str, str] = {}
    for home, unit in homed:
        name = name_of(unit)
        if name in found:
            raise ValueError(f"{homes[name]} and {home} both have a unit called {name!r}; rename one of them")
        found[name], homes[name] = unit, home
    return found


def _own(package: str) -> Iterator[Homed]:
    """Yield the units of a package's modules, and of the packages in it."""
    for module in iter_modules(import_module(package).__path__, f"{package}."):
        if module.ispkg:
            yield from _own(module.name)
        elif not module.name.rpartition(".")[2].startswith("_"):
            for unit in getattr(import_module(module.name), "UNITS", ()):
                yield module.name, unit


def _others(group: str) -> Iterator[Homed]:
    for point in entry_points(group=group):
        try:
            given = tuple(point.load().UNITS)
        except Exception as error:  # noqa: BLE001 - another package's module may raise anything
            warnings.warn(_unusable(point, error), stacklevel=2)
            continue
        for unit in given:
            yield point.value, unit


def _unusable(point: EntryPoint, error: Exception) -> str:
    home = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
    return f"the units of {home} are left out ({type(error).__name__}: {error}); mend or uninstall the package"
