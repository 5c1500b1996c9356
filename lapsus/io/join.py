"""Join predictions with references by id, under one rule for every command.

References win over columns of the same name in the predictions. A value that differs between them is an error. What
the model answered is no reference: `prediction`, `score`, and a column X beside `gold_X` come from the predictions. The
gold answer comes from the references where they have one.

>>> from pathlib import Path
>>> rows = [{"id": 1, "prediction": "a"}, {"id": 2, "prediction": "b"}]
>>> references = [{"id": "2", "label": "b"}, {"id": "3", "label": "a"}]
>>> joined = join_references(*(PredictionTable(Path("p.csv"), Table.from_rows(each)) for each in (rows, references)))
>>> joined.table.to_rows(), joined.missing, joined.unmatched
([{'label': 'b', 'id': '2', 'prediction': 'b'}], ['3'], ['1'])
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isclose, isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lapsus.core.checks import shorten_repr
from lapsus.core.text import to_label
from lapsus.io.labels import to_class_name
from lapsus.io.predictions import PredictionTable, format_quoted
from lapsus.io.tables import Column, Table, to_list

if TYPE_CHECKING:
    from lapsus.core.checks import IntArray

# The usual names of each role's column, the most likely first.
ROLES: dict[str, tuple[str, ...]] = {
    "prediction": ("prediction", "predictions", "predicted", "output"),
    "gold": ("gold", "reference", "references", "label", "target", "intent", "answers"),
    "score": ("score",),
    "cluster": ("cluster", "original_id"),
}
ORIGIN_COLUMNS = ("model", "dataset", "track", "annotator")  # what a row of predictions belongs to
# What a run notes about an answer: no data hold it, but the predictions of another run do.
ANSWER_COLUMNS = (
    *ROLES["prediction"],
    *ROLES["score"],
    *ORIGIN_COLUMNS,
    *("response", "request_key", "error", "label_logprobs", "unparsed", "filter", "epoch"),
)
OWN_ROLES = {*ROLES["prediction"], *ROLES["score"]}  # columns that never come from the references
TOLERANCE = 1e-6  # numbers that differ by less are the same number, of another precision


class GoldColumn(NamedTuple):
    """The gold answers, and the names of their classes where the column held class numbers."""

    name: str
    values: Column
    class_names: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class JoinedTable:
    """The rows of predictions that the references know, with the columns of both.

    `missing` are the ids without a prediction, `unmatched` the predicted ids that are not in the references.
    `predictions` and `references` are the same rows as each side has them.
    """

    source: PredictionTable
    table: Table = field(repr=False)
    predictions: Table = field(repr=False)
    references: Table | None = field(repr=False)
    gold: GoldColumn | None = field(repr=False)
    missing: Sequence[str] = ()
    unmatched: Sequence[str] = ()


def find_first(candidates: Iterable[str], columns: Iterable[str]) -> str | None:
    """Return the first of the usual names that is among the columns."""
    available = set(columns)
    return next((name for name in candidates if name in available), None)


def join_references(
    predictions: PredictionTable,
    references: PredictionTable | None = None,
    *,
    gold: str | None = None,
    answer_columns: Iterable[str] = (),
) -> JoinedTable:
    """Return the predictions with the columns of the references of the same ids; raise where the two disagree.

    Args:
        predictions: The rows of one track, each with an `id`.
        references: The data; None where the predictions hold all columns.
        gold: The column of the gold answer; by default the first usual one, of the references if they have one.
        answer_columns: Further columns that hold what the model answered.
    """
    ids = extract_ids(predictions.table, predictions.path)
    table = predictions.table.with_columns({"id": ids})
    answers = _find_answer_columns(predictions, answer_columns)
    if references is None:
        return JoinedTable(predictions, table, table, None, find_gold(predictions, table, gold, answers))
    matches = _match_ids(predictions, ids, references)
    table, known = table.take(matches.rows), references.table.take(matches.reference_rows)
    compare = partial(_check_same, predictions, references, to_list(table.columns["id"]))
    columns: dict[str, Column] = {}
    for name, column in known.columns.items():
        if name == "id" or name in OWN_ROLES or (name in answers and name in table.columns):
            continue
        own_name = name
        if f"clean_{name}" in table.columns and f"clean_{name}" not in known.columns:
            own_name = f"clean_{name}"  # the references hold the clean text of what the model read
        own = table.columns.get(own_name)
        if own is not None:
            compare((own_name, own), (name, column))
        if own_name == name or name not in table.columns:
            columns[name] = column if own is None else _fill_missing(column, own)
    columns |= {name: column for name, column in table.columns.items() if name not in columns}
    reference_gold = find_first([gold] if gold else ROLES["gold"], known.columns)
    gold_column = find_gold(predictions, table, gold, answers)
    if reference_gold:
        values = columns[reference_gold] if reference_gold not in answers else known.columns[reference_gold]
        if gold_column and gold_column.name != reference_gold:
            compare((gold_column.name, gold_column.values), (reference_gold, values))
        gold_column = GoldColumn(reference_gold, values, references.classes.get(reference_gold))
    return JoinedTable(
        predictions, Table(columns, table.length), table, known, gold_column, matches.missing, matches.unmatched
    )


def find_gold(
    source: PredictionTable, table: Table, name: str | None = None, answer_columns: Collection[str] = ()
) -> GoldColumn | None:
    """Return the gold answers that a table holds: in the column of this name, by default in the first usual one."""
    usual = [column for column in ROLES["gold"] if column not in answer_columns]
    column = find_first([name] if name else usual, table.columns)
    return None if column is None else GoldColumn(column, table.columns[column], source.classes.get(column))


def _find_answer_columns(predictions: PredictionTable, more: Iterable[str]) -> set[str]:
    """Return the columns that hold what the model answered, which references do not replace."""
    columns = predictions.table.columns
    with_gold = [name for name in columns if f"gold_{name}" in columns]
    return {*ANSWER_COLUMNS, *predictions.metrics, *with_gold, *more}


class _Matches(NamedTuple):
    """The rows of predictions and references that belong together, and the ids that are in one of them only."""

    rows: IntArray
    reference_rows: IntArray
    missing: list[str]
    unmatched: list[str]


def _match_ids(predictions: PredictionTable, ids: Any, references: PredictionTable) -> _Matches:
    import pyarrow as pa
    import pyarrow.compute as pc

    known_ids = extract_ids(references.table, references.path)
    if ids.equals(known_ids):
        return _Matches(np.arange(len(ids)), np.arange(len(ids)), [], [])
    reference_rows = np.asarray(pc.fill_null(pc.index_in(ids, value_set=known_ids), -1), np.int64)
    is_known = reference_rows >= 0
    if not is_known.any():
        check_shared_ids(predictions.path, ids.to_pylist(), known_ids.to_pylist(), references.path)
    is_missing = np.ones(len(known_ids), bool)
    is_missing[reference_rows[is_known]] = False
    missing, unmatched = known_ids.filter(pa.array(is_missing)), ids.filter(pa.array(~is_known))
    return _Matches(np.flatnonzero(is_known), reference_rows[is_known], missing.to_pylist(), unmatched.to_pylist())


def check_shared_ids(path: object, ids: Collection[str], known_ids: Collection[str], name: object) -> None:
    """Raise if none of the ids of a file is in the table called `name`."""
    if not set(ids) & set(known_ids):
        raise ValueError(
            f"{path}: none of its ids is in {name} ({format_quoted(ids, 3)} against {format_quoted(known_ids, 3)});"
            " check the dataset and the split."
        )


def extract_ids(table: Table, place: object) -> Any:
    """Return the ids of rows as text, 7.0 as "7"; raise where one is missing or occurs twice.

    >>> extract_ids(Table.from_rows([{"id": 7.0}, {"id": "a"}]), "p.csv").to_pylist()
    ['7', 'a']
    """
    import pyarrow as pa

    ids = None if "id" not in table.columns else _ids_to_text(table.columns["id"])
    if ids is None or ids.null_count:
        row = 1 if ids is None else ids.is_null().index(True).as_py() + 1
        raise ValueError(f"{place}, row {row}: has no 'id'; the columns are {format_quoted(table.columns)}.")
    encoded = ids.dictionary_encode()
    if len(encoded.dictionary) < len(ids):
        _, first = np.unique(np.asarray(encoded.indices), return_index=True)
        row = int(np.setdiff1d(np.arange(len(ids)), first)[0])
        twins = table.take([int(first[encoded.indices[row].as_py()]), row]).to_rows()
        differing = [name for name in ("filter", "epoch", "split", "track") if twins[0].get(name) != twins[1].get(name)]
        cure = (
            f"keep one with where, as in {differing[0]}={twins[1][differing[0]]}" if differing else "keep one of them"
        )
        raise ValueError(f"{place}, row {row + 1}: id {ids[row].as_py()!r} occurs a second time; {cure}.")
    return ids if isinstance(ids, pa.Array) else ids.combine_chunks()


def _ids_to_text(column: Column) -> Any:
    """Return a column of ids as text, so that 7, 7.0 and "7" join."""
    import pyarrow as pa

    if not isinstance(column, list):
        if pa.types.is_string(column.type):
            return column if isinstance(column, pa.Array) else column.combine_chunks()
        column = column.to_pylist()
    texts = [
        None if key is None else str(int(key)) if isinstance(key, float) and key.is_integer() else str(key)
        for key in column
    ]
    return pa.array(texts, pa.string())


def _fill_missing(column: Column, fallback: Column) -> Column:
    """Return a column with what the other one holds where it has nothing."""
    if not isinstance(column, list) and not column.null_count:
        return column
    pairs = zip(to_list(column), to_list(fallback), strict=True)
    return [default if value is None else value for value, default in pairs]


def _check_same(
    predictions: PredictionTable,
    references: PredictionTable,
    ids: Sequence[str],
    own: tuple[str, Column],
    reference: tuple[str, Column],
) -> None:
    """Raise if a column of the predictions and one of the references hold different values for an id."""
    (own_name, own_column), (name, column) = own, reference
    if not isinstance(column, list) and not isinstance(own_column, list) and column.equals(own_column):
        return
    class_names = references.classes.get(name)
    for key, value, expected in zip(ids, to_list(own_column), to_list(column), strict=True):
        if _is_missing(value) or _is_missing(expected) or value == expected or _is_same(value, expected):
            continue
        if class_names and to_class_name(value, class_names) == expected:
            continue
        place = f"column {name!r} of {references.path}" if name != own_name else references.path
        cure = "name the column with the gold answers" if name in ROLES["gold"] else "leave the column out of one"
        raise ValueError(
            f"{predictions.path}: column {own_name!r} of id {key!r} is {shorten_repr(value)}, but"
            f" {shorten_repr(expected)} in {place}; correct one of them, or {cure}."
        )


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and isnan(value))


def _is_same(value: Any, expected: Any) -> bool:
    """Return whether two values say the same: numbers of another precision, or a list of one element and the element.

    A mapping and a text, such as two forms of an answer, cannot be compared, and count as the same.

    >>> _is_same("1", 1.0), _is_same(0.1, 0.10000000149), _is_same(["a"], "a"), _is_same("a", "b")
    (True, True, True, False)
    """
    value, expected = (side[0] if isinstance(side, list) and len(side) == 1 else side for side in (value, expected))
    if isinstance(value, Mapping) or isinstance(expected, Mapping):
        is_comparable = isinstance(value, Mapping) and isinstance(expected, Mapping)
        shared = [name for name in value if name in expected] if is_comparable else []
        return all(_is_same(value[name], expected[name]) for name in shared)
    if isinstance(value, list) and isinstance(expected, list):
        return len(value) == len(expected) and all(map(_is_same, value, expected))
    if isinstance(value, list) or isinstance(expected, list):
        several, single = (value, expected) if isinstance(value, list) else (expected, value)
        return any(_is_same(each, single) for each in several)
    return _is_missing(value) or _is_missing(expected) or _is_same_scalar(value, expected)


def _is_same_scalar(value: Any, expected: Any) -> bool:
    if isinstance(value, int | float) and isinstance(expected, int | float):
        return isclose(value, expected, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    if isinstance(value, bool) or isinstance(expected, bool):
        return str(value).casefold() == str(expected).casefold()
    return to_label(value) == to_label(expected) or str(value) == str(expected)
