"""The gap between the groups of examples that are served worst and best, and whether it could be chance."""

from __future__ import annotations

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
    is that of all values about their mean, times how much more (or less) the clusters of these two groups vary than
    as many independent rows. Where no cluster is left to tell the variance, the p-value is None.

    >>> scores, groups = np.array([1.0] * 18 + [0] * 2 + [1.0] * 8 + [0] * 12), np.repeat([0, 1], 20)
    >>> found = group_gap(scores, groups, np.arange(40))
    >>> found.lowest, round(found.gap, 2), round(found.p_value, 4)
    (1, 0.5, 0.002)
    """
    sizes = np.bincount(groups)
    present = np.flatnonzero(sizes)
    if len(present) < 2:
        return None
    means = np.bincount(groups, values)[present] / sizes[present]
    lowest, highest = int(present[means.argmin()]), int(present[means.argmax()])
    gap = float(means.max() - means.min())
    freedom = len(np.unique(clusters)) - len(present)
    if freedom < 1:
        return Gap(lowest, highest, gap, None)
    if gap < 1e-12:
        return Gap(int(present[0]), int(present[-1]), 0.0, 1.0)
    rest = values - values.mean()
    shares = np.select([groups == highest, groups == lowest], [rest / sizes[highest], -rest / sizes[lowest]])
    independent = float((shares**2).sum())
    design = float((np.bincount(clusters, shares) ** 2).sum()) / independent
    variance = float((rest**2).mean()) * (1 / sizes[highest] + 1 / sizes[lowest]) * design
    if variance <= 0:  # within each cluster the shares cancel out
        return Gap(lowest, highest, gap, None)
    deviates = gap / np.sqrt(variance)
    return Gap(lowest, highest, gap, range_sf(float(np.sqrt(2) * deviates), len(present), freedom))


def range_sf(value: float, groups: int, freedom: int) -> float:
    """Return the chance that the studentized range of so many groups is larger, as scipy's `studentized_range.sf`.

    Both integrals are sums over a grid, exact to nine digits: their integrands are smooth and vanish at both ends.

    >>> round(range_sf(3.5, 3, 20), 5)
    0.05589
    """
    reach = 40 / freedom + np.sqrt(40 / freedom)
    spread = np.linspace(-reach, np.sqrt(40 / freedom), 400)  # logarithm of the estimated standard deviation
    density = np.exp(freedom * (spread - np.expm1(2 * spread) / 2))
    place = np.linspace(-8.5, 8.5, 341)  # of the smallest of the normal variables
    inside = special.ndtr(place + value * np.exp(spread)[:, None]) - special.ndtr(place)
    below = groups * (place[1] - place[0]) * (inside ** (groups - 1) @ np.exp(-(place**2) / 2)) / np.sqrt(2 * np.pi)
    return float(np.clip((density @ (1 - below)) / density.sum(), 0.0, 1.0))
