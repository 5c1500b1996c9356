"""The paired permutation test: under the hypothesis, the two scores of an example can be swapped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.kernel.statistics.clusters import clustered

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lapsus.kernel.columns import FloatArray

EXACT_UP_TO = 16  # clusters with a difference, at most, for the exact test: 65,536 ways of swapping
BATCH = 4_000_000


def permutation_test(
    first: FloatArray,
    second: FloatArray,
    clusters: Iterable[Any] | None = None,
    *,
    n_resamples: int = 10_000,
    seed: int,
) -> float:
    """Return the two-sided p-value of a mean difference under random swaps of the two scores of whole clusters.

    Up to 16 clusters that differ, every way of swapping is counted; beyond that, `n_resamples` are drawn, and the
    observed one is added to them, so that the p-value is valid and never 0.

    >>> permutation_test(np.array([1.0, 1, 1, 1]), np.array([0.0, 0, 0, 1]), seed=0)
    0.25
    """
    sums = clustered(np.asarray(first, float) - np.asarray(second, float), clusters).sums
    sums = sums[sums != 0]
    if not len(sums):
        return 1.0
    seen = abs(sums.sum()) * (1 - 1e-12)  # tolerance: summing in another order changes the rounding
    if len(sums) <= EXACT_UP_TO:
        signs = 1 - 2 * (np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums)) & 1)
        return float((abs(signs @ sums) >= seen).mean())
    generator = np.random.Generator(np.random.SFC64(seed))
    as_far = 0
    step = max(1, BATCH // len(sums))
    for start in range(0, n_resamples, step):
        signs = generator.integers(0, 2, (min(step, n_resamples - start), len(sums)), np.int8)
        as_far += int((abs(2 * (signs @ sums) - sums.sum()) >= seen).sum())
    return (1 + as_far) / (1 + n_resamples)
