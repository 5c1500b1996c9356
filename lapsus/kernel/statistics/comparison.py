"""Compare two scores of the same examples: mean difference, interval, p-value, effect size."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import optimize, special

from lapsus.kernel.statistics.clusters import Clustered, clustered

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lapsus.kernel.columns import FloatArray, IntArray
    from lapsus.kernel.statistics.rates import Interval

POWER = 0.8  # the chance of finding a difference that is called detectable
NO_VARIANCE = 1e-15


@dataclass(frozen=True, slots=True)
class Comparison:
    """The mean of first - second; the p-value is below 1 - level exactly when the interval excludes 0."""

    difference: float
    interval: Interval | None
    p_value: float | None
    test: str | None
    effect_size: float | None  # the difference in standard deviations of the differences (Cohen's d for pairs)
    detectable: float | None  # the smallest true difference that the test finds with a chance of 80 %
    examples: int
    clusters: int


def compare(
    first: FloatArray, second: FloatArray, clusters: Iterable[Any] | None = None, *, level: float = 0.95
) -> Comparison:
    """Return how much higher the first of two paired scores is on average, and whether that could be chance.

    Scores between 0 and 1 get the score test of the sums of each original (without clusters, and with scores of 0 and
    1, it is McNemar's) and the interval that inverts it; other scores get Student's t over originals.

    >>> found = compare(np.array([1.0] * 18 + [0, 0]), np.array([1.0] * 10 + [0] * 10))
    >>> found.difference, round(found.p_value, 4), [round(end, 2) for end in found.interval]
    (0.4, 0.0047, [0.17, 0.61])
    """
    one, other = np.asarray(first, float), np.asarray(second, float)
    differences = one - other
    differences[abs(differences) < 1e-12] = 0.0  # the differences are rounding errors
    found = clustered(differences, clusters)
    number = found.number
    ends: Interval | None
    p_value: float | None
    size = effect_size(differences, number)
    if number < 2:
        return Comparison(found.mean, None, None, None, size, None, len(one), number)
    detectable = detectable_difference(found, level)
    if min(one.min(), other.min()) >= 0 and max(one.max(), other.max()) <= 1:
        gains = float(differences[differences > 0].sum()) / len(one)
        ends, p_value = score_difference(found, gains, level)
        plain = number == len(one) and bool(np.isin(differences, (-1.0, 0.0, 1.0)).all())
        test = "McNemar" if plain else "score test over originals" if number < len(one) else "score test"
    else:
        ends, p_value = clustered_mean(found.sums, found.sizes, level)
        test = "t over originals" if number < len(one) else "paired t"
    return Comparison(found.mean, ends, p_value, test, size, detectable, len(one), number)


def score_difference(found: Clustered, gains: float, level: float) -> tuple[Interval, float]:
    """Return the interval of a mean difference of scores between 0 and 1, and the p-value of its being 0.

    Args:
        found: the differences by cluster, at least two.
        gains: the mean of the differences above 0 (and 0 for the others).
        level: of the interval.

    The test divides the mean by its standard error under the hypothesis; for one pair of 0 or 1 in each cluster it
    is McNemar's. The interval is Tango's, with as many independent pairs of 0 and 1 as have the variance of the
    clusters; its critical value is chosen so that it excludes 0 exactly when the test rejects.
    """
    clusters, difference, variance = found.number, found.mean, found.variance
    losses = max(0.0, gains - difference)
    of_pair = gains + losses - difference**2
    if variance < NO_VARIANCE:  # no spread: each cluster counts as one pair
        variance = of_pair / clusters
    effective = of_pair / variance if variance >= NO_VARIANCE else float(clusters)
    p_value = _two_sided(difference, variance, clusters)
    square = float(special.ndtri(0.5 + level / 2)) ** 2
    reach = square / (1 - square / clusters) if clusters > square else np.inf
    critical = 1 / (1 / reach + 1 / effective) if variance >= NO_VARIANCE else square
    low = _end(gains, losses, effective, critical, -1.0)
    high = _end(gains, losses, effective, critical, 1.0)
    return [low, high], p_value


def score_test(found: Clustered, alternative: str = "two-sided") -> float:
    """Return the p-value of the hypothesis that a mean is 0, from its clustered standard error under that hypothesis.

    With 1 for a win, -1 for a loss, 0 for a tie, and one of them in each cluster, it is the sign test without ties:

    >>> wins, losses, ties = [1.0] * 9, [-1.0] * 3, [0.0] * 50
    >>> round(score_test(clustered(np.array(wins + losses + ties))), 4)  # 6 / sqrt(12) normal deviates
    0.0833
    """
    if alternative == "two-sided":
        return _two_sided(found.mean, found.variance, found.number)
    deviates = _deviates(found.mean, found.variance, found.number)
    return float(special.ndtr(-deviates if alternative == "greater" else deviates))


def _two_sided(mean: float, variance: float, clusters: int) -> float:
    return 2 * float(special.ndtr(-abs(_deviates(mean, variance, clusters))))


def _deviates(mean: float, variance: float, clusters: int) -> float:
    """Return a mean in standard errors under the hypothesis that it is 0."""
    return float(mean / np.sqrt(variance + mean**2 / clusters)) if mean else 0.0


def _end(gains: float, losses: float, number: float, critical: float, bound: float) -> float:
    """Return where Tango's score statistic reaches the critical value, between the difference and -1 or 1."""
    difference = gains - losses

    def excess(true: float) -> float:
        middle = (2 - difference) * true - gains - losses
        other = (sqrt(max(0.0, middle**2 + 8 * losses * true * (1 - true))) - middle) / 4
        variance = 2 * other + true * (1 - true)
        return number * (difference - true) ** 2 - critical * variance

    if excess(bound) <= 0 or bound == difference:
        return bound
    inside = difference + 1e-13 * (bound - difference)
    return inside if excess(inside) >= 0 else float(optimize.brentq(excess, inside, bound, xtol=1e-12))


def clustered_mean(
    sums: FloatArray | IntArray, sizes: FloatArray | IntArray, level: float
) -> tuple[Interval | None, float | None]:
    """Return the interval of a mean of clustered values, and the p-value of the hypothesis that the mean is 0.

    `sums` and `sizes` are per cluster; the variance is that between clusters, with Student's t for their number.
    Clusters of one value each give the usual t-test:

    >>> from scipy import stats
    >>> interval, p_value = clustered_mean(np.array([1.0, 0.0, 2.0, 1.0]), np.ones(4, int), 0.95)
    >>> round(p_value, 4), round(float(stats.ttest_1samp([1, 0, 2, 1], 0).pvalue), 4)
    (0.0917, 0.0917)
    """
    clusters, total = len(sizes), int(sizes.sum())
    if clusters < 2:
        return None, None
    mean = sums.sum() / total
    error = float(np.sqrt(clusters / (clusters - 1) * ((sums - mean * sizes) ** 2).sum()) / total)
    if error == 0:
        return [float(mean), float(mean)], 1.0 if mean == 0 else None
    half = float(special.stdtrit(clusters - 1, 0.5 + level / 2)) * error
    p_value = 2 * float(special.stdtr(clusters - 1, -abs(mean) / error))
    return [float(mean - half), float(mean + half)], p_value


def effect_size(differences: FloatArray, clusters: int) -> float | None:
    """Return the mean in standard deviations of the differences (Cohen's d for pairs); None where they do not vary.

    The deviation is estimated from so many clusters: five copies of every row change nothing.
    """
    spread = float(differences.std())
    return None if clusters < 2 or spread < 1e-12 else float(differences.mean() / spread * np.sqrt(1 - 1 / clusters))


def detectable_difference(found: Clustered, level: float) -> float | None:
    """Return the smallest true mean difference that is found with a chance of 80 %, given the spread of these clusters.

    None where the clusters do not vary.
    """
    clusters = found.number
    error = np.sqrt(found.variance * clusters / (clusters - 1))
    if error == 0:
        return None
    return float((special.ndtri(0.5 + level / 2) + special.ndtri(POWER)) * error)
