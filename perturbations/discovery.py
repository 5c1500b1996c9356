"""Every operator there is: found by looking at the modules of this folder, when first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from lapsus.names import unknown
from lapsus.perturbations.core import Operator


@cache
def _found() -> Mapping[str, Operator]:
    """Collect the module-level tuple `UNITS` of each module."""
    units: dict[str, Operator] = {}
    for path in sorted(Path(__file__).parent.glob("[!_]*.py")):
        for unit in getattr(import_module(f"lapsus.perturbations.{path.stem}"), "UNITS", ()):
            if unit.name in units:
                raise ValueError(f"two operators are called {unit.name!r}; rename the one in {path.name}")
            units[unit.name] = unit
    return MappingProxyType(units)


class UnknownOperatorError(KeyError):
    """No operator has this name."""

    def __str__(self) -> str:
        return unknown("operator", self.args[0], _found())


class _Operators(Mapping[str, Operator]):
    """A read-only mapping from name to operator."""

    def __getitem__(self, name: str) -> Operator:
        if name not in _found():
            raise UnknownOperatorError(name)
        return _found()[name]

    def __contains__(self, name: object) -> bool:
        return name in _found()

    def __iter__(self) -> Iterator[str]:
        return iter(_found())

    def __len__(self) -> int:
        return len(_found())


OPERATORS: Mapping[str, Operator] = _Operators()
