"""Paired tests: the mean difference of two scores of the same examples; and the correction of any tests by Holm."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from lapsus.kernel import statistics
from lapsus.results.measuring.records import DialectScore, Estimate, GroupGap, PairedTest

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Tested = TypeVar("Tested", PairedTest, GroupGap, DialectScore)


def paired_test(ours: ArrayLike, theirs: ArrayLike, originals: Iterable[Any] | None, level: float) -> PairedTest:
    """Return the mean difference of two scores of the same examples, with its test and the interval that inverts it.

    Examples that share an original are treated as one cluster.

    >>> paired_test([1, 0, 0, 0], [1, 1, 1, 1], list("abcd"), 0.95).test
    'McNemar'
    """
    one, other = np.asarray(ours, float), np.asarray(theirs, float)
    if not len(one):
        return PairedTest()
    found = statistics.compare(one, other, originals, level=level)
    if found.clusters < 2:
        return PairedTest()
    return PairedTest(
        Estimate(found.difference, *(found.interval or ())),
        found.test,
        found.p_value,
        detectable=found.detectable,
        effect_size=found.effect_size,
    )


def corrected(family: Iterable[Tested]) -> list[Tested]:
    """Add Holm's correction for the number of tests; a test that could not be made still counts as one.

    >>> [(test.p_holm, test.tests) for test in corrected([PairedTest(p_value=0.02), PairedTest()])]
    [(0.04, 2), (None, 2)]
    """
    family = list(family)
    adjusted = statistics.holm([1.0 if test.p_value is None else test.p_value for test in family])
    return [
        replace(test, p_holm=None if test.p_value is None else p_value, tests=len(family))
        for test, p_value in zip(family, adjusted, strict=True)
    ]
