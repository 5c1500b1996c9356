"""A metric over files: columns are found by name, files are joined by id.

>>> list(list_metric_columns("win_rate"))[:2]
['predictions', 'references']
"""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus import metrics
from lapsus.core.messages import format_unknown_name
from lapsus.core.text import to_label
from lapsus.core.types import StrPath
from lapsus.io.answers import is_error_measure
from lapsus.io.encoding import encode_column
from lapsus.io.join import ROLES, JoinedTable, extract_ids, find_first, find_gold, join_references
from lapsus.io.labels import check_shared_vocabulary, map_to_gold_labels
from lapsus.io.predictions import PredictionTable, format_quoted, read_predictions, read_references, select_known
from lapsus.io.tables import Table, concatenate, to_list
from lapsus.metrics.answer_f1.score import score_passages
from lapsus.reporting.answers import (
    OWN_COLUMN,
    AnswerRules,
    compare_answers,
    get_harness_score,
    is_sheet,
    list_answer_notes,
    prepare_answers,
)
from lapsus.reporting.score_table import NO_ANSWER, find_noisy_columns, is_unparsed

if TYPE_CHECKING:
    from collections.abc import Callable

    from lapsus.core.checks import IntArray

MAX_IDS = 10  # at most so many ids that do not join are named
# The usual names of a metric's columns.
METRIC_COLUMNS: dict[str, tuple[str, ...]] = {
    "predictions": ROLES["prediction"],
    "references": (*ROLES["gold"], "clean_text"),
    "original_predictions": ("original_predictions", "original_prediction", *ROLES["prediction"]),
    "clean_scores": ("clean_scores", "clean_score"),
    "conditions": ("conditions", "condition", "track"),
    "examples": ("examples", "example", "id"),
    "groups": ("groups", "group"),
    "clusters": ("clusters", *ROLES["cluster"]),
}


class MissingColumnError(LookupError):
    """A metric lacks a column that an option can name; who knows how options are given can word the cure anew.

    >>> str(MissingColumnError("noise_rate finds no column for its references", "references=said"))
    'noise_rate finds no column for its references: give the option references=said.'
    """

    def __init__(self, what: str, option: str) -> None:
        self.what, self.option = what, option
        super().__init__(f"{what}: give the option {option}.")


@dataclass(frozen=True, slots=True)
class MetricColumn:
    """A column of a metric: its name and type in the metric, and the name in the files if the user gave one."""

    metric: str
    name: str
    kind: str
    source: str | None = None
    option_files: Mapping[str, StrPath] | None = None

    @property
    def is_list(self) -> bool:
        """Whether an example may have several values, one per annotator."""
        return "Iterable[Iterable" in self.kind and "Mapping" not in self.kind

    @property
    def is_frame(self) -> bool:
        """Whether a value is an intent with its tags."""
        return self.kind.startswith("Iterable[Mapping")

    @property
    def is_label(self) -> bool:
        """Whether the values are classes."""
        return self.kind == "Iterable[str] | Iterable[int]"

    @property
    def is_score(self) -> bool:
        """Whether the values are numbers."""
        return "float" in self.kind

    def find(
        self, names: Sequence[str], harness_metrics: tuple[str, ...] = (), *, exclude_predictions: bool = False
    ) -> str:
        """Return the name of this column in a table; an empty name means that the whole row is the value.

        Args:
            names: The columns of the table.
            harness_metrics: The scores that a harness has computed.
            exclude_predictions: Whether names that could mean the predictions themselves are not used.
        """
        if self.source is None and self.is_frame and {"intent", "tags"} <= set(names) and not exclude_predictions:
            return ""
        candidates: tuple[str, ...] = METRIC_COLUMNS.get(self.name, (self.name,))
        if exclude_predictions:
            candidates = tuple(name for name in candidates if name not in ROLES["prediction"])
        elif self.is_score:
            candidates = ("score", *(harness_metrics if len(harness_metrics) == 1 else ()), *candidates)
        column = find_first(candidates if self.source is None else (self.source,), names)
        if column is not None:
            return column
        if exclude_predictions and self.name == "original_predictions":
            raise MissingColumnError(f"{self.metric} needs the predictions before", "original_predictions=clean.jsonl")
        missing = f"column {self.source!r}" if self.source else f"column for its {self.name}"
        what = f"{self.metric} finds no {missing} in the files; they have {format_quoted(names)}"
        if not names:
            raise LookupError(f"{what}: give rows with columns.")
        raise MissingColumnError(what, f"{self.name}={next((name for name in names if name != 'id'), 'id')}")

    def get_values(self, table: Table, name: str) -> list[Any]:
        """Return the values of a column; labels become text, so that 1 and "1" are one label.

        A missing prediction is wrong, as in a report.
        """
        if not name:
            pairs = zip(to_list(table.columns["intent"]), to_list(table.columns["tags"]), strict=True)
            return [{"intent": intent, "tags": tags} for intent, tags in pairs]
        values = to_list(table.columns[name])
        if not self.is_label:
            return values
        missing = NO_ANSWER if "predictions" in self.name else None
        return [missing if value is None else to_label(value) for value in values]


@dataclass(frozen=True, slots=True)
class _Examples:
    """The examples of a metric: each file joined with the references, and where its rows stand among the examples."""

    files: Sequence[JoinedTable]
    rows: Sequence[IntArray]  # of each file: the row of each example; -1 where it has none
    first: JoinedTable  # the rows of the first file that has each example
    counts: Mapping[str, Any]  # how many examples there are, and which ids did not join


def score(
    name: str,
    predictions: Sequence[StrPath],
    references: Any = None,
    options: Mapping[str, str] | None = None,
    *,
    where: Mapping[str, str] | None = None,
    option_files: Mapping[str, StrPath] | None = None,
    normalize: bool = False,
) -> dict[str, Any]:
    """Return the metric `name` of the predictions, and how their ids joined.

    Several files are the annotators of each example, or the conditions of `mixed_effects`. `options` are the metric's
    own (`confidence_level=0.99`), or say which column feeds which of its columns: `groups=label`, `predictions=acc`;
    from another file, `original_predictions=clean.jsonl` or `clean_scores=clean.jsonl:acc`. In a file of `lapsus
    perturb`, the noisy texts are the predictions and the clean ones the references. `where` keeps the rows with these
    values, in the other files too where they have such rows. `option_files` are the only files that options may name,
    by what they are called there; by default these are any. `normalize` compares as that of `read_tracks` does. The
    result holds `warnings` where there are any, the same as those of a report.
    """
    function = _load_metric(name)
    column_types = list_metric_columns(name)
    arguments = dict(options or {})
    known = inspect.signature(function).parameters
    for option in arguments:
        if option not in known:
            raise LookupError(f"{name}: {format_unknown_name('option', option, known)}")
    if not predictions:
        raise ValueError(f"{name} needs a file of predictions; give at least one.")
    files = [read_predictions(path, where=where) for path in predictions]
    texts = (
        column_types["predictions"].startswith("Iterable[str]") and column_types.get("references") == "Iterable[str]"
    )
    if texts and references is None and not {"predictions", "references"} & arguments.keys():
        arguments |= find_perturbed_column(files[0].columns)
    columns = [
        MetricColumn(name, column, kind, arguments.pop(column, None), option_files)
        for column, kind in column_types.items()
    ]
    data = None if references is None else read_references(references, where)
    notes: list[str] = []
    examples = _join_files(columns, files, data, _Preparation(columns[0], normalize, notes).apply)
    if columns[0].is_score and columns[0].source is None:
        _check_are_scores(
            columns[0], [*files, *filter(None, [data])], files[0].metrics, has_references="references" in column_types
        )
    _check_are_labels(columns[0], examples.first)
    values = {
        column.name: _collect_values(column, examples, where)
        for column in columns
        if column.source is not None or known[column.name].default is inspect.Parameter.empty
    }
    if "references" in values:
        gold = next(column for column in columns if column.name == "references")
        values = _map_to_gold_labels(gold, values, examples.first, "label_map" in arguments)
        notes += _list_notes(gold, values)
    if columns[0].is_score and columns[0].source and is_error_measure(columns[0].source):
        notes.append(f"of {columns[0].source!r} lower is better; say so where the metric has the option direction")
        if "direction" in known and "direction" not in arguments:
            arguments["direction"] = "lower"
            notes[-1] = f"of {columns[0].source!r} lower is better, so direction=lower is taken"
    options = {option: _parse_option(value) for option, value in arguments.items()}
    result, messages = _collect_warnings(partial(function, **values, **options))
    notes = notes or messages  # a metric says in its words what a file's reader knows better
    own_notes = {"warnings": list(dict.fromkeys(notes))} if notes else {}
    return {**result, **own_notes, "join": dict(examples.counts)}


def _collect_warnings(call: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    """Return a metric's result, and what it warns a user of."""
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always", UserWarning)
        result = call()
    for record in records:
        if record.category is not UserWarning:
            warnings.warn_explicit(record.message, record.category, record.filename, record.lineno)
    return result, [str(record.message) for record in records if record.category is UserWarning]


@dataclass(frozen=True, slots=True)
class _Preparation:
    """How the answers of each file are read: as a report reads them. `notes` are what a reader must know of that."""

    column: MetricColumn
    normalize: bool
    notes: list[str]

    def apply(self, joined: JoinedTable) -> JoinedTable:
        """Return a file with plain answers, and with a score that says how right they are."""
        file, gold, source = joined.source, joined.gold, self.column.source
        self.notes.extend(file.notes)
        name = find_first([source] if source else ROLES["prediction"], joined.predictions.columns)
        if self.column.is_frame or name is None or gold is None or name == gold.name:
            return joined
        columns = joined.table.columns
        sides = {"prediction": joined.predictions.columns[name], "gold": gold.values}
        scores = {} if source else {column: columns[column] for column in ("score", OWN_COLUMN) if column in columns}
        rules = AnswerRules(get_harness_score(file), None, self.normalize, gold.class_names, is_sheet(file))
        table, notes = prepare_answers(Table({**sides, **scores}, joined.table.length), str(file.path), rules)
        self.notes.extend(notes)
        changed = {name: table.columns["prediction"]}
        if "score" in scores:
            changed["score"] = table.columns["score"] if "score" in table.columns else compare_answers(table).tolist()
        return replace(
            joined,
            table=joined.table.with_columns(changed),
            predictions=joined.predictions.with_columns(changed),
            gold=gold._replace(values=table.columns["gold"]),
        )


def _list_notes(gold: MetricColumn, values: Mapping[str, Any]) -> list[str]:
    """Return what the wrong labels have in common, as a report says it."""
    if not gold.is_label:
        return []
    predictions, golds = (encode_column(list(values[name])) for name in ("predictions", "references"))
    scores = compare_answers(
        Table({"prediction": predictions.to_column(), "gold": golds.to_column()}, len(golds.codes))
    )
    unparsed = np.array([word == NO_ANSWER for word in (*predictions.words, "")])[predictions.codes]
    notes = list(list_answer_notes(predictions, golds, (scores == 0) & ~unparsed, by_equality=True))
    n_missing = int(unparsed.sum())
    missing = [f"{n_missing} of {len(unparsed)} examples have no answer, and count as wrong"] if n_missing else []
    return [*missing, *notes]


def list_metric_columns(name: str) -> dict[str, str]:
    """Return the columns that a metric takes, with their types: its positional arguments, and others per example."""
    parameters = inspect.signature(_load_metric(name)).parameters.values()
    return {
        parameter.name: str(parameter.annotation)
        for parameter in parameters
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD or _is_column(str(parameter.annotation))
    }


def _is_column(kind: str) -> bool:
    """Return whether an option of this type holds one value per example; a choice of groups, or a map, does not."""
    return ("Iterable" in kind or "Groups" in kind) and "Mapping" not in kind


def _load_metric(name: str) -> Callable[..., dict[str, Any]]:
    """Return the plain function of a metric."""
    known = metrics.load_metrics()
    if name not in known:
        raise LookupError(format_unknown_name("metric", name, known))
    return known[name]


def _parse_option(value: str) -> Any:
    """Parse an option as JSON; where it is not JSON, return its text."""
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        return value


def _check_are_scores(
    column: MetricColumn, files: Sequence[PredictionTable], harness_metrics: tuple[str, ...], *, has_references: bool
) -> None:
    """Raise if a metric of scores would take answers for scores: there is a right answer beside them.

    Where a metric compares two scores, a reference is the other score.
    """
    names = list(dict.fromkeys(chain.from_iterable(file.columns for file in files)))
    gold_column = find_first(
        (name for name in ROLES["gold"] if not (has_references and name.startswith("reference"))), names
    )
    column_name = None if gold_column is None else column.find(names, harness_metrics)
    if column_name in ROLES["prediction"]:
        what = f"{column.metric} takes scores, and column {column_name!r} beside {gold_column!r} holds answers"
        raise MissingColumnError(f"{what}; add a column 'score', or name the one with scores", "predictions=acc")


def _check_are_labels(column: MetricColumn, first: JoinedTable) -> None:
    """Raise if a metric of labels would compare passages, which a report scores by their F1."""
    if not column.is_label or first.gold is None:
        return
    name = column.find(list(first.predictions.columns), first.source.metrics)
    if score_passages(first.predictions.columns[name], first.gold.values) is not None:
        raise ValueError(
            f"{column.metric} takes labels, and column {first.gold.name!r} beside {first.source.path} holds lists of"
            " right answers; use the metric answer_f1, or name a column of labels as references."
        )


def _join_files(
    columns: Sequence[MetricColumn],
    files: Sequence[PredictionTable],
    references: PredictionTable | None,
    prepare: Callable[[JoinedTable], JoinedTable],
) -> _Examples:
    """Join the files by id, and prepare their answers.

    For a metric with a column that names each row's example, files are stacked and every row is a unit of its own.
    """
    predictions = columns[0]
    stacked = any(column.name == "examples" for column in columns)
    if len(files) > 1 and not (stacked or predictions.is_list):
        raise ValueError(
            f"{predictions.metric} takes one file of predictions, not {len(files)}; score them one by one."
        )
    gold = next((column.source for column in columns if column.name == "references"), None)
    if len(files) == 1 and references is None and (stacked or "id" not in files[0].columns):
        table = files[0].table
        joined = prepare(JoinedTable(files[0], table, table, None, find_gold(files[0], table, gold)))
        return _Examples([joined], [np.arange(table.length)], joined, {"examples": table.length})
    answers = ("intent", "tags") if predictions.is_frame else tuple(filter(None, [predictions.source]))
    parts = [prepare(join_references(file, references, gold=gold, answer_columns=answers)) for file in files]
    ids = [to_list(part.table.columns["id"]) for part in parts]
    example_ids = list(dict.fromkeys(chain.from_iterable(ids)))
    row_numbers = [{key: row for row, key in enumerate(part_ids)} for part_ids in ids]
    rows = [np.array([numbers.get(key, -1) for key in example_ids], np.int64) for numbers in row_numbers]
    is_missing = [set(part.missing) for part in parts]
    unmatched = {
        "not_in_references": list(dict.fromkeys(chain.from_iterable(part.unmatched for part in parts))),
        "not_predicted": [key for key in parts[0].missing if all(key in missing for missing in is_missing)],
    }
    if len(files) > 1:
        for file, numbers in zip(files, row_numbers, strict=True):
            unmatched[f"not_in_{file.path.name}"] = [key for key in example_ids if key not in numbers]
    not_joined = {why: {"count": len(keys), "ids": keys[:MAX_IDS]} for why, keys in unmatched.items() if keys}
    counts = {"examples": len(example_ids), **not_joined}
    if stacked:
        return _Examples(parts, rows, _stack(parts, rows), counts)
    return _Examples(parts, rows, parts[0] if len(parts) == 1 else _take_first(parts, rows), counts)


def _concatenate(parts: Sequence[JoinedTable]) -> JoinedTable:
    """Return the rows of all files, one file after the other."""
    gold = parts[0].gold
    if gold is not None and all(part.gold is not None for part in parts):
        values = chain.from_iterable(to_list(part.gold.values) for part in parts if part.gold)
        gold = gold._replace(values=list(values))
    references = [part.references for part in parts if part.references is not None]
    return replace(
        parts[0],
        table=concatenate(part.table for part in parts),
        predictions=concatenate(part.predictions for part in parts),
        references=concatenate(references) if references else None,
        gold=gold,
    )


def _take(joined: JoinedTable, rows: IntArray) -> JoinedTable:
    gold = joined.gold
    values = None if gold is None else Table({"gold": gold.values}, joined.table.length).take(rows).columns["gold"]
    return replace(
        joined,
        table=joined.table.take(rows),
        predictions=joined.predictions.take(rows),
        references=None if joined.references is None else joined.references.take(rows),
        gold=None if gold is None else gold._replace(values=values),
    )


def _list_starts(parts: Sequence[JoinedTable]) -> IntArray:
    """Return where the rows of each file start in those of all files."""
    return np.cumsum([0, *(part.table.length for part in parts)])[:-1]


def _take_first(parts: Sequence[JoinedTable], rows: Sequence[IntArray]) -> JoinedTable:
    """Return the row of each example in the first file that has it."""
    first = np.full(len(rows[0]), -1)
    for part_rows, start in zip(reversed(rows), reversed(_list_starts(parts)), strict=True):
        first = np.where(part_rows >= 0, part_rows + start, first)
    return _take(_concatenate(parts), first)


def _stack(parts: Sequence[JoinedTable], rows: Sequence[IntArray]) -> JoinedTable:
    """Return the rows of all files, example by example, with the name of its file as the condition of each row."""
    named = []
    for part in parts:
        names = {"condition": [part.source.path.stem] * part.table.length}
        table, predictions = (
            replace(side, columns={**names, **side.columns}) for side in (part.table, part.predictions)
        )
        named.append(replace(part, table=table, predictions=predictions))
    numbers = np.stack(
        [np.where(each >= 0, each + start, -1) for each, start in zip(rows, _list_starts(parts), strict=True)]
    )
    order = numbers.T.ravel()
    return _take(_concatenate(named), order[order >= 0])


def _collect_values(column: MetricColumn, examples: _Examples, where: Mapping[str, str] | None) -> Any:
    """Return the values of one column of the metric, example by example."""
    first, harness_metrics = examples.first, examples.files[0].source.metrics
    if column.source and column.name == "groups" and "," in column.source:
        parts = [replace(column, source=part) for part in column.source.split(",")]
        return {part.source: _collect_values(part, examples, where) for part in parts}
    if column.source and (file_and_column := _parse_file_reference(column.source, column.option_files)):
        path, name = file_and_column
        ids = to_list(first.table.columns["id"]) if "id" in first.table.columns else []
        return _read_column(replace(column, source=name), ids, select_known(read_predictions(path), where))
    if column.name == "predictions":
        return _collect_predictions(column, examples, harness_metrics)
    if column.name == "references":
        return _collect_references(column, first, harness_metrics)
    exclude_predictions = column.source is None and column.name == "original_predictions"
    names = list(first.table.columns)
    name = column.find(names, harness_metrics, exclude_predictions=exclude_predictions)
    return column.get_values(first.table, name)


def _collect_predictions(column: MetricColumn, examples: _Examples, harness_metrics: tuple[str, ...]) -> list[Any]:
    if not column.is_list or len(examples.rows) == 1:
        table = examples.first.predictions
        if column.source and column.source not in table.columns:
            table = examples.first.table
        values = column.get_values(table, column.find(list(table.columns), harness_metrics))
        if not column.is_list or isinstance(values[0], list):  # a single file may hold lists of values
            return values
        return [[value] for value in _count_missing_as_wrong(column, values, table)]
    names = list(dict.fromkeys(chain.from_iterable(part.predictions.columns for part in examples.files)))
    name = column.find(names, harness_metrics)
    by_file = []
    for part, rows in zip(examples.files, examples.rows, strict=True):
        if name in part.predictions.columns:
            own = column.get_values(part.predictions, name)
            values = [*_count_missing_as_wrong(column, own, part.predictions), None]
            by_file.append([values[row] for row in rows.tolist()])  # the last one, where a file has no row
        else:
            by_file.append([None] * len(rows))
    return [list(values) for values in zip(*by_file, strict=True)]


def _count_missing_as_wrong(column: MetricColumn, values: list[Any], table: Table) -> list[Any]:
    """Return scores with 0 for those that rows lack, unless no row has one although the model answered some."""
    if not column.is_score or (all(value is None for value in values) and not _is_unanswered(table)):
        return values
    return [0.0 if value is None else value for value in values]


def _is_unanswered(table: Table) -> bool:
    """Return whether the model answered no row, so that none could be scored."""
    name = find_first(ROLES["prediction"], table.columns)
    if name is None:
        return False
    table = table.with_columns({"prediction": table.columns[name]})
    return bool(is_unparsed(table, encode_column(table.columns["prediction"]), None, None).all())


def _collect_references(column: MetricColumn, first: JoinedTable, harness_metrics: tuple[str, ...]) -> list[Any]:
    """Return the gold answers, or what else predictions are compared with: other scores, frames, clean texts."""
    table = first.table if first.references is None else first.references
    exclude_predictions = column.source is None and first.references is None
    if column.source and column.source not in table.columns:
        table = first.table
    elif first.gold is not None and not (column.is_score or column.is_frame):
        gold = Table({first.gold.name: first.gold.values}, first.table.length)
        return column.get_values(gold, first.gold.name)
    name = column.find(list(table.columns), harness_metrics, exclude_predictions=exclude_predictions)
    return column.get_values(table, name)


def _map_to_gold_labels(
    gold: MetricColumn, values: Mapping[str, Any], joined: JoinedTable, has_label_map: bool
) -> dict[str, Any]:
    """Convert predicted classes to the names of the gold answers; raise if predictions use other words."""
    golds, file = values["references"], joined.source.path
    if gold.is_label:
        names = None if joined.gold is None else joined.gold.class_names
        predictions = {name: values[name] for name in ("predictions", "original_predictions") if name in values}
        words = {name: map_to_gold_labels(answers, golds, names) for name, answers in predictions.items()}
        if not has_label_map:
            pairs = zip(words["predictions"], golds, strict=True)
            answered = [pair for pair in pairs if pair[0] != NO_ANSWER and pair[0].strip()]
            check_shared_vocabulary(file, *(zip(*answered, strict=True) if answered else ((), ())))
        return {**values, **words}
    if gold.is_frame:
        intents, gold_intents = ([row.get("intent") for row in rows] for rows in (values["predictions"], golds))
        check_shared_vocabulary(file, intents, gold_intents)
    return dict(values)


def find_perturbed_column(columns: Sequence[str]) -> dict[str, str]:
    """Return the one column that `lapsus perturb` made noisy, and its clean column; empty unless there is exactly one.

    >>> find_perturbed_column(["id", "text", "clean_text", "edits"])
    {'predictions': 'text', 'references': 'clean_text'}
    """
    noisy_columns = find_noisy_columns(columns)
    if len(noisy_columns) != 1 or find_first(("predictions", *ROLES["prediction"]), columns):
        return {}
    return {"predictions": noisy_columns[0], "references": f"clean_{noisy_columns[0]}"}


def _parse_file_reference(source: str, files: Mapping[str, StrPath] | None) -> tuple[Path, str | None] | None:
    """Return the file, and the column if there is one, of a source `FILE` or `FILE:COLUMN`, among some files or any."""
    path, colon, name = source.rpartition(":")
    if files is not None:
        if source in files:
            return Path(files[source]), None
        return (Path(files[path]), name) if colon and path in files else None
    if Path(source).is_file():
        return Path(source), None
    return (Path(path), name) if colon and Path(path).is_file() else None


def _read_column(column: MetricColumn, ids: Sequence[str], file: PredictionTable) -> list[Any]:
    """Return a column of another file, for these ids."""
    rows = {key: row for row, key in enumerate(extract_ids(file.table, file.path).to_pylist())}
    missing = [key for key in ids if key not in rows]
    if missing:
        raise LookupError(
            f"{file.path}: lacks {len(missing)} of the {len(ids)} ids ({format_quoted(missing, 3)}); add their rows."
        )
    values = column.get_values(file.table, column.find(file.columns, file.metrics))
    return [values[rows[key]] for key in ids]
