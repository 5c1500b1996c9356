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
        return float((self.residuals**2).sum() / self.sizes.sum() ** 2)

    @property
    def residuals(self) -> FloatArray:
        """What each cluster adds to the sum beyond its share of the mean."""
        return np.asarray(self.sums - self.mean * self.sizes, np.float64)

    @property
    def shares(self) -> FloatArray:
        """The share of each cluster in the size of all."""
        return np.asarray(self.sizes / self.sizes.sum(), np.float64)

    @property
    def largest_share(self) -> float:
        """The share of the largest cluster in the size of all."""
        return float(self.shares.max())

    @property
    def effective_number(self) -> float:
        """How many clusters of one size weigh as much as these (Kish): `n_clusters` where all are of one size."""
        return float(1 / (self.shares**2).sum())

    @property
    def corrected_variance(self) -> float:
        """The variance of the mean, corrected for what each cluster takes from its own residual (CR2).

        Bell and McCaffrey 2002: a cluster that holds much of the data pulls the mean towards itself, so its residual is
        too small. Clusters of one size get the usual factor n / (n - 1).
        """
        return float((self.residuals**2 / (1 - self.shares)).sum() / self.sizes.sum() ** 2)

    @property
    def degrees_of_freedom(self) -> float:
        """The degrees of freedom of `corrected_variance`, by Satterthwaite: n - 1 where all clusters are of one size.

        The variance is a quadratic form of the sums. Its own mean and variance are those under one correlation within
        clusters, which is estimated from how residuals grow with sizes (Imbens and Kolesár 2016).
        """
        occurs = self.sizes > 0
        sizes, shares = np.asarray(self.sizes[occurs], np.float64), self.shares[occurs]
        spread = sizes * (1 + (sizes - 1) * self._estimate_correlation())
        weights = 1 / (1 - shares)
        products = weights * shares
        middle = float(products @ shares)
        trace = float(spread @ (weights - 2 * products + middle))
        first, second = float(spread @ products), float(spread @ products**2)
        total = float(spread.sum())
        square = float(spread**2 @ ((weights - 2 * products + middle) ** 2 - (middle - 2 * products) ** 2))
        square += middle**2 * total**2 - 4 * middle * total * first + 2 * total * second + 2 * first**2
        return trace**2 / square

    def _estimate_correlation(self) -> float:
        """Estimate the correlation within clusters, from 0 to 1, by how squared residuals grow with sizes."""
        occurs = self.sizes > 0
        sizes, squares = np.asarray(self.sizes[occurs], np.float64), self.residuals[occurs] ** 2
        by_size, total = float((squares / sizes).sum()), float(squares.sum())
        n, size = len(sizes), float(sizes.sum())
        slope = (float((sizes**2).sum()) - size) * by_size - total * (size - n)
        if by_size <= 0 or abs(slope) < 1e-9 * total * size:
            return 0.0
        return min(1.0, max(0.0, (total * n - size * by_size) / slope))


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
