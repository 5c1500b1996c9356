"""Where units come from: modules with a tuple `UNITS`, in a package of lapsus or named by an entry point.

>>> "filler_bos" in load_units("lapsus.perturbations", "lapsus.operators", lambda unit: unit.name)
True
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules
from typing import Any

LocatedUnit = tuple[str, Any]  # (module of the unit, the unit)


def load_units(package: str, group: str, name_of: Callable[[Any], str]) -> dict[str, Any]:
    """Return the units of a package of lapsus, and those that packages name by the entry point `group`, by name."""
    return add_plugin_units(_iter_package_units(package), group, name_of)


def add_plugin_units(own_units: Iterable[LocatedUnit], group: str, name_of: Callable[[Any], str]) -> dict[str, Any]:
    """Return these units, and those that packages name by the entry point `group`, by name."""
    return index_units((*own_units, *iter_plugin_units(group)), name_of)


def index_units(located: Iterable[LocatedUnit], name_of: Callable[[Any], str]) -> dict[str, Any]:
    """Return units by name; raise where two have the same name."""
    units: dict[str, Any] = {}
    modules: dict[str, str] = {}
    for module, unit in located:
        name = name_of(unit)
        if name in units:
            raise ValueError(f"{modules[name]} and {module} both have a unit called {name!r}; rename one of them")
        units[name], modules[name] = unit, module
    return units


def iter_plugin_units(group: str, *, own: bool = True) -> Iterator[LocatedUnit]:
    """Yield the units that packages name by the entry point `group`; without `own`, not those of lapsus itself.

    A package that cannot be imported is left out with a warning, so that the others stay usable.
    """
    for point in entry_points(group=group):
        if not own and point.dist is not None and point.dist.name == "lapsus":
            continue
        try:
            plugin_units = tuple(point.load().UNITS)
        except Exception as error:  # noqa: BLE001 - another package's module may raise anything
            warnings.warn(_plugin_error_message(point, error), stacklevel=2)
            continue
        for unit in plugin_units:
            yield point.value, unit


def _iter_package_units(package: str) -> Iterator[LocatedUnit]:
    """Yield the units of a package's modules, and of the packages in it."""
    for module in iter_modules(import_module(package).__path__, f"{package}."):
        if module.ispkg:
            yield from _iter_package_units(module.name)
        elif not module.name.rpartition(".")[2].startswith("_"):
            for unit in getattr(import_module(module.name), "UNITS", ()):
                yield module.name, unit


def _plugin_error_message(point: EntryPoint, error: Exception) -> str:
    package = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
    return f"the units of {package} are left out ({type(error).__name__}: {error}); mend or uninstall the package"
