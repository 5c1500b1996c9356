"""Archives of inspect that somebody else made: what they unpack to is bounded, and what is broken is one sentence."""

from __future__ import annotations

import json
import random
import struct
import zipfile
import zlib

import pyarrow as pa
import pytest

from lapsus.io import inspect_logs
from lapsus.io.inspect_logs import read_eval, to_rows

HEADER = {"status": "success", "eval": {"task": "own", "model": "m", "task_args": {}}}
SAMPLE = {"id": 1, "epoch": 1, "target": "a", "output": {"completion": "a"}, "scores": {"s": {"value": "C"}}}


def write_log(path, samples, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as log:
        log.writestr("header.json", json.dumps(HEADER))
        for number, sample in enumerate(samples):
            log.writestr(f"samples/{number}.json", sample if isinstance(sample, bytes) else json.dumps(sample))
    return path


def write_zstd_log(path, sample, stated_size=None):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(sample)
    packed, size = sink.getvalue().to_pybytes(), len(sample) if stated_size is None else stated_size
    with zipfile.ZipFile(path, "w") as log:
        log.writestr("header.json", json.dumps(HEADER))
        entry = zipfile.ZipInfo("samples/0.json")
        entry.compress_type, entry.CRC, entry.file_size = 93, zlib.crc32(sample), size
        entry.compress_size, entry.header_offset = len(packed), log.fp.tell()
        sizes = (zlib.crc32(sample), len(packed), size, len(entry.filename), 0)
        log.fp.write(struct.pack("<4s5H3L2H", b"PK\3\4", 63, 0, 93, 0, 33, *sizes) + entry.filename.encode() + packed)
        log.start_dir = log.fp.tell()
        log.filelist.append(entry)
        log.NameToInfo[entry.filename] = entry
        log._didModify = True
    return path


def make_sample(size):
    return json.dumps({**SAMPLE, "output": {"completion": "a" * size}}).encode()


def read_or_describe(path):
    """Return the message of a log that is refused; None for one that is read."""
    try:
        log = read_eval(path)
        rows, _ = to_rows(path, log)
    except ValueError as error:
        return str(error)
    assert len(rows) == len(log.samples)
    return None


@pytest.fixture
def small_limits(monkeypatch):
    monkeypatch.delenv("LAPSUS_MAX_BYTES", raising=False)
    monkeypatch.setattr(inspect_logs, "MAX_MEMBER_BYTES", 10_000)
    monkeypatch.setattr(inspect_logs, "MAX_BYTES", 30_000)
    monkeypatch.setattr(inspect_logs, "BLOCK", 1_000)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_member_unpacks_to_a_limit(tmp_path, method, monkeypatch):
    write_log(tmp_path / "good.eval", [make_sample(9_000)], method)
    assert len(read_eval(tmp_path / "good.eval").samples[0]["output"]["completion"]) == 9_000
    path = write_log(tmp_path / "bomb.eval", [make_sample(10_000)], method)
    with pytest.raises(ValueError, match=r"bomb\.eval, samples/0\.json: unpacks to more than 10,000 bytes.*LAPSUS_MAX"):
        read_eval(path)
    monkeypatch.setenv("LAPSUS_MAX_BYTES", "20000")
    assert len(read_eval(path).samples) == 1


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("stated_size", [None, 10])
def test_zstandard_unpacks_to_a_limit_whatever_size_is_stated(tmp_path, stated_size):
    path = write_zstd_log(tmp_path / "good.eval", make_sample(9_000), stated_size)
    assert len(read_eval(path).samples[0]["output"]["completion"]) == 9_000
    path = write_zstd_log(tmp_path / "bomb.eval", make_sample(10_000), stated_size)
    with pytest.raises(ValueError, match=r"unpacks to more than 10,000 bytes"):
        read_eval(path)


@pytest.mark.usefixtures("small_limits")
def test_all_members_together_unpack_to_a_limit(tmp_path):
    assert len(read_eval(write_log(tmp_path / "good.eval", [make_sample(9_000)] * 3)).samples) == 3
    with pytest.raises(ValueError, match=r"samples/3\.json: .* the log to more than 30,000"):
        read_eval(write_log(tmp_path / "bomb.eval", [make_sample(9_000)] * 4))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_inspect_does_not_use_are_refused(tmp_path, method):
    with pytest.raises(ValueError, match=r"packed by another method"):
        read_eval(write_log(tmp_path / "m.eval", [SAMPLE], method))


def test_a_version_that_zipfile_does_not_know_is_one_sentence(tmp_path):
    path = write_log(tmp_path / "m.eval", [SAMPLE])
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\1\2") + 6] = 99
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"m\.eval: is no inspect log \(zip file version 9\.9\); run it again"):
        read_eval(path)


@pytest.mark.parametrize("odd", [None, 7, [1], {"a": 1}, "x", 10**400, [[None]], {"value": 10**400}])
@pytest.mark.parametrize("field", ["id", "epoch", "target", "metadata", "scores", "output"])
def test_an_odd_field_of_a_sample_is_read_or_one_sentence(tmp_path, field, odd):
    path = write_log(tmp_path / "m.eval", [{**SAMPLE, field: odd}, {**SAMPLE, "id": 2}])
    message = read_or_describe(path)
    assert message is None or message.startswith(f"{path}, sample 1: is not as inspect writes it")


def test_a_damaged_archive_is_one_sentence(tmp_path):
    originals = [
        write_log(tmp_path / "deflate.eval", [SAMPLE, SAMPLE]).read_bytes(),
        write_zstd_log(tmp_path / "zstd.eval", json.dumps(SAMPLE).encode()).read_bytes(),
    ]
    draw = random.Random(1)
    path = tmp_path / "m.eval"
    messages = []
    for number in range(1_500):
        content = bytearray(originals[number % 2])
        for _ in range(draw.randrange(1, 4)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        path.write_bytes(content[: draw.choice([None, draw.randrange(len(content))])])
        messages.append(read_or_describe(path))
    errors = [message for message in messages if message is not None]
    assert len(errors) > 100
    assert [message for message in errors if not message.startswith(str(path))] == []
