"""Sums by cluster, the independent unit: rows with the same original form a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.core import checks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from lapsus.core.checks import FloatArray, IntArray


NO_VARIANCE = 1e-15  # a variance below it is rounding


@dataclass(frozen=True, slots=True)
class ClusterSums:
    """Two sums by cluster, whose ratio is estimated (a mean, where each row has size 1)."""

    sums: FloatArray | IntArray
    sizes: FloatArray | IntArray

    @property
    def n_clusters(self) -> int:
        """The number of clusters that have a row (or span, or token)."""
        return int(np.count_nonzero(self.sizes))

    @property
    def mean(self) -> float:
        """The sum of all values over the sum of all sizes."""
        return float(self.sums.sum() / self.sizes.sum())

    @property
    def variance(self) -> float:
        """The variance of the mean, from the spread between clusters, without the factor n / (n - 1).

        It may be below the variance of as many independent rows. The larger of the two would be too large: where the
        rows of a cluster are unrelated, both estimate the same variance, and the larger is above it.
        """
        return float(((self.sums - self.mean * self.sizes) ** 2).sum() / self.sizes.sum() ** 2)


def sum_by_cluster(values: FloatArray, clusters: Iterable[Any] | None = None) -> ClusterSums:
    """Return the sums of the values by cluster; without clusters each row is its own cluster.

    >>> sum_by_cluster(np.array([1.0, 0.0, 1.0]), ["a", "a", "b"]).sums
    array([1., 1.])
    """
    if clusters is None:
        return ClusterSums(values, np.ones(len(values), np.int64))
    return sum_by_cluster_number(values, checks.number_clusters(clusters, scores=values))


def sum_by_cluster_number(values: NDArray[Any], cluster_numbers: IntArray) -> ClusterSums:
    """Return the sums by cluster, where clusters are numbers from 0 on; numbers that do not occur are left out."""
    sizes = np.bincount(cluster_numbers)
    occurs = sizes > 0
    return ClusterSums(np.bincount(cluster_numbers, values)[occurs].astype(np.float64), sizes[occurs])
