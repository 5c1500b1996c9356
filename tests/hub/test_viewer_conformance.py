"""Every folder the project publishes suits the Hub's viewer and clients; and the checks find what would not."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import small_folder
import viewer
from datasets import ClassLabel, Dataset, Features, List, Value, get_dataset_config_names, load_dataset

from lapsus.dataset_scripts import benchmarks
from lapsus.hub.build import build_dataset


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound") / "small"
    folder.mkdir()
    return small_folder.write(folder, small_folder.configs())


@pytest.fixture
def broken(sound, tmp_path):
    return Path(shutil.copytree(sound, tmp_path / "small"))


def edit_card(old: str, new: str) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        card = folder / "README.md"
        text = card.read_text(encoding="utf-8")
        assert old in text
        card.write_text(text.replace(old, new, 1), encoding="utf-8")

    return edit


def rewrite(file: str, change: Callable[[pa.Table], pa.Table], **options) -> Callable[[Path], None]:
    """Return an edit that writes a Parquet file anew, with `change` made to its table."""

    def edit(folder: Path) -> None:
        table = change(pq.read_table(folder / file))
        pq.write_table(table, folder / file, **({"write_page_index": True} | options))

    return edit


def same(table: pa.Table) -> pa.Table:
    return table


CLEAN_TEST = "clean/test-00000-of-00001.parquet"
BREAKS = {
    "script in the root": (lambda folder: (folder / "small.py").touch(), "small.py in the root"),
    "no card": (lambda folder: (folder / "README.md").unlink(), "no README.md"),
    "no YAML": (edit_card("---\n", ""), "does not begin with YAML"),
    "YAML that datasets rejects": (edit_card("split: train", "split: tr-ain"), "cannot read the YAML"),
    "placeholder": (edit_card("Something true.", "[More Information Needed]"), "still has '[More Information Needed]'"),
    "template left over": (edit_card("Something true.", "{{ title }}"), "still has '{{ title }}'"),
    "section missing": (edit_card("### Direct Use", "### Directly"), "no section 'Direct Use'"),
    "section at the wrong level": (edit_card("## Glossary", "# Glossary"), "'Glossary' is at level 1"),
    "section empty": (edit_card("Something true.\n\n## Uses", "## Uses"), "'Dataset Sources' is empty"),
    "config listed twice": (edit_card("config_name: keyboard.1", "config_name: clean"), "'clean' is listed 2 times"),
    "config not described": (
        edit_card("configs:\n- config_name: clean", "configs:\n- config_name: klean"),
        "'clean' is only in dataset_info",
    ),
    "config name that is a number": (edit_card("config_name: keyboard.1", "config_name: 1.5"), "config 1.5 is a float"),
    "config name with a slash": (
        edit_card("config_name: keyboard.1", "config_name: key/board"),
        "'key/board' has a name that datasets rejects",
    ),
    "config named data": (
        edit_card("config_name: keyboard.1", "config_name: data"),
        "'data' has a name that datasets rejects",
    ),
    "no default": (edit_card("  default: true\n", ""), "no config is the default"),
    "two defaults": (
        edit_card("path: keyboard.1/test-*\n", "path: keyboard.1/test-*\n  default: true\n"),
        "several default configs",
    ),
    "split named all": (edit_card("split: train", "split: all"), "clean/all: datasets rejects the name"),
    "split not described": (
        edit_card("  - split: train\n    path: clean/train-*\n", ""),
        "has the splits ['test'] in configs, ['train', 'test'] in dataset_info",
    ),
    "file of no split": (
        lambda folder: shutil.copy(folder / CLEAN_TEST, folder / "clean/dev-00000-of-00001.parquet"),
        "dev-00000-of-00001.parquet belongs to 0 splits",
    ),
    "file of two splits": (
        edit_card("path: keyboard.1/test-*", "path: '*/test-*'"),
        f"{CLEAN_TEST} belongs to 2 splits",
    ),
    "file missing": (lambda folder: (folder / CLEAN_TEST).unlink(), "clean/test: no file matches"),
    "shard missing": (
        lambda folder: (folder / CLEAN_TEST).rename(folder / "clean/test-00000-of-00002.parquet"),
        "are not all shards",
    ),
    "rows missing": (rewrite(CLEAN_TEST, lambda table: table.slice(1)), "num_examples is 9 in YAML, 8 in the files"),
    "wrong num_bytes": (
        lambda folder: edit_card(
            re.search(r"num_bytes: \d+", (folder / "README.md").read_text(encoding="utf-8"))[0], "num_bytes: 9"
        )(folder),
        "num_bytes is 9 in YAML",
    ),
    "wrong download_size": (
        lambda folder: edit_card(
            re.search(r"download_size: \d+", (folder / "README.md").read_text(encoding="utf-8"))[0], "download_size: 9"
        )(folder),
        "download_size is 9 in YAML",
    ),
    "wrong dataset_size": (
        lambda folder: edit_card(
            re.search(r"dataset_size: \d+", (folder / "README.md").read_text(encoding="utf-8"))[0], "dataset_size: 9"
        )(folder),
        "dataset_size is not the sum",
    ),
    "other class names in YAML": (edit_card("'1': same", "'1': different again"), "different features: label"),
    "no features in the footer": (
        rewrite(CLEAN_TEST, lambda table: table.replace_schema_metadata(None)),
        "no features in its footer",
    ),
    "no page index": (rewrite(CLEAN_TEST, same, write_page_index=False), "has no page index"),
    "class beyond the names": (
        rewrite(CLEAN_TEST, lambda table: table.set_column(2, table.field(2), pa.array([7] * 9))),
        "no statistics of 'label': 7 is none of its 2 classes",
    ),
    "infinite value": (
        rewrite(CLEAN_TEST, lambda table: table.set_column(4, table.field(4), pa.array([float("inf")] * 9))),
        "no statistics of 'score': an infinite value",
    ),
    "one number alone": (
        rewrite(CLEAN_TEST, lambda table: table.set_column(3, table.field(3), pa.array([1] + [None] * 8, pa.int32()))),
        "no statistics of 'length': one value alone",
    ),
    "column of nulls": (
        rewrite(CLEAN_TEST, lambda table: table.set_column(1, table.field(1), pa.nulls(9, pa.string()))),
        "'question' is null in every row",
    ),
}


def test_a_sound_folder_has_no_findings(sound):
    assert list(viewer.findings(sound)) == []


@pytest.mark.parametrize(("break_it", "finding"), BREAKS.values(), ids=BREAKS)
def test_each_break_is_found(broken, break_it, finding):
    break_it(broken)
    assert [problem for problem in viewer.check_folder(broken) if finding in problem]


def written(folder: Path, content, **options) -> list[str]:
    folder.mkdir()
    small_folder.write(folder, content, **options)
    return viewer.check_folder(folder)


def column(name: str, values: list, feature) -> dict[str, dict[str, Dataset]]:
    return {"clean": {"test": Dataset.from_dict({name: values}, features=Features({name: feature}))}}


@pytest.mark.parametrize(
    ("content", "finding"),
    [
        (lambda: {"clean": {"test": small_folder.dataset(2).select(range(0))}}, "clean/test is empty"),
        (lambda: {"clean": {f"part{n}": small_folder.dataset(2) for n in range(31)}}, "has 31 splits"),
        (lambda: column("x" * 501, ["a"], Value("string")), "has a name of 501 characters"),
        (lambda: column("class", [0, 1], ClassLabel(names=[f"{n:0100}" for n in range(2_000)])), "the features take"),
        (lambda: column("text", ["长" * 10_000] * 10, Value("string")), "the first 10 rows take"),
        (lambda: column("text", ["长" * 50_000] * 100, Value("string")), "a page of 100 rows takes"),
        (lambda: column("text", ["a"] * 200 + ["b" * 200_000] * 100, Value("string")), "a page of 100 rows takes"),
        (lambda: column("moment", [1, 2], Value("duration[s]")), "do not become JSON: timedelta"),
    ],
    ids=["empty split", "splits", "column name", "features", "first rows", "first page", "later page", "no JSON"],
)
def test_limits_of_the_viewer(tmp_path, content, finding):
    assert [problem for problem in written(tmp_path / "small", content()) if finding in problem]


def test_too_many_columns(tmp_path):
    wide = Dataset.from_dict({f"c{n}": ["a", "b"] for n in range(1001)})
    assert "clean/test has 1001 columns, the viewer stops at 1000" in written(
        tmp_path / "small", {"clean": {"test": wide}}
    )


def test_too_many_configs():
    names = [f"c{number}" for number in range(4001)]
    content = {"configs": [{"config_name": name} for name in names]}
    few = {name: {} for name in names[:101]}
    many = {name: {} for name in names}

    def told(configs):
        return [
            finding
            for finding in viewer.check_configs(content, viewer.MetadataConfigs(configs), configs)
            if "configs," in finding.what
        ]

    assert told(few) == [viewer.Finding("101 configs, Croissant shows the first 100", serious=False)]
    assert told(many) == [viewer.Finding("4001 configs, the viewer stops at 4000")]


def test_row_groups_have_a_limit(sound, monkeypatch):
    monkeypatch.setattr(viewer, "ROW_GROUP_BYTES", 100)
    assert [problem for problem in viewer.check_folder(sound) if "row group" in problem]


@pytest.mark.parametrize("values", [[0, 1], [[1], [1, 2], None], [f"{n}" for n in range(90, 110)]])
def test_histograms_of_two_neighbours_are_refused(values):
    """The viewer's histogram refuses them (huggingface/dataset-viewer#3440): no statistics of the whole split."""
    column = pa.chunked_array([values])
    feature = {"int64": Value("int64"), "string": Value("string")}.get(str(column.type), List(Value("int64")))
    with pytest.raises(viewer.StatisticsError, match="3440") as error:
        viewer.statistics(column, feature)
    assert error.value.serious


def test_neighbours_are_a_problem_of_the_folder(tmp_path):
    folder = tmp_path / "small"
    problem = "clean/test: no statistics of 'text': all are 2 or 3 (huggingface/dataset-viewer#3440)"
    assert written(folder, column("text", [f"{n}" for n in range(90, 110)], Value("string"))) == [problem]
    assert viewer.warn_folder(folder) == []


def test_statistics_fail_on_no_rows():
    for feature in (Value("string"), Value("int64"), Value("bool"), ClassLabel(names=["a"]), List(Value("string"))):
        with pytest.raises(viewer.StatisticsError, match="no rows"):
            viewer.statistics(pa.chunked_array([[]], pa.int64()), feature)


def test_statistics_agree_with_numbers_done_by_hand():
    assert viewer.statistics(pa.chunked_array([[1, 2, 2, 7, None]]), Value("int64")) == {
        "nulls": 1,
        "min": 1,
        "max": 7,
        "mean": 3.0,
        "median": 2.0,
        "std": pytest.approx((22 / 3) ** 0.5),
        "histogram": {"counts": [1, 2, 0, 0, 0, 1], "edges": [1, 2, 3, 4, 5, 6, 7]},
    }
    assert viewer.statistics(pa.chunked_array([[0, 1, 1, -1, None]]), ClassLabel(names=["a", "b"])) == {
        "frequencies": {"a": 1, "b": 2},
        "nulls": 1,
        "unlabelled": 1,
    }


EMBEDDED = [name for name, unit in benchmarks().items() if unit.get_bundled_folder()]  # built without a source


@pytest.fixture(scope="module", params=EMBEDDED)
def built(request, built_sample, tmp_path_factory):
    benchmark = benchmarks()[request.param]
    if request.param == "sample":
        return benchmark, built_sample
    return benchmark, build_dataset(benchmark, tmp_path_factory.mktemp("built") / request.param).path


def test_what_is_published_is_fit_for_the_hub(built):
    _, folder = built
    assert list(viewer.findings(folder)) == []


def test_the_client_reads_what_is_published_as_announced(built, tmp_path):
    benchmark, folder = built
    assert set(get_dataset_config_names(str(folder))) == set(benchmark.ROWS)
    for config, splits in benchmark.ROWS.items():
        loaded = load_dataset(str(folder), config, cache_dir=str(tmp_path))
        assert {split: rows.num_rows for split, rows in loaded.items()} == splits
