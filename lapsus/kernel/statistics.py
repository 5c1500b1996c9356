"""The tests and intervals that several metrics share.

Probabilities and rates are fractions; an interval is `[low, high]`, or None where the data say nothing about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lapsus.kernel.columns import FloatArray, IntArray

Interval = list[float]


def wilson(successes: float, trials: float, level: float, quantile: float | None = None) -> Interval | None:
    """Return Wilson's interval of a rate, which stays inside [0, 1] and is honest at both ends.

    >>> wilson(90, 1126, 0.95)  # RoBERTa on PaRTE
    [0.0654..., 0.0972...]
    """
    if trials == 0:
        return None
    z = stats.norm.ppf(0.5 + level / 2) if quantile is None else quantile
    rate, spread = successes / trials, z * z / trials
    middle = (rate + spread / 2) / (1 + spread)
    half = z * np.sqrt(rate * (1 - rate) / trials + spread / (4 * trials)) / (1 + spread)
    low = max(0.0, middle - half) if successes > 0 else 0.0  # exactly, where rounding would leave a trace
    high = min(1.0, middle + half) if successes < trials else 1.0
    return [float(low), float(high)]


def clustered_wilson(successes: IntArray, trials: IntArray, level: float) -> Interval | None:
    """Return the interval of a rate whose trials come in clusters, given the counts of each cluster.

    Wilson's interval at the effective number of trials: the one at which independent trials would vary as much as the
    clusters do (Korn and Graubard), never more than there are, with Student's t for the number of clusters. If nothing
    varies, every cluster counts once. One cluster says nothing about its own spread: None.
    """
    clusters, total = len(trials), int(trials.sum())
    if clusters < 2:
        return None
    rate = successes.sum() / total
    variance = clusters / (clusters - 1) * ((successes - rate * trials) ** 2).sum() / total**2
    effective = rate * (1 - rate) / variance if variance > 0 else clusters
    effective = min(effective, total)
    return wilson(rate * effective, effective, level, quantile=float(stats.t.ppf(0.5 + level / 2, clusters - 1)))


def clustered_mean(sums: FloatArray, sizes: IntArray, level: float) -> tuple[Interval | None, float | None]:
    """Return the interval of a mean whose values come in clusters, and the p-value that it is 0.

    `sums` and `sizes` are those of each cluster; what varies is the cluster, with Student's t for their number.
    Clusters of one value each give the usual t-test:

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
    half = float(stats.t.ppf(0.5 + level / 2, clusters - 1)) * error
    p_value = 2 * float(stats.t.sf(abs(mean) / error, clusters - 1))
    return [float(mean - half), float(mean + half)], p_value


def mcnemar(one_way: int, other_way: int) -> float:
    """Return the exact two-sided p-value of as many changes one way as the other.

    >>> round(mcnemar(52, 38), 3)  # RoBERTa on PaRTE: right to wrong, wrong to right
    0.17
    """
    changes = one_way + other_way
    return float(stats.binomtest(one_way, changes, 0.5).pvalue) if changes else 1.0


def bonferroni(p_value: float, comparisons: int) -> float:
    """Return the p-value corrected for the number of comparisons made."""
    return min(1.0, p_value * comparisons)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's corrected p-values, in the order given: never above Bonferroni's.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    steps = np.asarray(p_values, float)[order] * np.arange(len(order), 0, -1)
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return [float(p) for p in corrected]


def check_level(level: float) -> None:
    """Raise unless the confidence level is a fraction strictly between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"confidence_level is {level}: give a fraction such as 0.95.")


def percentile_interval(draws: FloatArray, level: float) -> Interval:
    """Return the middle part of the resampled values."""
    low, high = np.quantile(draws, [0.5 - level / 2, 0.5 + level / 2])
    return [float(low), float(high)]


def resampled_means(rows: FloatArray, n_resamples: int, seed: int) -> FloatArray:
    """Return the column means of `n_resamples` samples of the rows, drawn with replacement.

    To draw N of N rows is to draw one multinomial over the distinct rows: the same law, and where few are distinct
    (scores of 0 and 1) the work does not grow with N. Where most are distinct, rows are picked one by one.
    """
    generator = np.random.Generator(np.random.SFC64(seed))
    size = len(rows)
    distinct, counts = distinct_rows(rows)
    if len(distinct) > 50 + size / 25:  # where a binomial draw each costs more than a pick each, as timed
        picks = (generator.integers(0, size, size) for _ in range(n_resamples))
        return np.stack([np.bincount(pick, minlength=size) @ rows for pick in picks]) / size
    batch = max(1, 1_000_000 // len(distinct))
    batches = (min(batch, n_resamples - start) for start in range(0, n_resamples, batch))
    return np.concatenate([generator.multinomial(size, counts / size, number) @ distinct for number in batches]) / size


def distinct_rows(rows: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the distinct rows and how often each occurs."""
    codes = np.zeros(len(rows), np.int64)
    for column in rows.T:
        values, inverse = np.unique(column, return_inverse=True)
        codes = codes * len(values) + inverse
        codes = np.unique(codes, return_inverse=True)[1] if len(values) > 1 else codes
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    return rows[first], counts
