"""Intervals of rates, of mean scores and of means of ratios, which hold near 0 and 1 and with rows in clusters.

Rates and scores between 0 and 1 get Wilson's interval at their effective number of trials; other scores are resampled
by cluster; means of ratios, such as the recalls of classes, get the sum of their variances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from lapsus.stats.clusters import NO_VARIANCE, ClusterSums, sum_by_cluster

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lapsus.core.checks import FloatArray, IntArray

Interval = list[float]
MANY_CLUSTERS = 1000  # above so many, skew hardly matters and Student's t replaces resampling


def check_level(level: float) -> None:
    """Raise unless the confidence level is a fraction strictly between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"confidence_level is {level}: give a fraction such as 0.95.")


def wilson_interval(successes: float, trials: float, level: float, quantile: float | None = None) -> Interval | None:
    """Return Wilson's interval of a rate: inside [0, 1], with about the stated coverage also near 0 and 1.

    >>> wilson_interval(90, 1126, 0.95)  # RoBERTa on PaRTE
    [0.0654..., 0.0972...]
    """
    if trials == 0:
        return None
    z = special.ndtri(0.5 + level / 2) if quantile is None else quantile
    rate, spread = successes / trials, z * z / trials
    middle = (rate + spread / 2) / (1 + spread)
    half = z * np.sqrt(rate * (1 - rate) / trials + spread / (4 * trials)) / (1 + spread)
    low = max(0.0, middle - half) if successes > 0 else 0.0  # exactly 0 or 1, without rounding error
    high = min(1.0, middle + half) if successes < trials else 1.0
    return [float(low), float(high)]


def clustered_rate_interval(sums: ClusterSums, level: float) -> Interval | None:
    """Return the interval of a rate, or of a mean of scores between 0 and 1, whose rows come in clusters.

    With a single cluster the spread is unknown: None.
    """
    if sums.n_clusters < 2:
        return None
    return effective_interval(
        sums.mean, sums.corrected_variance, sums.effective_number, level, freedom=sums.degrees_of_freedom
    )


def effective_interval(
    rate: float, variance: float, clusters: float, level: float, *, freedom: float | None = None
) -> Interval:
    """Return the interval of a score between 0 and 1, given the estimated variance of it and the number of clusters.

    Wilson's interval at the effective number of trials: the one at which independent trials of 0 and 1 would vary as
    much as the score does (Korn and Graubard), with Student's t at the degrees of freedom of the variance (one less
    than the clusters, where they are of one size). Without any spread, every cluster counts as one trial.
    """
    rate = min(1.0, max(0.0, rate))
    effective = rate * (1 - rate) / variance if variance > 1e-15 and 0 < rate < 1 else float(clusters)
    quantile = float(special.stdtrit(clusters - 1 if freedom is None else freedom, 0.5 + level / 2))
    return wilson_interval(rate * effective, effective, level, quantile) or [0, 1]


def clustered_wilson_interval(successes: IntArray, trials: IntArray, level: float) -> Interval | None:
    """Return the interval of a rate whose trials come in clusters, given the counts of each cluster.

    >>> clustered_wilson_interval(np.array([5, 0, 5, 5]), np.array([5, 5, 5, 5]), 0.95)  # four clusters of five
    [0.1..., 0.9...]
    """
    return clustered_rate_interval(ClusterSums(np.asarray(successes, float), trials), level)


@dataclass(frozen=True, slots=True)
class AverageEstimate:
    """A mean score, its interval, and the numbers of examples and clusters."""

    mean: float
    interval: Interval | None
    examples: int
    clusters: int


def estimate_average(
    scores: FloatArray,
    clusters: Iterable[Any] | None = None,
    *,
    level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> AverageEstimate:
    """Return the mean of the scores and its interval.

    Scores between 0 and 1 get Wilson's interval at their effective number; others are resampled, `n_resamples` times.

    >>> average = estimate_average(np.array([1.0] * 20))
    >>> average.mean, average.interval
    (1.0, [0.82..., 1.0])
    """
    scores = np.asarray(scores, float)
    sums = sum_by_cluster(scores, clusters)
    bounded = bool(scores.min() >= 0 and scores.max() <= 1)
    interval = ratio_interval(sums, level, bounded=bounded, n_resamples=n_resamples, seed=seed)
    return AverageEstimate(sums.mean, interval, len(scores), sums.n_clusters)


def ratio_interval(
    sums: ClusterSums, level: float, *, bounded: bool, n_resamples: int = 10_000, seed: int = 0
) -> Interval | None:
    """Return the interval of a ratio of sums; `bounded` means that every row's ratio is between 0 and 1."""
    if bounded:
        return clustered_rate_interval(sums, level)
    return estimate_mean(sums, level, n_resamples, seed)[0]


def new_annotators_interval(scores: FloatArray, level: float, clusters: Iterable[Any] | None = None) -> Interval | None:
    """Return the interval of a mean over other annotators too, not only over other examples.

    `scores` has a row for each example and a column for each annotator. Examples and annotators are both samples
    (crossed random effects): the variance of the mean is that over examples, plus that over annotators, less what both
    of them hold of the single scores. Satterthwaite's degrees of freedom are few where annotators are. Scores between 0
    and 1 get Wilson's interval at their effective number, others Student's t. None with fewer than three annotators or
    two clusters, and where a score is missing.

    >>> table = np.array([[1.0, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]] * 20)  # three annotators who are alike
    >>> [round(end, 2) for end in new_annotators_interval(table, 0.95)]
    [0.71, 0.78]
    """
    n_examples, n_annotators = scores.shape
    if n_annotators < 3 or np.isnan(scores).any():
        return None
    sums = sum_by_cluster(scores.mean(axis=1), clusters)
    if sums.n_clusters < 2:
        return None
    mean = float(scores.mean())
    own = scores.mean(axis=0) - mean
    rest = scores - scores.mean(axis=1, keepdims=True) - own
    parts = np.array([sum_by_cluster(column, clusters).sums for column in rest.T])
    by_examples = sums.corrected_variance
    by_annotators = float(own @ own) / (n_annotators - 1) / n_annotators
    single = float((parts**2).sum()) / n_examples**2 / (n_annotators - 1) / n_annotators
    variance = max(by_examples + by_annotators - single, by_examples)
    bounded = scores.min() >= 0 and scores.max() <= 1
    if variance < NO_VARIANCE:
        return effective_interval(mean, variance, sums.effective_number, level) if bounded else [mean, mean]
    freedom = variance**2 / (
        by_examples**2 / sums.degrees_of_freedom
        + by_annotators**2 / (n_annotators - 1)
        + single**2 / ((n_annotators - 1) * (sums.n_clusters - 1))
    )
    if bounded:
        return effective_interval(mean, variance, sums.effective_number, level, freedom=freedom)
    reach = float(special.stdtrit(freedom, 0.5 + level / 2)) * float(np.sqrt(variance))
    return [mean - reach, mean + reach]


def jackknife_interval(rate: float, leave_one_out: FloatArray, level: float) -> Interval | None:
    """Return the interval of a score between 0 and 1 that is no mean, such as BLEU of a corpus.

    `leave_one_out` holds the score without each cluster in turn; its variance gives the effective number of trials.

    >>> scores = np.array([1.0] * 30 + [0] * 10)
    >>> leave_one_out = (scores.sum() - scores) / 39
    >>> bool(np.allclose(jackknife_interval(0.75, leave_one_out, 0.95), estimate_average(scores).interval))
    True
    """
    clusters = len(leave_one_out)
    if clusters < 2:
        return None
    variance = (clusters - 1) / clusters * float(((leave_one_out - leave_one_out.mean()) ** 2).sum())
    return effective_interval(rate, variance, clusters, level)


def percentile_interval(draws: FloatArray, level: float) -> Interval:
    """Return the quantiles of the resampled values that enclose the share `level` of them."""
    low, high = np.quantile(draws, [0.5 - level / 2, 0.5 + level / 2])
    return [float(low), float(high)]


def estimate_mean(
    sums: ClusterSums, level: float, n_resamples: int = 10_000, seed: int = 0
) -> tuple[Interval | None, float | None]:
    """Return the interval of a mean of scores of any size, and the p-value of the hypothesis that the mean is 0.

    Clusters are resampled, and each resample is measured by its own standard error (the studentised bootstrap). This
    accounts for skewed scores, for which Student's t and plain percentiles of resampled means are too short. Above a
    thousand clusters skew hardly matters, and Student's t, which is faster, is used. Interval and p-value come from
    the same resamples. With a single cluster both are None; so is the p-value where nothing varies.

    >>> scores = np.array([0.1, 0.2, 0.1, 0.4, 0.3, 2.5])
    >>> (low, high), p_value = estimate_mean(sum_by_cluster(scores), 0.95, n_resamples=2000)
    >>> bool(high - scores.mean() > scores.mean() - low), p_value < 0.05
    (True, True)
    """
    if sums.n_clusters < 2:
        return None, None
    mean = sums.mean
    tails = np.array([0.5 + level / 2, 0.5 - level / 2])
    error = float(np.sqrt(sums.variance))
    if error <= 1e-12 * max(1.0, abs(mean)):
        return [mean, mean], 1.0 if mean == 0 else None
    if sums.n_clusters > MANY_CLUSTERS or n_resamples == 0:
        freedom, error = sums.degrees_of_freedom, float(np.sqrt(sums.corrected_variance))
        quantiles = special.stdtrit(freedom, tails)
        p_value = 2 * float(special.stdtr(freedom, -abs(mean) / error))
    else:
        deviates = _resample_deviates(sums, n_resamples, seed)
        quantiles = np.quantile(deviates, tails)
        observed = mean / error
        above, below = int((deviates >= observed).sum()), int((deviates <= observed).sum())
        p_value = min(1.0, 2 * (1 + min(above, below)) / (1 + len(deviates)))
    low, high = mean - quantiles * error
    return [float(low), float(high)], p_value


def _resample_deviates(sums: ClusterSums, n_resamples: int, seed: int) -> FloatArray:
    """Return how far the means of resampled clusters are from the mean, each in its own standard errors."""
    values, sizes = np.asarray(sums.sums, np.float64), np.asarray(sums.sizes, np.float64)
    columns = np.column_stack([values, sizes, values**2, values * sizes, sizes**2])
    total, size, squares, products, size_squares = (len(values) * resample_means(columns, n_resamples, seed)).T
    means = total / size
    spread = np.sqrt(np.maximum(0, squares - 2 * means * products + means**2 * size_squares)) / size
    usable = spread > 1e-9 * np.sqrt(
        sums.variance
    )  # leave out resamples without spread, such as one cluster every time
    return np.asarray((means - sums.mean)[usable] / spread[usable])


def resample_means(rows: FloatArray, n_resamples: int, seed: int) -> FloatArray:
    """Return the column means of `n_resamples` samples of the rows, drawn with replacement.

    A sample of N from N rows is one multinomial draw over the distinct rows, whose cost does not grow with N where few
    rows are distinct, as with scores of 0 and 1. Where most are distinct, rows are picked one by one.
    """
    generator = np.random.Generator(np.random.SFC64(seed))
    size = len(rows)
    distinct, counts = count_distinct_rows(rows)
    if len(distinct) > 50 + size / 25:  # above this, picking rows was timed to be faster than multinomial draws
        picks = (generator.integers(0, size, size) for _ in range(n_resamples))
        return np.stack([np.bincount(pick, minlength=size) @ rows for pick in picks]) / size
    batch = max(1, 1_000_000 // len(distinct))
    batches = (min(batch, n_resamples - start) for start in range(0, n_resamples, batch))
    return np.concatenate([generator.multinomial(size, counts / size, number) @ distinct for number in batches]) / size


def count_distinct_rows(rows: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the distinct rows and how often each occurs."""
    codes = np.zeros(len(rows), np.int64)
    for column in rows.T:
        values, inverse = np.unique(column, return_inverse=True)
        codes = codes * len(values) + inverse
        codes = np.unique(codes, return_inverse=True)[1] if len(values) > 1 else codes
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    return rows[first], counts


@dataclass(frozen=True, slots=True)
class ClassRatiosEstimate:
    """Ratios between 0 and 1, with the variance and the number of clusters of each.

    `contributions` is what each cluster adds to the mean of the ratios, `n_clusters` the number of clusters with a row.
    """

    values: FloatArray
    variances: FloatArray
    clusters: FloatArray
    contributions: FloatArray
    n_clusters: int


def estimate_ratios(
    ratio_of: IntArray, cluster_of: IntArray, parts: FloatArray, sizes: FloatArray, *, shared: bool
) -> ClassRatiosEstimate:
    """Return ratios of sums: each row adds its `parts` to the numerator of its ratio, its `sizes` to the denominator.

    Ratios and clusters are numbers from 0 on; a ratio without a denominator is left out. With `shared`, rows of one
    ratio may share a cluster.

    >>> parts, sizes = np.array([1.0, 0, 1]), np.ones(3)
    >>> ratios = estimate_ratios(np.array([0, 0, 1]), np.array([0, 1, 2]), parts, sizes, shared=False)
    >>> ratios.values, ratios.clusters
    (array([0.5, 1. ]), array([2., 1.]))
    """
    size = np.bincount(ratio_of, sizes)
    occurs = size > 0
    ratio = (np.cumsum(occurs) - 1)[ratio_of]
    size = size[occurs]
    n_ratios = len(size)
    values = np.bincount(ratio, parts, n_ratios) / size
    residuals = (parts - values[ratio] * sizes) / size[ratio]
    cluster = cluster_of
    if shared:
        cells, inverse = np.unique(cluster_of * n_ratios + ratio, return_inverse=True)
        cluster, ratio = np.divmod(cells, n_ratios)
        residuals = np.bincount(inverse, residuals)
    clusters = np.bincount(ratio, minlength=n_ratios).astype(np.float64)
    variances = np.bincount(ratio, residuals**2, n_ratios).astype(np.float64)
    contributions = np.bincount(cluster, residuals / n_ratios).astype(np.float64)
    n_clusters = int(np.count_nonzero(np.bincount(cluster_of)))
    return ClassRatiosEstimate(values, variances, clusters, contributions, n_clusters)


def average_ratios(sides: Sequence[ClassRatiosEstimate], level: float) -> tuple[float, Interval | None]:
    """Return the mean of the mean ratios of several sides, such as annotators, and its interval.

    The variance of the mean is the weighted sum of the variances of the ratios, and its interval that of a score with
    this variance (see `effective_interval`). A ratio that few clusters show has hardly a variance of its own: each one
    is first pulled towards the mean, as if one more independent row of it had the mean's ratio. As ratios and sides
    share clusters, the sum is scaled by the variance of the mean over the sum of the ratios' own variances. The
    quantile is Student's, with Satterthwaite's degrees of freedom. With fewer than two clusters there is no interval.

    >>> scores = np.array([1.0] * 30 + [0] * 10)
    >>> side = estimate_ratios(np.repeat([0, 1], 20), np.arange(40), scores, np.ones(40), shared=False)
    >>> average_ratios([side], 0.95)
    (0.75, [0.6..., 0.8...])
    """
    values, variances, clusters = (
        np.concatenate([getattr(side, name) for side in sides]) for name in ("values", "variances", "clusters")
    )
    weights = np.concatenate([np.full(len(side.values), 1 / len(side.values) / len(sides)) for side in sides])
    mean = float(weights @ values)
    if max(side.n_clusters for side in sides) < 2:
        return mean, None
    spread = variances > NO_VARIANCE
    effective = np.divide(values * (1 - values), variances, out=clusters.copy(), where=spread)
    rows = float(1 / (weights**2 @ (1 / effective)))  # independent rows that would tell the mean as well
    middle = (mean * rows + 0.5) / (rows + 1)
    pulled = (values * effective + middle) / (effective + 1)
    parts = weights**2 * pulled * (1 - pulled) * (effective + 1) / effective**2
    freedom = max(1.0, float(parts.sum() ** 2 / (parts**2 / clusters).sum()))
    contributions = np.zeros(max(len(side.contributions) for side in sides))
    for side in sides:
        contributions[: len(side.contributions)] += side.contributions / len(sides)
    variance_sum = float(weights**2 @ variances)
    scale = float(contributions @ contributions) / variance_sum if variance_sum > NO_VARIANCE else 1.0
    variance = scale * float(parts.sum())
    if 0 < mean < 1:
        effective_rows = min(mean * (1 - mean) / variance, middle * (1 - middle) / variance, 1.5 * rows / scale)
    else:
        effective_rows = rows
    quantile = float(special.stdtrit(freedom, 0.5 + level / 2))
    return mean, wilson_interval(mean * effective_rows, effective_rows, level, quantile)
