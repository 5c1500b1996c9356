"""Paired tests: the mean difference of two scores of the same examples; and the correction of several tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import comb
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from lapsus import stats
from lapsus.reporting.analysis.records import (
    ALPHA,
    AnalysisOptions,
    ChanceWorst,
    Comparison,
    DialectScore,
    Estimate,
    GroupGap,
    PairedTest,
    is_significant,
)
from lapsus.reporting.score_table import (
    TrackScores,
    find_clean_track,
    select_clusters,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lapsus.core.checks import FloatArray
    from lapsus.reporting.score_table import Mask


Tested = TypeVar("Tested", PairedTest, GroupGap, DialectScore)


def compare_paired_scores(
    first: ArrayLike,
    second: ArrayLike,
    clusters: Iterable[Any] | None,
    level: float,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> PairedTest:
    """Return the mean difference of two scores of the same examples, with its test and the interval that inverts it.

    Examples that share an original are treated as one cluster.

    >>> compare_paired_scores([1, 0, 0, 0], [1, 1, 1, 1], list("abcd"), 0.95).test
    'McNemar'
    """
    first_scores, second_scores = np.asarray(first, float), np.asarray(second, float)
    if not len(first_scores):
        return PairedTest()
    comparison = stats.compare_paired(first_scores, second_scores, clusters, level=level, bounds=bounds)
    if comparison.clusters < 2:
        return PairedTest()
    detection = comparison.detection
    return PairedTest(
        Estimate(comparison.difference, *(comparison.interval or ())),
        comparison.test,
        comparison.p_value,
        minimum_detectable=None if detection is None else detection.minimum_detectable(ALPHA),
        effect_size=comparison.effect_size,
        detection=detection,
    )


def apply_holm(tests: Iterable[Tested]) -> list[Tested]:
    """Add Holm's correction for the number of tests; a test that could not be made still counts as one.

    >>> [(test.p_holm, test.n_tests) for test in apply_holm([PairedTest(p_value=0.02), PairedTest()])]
    [(0.04, 2), (None, 2)]
    """
    return _correct(list(tests), stats.holm, "p_holm", lambda n_tests, n_found: ALPHA / (n_tests - n_found))


def apply_benjamini_hochberg(tests: Iterable[Tested]) -> list[Tested]:
    """Add the correction of exploratory tests: of those below 5 %, one in twenty is expected to be false.

    >>> [(test.p_bh, test.n_tests) for test in apply_benjamini_hochberg([PairedTest(p_value=0.02), PairedTest()])]
    [(0.04, 2), (None, 2)]
    """
    return _correct(
        list(tests), stats.benjamini_hochberg, "p_bh", lambda n_tests, n_found: ALPHA * (n_found + 1) / n_tests
    )


def _correct(
    tests: Sequence[Tested],
    method: Callable[[Sequence[float]], list[float]],
    name: str,
    find_level: Callable[[int, int], float],
) -> list[Tested]:
    """Correct p-values by a method; the smallest detectable difference is that at the level which decides.

    `find_level` returns the level that one more test must keep to, where so many of the others are below 5 %.
    """
    p_values = method([1.0 if test.p_value is None else test.p_value for test in tests])
    n_tests, n_found = len(tests), sum(map(is_significant, p_values))
    corrected = []
    for test, p_value in zip(tests, p_values, strict=True):
        changes: dict[str, Any] = {name: None if test.p_value is None else p_value, "n_tests": n_tests}
        if isinstance(test, PairedTest) and test.detection is not None:
            level = find_level(n_tests, n_found - is_significant(p_value))
            changes["minimum_detectable"] = test.detection.minimum_detectable(level)
        corrected.append(replace(test, **changes))
    return corrected


# Compare models on the examples that both answered: every two of them, or each with the best of many.


MAX_PAIRED = 30  # models, at most, of which every two are compared


@dataclass(frozen=True, slots=True)
class ComparedScore:
    """One score per example: of the clean track, or of all annotators of a family."""

    name: str
    family: str
    tracks: tuple[str, ...]

    def compute(self, table: FloatArray) -> FloatArray:
        """Return the score of each example, of a table of annotators x examples."""
        scores: FloatArray = (np.nanmin if self.name == "worst" else np.nanmean)(table, axis=0)
        return scores


def compare_models(runs: Sequence[TrackScores], models: Sequence[str], options: AnalysisOptions) -> list[Comparison]:
    """Compare models, with the annotators that both have."""
    tracks_by_model = {model: {run.track.track: run for run in runs if run.track.model == model} for model in models}
    runs_by_model = {model: model_runs for model, model_runs in tracks_by_model.items() if model_runs}
    pairs = list(_iter_pairs(runs_by_model))
    measures = _list_compared_scores(runs)
    comparisons_by_pair: dict[tuple[str, str], list[Comparison]] = {pair: [] for pair in pairs}
    for measure in measures:
        complete_scores = {
            model: _compute_complete_scores(model_runs, measure) for model, model_runs in runs_by_model.items()
        }
        for model, other in pairs:
            shared_names = [
                name for name in measure.tracks if name in runs_by_model[model] and name in runs_by_model[other]
            ]
            if not shared_names or (
                measure.name == "worst" and len(shared_names) == 1
            ):  # of one annotator, it is its average
                continue
            first_scores, second_scores = complete_scores[model], complete_scores[other]
            if first_scores is None or second_scores is None:
                first_scores, second_scores = _compute_shared_scores(
                    [(runs_by_model[model][name], runs_by_model[other][name]) for name in shared_names], measure
                )
            examples = ~np.isnan(first_scores)
            if examples.any():
                first_scores, second_scores = first_scores[examples], second_scores[examples]
                test = compare_paired_scores(
                    first_scores, second_scores, select_clusters(runs[0], examples), options.confidence_level
                )
                place = (runs[0].track.dataset, model, other, measure.name, measure.family)
                comparisons_by_pair[model, other].append(
                    Comparison(*place, len(first_scores), float(first_scores.mean()), float(second_scores.mean()), test)
                )
    return list(chain.from_iterable(comparisons_by_pair.values()))


def _iter_pairs(runs_by_model: Mapping[str, Mapping[str, TrackScores]]) -> Iterator[tuple[str, str]]:
    """Return every two models; of very many, each with the one that scores best on clean text."""
    if len(runs_by_model) <= MAX_PAIRED:
        yield from combinations(runs_by_model, 2)
        return

    def score(model: str) -> float:
        runs = list(runs_by_model[model].values())
        return float(np.nanmean((find_clean_track(runs) or runs[0]).scores))

    best = max(runs_by_model, key=score)
    yield from ((model, best) for model in runs_by_model if model != best)


def _compute_complete_scores(model_runs: Mapping[str, TrackScores], measure: ComparedScore) -> FloatArray | None:
    """Return a model's score of each example, where it has all of them by all annotators."""
    runs = [model_runs[name] for name in measure.tracks if name in model_runs]
    if len(runs) < len(measure.tracks):
        return None
    table = np.stack([run.scores for run in runs])
    return None if np.isnan(table).any() else measure.compute(table)


def _compute_shared_scores(
    pairs: Sequence[tuple[TrackScores, TrackScores]], measure: ComparedScore
) -> tuple[FloatArray, FloatArray]:
    """Return two models' scores of each example, by the annotators for which both have one; NaN where there is none."""
    tables = [np.stack([pair[side].scores for pair in pairs]) for side in (0, 1)]
    missing = np.isnan(tables[0]) | np.isnan(tables[1])
    all_missing = missing.all(axis=0)
    pair_scores = []
    for table in tables:
        scores = np.full(table.shape[1], np.nan)
        scores[~all_missing] = measure.compute(np.where(missing, np.nan, table)[:, ~all_missing])
        pair_scores.append(scores)
    return pair_scores[0], pair_scores[1]


def correct_comparisons(records: Sequence[Comparison]) -> list[Comparison]:
    """Apply Holm's correction to the tests of all comparisons of a report."""
    tests = apply_holm(record.test for record in records)
    return [replace(record, test=test) for record, test in zip(records, tests, strict=True)]


def _list_compared_scores(runs: Sequence[TrackScores]) -> list[ComparedScore]:
    """Return what two models can be compared by: clean text, and the average and worst of each family."""
    families: dict[str, dict[str, None]] = {}
    for run in runs:
        if not run.is_clean:
            families.setdefault(run.track.family, {})[run.track.track] = None
    clean = find_clean_track(runs)
    measures = [ComparedScore("clean", "", (clean.track.track,))] if clean else []
    for family, names in families.items():
        measures += [ComparedScore("average", family, tuple(names)), ComparedScore("worst", family, tuple(names))]
    return measures


# Estimate how low the worst of several answers is by chance alone, for a model whose answers vary.
# The minimum over annotators falls even if noise has no effect. The reference is the minimum over as many answers to
# the clean text.


def estimate_chance_worst(
    members: Sequence[TrackScores], clean: TrackScores, repeats: Sequence[TrackScores], examples: Mask, level: float
) -> ChanceWorst:
    """Return the expected minimum over as many answers to the clean text as there are annotators, with its interval.

    Further clean tracks (`clean.2`, `clean.3`, …) are answers to the same text. With fewer answers than annotators it
    is not known: their minimum is that of fewer draws.
    """
    if len(members) < 2 or len(repeats) + 1 < len(members):
        return ChanceWorst()
    table = np.sort(np.stack([run.scores for run in (clean, *repeats)], axis=1)[examples], axis=1)
    is_complete = ~np.isnan(table).any(axis=1)
    if not is_complete.any():
        return ChanceWorst()
    shares = _weigh_ranks(table.shape[1], len(members))
    clusters = select_clusters(clean, examples)
    numbers = np.arange(len(table)) if clusters is None else clusters
    sums = stats.sum_by_cluster_number(table[is_complete] @ shares, numbers[is_complete])
    value = float((table[is_complete] @ shares).mean())
    interval = stats.clustered_rate_interval(sums, level) or ()
    return ChanceWorst(Estimate(value, *interval), f"{table.shape[1]} answers to the clean text")


def _weigh_ranks(size: int, number: int) -> FloatArray:
    """Return how likely each of `size` ranked scores is the least of `number` of them.

    >>> _weigh_ranks(3, 2).round(3).tolist()
    [0.667, 0.333, 0.0]
    """
    return np.array([comb(size - rank - 1, number - 1) / comb(size, number) for rank in range(size)])
