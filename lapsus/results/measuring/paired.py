"""Two scores of the same examples: how much they differ, and whether that may be chance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from lapsus.kernel import statistics
from lapsus.results.measuring.records import Estimate, PairedTest


def paired_test(ours: Sequence[float], theirs: Sequence[float], originals: Sequence[str], level: float) -> PairedTest:
    """Return the mean difference of two scores of the same examples, with its interval and test.

    Where examples share an original, it is the originals that count.

    >>> paired_test([1, 0, 0, 0], [1, 1, 1, 1], list("abcd"), 0.95).test
    'McNemar, exact'
    """
    from scipy import stats

    if len(ours) < 2:
        return PairedTest()
    first, second = np.array(ours), np.array(theirs)
    difference = first - second
    mean = float(difference.mean())
    _, own, sizes = np.unique(np.array(originals), return_inverse=True, return_counts=True)
    if len(sizes) < len(difference):
        sums = np.bincount(own, difference).astype(float)
        interval, p_value = statistics.clustered_mean(sums, sizes, level)
        return PairedTest(Estimate(mean, *(interval or ())), "t over originals", p_value)
    low = high = p_value = None
    if np.ptp(difference) > 1e-12:  # else they differ by rounding alone
        result = stats.ttest_rel(first, second)
        interval = result.confidence_interval(level)
        low, high, p_value = float(interval.low), float(interval.high), float(result.pvalue)
    elif abs(difference[0]) <= 1e-12:
        low = high = 0.0
        p_value = 1.0
    test = "paired t"
    if set(first) | set(second) <= {0.0, 1.0}:
        test, p_value = (
            "McNemar, exact",
            statistics.mcnemar(int((difference > 0).sum()), int((difference < 0).sum()), exact=True),
        )
    return PairedTest(Estimate(mean, low, high), test, p_value)


def corrected(tests: Iterable[PairedTest]) -> list[PairedTest]:
    """Add Holm's correction for the number of tests; a test that could not be made still counts as one."""
    tests = list(tests)
    adjusted = statistics.holm([1.0 if test.p_value is None else test.p_value for test in tests])
    return [
        replace(test, p_holm=None if test.p_value is None else p_value)
        for test, p_value in zip(tests, adjusted, strict=True)
    ]
