"""Fuzz targets: whatever files, replies and answers hold, each is read, or refused with a message of lapsus.

`FUZZ_EXAMPLES` is the number of inputs of each target: few here, many in the weekly run of .github/workflows/fuzz.yml.
What was found is in the tables `FOUND_…`.
"""

from __future__ import annotations

import io
import json
import os
import struct
import tempfile
import zipfile
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lapsus.collect.judgements import InvalidJudgementError, parse_judgement
from lapsus.core.edits import apply, parse_edits
from lapsus.evaluation.models.endpoint_client import Endpoint
from lapsus.evaluation.models.endpoint_transport import EndpointError, Reply
from lapsus.evaluation.parsing import find_json_object, find_number, find_sql, match_label, strip_reasoning
from lapsus.io.cells import escape_formula, restore_text
from lapsus.io.inspect_logs import read_eval
from lapsus.io.readers import read_rows
from lapsus.io.tables import read_table

pytestmark = pytest.mark.slow
FUZZ = settings(
    max_examples=int(os.environ.get("FUZZ_EXAMPLES", "150")),
    deadline=None,
    derandomize="FUZZ_EXAMPLES" not in os.environ,
    suppress_health_check=list(HealthCheck),
)
WORDS = {"yes": "y", "no": "n", "not entailed": "ne", "相同": "s"}
OWN_WORDS = ("object is not", "has no len", "unsupported operand", "unhashable", "index out of range", "codec can't")

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
NAMES = ["id", "prediction", "gold", "text", "clean_text", "edits", "score", "track", "\ufeffid", ""]
rows = st.lists(st.dictionaries(st.sampled_from(NAMES), values, max_size=6), max_size=5)
answers = st.text(alphabet='{}[]":,\\ \n`aeslctwihyno<>/0.-相同', max_size=300)


def catch_message(expected, call, *arguments) -> str | None:
    """Return the message of an error that is expected; None where there is none."""
    try:
        call(*arguments)
    except expected as error:
        return str(error)
    return None


def read_or_refuse(read, *arguments):
    """Call a reader; an error must be a ValueError or OSError in lapsus's words."""
    message = catch_message((ValueError, OSError), read, *arguments)
    assert message is None or (message and not any(words in message for words in OWN_WORDS)), message


def read_bytes(content: bytes, ending: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"p{ending}")
        path.write_bytes(content)
        for read in (read_rows, read_table):
            read_or_refuse(read, path)


def flip(content: bytes, places: list[tuple[int, int]]) -> bytes:
    changed = bytearray(content)
    for place, value in places:
        if changed:
            changed[place % len(changed)] = value
    return bytes(changed)


flips = st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), max_size=6)


@FUZZ
@given(answers)
def test_readers_of_answers(text):
    for read in (find_json_object, find_number, find_sql, strip_reasoning, lambda said: match_label(said, WORDS)):
        read(text)


@FUZZ
@given(rows, flips)
def test_files_of_rows(content, places):
    lines = "".join(json.dumps(row) + "\n" for row in content).encode()
    for ending, text in ((".jsonl", lines), (".json", json.dumps(content).encode()), (".csv", lines), (".tsv", lines)):
        read_bytes(flip(text, places), ending)


@FUZZ
@given(st.binary(max_size=200), st.sampled_from([".jsonl", ".json", ".csv", ".tsv", ".parquet", ".arrow"]))
def test_files_of_any_bytes(content, ending):
    read_bytes(content, ending)


def make_log(sample: object, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as log:
        log.writestr(
            "header.json", json.dumps({"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}})
        )
        log.writestr("samples/1_epoch_1.json", json.dumps(sample))
    return file.getvalue()


def read_log(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m.eval")
        path.write_bytes(content)
        read_or_refuse(read_rows, path)
        read_or_refuse(read_eval, path)


@FUZZ
@given(
    values, st.fixed_dictionaries({"id": values, "epoch": values, "target": values, "output": values, "scores": values})
)
def test_logs(anything, sample):
    for each in (anything, sample):
        read_log(make_log(each))


@FUZZ
@given(flips, st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2]), st.integers(0, 400))
def test_archives(places, method, cut):
    content = make_log({"id": 1, "epoch": 1, "target": "a", "output": {"completion": "b"}, "scores": {}}, method)
    read_log(flip(content, places))
    read_log(content[:-cut] if cut else content)


@FUZZ
@given(
    st.text(max_size=20),
    values | st.lists(st.tuples(st.integers(-3, 25), st.integers(-3, 25), st.text(max_size=3)), max_size=4),
)
def test_edits(text, edits):
    try:
        result = apply(text, parse_edits(edits))
    except (ValueError, TypeError, LookupError):
        return
    assert isinstance(result, str)


@FUZZ
@given(st.binary(max_size=300) | values.map(lambda value: json.dumps(value).encode()), st.integers(200, 599))
def test_replies(body, status):
    check_reply(body, status)


@FUZZ
@given(values, values, values, values)
def test_chat_completions(content, finish_reason, usage, refusal):
    choice = {"message": {"content": content, "refusal": refusal}, "finish_reason": finish_reason}
    check_reply(json.dumps({"choices": [choice], "usage": usage}).encode(), 200)


def check_reply(body: bytes, status: int) -> None:
    endpoint = Endpoint("http://localhost/v1", "m", retries=0)
    with patch.object(Endpoint, "_send", lambda *_: Reply(status, {}, body)):
        for ask in (endpoint.complete_uncached, endpoint.score_text):
            message = catch_message(EndpointError, ask, "x")
            assert message is None or (message and "\n" not in message)


@FUZZ
@given(values)
def test_judgements(row):
    whole = row if isinstance(row, dict) else {"item": row, "judge": row, "similarity": row, "grammatical": row}
    catch_message(InvalidJudgementError, parse_judgement, whole)


@FUZZ
@given(st.text(max_size=50))
def test_cells(text):
    assert restore_text(escape_formula(text)) == text


def with_version(content: bytes, version: int) -> bytes:
    """Return an archive whose entries state the version of zip that reads them."""
    changed = bytearray(content)
    for mark, offset in ((b"PK\1\2", 6), (b"PK\3\4", 4)):
        start = 0
        while (start := changed.find(mark, start)) >= 0:
            struct.pack_into("<H", changed, start + offset, version)
            start += 4
    return bytes(changed)


def encrypted(content: bytes) -> bytes:
    """Return an archive whose entries say that they are encrypted."""
    changed = bytearray(content)
    for mark, offset in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        start = 0
        while (start := changed.find(mark, start)) >= 0:
            changed[start + offset] |= 1
            start += 4
    return bytes(changed)


LOG = make_log({"id": 1, "epoch": 1, "target": "a", "output": {"completion": "b"}, "scores": {}})
FOUND_LOGS = {
    "a version of zip that is unknown": with_version(LOG, 99),
    "encrypted members": encrypted(LOG),
    "a sample that is a list": make_log([1]),
    "an output that is a number": make_log({"id": 1, "epoch": 1, "target": "a", "output": 1, "scores": {}}),
    "scores that are a list": make_log({"id": 1, "epoch": 1, "target": "a", "output": {}, "scores": [1]}),
}
FOUND_FILES = {
    "a cell that nests deep": (b"id,p\n1," + b"[" * 5000 + b"\n", ".csv"),
    "a line that nests deep": (b'{"id": "1", "p": ' + b"[" * 20_000 + b"\n", ".jsonl"),
    "half a character": (b'{"id": "\\ud83d"}\n', ".jsonl"),
    "a number without end": (b'{"id": ' + b"9" * 10_000 + b"}\n", ".jsonl"),
    "a file of nothing": (b"", ".parquet"),
    "a title in Latin-1": (b"id,p\xe9\n1,2\n", ".csv"),
    "a name in Latin-1": (b'{"id": "1", "\xe9": 1}\n', ".jsonl"),
    "a name in Latin-1 within a value": (b'{"id": "1", "p": [{"\xe9": 1}]}\n', ".jsonl"),
    "a quote without end": (b'id,p\n"1,2\n' * 3, ".csv"),
}
FOUND_REPLIES = {
    "usage in words": b'{"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":"many"}}',
    "usage is a list": b'{"choices":[{"message":{"content":"x"}}],"usage":[1]}',
    "brackets without end": b"[" * 200_000,
    "a number without end": b'{"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":' + b"9" * 5000 + b"}}",
}


@pytest.mark.parametrize("name", FOUND_LOGS)
def test_logs_that_were_found(name):
    read_log(FOUND_LOGS[name])


@pytest.mark.parametrize("name", FOUND_FILES)
def test_files_that_were_found(name):
    read_bytes(*FOUND_FILES[name])


@pytest.mark.parametrize("name", FOUND_REPLIES)
def test_replies_that_were_found(name):
    check_reply(FOUND_REPLIES[name], 200)
