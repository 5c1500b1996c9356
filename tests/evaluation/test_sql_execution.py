"""Queries run on a database: what they return is compared, and whatever they try, the database and the run are safe."""

# ruff: noqa: S608 - queries are what is tested

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from lapsus.evaluation import sql_execution
from lapsus.evaluation.answer_types import SqlAnswer
from lapsus.evaluation.sql import match_results
from lapsus.evaluation.sql_execution import ExecutionResult, execute_queries, find_database

GOLD = "SELECT name FROM singer"
COUNT = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"


def make_database(path, script="INSERT INTO singer VALUES ('a', 3), ('b', 2), ('b', 2)"):
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"CREATE TABLE singer (name, age); {script}; PRAGMA user_version = 7;")
    return path


@pytest.fixture
def database(tmp_path):
    return make_database(tmp_path / "databases" / "d" / "d.sqlite")


@pytest.fixture
def worker():
    return sql_execution._open_worker(os.getpid())


@pytest.mark.parametrize(
    ("query", "gold", "match"),
    [
        ("SELECT age, name FROM singer WHERE age < 3", "SELECT age, name FROM singer WHERE name = 'b'", True),
        ("SELECT name FROM singer ORDER BY name DESC", GOLD, True),
        ("SELECT name FROM singer ORDER BY name DESC", "SELECT name FROM singer ORDER BY name", False),
        ("SELECT DISTINCT name FROM singer", GOLD, False),
        (GOLD, "SELECT DISTINCT name FROM singer", False),
        ("SELECT name FROM singer UNION ALL SELECT 'a'", GOLD, False),
        ("SELECT 'a' UNION ALL SELECT 'a' UNION ALL SELECT 'b'", GOLD, False),
        ("SELECT name FROM singer WHERE age > 5", "SELECT name FROM singer WHERE age > 6", True),
        ("SELECT 2.0", "SELECT 2", True),
        ("SELECT '2'", "SELECT 2", False),
        ("SELECT NULL", "SELECT NULL", True),
        ("SELECT CAST(x'ff61' AS TEXT)", "SELECT CAST(x'fe61' AS TEXT)", True),
        ("SELECT nothing FROM singer", GOLD, False),
        ("SELECT '\ud800' FROM singer", GOLD, False),
        ("SELECT '\0'", GOLD, False),
        ("SELECT 1; SELECT 2", "SELECT 1", False),
        ("DROP TABLE singer", GOLD, False),
    ],
)
def test_results(database, query, gold, match):
    assert execute_queries(query, gold, database) == ExecutionResult(match)
    assert match_results(query, gold, database) is match


@pytest.mark.parametrize(
    "query",
    [
        "WITH x AS (SELECT 1) DELETE FROM singer",
        "WITH x AS (SELECT 'b', 2) INSERT INTO singer SELECT * FROM x",
        "UPDATE singer SET age = 1",
        "CREATE TEMP TABLE t (a)",
        "ATTACH 'file:new.sqlite?mode=rwc' AS v",
        "ATTACH 'new.sqlite' AS v",
        "VACUUM INTO 'new.sqlite'",
        "PRAGMA user_version",
        "SELECT user_version FROM pragma_user_version",
        "SELECT file FROM pragma_database_list",
        "SELECT load_extension('x')",
        "BEGIN",
        "ANALYZE",
    ],
)
def test_a_query_does_nothing_but_read(database, query, monkeypatch):
    monkeypatch.chdir(database.parent)
    before = database.read_bytes()
    assert execute_queries(query, GOLD, database) == ExecutionResult(False)
    with pytest.raises(ValueError, match=r"the right answer .* fails on .* \("):
        execute_queries(GOLD, query, database)
    assert database.read_bytes() == before
    assert [path.name for path in database.parent.iterdir()] == ["d.sqlite"]
    assert not (Path.cwd() / "new.sqlite").exists()


@pytest.mark.parametrize(
    ("query", "error"),
    [
        (f"{COUNT} SELECT count(*) FROM c", "takes more than 1 seconds"),
        (f"{COUNT} SELECT zeroblob(900000000) FROM c", "makes a value of more than 50,000,000 bytes"),
        ("SELECT printf('%.*c', 999999999, 'x')", None),
        (f"{COUNT} SELECT group_concat(hex(zeroblob(1000000))) FROM c", None),
        ("SELECT " + ", ".join(["randomblob(50000000)"] * 4), "takes too much memory"),
        (f"{COUNT} SELECT json_group_array(x) FROM c ORDER BY 1", None),
    ],
)
def test_a_query_beyond_a_limit_is_wrong_and_says_why(database, query, error, monkeypatch):
    ended = sql_execution._Worker()
    monkeypatch.setattr(sql_execution, "SECONDS", 1)
    monkeypatch.setattr(sql_execution, "_start_process", start_with_second)
    began = time.monotonic()
    result = ended.compare(query, GOLD, database)
    assert time.monotonic() - began < 20
    assert not result.match and result.error
    assert error is None or result.error == error
    assert ended._process is None, "the memory that it took is given back"
    assert ended.compare(GOLD, GOLD, database) == ExecutionResult(True)
    ended._end()


def start_with_second():
    """Start a process whose queries may take one second."""
    code = Path(sql_execution.__file__).read_text(encoding="utf-8").replace("SECONDS = 5 ", "SECONDS = 1 ")
    process = subprocess.Popen([sys.executable, "-I", "-S", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert sql_execution._receive(process, 60) == {"error": None}
    return process


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the system does not tell a process's peak of memory"
)
def test_the_memory_of_a_process_is_bounded(database):
    code = Path(sql_execution.__file__).read_text(encoding="utf-8")
    code = (
        code.replace("hard_heap_limit = {MAX_RESULT}", "hard_heap_limit = 0")
        .replace("MAX_RESULT:", "1e99:")
        .replace("MAX_VALUE)", "10**9)")
    )
    # VmHWM begins anew with the program; the peak that `resource` gives is at least the one of the parent
    peak = "_serve(); print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    program = code.replace("    _serve()\n", f"    {peak}\n")
    assert program != code
    request = sql_execution.json.dumps(
        {
            "uri": f"{database.as_uri()}?mode=ro",
            "query": f"{COUNT} SELECT zeroblob(99000000) FROM c",
            "gold": f"{COUNT} SELECT x FROM c LIMIT 99",
        }
    )
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        check=False,
        input=f"{request}\n",
        capture_output=True,
        text=True,
        timeout=60,
    )
    *replies, kilobytes = ran.stdout.splitlines()
    assert "takes too much memory" in replies[-1]
    assert 100_000 < int(kilobytes) < sql_execution.MEMORY // 1024 + 50_000


def test_a_right_answer_beyond_a_limit_is_named(database, monkeypatch):
    monkeypatch.setattr(sql_execution, "_start_process", start_with_second)
    with pytest.raises(
        ValueError,
        match=r"the right answer 'WITH RECURSIVE.*fails on .*d.sqlite \(takes more than 1 seconds\); give the database",
    ):
        sql_execution._Worker().compare(GOLD, f"{COUNT} SELECT count(*) FROM c", database)
    with pytest.raises(ValueError, match=r"\(no such table: other\)"):
        execute_queries(GOLD, "SELECT name FROM other", database)
    with pytest.raises(ValueError, match="unable to open database file"):
        execute_queries(GOLD, GOLD, database.with_name("none.sqlite"))


def test_a_step_that_cannot_be_interrupted_ends_the_process(database, monkeypatch):
    worker = sql_execution._Worker()
    worker.compare(GOLD, GOLD, database)
    process = worker._process
    monkeypatch.setattr(sql_execution, "SECONDS", 0.1)
    monkeypatch.setattr(sql_execution, "GRACE", 0.1)
    result = worker.compare(f"{COUNT} SELECT count(*) FROM c", GOLD, database)
    assert result == ExecutionResult(False, "takes more than 0.1 seconds")
    assert process.poll() is not None
    monkeypatch.undo()
    assert worker.compare(GOLD, GOLD, database) == ExecutionResult(True)
    worker._end()


def test_a_process_that_dies_is_started_again(database, worker):
    assert execute_queries(GOLD, GOLD, database).match
    worker._process.kill()
    worker._process.wait()
    assert execute_queries(GOLD, GOLD, database).match


def test_an_interrupted_comparison_leaves_no_reply_behind(database, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    assert execute_queries(GOLD, GOLD, database).match
    with monkeypatch.context() as patch:
        patch.setattr(sql_execution, "_receive", interrupt)
        with pytest.raises(KeyboardInterrupt):
            execute_queries(GOLD, GOLD, database)
    assert not execute_queries("SELECT 1", GOLD, database).match


def test_threads_share_the_process(database):
    results = {}

    def compare(number):
        query = f"SELECT {number % 2}"
        results[number] = [execute_queries(query, "SELECT 1", database).match for _ in range(20)]

    threads = [threading.Thread(target=compare, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: [number % 2 == 1] * 20 for number in range(6)}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_has_a_process_of_its_own(database):
    assert execute_queries(GOLD, GOLD, database).match
    child = os.fork()
    if child == 0:
        os._exit(0 if not execute_queries("SELECT 1", GOLD, database).match else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert execute_queries(GOLD, GOLD, database).match


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")
def test_no_process_is_left_when_python_ends(database):
    code = (
        "import os, signal, sys\nfrom lapsus.evaluation import sql_execution as s\n"
        f"s.execute_queries('SELECT 1', 'SELECT 1', {str(database)!r})\n"
        "print(s._open_worker(os.getpid())._process.pid, flush=True)\nos.kill(os.getpid(), signal.SIGKILL)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    process, end = Path("/proc") / ran.stdout.strip(), time.monotonic() + 10
    assert ran.stdout.strip()
    while process.exists() and " Z " not in (process / "stat").read_text() and time.monotonic() < end:
        time.sleep(0.05)
    assert not process.exists() or " Z " in (process / "stat").read_text()


def test_a_database_is_inside_its_folder(tmp_path):
    folder = tmp_path / "databases"
    outside = make_database(tmp_path / "outside" / "outside.sqlite")
    inside = make_database(folder / "a b" / "a b.sqlite")
    assert find_database(folder, "a b") == inside
    for name in ("", ".", "..", "../outside", str(outside.with_suffix("")), "a b/../a b", "a\\b", "C:x", "a\0b"):
        with pytest.raises(ValueError, match="is no name of a database"):
            find_database(folder, name)
    with pytest.raises(FileNotFoundError, match="--sql-databases is the folder"):
        find_database(folder, "none")
    (folder / "outside").symlink_to(outside.parent)
    with pytest.raises(ValueError, match="is a link out of"):
        find_database(folder, "outside")
    (tmp_path / "link").symlink_to(folder)
    assert execute_queries(GOLD, GOLD, find_database(tmp_path / "link", "a b")).match


@pytest.mark.parametrize("name", ["a b", "a#b", "a?mode=rwc", "a%41", "a&b=c", "字"])
def test_the_name_of_a_file_is_no_uri(tmp_path, name):
    make_database(tmp_path / name / f"{name}.sqlite")
    assert execute_queries(GOLD, GOLD, find_database(tmp_path, name)).match
    assert len(list(tmp_path.rglob("*"))) == 2


def test_a_written_query_is_read_and_judged(database):
    row = {"query": "SELECT name FROM singer WHERE age > 2", "db_id": "d"}
    answer = SqlAnswer(databases=database.parents[1])
    written = answer.parse("Here it is:\n```sql\nSELECT name\nFROM singer WHERE age > 2.5;\n```\nIt lists names.", row)
    score = answer.score(written, row)
    assert (score["score"], score["execution_match"]) == (1.0, 1.0) and "execution_error" not in score
    assert answer.score("SELECT age FROM singer", row)["execution_match"] == 0.0
    assert answer.score(None, row)["execution_match"] == 0.0
    score = answer.score(f"{COUNT} SELECT zeroblob(900000000) FROM c", row)
    assert (score["execution_match"], score["execution_error"][:13]) == (0.0, "makes a value")


def test_a_row_does_not_choose_a_database(database):
    row = {"query": GOLD, "db_id": "d", "database": str(database)}
    assert "execution_match" not in SqlAnswer().score(GOLD, row)
    assert "execution_match" not in SqlAnswer().score(None, row)
    other = make_database(database.parents[2] / "other" / "d" / "d.sqlite", "SELECT 1")
    assert SqlAnswer(databases=other.parents[1]).score("SELECT 'x' WHERE 0", row)["execution_match"] == 1.0, (
        "its table is empty"
    )
