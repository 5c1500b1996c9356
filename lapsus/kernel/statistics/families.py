"""Corrections of p-values for several tests in one study."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


def bonferroni(p_value: float, comparisons: int) -> float:
    """Return the p-value corrected for the number of comparisons made."""
    return min(1.0, p_value * comparisons)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's corrected p-values, in the order given: never above Bonferroni's.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    steps = np.asarray(p_values, float)[order] * np.arange(len(order), 0, -1)
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return [float(p) for p in corrected]
