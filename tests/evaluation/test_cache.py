"""Two runs on one cache: each request is sent by one of them, and by the other where that one dies."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from socket import gethostname

import pytest

from lapsus.core.types import Response
from lapsus.evaluation import cache as cache_module
from lapsus.evaluation.cache import ResponseCache
from lapsus.evaluation.models.function import FunctionModel
from lapsus.evaluation.runner import Evaluation
from lapsus.evaluation.tasks import make_task
from lapsus.evaluation.tracks import TrackSet

TASK = make_task(["text"], "label", name="mine")
ROWS = [{"id": str(i), "text": f"row {i}", "label": "yes"} for i in range(200)]


@pytest.mark.parametrize("offset", [0, 37])
def test_runs_at_once_send_each_request_once(tmp_path, offset):
    sent, lock = [], threading.Lock()

    def slow(rows):
        with lock:
            sent.extend(row["text"] for row in rows)
        time.sleep(0.02)
        return ["yes"] * len(rows)

    def execute(name, rows):
        model = FunctionModel(slow, "m", "1", batch_size=16)
        data = TrackSet.from_rows("mine", TASK, rows)
        return Evaluation(data, model, tmp_path / name, tmp_path / "answers.sqlite").execute()

    rows = [ROWS, ROWS[offset:] + ROWS[:offset]]
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(execute, ("one", "two"), rows)
    assert sorted(sent) == sorted(row["text"] for row in ROWS)
    assert first.requested + second.requested == 200
    assert all(len(outcome.tracks[0].rows) == 200 for outcome in (first, second))


def test_what_a_dead_run_reserved_is_free_after_the_lease(tmp_path):
    path = tmp_path / "answers.sqlite"
    with ResponseCache(path) as alive, closing(sqlite3.connect(path, isolation_level=None)) as dead:
        dead.execute("INSERT INTO leases VALUES ('a', 'another-machine 1 x', ?)", (time.time() + 0.3,))
        start = time.monotonic()
        alive.lease(["b"])
        assert time.monotonic() - start < 0.2, "another key is free at once"
        alive.release()
        alive.lease(["a", "b"])
        assert time.monotonic() - start > 0.2
        alive.put("a", Response("yes"))
        alive.release()
        assert dead.execute("SELECT count(*) FROM leases").fetchone() == (0,)


def test_what_a_dead_process_of_this_machine_reserved_is_free_at_once(tmp_path):
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    path = tmp_path / "answers.sqlite"
    runs = {"dead": f"{gethostname()} {process.pid} x", "alive": f"{gethostname()} {os.getpid()} x"}
    with ResponseCache(path) as cache, closing(sqlite3.connect(path, isolation_level=None)) as other:
        rows = [(key, run, time.time() + 1000) for key, run in runs.items()]
        other.executemany("INSERT INTO leases VALUES (?, ?, ?)", rows)
        assert cache._try_lease(["dead"]) and not cache._try_lease(["alive"])


def test_a_lease_is_renewed_while_the_run_is_alive(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_module, "LEASE", 0.25)
    path = tmp_path / "answers.sqlite"
    with ResponseCache(path) as one, ResponseCache(path) as two:
        one.lease(["a"])
        time.sleep(0.6)
        assert not two._try_lease(["a"])
        one.release()
        assert two._try_lease(["a"])
    with ResponseCache(path) as three:
        assert three._try_lease(["a"]), "a run that has ended holds nothing"
