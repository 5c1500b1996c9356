"""The answers of a track as they are scored: what files hold around them, and whether a score is how right they are.

>>> table = Table.from_rows([{"id": 1, "prediction": ["yes"], "gold": "yes", "score": 0.9}])
>>> table, notes = prepare_answers(table, "p.jsonl", AnswerRules())
>>> table.to_rows(), len(notes)
([{'id': 1, 'prediction': 'yes', 'gold': 'yes'}], 1)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lapsus.core.messages import format_list
from lapsus.io.answers import (
    MAX_LABELS,
    check_are_answers,
    contradicts_answers,
    find_containing,
    find_respelled,
    is_confidence,
    is_error_measure,
    parse_structures,
    respell_as_golds,
    unwrap_answers,
)
from lapsus.io.encoding import NO_VALUE, EncodedColumn, encode_column, hash_column
from lapsus.io.labels import map_to_gold_labels
from lapsus.io.predictions import PredictionTable
from lapsus.io.tables import Column, Table, to_list
from lapsus.metrics.answer_f1.score import score_passages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lapsus.core.checks import FloatArray

    Mask = NDArray[np.bool_]

MIN_SHARE = 0.01  # of predictions outside the labels, from which a report says so
OWN_COLUMN = "request_key"  # of rows that `lapsus run` has scored


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """How answers are read: what the user chose, and what the file is.

    `score_name` is the column of a score that the user or a harness named, which counts whatever the answers say.
    `class_names` are those of the right answers. `is_sheet` says that an empty cell may be an empty answer.
    """

    score_name: str | None = None
    lower_is_better: bool | None = None
    normalize: bool = False
    class_names: Sequence[str] | None = None
    is_sheet: bool = False


def is_sheet(file: PredictionTable) -> bool:
    """Return whether a file is one of a spreadsheet, in which an empty cell and an empty text are the same."""
    return file.path.suffix.lower() in {".csv", ".tsv"}


def get_harness_score(file: PredictionTable) -> str | None:
    """Return the score that a harness gave its answers; None for other files."""
    return file.metrics[0] if file.metrics else None if file.task is None else "score"


def prepare_answers(table: Table, place: str, rules: AnswerRules) -> tuple[Table, tuple[str, ...]]:
    """Return the rows with plain answers and a score only where it counts, and what a reader must know of that."""
    columns, notes = dict(table.columns), list[str]()
    if "gold" in columns:
        columns["gold"] = parse_structures(columns["gold"], place, required=True)
    if "prediction" in columns:
        columns["prediction"] = unwrap_answers(parse_structures(columns["prediction"], place))
    if "gold" in columns and "prediction" in columns:
        if rules.is_sheet and _is_nested(columns["gold"]):
            columns["prediction"] = [answer or "" for answer in to_list(columns["prediction"])]
        scored = rules.score_name is not None or OWN_COLUMN in columns
        predictions, golds = encode_column(columns["prediction"]), encode_column(columns["gold"])
        mapped = _map_predictions(predictions, golds, rules, strict="score" not in columns)
        if "score" in columns and not scored:
            row = contradicts_answers(_to_floats(columns["score"]), mapped, golds)
            if row is not None:
                notes.append(_describe_contradiction(table, mapped, golds, row))
                del columns["score"]
        if "score" not in columns:
            check_are_answers(mapped.words, golds.words, place)
            if list(mapped.words) != list(predictions.words):
                columns["prediction"] = mapped.to_column()
    if "score" in columns:
        notes += _describe_doubtful_scores(columns, rules)
        columns["score"], note = _turn_scores(columns["score"], rules)
        notes += note
    same = all(columns.get(name) is column for name, column in table.columns.items())
    return (table if same else replace(table, columns=columns)), tuple(notes)


def compare_answers(table: Table) -> FloatArray:
    """Return the score of each answer without a score of its own: F1 where the right answers are lists, else equality.

    >>> compare_answers(Table.from_rows([{"prediction": "a", "gold": "a"}, {"prediction": None, "gold": "a"}]))
    array([1., 0.])
    """
    predictions, golds = table.columns["prediction"], table.columns["gold"]
    f1 = score_passages(predictions, golds)
    if f1 is not None:
        return f1
    said, right = (hash_column(encode_column(column)).codes for column in (predictions, golds))
    return np.asarray((said == right) & (said != NO_VALUE), float)


def _is_nested(column: Column) -> bool:
    if not isinstance(column, list):
        return bool(pa.types.is_nested(column.type))
    return any(isinstance(value, list | dict) for value in column)


def _map_predictions(
    predictions: EncodedColumn, golds: EncodedColumn, rules: AnswerRules, *, strict: bool
) -> EncodedColumn:
    """Return predictions in the words of the right answers: classes by name, and other spellings where asked."""
    try:
        mapped = predictions
        if rules.class_names is not None or not set(predictions.words) <= set(golds.words):
            mapped = predictions.rename(lambda words: map_to_gold_labels(words, golds.words, rules.class_names))
    except ValueError:  # numbers that may be names or indexes
        if strict:
            raise
        mapped = predictions
    return respell_as_golds(mapped, golds.words) if rules.normalize else mapped


def _to_floats(column: Column) -> FloatArray:
    """Return scores as numbers, NaN for everything else."""
    numbers = (value if isinstance(value, int | float) else np.nan for value in to_list(column))
    return np.fromiter(numbers, float)


def _describe_contradiction(table: Table, predictions: EncodedColumn, golds: EncodedColumn, row: int) -> str:
    """Say that a score is not how right the answers are."""
    words = (f"{side.words[side.codes[row]]!r}" for side in (predictions, golds))
    said, right = words
    verdict = "right" if said == right else "wrong"
    score = to_list(table.columns["score"])[row]
    return (
        f"column 'score' is {score} where the prediction {said} is {verdict}, so it is not how right predictions are"
        " (a confidence, or a loss?); equality with the gold answer counts instead (--score score takes the column)"
    )


def _describe_doubtful_scores(columns: Mapping[str, Column], rules: AnswerRules) -> list[str]:
    """Say that scores may be confidences, where no prediction tells."""
    if "prediction" in columns or rules.score_name is not None or "label" not in columns:
        return []
    scores = _to_floats(columns["score"])
    if not is_confidence(scores) or (scores == 0).any():
        return []
    return [
        (
            "column 'score' stands beside 'label', as the confidence of a pipeline does, and is taken for how right the"
            " answers are; if it is not, give the gold answers (--references)"
        )
    ]


def _turn_scores(column: Column, rules: AnswerRules) -> tuple[Column, list[str]]:
    """Return scores of which more is better, and a note where they were turned."""
    name = rules.score_name or "score"
    turned = is_error_measure(name) if rules.lower_is_better is None else rules.lower_is_better
    if not turned:
        return column, []
    values = to_list(column)
    column = [1 - value if isinstance(value, int | float) and 0 <= value <= 1 else value for value in values]
    why = "" if rules.lower_is_better else "; --higher-is-better takes it as it is"
    return column, [f"of {name!r} lower is better, so 1 − {name} is shown as the score{why}"]


# What a reader must know of answers that were scored.


def list_answer_notes(
    predictions: EncodedColumn | None,
    golds: EncodedColumn | None,
    wrong: Mask,
    *,
    by_equality: bool,
) -> Iterator[str]:
    """Yield what predictions that count as wrong have in common, apart from being wrong.

    >>> predictions, golds = encode_column(["Yes.", "no"]), encode_column(["yes", "no"])
    >>> [*list_answer_notes(predictions, golds, np.array([True, False]), by_equality=True)]
    ["1 of 2 predictions differ from the gold answer only in writing (case, spaces, marks, width or Unicode form) and \
count as wrong, such as 'Yes.' for 'yes'; --normalize compares without these"]
    """
    if predictions is None or golds is None:
        return
    size = len(wrong)
    respelled = find_respelled(predictions, golds, wrong)
    if respelled.example:
        yield (
            f"{respelled.count} of {size} predictions differ from the gold answer only in writing (case, spaces, marks,"
            f" width or Unicode form) and count as wrong, such as {_format_pair(respelled.example)}; --normalize"
            " compares without these"
        )
    containing = find_containing(predictions, golds, wrong & ~respelled.rows)
    if containing.example:
        yield (
            f"{containing.count} of {size} predictions contain the gold answer among other words and count as wrong,"
            f" such as {_format_pair(containing.example)}; if that is right, name a scorer (--score contains)"
        )
    if not by_equality:
        return
    rest = wrong & ~respelled.rows & ~containing.rows
    if any(word.startswith(('["', "[[")) for word in golds.words[:1]) and rest.any():
        yield "gold answers are lists, and a prediction is right only where it is the same list in the same order"
    is_label = len(golds.words) <= MAX_LABELS and 2 * len(golds.words) <= size
    labels = set(golds.words)
    foreign = np.array([*(word not in labels for word in predictions.words), False])
    outside = rest & foreign[predictions.codes]
    if is_label and outside.sum() > MIN_SHARE * size:
        names = format_list(
            dict.fromkeys(repr(predictions.words[code][:40]) for code in predictions.codes[outside][:1000].tolist()), 3
        )
        yield f"{int(outside.sum())} of {size} predictions are none of the gold labels ({names}) and count as wrong"


def _format_pair(example: Any) -> str:
    said, right = (repr(text if len(text) <= 60 else f"{text[:59]}…") for text in example)
    return f"{said} for {right}"
