"""The mean of several ratios of sums, such as the recalls of classes, and its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from lapsus.kernel.statistics.rates import wilson

if TYPE_CHECKING:
    from lapsus.kernel.columns import FloatArray, IntArray
    from lapsus.kernel.statistics.rates import Interval

NO_VARIANCE = 1e-15


@dataclass(frozen=True, slots=True)
class Parts:
    """What each row adds to one of the ratios: `values` above the line and `sizes` below it.

    A row may stand here several times, once for each ratio that it adds to. Ratios and clusters are numbers from 0 on.
    """

    ratios: IntArray
    clusters: IntArray
    values: FloatArray
    sizes: FloatArray


def mean_of_ratios(parts: Parts, weights: FloatArray, level: float) -> tuple[float, Interval | None]:
    """Return the weighted mean of ratios between 0 and 1, and its interval; no ratio is empty, the weights sum to 1.

    Each ratio gets Wilson's interval at its effective number (see `clustered_rate`), and the squared distances of their
    ends from the ratios are added up (MOVER). As ratios share clusters, the sum is scaled by the variance of the mean
    over the sum of the ratios' own variances. The quantile is Student's, with Satterthwaite's degrees of freedom. A
    ratio seen in one cluster alone may be anything from 0 to 1. With fewer than two clusters there is no interval.

    >>> rights = np.array([1.0] * 30 + [0] * 10)
    >>> parts = Parts(np.repeat([0, 1], 20), np.arange(40), rights, np.ones(40))
    >>> mean_of_ratios(parts, np.array([0.5, 0.5]), 0.95)
    (0.75, [0.6..., 0.8...])
    """
    number = len(weights)
    size = np.bincount(parts.ratios, parts.sizes, number)
    ratios = np.bincount(parts.ratios, parts.values, number) / size
    mean = float(weights @ ratios)
    cell, inverse = np.unique(parts.clusters * number + parts.ratios, return_inverse=True)
    cluster, ratio = np.divmod(cell, number)
    if len(np.unique(cluster)) < 2:
        return mean, None
    added = np.bincount(inverse, (parts.values - ratios[parts.ratios] * parts.sizes) / size[parts.ratios])
    clusters = np.bincount(ratio, minlength=number)
    variances = np.bincount(ratio, added**2, number)
    single = np.bincount(ratio, np.bincount(inverse, parts.sizes) == 1, number) == clusters
    effective = _effective(ratios, variances, clusters, single)

    squares = (weights * _distances(ratios, effective, clusters, level, None)) ** 2
    width = squares.sum(axis=0)
    freedom = width.sum() ** 2 / (width**2 / np.maximum(clusters - 1, 1)).sum()
    low, high = ((weights * _distances(ratios, effective, clusters, level, freedom)) ** 2).sum(axis=1)
    own = float(weights**2 @ variances)
    shared = float((np.bincount(cluster, weights[ratio] * added) ** 2).sum()) / own if own > NO_VARIANCE else 1.0
    return mean, [max(0.0, mean - float(np.sqrt(shared * low))), min(1.0, mean + float(np.sqrt(shared * high)))]


def _effective(ratios: FloatArray, variances: FloatArray, clusters: IntArray, single: IntArray) -> FloatArray:
    """Return the effective numbers; where each cluster has one row of size 1, that is their number."""
    spread = (variances > NO_VARIANCE) & ~single
    found = np.divide(ratios * (1 - ratios), variances, out=clusters.astype(float), where=spread)
    return np.where(spread, found * (clusters - 1) / clusters, found)


def _distances(
    ratios: FloatArray, effective: FloatArray, clusters: IntArray, level: float, freedom: float | None
) -> FloatArray:
    """Return how far the lower and the upper ends are from the ratios; the quantile is normal without `freedom`."""
    tail = 0.5 + level / 2
    quantile = float(special.ndtri(tail) if freedom is None else special.stdtrit(freedom, tail))
    found = np.empty((2, len(ratios)))
    for place, (ratio, trials, number) in enumerate(zip(ratios, effective, clusters, strict=True)):
        ends = wilson(ratio * trials, trials, level, quantile) if number > 1 else None
        low, high = ends or [0.0, 1.0]
        found[:, place] = ratio - low, high - ratio
    return found
