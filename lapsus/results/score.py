"""A metric over files: columns are found by name, files are joined by id.

>>> list(columns_of("win_rate"))[:2]
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
from lapsus.kernel.names import unknown
from lapsus.results.classes import in_words, refuse_disjoint
from lapsus.results.joining import by_id, join
from lapsus.results.predictions import Predictions, few, read, read_beside
from lapsus.results.roles import METRIC_COLUMNS, ROLES, Column, LackingColumnError, first_of, of_perturbed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from lapsus.kernel.rows import Row

NAMED = 10  # at most so many ids that do not join are named


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
    function = _metric(name)
    wanted = columns_of(name)
    given = dict(options or {})
    known = inspect.signature(function).parameters
    for option in given:
        if option not in known:
            raise LookupError(f"{name}: {unknown('option', option, known)}")
    if not predictions:
        raise ValueError(f"{name} needs a file of predictions; give at least one.")
    files = [read(path, where=where) for path in predictions]
    texts = wanted["predictions"].startswith("Iterable[str]") and wanted.get("references") == "Iterable[str]"
    if texts and references is None and not {"predictions", "references"} & given.keys():
        given |= of_perturbed(files[0].columns)
    columns = [Column(name, column, kind, given.pop(column, None)) for column, kind in wanted.items()]
    data = None if references is None else read_beside(references, where)
    examples, joined = _joined(columns[0], files, data, stacked="examples" in wanted)
    scored = files[0].metrics
    if "float" in columns[0].kind and columns[0].source is None:
        _refuse_answers(columns[0], [*files, *filter(None, [data])], scored, compared="references" in wanted)
    values = {
        column.name: _values(column, examples, scored, where)
        for column in columns
        if column.source is not None or known[column.name].default is inspect.Parameter.empty
    }
    if "references" in values:
        gold = next(column for column in columns if column.name == "references")
        values = _in_words(gold, values, data or files[0], predictions[0], "label_map" in given)
    result: dict[str, Any] = function(**values, **{option: _parsed(value) for option, value in given.items()})
    return {**result, "join": joined}


def columns_of(name: str) -> dict[str, str]:
    """Return the columns that a metric takes, with their types: its positional arguments, and others per example."""
    parameters = inspect.signature(_metric(name)).parameters.values()
    return {
        parameter.name: str(parameter.annotation)
        for parameter in parameters
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD or _is_column(str(parameter.annotation))
    }


def _is_column(kind: str) -> bool:
    """Return whether an option of this type holds one value per example; a choice of groups, or a map, does not."""
    return ("Iterable" in kind or "Groups" in kind) and "Mapping" not in kind


def _metric(name: str) -> Callable[..., dict[str, Any]]:
    """Return the plain function of a metric."""
    known = metrics.metrics()
    if name not in known:
        raise LookupError(unknown("metric", name, known))
    return known[name]


def _parsed(value: str) -> Any:
    """Parse an option as JSON; where it is not JSON, return its text."""
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        return value


def _refuse_answers(column: Column, files: Sequence[Predictions], scored: tuple[str, ...], *, compared: bool) -> None:
    """Raise if a metric of scores would take answers for scores: there is a right answer beside them.

    Where a metric compares two scores, a reference is the other score.
    """
    names = list(dict.fromkeys(chain.from_iterable(file.columns for file in files)))
    right = first_of((name for name in ROLES["gold"] if not (compared and name.startswith("reference"))), names)
    taken = None if right is None else column.find(names, scored)
    if taken in ROLES["prediction"]:
        what = f"{column.metric} takes scores, and column {taken!r} beside {right!r} holds answers"
        raise LackingColumnError(f"{what}; add a column 'score', or name the one with scores", "predictions=acc")


def _joined(
    column: Column,
    files: Sequence[Predictions],
    beside: Predictions | None,
    *,
    stacked: bool,
) -> tuple[list[Example], dict[str, Any]]:
    """Join the files by id; also return the ids that did not join.

    For a metric with a column that names each row's example, files are stacked and every row is a unit of its own.
    """
    if len(files) > 1 and not (stacked or column.lists):
        raise ValueError(f"{column.metric} takes one file of predictions, not {len(files)}; score them one by one.")
    if len(files) == 1 and beside is None and (stacked or "id" not in files[0].columns):
        return [Example([row], {}) for row in files[0].rows], {"examples": len(files[0].rows)}
    tables = [by_id(file) for file in files]
    data = None if beside is None else by_id(beside)
    joined = join(files[0].path, chain.from_iterable(tables), data, beside.path if beside else "")
    left_out = {"not_in_references": joined.unknown, "not_predicted": joined.missing}
    if len(files) > 1:
        for file, table in zip(files, tables, strict=True):
            left_out[f"not_in_{file.path.name}"] = [key for key in joined.ids if key not in table]
    known: Mapping[str, Row] = data or {}
    examples = [Example([table.get(key, {}) for table in tables], known.get(key, {})) for key in joined.ids]
    if stacked:
        names = [{"condition": file.path.stem} for file in files]
        examples = [
            Example([name | row], example.data)
            for example in examples
            for name, row in zip(names, example.rows, strict=True)
            if row
        ]
    not_joined = {why: {"count": len(keys), "ids": keys[:NAMED]} for why, keys in left_out.items() if keys}
    return examples, {"examples": len(joined.ids), **not_joined}


def _values(
    column: Column, examples: Sequence[Example], scored: tuple[str, ...], where: Mapping[str, str] | None
) -> Any:
    """Return the values of one column of the metric, example by example."""
    if column.source and column.name == "groups" and "," in column.source:
        parts = [replace(column, source=part) for part in column.source.split(",")]
        return {part.source: _values(part, examples, scored, where) for part in parts}
    if column.source and (other := _elsewhere(column.source)):
        path, name = other
        ids = [example.first.get("id") for example in examples]
        return _from_file(replace(column, source=name), ids, read_beside(path, where))
    if column.name == "predictions" and column.lists:
        rows = [example.rows for example in examples]
        taken = column.find(_names(chain.from_iterable(rows)), scored)
        values = [[column.value(row, taken) for row in row_per_file] for row_per_file in rows]
        listed = len(values[0]) == 1 and isinstance(values[0][0], list)  # a single file holds lists of values
        return [first for first, *_ in values] if listed else values
    own = [example.first for example in examples]
    beside = column.source is None and column.name == "original_predictions"
    if column.name == "references" and not examples[0].data:
        beside = column.source is None
    elif column.name == "references":
        own = [example.data for example in examples]
    if column.name not in {"predictions", "references"} or (column.source and column.source not in _names(own)):
        own = [example.data | example.first for example in examples]
    taken = column.find(_names(own), scored, beside=beside)
    return [column.value(row, taken) for row in own]


def _in_words(gold: Column, values: Mapping[str, Any], data: Predictions, file: Path, mapped: bool) -> dict[str, Any]:
    """Convert predicted classes to the names of the right answers; raise if predictions use other words."""
    golds = values["references"]
    if gold.labels:
        source = gold.source or first_of((gold.name, *METRIC_COLUMNS[gold.name]), data.columns)
        names = data.classes.get(source or "")
        said = {name: values[name] for name in ("predictions", "original_predictions") if name in values}
        words = {name: in_words(answers, golds, names) for name, answers in said.items()}
        if not mapped:
            refuse_disjoint(file, words["predictions"], golds)
        return {**values, **words}
    if gold.frames:
        intents, right = ([row.get("intent") for row in rows] for rows in (values["predictions"], golds))
        refuse_disjoint(file, intents, right)
    return dict(values)


def _names(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(rows)))


def _elsewhere(source: str) -> tuple[Path, str | None] | None:
    """Return the file, and the column if there is one, of a source `FILE` or `FILE:COLUMN`."""
    path, colon, name = source.rpartition(":")
    if Path(source).is_file():
        return Path(source), None
    return (Path(path), name) if colon and Path(path).is_file() else None


def _from_file(column: Column, ids: Sequence[str | None], other: Predictions) -> list[Any]:
    """Return a column of another file, for these ids."""
    table = by_id(other)
    rows = [table[key] for key in ids if key in table]
    if len(rows) < len(ids):
        lacking = [key for key in ids if key not in table]
        raise LookupError(
            f"{other.path}: lacks {len(lacking)} of the {len(ids)} ids ({few(lacking, 3)}); add their rows."
        )
    taken = column.find(other.columns, other.metrics)
    return [column.value(row, taken) for row in rows]
