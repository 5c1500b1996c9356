"""Whether noise makes a model tell the classes apart less well, beyond chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lapsus.kernel import statistics

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lapsus.kernel.columns import IntArray


def balanced_drop_p(clean: ArrayLike, noisy: ArrayLike, golds: ArrayLike, originals: IntArray | None) -> float | None:
    """Return the p-value that balanced accuracy is the same for two scores of the same examples.

    The drop of balanced accuracy is the mean of the examples' drops, each weighted so that every class counts the same.

    >>> golds = ["rare"] * 10 + ["frequent"] * 30
    >>> round(balanced_drop_p([1] * 40, [0] * 5 + [1] * 35, golds, None), 3)
    0.025
    >>> round(balanced_drop_p([1] * 15 + [0] * 5 + [1] * 20, [0] * 5 + [1] * 35, golds, None), 3)  # z = 6.67 / √22.2
    0.157
    """
    classes, of_gold, sizes = np.unique(np.asarray(golds), return_inverse=True, return_counts=True)
    weights = (len(of_gold) / len(classes) / sizes)[of_gold]
    found = statistics.clustered(weights * (np.asarray(clean, float) - np.asarray(noisy, float)), originals)
    return statistics.score_test(found) if found.number > 1 else None
