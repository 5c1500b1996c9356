"""Tests: of two scores of the same examples, of counts, of the gap between groups, and corrections for several tests.

`compare_paired` gives a mean difference with its interval, p-value and effect size. `mcnemar` and `sign_test` are for
counts, `permutation_test` assumes no distribution, `compare_group_extremes` tests the gap between the groups with the
lowest and the highest mean, `bonferroni` and `holm` correct p-values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import optimize, special

from lapsus.stats.clusters import NO_VARIANCE, ClusterSums, sum_by_cluster

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lapsus.core.checks import FloatArray, IntArray
    from lapsus.stats.intervals import Interval

POWER = 0.8  # of a test against the smallest detectable difference
EXACT_UP_TO = 16  # clusters with a difference, at most, for the exact permutation test: 65,536 ways of swapping
BATCH = 4_000_000  # signs drawn at once


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """The mean of first - second; the p-value is below 1 - level exactly when the interval excludes 0."""

    difference: float
    interval: Interval | None
    p_value: float | None
    test: str | None
    effect_size: float | None  # the difference in standard deviations of the differences (Cohen's d for pairs)
    minimum_detectable: float | None  # the smallest true difference that the test detects with 80 % power
    examples: int
    clusters: int


def compare_paired(
    first: FloatArray, second: FloatArray, clusters: Iterable[Any] | None = None, *, level: float = 0.95
) -> PairedComparison:
    """Return the mean difference of two paired scores, with its interval and a test that it is 0.

    Scores between 0 and 1 get the score test of the sums by cluster (McNemar's, where scores are 0 or 1 and each row is
    its own cluster) and the interval that inverts it; other scores get Student's t over clusters.

    >>> comparison = compare_paired(np.array([1.0] * 18 + [0, 0]), np.array([1.0] * 10 + [0] * 10))
    >>> comparison.difference, round(comparison.p_value, 4), [round(end, 2) for end in comparison.interval]
    (0.4, 0.0047, [0.17, 0.61])
    """
    first_scores, second_scores = np.asarray(first, float), np.asarray(second, float)
    differences = first_scores - second_scores
    differences[abs(differences) < 1e-12] = 0.0  # rounding errors
    sums = sum_by_cluster(differences, clusters)
    n_clusters = sums.n_clusters
    ends: Interval | None
    p_value: float | None
    size = compute_effect_size(differences, n_clusters)
    if n_clusters < 2:
        return PairedComparison(sums.mean, None, None, None, size, None, len(first_scores), n_clusters)
    detectable = minimum_detectable_difference(sums, level)
    if min(first_scores.min(), second_scores.min()) >= 0 and max(first_scores.max(), second_scores.max()) <= 1:
        gains = float(differences[differences > 0].sum()) / len(first_scores)
        ends, p_value = estimate_difference(sums, gains, level)
        is_binary = n_clusters == len(first_scores) and bool(np.isin(differences, (-1.0, 0.0, 1.0)).all())
        test = (
            "McNemar" if is_binary else "score test over originals" if n_clusters < len(first_scores) else "score test"
        )
    else:
        ends, p_value = estimate_clustered_mean(sums.sums, sums.sizes, level)
        test = "t over originals" if n_clusters < len(first_scores) else "paired t"
    return PairedComparison(sums.mean, ends, p_value, test, size, detectable, len(first_scores), n_clusters)


def estimate_difference(sums: ClusterSums, gains: float, level: float) -> tuple[Interval, float]:
    """Return the interval of a mean difference of scores between 0 and 1, and the p-value of a test that it is 0.

    Args:
        sums: the differences by cluster, at least two.
        gains: the mean of the differences above 0 (and 0 for the others).
        level: of the interval.

    The test divides the mean by its standard error under the hypothesis; for one pair of 0 or 1 in each cluster it
    is McNemar's. The interval is Tango's for as many independent pairs of 0 and 1 as would have the variance of the
    clusters; with its critical value it excludes 0 exactly when the test rejects.
    """
    clusters, difference, variance = sums.n_clusters, sums.mean, sums.variance
    losses = max(0.0, gains - difference)
    pair_variance = gains + losses - difference**2
    if variance < NO_VARIANCE:  # no spread: each cluster counts as one pair
        variance = pair_variance / clusters
    effective = pair_variance / variance if variance >= NO_VARIANCE else float(clusters)
    p_value = _compute_p_value(difference, variance, clusters)
    square = float(special.ndtri(0.5 + level / 2)) ** 2
    reach = square / (1 - square / clusters) if clusters > square else np.inf
    critical = 1 / (1 / reach + 1 / effective) if variance >= NO_VARIANCE else square
    low = _solve_interval_end(gains, losses, effective, critical, -1.0)
    high = _solve_interval_end(gains, losses, effective, critical, 1.0)
    return [low, high], p_value


def score_test(sums: ClusterSums, alternative: str = "two-sided") -> float:
    """Return the p-value of the hypothesis that a mean is 0, from its clustered standard error under that hypothesis.

    With 1 for a win, -1 for a loss, 0 for a tie, and one of them in each cluster, it is the sign test without ties:

    >>> wins, losses, ties = [1.0] * 9, [-1.0] * 3, [0.0] * 50
    >>> round(score_test(sum_by_cluster(np.array(wins + losses + ties))), 4)  # 6 / sqrt(12) normal deviates
    0.0833
    """
    if alternative == "two-sided":
        return _compute_p_value(sums.mean, sums.variance, sums.n_clusters)
    z_score = _z_score(sums.mean, sums.variance, sums.n_clusters)
    return float(special.ndtr(-z_score if alternative == "greater" else z_score))


def _compute_p_value(mean: float, variance: float, clusters: int) -> float:
    return 2 * float(special.ndtr(-abs(_z_score(mean, variance, clusters))))


def _z_score(mean: float, variance: float, clusters: int) -> float:
    """Return a mean in standard errors under the hypothesis that it is 0."""
    return float(mean / np.sqrt(variance + mean**2 / clusters)) if mean else 0.0


def _solve_interval_end(gains: float, losses: float, number: float, critical: float, limit: float) -> float:
    """Return where Tango's score statistic reaches the critical value, between the difference and -1 or 1."""
    difference = gains - losses

    def excess(delta: float) -> float:
        middle = (2 - difference) * delta - gains - losses
        loss_rate = (sqrt(max(0.0, middle**2 + 8 * losses * delta * (1 - delta))) - middle) / 4
        variance = 2 * loss_rate + delta * (1 - delta)
        return number * (difference - delta) ** 2 - critical * variance

    if excess(limit) <= 0 or limit == difference:
        return limit
    inside = difference + 1e-13 * (limit - difference)
    return inside if excess(inside) >= 0 else float(optimize.brentq(excess, inside, limit, xtol=1e-12))


def estimate_clustered_mean(
    sums: FloatArray | IntArray, sizes: FloatArray | IntArray, level: float
) -> tuple[Interval | None, float | None]:
    """Return the interval of a mean of clustered values, and the p-value of the hypothesis that the mean is 0.

    `sums` and `sizes` are by cluster; the variance is that between clusters, and the test is Student's t over clusters.
    With one value in each cluster it is the usual t-test:

    >>> from scipy import stats
    >>> interval, p_value = estimate_clustered_mean(np.array([1.0, 0.0, 2.0, 1.0]), np.ones(4, int), 0.95)
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


def compute_effect_size(differences: FloatArray, clusters: int) -> float | None:
    """Return the mean in standard deviations of the differences (Cohen's d for pairs); None where they do not vary.

    The deviation is estimated from the number of clusters, so that copies of rows in the same cluster change nothing.
    """
    spread = float(differences.std())
    return None if clusters < 2 or spread < 1e-12 else float(differences.mean() / spread * np.sqrt(1 - 1 / clusters))


def minimum_detectable_difference(sums: ClusterSums, level: float) -> float | None:
    """Return the smallest true mean difference that a test on these clusters detects with 80 % power.

    None where the clusters do not vary.
    """
    clusters = sums.n_clusters
    error = np.sqrt(sums.variance * clusters / (clusters - 1))
    if error == 0:
        return None
    return float((special.ndtri(0.5 + level / 2) + special.ndtri(POWER)) * error)


def mcnemar(one_way: int, other_way: int, *, exact: bool = False) -> float:
    """Return the two-sided p-value of the hypothesis that changes in both directions are equally likely.

    The exact test rejects a true hypothesis less often than its level, since few counts are possible; mid-p, the
    default, weights the observed outcome by one half and is closer to the level.

    >>> round(mcnemar(52, 38, exact=True), 3), round(mcnemar(52, 38), 3)  # RoBERTa on PaRTE: to wrong, to right
    (0.17, 0.142)
    """
    changes = one_way + other_way
    if not changes:
        return 1.0
    fewer = min(one_way, other_way)
    at_most, below = special.bdtr([fewer, fewer - 1], changes, 0.5)
    return float(min(1.0, 2 * at_most if exact else at_most + (below if fewer else 0.0)))


def sign_test(wins: int, losses: int, alternative: str) -> float:
    """Return the exact p-value of the hypothesis that wins and losses are equally likely; ties are in neither count.

    >>> sign_test(3, 0, "greater")
    0.125
    """
    trials = wins + losses
    if not trials:
        return 1.0
    if alternative == "two-sided":
        return float(min(1.0, 2 * special.bdtr(min(wins, losses), trials, 0.5)))
    return float(special.bdtr(losses if alternative == "greater" else wins, trials, 0.5))


def permutation_test(
    first: FloatArray,
    second: FloatArray,
    clusters: Iterable[Any] | None = None,
    *,
    n_resamples: int = 10_000,
    seed: int,
) -> float:
    """Return the two-sided p-value of a mean difference under random swaps of the two scores, by whole clusters.

    Up to 16 clusters with a difference, all ways of swapping are counted. Above, `n_resamples` are drawn, and the
    observed one is counted too, so that the p-value is valid and never 0.

    >>> permutation_test(np.array([1.0, 1, 1, 1]), np.array([0.0, 0, 0, 1]), seed=0)
    0.25
    """
    sums = sum_by_cluster(np.asarray(first, float) - np.asarray(second, float), clusters).sums
    sums = sums[sums != 0]
    if not len(sums):
        return 1.0
    observed = abs(sums.sum()) * (1 - 1e-12)  # tolerance: summing in another order changes the rounding
    if len(sums) <= EXACT_UP_TO:
        signs = 1 - 2 * (np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums)) & 1)
        return float((abs(signs @ sums) >= observed).mean())
    generator = np.random.Generator(np.random.SFC64(seed))
    n_extreme = 0
    step = max(1, BATCH // len(sums))
    for start in range(0, n_resamples, step):
        signs = generator.integers(0, 2, (min(step, n_resamples - start), len(sums)), np.int8)
        n_extreme += int((abs(2 * (signs @ sums) - sums.sum()) >= observed).sum())
    return (1 + n_extreme) / (1 + n_resamples)


@dataclass(frozen=True, slots=True)
class GroupRange:
    """The numbers of the groups with the lowest and the highest mean, the gap between them, and its p-value."""

    lowest: int
    highest: int
    gap: float
    p_value: float | None


def compare_group_extremes(values: FloatArray, groups: IntArray, clusters: IntArray) -> GroupRange | None:
    """Return the gap between the lowest and the highest mean of groups; None where fewer than two have a row.

    The hypothesis is that the value of a row does not depend on its group. The two groups are compared because they are
    the farthest apart, so the reference is the range of as many groups (Tukey and Kramer). The variance is that of all
    values about their mean, times the design effect of the clusters over all pairs of groups. Where there are no more
    clusters than groups, the variance is unknown and the p-value is None.

    >>> scores, groups = np.array([1.0] * 18 + [0] * 2 + [1.0] * 8 + [0] * 12), np.repeat([0, 1], 20)
    >>> extremes = compare_group_extremes(scores, groups, np.arange(40))
    >>> extremes.lowest, round(extremes.gap, 2), round(extremes.p_value, 4)
    (1, 0.5, 0.0009)
    """
    sizes = np.bincount(groups)
    present = np.flatnonzero(sizes)
    if len(present) < 2:
        return None
    means = np.bincount(groups, values)[present] / sizes[present]
    lowest, highest = int(present[means.argmin()]), int(present[means.argmax()])
    gap = float(means.max() - means.min())
    distinct_clusters, clusters = np.unique(clusters, return_inverse=True)
    if len(distinct_clusters) <= len(present):
        return GroupRange(lowest, highest, gap, None)
    if gap < 1e-12:
        return GroupRange(int(present[0]), int(present[-1]), 0.0, 1.0)
    residuals = values - values.mean()
    design_effect = _design_effect(residuals / sizes[groups], groups, clusters, len(present))
    variance = float((residuals**2).mean()) * (1 / sizes[highest] + 1 / sizes[lowest]) * design_effect
    if variance <= 0:  # the residuals cancel out within each cluster
        return GroupRange(lowest, highest, gap, None)
    return GroupRange(
        lowest, highest, gap, studentized_range_sf(float(np.sqrt(2) * gap / np.sqrt(variance)), len(present))
    )


def _design_effect(shares: FloatArray, groups: IntArray, clusters: IntArray, number: int) -> float:
    """Return the variance between clusters over that of as many independent rows, of the gaps of all pairs of groups.

    Over all pairs of groups, the squared differences of a cluster's sums add up to `number` times its squared sums less
    the square of their total.
    """
    _, cells = np.unique(clusters * (groups.max() + 1) + groups, return_inverse=True)
    sums, totals = np.bincount(cells, shares), np.bincount(clusters, shares)
    spread = number * float(sums @ sums) - float(totals @ totals)
    return spread / ((number - 1) * float(shares @ shares))


def studentized_range_sf(value: float, groups: int) -> float:
    """Return the probability that the range of so many standard normal variables is larger, as `studentized_range.sf`.

    The integral is a sum over a grid, exact to nine digits: the integrand is smooth and vanishes at both ends.

    >>> round(studentized_range_sf(3.5, 3), 5)
    0.03556
    """
    grid = np.linspace(-8.5, 8.5, 341)  # of the smallest of the variables
    inside = special.ndtr(grid + value) - special.ndtr(grid)
    below = groups * float(grid[1] - grid[0]) * float(inside ** (groups - 1) @ np.exp(-(grid**2) / 2))
    return min(1.0, max(0.0, 1 - below / math.sqrt(2 * math.pi)))


def bonferroni(p_value: float, comparisons: int) -> float:
    """Return the p-value corrected for the number of comparisons made."""
    return min(1.0, p_value * comparisons)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected by Holm's method, in the same order; they are never above Bonferroni's.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    steps = np.asarray(p_values, float)[order] * np.arange(len(order), 0, -1)
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return [float(p) for p in corrected]
