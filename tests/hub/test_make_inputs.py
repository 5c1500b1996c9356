"""`lapsus make` from anything: each origin of rows gives a folder that loads, and that the Hub's viewer takes."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pytest
import viewer
from click.testing import CliRunner
from datasets import ClassLabel, Dataset, DatasetDict, Features, List, Value
from own_rows import ROWS, load, write_lines

from lapsus.cli.main import main
from lapsus.hub import build_rows
from lapsus.perturbations import apply


def make_jsonl(home):
    return write_lines(home / "rows.jsonl", ROWS), {}


def make_csv(home):
    path = home / "rows.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    return path, {}


def make_dataset(home):  # noqa: ARG001
    kinds = {"id": "string", "text": "string", "score": "float32", "size": "int8", "ok": "bool"}
    rows = {**{name: [row[name] for row in ROWS] for name in ("id", "text")}}
    rows |= {"score": [n / 7 for n in range(24)], "size": list(range(24)), "ok": [n % 3 == 0 for n in range(24)]}
    return Dataset.from_dict(rows, features=Features({name: Value(kind) for name, kind in kinds.items()})), {}


def make_classes(home):  # noqa: ARG001
    features = Features({"id": Value("string"), "text": Value("string"), "label": ClassLabel(names=["no", "yes"])})
    rows = Dataset.from_list(ROWS, features=features)
    return DatasetDict({"train": rows, "test": rows.select(range(12))}), {}


def make_saved(home):
    make_classes(home)[0].save_to_disk(str(home / "saved"))
    return home / "saved", {}


def make_splits_of_files(home):
    (home / "files").mkdir()
    write_lines(home / "files" / "train.jsonl", ROWS)
    write_lines(home / "files" / "mine_dev.jsonl", ROWS[:12])
    return home / "files", {}


def make_split_column(home):
    rows = [{**row, "split": "train" if n % 2 else "test"} for n, row in enumerate(ROWS)]
    return write_lines(home / "rows.jsonl", rows), {}


def make_pairs(home):
    rows = [{"id": row["id"], "text": row["text"], "other": row["text"][::-1]} for row in ROWS]
    return write_lines(home / "rows.jsonl", rows), {"text": ["text", "other"]}


def make_nested(home):
    rows = [{"id": row["id"], "translation": {"en": row["text"], "xx": row["text"].upper()}} for row in ROWS]
    return write_lines(home / "rows.jsonl", rows), {"text": "translation.en"}


def make_squad(home):
    questions = [
        {"id": row["id"], "question": row["text"], "answers": [{"text": "a", "answer_start": 0}]} for row in ROWS
    ]
    content = {"data": [{"title": "t", "paragraphs": [{"context": "a passage", "qas": questions}]}]}
    (home / "squad.json").write_text(json.dumps(content))
    return home / "squad.json", {"text": "question"}


def make_conll(home):
    blocks = ["\n".join(f"{word}\tO" for word in row["text"].split()) for row in ROWS]
    (home / "rows.conll").write_text("".join(f"# id = {n:02}\n{block}\n\n" for n, block in enumerate(blocks)))
    return home / "rows.conll", {"text": "tokens", "tags": "tags"}


def make_arrow(home):  # noqa: ARG001
    return pa.Table.from_pylist(ROWS), {}


def make_no_ids(home):
    return write_lines(home / "rows.jsonl", [{"text": row["text"]} for row in [*ROWS, ROWS[0]]]), {}


SHAPES = [value for name, value in list(globals().items()) if name.startswith("make_")]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__.removeprefix("make_"))
def test_every_origin_becomes_a_folder_that_the_hub_takes(shape, tmp_path):
    source, options = shape(tmp_path)
    options = {"text": "text"} | options
    built = build_rows(source, tmp_path / "out", noise="noisy=filler_eos:2", **options)
    assert viewer.check_folder(built.path) == []
    for config, splits in built.rows.items():
        for split, number in splits.items():
            assert len(load(built.path, config, split)) == number >= 12
    split = next(iter(built.rows["clean"]))
    clean, noisy = (load(built.path, config, split) for config in ("clean", "noisy.1"))
    assert clean["id"] == noisy["id"] and noisy[0]["edits"] != noisy[0]["operator"]


def test_types_and_splits_stay(tmp_path):
    built = build_rows(make_dataset(tmp_path)[0], tmp_path / "out", text="text", noise="noisy=filler_eos")
    kinds = load(built.path, "noisy").features
    assert [kinds[name].dtype for name in ("score", "size", "ok")] == ["float32", "int8", "bool"]
    built = build_rows(make_classes(tmp_path)[0], tmp_path / "two", text="text", noise="noisy=filler_eos")
    assert built.rows["noisy"] == {"train": 24, "test": 12}
    assert load(built.path, "noisy", "train").features["label"] == ClassLabel(names=["no", "yes"])


def test_a_split_column_and_the_names_of_files_tell_splits(tmp_path):
    built = build_rows(make_split_column(tmp_path)[0], tmp_path / "out", text="text", noise="noisy=filler_eos")
    assert built.rows["clean"] == {"test": 12, "train": 12}
    assert "split" not in load(built.path, "clean").features
    built = build_rows(make_splits_of_files(tmp_path)[0], tmp_path / "two", text="text", noise="noisy=filler_eos")
    assert built.rows["clean"] == {"train": 24, "validation": 12}
    one = build_rows(
        str(tmp_path / "files" / "*.jsonl"), tmp_path / "one", text="text", split="train", noise="n=filler_eos"
    )
    assert one.rows["clean"] == {"train": 24}


def test_nested_texts_and_pairs_replay(tmp_path):
    built = build_rows(make_nested(tmp_path)[0], tmp_path / "out", text="translation.en", noise="noisy=filler_eos:2")
    for row, clean in zip(load(built.path, "noisy.1"), load(built.path, "clean"), strict=True):
        assert row["clean_en"] == clean["translation"]["en"] != row["translation"]["en"]
        assert apply(row["clean_en"], row["edits"]["en"]) == row["translation"]["en"]
        assert row["translation"]["xx"] == clean["translation"]["xx"]
    assert [each["annotator"] for each in load(built.path, "noisy")[0]["translation"]["en"]] == [1, 2]
    built = build_rows(make_pairs(tmp_path)[0], tmp_path / "two", text=["text", "other"], noise="noisy=filler_eos")
    assert {"text", "other"} == set(load(built.path, "noisy")[0]["edits"])


def test_tags_of_a_class_label_stay_classes(tmp_path):
    names = ["O", "B-time"]
    features = Features({"id": Value("string"), "tokens": List(Value("string")), "tags": List(ClassLabel(names=names))})
    rows = Dataset.from_list([{"id": "a", "tokens": ["wake", "at", "six"], "tags": [0, 0, 1]}], features=features)
    built = build_rows(rows, tmp_path / "out", text="tokens", tags="tags", noise="noisy=filler_eos")
    (row,) = load(built.path, "noisy")
    assert row["tokens"][:3] == ["wake", "at", "six"] and row["tags"][:3] == [0, 0, 1] and len(row["tags"]) > 3
    assert load(built.path, "noisy").features["tags"].feature.names == names


def test_ids_from_content_are_said_and_stay_with_their_texts(tmp_path):
    source, _ = make_no_ids(tmp_path)
    build_rows(source, tmp_path / "out", text="text", noise="noisy=filler_eos")
    ids = list(load(tmp_path / "out", "clean")["id"])
    assert len(set(ids)) == 25 and ids[-1] == f"{ids[0]}-2"
    assert "The rows had no ids" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="has no nr; its columns are text"):
        build_rows(source, tmp_path / "out", text="text", id="nr", noise="noisy=filler_eos")


@pytest.mark.parametrize(
    ("rows", "options", "sentence"),
    [
        ([{"id": 1, "text": "a", "split": None}], {}, "has None as its split"),
        ([{"id": 1, "a": [{"b": "c"}]}], {"text": "a[0].b"}, "names several texts"),
        ([{"id": 1, "a": {"b": "c"}}], {"text": "a.x"}, "row 1 has None as its a.x, which is no text"),
        ([{"id": 1, "b": "c"}], {"text": "a.x"}, "no column is called 'a.x'; the rows have id, b"),
        ([{"id": 1, "text": ["a"]}], {}, "which is no text; give --tags for tokens"),
        (
            [{"id": n, "text": "你好吗，朋友"} for n in range(30)],
            {"noise": "k=en_keyboard"},
            "en_keyboard, which is for en, and 100% of the letters are Chinese",
        ),
        (
            [{"id": 1, "text": "wake me"}],
            {"noise": "k=zh_keyboard"},
            "which is for zh, and 0% of the letters are Chinese",
        ),
        (
            [{"id": n, "text": f"ok {n}"} for n in range(30)],
            {"noise": "k=synonym_verb"},
            "changes none of the 30 texts",
        ),
        ([], {}, "has no rows"),
    ],
)
def test_what_will_not_do_is_one_sentence(rows, options, sentence, tmp_path):
    options = {"text": "text", "noise": "noisy=filler_eos"} | options
    with pytest.raises((ValueError, LookupError), match=sentence.replace("[", r"\[")):
        build_rows(rows, tmp_path / "out", **options)
    assert [path.name for path in tmp_path.iterdir()] == []


def test_the_card_says_who_made_it_and_with_which_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "rows.jsonl", ROWS)
    (tmp_path / "cite.bib").write_text("@misc{me, title={Mine}}\n")
    words = [
        "make",
        "rows.jsonl",
        "--text",
        "text",
        "--noise",
        "noisy=filler_eos:2",
        "--out",
        "out",
        "--title",
        "My rows",
    ]
    words += [
        "--author",
        "Ida",
        "--task",
        "text-classification",
        "--citation",
        "cite.bib",
        "--description",
        "Requests.",
    ]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    command = "lapsus make rows.jsonl --text text --noise noisy=filler_eos:2 --title 'My rows'"
    for said in ("# My rows", "Requests.", "Ida; generated", "@misc{me", "- text-classification", f"$ {command}"):
        assert said in card, said
    assert "source_datasets:\n- original\n" in card
    assert "official" not in card and "lapsus build" not in card
    assert viewer.check_folder(tmp_path / "out") == []


def test_a_disk_that_is_too_small_is_named_with_what_is_needed(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1000))
    with pytest.raises(OSError, match=r"about 0\.0 MB are needed and 0\.0 MB are free") as caught:
        build_rows(ROWS, tmp_path / "out", text="text", noise="noisy=filler_eos")
    assert caught.value.filename == str(tmp_path / "out") and list(tmp_path.iterdir()) == []
