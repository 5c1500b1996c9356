"""What a dataset's own measures say of a track: slots of utterances, answers to questions, queries, translations.

A row's score is one number; these are measured over all rows of a track, by the metrics of the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lapsus.kernel.words import mostly_chinese
from lapsus.metrics import (
    annotated_bleu,
    annotated_chrf,
    answer_f1,
    entity_f1,
    micro_worst_average,
    slu_accuracy,
)
from lapsus.results.measuring.records import Estimate, TaskScore
from lapsus.results.measuring.runs import Run
from lapsus.results.sentences import are_sentences

Rows = Mapping[str, Sequence[Any]]  # columns
Measures = dict[str, Estimate]


class Kind(NamedTuple):
    """A kind of data: the columns and answers that tell it, and what measures it, if their values fit."""

    columns: tuple[str, ...]
    measured: Callable[[Rows, Sequence[Any] | None, float], Measures]
    told: Callable[[Run], bool] = bool  # a run is true: the columns suffice


def task_scores(run: Run, level: float) -> Iterator[TaskScore]:
    """Yield the measures of one track: those of the first kind of data that its columns tell."""
    track = run.track
    for kind in KINDS:
        if not set(kind.columns) <= set(track.columns.names) or not kind.told(run):
            continue
        examples = np.flatnonzero(run.scored)
        names = (*kind.columns, *(name for name in ("prediction", "gold") if name not in kind.columns))
        rows = dict(zip(names, run.columns(names, examples), strict=True))
        originals = None if run.originals is None else run.originals[examples].tolist()
        found = kind.measured(rows, originals, level)
        for measure, value in found.items():
            place = (track.dataset, track.model, track.track, track.family, track.annotator)
            yield TaskScore(*place, clean=run.is_clean, examples=len(examples), measure=measure, value=value)
        if found:
            return


def _frames(rows: Rows, originals: Sequence[Any] | None, level: float) -> Measures:
    """Measure intents and BIO tags: what the model said, and what is right."""
    said, right = rows["tags"], rows["gold_tags"]
    if not all(isinstance(tags, list) for tags in right):
        return {}
    blank = [["O"] * len(tags) for tags in right]
    guesses = [
        tags if isinstance(tags, list) and len(tags) == len(none) else none
        for tags, none in zip(said, blank, strict=True)
    ]
    with_intent = any(gold is not None for gold in rows["gold"])

    def frames(intents: Sequence[Any], tags: Sequence[Any]) -> list[dict[str, Any]]:
        return [{"intent": str(intent), "tags": list(each)} for intent, each in zip(intents, tags, strict=True)]

    result = slu_accuracy(
        frames(rows["prediction"], guesses), frames(rows["gold"], right), clusters=originals, confidence_level=level
    )
    names = {"slot_f1": "Slot F1", "intent_accuracy": "Intent accuracy", "e2e_accuracy": "Intent and all slots"}
    return _estimates(result, names if with_intent else {"slot_f1": "Slot F1"})


def _slots(rows: Rows, originals: Sequence[Any] | None, level: float) -> Measures:
    """Measure slots or entities that are pairs of a type and a filler."""
    said, right = list(rows.values())[:2]
    result = entity_f1(
        [each or [] for each in said], [each or [] for each in right], clusters=originals, confidence_level=level
    )
    return _estimates(result, {"entity_f1": "Entity F1", "slu_f1": "SLU-F1"})


def _answers(rows: Rows, originals: Sequence[Any] | None, level: float) -> Measures:
    """Measure answers to questions that have lists of right answers."""
    right = next(iter(rows.values()))
    held: list[list[str]] = []
    for each in right:
        texts = each.get("text") if isinstance(each, Mapping) else each
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            return {}
        held.append(texts)
    said = ["" if each is None else str(each) for each in rows["prediction"]]
    result = answer_f1(said, held, clusters=originals, confidence_level=level)
    return _estimates(result, {"exact_match": "Exact match", "f1": "F1"})


def _translations(rows: Rows, originals: Sequence[Any] | None, level: float) -> Measures:
    """Measure texts that were written."""
    right = list(rows["gold"])
    if not all(isinstance(each, str) for each in right):
        return {}
    said = [[each if isinstance(each, str) else ""] for each in rows["prediction"]]
    tokenize = "zh" if mostly_chinese(right) else "13a"
    bleu = annotated_bleu(said, right, tokenize=tokenize, clusters=originals, confidence_level=level)
    chrf = annotated_chrf(said, right, clusters=originals, confidence_level=level)
    return {name: _of_hundred(result) for name, result in (("BLEU", bleu), ("chrF", chrf))}


def _queries(rows: Rows, originals: Sequence[Any] | None, level: float) -> Measures:
    """Measure queries that were run on a database: whether they find what the right one finds, and say the same."""
    found: Measures = {}
    for column, called in (("executed", "Same result"), ("score", "Same clauses")):
        each = [[float(mark or 0.0)] for mark in rows[column]]
        result = micro_worst_average(each, clusters=originals, confidence_level=level)
        found[called] = Estimate.of(result, "micro_average")
    return found


def _lists(run: Run) -> bool:
    """Whether right answers are lists."""
    return run.golds is not None and any(word.startswith(("[", '{"')) for word in run.golds.words.values())


def _sentences(run: Run) -> bool:
    """Whether right answers are whole sentences."""
    return are_sentences(run.golds)


def _estimates(result: Mapping[str, Any], names: Mapping[str, str]) -> Measures:
    return {called: Estimate.of(result, name) for name, called in names.items() if result[name] is not None}


def _of_hundred(result: Mapping[str, Any]) -> Estimate:
    return Estimate(*(None if part is None else part / 100 for part in Estimate.of(result, "micro_average")))


KINDS = (
    Kind(("tags", "gold_tags"), _frames),
    Kind(("slots", "gold_slots"), _slots),
    Kind(("entities", "gold_entities"), _slots),
    Kind(("golds", "prediction"), _answers),
    Kind(("executed", "score"), _queries),
    Kind(("gold", "prediction"), _answers, _lists),
    Kind(("gold", "prediction", "chrf"), _translations, _sentences),
    Kind(("gold", "prediction", "reference"), _translations, _sentences),
)
