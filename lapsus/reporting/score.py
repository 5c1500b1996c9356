"""A metric over files: columns are found by name, files are joined by id.

>>> list(list_metric_columns("win_rate"))[:2]
['predictions', 'references']
"""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lapsus import metrics
from lapsus.core.messages import format_unknown_name
from lapsus.io.join import index_by_id, join
from lapsus.io.labels import check_shared_vocabulary, map_to_gold_labels
from lapsus.io.predictions import PredictionFile, format_quoted, read_predictions, read_references
from lapsus.reporting.columns import (
    METRIC_COLUMNS,
    ROLES,
    MetricColumn,
    MissingColumnError,
    find_first,
    find_perturbed_column,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from lapsus.io.readers import Row

MAX_IDS = 10  # at most so many ids that do not join are named


@dataclass(frozen=True, slots=True)
class Example:
    """The rows of one example: one of each file of predictions (empty where it has none), and one of the data."""

    rows: Sequence[Row]
    data: Row

    @property
    def first(self) -> Row:
        """The first row that is not empty."""
        return next(filter(None, self.rows))


def score(
    name: str,
    predictions: Sequence[Path],
    references: Path | None = None,
    options: Mapping[str, str] | None = None,
    *,
    where: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the metric `name` of the predictions, and how their ids joined.

    Several files are the annotators of each example, or the conditions of `mixed_effects`. `options` are the metric's
    own (`confidence_level=0.99`), or say which column feeds which of its columns: `groups=label`, `predictions=acc`;
    from another file, `original_predictions=clean.jsonl` or `clean_scores=clean.jsonl:acc`. In a file of `lapsus
    perturb`, the noisy texts are the predictions and the clean ones the references. `where` keeps the rows with these
    values, in the other files too where they have such rows.
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
    columns = [MetricColumn(name, column, kind, arguments.pop(column, None)) for column, kind in column_types.items()]
    data = None if references is None else read_references(references, where)
    examples, join_counts = _join_files(columns[0], files, data, stacked="examples" in column_types)
    harness_metrics = files[0].metrics
    if "float" in columns[0].kind and columns[0].source is None:
        _check_are_scores(
            columns[0], [*files, *filter(None, [data])], harness_metrics, has_references="references" in column_types
        )
    values = {
        column.name: _collect_values(column, examples, harness_metrics, where)
        for column in columns
        if column.source is not None or known[column.name].default is inspect.Parameter.empty
    }
    if "references" in values:
        gold = next(column for column in columns if column.name == "references")
        values = _map_to_gold_labels(gold, values, data or files[0], predictions[0], "label_map" in arguments)
    result: dict[str, Any] = function(**values, **{option: _parse_option(value) for option, value in arguments.items()})
    return {**result, "join": join_counts}


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
    column: MetricColumn, files: Sequence[PredictionFile], harness_metrics: tuple[str, ...], *, has_references: bool
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


def _join_files(
    column: MetricColumn,
    files: Sequence[PredictionFile],
    references: PredictionFile | None,
    *,
    stacked: bool,
) -> tuple[list[Example], dict[str, Any]]:
    """Join the files by id; also return the ids that did not join.

    For a metric with a column that names each row's example, files are stacked and every row is a unit of its own.
    """
    if len(files) > 1 and not (stacked or column.is_list):
        raise ValueError(f"{column.metric} takes one file of predictions, not {len(files)}; score them one by one.")
    if len(files) == 1 and references is None and (stacked or "id" not in files[0].columns):
        return [Example([row], {}) for row in files[0].rows], {"examples": len(files[0].rows)}
    tables = [index_by_id(file) for file in files]
    data = None if references is None else index_by_id(references)
    joined_ids = join(files[0].path, chain.from_iterable(tables), data, references.path if references else "")
    unmatched = {"not_in_references": joined_ids.unknown, "not_predicted": joined_ids.missing}
    if len(files) > 1:
        for file, table in zip(files, tables, strict=True):
            unmatched[f"not_in_{file.path.name}"] = [key for key in joined_ids.ids if key not in table]
    known: Mapping[str, Row] = data or {}
    examples = [Example([table.get(key, {}) for table in tables], known.get(key, {})) for key in joined_ids.ids]
    if stacked:
        names = [{"condition": file.path.stem} for file in files]
        examples = [
            Example([name | row], example.data)
            for example in examples
            for name, row in zip(names, example.rows, strict=True)
            if row
        ]
    not_joined = {why: {"count": len(keys), "ids": keys[:MAX_IDS]} for why, keys in unmatched.items() if keys}
    return examples, {"examples": len(joined_ids.ids), **not_joined}


def _collect_values(
    column: MetricColumn, examples: Sequence[Example], harness_metrics: tuple[str, ...], where: Mapping[str, str] | None
) -> Any:
    """Return the values of one column of the metric, example by example."""
    if column.source and column.name == "groups" and "," in column.source:
        parts = [replace(column, source=part) for part in column.source.split(",")]
        return {part.source: _collect_values(part, examples, harness_metrics, where) for part in parts}
    if column.source and (file_and_column := _parse_file_reference(column.source)):
        path, name = file_and_column
        ids = [example.first.get("id") for example in examples]
        return _read_column(replace(column, source=name), ids, read_references(path, where))
    if column.name == "predictions" and column.is_list:
        rows = [example.rows for example in examples]
        column_name = column.find(_list_columns(chain.from_iterable(rows)), harness_metrics)
        values = [[column.get_value(row, column_name) for row in row_per_file] for row_per_file in rows]
        has_lists = len(values[0]) == 1 and isinstance(values[0][0], list)  # a single file holds lists of values
        return [first for first, *_ in values] if has_lists else values
    example_rows = [example.first for example in examples]
    exclude_predictions = column.source is None and column.name == "original_predictions"
    if column.name == "references" and not examples[0].data:
        exclude_predictions = column.source is None
    elif column.name == "references":
        example_rows = [example.data for example in examples]
    if column.name not in {"predictions", "references"} or (
        column.source and column.source not in _list_columns(example_rows)
    ):
        example_rows = [example.data | example.first for example in examples]
    column_name = column.find(_list_columns(example_rows), harness_metrics, exclude_predictions=exclude_predictions)
    return [column.get_value(row, column_name) for row in example_rows]


def _map_to_gold_labels(
    gold: MetricColumn, values: Mapping[str, Any], data: PredictionFile, file: Path, has_label_map: bool
) -> dict[str, Any]:
    """Convert predicted classes to the names of the right answers; raise if predictions use other words."""
    golds = values["references"]
    if gold.is_label:
        source = gold.source or find_first((gold.name, *METRIC_COLUMNS[gold.name]), data.columns)
        names = data.classes.get(source or "")
        predictions = {name: values[name] for name in ("predictions", "original_predictions") if name in values}
        words = {name: map_to_gold_labels(answers, golds, names) for name, answers in predictions.items()}
        if not has_label_map:
            check_shared_vocabulary(file, words["predictions"], golds)
        return {**values, **words}
    if gold.is_frame:
        intents, gold_intents = ([row.get("intent") for row in rows] for rows in (values["predictions"], golds))
        check_shared_vocabulary(file, intents, gold_intents)
    return dict(values)


def _list_columns(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(rows)))


def _parse_file_reference(source: str) -> tuple[Path, str | None] | None:
    """Return the file, and the column if there is one, of a source `FILE` or `FILE:COLUMN`."""
    path, colon, name = source.rpartition(":")
    if Path(source).is_file():
        return Path(source), None
    return (Path(path), name) if colon and Path(path).is_file() else None


def _read_column(column: MetricColumn, ids: Sequence[str | None], file: PredictionFile) -> list[Any]:
    """Return a column of another file, for these ids."""
    table = index_by_id(file)
    rows = [table[key] for key in ids if key in table]
    if len(rows) < len(ids):
        missing = [key for key in ids if key not in table]
        raise LookupError(
            f"{file.path}: lacks {len(missing)} of the {len(ids)} ids ({format_quoted(missing, 3)}); add their rows."
        )
    column_name = column.find(file.columns, file.metrics)
    return [column.get_value(row, column_name) for row in rows]
