"""Files of predictions that grow as answers come, and that a stopped run goes on with.

>>> import tempfile
>>> folder = Path(tempfile.mkdtemp())
>>> with PredictionsFile(folder / "clean.jsonl", {"a": {"id": "a", "asked": "k1"}}) as file:
...     file.append([{"id": "a", "asked": "k1", "prediction": "yes"}])
>>> PredictionsFile(folder / "clean.jsonl", {"a": {"id": "a", "asked": "k1"}}).kept["a"]["prediction"]
'yes'
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from lapsus.kernel.atomic import staged_file

Row = dict[str, Any]


class PredictionsFile:
    """One track's predictions. `wanted` says of every example what its row must hold to be kept from an earlier run.

    `reread` is what a kept row is now: the same answer may mean something else to a later version.
    """

    def __init__(
        self, path: Path, wanted: Mapping[str, Mapping[str, Any]], reread: Callable[[Row], Row] = lambda row: row
    ) -> None:
        """Read what an earlier run has left at `path`: whole rows about the same question and right answer."""
        self.path = path
        self.kept: dict[str, Row] = {}
        clean = True
        for line in path.read_bytes().splitlines(keepends=True) if path.exists() else ():
            row = _row(line)
            same = row is not None and all(
                row.get(k) == v for k, v in wanted.get(str(row.get("id")), {"id": None}).items()
            )
            if row is not None and same and row["id"] not in self.kept:
                self.kept[row["id"]] = reread(row)
                clean &= _line(self.kept[row["id"]]) == line
            else:
                clean = False
        self._clean = clean
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        """Open the file; what is not kept goes."""
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
        """Write rows; they are on disk when this returns."""
        if self._file is None:
            raise ValueError(f"{self.path} is not open; use it in a with statement")
        self._file.write(b"".join(map(_line, rows)))
        self._file.flush()
        os.fsync(self._file.fileno())


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
