"""What a score is on average over the annotators of an example, and what it is for the worst served of them."""

from __future__ import annotations

from dataclasses import dataclass
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
        clusters: what each example was made from: examples that share an original count as one finding.
        direction: which scores are good. With "lower" (error rates) the worst score is the highest.
        clean_scores: each example's score on the clean text; adds the drop, which is positive where noise costs.
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
        micro_drop_detectable, worst_drop_detectable: with `clean_scores` only: the smallest true drop that so many
            examples would show with a chance of 80 %, None where the drops do not vary.
        examples: how many were scored.
        groups: with `groups` only: the same for each group, by its name.
        gaps: with `groups` only: for the average and the worst (and their drops), the group that is served worst, the
            one that is served best, the gap between them, and its p_value, that so wide a gap between any two of so
            many groups is chance.

    Example:
        >>> result = micro_worst_average([[1, 1, 0], [1, 1, 1]], clean_scores=[1, 1], n_resamples=0)
        >>> result["micro_average"], result["worst_average"], result["worst_drop"]
        (0.8333333333333333, 0.5, 0.5)
    """
    columns.one_of("direction", direction, ("higher", "lower"))
    statistics.check_level(confidence_level)
    n_resamples, seed = columns.whole("n_resamples", n_resamples), columns.whole("seed", seed)
    table = columns.score_table("predictions", predictions)
    present = ~np.isnan(table)
    worst = np.nanmin(table, axis=1) if direction == "higher" else np.nanmax(table, axis=1)
    rows = [np.where(present, table, 0).sum(axis=1) / present.sum(axis=1), worst]
    if clean_scores is not None:
        rows.append(columns.scores("clean_scores", clean_scores))
        columns.same_length(predictions=table, clean_scores=rows[-1])
        if direction == "higher":
            _refuse_other_unit(table, rows[-1])
    originals = np.arange(len(table))
    if clusters is not None:
        originals, _ = columns.numbered("clusters", clusters)
        columns.same_length(predictions=table, clusters=originals)
    sign = 1.0 if direction == "higher" else -1.0
    bounded = all(row.min() >= 0 and row.max() <= 1 for row in (np.where(present, table, 0), *rows))
    sampling = _Sampling(confidence_level, n_resamples, seed, bounded=bounded)

    def score(members: Any) -> dict[str, Any]:
        result = _averages([row[members] for row in rows], originals[members], sign, sampling)
        result["annotator_averages"] = [
            float(column[here].mean()) if here.any() else None
            for column, here in zip(table[members].T, present[members].T, strict=True)
        ]
        return result

    result = score(slice(None))
    if groups is not None:
        result["groups"] = columns.breakdown(groups, group_names, len(table), score)
        measured = dict(zip(("micro_average", "worst_average"), rows, strict=False))
        if clean_scores is not None:
            measured |= {name: rows[2] - row for name, row in zip(("micro_drop", "worst_drop"), rows, strict=False)}
        result["gaps"] = columns.by_column(
            groups, group_names, len(table), lambda codes, names: _gaps(measured, codes, names, originals, sign)
        )
    return result


def _gaps(
    measured: dict[str, columns.FloatArray], codes: columns.IntArray, names: list[str], originals: Any, sign: float
) -> dict[str, Any]:
    """Return the gap between groups of each measure; a high drop, and a high score of costs, is worst."""
    found: dict[str, Any] = {}
    for name, values in measured.items():
        bad_is_low = sign if name.endswith("average") else -sign
        gap = statistics.group_gap(bad_is_low * values, codes, originals)
        found[name] = gap and {
            "worst": names[gap.lowest],
            "best": names[gap.highest],
            "gap": gap.gap,
            "p_value": gap.p_value,
        }
    return found


@dataclass(frozen=True, slots=True)
class _Sampling:
    """How intervals are made; `bounded` scores are between 0 and 1."""

    level: float
    n_resamples: int
    seed: int
    bounded: bool

    def of_mean(self, found: statistics.Clustered) -> statistics.Interval | None:
        """Return the interval of a mean score."""
        if self.bounded:
            return statistics.clustered_rate(found, self.level)
        return self._resampled(found)

    def of_drop(self, found: statistics.Clustered, gains: float) -> tuple[statistics.Interval | None, float | None]:
        """Return the interval of a mean difference and its p-value; `gains` is the mean of its positive part."""
        if found.number < 2:
            return None, None
        if self.bounded:
            return statistics.score_difference(found, gains, self.level)
        _, p_value = statistics.clustered_mean(found.sums, found.sizes, self.level)
        return self._resampled(found), p_value

    def _resampled(self, found: statistics.Clustered) -> statistics.Interval | None:
        sizes = np.asarray(found.sizes, float)
        return statistics.studentised_interval(found.sums, sizes, self.level, self.n_resamples, self.seed)


def _averages(
    rows: list[columns.FloatArray], originals: columns.IntArray, sign: float, sampling: _Sampling
) -> dict[str, Any]:
    """Return means and intervals of the columns micro, worst and perhaps clean."""
    result: dict[str, Any] = {"examples": len(originals)}
    wanted = len(originals) > 0 and sampling.n_resamples > 0
    for name, values in zip(("micro_average", "worst_average", "clean_average"), rows, strict=False):
        result[name] = float(values.mean()) if len(values) else None
        result[f"{name}_ci"] = sampling.of_mean(statistics.of_numbers(values, originals)) if wanted else None
    if len(rows) < 3:
        return result
    for name, values in zip(("micro_drop", "worst_drop"), rows, strict=False):
        drop = sign * (rows[2] - values) + 0.0
        drop[abs(drop) < 1e-12] = 0.0  # they differ by rounding alone
        result[name] = float(drop.mean()) if len(drop) else None
        interval = p_value = None
        if wanted:
            found = statistics.of_numbers(drop, originals)
            interval, p_value = sampling.of_drop(found, float(drop[drop > 0].sum()) / len(drop))
        result[f"{name}_ci"], result[f"{name}_p"] = interval, p_value
        result |= _size_of(name, drop, originals, sampling.level)
    return result


def _size_of(name: str, drop: columns.FloatArray, originals: columns.IntArray, level: float) -> dict[str, Any]:
    """Return how large a drop is beside what varies, and how large it must be to be found."""
    if not len(drop):
        return {f"{name}_effect_size": None, f"{name}_detectable": None}
    found = statistics.of_numbers(drop, originals)
    return {
        f"{name}_effect_size": statistics.effect_size(drop, found.number),
        f"{name}_detectable": statistics.detectable_difference(found, level) if found.number > 1 else None,
    }


def _refuse_other_unit(noisy: columns.FloatArray, clean: columns.FloatArray) -> None:
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
