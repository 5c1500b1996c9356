"""What a dataset's own measures say of a track: slots of utterances, answers to questions, queries, translations.

A row's score is one number; these are measured over all rows of a track, by the metrics of the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lapsus.core.text import is_free_text, is_mostly_chinese
from lapsus.metrics import (
    annotated_bleu,
    annotated_chrf,
    answer_f1,
    entity_f1,
    micro_worst_average,
    slu_accuracy,
)
from lapsus.reporting.analysis.records import Estimate, TaskScore
from lapsus.reporting.score_table import TrackScores

Rows = Mapping[str, Sequence[Any]]  # columns
Measures = dict[str, Estimate]
VALUE_HIT = "value_hit"  # whether noise destroyed a gold value that stands in the clean text


class TaskMeasure(NamedTuple):
    """A kind of data: the columns and answers that tell it, and what measures it, if their values fit."""

    columns: tuple[str, ...]
    compute: Callable[[Rows, Sequence[Any] | None, float], Measures]
    applies: Callable[[TrackScores], bool] | None = None  # None: the columns suffice


def measure_task(run: TrackScores, level: float) -> Iterator[TaskScore]:
    """Yield the measures of one track: those of the first kind of data that its columns tell."""
    track = run.track
    place = (track.dataset, track.model, track.track, track.family, track.annotator)
    for measure, count, value in _measure_value_hits(run, level):
        yield TaskScore(*place, clean=run.is_clean, examples=count, measure=measure, value=value)
    for task_measure in TASK_MEASURES:
        if not set(task_measure.columns) <= set(run.names):
            continue
        if task_measure.applies is not None and not task_measure.applies(run):
            continue
        examples = np.flatnonzero(run.scored)
        names = (*task_measure.columns, *(name for name in ("prediction", "gold") if name not in task_measure.columns))
        rows = dict(zip(names, run.select_columns(names, examples), strict=True))
        clusters = None if run.clusters is None else run.clusters[examples].tolist()
        estimates = task_measure.compute(rows, clusters, level)
        for measure, value in estimates.items():
            yield TaskScore(*place, clean=run.is_clean, examples=len(examples), measure=measure, value=value)
        if estimates:
            return


def _measure_value_hits(run: TrackScores, level: float) -> Iterator[tuple[str, int, Estimate]]:
    """Yield how often noise destroyed a gold value of the text, and the scores with and without that.

    Where a value is gone, nobody can answer rightly: that part of the drop is lost information, not fragility.
    """
    if VALUE_HIT not in run.names:
        return
    examples = np.flatnonzero(run.scored)
    hits, scores = run.select_columns([VALUE_HIT], examples)[0], run.scores[examples].tolist()
    rows = [
        (bool(hit), score, place)
        for place, (hit, score) in enumerate(zip(hits, scores, strict=True))
        if hit is not None
    ]
    columns = {
        "Value hit": [(float(hit), place) for hit, _, place in rows],
        "Score where a value is hit": [(score, place) for hit, score, place in rows if hit],
        "Score where values are there": [(score, place) for hit, score, place in rows if not hit],
    }
    for measure, pairs in columns.items():
        if pairs:
            clusters = None if run.clusters is None else run.clusters[examples[[place for _, place in pairs]]].tolist()
            result = micro_worst_average([[score] for score, _ in pairs], clusters=clusters, confidence_level=level)
            yield measure, len(pairs), Estimate.from_result(result, "micro_average")


def _measure_frames(rows: Rows, clusters: Sequence[Any] | None, level: float) -> Measures:
    """Measure intents and BIO tags: what the model said, and what is right."""
    predictions, golds = rows["tags"], rows["gold_tags"]
    if not all(isinstance(tags, list) for tags in golds):
        return {}
    blank = [["O"] * len(tags) for tags in golds]
    predicted_tags = [
        tags if isinstance(tags, list) and len(tags) == len(none) else none
        for tags, none in zip(predictions, blank, strict=True)
    ]
    with_intent = any(gold is not None for gold in rows["gold"])

    def make_frames(intents: Sequence[Any], tags: Sequence[Any]) -> list[dict[str, Any]]:
        return [{"intent": str(intent), "tags": list(each)} for intent, each in zip(intents, tags, strict=True)]

    result = slu_accuracy(
        make_frames(rows["prediction"], predicted_tags),
        make_frames(rows["gold"], golds),
        clusters=clusters,
        confidence_level=level,
    )
    names = {"slot_f1": "Slot F1", "intent_accuracy": "Intent accuracy", "e2e_accuracy": "Intent and all slots"}
    return _extract_estimates(result, names if with_intent else {"slot_f1": "Slot F1"})


def _measure_slots(rows: Rows, clusters: Sequence[Any] | None, level: float) -> Measures:
    """Measure slots or entities that are pairs of a type and a filler."""
    predictions, golds = list(rows.values())[:2]
    result = entity_f1(
        [each or [] for each in predictions], [each or [] for each in golds], clusters=clusters, confidence_level=level
    )
    return _extract_estimates(result, {"entity_f1": "Entity F1", "slu_f1": "SLU-F1"})


def _measure_answers(rows: Rows, clusters: Sequence[Any] | None, level: float) -> Measures:
    """Measure answers to questions that have lists of right answers."""
    golds = next(iter(rows.values()))
    references: list[list[str]] = []
    for gold in golds:
        texts = gold.get("text") if isinstance(gold, Mapping) else gold
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            return {}
        references.append(texts)
    predictions = ["" if each is None else str(each) for each in rows["prediction"]]
    result = answer_f1(predictions, references, clusters=clusters, confidence_level=level)
    return _extract_estimates(result, {"exact_match": "Exact match", "f1": "F1"})


def _measure_translations(rows: Rows, clusters: Sequence[Any] | None, level: float) -> Measures:
    """Measure texts that were written."""
    golds = list(rows["gold"])
    if not all(isinstance(each, str) for each in golds):
        return {}
    predictions = [[each if isinstance(each, str) else ""] for each in rows["prediction"]]
    tokenize = "zh" if is_mostly_chinese(golds) else "13a"
    bleu = annotated_bleu(predictions, golds, tokenize=tokenize, clusters=clusters, confidence_level=level)
    chrf = annotated_chrf(predictions, golds, clusters=clusters, confidence_level=level)
    return {name: _convert_percent(result) for name, result in (("BLEU", bleu), ("chrF", chrf))}


def _measure_queries(rows: Rows, clusters: Sequence[Any] | None, level: float) -> Measures:
    """Measure queries that were run on a database: whether they find what the right one finds, and say the same."""
    estimates: Measures = {}
    for column, label in (("execution_match", "Same result"), ("score", "Same clauses")):
        values = [[float(mark or 0.0)] for mark in rows[column]]
        result = micro_worst_average(values, clusters=clusters, confidence_level=level)
        estimates[label] = Estimate.from_result(result, "micro_average")
    return estimates


def _measure_scorers(rows: Rows, clusters: Sequence[Any] | None, level: float) -> Measures:
    """Measure what each scorer says; answers that it could not score are left out."""
    scores = [row if isinstance(row, Mapping) else {} for row in rows["scores"]]
    estimates: Measures = {}
    for name in dict.fromkeys(name for row in scores for name in row):
        known = [place for place, row in enumerate(scores) if row.get(name) is not None]
        if known:
            originals = None if clusters is None else [clusters[place] for place in known]
            values = [[float(scores[place][name])] for place in known]
            result = micro_worst_average(values, clusters=originals, confidence_level=level)
            estimates[name] = Estimate.from_result(result, "micro_average")
    return estimates


def _measure_calls(rows: Rows, clusters: Sequence[Any] | None, level: float) -> Measures:
    """Measure calls of functions: all of it, the names of the functions, and the share of right arguments."""
    names = {"score": "Right calls", "right_tool": "Right tools", "right_arguments": "Right arguments"}
    return {
        label: Estimate.from_result(
            micro_worst_average(
                [[float(mark or 0.0)] for mark in rows[column]], clusters=clusters, confidence_level=level
            ),
            "micro_average",
        )
        for column, label in names.items()
    }


def _has_free_text_golds(run: TrackScores) -> bool:
    """Whether gold answers are whole sentences."""
    return run.golds is not None and is_free_text(run.golds.words.values(), len(run.golds))


def _extract_estimates(result: Mapping[str, Any], names: Mapping[str, str]) -> Measures:
    return {label: Estimate.from_result(result, name) for name, label in names.items() if result[name] is not None}


def _convert_percent(result: Mapping[str, Any]) -> Estimate:
    return Estimate(*(None if part is None else part / 100 for part in Estimate.from_result(result, "micro_average")))


TASK_MEASURES = (
    TaskMeasure(("scores",), _measure_scorers),
    TaskMeasure(("right_tool", "right_arguments", "score"), _measure_calls),
    TaskMeasure(("tags", "gold_tags"), _measure_frames),
    TaskMeasure(("slots", "gold_slots"), _measure_slots),
    TaskMeasure(("entities", "gold_entities"), _measure_slots),
    TaskMeasure(("references", "prediction"), _measure_answers),
    TaskMeasure(("execution_match", "score"), _measure_queries),
    TaskMeasure(("gold", "prediction"), _measure_answers, TrackScores.has_nested_golds),
    TaskMeasure(("gold", "prediction", "chrf"), _measure_translations, _has_free_text_golds),
    TaskMeasure(("gold", "prediction", "reference"), _measure_translations, _has_free_text_golds),
)
# Rows without any of these columns, whose gold answers are plain, have no measures but their scores.
TASK_COLUMNS = {name for measure in TASK_MEASURES for name in measure.columns} - {"prediction", "gold", "score"}
TASK_COLUMNS |= {VALUE_HIT}
