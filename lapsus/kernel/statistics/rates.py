"""Rates and average scores with intervals that hold near 0 and 1, whether or not rows share an original."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from lapsus.kernel.statistics.clusters import Clustered, clustered
from lapsus.kernel.statistics.resampling import studentised_interval

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lapsus.kernel.columns import FloatArray, IntArray

Interval = list[float]


def wilson(successes: float, trials: float, level: float, quantile: float | None = None) -> Interval | None:
    """Return Wilson's interval of a rate: inside [0, 1], with about the stated coverage also near 0 and 1.

    >>> wilson(90, 1126, 0.95)  # RoBERTa on PaRTE
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


def clustered_rate(found: Clustered, level: float) -> Interval | None:
    """Return the interval of a rate, or of a mean of scores between 0 and 1, whose rows come in clusters.

    With a single cluster the spread is unknown: None.
    """
    clusters = found.number
    if clusters < 2:
        return None
    return effective_interval(found.mean, found.variance * clusters / (clusters - 1), clusters, level)


def effective_interval(rate: float, variance: float, clusters: int, level: float) -> Interval:
    """Return the interval of a score between 0 and 1, given the estimated variance of it and the number of clusters.

    Wilson's interval at the effective number of trials: the one at which independent trials of 0 and 1 would vary as
    much as the score does (Korn and Graubard), with Student's t for the number of clusters. Without any spread, every
    cluster counts as one trial.
    """
    rate = min(1.0, max(0.0, rate))
    effective = rate * (1 - rate) / variance if variance > 1e-15 and 0 < rate < 1 else float(clusters)
    return wilson(rate * effective, effective, level, float(special.stdtrit(clusters - 1, 0.5 + level / 2))) or [0, 1]


def clustered_wilson(successes: IntArray, trials: IntArray, level: float) -> Interval | None:
    """Return the interval of a rate whose trials come in clusters, given the counts of each cluster.

    >>> clustered_wilson(np.array([5, 0, 5, 5]), np.array([5, 5, 5, 5]), 0.95)  # four findings, not twenty
    [0.1..., 0.9...]
    """
    return clustered_rate(Clustered(np.asarray(successes, float), trials), level)


@dataclass(frozen=True, slots=True)
class Average:
    """A mean score, its interval, and the numbers of examples and originals behind it."""

    mean: float
    interval: Interval | None
    examples: int
    clusters: int


def average(
    scores: FloatArray,
    clusters: Iterable[Any] | None = None,
    *,
    level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> Average:
    """Return the mean of the scores and its interval.

    Scores between 0 and 1 get Wilson's interval at their effective number; others are resampled, `n_resamples` times.

    >>> found = average(np.array([1.0] * 20))
    >>> found.mean, found.interval
    (1.0, [0.82..., 1.0])
    """
    scores = np.asarray(scores, float)
    found = clustered(scores, clusters)
    bounded = bool(scores.min() >= 0 and scores.max() <= 1)
    interval = ratio_interval(found, level, bounded=bounded, n_resamples=n_resamples, seed=seed)
    return Average(found.mean, interval, len(scores), found.number)


def ratio_interval(
    found: Clustered, level: float, *, bounded: bool, n_resamples: int = 10_000, seed: int = 0
) -> Interval | None:
    """Return the interval of a ratio of sums; `bounded` means that every row's ratio is between 0 and 1."""
    if bounded:
        return clustered_rate(found, level)
    return studentised_interval(found.sums, np.asarray(found.sizes, float), level, n_resamples, seed)


def jackknife_rate(rate: float, without: FloatArray, level: float) -> Interval | None:
    """Return the interval of a score between 0 and 1 that is no mean, such as BLEU of a corpus.

    `without` holds the score of the corpus without each cluster in turn; their variance gives the effective number.

    >>> rights = np.array([1.0] * 30 + [0] * 10)
    >>> without = (rights.sum() - rights) / 39
    >>> bool(np.allclose(jackknife_rate(0.75, without, 0.95), average(rights).interval))
    True
    """
    clusters = len(without)
    if clusters < 2:
        return None
    variance = (clusters - 1) / clusters * float(((without - without.mean()) ** 2).sum())
    return effective_interval(rate, variance, clusters, level)


def check_level(level: float) -> None:
    """Raise unless the confidence level is a fraction strictly between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"confidence_level is {level}: give a fraction such as 0.95.")
