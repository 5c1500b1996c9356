"""Tables of any origin are read in one way: files, folders and repos of `datasets`, and objects in memory."""

from __future__ import annotations

import json

import pandas as pd
import pyarrow as pa
import pytest
from datasets import ClassLabel, Dataset, DatasetDict, Features, List, Value
from pyarrow import feather

from lapsus.evaluation import make_task, run
from lapsus.hub import build_rows
from lapsus.io.predictions import read_predictions
from lapsus.io.readers import FileFormatError, read_rows
from lapsus.io.tables import Table, read_table
from lapsus.jobs.perturb_file import perturb_file
from lapsus.reporting.score import score
from lapsus.reporting.tracks import read_tracks

FEATURES = Features(
    {
        "id": Value("string"),
        "label": ClassLabel(names=["no", "yes"]),
        "tags": List(ClassLabel(names=["O", "B"])),
        "small": Value("int8"),
        "score": Value("float32"),
        "spans": List({"start": Value("int32"), "text": Value("string")}),
    }
)
ROWS = [
    {"id": str(i), "label": i % 2, "tags": [0, 1], "small": i, "score": 0.1, "spans": [{"start": i, "text": "a"}]}
    for i in range(4)
]
NAMED = [row | {"label": ["no", "yes"][row["label"]], "tags": ["O", "B"], "score": pytest.approx(0.1)} for row in ROWS]


@pytest.fixture
def dataset():
    return Dataset.from_list(ROWS, features=FEATURES)


def make_parquet(dataset, folder):
    dataset.to_parquet(str(folder / "data.parquet"))
    return folder / "data.parquet"


def make_feather(dataset, folder):
    feather.write_feather(dataset.with_format("arrow")[:], str(folder / "data.feather"))
    return str(folder / "data.feather")


def make_stream(dataset, folder):
    dataset.save_to_disk(str(folder / "saved"))
    return folder / "saved" / "data-00000-of-00001.arrow"


def make_saved(dataset, folder):
    dataset.save_to_disk(str(folder / "saved"))
    return folder / "saved"


def make_saved_splits(dataset, folder):
    DatasetDict({"train": dataset.select([0]), "test": dataset}).save_to_disk(str(folder / "saved"))
    return str(folder / "saved")


@pytest.mark.parametrize(
    "make",
    [
        make_parquet,
        make_feather,
        make_stream,
        make_saved,
        make_saved_splits,
        lambda dataset, _: dataset,
        lambda dataset, _: DatasetDict({"test": dataset}),
        lambda dataset, _: dataset.to_iterable_dataset(),
        lambda dataset, _: dataset.with_format("arrow")[:],
        lambda dataset, _: dataset.select(range(3, -1, -1)).sort("id"),  # rows in another order than they are stored
    ],
)
def test_types_and_classes_survive_whatever_holds_them(dataset, tmp_path, make):
    source = make(dataset, tmp_path)
    table = read_table(source, split="test")
    assert table.to_rows() == [row | {"score": pytest.approx(0.1)} for row in ROWS]
    if table.classes:  # a stream has no columns of Arrow
        assert table.with_class_names().to_rows() == NAMED
        types = {name: column.type for name, column in table.columns.items()}
        assert (types["small"], types["score"]) == (pa.int8(), pa.float32())
        assert read_table(table) is table and table.take([1]).with_class_names().to_rows() == [NAMED[1]]


def test_a_split_is_named_where_there_are_several(dataset, tmp_path):
    with pytest.raises(LookupError, match=r"saved: has the splits 'train', 'test': name one of them"):
        read_table(make_saved_splits(dataset, tmp_path))
    with pytest.raises(LookupError, match=r"saved: has no split 'dev'; it has 'train', 'test': name one of them"):
        read_table(tmp_path / "saved", split="dev")


def test_a_repo_of_the_hub_is_read_by_its_name(dataset, monkeypatch):
    import datasets

    asked = []

    def load(repo, config, split):
        asked.append((repo, config, split))
        if repo == "org/none":
            raise datasets.exceptions.DatasetNotFoundError("Dataset 'org/none' doesn't exist on the Hub.\nMore.")
        return dataset

    monkeypatch.setattr(datasets, "load_dataset", load)
    assert read_table("org/data:hard", split="dev").with_class_names().to_rows() == NAMED
    assert asked == [("org/data", "hard", "dev")]
    with pytest.raises(FileNotFoundError, match=r"^org/none: no such file, and no dataset of the Hub \(Dataset"):
        read_table("org/none")
    with pytest.raises(FileNotFoundError, match=r"^folder/p\.jsonl: no such file; give the path"):
        read_table("folder/p.jsonl")


def test_a_data_frame_keeps_its_types_and_mixed_columns():
    frame = pd.DataFrame({"id": ["a", "b"], "n": [1, 2], "x": [0.5, None], "mixed": ["a", 1], "gap": [None, "b"]})
    assert read_table(frame.set_index("n", drop=False)).to_rows() == [
        {"id": "a", "n": 1, "x": 0.5, "mixed": "a", "gap": None},
        {"id": "b", "n": 2, "x": None, "mixed": 1, "gap": "b"},
    ]


@pytest.mark.parametrize("source", [7, ["row"], None])
def test_what_is_no_table_is_refused(source):
    with pytest.raises(TypeError, match="is no row; give a path, rows as dicts, a dataset or a data frame"):
        read_table(source)


SOURCES = [make_parquet, make_feather, make_stream, make_saved]


def with_text(dataset):
    return dataset.add_column("text", [f"slow down {i}" for i in range(len(dataset))])


def answer(rows):
    return ["yes" for _ in rows]


@pytest.mark.parametrize(
    "make",
    [
        *SOURCES,
        lambda dataset, _: dataset,
        lambda dataset, _: dataset.with_format("arrow")[:],
        lambda dataset, _: pd.DataFrame(row | {"label": ["no", "yes"][row["label"]]} for row in dataset),
    ],
)
def test_a_model_is_run_on_rows_whatever_holds_them(dataset, tmp_path, make):
    clean, noisy = run(make_task("text", "label"), make(with_text(dataset), tmp_path), answer, noise=["filler_eos"])
    assert [(row["id"], row["gold"], row["score"]) for row in clean.rows] == [
        (row["id"], row["label"], float(row["label"] == "yes")) for row in NAMED
    ]
    assert noisy.track == "filler_eos" and noisy.rows[3]["clean_text"] == "slow down 3"


@pytest.mark.parametrize("make", SOURCES)
def test_noise_keeps_types_and_classes_whatever_holds_the_rows(dataset, tmp_path, make):
    source = make(with_text(dataset), tmp_path)
    perturb_file(source, tmp_path / "noisy.parquet", "filler_eos", text="text", id="id")
    build_rows(source, tmp_path / "built", text="text", noise="filler_eos")
    built = tmp_path / "built" / "filler_eos" / "test-00000-of-00001.parquet"
    for features in (Dataset.from_parquet(str(path)).features for path in (tmp_path / "noisy.parquet", built)):
        assert {name: features[name] for name in FEATURES} == dict(FEATURES)


def test_splits_that_are_not_named_are_refused_with_their_names(dataset, tmp_path):
    source = make_saved_splits(with_text(dataset), tmp_path)
    built = build_rows(source, tmp_path / "built", text="text", noise="filler_eos")
    assert list(built.rows["filler_eos"]) == ["train", "test"]  # a dataset keeps its splits
    with pytest.raises(LookupError, match="has the splits 'train', 'test': name one of them"):
        perturb_file(source, tmp_path / "noisy.jsonl", "filler_eos", text="text", id="id")
    [track] = run(make_task("text", "label"), source, answer, split="train")
    assert [row["id"] for row in track.rows] == ["0"]
    with pytest.raises(ValueError, match=r"data\.parquet is a file, which has no split 'train'; leave the split out"):
        run(make_task("text", "label"), make_parquet(with_text(dataset), tmp_path), answer, split="train")


def test_files_are_read_as_their_rows_are(tmp_path):
    rows = [{"id": "a", "n": 1}, {"id": "b", "n": 2}]
    feather.write_feather(pa.Table.from_pylist(rows), str(tmp_path / "p.feather"))
    (tmp_path / "p.csv").write_text("\ufeffid\tn\na\t1\nb\t2\n", encoding="utf-8")  # tabs, whatever the file is called
    (tmp_path / "p.json").write_text("\ufeff" + json.dumps(rows), encoding="utf-8")
    (tmp_path / "p.jsonl").write_text("\ufeff" + "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for path in tmp_path.iterdir():
        assert read_table(path).to_rows() == read_rows(path) == rows


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["p.csv", "p.tsv", "p.jsonl", "p.json"])
def test_utf_16_is_named(tmp_path, name, encoding):
    text = {"p.csv": "id,n\n1,2\n", "p.tsv": "id\tn\n1\t2\n", "p.jsonl": '{"id": 1}\n', "p.json": '[{"id": 1}]'}[name]
    (tmp_path / name).write_text(text, encoding=encoding)
    for read in (read_table, read_rows, read_predictions):
        with pytest.raises(FileFormatError, match=rf"{name}: is UTF-16; save the file as UTF-8$"):
            read(tmp_path / name)


@pytest.mark.parametrize("name", ["p.parquet", "p.arrow", "p.feather"])
def test_a_damaged_file_is_named(tmp_path, name):
    (tmp_path / name).write_bytes(b"ARROW1\0\0damaged")
    with pytest.raises(FileFormatError, match=rf"{name}: is no (Parquet|Arrow) file \(.*\); write it again$"):
        read_table(tmp_path / name)


def test_references_may_be_any_table(dataset, tmp_path):
    predictions = tmp_path / "m.clean.jsonl"
    rows = [{"id": row["id"], "label": row["label"]} for row in NAMED]
    numbers, names = [0, 1, 0, 1], ["no", "yes", "no", "yes"]
    for references, answers, golds in (
        (dataset, numbers, names),
        (make_saved(dataset, tmp_path), numbers, names),
        (pd.DataFrame(rows), names, names),
        (rows, names, names),
        (Table.from_rows(ROWS), numbers, numbers),
    ):
        lines = (json.dumps({"id": i, "prediction": answer}) + "\n" for i, answer in enumerate(answers))
        predictions.write_text("".join(lines))
        [track] = read_tracks([predictions], references=references)
        assert [row["gold"] for row in track.rows] == golds
        assert "score" not in track.rows[0]  # a score of the data is none of the model
        found = score("prediction_consistency", [predictions], references, {"original_predictions": str(predictions)})
        assert found["accuracy"] == 1.0


def test_logs_are_sought_in_predictions_alone(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text('{"doc_id": 1, "doc": {"id": "a"}, "target": "x", "filtered_resps": ["y"]}\n')
    assert read_table(path).to_rows()[0]["doc"] == {"id": "a"}
    assert read_predictions(path).table.to_rows() == [{"id": "a", "prediction": "y", "reference": "x"}]


@pytest.mark.parametrize("limit", [0, 10**9])
def test_a_report_parses_each_file_once(tmp_path, monkeypatch, limit):
    from lapsus.io import tables
    from lapsus.reporting import tracks as module

    files = []
    for name in ("clean", "keyboard.1"):
        files.append(tmp_path / f"m.{name}.jsonl")
        files[-1].write_text("".join(json.dumps({"id": i, "prediction": "a"}) + "\n" for i in range(4)))
    references = tmp_path / "data.jsonl"
    references.write_text("".join(json.dumps({"id": i, "gold": "a"}) + "\n" for i in range(4)))
    parsed, read_file = [], tables._read_file
    monkeypatch.setattr(tables, "_read_file", lambda path: parsed.append(path) or read_file(path))
    monkeypatch.setattr(module, "MAX_KEPT_BYTES", limit)
    read_tracks(files, references=references)
    assert sorted(parsed) == sorted([*files, references])
