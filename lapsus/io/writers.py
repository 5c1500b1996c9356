"""Prediction files: those of an earlier run are read, and new ones are moved to their place when they are complete.

>>> import tempfile
>>> folder = Path(tempfile.mkdtemp())
>>> write_prediction_files([(folder / "clean.jsonl", [{"id": "a", "response": "Yes.", "prediction": "yes"}])])
>>> read_previous(folder / "clean.jsonl", lambda row: {**row, "prediction": row["response"]})["a"]["prediction"]
'Yes.'
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from lapsus.core.files import stage_file

Row = dict[str, Any]


def read_previous(path: Path, reuse: Callable[[Row], Row | None]) -> dict[str, Row]:
    """Return the rows that an earlier run has left at `path`, each as `reuse` returns it, by id.

    Args:
        path: The file; it need not exist.
        reuse: Returns what a row is now; None for a row that is of no use.
    """
    rows: dict[str, Row] = {}
    for line in path.read_bytes().splitlines(keepends=True) if path.exists() else ():
        row = _decode_row(line)
        updated = None if row is None or str(row["id"]) in rows else reuse(row)
        if updated is not None:
            rows[str(updated["id"])] = updated
    return rows


def write_prediction_files(files: Iterable[tuple[Path, Iterable[Mapping[str, Any]]]]) -> None:
    """Write files of rows; each is moved to its place when all of them are complete."""
    with ExitStack() as stack:
        for path, rows in files:
            file = stack.enter_context(stage_file(path))
            file.writelines(map(_encode_row, rows))


def _encode_row(row: Mapping[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def _decode_row(line: bytes) -> Row | None:
    """Return a whole row; a line that a crash cut short is none."""
    if not line.endswith(b"\n"):
        return None
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and "id" in row else None
