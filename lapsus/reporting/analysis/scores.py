"""The averages of a table of scores, examples by annotators, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus import stats
from lapsus.io.encoding import NO_VALUE, hash_texts
from lapsus.metrics.micro_worst_average.score import micro_worst_average
from lapsus.reporting.analysis.alignment import AlignedTrack, AnalysisOptions, select_clusters
from lapsus.reporting.analysis.records import ClassScores, Estimate, GroupGap, NoiseBin
from lapsus.reporting.columns import NO_ANSWER
from lapsus.stats.classification import ClassRatios, compute_class_rates, compute_class_ratios

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lapsus.core.checks import FloatArray, IntArray
    from lapsus.reporting.analysis.alignment import Mask


def compute_averages(
    table: FloatArray,
    clusters: IntArray | None,
    options: AnalysisOptions,
    clean_scores: FloatArray | None = None,
    groups: Mapping[str, list[str]] | None = None,
) -> dict[str, Any]:
    """Return `micro_worst_average` of a table in which NaN stands for an annotator that is missing."""
    missing = np.isnan(table)
    scores = np.ma.array(np.where(missing, 0.0, table), mask=missing) if missing.any() else table
    result: dict[str, Any] = micro_worst_average(
        scores, clusters=clusters, clean_scores=clean_scores, groups=groups or None, **options.resampling
    )
    return result


# Balanced accuracy and macro-F1, which show where a model prefers one class.
# A model that predicts "different" more often gains accuracy where most pairs differ, but finds fewer equal pairs.


MAX_CLASSES = 100


def compute_class_scores(runs: Iterable[tuple[AlignedTrack, Mask]], level: float) -> ClassScores:
    """Score annotators' examples by class, on average over annotators; None where the right answers are not classes.

    They are classes if there are at least two of them, each right for two examples or more on average, and every
    answer is right or wrong. A macro-F1 averages over the classes that occur as right answers or as predictions; a
    missing answer is wrong, and no class.

    >>> from lapsus.reporting.analysis.alignment import align_tracks
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


def _compute_ratios(run: AlignedTrack, examples: Mask) -> ClassRatios | None:
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
    0.025
    >>> round(compute_balanced_drop_p([1] * 15 + [0] * 5 + [1] * 20, [0] * 5 + [1] * 35, golds, None), 3)  # z = 6.67 / √22.2
    0.157
    """
    classes, class_indices, sizes = np.unique(np.asarray(golds), return_inverse=True, return_counts=True)
    weights = (len(class_indices) / len(classes) / sizes)[class_indices]
    drops = stats.sum_by_cluster(weights * (np.asarray(clean, float) - np.asarray(noisy, float)), clusters)
    return stats.score_test(drops) if drops.n_clusters > 1 else None


# The scores of models by class of noise rate: edits per character of clean text.


NOISE_BIN_EDGES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, math.inf)  # upper bounds of the classes of noise rates


def compute_mean_noise_rate(run: AlignedTrack) -> float | None:
    """Return the mean noise rate of a track's texts; None where no rate is known."""
    if run.noise is None or np.isnan(run.noise).all():
        return None
    return float(np.nanmean(run.noise))


def bin_by_noise_rate(
    members: Sequence[AlignedTrack], options: AnalysisOptions, dataset: str, model: str, family: str
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
        result = compute_averages(
            np.where(in_bin, table, np.nan)[scored],
            select_clusters(members[0], scored),
            options,
        )
        records.append(
            NoiseBin(
                dataset,
                model,
                family,
                noise_from=None if math.isinf(low) else low,
                noise_to=None if math.isinf(high) else high,
                noise_rate=float(rates[in_bin].mean()),
                texts=int(in_bin.sum()),
                examples=result["examples"],
                average=Estimate.from_result(result, "micro_average"),
            )
        )
    return records


# The groups of examples that a model serves worst and best.


MEASURES = {"average": "micro_average", "drop": "micro_drop"}


def extract_gaps(result: Mapping[str, Any], dataset: str, model: str, family: str) -> list[GroupGap]:
    """Return the gaps in a result of `micro_worst_average` with columns of groups: of the average, and of its drop."""
    return [
        GroupGap(
            dataset,
            model,
            family,
            column,
            measure,
            sum(scored["examples"] > 0 for scored in result["groups"][column].values()),
            **gap,
        )
        for column, gaps in result.get("gaps", {}).items()
        for measure, name in MEASURES.items()
        if (gap := gaps.get(name)) is not None
    ]
