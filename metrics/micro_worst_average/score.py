"""What a score is on average over the annotators of an example, and what it is for the worst served of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus import stats
from lapsus.core import checks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def micro_worst_average(
    predictions: Iterable[Iterable[float | None]],
    *,
    groups: checks.Groups | None = None,
    group_names: Iterable[Any] | Mapping[str, Iterable[Any]] | None = None,
    clusters: Iterable[Any] | None = None,
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
        clusters: the original of each example; examples with the same original form one cluster.
        direction: which scores are good. With "lower" (error rates) the worst score is the highest.
        clean_scores: each example's score on the clean text; adds the drop, which is positive where noise lowers it.
        confidence_level: of the intervals.
        n_resamples: how often the originals are resampled where scores go beyond 0 and 1 (from 0 to 1, intervals are
            score intervals, which need no resampling). 0 gives no intervals (null).
        seed: of the resampling.

    Returns:
        micro_average: the mean over examples of the mean score of their annotators.
        worst_average: the mean over examples of their worst score.
        annotator_averages: the mean score of each annotator, None for one without scores.
        micro_average_ci, worst_average_ci: the intervals of these two.
        clean_average, micro_drop, worst_drop: with `clean_scores` only.
        clean_average_ci, micro_drop_ci, worst_drop_ci: with `clean_scores` only: the intervals of these three.
        micro_drop_p, worst_drop_p: with `clean_scores` only: the two-sided p-value that the drop is 0.
        micro_drop_effect_size, worst_drop_effect_size: with `clean_scores` only: the drop in standard deviations of the
            examples' drops (Cohen's d for pairs), None where they are all the same.
        micro_drop_detectable, worst_drop_detectable: with `clean_scores` only: the smallest true drop that
            the test, at a level of 1 - confidence_level, finds with 80 % power; None where no drop is found so often.
        examples: how many were scored.
        groups: with `groups` only: the same for each group, by its name.
        gaps: with `groups` only: for the average and the worst (and their drops), the group with the worst mean, the
            one with the best, the gap between them, and the p_value of the largest gap between any two of so many
            groups.

    Example:
        >>> result = micro_worst_average([[1, 1, 0], [1, 1, 1]], clean_scores=[1, 1], n_resamples=0)
        >>> result["micro_average"], result["worst_average"], result["worst_drop"]
        (0.8333333333333333, 0.5, 0.5)
    """
    checks.check_choice("direction", direction, ("higher", "lower"))
    stats.check_level(confidence_level)
    n_resamples, seed = checks.check_integer("n_resamples", n_resamples), checks.check_integer("seed", seed)
    table = checks.check_score_table("predictions", predictions)
    present = ~np.isnan(table)
    worst = np.nanmin(table, axis=1) if direction == "higher" else np.nanmax(table, axis=1)
    rows = [np.where(present, table, 0).sum(axis=1) / present.sum(axis=1), worst]
    if clean_scores is not None:
        rows.append(checks.check_scores("clean_scores", clean_scores))
        checks.check_same_length(predictions=table, clean_scores=rows[-1])
        if direction == "higher":
            _check_same_unit(table, rows[-1])
    cluster_ids = checks.number_clusters(clusters, predictions=table)
    sign = 1.0 if direction == "higher" else -1.0
    bounded = all(row.min() >= 0 and row.max() <= 1 for row in (np.where(present, table, 0), *rows))
    settings = _IntervalSettings(confidence_level, n_resamples, seed, bounded=bounded)

    def score(members: Any) -> dict[str, Any]:
        result = _compute_averages([row[members] for row in rows], cluster_ids[members], sign, settings)
        result["annotator_averages"] = [
            float(column[is_present].mean()) if is_present.any() else None
            for column, is_present in zip(table[members].T, present[members].T, strict=True)
        ]
        return result

    result = score(slice(None))
    if groups is not None:
        result["groups"] = checks.score_by_group(groups, group_names, len(table), score)
        measures = dict(zip(("micro_average", "worst_average"), rows, strict=False))
        if clean_scores is not None:
            measures |= {name: rows[2] - row for name, row in zip(("micro_drop", "worst_drop"), rows, strict=False)}
        result["gaps"] = checks.apply_by_column(
            groups,
            group_names,
            len(table),
            lambda codes, names: _compare_groups(measures, codes, names, cluster_ids, sign),
        )
    return result


def _compare_groups(
    measures: dict[str, checks.FloatArray], codes: checks.IntArray, names: list[str], cluster_ids: Any, sign: float
) -> dict[str, Any]:
    """Return the gap between groups of each measure; a high drop, and a high score of costs, is worst."""
    gaps: dict[str, Any] = {}
    for name, values in measures.items():
        bad_is_low = sign if name.endswith("average") else -sign
        gap = stats.compare_group_extremes(bad_is_low * values, codes, cluster_ids)
        gaps[name] = gap and {
            "worst": names[gap.lowest],
            "best": names[gap.highest],
            "gap": gap.gap,
            "p_value": gap.p_value,
        }
    return gaps


@dataclass(frozen=True, slots=True)
class _IntervalSettings:
    """How intervals are made; `bounded` scores are between 0 and 1."""

    level: float
    n_resamples: int
    seed: int
    bounded: bool

    def compute_mean_interval(self, sums: stats.ClusterSums) -> stats.Interval | None:
        """Return the interval of a mean score."""
        if self.bounded:
            return stats.clustered_rate_interval(sums, self.level)
        return stats.estimate_mean(sums, self.level, self.n_resamples, self.seed)[0]

    def estimate_drop(self, sums: stats.ClusterSums, gains: float) -> tuple[stats.Interval | None, float | None]:
        """Return the interval of a mean difference and its p-value; `gains` is the mean of its positive part."""
        if sums.n_clusters < 2:
            return None, None
        if self.bounded:
            return stats.estimate_difference(sums, gains, self.level)
        return stats.estimate_mean(sums, self.level, self.n_resamples, self.seed)


def _compute_averages(
    rows: list[checks.FloatArray], cluster_ids: checks.IntArray, sign: float, settings: _IntervalSettings
) -> dict[str, Any]:
    """Return means and intervals of the columns micro, worst and perhaps clean."""
    result: dict[str, Any] = {"examples": len(cluster_ids)}
    with_intervals = len(cluster_ids) > 0 and settings.n_resamples > 0
    for name, values in zip(("micro_average", "worst_average", "clean_average"), rows, strict=False):
        result[name] = float(values.mean()) if len(values) else None
        result[f"{name}_ci"] = (
            settings.compute_mean_interval(stats.sum_by_cluster_number(values, cluster_ids)) if with_intervals else None
        )
    if len(rows) < 3:
        return result
    for name, values in zip(("micro_drop", "worst_drop"), rows, strict=False):
        drop = sign * (rows[2] - values) + 0.0
        drop[abs(drop) < 1e-12] = 0.0  # they differ by rounding alone
        result[name] = float(drop.mean()) if len(drop) else None
        interval = p_value = None
        if with_intervals:
            sums = stats.sum_by_cluster_number(drop, cluster_ids)
            interval, p_value = settings.estimate_drop(sums, float(drop[drop > 0].sum()) / len(drop))
        result[f"{name}_ci"], result[f"{name}_p"] = interval, p_value
        result |= _describe_drop(name, drop, cluster_ids, settings)
    return result


def _describe_drop(
    name: str, drop: checks.FloatArray, cluster_ids: checks.IntArray, settings: _IntervalSettings
) -> dict[str, Any]:
    """Return how large a drop is beside what varies, and how large it must be to be found."""
    effect_size = detectable = None
    if len(drop):
        sums = stats.sum_by_cluster_number(drop, cluster_ids)
        effect_size = stats.compute_effect_size(drop, sums.n_clusters)
        if sums.n_clusters > 1:
            model = stats.DetectionModel.from_differences(drop, sums, bounded=settings.bounded)
            detectable = model.minimum_detectable(1 - settings.level)
    return {f"{name}_effect_size": effect_size, f"{name}_detectable": detectable}


def _check_same_unit(noisy: checks.FloatArray, clean: checks.FloatArray) -> None:
    """Raise if one side looks like percentages and the other like shares."""
    sides = {"predictions": noisy[~np.isnan(noisy)], "clean_scores": clean}
    shares = [name for name, side in sides.items() if side.min() >= 0 and 0 < side.max() <= 1]
    if len(shares) == 1:
        (other,) = sides.keys() - set(shares)
        if sides[other].min() >= 0 and sides[other].mean() > 10 * sides[shares[0]].mean() > 0:
            raise ValueError(
                f"{other} are {sides[other].mean():.4g} on average and {shares[0]} {sides[shares[0]].mean():.4g}: give"
                " both as shares, or both as percentages."
            )
