"""The averages of a table of scores, examples by annotators, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lapsus import stats
from lapsus.io.encoding import NO_VALUE, hash_texts
from lapsus.reporting.analysis.records import AnalysisOptions, Averages, ClassScores, Estimate, GroupGap, NoiseBin
from lapsus.reporting.score_table import NO_ANSWER, TrackScores, select_clusters
from lapsus.stats.classification import ClassRatios, compute_class_rates, compute_class_ratios

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lapsus.core.checks import FloatArray, IntArray
    from lapsus.reporting.score_table import Mask


ROUNDING = 1e-12  # scores that differ by less are the same


@dataclass(frozen=True, slots=True)
class ExampleScores:
    """What one score per example is: the average over annotators, the worst of them, on clean text; in clusters."""

    average: FloatArray
    worst: FloatArray
    clean: FloatArray | None
    clusters: IntArray

    @classmethod
    def from_table(
        cls, table: FloatArray, clusters: IntArray | None, clean_scores: FloatArray | None = None
    ) -> ExampleScores:
        """Return the scores of examples, of a table of examples by annotators; NaN stands for a missing annotator."""
        present = ~np.isnan(table)
        average = np.where(present, table, 0).sum(axis=1) / present.sum(axis=1)
        clusters = np.arange(len(table)) if clusters is None else clusters
        return cls(average, np.nanmin(table, axis=1), clean_scores, clusters)

    def take(self, rows: IntArray) -> ExampleScores:
        """Return the scores of these examples."""
        clean = None if self.clean is None else self.clean[rows]
        return ExampleScores(self.average[rows], self.worst[rows], clean, self.clusters[rows])

    def list_drops(self) -> dict[str, FloatArray]:
        """Return how much lower the average and the worst are than on clean text, if that is known."""
        if self.clean is None:
            return {}
        drops = {"micro_drop": self.clean - self.average, "worst_drop": self.clean - self.worst}
        return {name: np.where(abs(drop) < ROUNDING, 0.0, drop) for name, drop in drops.items()}

    def estimate(self, options: AnalysisOptions) -> Averages:
        """Return averages and drops with their intervals; without clean scores, those that need them are unknown."""
        drops = {name: self._estimate_drop(drop, options) for name, drop in self.list_drops().items()}
        clean = Estimate() if self.clean is None else self._estimate_mean(self.clean, options)
        return Averages(
            clean,
            self._estimate_mean(self.average, options),
            self._estimate_mean(self.worst, options),
            **drops,
            relative_change=_compute_relative_change(drops.get("micro_drop", Estimate()), clean.value),
        )

    def _estimate_mean(self, scores: FloatArray, options: AnalysisOptions) -> Estimate:
        if not options.n_resamples:
            return Estimate(float(scores.mean()))
        sums = stats.sum_by_cluster_number(scores, self.clusters)
        return Estimate(float(scores.mean()), *(stats.clustered_rate_interval(sums, options.confidence_level) or ()))

    def _estimate_drop(self, drop: FloatArray, options: AnalysisOptions) -> Estimate:
        sums = stats.sum_by_cluster_number(drop, self.clusters)
        if not options.n_resamples or sums.n_clusters < 2:
            return Estimate(float(drop.mean()))
        gains = float(drop[drop > 0].sum()) / len(drop)
        interval, _ = stats.estimate_difference(sums, gains, options.confidence_level)
        return Estimate(float(drop.mean()), *(interval or ()))


def _compute_relative_change(drop: Estimate, clean: float | None) -> Estimate:
    """Return a drop as a change in shares of the clean average; its interval holds 0 where that of the drop does.

    The clean average is taken as it is. Where it varies, the drop varies with it, so that the interval is rather too
    wide than too short.

    >>> _compute_relative_change(Estimate(0.2, 0.1, 0.3), 0.8)
    Estimate(value=-0.25, low=-0.37..., high=-0.125)
    """
    if drop.value is None or not clean:
        return Estimate()
    low, high = drop.interval or (None, None)
    return Estimate(
        0.0 - drop.value / clean,
        None if high is None else 0.0 - high / clean,
        None if low is None else 0.0 - low / clean,
    )


def estimate_for_new_annotators(
    table: FloatArray, clusters: IntArray | None, options: AnalysisOptions, *, least: float = 0.0
) -> Estimate:
    """Return the mean of a table of examples by annotators, with its interval for other annotators too.

    The numbers are scores between 0 and 1, or with `least=-1` differences of these. Empty with fewer than three
    annotators.

    >>> table = np.array([[1.0, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]] * 20)
    >>> estimate_for_new_annotators(table, None, AnalysisOptions())
    Estimate(value=0.75, low=0.71..., high=0.78...)
    """
    if not options.n_resamples:
        return Estimate()
    scale = 1.0 - least
    interval = stats.new_annotators_interval((table - least) / scale, options.confidence_level, clusters)
    if interval is None:
        return Estimate()
    low, high = (scale * end + least for end in interval)
    return Estimate(float(table.mean()), low, high)


# Balanced accuracy and macro-F1, which show where a model prefers one class.
# A model that predicts "different" more often gains accuracy where most pairs differ, but finds fewer equal pairs.


MAX_CLASSES = 100


def compute_class_scores(runs: Iterable[tuple[TrackScores, Mask]], level: float) -> ClassScores:
    """Score annotators' examples by class, on average over annotators; None where the right answers are not classes.

    They are classes if there are at least two of them, each right for two examples or more on average, and every
    answer is right or wrong. A macro-F1 averages over the classes that occur as right answers or as predictions; a
    missing answer is wrong, and no class.

    >>> from lapsus.reporting.score_table import align_tracks
    >>> from lapsus.core.types import Track
    >>> rows = [{"id": n, "gold": gold, "prediction": "a"} for n, gold in enumerate("aaab")]
    >>> [run] = align_tracks([Track("bert", "clean", rows)])
    >>> result = compute_class_scores([(run, run.scored)], 0.95)
    >>> result.balanced_accuracy.value, result.macro_f1.value
    (0.5, 0.428...)
    """
    ratios = []
    for run, examples in runs:
        run_ratios = _compute_ratios(run, examples)
        if run_ratios is None:
            return ClassScores()
        ratios.append(run_ratios)
    rates = compute_class_rates(ratios, level)._asdict()
    return ClassScores(Estimate.from_result(rates, "balanced_accuracy"), Estimate.from_result(rates, "macro_f1"))


def _compute_ratios(run: TrackScores, examples: Mask) -> ClassRatios | None:
    """Return the recalls and the F1 of the classes of these examples; None where they have no classes."""
    if run.golds is None or run.predictions is None or not examples.any() or run.golds.distinct > examples.sum() / 2:
        return None
    scores, golds, predictions = (part[examples] for part in (run.scores, run.golds.codes, run.predictions.codes))
    if not np.isin(scores, (0.0, 1.0)).all() or (golds == NO_VALUE).any() or (predictions == NO_VALUE).any():
        return None
    # A prediction that was scored as right is of the right class, whatever its wording.
    predictions = np.where(scores == 1, golds, predictions)
    classes, gold_indices = np.unique(golds, return_inverse=True)
    if not 2 <= len(classes) <= MAX_CLASSES or len(golds) < 2 * len(classes):
        return None
    class_indices = np.searchsorted(classes, predictions).clip(max=len(classes) - 1)
    is_other_class = classes[class_indices] != predictions
    predicted_indices = class_indices.astype(np.int64)
    predicted_indices[is_other_class] = len(classes) + np.unique(predictions[is_other_class], return_inverse=True)[1]
    predicted_indices[predictions == hash_texts([NO_ANSWER])] = -1
    return compute_class_ratios(gold_indices, predicted_indices, select_clusters(run, examples))


# Whether noise makes a model tell the classes apart less well, beyond chance.


def compute_balanced_drop_p(
    clean: ArrayLike, noisy: ArrayLike, golds: ArrayLike, clusters: IntArray | None
) -> float | None:
    """Return the p-value that balanced accuracy is the same for two scores of the same examples.

    The drop of balanced accuracy is the mean of the examples' drops, each weighted so that every class counts the same.

    >>> golds = ["rare"] * 10 + ["frequent"] * 30
    >>> round(compute_balanced_drop_p([1] * 40, [0] * 5 + [1] * 35, golds, None), 3)
    0.062
    >>> clean = [1] * 15 + [0] * 5 + [1] * 20
    >>> round(compute_balanced_drop_p(clean, [0] * 5 + [1] * 35, golds, None), 3)  # of 1,024 choices of signs
    0.219
    """
    classes, class_indices, sizes = np.unique(np.asarray(golds), return_inverse=True, return_counts=True)
    weights = (len(class_indices) / len(classes) / sizes)[class_indices]
    drops = stats.sum_by_cluster(weights * (np.asarray(clean, float) - np.asarray(noisy, float)), clusters)
    return stats.compute_p_value(drops) if drops.n_clusters > 1 else None


# The scores of models by class of noise rate: edits per character of clean text.


NOISE_BIN_EDGES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, math.inf)  # upper bounds of the classes of noise rates


def compute_mean_noise_rate(run: TrackScores) -> float | None:
    """Return the mean noise rate of a track's texts; None where no rate is known."""
    if run.noise is None or np.isnan(run.noise).all():
        return None
    return float(np.nanmean(run.noise))


def bin_by_noise_rate(
    members: Sequence[TrackScores], options: AnalysisOptions, dataset: str, model: str, family: str
) -> list[NoiseBin]:
    """Return the average score of the rows in each class of noise rates."""
    if all(run.noise is None for run in members):
        return []
    no_rates = np.full(len(members[0].scores), np.nan)
    rates = np.stack([no_rates if run.noise is None else run.noise for run in members], axis=1)
    table = np.stack([run.scores for run in members], axis=1)
    rates[np.isnan(table).all(axis=1)] = np.nan
    records: list[NoiseBin] = []
    for low, high in zip((-math.inf, *NOISE_BIN_EDGES), NOISE_BIN_EDGES, strict=False):
        in_bin = (rates > low) & (rates <= high)
        scored = np.asarray((in_bin & ~np.isnan(table)).any(axis=1))
        if not scored.any():
            continue
        scores = ExampleScores.from_table(np.where(in_bin, table, np.nan)[scored], select_clusters(members[0], scored))
        records.append(
            NoiseBin(
                dataset,
                model,
                family,
                noise_from=None if math.isinf(low) else low,
                noise_to=None if math.isinf(high) else high,
                noise_rate=float(rates[in_bin].mean()),
                texts=int(in_bin.sum()),
                examples=int(scored.sum()),
                average=scores.estimate(options).micro_average,
            )
        )
    return records


# The groups of examples that a model serves worst and best.


def score_groups(scores: ExampleScores, values: Sequence[str]) -> dict[str, ExampleScores]:
    """Return the scores of the examples of each value of a column."""
    names, codes = np.unique(np.asarray(values, object), return_inverse=True)
    rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    return {str(name): scores.take(members) for name, members in zip(names, rows, strict=True)}


def find_gaps(
    scores: ExampleScores, column: str, values: Sequence[str], dataset: str, model: str, family: str
) -> list[GroupGap]:
    """Return the gap between the groups of a column that are served worst and best: of the average, and of its drop."""
    names, codes = np.unique(np.asarray(values, object), return_inverse=True)
    measures = {"average": scores.average}
    if scores.clean is not None:
        measures["drop"] = scores.average - scores.clean
    gaps = []
    for measure, quality in measures.items():
        extremes = stats.compare_group_extremes(quality, codes, scores.clusters)
        if extremes is not None:
            worst, best = str(names[extremes.lowest]), str(names[extremes.highest])
            place = (dataset, model, family, column, measure, len(names))
            gaps.append(GroupGap(*place, worst, best, extremes.gap, extremes.p_value))
    return gaps
