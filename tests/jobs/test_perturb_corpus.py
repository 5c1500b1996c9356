"""`perturb_corpus`: pieces, shards, resuming, addresses; all in this process. On Ray: `test_ray.py`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from datasets import ClassLabel, Dataset, Features, List, Value, load_dataset
from hypothesis import given, settings
from hypothesis import strategies as st

from lapsus.cli.main import main
from lapsus.jobs import perturb_corpus as module
from lapsus.jobs.partitions import list_files, split_files
from lapsus.jobs.perturb_corpus import perturb_corpus
from lapsus.jobs.perturb_file import perturb_file
from lapsus.perturbations import Edit, Noise

ROWS = [
    {"id": f"u{i}", "text": ["play jazz", "", 'stop, "now"\nplease', "我想听歌", "go 🎷"][i % 5], "n": i}
    for i in range(83)
]


def lines(rows):
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def write(path, rows):
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=31)
    else:
        path.write_text(lines(rows), encoding="utf-8")
    return path


def run(source, target, **options):
    given = {"text": "text", "id": "id", "progress": False, "shard_bytes": 900} | options
    return perturb_corpus(source, target, given.pop("noise", "filler_eos"), **given)


def shards(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("name", ["in.jsonl", "in.parquet"])
def test_the_rows_are_those_of_one_file(tmp_path, name):
    source = write(tmp_path / name, ROWS)
    one = perturb_file(source, tmp_path / "one.parquet", "filler_eos", text="text", id="id", progress=False)
    many = run(source, tmp_path / "many")
    assert pq.read_table(tmp_path / "many") == pq.read_table(tmp_path / "one.parquet")
    assert (many.rows, many.changed, many.unchanged) == (one.rows, one.changed, one.unchanged)
    assert len(shards(tmp_path / "many")) > 2
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "many", "one.parquet"])
    loaded = load_dataset(str(tmp_path / "many"), split="train", cache_dir=str(tmp_path / "cache"))
    assert loaded["id"][:] == [row["id"] for row in ROWS]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text("ab é歌\r\u2028", max_size=12), min_size=1, max_size=30),
    st.integers(1, 90),
    st.booleans(),
    st.booleans(),
)
def test_every_line_is_in_one_piece(tmp_path_factory, texts, size, ended, marked):
    path = tmp_path_factory.mktemp("pieces") / "in.jsonl"
    told = "\n".join(json.dumps({"t": text}, ensure_ascii=False) if text else "" for text in texts) + "\n" * ended
    path.write_bytes(b"\xef\xbb\xbf" * marked + told.encode())
    found = [row for piece in split_files([str(path)], size) for row in piece.read_table().to_pylist()]
    assert found == [{"t": text} for text in texts if text]


@pytest.mark.parametrize("size", [1, 7, 100, 10**6])
@pytest.mark.parametrize("group", [1, 10, 31, 1000])
def test_every_row_of_parquet_is_in_one_piece(tmp_path, group, size):
    table = pa.table({"n": range(100), "text": [str(n) * (n % 7) for n in range(100)]})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=group)
    pieces = split_files([str(tmp_path / "in.parquet")], size * 30)
    assert pa.concat_tables(piece.read_table() for piece in pieces) == table


@pytest.mark.parametrize("order", [1, -1])
def test_columns_that_come_late_are_kept(tmp_path, order):
    late = [{"x": 1}, {"x": 2.5}, {"y": {"a": 1}}, {"y": {"b": "é"}}, {"z": [1]}, {"x": None}]
    rows = [{"id": i, "text": f"play song {i}"} | (late[i // 15] if i % 15 == 14 else {}) for i in range(90)][::order]
    source = write(tmp_path / "in.jsonl", rows)
    perturb_file(source, tmp_path / "one.parquet", "filler_eos", text="text", id="id", progress=False)
    run(source, tmp_path / "many")
    many = pq.read_table(tmp_path / "many")
    assert many == pq.read_table(tmp_path / "one.parquet")
    assert [row["x"] for row in many.to_pylist()] == [row.get("x") for row in rows]
    assert len({pq.read_schema(path) for path in (tmp_path / "many").iterdir()}) == 1


def test_a_folder_of_files_and_a_pattern(tmp_path):
    folder = tmp_path / "rows"
    (folder / "deep").mkdir(parents=True)
    for number, name in enumerate(["a.jsonl", "deep/b.jsonl", "c.jsonl"]):
        write(folder / name, ROWS[number * 20 : number * 20 + 20])
    write(folder / "_hidden.jsonl", ROWS)
    (folder / "README.md").write_text("mine")
    assert run(folder, tmp_path / "all").rows == 60
    assert run(f"{folder}/*.jsonl", tmp_path / "top", id=None).rows == 40 + len(ROWS)  # a pattern names what it names


def test_addresses_that_fsspec_opens(tmp_path):
    fs = fsspec.filesystem("memory")
    fs.pipe_file("/corpus/in.jsonl", lines(ROWS).encode())
    done = run("memory://corpus", "memory://noisy")
    assert done.rows == 83 and str(done).startswith("wrote 83 rows to memory://noisy, ")
    run(write(tmp_path / "in.jsonl", ROWS), tmp_path / "local")
    there = {name.rpartition("/")[2]: fs.cat_file(name) for name in fs.find("/noisy")}
    assert there == shards(tmp_path / "local")
    assert not fs.exists("/noisy.partial")
    fs.rm("/", recursive=True)


BROKEN, SEEN = [], []


@dataclass(frozen=True, slots=True)
class Fragile:
    """Fails on one text for as long as BROKEN says so, and tells what it has seen."""

    name: str = "fragile"
    version: str = "1"

    def edits(self, text, rng):
        SEEN.append(text)
        if text in BROKEN:
            raise RuntimeError("power cut")
        return (Edit(0, 0, "so "),)


@pytest.fixture
def numbered(tmp_path):
    BROKEN.clear()
    SEEN.clear()
    return write(tmp_path / "in.jsonl", [{"id": i, "text": f"row {i}"} for i in range(60)])


def test_a_run_that_was_cut_short_goes_on(tmp_path, numbered):
    noise = Noise(Fragile())
    run(numbered, tmp_path / "whole", noise=noise, shard_bytes=300)
    BROKEN.append("row 40")
    with pytest.raises(
        ValueError,
        match=r"in.jsonl: fragile fails on the row with the id 40 \(RuntimeError: power cut\); mend the row, or leave",
    ):
        run(numbered, tmp_path / "out", noise=noise, shard_bytes=300)
    assert not (tmp_path / "out").exists()
    done = len(list((tmp_path / "out.partial" / "notes").iterdir()))
    assert done > 2
    BROKEN.clear()
    SEEN.clear()
    assert run(numbered, tmp_path / "out", noise=noise, shard_bytes=300).rows == 60
    assert SEEN[0] == f"row {60 - len(SEEN)}" and len(SEEN) < 30
    assert shards(tmp_path / "out") == shards(tmp_path / "whole")
    assert not (tmp_path / "out.partial").exists()


@pytest.mark.parametrize("place", ["disk", "store"])
@pytest.mark.parametrize("stop", ["before the move", "during the move", "after the move"])
def test_a_run_that_stopped_at_the_move_is_done_again_without_loss(tmp_path, numbered, monkeypatch, place, stop):
    """However often it stops there: the next run, with or without overwrite, ends with all shards."""
    run(numbered, tmp_path / "whole", shard_bytes=300)
    target = str(tmp_path / "out") if place == "disk" else "memory://out"
    fs, path = fsspec.core.url_to_fs(target)
    move = module.RemoteFolder.move

    def stop_at_move(folder, name, to):
        if stop == "during the move" and place == "store":  # a store copies all files, then deletes one after the other
            for number, file in enumerate(sorted(fs.find(f"{path}.partial/{name}"))):
                fs.copy(file, f"{path}/{file.rpartition('/')[2]}")
                if number < 2:
                    fs.rm(file)
        elif stop != "before the move":
            move(folder, name, to)
        raise KeyboardInterrupt

    for overwrite in (False, True, True):
        monkeypatch.setattr(module.RemoteFolder, "move", stop_at_move)
        with pytest.raises(KeyboardInterrupt):
            run(numbered, target, shard_bytes=300, overwrite=overwrite)
    monkeypatch.undo()
    if stop != "before the move":
        with pytest.raises(FileExistsError, match="has shards already"):
            run(numbered, target, shard_bytes=300)
    assert run(numbered, target, shard_bytes=300, overwrite=True).rows == 60
    there = {name.rpartition("/")[2]: fs.cat_file(name) for name in fs.find(path)}
    assert there == shards(tmp_path / "whole")
    assert not fs.exists(f"{path}.partial")
    fs.rm(path, recursive=True)


@pytest.mark.parametrize("other", [{"seed": 1}, {"shard_bytes": 400}, {"noise": Noise(Fragile(version="2"))}, "rows"])
def test_another_job_begins_anew(tmp_path, numbered, other):
    BROKEN.append("row 40")
    with pytest.raises(ValueError, match="power cut"):
        run(numbered, tmp_path / "out", noise=Noise(Fragile()), shard_bytes=300)
    BROKEN.clear()
    SEEN.clear()
    if other == "rows":
        write(numbered, [{"id": i, "text": f"now {i}"} for i in range(60)])
        other = {}
    run(numbered, tmp_path / "out", **{"noise": Noise(Fragile()), "shard_bytes": 300} | other)
    assert len(SEEN) == 60


def test_what_was_not_begun_leaves_no_folder(tmp_path, numbered):
    BROKEN.append("row 0")
    with pytest.raises(ValueError, match="power cut"):
        run(numbered, tmp_path / "out", noise=Noise(Fragile()))
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


@pytest.mark.parametrize("keys_at_once", [1, 7, 2**24])
def test_a_key_of_two_rows_is_refused_whichever_shards_they_are_in(tmp_path, monkeypatch, keys_at_once):
    monkeypatch.setattr(module, "KEYS_AT_ONCE", keys_at_once)
    rows = [{"id": None if i in {4, 9} else i % 79, "text": f"row {i}"} for i in range(81)]
    source = write(tmp_path / "in.jsonl", rows)
    with pytest.raises(ValueError, match=r"duplicate id '[01](.0)?' in column 'id'; ids must be unique"):
        run(source, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]
    assert run(write(source, rows[:79]), tmp_path / "out").rows == 79


def test_what_is_there_is_kept(tmp_path):
    source, target = write(tmp_path / "in.jsonl", ROWS), tmp_path / "out"
    run(source, target)
    with pytest.raises(FileExistsError, match=r"has shards already; name another folder, or replace them with --over"):
        run(source, target)
    run(write(source, ROWS[:20]), target, overwrite=True, shard_bytes=400)
    assert pq.read_table(target).num_rows == 20
    (target / "thesis.tex").write_text("mine")
    with pytest.raises(FileExistsError, match="has files that are no shards; name another folder"):
        run(source, target, overwrite=True)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FileExistsError, match="is a file, and shards go into a folder; name another"):
        run(source, tmp_path / "file", overwrite=True)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "in.jsonl",
            lines(ROWS) + "{\n",
            r"in.jsonl, line 84, column 2: Expecting property name .*; every line is one",
        ),
        (
            "in.jsonl",
            lines(ROWS) + '{"id": 1, "text": "go"}\n' + lines(ROWS),
            r"in.jsonl: the column 'id' mixes types \(.*\), first in the row {'id': 1}; give it",
        ),
        ("in.jsonl", "", r"in.jsonl: holds no rows; give a file with at least one$"),
        ("in.jsonl", '{"id": 1, "words": "a"}\n', r"no column is called 'text'; .*in.jsonl has id, words$"),
        ("in.parquet", "no", r"in.parquet: is no Parquet file \(.*\); write it again$"),
        (
            "in.csv",
            "id,text\n",
            r"in.csv is CSV, whose rows may span lines; convert it to Parquet, or leave --executor ray out",
        ),
        (
            "in.json",
            '[{"id": 1, "text": "go"}]',
            r"in.json: is one JSON list, which has no lines to split at; give it as",
        ),
        ("in.txt", "go", r"in.txt has no known format|has no files of JSON lines or Parquet; name a file, a folder"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, name, content, sentence):
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises((ValueError, LookupError, OSError), match=sentence):
        run(tmp_path / name, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("shard_bytes", [1, 10_000])
def test_a_byte_order_mark_counts_only_at_the_start_of_the_file(tmp_path, shard_bytes):
    rows = lines([{"id": n, "text": "go"} for n in range(4)]).splitlines(keepends=True)
    (tmp_path / "in.jsonl").write_text("\ufeff" + "".join(rows), encoding="utf-8")
    assert run(tmp_path / "in.jsonl", tmp_path / "out", shard_bytes=shard_bytes).rows == 4
    (tmp_path / "in.jsonl").write_text("".join([*rows[:2], "\ufeff", *rows[2:]]), encoding="utf-8")
    with pytest.raises(ValueError, match=r"in\.jsonl, line 3"):
        run(tmp_path / "in.jsonl", tmp_path / "other", shard_bytes=shard_bytes)


def test_types_that_differ_between_shards_are_named(tmp_path):
    source = write(
        tmp_path / "in.jsonl", [{"id": 100_000 + i if i > 39 else f"u{i:03}", "text": "go"} for i in range(80)]
    )
    with pytest.raises(ValueError, match=r"^the files mix types in a column \(.*id.*\); give it one$"):
        run(source, tmp_path / "out", shard_bytes=source.stat().st_size // 2)


def test_other_mistakes_are_named(tmp_path):
    source = write(tmp_path / "in.jsonl", ROWS)
    with pytest.raises(ValueError, match=r"out.jsonl names one file, and shards of Parquet go into a folder; name a f"):
        run(source, tmp_path / "out.jsonl")
    with pytest.raises(ValueError, match=r"would get a commit for each shard; write to a folder, and publish it with"):
        run(source, "hf://datasets/org/name")
    with pytest.raises(ValueError, match=r"shard_bytes is 0; give 1 or more"):
        run(source, tmp_path / "out", shard_bytes=0)
    write(tmp_path / "two.parquet", ROWS)
    with pytest.raises(ValueError, match=r"files of several formats \(.jsonl, .parquet\); name those of one, as in"):
        run(tmp_path, tmp_path / "out")
    with pytest.raises(
        FileNotFoundError, match=r"no/such has no files of JSON lines or Parquet; name a file, a folder"
    ):
        list_files("no/such")
    told = CliRunner().invoke(
        main, ["perturb", "--noise", "filler_eos", "--text", "text", "--ray-address", "auto", "a", "b"]
    )
    assert (
        told.exit_code == 2 and "--ray-address names a Ray cluster; add --executor ray, or leave it out" in told.output
    )


def test_an_address_without_a_cluster_is_named(tmp_path):
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    source = write(tmp_path / "in.jsonl", ROWS)
    words = ["perturb", "--noise", "filler_eos", "--text", "text", "--executor", "ray", "--ray-address", "127.0.0.1:1"]
    told = CliRunner().invoke(main, [*words, str(source), str(tmp_path / "out")])
    assert told.exit_code == 1 and re.fullmatch(
        r"Error: there is no Ray cluster at 127.0.0.1:1 \(.*\); start one with `ray start --head`, or leave --ray-address "
        r"out\n",
        told.output,
    )


def test_tags_by_number_and_several_operators(tmp_path):
    labels = List(ClassLabel(names=["O", "B-genre"]))
    features = Features({"id": Value("string"), "tokens": List(Value("string")), "tags": labels})
    rows = {"id": ["u1", "u2"], "tokens": [["play", "jazz"], ["jazz"]], "tags": [[0, 1], [1]]}
    Dataset.from_dict(rows, features=features).to_parquet(tmp_path / "in.parquet")
    noises = [Noise(Fragile()), Noise(Fragile(name="other"))]
    run(tmp_path / "in.parquet", tmp_path / "out", noise=noises, text="tokens", tags="tags")
    first, _ = pq.read_table(tmp_path / "out").to_pylist()
    assert (first["tokens"], first["tags"]) == (["so", "so", "play", "jazz"], [0, 0, 0, 1])
    assert first["clean_tokens"] == ["play", "jazz"] and " then " in first["operator"]
