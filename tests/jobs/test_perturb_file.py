"""`perturb_file`: formats, workers, interruption, bad rows."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from datasets import ClassLabel, Dataset, Features, List, Value, load_dataset

from lapsus.cli.main import main
from lapsus.core.files import stage_file
from lapsus.jobs import perturb_file as module
from lapsus.jobs.perturb_file import perturb_file
from lapsus.perturbations import OPERATORS, Edit, Noise, ZhKeyboard, apply, apply_tags, apply_tokens, perturb
from lapsus.perturbations.en.fillers import ClosingFiller, OpeningFiller

ROWS = [
    {"id": f"u{i}", "text": ["play jazz", "", 'play, "that"\nagain', "我想听歌", "go 🎷"][i % 5], "n": i}
    for i in range(23)
]


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 4)


def write(path, rows):
    if path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=9)
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0], delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writeheader()
            writer.writerows(rows)
    return path


def read(path):
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))
    for row in rows:
        row["edits"], row["n"] = json.loads(row["edits"]), int(row["n"])
        row["unchanged"] = row["unchanged"] or None
    return rows


def run(source, target, **options):
    settings = {"text": "text", "id": "id", "progress": False} | options
    return perturb_file(source, target, "filler_eos", **settings)


@pytest.mark.parametrize("out", ["out.jsonl", "out.csv", "out.tsv", "out.parquet"])
@pytest.mark.parametrize("given", ["in.jsonl", "in.csv", "in.tsv", "in.parquet"])
def test_every_format_into_every_other(tmp_path, given, out):
    summary = run(write(tmp_path / given, ROWS), tmp_path / out, seed=5)
    rows = read(tmp_path / out)
    assert [int(row["n"]) for row in rows] == list(range(23))
    for row, clean in zip(rows, ROWS, strict=True):
        assert row["clean_text"] == clean["text"]
        edits = perturb(ClosingFiller(), clean["text"], seed=5, key=clean["id"])
        assert row["text"] == apply(clean["text"], edits)
        assert [Edit(**edit) for edit in row["edits"]] == list(edits)
        assert row["operator"] == "ClosingFiller(version='2') seed=5"
    assert [row["unchanged"] for row in rows[:5]] == [
        None,
        "the text is empty",
        None,
        "filler_eos finds nothing to change in this text",
        None,
    ]
    assert (summary.rows, summary.changed) == (23, 14)
    assert summary.unchanged == {"the text is empty": 5, "filler_eos finds nothing to change in this text": 4}
    assert str(summary) == (
        f"wrote 23 rows to {tmp_path / out}, 14 of them changed; 4 unchanged: filler_eos finds nothing to change in "
        "this text; 5 unchanged: the text is empty"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([given, out])


def test_other_columns_keep_their_types(tmp_path):
    table = pa.table({"id": [1, 2], "text": ["a", "b"], "when": pa.array([1, 2], pa.timestamp("ms")), "x": [None, 0.5]})
    pq.write_table(table, tmp_path / "in.parquet")
    run(tmp_path / "in.parquet", tmp_path / "out.parquet")
    noisy = pq.read_table(tmp_path / "out.parquet")
    assert noisy.select(["id", "when", "x"]) == table.select(["id", "when", "x"])
    assert load_dataset("parquet", data_files=str(tmp_path / "out.parquet"), split="train").num_rows == 2


@pytest.mark.slow
@pytest.mark.parametrize("out", ["out.jsonl", "out.parquet"])
def test_the_number_of_workers_changes_no_byte(tmp_path, out):
    source = write(tmp_path / "in.jsonl", ROWS)
    results = []
    for workers in (1, 2, 3):
        run(source, tmp_path / out, workers=workers, overwrite=True)
        results.append((tmp_path / out).read_bytes())
    assert results[0] == results[1] == results[2]


BROKEN = []


@dataclass(frozen=True, slots=True)
class Fragile:
    """Fails on one row for as long as BROKEN says so, and tells what it has seen."""

    name: str = "fragile"
    version: str = "1"

    def edits(self, text, rng):
        SEEN.append(text)
        if text in BROKEN:
            raise RuntimeError("power cut")
        return (Edit(0, 0, "so "),)


SEEN = []


def test_a_run_that_was_cut_short_goes_on(tmp_path):
    source = write(tmp_path / "in.jsonl", [{"text": f"row {i}"} for i in range(18)])
    whole, target = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    perturb_file(source, whole, Noise(Fragile()), progress=False)
    target.write_text("an older result")
    BROKEN.append("row 9")
    with pytest.raises(RuntimeError, match="power cut"):
        perturb_file(source, target, Noise(Fragile()), progress=False, overwrite=True)
    assert target.read_text() == "an older result"
    BROKEN.clear()
    SEEN.clear()
    summary = perturb_file(source, target, Noise(Fragile()), progress=False, overwrite=True)
    assert SEEN[0] == "row 8"
    assert target.read_bytes() == whole.read_bytes()
    assert summary.rows == summary.changed == 18
    assert not (tmp_path / "out.jsonl.partial").exists()


def test_a_run_that_stopped_while_counting_goes_on(tmp_path, monkeypatch):
    source = write(tmp_path / "in.jsonl", [{"text": f"row {i}"} for i in range(18)])
    target = tmp_path / "out.jsonl"

    def full(path):
        if path.name == "00000001.counts":
            raise OSError("no space left")
        return stage_file(path)

    with monkeypatch.context() as patch:
        patch.setattr("lapsus.jobs.perturb_file.stage_file", full)
        with pytest.raises(OSError, match="no space left"):
            perturb_file(source, target, Noise(Fragile()), progress=False)
    assert [path.name for path in sorted(target.with_name("out.jsonl.partial").glob("0*"))] == [
        "00000000",
        "00000000.counts",
        "00000001",
    ]
    assert perturb_file(source, target, Noise(Fragile()), progress=False).rows == 18


@pytest.mark.parametrize(("row", "left"), [("row 1", False), ("row 9", True)])
def test_a_folder_without_a_part_is_removed(tmp_path, row, left):
    source = write(tmp_path / "in.jsonl", [{"text": f"row {i}"} for i in range(18)])
    BROKEN.append(row)
    with pytest.raises(RuntimeError, match="power cut"):
        perturb_file(source, tmp_path / "out.jsonl", Noise(Fragile()), progress=False)
    BROKEN.clear()
    assert (tmp_path / "out.jsonl.partial").exists() == left


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no process groups that take SIGINT")
@pytest.mark.parametrize("workers", [1, 2])
def test_control_c_says_how_to_go_on(tmp_path, workers):
    source = write(tmp_path / "in.jsonl", [{"id": i, "text": f"play some jazz {i}"} for i in range(400_000)])
    target, parts = tmp_path / "out.jsonl", tmp_path / "out.jsonl.partial"
    words = ["perturb", "--noise", "filler_eos", "--text", "text", "--workers", workers, source, target]
    hear = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # a job in the background is deaf
    command = [sys.executable, "-c", f"{hear}; from lapsus.cli.main import main; main()", *map(str, words)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as run:
        while run.poll() is None and len(list(parts.glob("*.counts"))) < 10:  # by then all workers are up
            time.sleep(0.02)
        os.killpg(run.pid, signal.SIGINT)
        out, err = run.communicate(timeout=60)
    assert (run.returncode, out) == (130, "")
    assert err == f"interrupted; run the same command to resume (finished parts are in {parts})\n"
    assert any(parts.glob("*.counts"))


def test_parts_of_another_job_are_not_mixed_in(tmp_path):
    source = write(tmp_path / "in.jsonl", [{"text": f"row {i}"} for i in range(18)])
    target = tmp_path / "out.jsonl"
    BROKEN.append("row 9")
    with pytest.raises(RuntimeError, match="power cut"):
        perturb_file(source, target, Noise(Fragile()), progress=False)
    BROKEN.clear()
    perturb_file(source, target, Noise(Fragile(version="2")), progress=False)
    assert {row["operator"] for row in read(target)} == {"Fragile(name='fragile', version='2') seed=0"}


SAID = [
    {"id": "a", "tokens": ["play", "jazz"], "tags": ["O", "B-genre"]},
    {"id": "b", "tokens": ["play", "jazz"], "tags": ["O"]},
    {"id": "c", "tokens": [], "tags": []},
    {"id": "d", "tokens": ["play", "jazz"], "tags": ["O", "U-genre"]},
    {"id": "e", "tokens": None, "tags": ["O"]},
    {"id": "f", "tokens": ["jazz", "now"], "tags": ["I-genre", "O"]},
]


def test_bad_rows_stay_and_say_why(tmp_path):
    source = write(tmp_path / "in.jsonl", SAID)
    summary = run(source, tmp_path / "out.parquet", text="tokens", tags="tags")
    rows = read(tmp_path / "out.parquet")
    assert [row["id"] for row in rows] == list("abcdef")
    assert [row["unchanged"] for row in rows] == [
        None,
        "2 tokens but 1 tags; give one tag per token",
        "the text is empty",
        "tag 1 is 'U-genre'; tags are O, B-label or I-label, so convert them to BIO",
        "tokens or tags are missing; give both",
        None,
    ]
    assert [row["tokens"] for row in rows[1:5]] == [row["tokens"] for row in SAID[1:5]]
    assert (rows[5]["clean_tags"], rows[5]["tags"][:2]) == (["I-genre", "O"], ["I-genre", "O"])
    assert (summary.rows, summary.changed) == (6, 2)


def test_tokens_in_csv_stand_with_spaces(tmp_path):
    source = tmp_path / "in.csv"
    source.write_text("id,tokens,tags\n1,play jazz,O B-genre\n2,stop,O\n", encoding="utf-8")
    run(source, tmp_path / "out.csv", text="tokens", tags="tags")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        first, _ = csv.DictReader(file)
    assert first["clean_tokens"] == "play jazz"
    assert first["tokens"].startswith("play jazz ")
    assert first["tags"].split()[:2] == ["O", "B-genre"]
    assert len(first["tags"].split()) == len(first["tokens"].split())


def test_a_folder_that_load_dataset_reads(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for split in ("train", "test"):
        Dataset.from_list(ROWS).to_parquet(folder / f"{split}.parquet")
    with pytest.raises(ValueError, match=r"has the splits train, test; name one$"):
        run(folder, tmp_path / "out.jsonl")
    summary = run(folder, tmp_path / "out.jsonl", split="test")
    assert summary.rows == 23


def test_a_dataset_with_tags_by_number(tmp_path):
    labels = List(ClassLabel(names=["O", "B-genre"]))
    features = Features({"id": Value("string"), "tokens": List(Value("string")), "tags": labels})
    rows = {"id": ["u1"], "tokens": [["play", "jazz"]], "tags": [[0, 1]]}
    (tmp_path / "data").mkdir()
    Dataset.from_dict(rows, features=features).to_parquet(tmp_path / "data" / "test.parquet")
    for source in (tmp_path / "data", tmp_path / "data" / "test.parquet"):
        run(source, tmp_path / "out.jsonl", text="tokens", tags="tags", overwrite=True)
        (row,) = read(tmp_path / "out.jsonl")
        assert row["unchanged"] is None
        assert row["tags"][:3] == [0, 1, 0]


def test_rows_that_hold_no_text_share_one_reason(tmp_path):
    source = write(tmp_path / "in.jsonl", [{"id": i, "text": [f"word {i}"]} for i in range(9)])
    summary = run(source, tmp_path / "out.jsonl")
    assert summary.unchanged == {"the text is no string but list; give a string": 9}


def test_a_row_without_its_key_stays(tmp_path):
    source = write(tmp_path / "in.jsonl", [{"id": 1, "text": "go"}, {"text": "stop"}])
    run(source, tmp_path / "out.jsonl")
    assert [row["unchanged"] for row in read(tmp_path / "out.jsonl")] == [
        None,
        "the key is missing; give every row an id",
    ]


def test_several_columns(tmp_path):
    source = write(tmp_path / "in.jsonl", [{"id": 1, "a": "play jazz", "b": "stop it"}])
    run(source, tmp_path / "out.parquet", text=("a", "b"))
    (row,) = read(tmp_path / "out.parquet")
    for column in ("a", "b"):
        assert apply(row[f"clean_{column}"], [tuple(edit.values()) for edit in row["edits"][column]]) == row[column]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("in.jsonl", b'{"text": "a"}\n{"text": \n', r"in.jsonl, line 2, column 10: Expecting value; every line is one"),
        (
            "in.jsonl",
            b'{"text": "a"}\n["b"]\n',
            r"""in.jsonl, line 2: holds '\["b"\]'; every line is one JSON object$""",
        ),
        ("in.jsonl", b'{"words": "a"}\n', r"^no column is called 'text'; .*in.jsonl has words$"),
        (
            "in.jsonl",
            b'{"text": "a"}\n{"text": "\xe9"}\n',
            r"in.jsonl, line 2: is not UTF-8 \(byte \d+\); save the file as UTF-8$",
        ),
        (
            "in.csv",
            b"text\n\xef\xbf\xbd\ncaf\xe9\n",
            r"in.csv, line 3: is not UTF-8 \(byte \d+\); save the file as UTF-8$",
        ),
        ("in.csv", b'text\n"a\n', r"in.csv, line 2: unexpected end of data; are its quotes closed\?$"),
        (
            "in.csv",
            b"text\na,b\n",
            r"in.csv, line 2: has 2 cells where the header names 1; quote cells that contain the separ",
        ),
        ("in.jsonl", b"", r"in.jsonl: holds no rows; give a file with at least one$"),
        ("in.csv", b"", r"in.csv: holds no rows; give a file with at least one$"),
        ("in.parquet", b"", r"in.parquet: is no Parquet file \(Parquet file size is 0 bytes\); write it again$"),
        ("in.parquet", b"no parquet at all", r"in.parquet: is no Parquet file \(.*\); write it again$"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, name, content, sentence):
    source = tmp_path / name
    source.write_bytes(content)
    with pytest.raises((ValueError, LookupError), match=sentence):
        run(source, tmp_path / "out.jsonl", id=None)
    assert not (tmp_path / "out.jsonl").exists()


def test_other_mistakes_are_named(tmp_path):
    source = write(tmp_path / "in.jsonl", ROWS)
    with pytest.raises(ValueError, match=r"is both source and target; write to another file$"):
        run(source, source)
    with pytest.raises(ValueError, match=r"^out.xlsx has no known format; name it \*.jsonl, "):
        run(source, tmp_path / "out.xlsx")
    document = tmp_path / "in.json"
    document.write_text("[]")
    with pytest.raises(ValueError, match="holds no rows; give a file with at least one"):
        run(document, tmp_path / "out.jsonl")
    with pytest.raises(FileNotFoundError, match=r"^there is no file .*absent.csv; check its name$"):
        run(tmp_path / "absent.csv", tmp_path / "out.csv")
    with pytest.raises(ValueError, match=r"^workers is 0; give 1 or more$"):
        run(source, tmp_path / "out.csv", workers=0)


@pytest.mark.parametrize("name", ["clean_text", "edits", "operator", "unchanged"])
@pytest.mark.parametrize("given", ["in.jsonl", "in.csv", "in.parquet"])
def test_a_column_that_noise_would_overwrite_is_refused(tmp_path, given, name):
    source = write(tmp_path / given, [{"id": 1, "text": "go", name: "mine"}])
    sentence = rf"{given} already has the column '{name}', as perturbed files do; perturb the clean file, or rename"
    with pytest.raises(ValueError, match=sentence):
        run(source, tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == [given]


def test_half_a_surrogate_passes_through(tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": 1, "text": "bad \\ud83d half"}\n')
    run(source, tmp_path / "out.jsonl")
    assert read(tmp_path / "out.jsonl")[0]["clean_text"] == "bad \ud83d half"


def test_an_empty_file_gives_an_empty_file(tmp_path):
    source = tmp_path / "in.csv"
    source.write_text("id,text\n")
    assert run(source, tmp_path / "out.csv").rows == 0
    assert (tmp_path / "out.csv").read_text() == "id,text,clean_text,edits,operator,unchanged\n"


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_several_operators_are_what_several_runs_make(tmp_path, suffix):
    source = write(tmp_path / f"in.{suffix}", ROWS)
    noises = [Noise(OPERATORS[name], text="text", id="id") for name in ("filler_eos", "zh_homophone", "filler_bos")]
    at_once, steps = tmp_path / f"once.{suffix}", [source, *(tmp_path / f"step{n}.{suffix}" for n in range(3))]
    summary = perturb_file(source, at_once, noises, progress=False)
    for noise, before, after in zip(noises, steps, steps[1:], strict=False):
        perturb_file(before, after, noise, progress=False)
    assert read(at_once) == read(steps[-1])
    assert summary.changed == sum(bool(row["edits"]) for row in read(at_once)) > 9
    for row, clean in zip(read(at_once), ROWS, strict=True):
        assert (row["id"], row["clean_text"]) == (clean["id"], clean["text"])
        assert apply(clean["text"], [tuple(edit.values()) for edit in row["edits"]]) == row["text"]
        assert row["operator"].count(" then ") == 2
        assert (row["unchanged"] is None) == bool(row["edits"])


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_tokens_and_tags_are_perturbed_further(tmp_path, suffix):
    rows = [{"id": n, "tokens": "fly to new york", "tags": "O O B-city I-city", "n": n} for n in range(9)]
    source = write(tmp_path / "in.csv", rows)
    options = {"text": "tokens", "tags": "tags", "id": "id", "progress": False}
    perturb_file(source, tmp_path / f"once.{suffix}", "filler_bos", **options)
    perturb_file(tmp_path / f"once.{suffix}", tmp_path / f"twice.{suffix}", "filler_eos", **options)
    for row in read(tmp_path / f"twice.{suffix}"):
        tokens, tags = row["clean_tokens"].split(), row["clean_tags"].split()
        edits = [Edit(**edit) for edit in row["edits"]]
        assert (tokens, len(edits)) == (["fly", "to", "new", "york"], 2)
        assert apply_tokens(tokens, edits) == row["tokens"].split()
        assert apply_tags(tokens, tags, edits) == row["tags"].split()


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_answers_stay_where_they_stand(tmp_path, suffix):
    answers = {"text": ["new york"], "answer_start": [10]}
    rows = [{"id": n, "n": n, "text": "he lives, new york, usa", "answers": answers} for n in range(9)]
    if suffix == "csv":
        rows = [row | {"answers": json.dumps(answers)} for row in rows]
    source = write(tmp_path / f"in.{suffix}", rows)
    words = [
        "--noise",
        "filler_bos+filler_eos",
        "--text",
        "text",
        "--id",
        "id",
        "--answers",
        "answers",
    ]
    done = CliRunner().invoke(main, ["perturb", *words, str(source), str(tmp_path / f"out.{suffix}")])
    assert done.exit_code == 0, done.output
    for row in read(tmp_path / f"out.{suffix}"):
        moved = json.loads(row["answers"]) if suffix == "csv" else row["answers"]
        start = moved["answer_start"][0]
        assert start > 10 and moved["text"] == ["new york"]
        assert row["text"][start : start + 8] == "new york"


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_answers_that_would_stay_behind_are_refused(tmp_path, suffix):
    answers = [{"text": [], "answer_start": []}] + [{"text": ["york"], "answer_start": [14]}] * 3
    rows = [{"id": n, "text": "he lives, new york", "ask": "where?", "answers": own} for n, own in enumerate(answers)]
    if suffix == "csv":
        rows = [row | {"answers": json.dumps(row["answers"])} for row in rows]
    source = write(tmp_path / f"in.{suffix}", rows)
    words = ["perturb", "--noise", "filler_bos", "--id", "id", str(source), str(tmp_path / f"out.{suffix}")]
    refused = CliRunner().invoke(main, [*words, "--text", "text"])
    assert refused.exit_code == 1
    assert "the answers in 'answers' stand at places of 'text', which noise would move; name them" in refused.output
    assert CliRunner().invoke(main, [*words, "--text", "ask"]).exit_code == 0
    with pytest.raises(ValueError, match="stand at places of 'text'"):
        Noise(OpeningFiller())({"text": "new york", "answers": {"text": ["york"], "answer_start": [4]}})


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_a_key_of_two_rows_is_refused_whichever_parts_they_are_in(tmp_path, suffix, workers):
    rows = [{"id": None if i in {4, 9} else i % 19, "text": f"row {i}"} for i in range(21)]
    source = write(tmp_path / f"in.{suffix}", rows)
    with pytest.raises(ValueError, match=r"duplicate id '0(.0)?' in column 'id'; ids must be unique"):
        run(source, tmp_path / "out.jsonl", workers=workers)
    assert [path.name for path in tmp_path.iterdir()] == [source.name]
    write(source, rows[:19])
    assert run(source, tmp_path / "out.jsonl", workers=workers).rows == 19


def test_an_existing_target_is_kept_unless_told(tmp_path):
    source = write(tmp_path / "in.jsonl", ROWS)
    target = tmp_path / "out.jsonl"
    target.write_text("mine")
    words = ["perturb", "--noise", "filler_eos", "--text", "text", str(source), str(target)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 1 and "out.jsonl exists; name another file, or replace it with --overwrite" in done.output
    assert target.read_text() == "mine"
    assert CliRunner().invoke(main, [*words, "--overwrite"]).exit_code == 0
    assert len(read(target)) == len(ROWS)


@pytest.mark.parametrize("out", ["out.jsonl", "out.csv", "out.parquet"])
def test_the_size_of_the_parts_changes_no_byte(tmp_path, monkeypatch, out):
    source = write(tmp_path / "in.jsonl", ROWS)
    monkeypatch.setattr(module, "ROW_GROUP", 10)
    results = set()
    for size in (1, 3, 4, 10, 100):
        monkeypatch.setattr(module, "CHUNK", size)
        run(source, tmp_path / out, overwrite=True)
        results.add((tmp_path / out).read_bytes())
    assert len(results) == 1
    if out == "out.parquet":
        groups = pq.ParquetFile(tmp_path / out).metadata
        assert [groups.row_group(n).num_rows for n in range(groups.num_row_groups)] == [10, 10, 3]


def test_several_workers_share_a_small_file(tmp_path, monkeypatch):
    monkeypatch.undo()  # parts as they are
    source = write(tmp_path / "in.jsonl", [{"id": n, "text": "go"} for n in range(4_000)])
    folder = tmp_path / "out.jsonl.partial"
    parts = []
    monkeypatch.setattr(module, "_join_parts", lambda *_: parts.extend(folder.glob("*.counts")))
    run(source, tmp_path / "out.jsonl")
    assert len(parts) == 8


def test_a_json_list_is_read_as_its_rows_are(tmp_path):
    rows = [{"id": n, "text": f"play song {n}"} for n in range(1_200)]
    write(tmp_path / "lines.jsonl", rows)
    (tmp_path / "list.json").write_text("\ufeff \n" + json.dumps(rows, indent=1), encoding="utf-8")
    for source in ("lines.jsonl", "list.json"):
        words = ["perturb", "--noise", "filler_eos", "--text", "text", "--id", "id", str(tmp_path / source)]
        done = CliRunner().invoke(main, [*words, str(tmp_path / f"{source}.out.jsonl")])
        assert done.exit_code == 0, done.output
    assert (tmp_path / "list.json.out.jsonl").read_bytes() == (tmp_path / "lines.jsonl.out.jsonl").read_bytes()
    (tmp_path / "list.json").write_text('[{"text": "go"}, 7]')
    done = CliRunner().invoke(main, [*words, str(tmp_path / "other.jsonl")])
    assert done.exit_code == 1 and "holds no list of objects" in done.output


def test_a_severity_stands_behind_the_operator(tmp_path):
    source = write(tmp_path / "in.jsonl", [{"id": 1, "text": "花呗怎么不能提额了"}])
    words = ["perturb", "--text", "text", "--id", "id", str(source)]
    for name, operator in (("a", ["zh_homophone@0.7"]), ("b", ["zh_homophone", "--set", "rate=0.7"])):
        done = CliRunner().invoke(main, [*words, str(tmp_path / name) + ".jsonl", "--noise", *operator])
        assert done.exit_code == 0, done.output
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    twice = ["--noise", "zh_homophone@0.1+zh_homophone@1"]
    done = CliRunner().invoke(main, [*words, str(tmp_path / "c.jsonl"), *twice])
    (row,) = read(tmp_path / "c.jsonl")
    assert "rate=0.1" in row["operator"] and "rate=1.0" in row["operator"]
    done = CliRunner().invoke(main, [*words, str(tmp_path / "other.jsonl"), "--noise", "speako@2"])
    assert (
        done.exit_code == 1
        and "the severity of speako is 2.0; give the share" in done.output
        and "Traceback" not in done.output
    )


TEXTS_ZH = ["花呗怎么不能提额了", "借呗额度为什么没有了", "今天几点自动扣款"]


def test_annotators_and_seeds_have_targets_of_their_own(tmp_path):
    source = write(tmp_path / "in.jsonl", [{"id": n, "text": text} for n, text in enumerate(TEXTS_ZH)])
    words = ["perturb", "--text", "text", "--id", "id", str(source)]

    def made(target, *options):
        return CliRunner().invoke(main, [*words, str(tmp_path / target), *options])

    done = made("a.jsonl", "--noise", "zh_keyboard:2+filler_eos", "--seed", "0", "--seed", "7")
    assert done.exit_code == 0, done.output
    names = [f"a.{who}.seed{seed}.jsonl" for who in (1, 2) for seed in (0, 7)]
    assert sorted(path.name for path in tmp_path.glob("a*")) == sorted(names)
    for who in (1, 2):
        for seed in (0, 7):
            for row, text in zip(read(tmp_path / f"a.{who}.seed{seed}.jsonl"), TEXTS_ZH, strict=True):
                typed = apply(text, perturb(ZhKeyboard.annotator(who), text, seed=seed, key=str(row["id"])))
                both = apply(typed, perturb(OPERATORS["filler_eos"], typed, seed=seed, key=str(row["id"])))
                assert row["text"] == both and row["clean_text"] == text
                assert apply(text, [tuple(edit.values()) for edit in row["edits"]]) == both
    again = made("a.jsonl", "--noise", "zh_keyboard:3", "--seed", "7", "--seed", "8")
    assert again.exit_code == 1 and "a.1.seed7.jsonl exists" in again.output
    assert not (tmp_path / "a.1.seed8.jsonl").exists()
    assert "a seed is given twice" in made("b.jsonl", "--noise", "filler_eos", "--seed", "1", "--seed", "1").output


def test_no_two_targets_of_annotators_and_seeds_are_equal(tmp_path):
    source = write(tmp_path / "in.jsonl", [{"id": n, "text": f"play song number {n}"} for n in range(40)])
    words = ["perturb", "--text", "text", "--id", "id", str(source), str(tmp_path / "out.jsonl")]
    seeds = [word for seed in range(3) for word in ("--seed", str(seed))]
    done = CliRunner().invoke(main, [*words, "--noise", "filler_eos:3", *seeds])
    assert done.exit_code == 0, done.output
    texts = [tuple(row["text"] for row in read(path)) for path in sorted(tmp_path.glob("out.*"))]
    assert len(texts) == 9 == len(set(texts))
    for n in (1, 2, 3):  # under seed 0 annotator n is seed n
        alone = Noise(OPERATORS["filler_eos"], id="id", seed=n)
        assert [alone(row)["text"] for row in read(source)] == [
            row["text"] for row in read(tmp_path / f"out.{n}.seed0.jsonl")
        ]


def test_each_of_several_noises_has_targets_of_its_own(tmp_path):
    source = write(tmp_path / "in.jsonl", [{"id": n, "text": text} for n, text in enumerate(TEXTS_ZH)])
    words = ["perturb", "--text", "text", "--id", "id", str(source), str(tmp_path / "out.jsonl")]
    noises = ["--noise", "typed=zh_keyboard:2", "--noise", "zh_homophone@0.5+filler_eos"]
    done = CliRunner().invoke(main, [*words, *noises])
    assert done.exit_code == 0, done.output
    names = {"out.typed.1.jsonl", "out.typed.2.jsonl", "out.zh_homophone_50%+filler_eos.jsonl"}
    assert {path.name for path in tmp_path.glob("out*")} == names
    twice = CliRunner().invoke(main, [*words, "--noise", "speako", "--noise", "speako"])
    assert twice.exit_code == 1 and "two tracks are called 'speako'; name one of them: TRACK=speako" in twice.output


def test_settings_of_several_operators_name_whose_they_are(tmp_path):
    source = write(tmp_path / "in.jsonl", [{"id": 1, "text": "花呗怎么不能提额了"}])
    words = ["perturb", "--noise", "zh_homophone+filler_eos", "--text", "text", str(source)]
    done = CliRunner().invoke(main, [*words, "--set", "zh_homophone:rate=1", str(tmp_path / "out.jsonl")])
    assert done.exit_code == 0, done.output
    (row,) = read(tmp_path / "out.jsonl")
    assert row["operator"].startswith("ZhHomophone(rate=1.0") and len(row["edits"]) == 4
    for setting, says in (
        ("rate=1", "does not say which of several operators"),
        ("speako:rate=1", "did you mean|no operator"),
    ):
        done = CliRunner().invoke(main, [*words, "--set", setting, str(tmp_path / "other.jsonl")])
        assert done.exit_code == 1 and re.search(says, done.output)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no process groups that take SIGINT")
@pytest.mark.parametrize("wait", [0.0, 0.2])
def test_control_c_while_workers_start_leaves_no_traceback(tmp_path, wait):
    source = write(tmp_path / "in.jsonl", [{"id": i, "text": f"play some jazz {i}"} for i in range(50_000)])
    target, parts = tmp_path / "out.jsonl", tmp_path / "out.jsonl.partial"
    words = ["perturb", "--noise", "filler_eos", "--text", "text", "--workers", 3, source, target]
    hear = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    command = [sys.executable, "-c", f"{hear}; from lapsus.cli.main import main; main()", *map(str, words)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        while running.poll() is None and not parts.exists():  # then the workers are about to start
            time.sleep(0.01)
        time.sleep(wait)
        os.killpg(running.pid, signal.SIGINT)
        _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Traceback" not in err and err.startswith("interrupted; run the same command")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the workers are found in /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_their_parent(tmp_path, number):
    def list_children(pid):
        found = set()
        for path in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                state, parent = path.read_text().rpartition(")")[2].split()[:2]
                if int(parent) == pid and state != "Z":
                    found.add(int(path.parent.name))
        return found

    def is_alive(pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(
        "".join(json.dumps({"id": str(i), "text": "a short text of some words"}) + "\n" for i in range(60_000))
    )
    words = ["perturb", "--noise", "filler_eos", "--text", "text", "--id", "id", "--workers", "2", source, target]
    with subprocess.Popen([sys.executable, "-m", "lapsus", *map(str, words)], stderr=subprocess.PIPE) as running:
        parts = Path(f"{target}.partial")
        while running.poll() is None and not list(parts.glob("*.counts")):
            time.sleep(0.01)
        children = list_children(running.pid)
        assert len(children) >= 2
        running.send_signal(number)
        running.wait()
        deadline = time.monotonic() + 5
        while any(map(is_alive, children)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not [pid for pid in children if is_alive(pid)]
    assert not target.exists()
    assert list(parts.glob("*.counts"))
