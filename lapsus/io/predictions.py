"""Predictions of any origin, read by columns; an `id` column, a row per example.

Tables of any format keep their columns. A samples file of lm-evaluation-harness and a log of inspect (`.json`, `.eval`)
are recognised by their content: their rows get `id`, `prediction` and `reference`, a column per metric or scorer, and
the columns of the documents that the model read. Only predictions are looked at in this way, no other table.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.core.messages import format_list
from lapsus.core.text import to_label
from lapsus.core.types import StrPath
from lapsus.io import inspect_logs, lm_eval_logs, readers, tables
from lapsus.io.encoding import encode_column
from lapsus.io.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lapsus.io.readers import Row

READABLE = (*readers.SUFFIXES, ".eval")
OLD_COLUMNS = {"answer", "asked", "unparsed"}  # of the prediction files of an earlier version


@dataclass(frozen=True, slots=True, eq=False)
class PredictionTable:
    """The columns of a file, with labels by name, and what the file states about their origin.

    `metrics` names the columns that a harness has already scored; `task` is the harness's name for the data, and
    `arguments` are those of the task. `classes` are the names of the columns that held class numbers.
    """

    path: Path
    table: Table = field(repr=False)
    model: str | None = None
    task: str | None = None
    metrics: tuple[str, ...] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what a reader must know of the file, such as requests that failed

    @property
    def columns(self) -> list[str]:
        """The names of all columns."""
        return list(self.table.columns)


def read_predictions(path: StrPath, *, where: Mapping[str, str] | None = None) -> PredictionTable:
    """Read the predictions in `path`, keeping the rows whose columns have the values that `where` asks for.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "predictions.jsonl"
    ...     _ = path.write_text('{"id": 7, "prediction": "yes"}')
    ...     read_predictions(path).table.to_rows()
    [{'id': 7, 'prediction': 'yes'}]
    """
    path = Path(path)
    _check_readable(path)
    if path.suffix.lower() == ".eval":
        return _make_log_table(path, inspect_logs.read_eval(path), where)
    if path.suffix.lower() == ".json":
        document = readers.read_json(path)
        if (log := inspect_logs.parse_log(document)) is not None:
            return _make_log_table(path, log, where)
        if isinstance(document, dict):
            raise ValueError(f"{path}: expected a JSON list of objects or an inspect log.")
        rows = readers.check_objects(document, path)
        if lm_eval_logs.is_samples(rows):
            return _make_samples_table(path, rows, where)
        return _make_table(path, Table.from_rows(rows), where)
    if readers.FORMATS.get(path.suffix.lower()) == "json" and _starts_with_sample(path):
        return _make_samples_table(path, readers.read_rows(path), where)
    table = tables.read_table(path)
    if table.columns.keys() >= OLD_COLUMNS:
        raise ValueError(
            f"{path} was written by an earlier version of lapsus, with other names of columns; "
            "run the model again (cached responses are reused)"
        )
    return _make_table(path, table, where)


def read_references(
    source: Any, where: Mapping[str, str] | None = None, *, split: str | None = None
) -> PredictionTable:
    """Read a further table, such as references; `where` applies only to the columns and values that occur in it."""
    path = Path(source) if isinstance(source, str | os.PathLike) else Path("the references")
    return select_known(_make_table(path, tables.read_table(source, split=split), {}), where)


def select_known(file: PredictionTable, where: Mapping[str, str] | None) -> PredictionTable:
    """Return the rows that have these values, of those columns that the file has and that hold them."""
    for column, value in (where or {}).items():
        if column in file.columns and value in encode_column(file.table.columns[column]).words:
            file = replace(file, table=_filter_table(file.path, file.table, {column: value}))
    return file


def _make_log_table(path: Path, log: inspect_logs.InspectLog, where: Mapping[str, str] | None) -> PredictionTable:
    rows, metrics = inspect_logs.to_rows(path, log)
    rows, note = inspect_logs.leave_out_failed(path, _filter_table(path, Table.from_rows(rows), where).to_rows())
    table = Table.from_rows(inspect_logs.merge_epochs(rows, metrics))
    spec = log.spec
    arguments = inspect_logs.find_text_arguments(spec)
    notes = (note,) if note else ()
    return PredictionTable(path, table, spec.get("model"), spec.get("task"), metrics, arguments, notes=notes)


def _make_samples_table(path: Path, samples: Sequence[Row], where: Mapping[str, str] | None) -> PredictionTable:
    rows, metrics = lm_eval_logs.to_rows(path, samples)
    table = _filter_table(path, Table.from_rows(rows), where)
    return PredictionTable(path, table, lm_eval_logs.find_model(path), lm_eval_logs.parse_task_name(path), metrics)


def _make_table(path: Path, table: Table, where: Mapping[str, str] | None) -> PredictionTable:
    """Return the rows that `where` asks for, with labels by name."""
    table = _filter_table(path, table, where)
    return PredictionTable(path, table.with_class_names(), classes=table.classes)


def _filter_table(path: Path, table: Table, where: Mapping[str, str] | None) -> Table:
    """Return the rows that have these values in these columns; raise if there are none."""
    if not table.length:
        raise ValueError(f"{path}: holds no rows; give a file with at least one row.")
    for column, value in (where or {}).items():
        encoded = encode_column(table.columns.get(column, [None] * table.length))
        has_value = np.array([word == value for word in encoded.words] + [value == to_label(None)])
        indices = np.flatnonzero(has_value[encoded.codes])
        if not len(indices):
            words = sorted(encoded.words)
            hint = (
                f"column {column!r} holds {format_quoted(words)}"
                if words
                else f"the columns are {format_quoted(table.columns)}"
            )
            raise ValueError(f"{path}: no row has {column}={value}; {hint}.")
        table = table.take(indices)
    return table


def _check_readable(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(f"{path}: is a folder; name the files in it.")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; give the path of a file of rows.")
    if path.suffix.lower() not in READABLE:
        raise ValueError(f"{path}: unsupported file type {path.suffix!r}; use one of {', '.join(READABLE)}.")


def _starts_with_sample(path: Path) -> bool:
    """Return whether the first row of a file of JSON lines is a sample of lm-evaluation-harness."""
    with path.open("rb") as file:
        first = next((line for line in file if line.strip()), b"")
    try:
        row = json.loads(first.removeprefix(readers.BYTE_ORDER_MARK))
    except (ValueError, RecursionError):
        return False
    return isinstance(row, dict) and row.keys() >= lm_eval_logs.SAMPLE_KEYS


def format_quoted(names: Iterable[object], most: int = 8) -> str:
    """Return up to `most` of `names` as words, for a sentence.

    >>> format_quoted(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    return format_list(map(repr, names), most, empty="none")
