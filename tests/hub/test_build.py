"""The publishing path: what it writes, what it refuses, what it leaves alone."""

from __future__ import annotations

import errno
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import datasets
import pyarrow.parquet as pq
import pytest
from datasets import ClassLabel, Features, List, Value, load_dataset
from huggingface_hub import metadata_load
from toy_benchmark import Toy, toy

import lapsus.core.files
import lapsus.hub.build
from lapsus.dataset_scripts import benchmarks
from lapsus.dataset_scripts.benchmark import EDITS, TEXT, Benchmark
from lapsus.hub.build import build_dataset


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_default_config_has_its_class_names(built_sample, tmp_path):
    rows = load_dataset(str(built_sample), split="test", cache_dir=str(tmp_path))
    assert rows.features["label"].names == ["different", "paraphrase"]


def test_a_second_build_has_the_same_bytes(built_sample, tmp_path):
    assert files(build_dataset(benchmarks()["sample"], tmp_path / "again").path) == files(built_sample)


def test_parquet_has_what_the_viewer_wants(built_sample):
    for file in built_sample.rglob("*.parquet"):
        group = pq.ParquetFile(file).metadata.row_group(0)
        assert group.column(0).has_offset_index and group.column(0).has_column_index


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"DATA": ({"id": "a", "text": "x"}, {"id": "a", "text": "y"})}, "id 'a' occurs more than once in clean/test"),
        ({"DATA": ({"id": None, "text": "x"}, {"id": "a", "text": "y"})}, "1 rows without an id"),
        (
            {"DATA": ({"id": "a", "text": None}, {"id": "b", "text": None})},
            "column 'text' of clean/test is null in every row",
        ),
        ({"DATA": (), "ROWS": {"clean": {"test": 0}}}, "clean/test has no rows"),
        ({"DATA": ({"id": "a", "text": "x"},)}, "clean/test has 1, expected 2"),
        ({"ROWS": {"data": {"test": 2}}}, "'data' is reserved"),
        ({"ROWS": {"clean": {"all": 2}}}, "all"),
        ({"ROWS": {"clean": {"te-st": 2}}}, "te-st"),
    ],
)
def test_refuses(facts, sentence, tmp_path):
    with pytest.raises(ValueError, match=sentence):
        build_dataset(toy(**facts), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a/b", "a:b", "a[b]", "a*b", "a?b", "a|b", "a<b", "a\\b"])
def test_refuses_config_names_that_the_hub_rejects(name):
    with pytest.raises(ValueError, match="rejects"):
        lapsus.hub.build.check_config_name(name)


NOISY = Features({"id": TEXT, "text": TEXT, "clean_text": TEXT, "edits": EDITS})
EDIT = {"start": 0, "end": 1, "text": "j"}


def test_edits_that_replay_are_published_with_their_error_rate(tmp_path):
    data = ({"id": "a", "text": "jello", "clean_text": "hello", "edits": [EDIT]},)
    built = build_dataset(toy(FEATURES=NOISY, DATA=data, ROWS={"noisy": {"test": 1}}), tmp_path / "out")
    (rate,) = built.rates
    assert (rate.micro_average, rate.worst_average, rate.corpus_rate) == (0.2, None, 0.2)
    assert "| `noisy/test` | `text` | 20.0% | – | 20.0% |" in (tmp_path / "out" / "README.md").read_text()


def test_refuses_edits_that_do_not_replay(tmp_path):
    data = ({"id": "a", "text": "yellow", "clean_text": "hello", "edits": [EDIT]},)
    with pytest.raises(ValueError, match=r"the edits of row 'a' in noisy/test do not give 'text' back"):
        build_dataset(toy(FEATURES=NOISY, DATA=data, ROWS={"noisy": {"test": 1}}), tmp_path / "out")


def test_error_rates_of_several_annotators(tmp_path):
    both = Features({"id": TEXT, "text": List({"annotator": TEXT, "text": TEXT}), "clean_text": TEXT})
    data = (
        {
            "id": "a",
            "text": [{"annotator": "1", "text": "abcd"}, {"annotator": "2", "text": "abxx"}],
            "clean_text": "abcd",
        },
        {"id": "b", "text": [{"annotator": "1", "text": "q"}], "clean_text": "p"},
    )
    (rate,) = build_dataset(toy(FEATURES=both, DATA=data, ROWS={"keyboard": {"test": 2}}), tmp_path / "out").rates
    assert rate.micro_average == pytest.approx((0.25 + 1) / 2)
    assert rate.worst_average == pytest.approx((0.5 + 1) / 2)
    assert rate.corpus_rate == pytest.approx(3 / 9)


def test_a_partial_build_says_both_numbers(tmp_path):
    short = toy(DATA=({"id": "a", "text": "x"},), ROWS={"clean": {"test": 2}})
    built = build_dataset(short, tmp_path / "out", allow_partial=True)
    assert built.row_count_mismatches == {"clean/test": (2, 1)}
    assert (
        "**Partial build.** Not all official rows were in the source: `clean/test` has 1 of 2."
        in (tmp_path / "out" / "README.md").read_text()
    )


def test_only_a_whole_build_is_loaded_by_its_version(tmp_path):
    build_dataset(Toy, tmp_path / "whole")
    build_dataset(toy(ROWS={"clean": {"test": 3}}), tmp_path / "part", allow_partial=True)
    whole, part = ((tmp_path / name / "README.md").read_text() for name in ("whole", "part"))
    assert 'load_dataset("<org>/sample", "clean", split="test", revision="v1.0.0")' in whole
    assert 'load_dataset("<org>/sample", "clean", split="test")' in part  # a part has no tag


def test_large_splits_are_sharded(tmp_path):
    data = tuple({"id": str(number), "text": "x" * 1000} for number in range(100))
    build_dataset(toy(DATA=data, ROWS={"clean": {"test": 100}}), tmp_path / "out", max_shard_bytes=40_000)
    names = sorted(path.name for path in (tmp_path / "out" / "clean").iterdir())
    assert names == [f"test-{index:05}-of-00003.parquet" for index in range(3)]
    loaded = load_dataset(str(tmp_path / "out"), "clean", split="test", cache_dir=str(tmp_path / "cache"))
    assert loaded["id"] == [row["id"] for row in data]


def test_yaml_names_labels_of_any_spelling(tmp_path):
    odd = Features({"id": TEXT, "label": ClassLabel(names=["no", "是", "null", "1.0"])})
    data = tuple({"id": str(number), "label": number} for number in range(4))
    build_dataset(toy(FEATURES=odd, DATA=data, ROWS={"clean": {"test": 4}}), tmp_path / "out")
    loaded = load_dataset(str(tmp_path / "out"), "clean", split="test", cache_dir=str(tmp_path / "cache"))
    assert loaded.features["label"].names == ["no", "是", "null", "1.0"]


def test_a_strangers_folder_is_not_replaced(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(FileExistsError, match="is no earlier build of sample; name another --out"):
        build_dataset(Toy, tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_a_failed_build_leaves_the_old_folder(tmp_path):
    build_dataset(Toy, tmp_path / "out")
    before = files(tmp_path / "out")
    with pytest.raises(ValueError, match="expected 2"):
        build_dataset(toy(DATA=Toy.DATA[:1]), tmp_path / "out")
    assert files(tmp_path / "out") == before


def without_exchange(monkeypatch):
    monkeypatch.setattr(lapsus.core.files, "_exchange", lambda *_: False)


def test_when_the_last_move_fails_the_old_folder_comes_back(tmp_path, monkeypatch):
    build_dataset(Toy, tmp_path / "out")
    before = files(tmp_path / "out")
    rename = lapsus.core.files.Path.rename

    def fails_for_the_new(path, target):
        if path.name == "new":
            raise PermissionError(13, "Permission denied", str(target))
        return rename(path, target)

    without_exchange(monkeypatch)
    monkeypatch.setattr(lapsus.core.files.Path, "rename", fails_for_the_new)
    with pytest.raises(PermissionError):
        build_dataset(Toy, tmp_path / "out")
    assert files(tmp_path / "out") == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


OTHER = toy(DATA=({"id": "a", "text": "other"}, {"id": "b", "text": "rows"}))


@pytest.mark.parametrize("exchanging", [True, False])
def test_a_rebuild_replaces_the_whole_folder(exchanging, tmp_path, monkeypatch):
    if not exchanging:
        without_exchange(monkeypatch)
    build_dataset(toy(ROWS={"clean": {"test": 2}, "more": {"test": 2}}), tmp_path / "out")
    build_dataset(OTHER, tmp_path / "out")
    build_dataset(OTHER, tmp_path / "fresh")
    assert files(tmp_path / "out") == files(tmp_path / "fresh")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fresh", "out"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux exchanges folders in one step")
def test_the_target_is_there_at_every_instant(tmp_path, monkeypatch):
    build_dataset(Toy, tmp_path / "out")

    def never(path, target):
        raise AssertionError(f"{path} was moved to {target}")

    monkeypatch.setattr(lapsus.core.files.Path, "rename", never)
    build_dataset(OTHER, tmp_path / "out")


def test_what_somebody_put_into_the_folder_stays_and_is_named(tmp_path):
    build_dataset(toy(ROWS={"clean": {"test": 2}, "more": {"test": 2}}), tmp_path / "out")
    (tmp_path / "out" / "LICENSE").write_text("mine")
    (tmp_path / "out" / "more" / "figure.png").write_bytes(b"png")
    built = build_dataset(OTHER, tmp_path / "out")
    assert built.foreign_files == ("LICENSE", "more/figure.png")
    assert built.summary().endswith("not of this build and left there: LICENSE, more/figure.png")
    assert (tmp_path / "out" / "LICENSE").read_text() == "mine"
    assert sorted(path.name for path in (tmp_path / "out" / "more").iterdir()) == ["figure.png"]


def test_a_clone_with_its_history_is_not_replaced(tmp_path):
    build_dataset(Toy, tmp_path / "out")
    (tmp_path / "out" / ".git").mkdir()
    with pytest.raises(FileExistsError, match="name another --out"):
        build_dataset(Toy, tmp_path / "out")


@pytest.mark.slow
def test_a_killed_build_leaves_the_old_folder(tmp_path):
    build_dataset(benchmarks()["sample"], tmp_path / "out")
    before = files(tmp_path / "out")
    code = (
        "import sys, time, lapsus.hub.build as p; from pathlib import Path; from lapsus.dataset_scripts import benchmarks\n"
        "p.render_card = lambda *_: (print('ready', flush=True), time.sleep(60))\n"
        "p.build_dataset(benchmarks()['sample'], Path(sys.argv[1]))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "out")], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout.readline() == "ready\n"
        build_dataset(Toy, tmp_path / "aside" / "out")  # another folder of that name
        build_dataset(benchmarks()["sample"], tmp_path / "out")  # while the other is at work
        assert len(list(tmp_path.glob(".out.*"))) == 1
        child.kill()
    assert files(tmp_path / "out") == before
    build_dataset(benchmarks()["sample"], tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["aside", "out"]


def test_a_kill_between_two_moves_loses_nothing(tmp_path):
    build_dataset(Toy, tmp_path / "out")
    before = files(tmp_path / "out")
    staging = tmp_path / ".out.abcd_123.partial"
    (staging / "new").mkdir(parents=True)
    (tmp_path / "out").rename(staging / "old")
    with pytest.raises(ValueError, match="expected 2"):
        build_dataset(toy(DATA=Toy.DATA[:1]), tmp_path / "out")
    assert files(tmp_path / "out") == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_folders_that_only_look_like_left_overs_stay(tmp_path):
    (tmp_path / ".out.mine.partial").mkdir()
    (tmp_path / ".out.abcd_123.partial").mkdir()
    (tmp_path / ".out.abcd_123.partial" / "thesis.tex").touch()
    build_dataset(Toy, tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".out.abcd_123.partial", ".out.mine.partial", "out"]


@pytest.mark.parametrize("inside", [(), ("new",), ("cache", "new"), ("old",)])
def test_a_run_killed_while_it_began_or_cleaned_up_leaves_nothing(inside, tmp_path):
    build_dataset(Toy, tmp_path / "out")
    for name in ("", *inside):
        (tmp_path / ".out.abcd_123.partial" / name).mkdir(exist_ok=True)
    build_dataset(OTHER, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_more_rows_than_the_official_ones_are_an_error_too(tmp_path):
    with pytest.raises(ValueError, match="clean/test has 2, expected 1"):
        build_dataset(toy(ROWS={"clean": {"test": 1}}), tmp_path / "out")


def test_the_files_of_all_configs_are_recorded_in_order(tmp_path):
    class OfFiles(Toy):
        ROWS = {"z": {"test": 1}, "a": {"test": 1}}

        def rows(self, source, config, split):
            yield {"id": "1", "text": source.read_text(f"{config}.txt")}

    OfFiles.__module__ = __name__
    for name in "za":
        (tmp_path / f"{name}.txt").write_text(name)
    assert list(build_dataset(OfFiles, tmp_path / "out", source=tmp_path).sources) == ["a.txt", "z.txt"]


def test_downloaded_files_of_all_configs_are_recorded(tmp_path, monkeypatch):
    class Fetched(Toy):
        URL = tuple(f"file://{tmp_path}/{name}.txt" for name in "az")
        ROWS = {"z": {"test": 1}, "a": {"test": 1}}

        @classmethod
        def get_bundled_folder(cls):
            return None

        def rows(self, source, config, split):
            yield {"id": "1", "text": source.read_text(source.find_one(f"{config}.txt"))}

    Fetched.__module__ = __name__
    for name in "za":
        (tmp_path / f"{name}.txt").write_text(name)
    monkeypatch.setattr(datasets.config, "DOWNLOADED_DATASETS_PATH", tmp_path / "downloads")
    built = build_dataset(Fetched, tmp_path / "out")
    assert [Path(name).name for name in built.sources] == ["a.txt", "z.txt"]


def test_changed_sources_are_never_stale(tmp_path):
    """The cache of `datasets` ignores the content of local files; the builder's hash does not."""

    class Lines(Toy):
        ROWS = {"clean": {"test": 1}}

        def rows(self, source, config, split):
            yield {"id": "a", "text": next(iter(source.read_lines("text.txt")))}

    Lines.__module__ = __name__
    source = tmp_path / "source"
    source.mkdir()
    seen = []
    for text in ("old", "new"):
        (source / "text.txt").write_text(text)
        builder = Lines(config_name="clean", data_dir=source, cache_dir=str(tmp_path / "cache"))
        builder.download_and_prepare()
        seen.append(builder.as_dataset(split="test")[0]["text"])
        time.sleep(0.01)
    assert seen == ["old", "new"]


PAIR = Features(
    {
        "id": TEXT,
        "left": TEXT,
        "right": TEXT,
        "clean_left": TEXT,
        "clean_right": TEXT,
        "edits": {"left": EDITS, "right": EDITS},
    }
)


def pair(left, right):
    row = {"id": "a", "left": left, "right": right, "clean_left": "hello", "clean_right": "hill"}
    return toy(FEATURES=PAIR, DATA=(row | {"edits": {"left": [EDIT], "right": [EDIT]}},), ROWS={"noisy": {"test": 1}})


def test_the_edits_of_each_of_two_columns_must_replay_to_that_column(tmp_path):
    build_dataset(pair("jello", "jill"), tmp_path / "out")
    for number, (left, right, wrong) in enumerate((("jello", "hill", "right"), ("hello", "jill", "left"))):
        with pytest.raises(ValueError, match=f"the edits of row 'a' in noisy/test do not give '{wrong}' back"):
            build_dataset(pair(left, right), tmp_path / f"out{number}")


def test_the_folder_of_another_dataset_is_not_replaced(tmp_path):
    build_dataset(Toy, tmp_path / "out")
    before = files(tmp_path / "out")
    with pytest.raises(FileExistsError, match="is no earlier build of sample-2; name another --out"):
        build_dataset(toy(NAME="sample-2"), tmp_path / "out")
    with pytest.raises(FileExistsError, match="is no earlier build of sampl; name another --out"):
        build_dataset(toy(NAME="sampl"), tmp_path / "out")
    assert files(tmp_path / "out") == before


def test_a_benchmark_without_prose_gets_a_general_card(tmp_path):
    nameless = toy(NAME="lamp", TITLE="Lamp", __doc__="Commands to a lamp.\n\nThey were made up.", WHERE="the shop")
    build_dataset(nameless, tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text()
    assert "# Lamp\n\nCommands to a lamp.\n" in card
    assert "They were made up." in card
    assert "The original files: the shop." in card


def beside(folder, monkeypatch, prose):
    """Return a toy whose module is in `folder`, beside its prose."""
    (folder / "lamp.md").write_text(prose)
    module = ModuleType("lamps")
    module.__file__ = str(folder / "lamps.py")
    monkeypatch.setitem(sys.modules, "lamps", module)
    return toy(NAME="lamp", TITLE="Lamp", __module__="lamps")


def test_prose_beside_the_module_is_the_card(tmp_path, monkeypatch):
    with_prose = beside(tmp_path, monkeypatch, '{% extends "_card.md" %}{% block summary %}All lamps.{% endblock %}')
    build_dataset(with_prose, tmp_path / "out")
    assert "# Lamp\n\nAll lamps.\n" in (tmp_path / "out" / "README.md").read_text()


@pytest.mark.parametrize(
    ("prose", "sentence"),
    [
        ("first\n{% block %}", r"lamp\.md line 2 cannot be read as a card"),
        ("{{ nothing_of_this_name }}", r"the card lamp\.md cannot be filled in \('nothing_of_this_name' is undefined"),
        ('{% extends "_crad.md" %}', r"the card lamp\.md cannot be filled in"),
    ],
)
def test_prose_that_cannot_be_rendered_is_one_sentence(prose, sentence, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=sentence):
        build_dataset(beside(tmp_path, monkeypatch, prose), tmp_path / "out")


def test_facts_that_a_card_needs_are_asked_for(tmp_path):
    class Bare(Benchmark):
        NAME = "bare"
        LANGUAGES = ("en",)

    with pytest.raises(ValueError, match="the benchmark Bare states no TITLE and no LICENSE and no ROWS; give it"):
        build_dataset(Bare, tmp_path / "out")


def test_a_split_that_its_address_cuts_short_is_built_and_says_both_numbers(tmp_path):
    cut = toy(ROWS={"clean": {"test": 3}}, AT_ADDRESS={"clean/test": 2})
    assert build_dataset(cut, tmp_path / "out").row_count_mismatches == {"clean/test": (3, 2)}
    card = (tmp_path / "out" / "README.md").read_text()
    assert "> `clean/test` has 2 of 3 official rows: the source's own address holds no others." in card
    assert "Partial build" not in card
    with pytest.raises(ValueError, match="clean/test has 1, expected 3"):
        build_dataset(toy(ROWS=cut.ROWS, AT_ADDRESS=cut.AT_ADDRESS, DATA=Toy.DATA[:1]), tmp_path / "less")


def test_a_value_of_another_kind_names_row_column_and_file(tmp_path):
    class Numbered(Toy):
        FEATURES = Features({"id": TEXT, "text": TEXT, "start": Value("int32")})

        def rows(self, source, config, split):
            source.read("rows.txt")
            yield {"id": "a", "text": "one", "start": 1}
            yield {"id": "b", "text": "two", "start": "x"}

    Numbered.__module__ = __name__
    (tmp_path / "rows.txt").write_text("rows")
    with pytest.raises(ValueError, match=r"row 'b' of clean/test has 'x' as its start, .* the column; mend rows\.txt"):
        build_dataset(Numbered, tmp_path / "out", source=tmp_path)


def test_a_full_disk_is_one_sentence(tmp_path):
    class Full(Toy):
        def rows(self, source, config, split):
            raise OSError(errno.ENOSPC, "No space left on device")
            yield

    Full.__module__ = __name__
    with pytest.raises(
        OSError, match=r"no space is left after 0\.\d MB; free more than that, or name another --out"
    ) as caught:
        build_dataset(Full, tmp_path / "out")
    assert caught.value.filename == str(tmp_path / "out")


def test_features_that_fill_the_yaml_stand_there_once_and_are_loaded_in_every_config(tmp_path):
    names = [f"B-slot_{number}" for number in range(300)]
    labelled = Features({"id": TEXT, "tags": List(ClassLabel(names=names))})
    data = ({"id": "a", "tags": [0, 299]}, {"id": "b", "tags": [1, 1]})
    configs = {f"random.{number}": {"test": 2} for number in range(23)}
    build_dataset(toy(FEATURES=labelled, DATA=data, ROWS=configs), tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert card.count("B-slot_299") == 1 and len(card.split("---")[1].encode()) < 30_000
    loaded = load_dataset(str(tmp_path / "out"), "random.22", split="test", cache_dir=str(tmp_path / "cache"))
    assert loaded.features["tags"].feature.names == names and loaded[0]["tags"] == [0, 299]


def test_edits_without_a_clean_column_are_refused(tmp_path):
    lonely = Features({"id": TEXT, "text": TEXT, "edits": EDITS})
    data = ({"id": "a", "text": "jello", "edits": [EDIT]},)
    with pytest.raises(ValueError, match="noisy/test has edits but no clean_ column that they apply to; add one"):
        build_dataset(toy(FEATURES=lonely, DATA=data, ROWS={"noisy": {"test": 1}}), tmp_path / "out")


def test_a_missing_file_is_no_rows_only_when_a_part_will_do(tmp_path):
    class Lacking(Toy):
        ROWS = {"clean": {"test": 2}, "keyboard": {"test": 2}}

        def rows(self, source, config, split):
            if config == "keyboard":
                source.find_one("keyboard.txt")
            yield from self.DATA

    Lacking.__module__ = __name__
    with pytest.raises(FileNotFoundError, match=r"has no keyboard\.txt"):
        build_dataset(Lacking, tmp_path / "out", source=tmp_path)
    assert build_dataset(Lacking, tmp_path / "out", source=tmp_path, allow_partial=True).rows["keyboard"] == {"test": 0}


@pytest.mark.parametrize(("rows", "size"), [(999, "n<1K"), (1000, "1K<n<10K")])
def test_the_size_category_counts_all_rows(rows, size, tmp_path):
    data = tuple({"id": str(number), "text": "x"} for number in range(rows))
    build_dataset(toy(DATA=data, ROWS={"clean": {"test": rows}}), tmp_path / "out")
    assert f"size_categories:\n- {size}\n" in (tmp_path / "out" / "README.md").read_text()


def test_the_first_config_is_the_default(tmp_path):
    build_dataset(toy(ROWS={"z": {"test": 2}, "clean": {"test": 2}}), tmp_path / "out")
    configs = metadata_load(tmp_path / "out" / "README.md")["configs"]
    assert [config["config_name"] for config in configs if config.get("default")] == ["z"]


def test_a_card_links_its_papers_so_that_the_hub_shows_them(tmp_path):
    build_dataset(toy(ARXIV=("2302.07324",), SOURCE_DATASETS=("extended|org/name",)), tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "https://arxiv.org/abs/2302.07324" in card and "- extended|org/name" in card
