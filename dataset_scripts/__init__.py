"""One builder file per benchmark family; units are found by looking at the folder."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lapsus.dataset_scripts._benchmark import Benchmark


def benchmarks() -> dict[str, type[Benchmark]]:
    """Return every benchmark by the name of its repo.

    >>> "sample" in benchmarks()
    True
    """
    from lapsus.dataset_scripts._benchmark import Benchmark

    found: dict[str, type[Benchmark]] = {}
    for module in iter_modules(__path__):
        if not module.name.startswith("_"):
            units = vars(import_module(f"{__name__}.{module.name}")).values()
            found |= {
                unit.NAME: unit
                for unit in units
                if isinstance(unit, type) and issubclass(unit, Benchmark) and hasattr(unit, "NAME")
            }
    return dict(sorted(found.items()))
