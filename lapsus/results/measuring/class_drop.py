"""Whether noise makes a model tell the classes apart less well, beyond chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from lapsus.kernel import statistics


def balanced_drop_p(
    clean: Sequence[float], noisy: Sequence[float], golds: Sequence[str], originals: Sequence[str]
) -> float | None:
    """Return the p-value that balanced accuracy is the same for two scores of the same examples.

    The drop of balanced accuracy is the mean of the examples' drops, each weighted so that every class counts the same.

    >>> golds = ["rare"] * 10 + ["frequent"] * 30
    >>> round(balanced_drop_p([1] * 40, [0] * 5 + [1] * 35, golds, [str(n) for n in range(40)]), 3)
    0.025
    """
    sizes = Counter(golds)
    weights = np.array([len(golds) / len(sizes) / sizes[gold] for gold in golds])
    found = statistics.clustered(weights * (np.array(clean, float) - np.array(noisy, float)), originals)
    return statistics.score_test(found) if found.number > 1 else None
