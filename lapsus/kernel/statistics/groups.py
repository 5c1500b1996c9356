"""The gap between the groups of examples that are served worst and best, and whether it could be chance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from lapsus.kernel.columns import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Gap:
    """The groups of the lowest and the highest mean, by number, how far apart they are, and the p-value of that."""

    lowest: int
    highest: int
    gap: float
    p_value: float | None


def group_gap(values: FloatArray, groups: IntArray, clusters: IntArray) -> Gap | None:
    """Return the gap between the lowest and the highest mean of groups; None where fewer than two have a row.

    The hypothesis is that the group of a row says nothing about its value. The two groups were picked because they are
    the farthest apart, so the difference is compared with the range of as many groups (Tukey and Kramer). Its variance
    is that of all values about their mean, times how much more (or less) clusters vary than as many independent rows,
    over all pairs of groups. Where no cluster is left to tell the variance, the p-value is None.

    >>> scores, groups = np.array([1.0] * 18 + [0] * 2 + [1.0] * 8 + [0] * 12), np.repeat([0, 1], 20)
    >>> found = group_gap(scores, groups, np.arange(40))
    >>> found.lowest, round(found.gap, 2), round(found.p_value, 4)
    (1, 0.5, 0.0009)
    """
    sizes = np.bincount(groups)
    present = np.flatnonzero(sizes)
    if len(present) < 2:
        return None
    means = np.bincount(groups, values)[present] / sizes[present]
    lowest, highest = int(present[means.argmin()]), int(present[means.argmax()])
    gap = float(means.max() - means.min())
    originals, clusters = np.unique(clusters, return_inverse=True)
    if len(originals) <= len(present):
        return Gap(lowest, highest, gap, None)
    if gap < 1e-12:
        return Gap(int(present[0]), int(present[-1]), 0.0, 1.0)
    rest = values - values.mean()
    design = _design(rest / sizes[groups], groups, clusters, len(present))
    variance = float((rest**2).mean()) * (1 / sizes[highest] + 1 / sizes[lowest]) * design
    if variance <= 0:  # within each cluster the shares cancel out
        return Gap(lowest, highest, gap, None)
    return Gap(lowest, highest, gap, range_sf(float(np.sqrt(2) * gap / np.sqrt(variance)), len(present)))


def _design(shares: FloatArray, groups: IntArray, clusters: IntArray, number: int) -> float:
    """Return how much more the clusters vary than as many independent rows, in the differences of all pairs of groups.

    The squared difference of a cluster's sums in two groups, over all pairs of groups, is `number` times its squared
    sums less the square of their total.
    """
    _, cells = np.unique(clusters * (groups.max() + 1) + groups, return_inverse=True)
    sums, totals = np.bincount(cells, shares), np.bincount(clusters, shares)
    apart = number * float(sums @ sums) - float(totals @ totals)
    return apart / ((number - 1) * float(shares @ shares))


def range_sf(value: float, groups: int) -> float:
    """Return the chance that so many standard normal variables range over more, as scipy's `studentized_range.sf`.

    The integral is a sum over a grid, exact to nine digits: the integrand is smooth and vanishes at both ends.

    >>> round(range_sf(3.5, 3), 5)
    0.03556
    """
    place = np.linspace(-8.5, 8.5, 341)  # of the smallest of the variables
    inside = special.ndtr(place + value) - special.ndtr(place)
    below = groups * float(place[1] - place[0]) * float(inside ** (groups - 1) @ np.exp(-(place**2) / 2))
    return min(1.0, max(0.0, 1 - below / math.sqrt(2 * math.pi)))
