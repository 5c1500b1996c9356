"""Files of predictions: rows of an earlier run are read anew, and a file is written once all of its rows are there.

>>> import tempfile
>>> folder = Path(tempfile.mkdtemp())
>>> write_prediction_files([(folder / "clean.jsonl", [{"id": "a", "answer": "Yes.", "prediction": "yes"}])])
>>> read_previous(folder / "clean.jsonl", lambda row: {**row, "prediction": row["answer"]})["a"]["prediction"]
'Yes.'
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from lapsus.core.files import stage_file

Row = dict[str, Any]


def read_previous(path: Path, reuse: Callable[[Row], Row | None]) -> dict[str, Row]:
    """Return what an earlier run has left at `path`, by id.

    Args:
        path: The file; it need not exist.
        reuse: Says what a row is now; None where it is of no use.
    """
    rows: dict[str, Row] = {}
    for line in path.read_bytes().splitlines(keepends=True) if path.exists() else ():
        row = _decode_row(line)
        updated = None if row is None or row["id"] in rows else reuse(row)
        if updated is not None:
            rows[updated["id"]] = updated
    return rows


def write_prediction_files(files: Iterable[tuple[Path, Iterable[Row]]]) -> None:
    """Write files of rows; each is moved to its place when all of them are whole."""
    with ExitStack() as stack:
        for path, rows in files:
            file = stack.enter_context(stage_file(path))
            file.writelines(map(_encode_row, rows))


def _encode_row(row: Row) -> bytes:
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
