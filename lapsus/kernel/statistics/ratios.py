"""The mean of several ratios of sums, such as the recalls of classes, and its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

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


def mean_of_ratios(parts: Parts, weights: FloatArray, level: float, *, shared: bool) -> tuple[float, Interval | None]:
    """Return the weighted mean of ratios between 0 and 1, and its interval; no ratio is empty, the weights sum to 1.

    Each ratio gets Jeffreys' interval at its effective number (see `effective_interval`), and the squared distances of
    their ends from the ratios are added up (MOVER). As ratios share clusters, the sum is scaled by the variance of the
    mean over the sum of the ratios' own variances. The quantile is Student's, with Satterthwaite's degrees of freedom.
    A ratio seen in one cluster alone may be anything from 0 to 1. With fewer than two clusters there is no interval.
    `shared` says whether rows share clusters; only then are variances enlarged for being estimated from few clusters.

    >>> rights = np.array([1.0] * 30 + [0] * 10)
    >>> parts = Parts(np.repeat([0, 1], 20), np.arange(40), rights, np.ones(40))
    >>> mean_of_ratios(parts, np.array([0.5, 0.5]), 0.95, shared=False)
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
    clusters = np.bincount(ratio, minlength=number).astype(np.float64)
    variances = np.bincount(ratio, added**2, number)
    if shared:
        variances *= clusters / np.maximum(clusters - 1, 1)
    spread = variances > NO_VARIANCE
    effective = np.divide(ratios * (1 - ratios), variances, out=clusters.copy(), where=spread)

    normal = float(special.ndtri(0.5 + level / 2))
    squares = (weights * _distances(ratios, effective, clusters, level)) ** 2
    width = squares.sum(axis=0)
    freedom = width.sum() ** 2 / (width**2 / np.maximum(clusters - 1, 1)).sum()
    effective = effective * (normal / float(special.stdtrit(freedom, 0.5 + level / 2))) ** 2
    low, high = ((weights * _distances(ratios, effective, clusters, level)) ** 2).sum(axis=1)
    own = float(weights**2 @ np.bincount(ratio, added**2, number))
    common = float((np.bincount(cluster, weights[ratio] * added) ** 2).sum()) / own if own > NO_VARIANCE else 1.0
    return mean, [max(0.0, mean - float(np.sqrt(common * low))), min(1.0, mean + float(np.sqrt(common * high)))]


def _distances(ratios: FloatArray, effective: FloatArray, clusters: FloatArray, level: float) -> FloatArray:
    """Return how far the lower and the upper ends of Jeffreys' intervals are from the ratios."""
    right, wrong = ratios * effective, (1 - ratios) * effective
    tail = 0.5 - level / 2
    low = np.where((right > NO_VARIANCE) & (clusters > 1), special.betaincinv(right + 0.5, wrong + 0.5, tail), 0.0)
    high = np.where((wrong > NO_VARIANCE) & (clusters > 1), special.betaincinv(right + 0.5, wrong + 0.5, 1 - tail), 1.0)
    return np.maximum(0.0, np.stack([ratios - low, high - ratios]))
