"""What a score is on average over the annotators of an example, and what it is for the worst served of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.kernel import columns, statistics

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def micro_worst_average(
    predictions: Iterable[Iterable[float | None]],
    *,
    groups: columns.Groups | None = None,
    group_names: Iterable[Any] | Mapping[str, Iterable[Any]] | None = None,
    direction: str = "higher",
    clean_scores: Iterable[float] | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> dict[str, Any]:
    """Return the mean score, and the mean over examples of each example's worst score, with their intervals.

    Args:
        predictions: for each example the list of its scores, one per annotator; None where an annotator is missing.
        groups: one value per example, or several such columns by name: each group is also scored by itself.
        group_names: the groups to report, in order; one that does not occur has 0 examples and null scores.
        direction: which scores are good. With "lower" (error rates) the worst score is the highest.
        clean_scores: each example's score on the clean text; adds the drop, which is positive where noise costs.
        confidence_level: of the intervals.
        n_resamples: how often the examples, never the annotations, are resampled. 0 gives no intervals (null).
        seed: of the resampling.

    Returns:
        micro_average: the mean over examples of the mean score of their annotators.
        worst_average: the mean over examples of their worst score.
        annotator_averages: the mean score of each annotator, None for one without scores.
        micro_average_ci, worst_average_ci: the intervals of these two.
        clean_average, micro_drop, worst_drop: with `clean_scores` only.
        clean_average_ci, micro_drop_ci, worst_drop_ci: with `clean_scores` only: the intervals of these three.
        examples: how many were scored.
        groups: with `groups` only: the same for each group, by its name.

    Example:
        >>> result = micro_worst_average([[1, 1, 0], [1, 1, 1]], clean_scores=[1, 1], n_resamples=0)
        >>> result["micro_average"], result["worst_average"], result["worst_drop"]
        (0.8333333333333333, 0.5, 0.5)
    """
    columns.one_of("direction", direction, ("higher", "lower"))
    statistics.check_level(confidence_level)
    if n_resamples < 0:
        raise ValueError(f"n_resamples is {n_resamples}: give a positive number, or 0 for no intervals.")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ValueError(f"seed is {seed!r}: give a whole number from 0 on.")
    table = columns.score_table("predictions", predictions)
    present = ~np.isnan(table)
    worst = np.nanmin(table, axis=1) if direction == "higher" else np.nanmax(table, axis=1)
    rows = [np.where(present, table, 0).sum(axis=1) / present.sum(axis=1), worst]
    if clean_scores is not None:
        rows.append(columns.scores("clean_scores", clean_scores))
        columns.same_length(predictions=table, clean_scores=rows[-1])
    by_example = np.column_stack(rows)
    sign = 1.0 if direction == "higher" else -1.0

    def score(members: Any) -> dict[str, Any]:
        result = _averages(by_example[members], sign, confidence_level, n_resamples, seed)
        result["annotator_averages"] = [
            float(column[here].mean()) if here.any() else None
            for column, here in zip(table[members].T, present[members].T, strict=True)
        ]
        return result

    result = score(slice(None))
    if groups is not None:
        result["groups"] = columns.breakdown(groups, group_names, len(table), score)
    return result


def _averages(rows: columns.FloatArray, sign: float, level: float, n_resamples: int, seed: int) -> dict[str, Any]:
    """Return means and intervals of the columns micro, worst and perhaps clean."""
    result: dict[str, Any] = {"examples": len(rows)}
    names = ["micro_average", "worst_average", "clean_average", "micro_drop", "worst_drop"]
    drops = rows.shape[1] == 3
    means = rows.mean(axis=0, keepdims=True) if len(rows) else np.empty((0, rows.shape[1]))
    draws = statistics.resampled_means(rows, n_resamples, seed) if len(rows) and n_resamples else means[:0]
    if drops:
        means, draws = (np.column_stack([part, sign * (part[:, 2:] - part[:, :2]) + 0.0]) for part in (means, draws))
    for number in range(means.shape[1]):
        result[names[number]] = float(means[0, number]) if len(means) else None
        result[f"{names[number]}_ci"] = statistics.percentile_interval(draws[:, number], level) if len(draws) else None
    return result
