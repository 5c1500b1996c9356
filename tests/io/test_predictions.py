"""Predictions are read from every format people have them in, and a broken file says where it is broken."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from random import Random

import pytest

from lapsus.io.join import extract_ids
from lapsus.io.predictions import read_predictions

ROWS = [{"id": "a1", "prediction": "yes", "score": 1.0}, {"id": "a2", "prediction": "n,o", "score": 0.5}]


def written(path, content):
    path.write_text(content, encoding="utf-8")
    return path


def rows_of(path, **options):
    """The rows of a file; None stands for a column that a row lacks."""
    rows = read_predictions(path, **options).table.to_rows()
    return [{name: value for name, value in row.items() if value is not None or name == "prediction"} for row in rows]


def ids_of(path, **options):
    return extract_ids(read_predictions(path, **options).table, path).to_pylist()


def lines(*rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def test_json_lines_csv_tsv_parquet_and_json_say_the_same(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "p.parquet")
    files = [
        written(tmp_path / "p.jsonl", lines(*ROWS) + "\n"),
        written(tmp_path / "p.json", json.dumps(ROWS)),
        written(tmp_path / "p.csv", '\ufeffid,prediction,score\na1,yes,1.0\na2,"n,o",0.5\n'),
        written(tmp_path / "p.tsv", "id\tprediction\tscore\na1\tyes\t1\na2\tn,o\t0.5\n"),
        tmp_path / "p.parquet",
    ]
    assert [rows_of(file) for file in files] == [ROWS] * 5


@pytest.mark.parametrize("key", [7, 7.0, "7"])
def test_ids_join_however_they_are_written(tmp_path, key):
    assert ids_of(written(tmp_path / "p.jsonl", lines({"id": key}))) == ["7"]


def test_labels_that_only_look_like_numbers_stay_text(tmp_path):
    path = written(tmp_path / "p.csv", "id,a,b,c,d\n1,007,1_0,nan,1e-3\n2,8,2,1,-0.5\n")
    assert rows_of(path)[0] == {"id": "1", "a": "007", "b": "1_0", "c": "nan", "d": 0.001}


def test_csv_columns_become_numbers_only_when_every_cell_is_one(tmp_path):
    text = 'id,score,label,many,note\n007,1,1,"[1, 0]",\n008,,x,"[0, null]",n\n'
    assert read_predictions(written(tmp_path / "p.csv", text)).table.to_rows() == [
        {"id": "007", "score": 1, "label": "1", "many": [1, 0], "note": None},
        {"id": "008", "score": None, "label": "x", "many": [0, None], "note": "n"},
    ]


SAMPLE = {
    "doc_id": 3,
    "doc": {"id": "t-0003", "question": "花呗怎么还款", "label": 1},
    "target": "1",
    "arguments": {"gen_args_0": {"arg_0": "花呗怎么还款"}},
    "doc_hash": "x",
}


def test_lm_eval_multiple_choice(tmp_path):
    sample = SAMPLE | {
        "resps": [[["-2.5", "False"]], [["-0.5", "True"]]],
        "filtered_resps": [["-2.5", "False"], ["-0.5", "True"]],
        "filter": "none",
        "metrics": ["acc", "acc_norm"],
        "acc": 1.0,
        "acc_norm": 0.0,
    }
    folder = tmp_path / "org__model-7b"
    folder.mkdir()
    found = read_predictions(written(folder / "samples_afqmc_keyboard.2_2026-01-02T03-04-05.6.jsonl", lines(sample)))
    assert (found.model, found.task, found.metrics) == ("org__model-7b", "afqmc_keyboard.2", ("acc", "acc_norm"))
    assert rows_of(found.path) == [
        {
            "id": "t-0003",
            "question": "花呗怎么还款",
            "label": 1,
            "prediction": 1,
            "reference": "1",
            "filter": "none",
            "acc": 1.0,
            "acc_norm": 0.0,
        }
    ]


@pytest.mark.parametrize(
    ("doc", "offered", "target", "named"),
    [
        ({}, [" no", " yes"], "0", ("yes", "no")),
        ({}, [" no", " yes"], "yes", ("yes", "yes")),
        (
            {"choices": ["不同", "相同"], "labels": ["different", "paraphrase"]},
            ["不同", "相同"],
            "1",
            ("paraphrase",) * 2,
        ),
        ({"labels": ["some", "tags"]}, ["3", "4"], "1", ("4", "4")),
        ({}, ["the same", "the same"], "0", (1, "0")),  # the choices stand in the questions
        ({}, [" no", " yes"], "[0, 1]", (1, "[0, 1]")),
        ({}, [" no", " yes"], "2", (1, "2")),
    ],
)
def test_choices_of_lm_eval_have_their_names(tmp_path, doc, offered, target, named):
    asked = {f"gen_args_{n}": {"arg_0": f"question {n}", "arg_1": word} for n, word in enumerate(offered)}
    answers = [["-2.5", "False"], ["-0.5", "True"]]
    sample = SAMPLE | {"doc": doc, "arguments": asked, "target": target, "filtered_resps": answers, "acc": 0.0}
    (row,) = rows_of(written(tmp_path / "samples_afqmc.jsonl", lines(sample)))
    assert (row["prediction"], row["reference"]) == named


@pytest.mark.parametrize("responses", [["支付宝"], [["支付宝"]], [["支付宝", "again"]]])
def test_lm_eval_generation_old_and_new(tmp_path, responses):
    sample = SAMPLE | {"doc": {"q": "?"}, "resps": [responses], "filtered_resps": responses, "exact_match": 0}
    found = read_predictions(written(tmp_path / "samples_qa.jsonl", lines(sample)))
    assert rows_of(found.path) == [{"q": "?", "id": 3, "prediction": "支付宝", "reference": "1", "exact_match": 0.0}]
    assert (found.task, found.metrics) == ("qa", ("exact_match",))


def test_two_filters_of_lm_eval_are_told_apart_with_where(tmp_path):
    samples = [
        SAMPLE | {"filtered_resps": ["a"], "filter": name, "exact_match": mark}
        for name, mark in (("strict-match", 0.0), ("flexible-extract", 1.0))
    ]
    path = written(tmp_path / "samples_qa.jsonl", lines(*samples))
    with pytest.raises(ValueError, match=r"row 2: id 't-0003' occurs a second time; .* filter=flexible-extract"):
        ids_of(path)
    assert [row["exact_match"] for row in rows_of(path, where={"filter": "strict-match"})] == [0.0]
    with pytest.raises(ValueError, match="no row has filter=none; column 'filter' holds 'flexible-extract'"):
        read_predictions(path, where={"filter": "none"})


LOG = {
    "version": 2,
    "status": "success",
    "eval": {"task": "readin", "model": "openai/gpt", "dataset": {}},
    "samples": [
        {
            "id": 2,
            "epoch": 1,
            "input": "x",
            "target": ["no"],
            "metadata": {"annotator": 1, "id": "shadowed"},
            "output": {"choices": [{"message": {"role": "assistant", "content": [{"type": "text", "text": "no!"}]}}]},
            "scores": {"match": {"value": "C"}, "f1": {"value": {"f": 0.25, "ok": True}}},
        },
        {
            "id": 1,
            "epoch": 1,
            "input": "x",
            "target": "yes",
            "output": {"completion": "Well, yes"},
            "scores": {"match": {"value": "I", "answer": "yes"}},
        },
        {"id": 3, "epoch": 1, "target": "a", "output": {}, "error": {"message": "timeout"}},
    ],
}
LOG_ROWS = [
    {"id": "1", "epoch": 1, "prediction": "yes", "reference": "yes", "match": 0.0},
    {
        "annotator": 1,
        "id": "2",
        "epoch": 1,
        "prediction": "no!",
        "reference": "no",
        "match": 1.0,
        "f1.f": 0.25,
        "f1.ok": 1.0,
    },
]  # the third sample failed


def test_inspect_json(tmp_path):
    found = read_predictions(written(tmp_path / "log.json", json.dumps(LOG)))
    assert rows_of(found.path) == LOG_ROWS
    assert (found.model, found.task, found.metrics) == ("openai/gpt", "readin", ("match", "f1.f", "f1.ok"))


def members(log):
    yield "header.json", json.dumps({"eval": log["eval"]})
    yield "summaries.json", "[]"
    for sample in log["samples"]:
        yield f"samples/{sample['id']}_epoch_1.json", json.dumps(sample)


def test_inspect_eval(tmp_path):
    with zipfile.ZipFile(tmp_path / "log.eval", "w", zipfile.ZIP_DEFLATED) as log:
        for name, text in members(LOG):
            log.writestr(name, text)
    assert rows_of(tmp_path / "log.eval") == LOG_ROWS


def zstd_zip(entries):
    """A zip file whose members are packed by Zstandard, as inspect writes them: method 93 of the zip format."""
    import pyarrow as pa

    body, directory = b"", b""
    for name, text in entries:
        data, half = text.encode(), len(text.encode()) // 2
        packed = b"".join(pa.compress(part, "zstd", asbytes=True) for part in (data[:half], data[half:]))  # two frames
        fields = struct.pack("<HHHHHIIIHH", 20, 0, 93, 0, 0, zlib.crc32(data), len(packed), len(data), len(name), 0)
        directory += b"PK\1\2\24\0" + fields + struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + name.encode()
        body += b"PK\3\4" + fields + name.encode() + packed
    count = len(list(entries))
    return body + directory + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, count, count, len(directory), len(body), 0)


@pytest.mark.parametrize("pack", [zipfile.ZIP_DEFLATED, 93])
def test_a_damaged_eval_is_named(tmp_path, pack):
    path, entries = tmp_path / "log.eval", list(members(LOG))
    if pack == 93:
        path.write_bytes(zstd_zip(entries))
    else:
        with zipfile.ZipFile(path, "w", pack) as log:
            for name, text in entries:
                log.writestr(name, text)
    whole = path.read_bytes()
    for start in range(0, len(whole) - 20, 37):
        path.write_bytes(whole[:start] + bytes(20) + whole[start + 20 :])
        said = f"{path}: was read"
        try:
            read_predictions(path)
        except ValueError as error:
            said = str(error)
        assert said.startswith(str(path))
        assert "\n" not in said
    with zipfile.ZipFile(path, "w") as log:
        log.writestr("other.json", "{}")
    with pytest.raises(ValueError, match="has no header with its task and model"):
        read_predictions(path)


def test_inspect_eval_of_today_is_packed_by_zstandard(tmp_path):
    (tmp_path / "log.eval").write_bytes(zstd_zip(list(members(LOG))))
    assert rows_of(tmp_path / "log.eval") == LOG_ROWS


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "p.jsonl",
            '{"id": 1}\n{"id": \n',
            r"p\.jsonl, line 2, column \d+: Expecting value; every line is one",
        ),
        ("p.jsonl", '{"id": 1}\n[1]\n', r"p\.jsonl, line 2: holds '\[1\]'"),
        ("p.json", '{"a": 1,\n}', r"p\.json, line 2, column 1: "),
        ("p.json", '{"a": 1}', "expected a JSON list of objects or an inspect log"),
        ("p.csv", "id,score\n1,1\n2,1,0\n", r"p\.csv, line 3: has 3 cells where the header names 2"),
        ("p.csv", "id,id\n1,1\n", r"p\.csv, line 1: names a column twice"),
        ("p.csv", 'id,score\n1,"1\n', r"p\.csv, line 2: unexpected end of data"),
        ("p.csv", "", "holds no rows"),
        ("p.parquet", "PAR1", "is no Parquet file"),
        ("p.eval", "PK", "is no inspect log"),
        ("p.xlsx", "", r"unsupported file type '\.xlsx'; use one of \.jsonl, "),
        ("samples_x.jsonl", '{"doc_id": 1, "doc": null}', r"samples_x\.jsonl, sample 1: has no doc"),
    ],
)
def test_a_broken_file_is_named_in_one_sentence(tmp_path, name, content, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        read_predictions(written(tmp_path / name, content))
    assert "\n" not in str(caught.value)


def maimed(value, draw):
    """The same log with one part removed, or replaced by something else."""
    copy = json.loads(json.dumps(value))
    places, stack = [], [copy]
    while stack:
        part = stack.pop()
        for key in part if isinstance(part, dict) else range(len(part)):
            places.append((part, key))
            if isinstance(part[key], dict | list):
                stack.append(part[key])
    part, key = places[draw.randrange(len(places))]
    part[key] = draw.choice([None, 3, "x", [], [[]], {}, [{}], True])
    return copy


def test_whatever_is_wrong_with_a_log_it_is_said_in_a_sentence(tmp_path):
    draw = Random(4)
    choices = SAMPLE | {"filtered_resps": [["-2.5", "False"], ["-0.5", "True"]], "acc": 1.0}
    for number in range(400):
        log = tmp_path / f"{number}.json"
        samples = tmp_path / f"samples_{number}.jsonl"
        log.write_text(json.dumps(maimed(LOG, draw)))
        samples.write_text(lines(choices, maimed(choices, draw)))
        for path in (log, samples):
            said = f"{path}: was read"
            try:
                ids_of(path)
            except ValueError as error:
                said = str(error)
            assert said.startswith(str(path))
            assert "\n" not in said


def test_text_in_another_encoding_is_named_with_its_line(tmp_path):
    (tmp_path / "p.csv").write_bytes("id,text\n1,好\n".encode() + "2,好\n".encode("gb18030"))
    with pytest.raises(ValueError, match=r"p\.csv, line 3: is not UTF-8"):
        read_predictions(tmp_path / "p.csv")


def test_a_missing_file_and_a_missing_id_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        read_predictions(tmp_path / "p.csv")
    with pytest.raises(IsADirectoryError, match="is a folder; name the files in it"):
        read_predictions(tmp_path)
    with pytest.raises(ValueError, match=r"row 1: has no 'id'; the columns are 'score'"):
        ids_of(written(tmp_path / "p.jsonl", '{"score": 1}'))
