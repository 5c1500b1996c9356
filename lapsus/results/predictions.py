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

from lapsus.kernel import frames
from lapsus.kernel import rows as tables
from lapsus.kernel.frames import Frame
from lapsus.kernel.names import shown
from lapsus.results import coding, inspect_logs, lm_eval_logs
from lapsus.results.coding import label

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from lapsus.kernel.rows import Row

READABLE = (*tables.FORMATS, ".eval")


@dataclass(frozen=True, slots=True)
class Predictions:
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
    epochs: bool = False  # whether an example may have been answered several times

    @property
    def columns(self) -> list[str]:
        """The names of all columns, in the order of their first appearance."""
        return list(dict.fromkeys(chain.from_iterable(self.rows)))


def read(path: Path, *, where: Mapping[str, str] | None = None) -> Predictions:
    """Read the predictions in `path`, keeping the rows whose columns have the values that `where` asks for.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "predictions.jsonl"
    ...     _ = path.write_text('{"id": 7, "prediction": "yes"}')
    ...     read(path).rows
    [{'id': '7', 'prediction': 'yes'}]
    """
    _refuse_unreadable(path)
    found = _read(path)
    found = replace(found, rows=[_named(row) for row in found.rows])
    for column, value in (where or {}).items():
        found = _keep(found, column, value)
    if found.classes:
        named = [
            row | {column: _in_names(row[column], names) for column, names in found.classes.items() if column in row}
            for row in found.rows
        ]
        found = replace(found, rows=named)
    if found.epochs:
        found = replace(found, rows=inspect_logs.over_epochs(found.rows, found.metrics))
    if not found.rows:
        raise ValueError(f"{path}: holds no predictions; give a file with at least one row.")
    return found


@dataclass(frozen=True, slots=True, eq=False)
class PredictedColumns:
    """The columns of one file, and what the file states about their origin, as in `Predictions`."""

    path: Path
    frame: Frame
    model: str | None = None
    task: str | None = None
    metrics: tuple[str, ...] = ()
    track: str | None = None
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """The names of all columns."""
        return list(self.frame.columns)


def read_columns(path: Path, *, where: Mapping[str, str] | None = None) -> PredictedColumns:
    """Read the predictions in `path` as `read` does, by columns."""
    _refuse_unreadable(path)
    frame = None if path.suffix.lower() in {".json", ".eval"} else frames.read(path)
    if frame is None or {"doc_id", "doc"} <= frame.columns.keys():
        found = read(path, where=where)
        told = (found.model, found.task, found.metrics, found.track)
        return PredictedColumns(path, Frame.of_rows(found.rows), *told)
    if not frame.length:
        raise ValueError(f"{path}: holds no predictions; give a file with at least one row.")
    for column, value in (where or {}).items():
        frame = _rows_with(path, frame, column, value)
    classes = {column: names for column, names in tables.class_names(path).items() if column in frame.columns}
    named = {column: _in_names(frames.values(frame.columns[column]), names) for column, names in classes.items()}
    return PredictedColumns(path, frame.with_columns(named), classes=classes)


def columns_beside(path: Path, where: Mapping[str, str] | None) -> PredictedColumns:
    """Read a further file by columns; `where` applies only to the columns and values that occur in it."""
    found = read_columns(path)
    for column, value in (where or {}).items():
        if column in found.frame.columns and value in coding.coded(found.frame.columns[column]).words:
            found = replace(found, frame=_rows_with(path, found.frame, column, value))
    return found


def _rows_with(path: Path, frame: Frame, column: str, value: str) -> Frame:
    """Return the rows that have `value` in `column`."""
    told = coding.coded(frame.columns.get(column, [None] * frame.length))
    kept = np.flatnonzero(np.array([word == value for word in told.words] + [value == label(None)])[told.codes])
    if not len(kept):
        seen = sorted(told.words)
        held = f"column {column!r} holds {few(seen)}" if seen else f"the columns are {few(frame.columns)}"
        raise ValueError(f"{path}: no row has {column}={value}; {held}.")
    return frame.take(kept)


def _in_names(numbers: Any, names: Sequence[str]) -> Any:
    """Replace class numbers, in lists of any depth, by class names, and -1 (no class) by None.

    >>> _in_names([1, [0, -1]], ["no", "yes"])
    ['yes', ['no', None]]
    """
    if isinstance(numbers, list):
        return [_in_names(number, names) for number in numbers]
    return names[numbers] if isinstance(numbers, int) and 0 <= numbers < len(names) else None


def _refuse_unreadable(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(f"{path}: is a folder; name the files in it.")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; give the path of a file of rows.")
    if path.suffix.lower() not in READABLE:
        raise ValueError(f"{path}: files ending in {path.suffix!r} are not read; give one of {', '.join(READABLE)}.")


def read_beside(path: Path, where: Mapping[str, str] | None) -> Predictions:
    """Read a further file, such as references; `where` applies only to the columns and values that occur in it."""
    found = read(path)
    for column, value in (where or {}).items():
        if any(column in row and label(row[column]) == value for row in found.rows):
            found = _keep(found, column, value)
    return found


def few(names: Iterable[object], most: int = 8) -> str:
    """Return up to `most` of `names` as words, for a sentence.

    >>> few(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    return shown(map(repr, names), most, nothing="none")


def _keep(found: Predictions, column: str, value: str) -> Predictions:
    """Keep the rows of `found` that have `value` in `column`."""
    rows = [row for row in found.rows if label(row.get(column)) == value]
    if not rows:
        seen = sorted({label(row[column]) for row in found.rows if column in row})
        held = f"column {column!r} holds {few(seen)}" if seen else f"the columns are {few(found.columns)}"
        raise ValueError(f"{found.path}: no row has {column}={value}; {held}.")
    return replace(found, rows=rows)


def _named(row: Row) -> Row:
    """Return `row` with its id as text, so that 7, 7.0 and "7" join."""
    key = row.get("id")
    if key is None:
        return row
    return {**row, "id": str(int(key)) if isinstance(key, float) and key.is_integer() else str(key)}


def _read(path: Path) -> Predictions:
    """Read a file; its content tells which harness wrote it."""
    suffix = path.suffix.lower()
    whole = tables.document(path) if suffix == ".json" else None
    log = inspect_logs.read_eval(path) if suffix == ".eval" else inspect_logs.log_of(whole)
    if log is not None:
        rows, metrics = inspect_logs.rows_of(path, log)
        spec = log.spec
        return Predictions(
            path, rows, spec.get("model"), spec.get("task"), metrics, inspect_logs.track_of(spec), epochs=True
        )
    if isinstance(whole, dict):
        raise ValueError(f"{path}: holds neither a list of objects nor a log of inspect; give one of them.")  # noqa: TRY004 - the file is wrong
    rows = tables.read(path) if whole is None else tables.objects(whole, path)
    if tables.format_of(path) == "json" and lm_eval_logs.is_samples(rows):
        rows, metrics = lm_eval_logs.rows_of(path, rows)
        return Predictions(path, rows, lm_eval_logs.model_of(path), lm_eval_logs.task_of(path), metrics)
    return Predictions(path, rows, classes=tables.class_names(path))
