"""The cache of responses: one SQLite file, by request key.

>>> key = make_request_key("python:mymodel:answer at 1", "readin-afqmc 1", {"sentence1": "a", "sentence2": "b"})
>>> with ResponseCache(None) as cache:
...     cache.put(key, Response("different"))
...     cache.get(key)
Response(value='different', logprobs=None, error=None)
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from lapsus.core.types import Response

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType


def make_request_key(model: str, task: str, prompt: Any) -> str:
    """Return the key of a response: a hash of the identities of model and task, and the prompt."""
    payload = json.dumps([model, task, prompt], ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.sha256(payload.encode("utf-8", "surrogatepass")).hexdigest()[:32]


WAIT = 60.0  # seconds for another run that writes to the same file
LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_RECOVERY, sqlite3.SQLITE_BUSY_SNAPSHOT, sqlite3.SQLITE_LOCKED}


def _open_database(path: Path | str) -> sqlite3.Connection:
    """Open a cache, after the runs that create it: SQLite itself does not wait for all of its locks."""
    deadline = time.monotonic() + WAIT
    while True:
        try:
            return _connect(path)
        except sqlite3.Error as error:
            if error.sqlite_errorcode not in LOCKED:
                hint = "delete it, or name" if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB else "name"
                raise ValueError(f"{path} is no cache of responses ({error}); {hint} another with --cache") from error
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"another run has locked {path} for {WAIT:g} s; wait for its end, or name another with --cache"
                ) from error
        time.sleep(0.01 + os.getpid() % 7 / 200)  # runs that began together try again at different times


def _connect(path: Path | str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=WAIT, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")  # safe from kill -9; a power cut may lose the last
        connection.execute("CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL)")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


class ResponseCache:
    """Responses by key, in one SQLite file; a response that was put survives a killed process."""

    def __init__(self, path: Path | None) -> None:
        """Open the file at `path`; None keeps the responses in memory."""
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._connection = _open_database(":memory:" if path is None else path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and self._path is not None:
            self._remove_if_empty(self._path)
        self._connection.close()

    def _remove_if_empty(self, path: Path) -> None:
        """Delete the file where it holds no response and no other run has it open."""
        with suppress(sqlite3.Error, OSError):  # it is locked
            if self._connection.execute("SELECT 1 FROM answers LIMIT 1").fetchone() is None:
                self._connection.execute("PRAGMA busy_timeout=0")
                self._connection.execute("PRAGMA journal_mode=DELETE")  # which only the last one that has it open may
                path.unlink()

    def get(self, key: str) -> Response | None:
        """Return the response of a request key; None where there is none."""
        row = self._connection.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        stored = json.loads(row[0])
        return Response(stored["raw"], stored["scores"], stored["problem"])

    def put(self, key: str, response: Response) -> None:
        """Store a response."""
        text = json.dumps(
            {"raw": response.value, "scores": response.logprobs, "problem": response.error}, ensure_ascii=False
        )
        stored = text.encode("utf-8", "backslashreplace").decode()  # JSON's own spelling of half a character
        try:
            self._connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, stored))
        except sqlite3.OperationalError as error:  # such as a full disk
            raise OSError(f"{self._path} takes no further response ({error}); make room on its disk") from error
