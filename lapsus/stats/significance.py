"""Tests: of two scores of the same examples, of counts, of the gap between groups, and corrections for several tests.

`compare_paired` gives a mean difference with its interval, p-value and effect size. `compute_p_value` tests one mean,
`sign_test` two counts, `permutation_test` assumes no distribution, `compare_group_extremes` tests the gap between the
groups with the lowest and the highest mean; `bonferroni`, `holm` and `benjamini_hochberg` correct p-values.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import optimize, sparse, special

from lapsus.stats.clusters import NO_VARIANCE, ClusterSums, sum_by_cluster
from lapsus.stats.intervals import MANY_CLUSTERS, estimate_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lapsus.core.checks import FloatArray, IntArray
    from lapsus.stats.intervals import Interval

EXACT_BELOW = 25  # clusters with a difference: with fewer, every way of turning their signs is counted
POWER = 0.8  # of a test against the smallest detectable difference
BATCH = 4_000_000  # signs drawn at once


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """The mean of first - second; the p-value is below 1 - level exactly when the interval excludes 0."""

    difference: float
    interval: Interval | None
    p_value: float | None
    test: str | None
    effect_size: float | None  # the difference in standard deviations of the differences (Cohen's d for pairs)
    detection: DetectionModel | None  # what the smallest difference that the test finds with a chance of 80 % rests on
    examples: int
    clusters: int


def compare_paired(
    first: FloatArray,
    second: FloatArray,
    clusters: Iterable[Any] | None = None,
    *,
    level: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> PairedComparison:
    """Return the mean difference of two paired scores, with its interval and a test that it is 0.

    Scores within the bounds get the score test of the sums by cluster (McNemar's, where scores are 0 or 1 and each row
    is its own cluster) and the interval that inverts it; other scores are resampled, which gives interval and test.

    >>> found = compare_paired(np.array([1.0] * 18 + [0, 0]), np.array([1.0] * 10 + [0] * 10))
    >>> found.difference, round(found.p_value, 4), [round(end, 2) for end in found.interval]
    (0.4, 0.0078, [0.15, 0.61])
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
    low, high = bounds
    bounded = bool(
        min(first_scores.min(), second_scores.min()) >= low and max(first_scores.max(), second_scores.max()) <= high
    )
    detection = DetectionModel.from_differences(differences, sums, bounded=bounded)
    if bounded:
        width = high - low
        gains = float(differences[differences > 0].sum()) / len(first_scores) / width
        scaled_ends, p_value = estimate_difference(ClusterSums(sums.sums / width, sums.sizes), gains, level)
        ends = [width * end for end in scaled_ends]
        is_binary = n_clusters == len(first_scores) and bool(np.isin(differences, (-1.0, 0.0, 1.0)).all())
        test = (
            "McNemar" if is_binary else "score test over originals" if n_clusters < len(first_scores) else "score test"
        )
    else:
        ends, p_value = estimate_mean(sums, level)
        test = _name_t_test(n_clusters, len(first_scores))
    return PairedComparison(sums.mean, ends, p_value, test, size, detection, len(first_scores), n_clusters)


def _name_t_test(n_clusters: int, n_examples: int) -> str:
    name = "paired t" if n_clusters > MANY_CLUSTERS else "bootstrap t"
    return f"{name} over originals" if n_clusters < n_examples else name


def estimate_difference(sums: ClusterSums, gains: float, level: float) -> tuple[Interval, float]:
    """Return the interval of a mean difference of scores between 0 and 1, and the p-value of a test that it is 0.

    Args:
        sums: the differences by cluster, at least two.
        gains: the mean of the differences above 0 (and 0 for the others).
        level: of the interval.

    The test divides the mean by its standard error under the hypothesis; for one pair of 0 or 1 in each cluster it
    is McNemar's. The interval is Tango's for as many independent pairs of 0 and 1 as would have the variance of the
    clusters. It excludes 0 exactly when the test rejects: with few clusters that differ, where the test is exact, the
    end beside 0 is moved to where that holds.
    """
    difference, variance = sums.mean, sums.variance
    losses = max(0.0, gains - difference)
    pair_variance = gains + losses - difference**2
    if variance < NO_VARIANCE:  # no spread: each cluster counts as one pair
        variance = pair_variance / sums.n_clusters
    effective = pair_variance / variance if variance >= NO_VARIANCE else float(sums.n_clusters)
    p_value = compute_p_value(sums)
    z = float(special.ndtri(0.5 + level / 2))
    deviate, exact = abs(_z_score(np.asarray(sums.sums, np.float64))), -float(special.ndtri(p_value / 2))
    if sums.variance < NO_VARIANCE and gains + losses > 0:
        deviate = sqrt(effective * difference**2 / (gains + losses))

    def solve(side: float, quantile: float) -> float:
        critical = _critical_value(sums, variance, effective, quantile, side)
        return _solve_interval_end(gains, losses, effective, critical, side)

    low, high = solve(-1.0, z), solve(1.0, z)
    if p_value >= 1 - level:
        return [min(low, 0.0), max(high, 0.0)], p_value
    beside_zero = solve(-1.0 if difference > 0 else 1.0, z * deviate / exact)
    return [beside_zero, high] if difference > 0 else [low, beside_zero], p_value


def _critical_value(sums: ClusterSums, variance: float, effective: float, z: float, side: float) -> float:
    """Return the critical value of Tango's statistic at which its interval ends where the score test begins to reject.

    The score test rejects a true difference d below (or above) the mean where (mean - d)**2 exceeds z**2 times the
    variance of the sums about d. Where clusters are of one size, that is the variance about the mean, and (mean - d)**2
    for each cluster.
    """
    if variance < NO_VARIANCE:
        return z**2
    weight = 1 - z**2 / sums.effective_number
    slope = -side * z**2 * float(sums.residuals @ sums.shares) / float(sums.sizes.sum())
    if weight <= 0:
        return effective
    distance = (slope + sqrt(slope**2 + weight * z**2 * variance)) / weight
    return 1 / (variance / distance**2 + 1 / effective)


def compute_p_value(sums: ClusterSums, alternative: str = "two-sided") -> float:
    """Return the p-value of a mean of 0: the sum of each cluster is then as likely to be its negative.

    With fewer than 25 sums that are not 0, every way of turning their signs is counted: with sums of 1 and -1 that is
    the exact sign test, and of two sides right or wrong the exact test of McNemar. From 25 on the sum is divided by its
    standard error under the hypothesis (the score test).

    >>> wins, losses, ties = [1.0] * 9, [-1.0] * 3, [0.0] * 50
    >>> round(compute_p_value(sum_by_cluster(np.array(wins + losses + ties))), 4)  # as scipy.stats.binomtest(9, 12)
    0.146
    """
    moved = np.asarray(sums.sums[sums.sums != 0], np.float64)
    if not len(moved):
        return 1.0
    if len(moved) < EXACT_BELOW:
        return _flip_signs(moved, alternative)
    deviate = _z_score(moved)
    if alternative == "two-sided":
        return 2 * float(special.ndtr(-abs(deviate)))
    return float(special.ndtr(-deviate if alternative == "greater" else deviate))


def _flip_signs(values: FloatArray, alternative: str) -> float:
    """Return the share of all ways of turning signs whose sum is as extreme: half of the values at a time."""
    observed = float(values.sum()) if alternative == "greater" else -float(values.sum())
    observed = abs(observed) if alternative == "two-sided" else observed
    halves = [_signed_sums(half) for half in (values[::2], values[1::2])]
    second = np.sort(halves[1])
    tolerance = 1e-12 * float(abs(values).sum())  # summing in another order changes the rounding
    n_extreme = int((len(second) - np.searchsorted(second, observed - tolerance - halves[0])).sum())
    share = n_extreme / 2.0 ** len(values)
    return min(1.0, 2 * share) if alternative == "two-sided" else share


def _signed_sums(values: FloatArray) -> FloatArray:
    """Return the sums under every choice of signs."""
    signs = 1 - 2 * (np.arange(2 ** len(values))[:, None] >> np.arange(len(values)) & 1)
    return np.asarray(signs @ values, np.float64)


def _z_score(sums: FloatArray) -> float:
    """Return a sum in standard errors under the hypothesis that it is 0: its parts then vary about 0."""
    square = float((sums**2).sum())
    return float(sums.sum()) / sqrt(square) if square else 0.0


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


def compute_effect_size(differences: FloatArray, clusters: int) -> float | None:
    """Return the mean in standard deviations of the differences (Cohen's d for pairs); None where they do not vary.

    The deviation is estimated from the number of clusters, so that copies of rows in the same cluster change nothing.
    """
    spread = float(differences.std())
    return None if clusters < 2 or spread < 1e-12 else float(differences.mean() / spread * np.sqrt(1 - 1 / clusters))


@dataclass(frozen=True, slots=True)
class DetectionModel:
    """What the power of a paired test rests on, apart from the true difference.

    Some scores change by chance, as often up as down. A true difference tilts their directions: losses are as many
    times more frequent as gains are rarer. So the share of scores that change grows from the one by chance, where the
    difference is small, to the difference itself, where it is large.
    """

    background: float  # the share of rows that change by chance; of scores beyond 0 and 1, the variance of differences
    magnitude: float | None  # by how much a score that changes does; None for scores beyond 0 and 1
    rows: float  # as many independent rows vary as much
    freedom: float  # one less than the clusters

    @classmethod
    def from_differences(cls, differences: FloatArray, sums: ClusterSums, *, bounded: bool) -> Self:
        """Estimate the model from the differences of a study; scores from 0 to 1 are `bounded`."""
        n_rows, n_clusters = len(differences), sums.n_clusters
        variance = float(differences.var())
        rows = float(n_clusters)
        if min(variance, sums.variance) > NO_VARIANCE:
            rows = variance / sums.variance
        if not bounded:
            return cls(variance * n_clusters / max(n_clusters - 1, 1), None, rows, n_clusters - 1)
        total = float(abs(differences).sum())
        magnitude = float(differences @ differences) / total if total else 1.0
        up, down = (
            float(side @ side) / magnitude**2 / n_rows
            for side in (differences[differences > 0], differences[differences < 0])
        )
        half = 0.5 / rows  # what was not seen once may still happen
        return cls(min(1.0, 2 * sqrt((up + half) * (down + half))), magnitude, rows, n_clusters - 1)

    def minimum_detectable(self, alpha: float) -> float | None:
        """Return the smallest true difference that the test finds at level `alpha` with a chance of 80 %.

        None where no difference is found so often, or where scores beyond 0 and 1 do not vary.

        >>> round(DetectionModel(background=0.1, magnitude=1.0, rows=90, freedom=89).minimum_detectable(0.05), 3)
        0.117
        """
        if self.magnitude is None:
            quantiles = float(special.stdtrit(self.freedom, 1 - alpha / 2) + special.stdtrit(self.freedom, POWER))
            return quantiles * sqrt(self.background / self.rows) if self.background > 0 else None
        if self.compute_power(self.magnitude, alpha) < POWER:  # where every score changes in one direction
            return None

        def compute_excess(drop: float) -> float:
            return self.compute_power(drop, alpha) - POWER

        return float(optimize.brentq(compute_excess, 1e-9, self.magnitude, xtol=1e-6))

    def compute_changed_share(self, difference: float) -> float:
        """Return the share of scores between 0 and 1 that change, up or down, under a true difference."""
        return min(1.0, math.hypot(self.background, difference / (self.magnitude or 1.0)))

    def compute_variance(self, difference: float) -> float:
        """Return the variance of the differences of single rows under a true difference of their mean."""
        if self.magnitude is None:
            return self.background
        return max(0.0, self.magnitude**2 * self.compute_changed_share(difference) - difference**2)

    def compute_power(self, difference: float, alpha: float) -> float:
        """Return the chance that a test at this level finds a true difference.

        Of scores between 0 and 1, that is the chance of `compute_p_value` over all numbers of changed rows.
        """
        difference = abs(difference)
        if self.magnitude is None:
            if self.background <= 0:
                return 0.0
            deviate = difference / sqrt(self.background / self.rows)
            return float(special.stdtr(self.freedom, deviate - special.stdtrit(self.freedom, 1 - alpha / 2)))
        rows, tilt = max(1, round(self.rows)), min(1.0, difference / self.magnitude)
        changed = self.compute_changed_share(difference)
        share = min(1.0, 0.5 + tilt / changed / 2) if changed else 0.5
        middle, reach = rows * changed, 8 * sqrt(rows * changed) + 8
        numbers = np.arange(max(1, int(middle - reach)), min(rows, int(middle + reach)) + 1)
        chances = special.bdtr(numbers, rows, changed) - special.bdtr(numbers - 1, rows, changed)
        fewer = np.array([_critical_count(int(number), alpha) for number in numbers])
        rejects = fewer >= 0
        fewer, numbers, chances = fewer[rejects], numbers[rejects], chances[rejects]
        return float(chances @ (special.bdtr(fewer, numbers, share) + special.bdtr(fewer, numbers, 1 - share)))


@functools.cache
def _critical_count(changes: int, alpha: float) -> int:
    """Return the largest number of the rarer changes at which the test still rejects; -1 for none."""
    if changes >= EXACT_BELOW:
        return math.ceil((changes + float(special.ndtri(alpha / 2)) * sqrt(changes)) / 2) - 1
    return int(np.count_nonzero(2 * special.bdtr(np.arange(changes // 2 + 1), changes, 0.5) < alpha)) - 1


# The sign test: whether two counts have equal probability.


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

    With fewer than 25 clusters that differ, all ways of swapping are counted. From there on `n_resamples` are drawn,
    and the observed one is counted too, so that the p-value is valid and never 0.

    >>> permutation_test(np.array([1.0, 1, 1, 1]), np.array([0.0, 0, 0, 1]), seed=0)
    0.25
    """
    sums = sum_by_cluster(np.asarray(first, float) - np.asarray(second, float), clusters).sums
    sums = sums[sums != 0]
    if not len(sums):
        return 1.0
    if len(sums) < EXACT_BELOW:
        return _flip_signs(np.asarray(sums, np.float64), "two-sided")
    observed = abs(sums.sum()) * (1 - 1e-12)  # tolerance: summing in another order changes the rounding
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

    The hypothesis is that all groups have one mean. Groups may differ in size and in how much their values vary, so
    each pair of groups has the variance of its own difference, over clusters, and Welch's degrees of freedom; the
    largest difference in standard errors is compared with the range of as many groups (Games and Howell). A group
    whose few values are all alike would seem certain: to each group the spread of all values is added, with the weight
    of one cluster. With no more clusters than groups the p-value is None.

    >>> scores, groups = np.array([1.0] * 18 + [0] * 2 + [1.0] * 8 + [0] * 12), np.repeat([0, 1], 20)
    >>> found = compare_group_extremes(scores, groups, np.arange(40))
    >>> found.lowest, round(found.gap, 2), round(found.p_value, 4)
    (1, 0.5, 0.0006)
    """
    present, groups = np.unique(groups, return_inverse=True)
    if len(present) < 2:
        return None
    sizes = np.bincount(groups)
    means = np.bincount(groups, values) / sizes
    lowest, highest = int(means.argmin()), int(means.argmax())
    gap = float(means[highest] - means[lowest])
    distinct_clusters, clusters = np.unique(clusters, return_inverse=True)
    if gap < 1e-12:
        return GroupRange(
            int(present[0]), int(present[-1]), 0.0, 1.0 if len(distinct_clusters) > len(present) else None
        )
    if len(distinct_clusters) <= len(present):
        return GroupRange(int(present[lowest]), int(present[highest]), gap, None)
    shares = (values - means[groups]) / sizes[groups]
    cells = sparse.csr_array((shares, (clusters, groups)))
    covariance = (cells.T @ cells).toarray()
    n_clusters = np.bincount(np.unique(clusters * len(present) + groups) % len(present))
    spread = float(((values - values.mean()) ** 2).mean()) / n_clusters**2
    own = covariance.diagonal() + spread
    first, second = np.triu_indices(len(present), 1)
    variances = np.maximum(own[first] + own[second] - 2 * covariance[first, second], spread[first] + spread[second])
    freedom = (own[first] + own[second]) ** 2 / (
        own[first] ** 2 / n_clusters[first] + own[second] ** 2 / n_clusters[second]
    )
    deviates = -special.ndtri(special.stdtr(freedom, -abs(means[first] - means[second]) / np.sqrt(variances)))
    p_value = studentized_range_sf(float(np.sqrt(2) * deviates.max()), len(present))
    return GroupRange(int(present[lowest]), int(present[highest]), gap, p_value)


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


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for the share of false ones among those below a level, in the same order.

    >>> benjamini_hochberg([0.01, 0.04, 0.03, 0.5])
    [0.04, 0.053..., 0.053..., 0.5]
    """
    order = np.argsort(p_values, kind="stable")
    steps = np.asarray(p_values, float)[order] * len(order) / np.arange(1, len(order) + 1)
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(1.0, np.minimum.accumulate(steps[::-1])[::-1])
    return [float(p) for p in corrected]
