"""Files of predictions: rows of an earlier run are read anew, and a file is written once all of its rows are there.

>>> import tempfile
>>> folder = Path(tempfile.mkdtemp())
>>> write([(folder / "clean.jsonl", [{"id": "a", "answer": "Yes.", "prediction": "yes"}])])
>>> earlier(folder / "clean.jsonl", lambda row: {**row, "prediction": row["answer"]})["a"]["prediction"]
'Yes.'
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from lapsus.kernel.atomic import staged_file

Row = dict[str, Any]


def earlier(path: Path, again: Callable[[Row], Row | None]) -> dict[str, Row]:
    """Return what an earlier run has left at `path`, by id.

    Args:
        path: The file; it need not exist.
        again: Says what a row is now; None where it is of no use.
    """
    found: dict[str, Row] = {}
    for line in path.read_bytes().splitlines(keepends=True) if path.exists() else ():
        row = _row(line)
        now = None if row is None or row["id"] in found else again(row)
        if now is not None:
            found[now["id"]] = now
    return found


def write(files: Iterable[tuple[Path, Iterable[Row]]]) -> None:
    """Write files of rows; each is moved to its place when all of them are whole."""
    with ExitStack() as staged:
        for path, rows in files:
            file = staged.enter_context(staged_file(path))
            file.writelines(map(_line, rows))


def _line(row: Row) -> bytes:
    return json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def _row(line: bytes) -> Row | None:
    """Return a whole row; a line that a crash cut short is none."""
    if not line.endswith(b"\n"):
        return None
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and "id" in row else None
