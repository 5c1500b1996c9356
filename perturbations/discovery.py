"""Every operator there is: those of this package, found in its modules, and those of other packages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType

from lapsus.kernel.names import unknown
from lapsus.kernel.units import units
from lapsus.perturbations.core import Operator


@cache
def _found() -> Mapping[str, Operator]:
    return MappingProxyType(dict(units("lapsus.perturbations", "lapsus.operators", lambda unit: unit.name)))


class UnknownOperatorError(KeyError):
    """No operator has this name."""

    def __str__(self) -> str:
        return unknown("operator", self.args[0], _found())


class _Operators(Mapping[str, Operator]):
    """A read-only mapping from name to operator, filled when it is first asked."""

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
