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
from contextlib import closing, contextmanager, suppress
from socket import gethostname
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from lapsus.core.types import Response

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path
    from types import TracebackType


def make_request_key(model: str, task: str, prompt: Any, repeat: int = 1) -> str:
    """Return the key of a response: a hash of the identities of model and task, the prompt, and which answer it is."""
    parts = [model, task, prompt, *([] if repeat == 1 else [repeat])]
    payload = json.dumps(parts, ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.sha256(payload.encode("utf-8", "surrogatepass")).hexdigest()[:32]


DETAILS = ("finish_reason", "reasoning", "request_changes")  # of a response, stored where there are any
WAIT = 60.0  # seconds for another run that writes to the same file
LEASE = 10.0  # seconds after which a request of a run that is no longer alive may be sent by another
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
        connection.execute("CREATE TABLE IF NOT EXISTS leases (key TEXT PRIMARY KEY, run TEXT, expires REAL)")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _is_dead(run: str) -> bool:
    """Return whether a run was a process of this machine that has ended; where that is not known, it is alive."""
    host, process, _ = run.split(" ")
    if host != gethostname() or os.name == "nt":  # where signal 0 is none
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


class ResponseCache:
    """Responses by key, in one SQLite file; a response that was put survives a killed process."""

    def __init__(self, path: Path | None) -> None:
        """Open the file at `path`; None keeps the responses in memory."""
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._connection = _open_database(":memory:" if path is None else path)
        self._run = f"{gethostname()} {os.getpid()} {uuid4().hex}"
        self._closed = Event()
        self._renewal: Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed.set()
        if self._renewal is not None:
            self._renewal.join()
        with suppress(sqlite3.Error):
            self.release()
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
        details = {name: stored[name] for name in DETAILS if name in stored}
        details |= {name: tuple(value) for name, value in details.items() if isinstance(value, list)}
        return Response(stored["raw"], stored["scores"], stored["problem"], **details)

    def put(self, key: str, response: Response) -> None:
        """Store a response."""
        details = {name: value for name in DETAILS if (value := getattr(response, name))}
        text = json.dumps(
            {"raw": response.value, "scores": response.logprobs, "problem": response.error, **details},
            ensure_ascii=False,
        )
        stored = text.encode("utf-8", "backslashreplace").decode()  # JSON's own spelling of half a character
        with self._explain_errors():
            self._connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, stored))

    def lease(self, keys: Collection[str]) -> None:
        """Reserve requests for this run; wait while another run that is alive has one of them.

        A run waits only while it holds none, so that no two wait for each other.
        """
        if self._path is None or not keys:
            return
        while not self._try_lease(keys):
            time.sleep(0.05)
        if self._renewal is None:
            self._renewal = Thread(target=self._renew, args=(self._path,), daemon=True)
            self._renewal.start()

    def release(self) -> None:
        """Give back all requests that are reserved."""
        self._connection.execute("DELETE FROM leases WHERE run = ?", (self._run,))

    def _try_lease(self, keys: Collection[str]) -> bool:
        with self._explain_errors(), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("DELETE FROM leases WHERE expires < ?", (time.time(),))
            for (run,) in self._connection.execute("SELECT DISTINCT run FROM leases").fetchall():
                if _is_dead(run):
                    self._connection.execute("DELETE FROM leases WHERE run = ?", (run,))
            if any(self._connection.execute("SELECT 1 FROM leases WHERE key = ?", (key,)).fetchone() for key in keys):
                return False
            expires = time.time() + LEASE
            rows = ((key, self._run, expires) for key in keys)
            self._connection.executemany("INSERT INTO leases VALUES (?, ?, ?)", rows)
        return True

    def _renew(self, path: Path) -> None:
        """Keep what is reserved until the cache is closed."""
        with suppress(sqlite3.Error), closing(_connect(path)) as connection:
            while not self._closed.wait(LEASE / 5):
                connection.execute("UPDATE leases SET expires = ? WHERE run = ?", (time.time() + LEASE, self._run))

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:  # such as a full disk
            raise OSError(f"{self._path} takes no further response ({error}); make room on its disk") from error
