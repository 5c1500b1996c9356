"""The mean of several ratios of sums, such as the recalls of classes, and its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lapsus.kernel.columns import FloatArray, IntArray
    from lapsus.kernel.statistics.rates import Interval

NO_VARIANCE = 1e-15


@dataclass(frozen=True, slots=True)
class Ratios:
    """Ratios between 0 and 1, with the variance of each, and the number of clusters that it was seen in.

    `added` is what each cluster adds to the mean of the ratios, `number` how many clusters have a row.
    """

    values: FloatArray
    variances: FloatArray
    clusters: FloatArray
    added: FloatArray
    number: int


def ratios(ratio_of: IntArray, cluster_of: IntArray, parts: FloatArray, sizes: FloatArray, *, shared: bool) -> Ratios:
    """Return ratios of sums, given what rows add above (`parts`) and below the line (`sizes`).

    Ratios and clusters are numbers from 0 on; a ratio to which nothing adds is left out. Unless rows share clusters, a
    cluster occurs at most once in each ratio.

    >>> found = ratios(np.array([0, 0, 1]), np.array([0, 1, 2]), np.array([1.0, 0, 1]), np.ones(3), shared=False)
    >>> found.values, found.clusters
    (array([0.5, 1. ]), array([2., 1.]))
    """
    size = np.bincount(ratio_of, sizes)
    occurs = size > 0
    ratio = (np.cumsum(occurs) - 1)[ratio_of]
    size = size[occurs]
    number = len(size)
    values = np.bincount(ratio, parts, number) / size
    added = (parts - values[ratio] * sizes) / size[ratio]
    cluster = cluster_of
    if shared:
        cells, inverse = np.unique(cluster_of * number + ratio, return_inverse=True)
        cluster, ratio = np.divmod(cells, number)
        added = np.bincount(inverse, added)
    clusters = np.bincount(ratio, minlength=number).astype(np.float64)
    variances = np.bincount(ratio, added**2, number).astype(np.float64)
    of_cluster = np.bincount(cluster, added / number).astype(np.float64)
    seen = int(np.count_nonzero(np.bincount(cluster_of)))
    return Ratios(values, variances, clusters, of_cluster, seen)


def mean_of_ratios(found: Sequence[Ratios], level: float) -> tuple[float, Interval | None]:
    """Return the mean of the mean ratios of several sides, such as annotators, and its interval.

    Each ratio gets Jeffreys' interval at its effective number (see `effective_interval`), and the squared distances of
    their ends from the ratios are added up (MOVER). As ratios and sides share clusters, the sum is scaled by the
    variance of the mean over the sum of the ratios' own variances. The quantile is Student's, with Satterthwaite's
    degrees of freedom. A ratio seen in one cluster alone may be anything from 0 to 1. With fewer than two clusters
    there is no interval.

    >>> rights = np.array([1.0] * 30 + [0] * 10)
    >>> side = ratios(np.repeat([0, 1], 20), np.arange(40), rights, np.ones(40), shared=False)
    >>> mean_of_ratios([side], 0.95)
    (0.75, [0.6..., 0.8...])
    """
    values, variances, clusters = (
        np.concatenate([getattr(side, name) for side in found]) for name in ("values", "variances", "clusters")
    )
    weights = np.concatenate([np.full(len(side.values), 1 / len(side.values) / len(found)) for side in found])
    mean = float(weights @ values)
    if max(side.number for side in found) < 2:
        return mean, None
    spread = variances > NO_VARIANCE
    effective = np.divide(values * (1 - values), variances, out=clusters.copy(), where=spread)

    width = ((weights * _distances(values, effective, clusters, level)) ** 2).sum(axis=0)
    freedom = width.sum() ** 2 / (width**2 / np.maximum(clusters - 1, 1)).sum()
    tail = 0.5 + level / 2
    effective = effective * float(special.ndtri(tail) / special.stdtrit(freedom, tail)) ** 2
    low, high = ((weights * _distances(values, effective, clusters, level)) ** 2).sum(axis=1)
    own = float(weights**2 @ variances)
    together = np.zeros(max(len(side.added) for side in found))
    for side in found:
        together[: len(side.added)] += side.added / len(found)
    common = float(together @ together) / own if own > NO_VARIANCE else 1.0
    return mean, [max(0.0, mean - float(np.sqrt(common * low))), min(1.0, mean + float(np.sqrt(common * high)))]


def _distances(values: FloatArray, effective: FloatArray, clusters: FloatArray, level: float) -> FloatArray:
    """Return how far the lower and the upper ends of Jeffreys' intervals are from the ratios."""
    right, wrong = values * effective, (1 - values) * effective
    tail = 0.5 - level / 2
    low = np.where((right > NO_VARIANCE) & (clusters > 1), special.betaincinv(right + 0.5, wrong + 0.5, tail), 0.0)
    high = np.where((wrong > NO_VARIANCE) & (clusters > 1), special.betaincinv(right + 0.5, wrong + 0.5, 1 - tail), 1.0)
    return np.maximum(0.0, np.stack([values - low, high - values]))
