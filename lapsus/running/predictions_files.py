"""Files of predictions that grow as answers come, and that a stopped run goes on with.

>>> import tempfile
>>> folder = Path(tempfile.mkdtemp())
>>> with PredictionsFile(folder / "clean.jsonl", lambda row: row) as file:
...     file.append([{"id": "a", "answer": "Yes.", "prediction": "yes"}])
>>> PredictionsFile(folder / "clean.jsonl", lambda row: {**row, "prediction": row["answer"]}).kept["a"]["prediction"]
'Yes.'
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from lapsus.kernel.atomic import staged_file

Row = dict[str, Any]


class PredictionsFile:
    """One track's predictions. `again` says what a row of an earlier run is now; None where it is of no use."""

    def __init__(self, path: Path, again: Callable[[Row], Row | None]) -> None:
        """Read what an earlier run has left at `path`."""
        self.path = path
        self.kept: dict[str, Row] = {}
        clean = True
        for line in path.read_bytes().splitlines(keepends=True) if path.exists() else ():
            row = _row(line)
            now = None if row is None or row["id"] in self.kept else again(row)
            if now is not None:
                self.kept[now["id"]] = now
            clean = clean and now is not None and _line(now) == line
        self._clean = clean
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        """Open the file; what is not kept goes, and what is read in another way is written so."""
        if not self._clean:
            with staged_file(self.path) as file:
                file.writelines(_line(row) for row in self.kept.values())
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("ab")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def append(self, rows: Sequence[Row]) -> None:
        """Write rows; they are there after the process was killed (a power cut may lose the last)."""
        if self._file is None:
            raise ValueError(f"{self.path} is not open; use it in a with statement")
        self._file.write(b"".join(map(_line, rows)))
        self._file.flush()


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
