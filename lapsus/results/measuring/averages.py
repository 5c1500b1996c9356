"""The averages of a table of scores, examples by annotators, with their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.metrics.micro_worst_average.score import micro_worst_average

if TYPE_CHECKING:
    from lapsus.kernel.columns import FloatArray, IntArray
    from lapsus.results.measuring.runs import Options


def averages_of(
    table: FloatArray,
    originals: IntArray | None,
    options: Options,
    clean_scores: FloatArray | None = None,
    groups: Mapping[str, list[str]] | None = None,
) -> dict[str, Any]:
    """Return `micro_worst_average` of a table in which NaN stands for an annotator that is missing."""
    missing = np.isnan(table)
    scores = np.ma.array(np.where(missing, 0.0, table), mask=missing) if missing.any() else table
    result: dict[str, Any] = micro_worst_average(
        scores, clusters=originals, clean_scores=clean_scores, groups=groups or None, **options.resampling
    )
    return result
