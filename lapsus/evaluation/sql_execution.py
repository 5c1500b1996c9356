"""SQL of a model, run on a database: read-only, in a process of its own, with limits of time, memory and rows.

The process compares one pair of queries after another, and is started again once it was ended. It runs this file as a
script, which therefore imports the standard library alone. A request and its replies are lines of JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock, Timer
from time import monotonic, process_time
from typing import IO, TYPE_CHECKING, Any, cast

try:
    import resource
except ImportError:  # Windows has no limits of this kind; those of SQLite and of `_fetch_rows` are left
    resource = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = 5  # a query that takes longer has no result
GRACE = 1  # seconds until the process is ended: a single step of SQLite cannot be interrupted
START_SECONDS = 60  # a busy machine may need some
MEMORY = 512 << 20  # bytes of the process
MAX_RESULT = MEMORY // 4  # bytes of the rows of a query
MAX_ROWS = 1_000_000  # of a right answer; another answer may return as many rows as the right one
MAX_VALUE = 50_000_000  # bytes of a text or blob
STEPS = 10_000  # of SQLite's machine between two looks at the clock
READ_ACTIONS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
LIMIT_ERRORS: dict[int | None, str] = {
    sqlite3.SQLITE_INTERRUPT: f"takes more than {SECONDS} seconds",
    sqlite3.SQLITE_TOOBIG: f"makes a value of more than {MAX_VALUE:,} bytes",
    sqlite3.SQLITE_NOMEM: "takes too much memory",
}


@dataclass(frozen=True, slots=True)
class ExecutionResult:
    """Whether a query returns the rows of the right answer; `error` names the limit that it exceeds, if it does."""

    match: bool
    error: str | None = None


def find_database(folder: Path, name: str) -> Path:
    """Return the file NAME/NAME.sqlite of a folder, which is inside it also where there are links.

    >>> find_database(Path("databases"), "../secret")
    Traceback (most recent call last):
    ValueError: the row's db_id '../secret' is no name of a database; mend the data
    """
    if name in {"", ".", ".."} or not {*name}.isdisjoint("/\\:\0"):
        raise ValueError(f"the row's db_id {name!r} is no name of a database; mend the data")
    path = folder / name / f"{name}.sqlite"
    if not path.is_file():
        raise FileNotFoundError(f"there is no database {path}; --sql-databases is the folder with NAME/NAME.sqlite")
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"the database {path} is a link out of {folder}; put the file itself there")
    return path


def execute_queries(query: str, gold: str, database: Path | str) -> ExecutionResult:
    """Compare the rows that two queries return from an SQLite file; in order, where the right one orders them.

    A query that fails, or does more than read, is wrong. Raise where the right answer does.
    """
    return _open_worker(os.getpid()).compare(query, gold, Path(database))


@cache
def _open_worker(pid: int) -> _Worker:  # noqa: ARG001 - a process that is forked needs another one
    return _Worker()


class _Worker:
    """The process that runs queries: started when it is needed, ended when a query exceeds a limit."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def compare(self, query: str, gold: str, database: Path) -> ExecutionResult:
        request = {"uri": f"{database.absolute().as_uri()}?mode=ro", "query": query, "gold": gold}
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._end()
                self._process = _start_process()
            is_done = False
            try:
                _send(self._process, request)
                error = _receive(self._process, SECONDS + GRACE)["error"]
                if error is not None:
                    where = f"{gold[:200]!r} fails on {database} ({error})"
                    raise ValueError(
                        f"the right answer {where}; give the database that it was written for, or leave the row out"
                    )
                result = ExecutionResult(**_receive(self._process, SECONDS + GRACE))
                is_done = result.error is None
            finally:  # also at Ctrl-C, so that no reply is taken for that to another request
                if not is_done:
                    self._end()
        return result

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _start_process() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-I", "-S", __file__]
    process = subprocess.Popen(  # noqa: S603 - this file
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    error = _receive(process, START_SECONDS)["error"]
    if error is not None:
        process.kill()
        process.communicate()
        raise OSError(f"the program that runs SQL {error}; try it by hand: {' '.join(command)}")
    return process


def _send(process: subprocess.Popen[bytes], request: dict[str, str]) -> None:
    stdin = cast("IO[bytes]", process.stdin)
    stdin.write(json.dumps(request).encode() + b"\n")
    stdin.flush()


def _receive(process: subprocess.Popen[bytes], seconds: float) -> dict[str, Any]:
    """Return the next reply; an error in its place where the process ends, or is ended after some seconds."""
    timer = Timer(seconds, process.kill)
    began = monotonic()
    timer.start()
    try:
        line = cast("IO[bytes]", process.stdout).readline()
    finally:
        timer.cancel()
        timer.join()
    if line.endswith(b"\n"):
        reply: dict[str, Any] = json.loads(line)
        return reply
    if monotonic() - began >= seconds:
        return {"match": False, "error": f"takes more than {min(seconds, SECONDS)} seconds"}
    return {"match": False, "error": f"ends its process with status {process.wait()}"}


def _serve() -> None:
    """Answer requests until there are no more: what the process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the other one decides
    if resource is not None:
        for limit, value in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CORE, 0)):
            with suppress(ValueError, OSError):  # a lower limit is there already, or the system has none
                resource.setrlimit(limit, (value, value))
    _write({"error": None})
    for line in sys.stdin.buffer:
        if resource is not None:  # in case that the other process is gone
            seconds = int(process_time()) + 2 * (SECONDS + GRACE) + 1
            with suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        for reply in _compare(**json.loads(line)):
            _write(reply)


def _write(reply: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(reply).encode() + b"\n")
    sys.stdout.buffer.flush()


def _compare(uri: str, query: str, gold: str) -> Iterator[dict[str, Any]]:
    """Yield why the right answer fails, if it does; then how the query compares to it."""
    try:
        connection = _connect(uri)
    except sqlite3.Error as error:
        yield {"error": _describe(error)}
        return
    with closing(connection):
        try:
            gold_rows = _fetch_rows(connection, gold, MAX_ROWS)
        except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError) as error:
            yield {"error": _describe(error)}
            return
        if len(gold_rows) > MAX_ROWS:
            yield {"error": f"returns more than {MAX_ROWS:,} rows"}
            return
        yield {"error": None}
        try:
            rows = _fetch_rows(connection, query, len(gold_rows))
            match = rows == gold_rows if "order by" in gold.lower() else Counter(rows) == Counter(gold_rows)
            yield {"match": match, "error": None}
        except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError) as error:
            is_limit = isinstance(error, MemoryError) or getattr(error, "sqlite_errorcode", None) in LIMIT_ERRORS
            yield {"match": False, "error": _describe(error) if is_limit else None}


def _connect(uri: str) -> sqlite3.Connection:
    """Open a database for reading alone: `mode=ro` by itself would allow to attach another, or to write a copy."""
    connection = sqlite3.connect(uri, uri=True)
    connection.text_factory = lambda raw: raw.decode(errors="replace")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute(f"PRAGMA hard_heap_limit = {MAX_RESULT}")
    connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in READ_ACTIONS else sqlite3.SQLITE_DENY)
    return connection


def _fetch_rows(connection: sqlite3.Connection, query: str, limit: int) -> list[Any]:
    """Return the rows of a query, and where there are more than the limit, one more."""
    deadline = monotonic() + SECONDS
    connection.set_progress_handler(lambda: int(monotonic() > deadline), STEPS)
    rows: list[Any] = []
    size = 0
    with closing(connection.execute(query)) as cursor:
        for row in cursor:
            rows.append(row)
            size += sum(map(sys.getsizeof, row))
            if size > MAX_RESULT:
                raise MemoryError
            if len(rows) > limit:
                break
    return rows


def _describe(error: BaseException) -> str:
    code = sqlite3.SQLITE_NOMEM if isinstance(error, MemoryError) else getattr(error, "sqlite_errorcode", None)
    return LIMIT_ERRORS.get(code) or " ".join(str(error)[:200].split())


if __name__ == "__main__":
    _serve()
