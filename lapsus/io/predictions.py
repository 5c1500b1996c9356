"""Predictions of any origin, read into rows: one dict per example, with its `id` as text.

JSON lines, JSON, CSV, TSV and Parquet keep their columns. A samples file of lm-evaluation-harness and a log of
inspect (`.json`, `.eval`) are recognised by their content: their rows get `id`, `prediction` and `reference`, one
column per metric or scorer, and the columns of the documents that the model saw.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.core.messages import format_list
from lapsus.core.text import to_label
from lapsus.io import encoding, inspect_logs, lm_eval_logs, tables
from lapsus.io import readers as readers
from lapsus.io.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from lapsus.io.readers import Row

READABLE = (*readers.FORMATS, ".eval")


@dataclass(frozen=True, slots=True)
class PredictionFile:
    """The rows of one file, and what the file states about their origin.

    `metrics` names the columns that a harness has already scored; `task` is the harness's name for the data, `track`
    the one that a run was told to take. `classes` are the names of the columns that hold classes; rows hold the names.
    """

    path: Path
    rows: list[Row] = field(repr=False)
    model: str | None = None
    task: str | None = None
    metrics: tuple[str, ...] = ()
    track: str | None = None
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    has_epochs: bool = False  # whether an example may have been answered several times

    @property
    def columns(self) -> list[str]:
        """The names of all columns, in the order of their first appearance."""
        return list(dict.fromkeys(chain.from_iterable(self.rows)))


def read_predictions(path: Path, *, where: Mapping[str, str] | None = None) -> PredictionFile:
    """Read the predictions in `path`, keeping the rows whose columns have the values that `where` asks for.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "predictions.jsonl"
    ...     _ = path.write_text('{"id": 7, "prediction": "yes"}')
    ...     read_predictions(path).rows
    [{'id': '7', 'prediction': 'yes'}]
    """
    _check_readable(path)
    file = _read_file(path)
    file = replace(file, rows=[_with_text_id(row) for row in file.rows])
    for column, value in (where or {}).items():
        file = _filter_rows(file, column, value)
    if file.classes:
        rows = [
            row
            | {
                column: _replace_class_numbers(row[column], names)
                for column, names in file.classes.items()
                if column in row
            }
            for row in file.rows
        ]
        file = replace(file, rows=rows)
    if file.has_epochs:
        file = replace(file, rows=inspect_logs.merge_epochs(file.rows, file.metrics))
    if not file.rows:
        raise ValueError(f"{path}: holds no predictions; give a file with at least one row.")
    return file


@dataclass(frozen=True, slots=True, eq=False)
class PredictionTable:
    """The columns of one file, and what the file states about their origin, as in `PredictionFile`."""

    path: Path
    frame: Table
    model: str | None = None
    task: str | None = None
    metrics: tuple[str, ...] = ()
    track: str | None = None
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """The names of all columns."""
        return list(self.frame.columns)


def read_prediction_table(path: Path, *, where: Mapping[str, str] | None = None) -> PredictionTable:
    """Read the predictions in `path` as `read_predictions` does, by columns."""
    _check_readable(path)
    frame = None if path.suffix.lower() in {".json", ".eval"} else tables.read_table(path)
    if frame is None or {"doc_id", "doc"} <= frame.columns.keys():
        file = read_predictions(path, where=where)
        origin = (file.model, file.task, file.metrics, file.track)
        return PredictionTable(path, Table.from_rows(file.rows), *origin)
    if not frame.length:
        raise ValueError(f"{path}: holds no predictions; give a file with at least one row.")
    for column, value in (where or {}).items():
        frame = _filter_table(path, frame, column, value)
    classes = {column: names for column, names in readers.read_class_names(path).items() if column in frame.columns}
    class_columns = {
        column: _replace_class_numbers(tables.to_list(frame.columns[column]), names)
        for column, names in classes.items()
    }
    return PredictionTable(path, frame.with_columns(class_columns), classes=classes)


def read_reference_table(path: Path, where: Mapping[str, str] | None) -> PredictionTable:
    """Read a further file by columns; `where` applies only to the columns and values that occur in it."""
    table = read_prediction_table(path)
    for column, value in (where or {}).items():
        if column in table.frame.columns and value in encoding.encode_column(table.frame.columns[column]).words:
            table = replace(table, frame=_filter_table(path, table.frame, column, value))
    return table


def _filter_table(path: Path, frame: Table, column: str, value: str) -> Table:
    """Return the rows that have `value` in `column`."""
    encoded = encoding.encode_column(frame.columns.get(column, [None] * frame.length))
    indices = np.flatnonzero(
        np.array([word == value for word in encoded.words] + [value == to_label(None)])[encoded.codes]
    )
    if not len(indices):
        choices = sorted(encoded.words)
        hint = (
            f"column {column!r} holds {format_quoted(choices)}"
            if choices
            else f"the columns are {format_quoted(frame.columns)}"
        )
        raise ValueError(f"{path}: no row has {column}={value}; {hint}.")
    return frame.take(indices)


def _replace_class_numbers(numbers: Any, names: Sequence[str]) -> Any:
    """Replace class numbers, in lists of any depth, by class names, and -1 (no class) by None.

    >>> _replace_class_numbers([1, [0, -1]], ["no", "yes"])
    ['yes', ['no', None]]
    """
    if isinstance(numbers, list):
        return [_replace_class_numbers(number, names) for number in numbers]
    return names[numbers] if isinstance(numbers, int) and 0 <= numbers < len(names) else None


def _check_readable(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(f"{path}: is a folder; name the files in it.")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; give the path of a file of rows.")
    if path.suffix.lower() not in READABLE:
        raise ValueError(f"{path}: files ending in {path.suffix!r} are not read; give one of {', '.join(READABLE)}.")


def read_references(path: Path, where: Mapping[str, str] | None) -> PredictionFile:
    """Read a further file, such as references; `where` applies only to the columns and values that occur in it."""
    file = read_predictions(path)
    for column, value in (where or {}).items():
        if any(column in row and to_label(row[column]) == value for row in file.rows):
            file = _filter_rows(file, column, value)
    return file


def format_quoted(names: Iterable[object], most: int = 8) -> str:
    """Return up to `most` of `names` as words, for a sentence.

    >>> format_quoted(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    return format_list(map(repr, names), most, empty="none")


def _filter_rows(file: PredictionFile, column: str, value: str) -> PredictionFile:
    """Keep the rows of `file` that have `value` in `column`."""
    rows = [row for row in file.rows if to_label(row.get(column)) == value]
    if not rows:
        choices = sorted({to_label(row[column]) for row in file.rows if column in row})
        hint = (
            f"column {column!r} holds {format_quoted(choices)}"
            if choices
            else f"the columns are {format_quoted(file.columns)}"
        )
        raise ValueError(f"{file.path}: no row has {column}={value}; {hint}.")
    return replace(file, rows=rows)


def _with_text_id(row: Row) -> Row:
    """Return `row` with its id as text, so that 7, 7.0 and "7" join."""
    key = row.get("id")
    if key is None:
        return row
    return {**row, "id": str(int(key)) if isinstance(key, float) and key.is_integer() else str(key)}


def _read_file(path: Path) -> PredictionFile:
    """Read a file; its content tells which harness wrote it."""
    suffix = path.suffix.lower()
    document = readers.read_json(path) if suffix == ".json" else None
    log = inspect_logs.read_eval(path) if suffix == ".eval" else inspect_logs.parse_log(document)
    if log is not None:
        rows, metrics = inspect_logs.to_rows(path, log)
        spec = log.spec
        return PredictionFile(
            path, rows, spec.get("model"), spec.get("task"), metrics, inspect_logs.find_track(spec), has_epochs=True
        )
    if isinstance(document, dict):
        raise ValueError(f"{path}: holds neither a list of objects nor a log of inspect; give one of them.")  # noqa: TRY004 - the file is wrong
    rows = readers.read_rows(path) if document is None else readers.check_objects(document, path)
    if readers.detect_format(path) == "json" and lm_eval_logs.is_samples(rows):
        rows, metrics = lm_eval_logs.to_rows(path, rows)
        return PredictionFile(path, rows, lm_eval_logs.find_model(path), lm_eval_logs.parse_task_name(path), metrics)
    return PredictionFile(path, rows, classes=readers.read_class_names(path))
