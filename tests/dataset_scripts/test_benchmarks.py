"""Every benchmark, built from small hand-written files in the formats of the real ones."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import tarfile
import zipfile

import datasets
import pyarrow.parquet as pq
import pytest
from paths import BENCHMARK_FILES as FILES
from small_benchmarks import AALTO, BUILT

from lapsus.core.imports import import_optional
from lapsus.dataset_scripts import benchmarks
from lapsus.dataset_scripts.human_tracks import HumanTrackChecks
from lapsus.hub.build import build_dataset


def load(name, config, tmp_path, source=None):
    source = source or FILES / BUILT[name][0]
    builder = benchmarks()[name](config_name=config, data_dir=source, cache_dir=str(tmp_path))
    try:
        builder.download_and_prepare()
    except datasets.exceptions.DatasetGenerationError as error:
        raise error.__cause__ from None
    return builder.as_dataset()


def columns(rows, *names):
    return [tuple(row[name] for name in names) for row in rows]


@pytest.fixture(scope="module", params=sorted(BUILT))
def published(request, tmp_path_factory):
    folder, _ = BUILT[request.param]
    out = tmp_path_factory.mktemp("published") / request.param
    source = FILES / folder if folder else None
    benchmark = benchmarks()[request.param]
    if "papers" in benchmark.EXTRAS:
        pytest.importorskip("torch")  # of the extra papers
    return request.param, build_dataset(benchmark, out, source=source, allow_partial=True)


def test_every_benchmark_has_its_files():
    assert set(benchmarks()) == {"sample", *BUILT}


def test_builds_the_rows_of_its_files(published):
    name, built = published
    assert {config: dict(splits) for config, splits in built.rows.items()} == BUILT[name][1]


def ids(built, config, split):
    (file,) = (built.path / config).glob(f"{split}-*.parquet")
    return set(pq.read_table(file, columns=["id"])["id"].to_pylist())


def test_ids_are_the_same_in_every_config(published):
    name, built = published
    clean, *others = (config for config in built.rows if config not in ("schemas", "knowledge"))
    for config in others if name != "rte" else ():
        for split in built.rows[config]:
            found = {key.removesuffix("-augmented") for key in ids(built, config, split)}
            assert found <= ids(built, clean, split)


def test_the_loading_example_of_the_card_runs(published, capsys, monkeypatch, tmp_path):
    name, built = published
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)
    card = (built.path / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(from datasets.*?)```", card, re.DOTALL)
    exec(example.replace(f"<org>/{name}", str(built.path)), {})  # noqa: S102 - our own card
    assert "'id':" in capsys.readouterr().out


def test_the_card_names_what_it_was_made_from(published):
    _, built = published
    card = (built.path / "README.md").read_text(encoding="utf-8")
    assert built.sources
    assert all(name in card and digest in card for name, digest in built.sources.items())
    assert "More Information Needed" not in card


SECTIONS = """## Dataset Details|### Dataset Description|### Dataset Sources|## Uses|### Direct Use|### Out-of-Scope Use
## Dataset Structure|## Dataset Creation|### Curation Rationale|### Source Data|#### Data Collection and Processing
#### Who are the source data producers?|### Annotations|#### Annotation process|#### Who are the annotators?
#### Personal and Sensitive Information|## Bias, Risks, and Limitations|### Recommendations|## Citation|**BibTeX:**
## Glossary|## More Information|## Dataset Card Authors|## Dataset Card Contact"""


def test_the_card_has_every_section_of_the_template_and_says_something_in_each(published):
    _, built = published
    card = (built.path / "README.md").read_text(encoding="utf-8")
    for section in re.split(r"\||\n", SECTIONS):
        assert card.count(f"\n{section}\n") == 1, section
    assert not re.search(r"\n(#+) [^\n]+\n\s*\n?(?=\1 |\Z)", card), "a section is empty"


def test_columns_are_typed_for_the_viewer(published):
    _, built = published
    labels = {"label", "intent", "tags", "task", "rewritten", "scenario", "action", "bucket", "feature", "perturbation"}
    for info in datasets.info.DatasetInfosDict.from_directory(str(built.path)).values():
        for name in labels & set(info.features):
            kind = info.features[name]
            kind = getattr(kind, "feature", kind)
            assert isinstance(kind, datasets.ClassLabel), name
            assert kind.names, name


@pytest.mark.parametrize("name", ["readin-afqmc", "readin-wmt2021-sim", "slurp-asr"])
def test_a_second_build_has_the_same_bytes(name, tmp_path):
    first, second = (
        build_dataset(
            benchmarks()[name], tmp_path / place / name, source=FILES / BUILT[name][0], allow_partial=True
        ).path
        for place in ("first", "second")
    )
    written = [path.relative_to(first) for path in first.rglob("*") if path.is_file()]
    assert all((first / path).read_bytes() == (second / path).read_bytes() for path in written)


def test_other_numbers_of_rows_are_an_error_that_names_both(tmp_path):
    with pytest.raises(ValueError, match=r"rte1/validation has 2, expected 567"):
        build_dataset(benchmarks()["rte"], tmp_path / "rte", source=FILES / "rte")
    assert list(tmp_path.iterdir()) == []


# READIN


def test_readin_strips_the_line_end_of_annotator_3(tmp_path):
    rows = load("readin-afqmc", "keyboard.3", tmp_path)["test"]
    assert rows[0]["sentence2"] == "快第几号能送来"
    assert rows[0]["clean_sentence2"] == "快递几号能送来"


def test_readin_keeps_all_annotators_of_a_row_together(tmp_path):
    rows = load("readin-afqmc", "keyboard", tmp_path)["test"]
    assert rows[0]["sentence1"] == [
        {"annotator": 1, "text": "包过什么时候到"},
        {"annotator": 2, "text": "包裹什么时候道"},
        {"annotator": 3, "text": "包裹甚么时候到"},
    ]
    assert rows.features["label"].int2str(rows[0]["label"]) == "paraphrase"


def test_readin_translations_keep_their_shape(tmp_path):
    assert load("readin-wmt2021", "keyboard.1", tmp_path)["test"][0] == {
        "id": "0",
        "translation": {"zh": "河水上账了。", "en": "The river rose."},
        "clean_zh": "河水上涨了。",
    }
    both = load("readin-wmt2021", "keyboard", tmp_path)["test"][0]
    assert both["translation"]["zh"][1] == {"annotator": 2, "text": "河水上涨了"}
    assert isinstance(load("readin-wmt2021", "clean", tmp_path)["test"].features["translation"], datasets.Translation)


def test_rows_that_speech_recognition_lost_are_absent_from_speech_only(tmp_path):
    assert columns(load("readin-wmt2021", "speech", tmp_path)["test"], "id") == [("0",), ("2",), ("3",)]
    assert len(load("readin-wmt2021", "keyboard", tmp_path)["test"]) == 4


def test_readin_cmrc2018_has_squad_answers(tmp_path):
    row = load("readin-cmrc2018", "keyboard.2", tmp_path)["test"][1]
    assert row["question"] == "查馆由谁经营？"
    assert row["clean_question"] == "茶馆由谁经营？"
    assert row["answers"]["text"] == ["林家", "林家", "由林家"]
    found = [row["context"].index(text) for text in row["answers"]["text"]]
    assert row["answers"]["answer_start"] == found


def test_cspider_ships_its_schemas(tmp_path):
    pets, atlas = load("readin-cspider", "schemas", tmp_path)["databases"]
    assert pets["foreign_keys"] == [{"column": 2, "references": 3}]
    assert pets["columns"][1] == {"table": 0, "name": "Cat_ID", "words": "cat id", "type": "number"}
    assert atlas["tables"] == [{"name": "city", "words": "city"}]


def by_folder(target):
    """Lay READIN's files out in the folders clean, keyboard and speech of the archive."""
    for task in ("afqmc_balanced", "cmrc2018", "cspider", "realtypo_nmt"):
        for file in (FILES / "readin" / task).iterdir():
            match = re.fullmatch(r"test_noisy_(?:(keyboard|asr)_)?(\d)", file.stem)
            if match:
                place = target / {"asr": "speech"}.get(match[1], "keyboard") / task / f"test_noisy_{match[2]}.json"
            else:
                place = target / "clean" / task / file.name.replace("_clean", "")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)


def by_name(target):
    """Lay READIN's files out as <name>/test.json."""
    for file in (FILES / "readin").rglob("test*.json"):
        place = target / file.parent.name / file.stem / "test.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)
    for file in (FILES / "readin").rglob("*.json"):
        if not file.stem.startswith("test"):
            shutil.copy(file, target / file.parent.name / file.name)


@pytest.mark.parametrize("layout", [by_folder, by_name])
@pytest.mark.parametrize("name", ["readin-afqmc", "readin-cmrc2018", "readin-cspider", "readin-wmt2021"])
def test_readin_reads_both_layouts(layout, name, tmp_path):
    layout(tmp_path / "archive" / "READIN")
    cls = benchmarks()[name]
    for config, splits in cls.ROWS.items():
        for split in splits:
            read = cls(config_name=config, data_dir=tmp_path / "archive", cache_dir=str(tmp_path / "cache"))
            plain = cls(config_name=config, data_dir=FILES / "readin", cache_dir=str(tmp_path / "cache"))
            assert list(read.rows(read.source, config, split)) == list(plain.rows(plain.source, config, split))


def test_other_files_called_after_the_task_do_not_hide_the_rest(tmp_path):
    """The authors' folder holds CLUE's tables beside READIN's own files."""
    folder = shutil.copytree(FILES / "readin" / "afqmc_balanced", tmp_path / "afqmc_balanced")
    for part in ("train", "dev", "test"):
        (folder / f"afqmc_{part}.tsv").write_text("a\tb\t0\n")
    for source in (folder, tmp_path):
        assert len(load("readin-afqmc", "keyboard.1", tmp_path / "cache", source)["test"]) == 4


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("readin-afqmc", "afqmc"),
        ("readin-cmrc2018", "cmrc2018"),
        ("readin-cspider", "cspider"),
        ("readin-wmt2021", "wmt21"),
    ],
)
def test_the_public_files_give_the_clean_test_split(name, folder, tmp_path):
    public = load(name, "clean", tmp_path / "public", FILES / folder)["test"]
    assert list(public) == list(load(name, "clean", tmp_path / "readin")["test"])


def test_the_talks_of_the_wmt21_edition_with_test_suites_are_left_out(tmp_path):
    from lapsus.dataset_scripts.readin import LINES_WITH_TALKS, TALKS

    for name in ("newstest2021.zh-en.src.zh", "newstest2021.zh-en.ref.A.en"):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in range(LINES_WITH_TALKS)))
    rows = load("readin-wmt2021", "clean", tmp_path / "cache", tmp_path)["test"]
    assert len(rows) == 1_948
    talks = {line for talk in TALKS for line in talk}
    assert [int(row["translation"]["zh"]) for row in rows] == [line for line in range(2_791) if line not in talks]


def spoil(tmp_path, file, change):
    folder = tmp_path / "spoilt"
    shutil.copytree(FILES / "readin", folder)
    path = folder / file
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("name", "file", "change", "sentence"),
    [
        (
            "readin-afqmc",
            "afqmc_balanced/test_noisy_1.json",
            lambda text: text[: text.rindex("{")],
            r"test_noisy_1.json lacks row '3' of .*test_clean.json; the files must hold the same rows",
        ),
        (
            "readin-afqmc",
            "afqmc_balanced/test_noisy_2.json",
            lambda text: text + text.splitlines()[0] + "\n",
            r"test_noisy_2.json has row '4', which .*test_clean.json lacks",
        ),
        (
            "readin-afqmc",
            "afqmc_balanced/test_noisy_2.json",
            lambda text: text.replace('"label": "1"', '"label": "0"', 1),
            r"row '0' of .*test_noisy_2.json has another label than .*test_clean.json",
        ),
        (
            "readin-wmt2021",
            "realtypo_nmt/test_noisy_asr_2.json",
            lambda text: text[: text.rindex("{")],
            r"test_noisy_asr_2.json lacks row '3'",
        ),
        (
            "readin-wmt2021",
            "realtypo_nmt/test_clean.json",
            lambda text: text.replace('"1"', '"0"'),
            "id '0' occurs more than once in clean/test",
        ),
        (
            "readin-afqmc",
            "afqmc_balanced/dev.json",
            lambda text: text.replace('"1"', '"2"'),
            r"dev.json row 2 has the label '2', which is none of 0, 1",
        ),
        (
            "readin-afqmc",
            "afqmc_balanced/train.json",
            lambda text: text.replace('"密码忘了怎么办"', "17"),
            r"train.json row 2 has 17 as its sentence1, which is no text; mend the row",
        ),
        (
            "readin-afqmc",
            "afqmc_balanced/test_noisy_2.json",
            lambda text: text.replace('"sentence2": "', '"sentence2": 4, "was": "', 1),
            r"test_noisy_2.json row 1 has 4 as its sentence2, which is no text; mend the row",
        ),
        (
            "readin-afqmc",
            "afqmc_balanced/test_clean.json",
            lambda text: re.sub('"sentence2": "[^"]*"', '"sentence2": " "', text, count=1),
            r"test_clean.json row 1 has an empty sentence2; mend the row",
        ),
        (
            "readin-afqmc",
            "afqmc_balanced/test_noisy_3.json",
            lambda text: re.sub('"sentence1": "[^"]*"', '"sentence1": " "', text, count=1),
            r"test_noisy_3.json row 1 has an empty sentence1; mend the row",
        ),
        (
            "readin-afqmc",
            "afqmc_balanced/train.json",
            lambda text: text.replace('"sentence1": "', '"sentence1": "\\u0000', 1),
            r"train.json, line 1: holds the character NUL; get the file again",
        ),
        (
            "readin-cmrc2018",
            "cmrc2018/train.json",
            lambda text: re.sub(r'"answers": *\[.*?\]', '"answers": []', text, count=1, flags=re.DOTALL),
            r"train.json question 'TRAIN_0_QUERY_0' has no answer; mend the question",
        ),
        (
            "readin-cmrc2018",
            "cmrc2018/train.json",
            lambda text: re.sub(
                r'"answers": *\[.*?\]', '"answers": {"text": ["a"], "answer_start": []}', text, count=1, flags=re.DOTALL
            ),
            r"train.json question 'TRAIN_0_QUERY_0' has 1 answers at 0 places; mend the question",
        ),
        (
            "readin-cmrc2018",
            "cmrc2018/train.json",
            lambda text: re.sub(r'"answer_start": *\d+', '"answer_start": true', text, count=1),
            r"train.json question '.*' has the answer '.*' at True; give a text and a number",
        ),
        (
            "readin-cmrc2018",
            "cmrc2018/train.json",
            lambda text: text.replace('"TRAIN_0_QUERY_0"', '""'),
            r"train.json question '' has an id that is no text; mend the question",
        ),
        (
            "readin-afqmc",
            "afqmc_balanced/dev.json",
            lambda text: text.replace("sentence1", "\0", 1),
            r"dev.json, line 1: holds the character NUL; get the file again",
        ),
        (
            "readin-cmrc2018",
            "cmrc2018/train.json",
            lambda text: re.sub(r'"answer_start": *\d+', '"answer_start": 9999', text, count=1),
            r"train.json question '.*' has an answer at 9999, outside of its paragraph; mend the question",
        ),
        (
            "readin-cmrc2018",
            "cmrc2018/train.json",
            lambda text: text.replace('"TRAIN_0_QUERY_0"', "null"),
            r"train.json question None has an id that is no text; mend the question",
        ),
        (
            "readin-cmrc2018",
            "cmrc2018/train.json",
            lambda text: re.sub('"context": "[^"]*"', '"context": 5', text, count=1),
            r"train.json question 'TRAIN_0_QUERY_0' has 5 as its context, which is no text; mend the row",
        ),
        (
            "readin-cmrc2018",
            "cmrc2018/test_clean.json",
            lambda text: text.replace('"paragraphs"', '"passages"'),
            r"test_clean.json is not in the expected form \(KeyError: 'paragraphs'\)",
        ),
        (
            "readin-afqmc",
            "afqmc_balanced/train.json",
            lambda text: text.replace('"密码忘了怎么办"', "null"),
            r"train.json, line 2: has no sentence1",
        ),
        (
            "readin-afqmc",
            "afqmc_balanced/train.json",
            lambda text: text[:-9],
            r"train.json, line 3, column \d+: ",
        ),
        (
            "readin-afqmc",
            "afqmc_balanced/train.json",
            lambda text: text.replace("sentence2", "sentence_2"),
            r"train.json, line 1: has no sentence2; its keys are sentence1, sentence_2, label",
        ),
    ],
)
def test_spoilt_files_are_named(name, file, change, sentence, tmp_path):
    folder = spoil(tmp_path, file, change)
    with pytest.raises(ValueError, match=sentence):
        build_dataset(benchmarks()[name], tmp_path / "out", source=folder, allow_partial=True)
    assert not (tmp_path / "out").exists()


def exchange(number):
    """Return a change that exchanges the texts of a row and the next, which have the same label."""

    def change(text):
        rows = text.splitlines(keepends=True)
        rows[number], rows[number + 1] = rows[number + 1], rows[number]
        return "".join(rows)

    return change


def test_exchanged_rows_of_an_annotator_are_named(tmp_path):
    texts = ["花呗怎么提前还款", "借呗额度为什么没有了", "余额宝收益几点更新", "转账转错了能退吗"]
    folder = tmp_path / "afqmc"
    folder.mkdir()
    lines = [json.dumps({"sentence1": text, "sentence2": text[::-1], "label": "1"}) + "\n" for text in texts]
    typed = "".join(lines).replace(json.dumps("呗")[1:-1], json.dumps("贝")[1:-1])
    (folder / "test_clean.json").write_text("".join(lines))
    for annotator, file in ((1, typed), (2, exchange(1)(typed)), (3, typed)):
        (folder / f"test_noisy_{annotator}.json").write_text(file)
    assert len(load("readin-afqmc", "keyboard.1", tmp_path / "cache", folder)["test"]) == 4
    for config in ("keyboard.2", "keyboard"):
        with pytest.raises(ValueError, match=r"has the texts of rows '1' and '2' exchanged: each reads"):
            load("readin-afqmc", config, tmp_path / "cache", folder)


def test_a_neighbours_text_typed_twice_is_no_exchange():
    checks = HumanTrackChecks("keyboard/test")
    for name, clean, noisy in (("1", "花呗还款", "借呗额度"), ("2", "借呗额度", "借贝额度")):
        checks.add(name, clean, {"": noisy})
    assert checks.finish() == ["keyboard/test differs by more than half in 1 of 2 rows, such as 1 (75%)"]


# The others


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda text: text.replace("burned", "<b>burned</b>"), "pair '3' has <b> within <t>, where only text is read"),
        (
            lambda text: text.replace("</t>", "</t><t>More.</t>", 1),
            "pair '3' has 2 elements <t>, not one; mend the pair",
        ),
        (lambda text: re.sub("<h>.*</h>", "<h> </h>", text, count=1), "pair '3' has an empty <h>; get the file again"),
        (lambda text: text.replace(' id="3"', ""), "pair None lacks its id; get the file again"),
    ],
)
def test_pairs_that_would_lose_text_are_refused(change, sentence, tmp_path):
    folder = shutil.copytree(FILES / "rte", tmp_path / "rte")
    file = folder / "rte1_dev.xml"
    file.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(ValueError, match=f"rte1_dev.xml {sentence}"):
        build_dataset(benchmarks()["rte"], tmp_path / "out", source=folder, allow_partial=True)


def test_slurp_refuses_two_transcripts_of_one_recording_and_spans_outside(tmp_path):
    folder = shutil.copytree(FILES / "slurp", tmp_path / "slurp")
    (file,) = folder.rglob("multi_slurp*.jsonl")
    first = json.loads(file.read_text(encoding="utf-8").splitlines()[0])
    with file.open("a", encoding="utf-8") as more:
        more.write(json.dumps(first | {"text": "something else"}) + "\n")
    with pytest.raises(
        ValueError, match=f"is a second transcript of the recording '{first['file']}'; keep one of them"
    ):
        load("slurp-asr", "speech", tmp_path / "cache", folder)
    test = folder / "test.jsonl"
    test.write_text(re.sub(r'"span": *\[\d+', '"span": [-1', test.read_text(encoding="utf-8"), count=1))
    with pytest.raises(
        ValueError, match=r"test.jsonl row \d has an entity at -1, outside of its \d+ tokens; get the file again"
    ):
        load("slurp-asr", "clean", tmp_path / "cache", folder)


def test_dialect_ids_are_unique_over_the_splits_and_equal_translations_are_marked(tmp_path):
    folder = shutil.copytree(FILES / "frmt", tmp_path / "frmt")
    (mainland,) = folder.rglob("zh_random_test_en_zh-CN.tsv")
    (taiwan,) = folder.rglob("zh_random_test_en_zh-TW_Simplified.tsv")
    shutil.copy(mainland, taiwan)
    built = load("dialect-zh", "default", tmp_path / "cache", folder)
    ids = [row["id"] for split in built.values() for row in split]
    assert len(set(ids)) == len(ids)
    assert {row["bucket"]: row["identical"] for row in built["test"]} == {0: False, 1: False, 2: True}
    taiwan.write_text(re.sub("\t.*", "\t ", taiwan.read_text(encoding="utf-8"), count=1), encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"/zh_random_test_en_zh-TW_Simplified.tsv, line 1: has no translation; mend it"
    ):
        load("dialect-zh", "default", tmp_path / "cache2", folder)


def test_rte_reads_the_label_of_each_challenge(tmp_path):
    for config in ("rte1", "rte2", "rte3"):
        rows = load("rte", config, tmp_path)["test"]
        assert [rows.features["label"].int2str(row["label"]) for row in rows] == ["not_entailed", "entailed"]
        assert rows[0]["premise"] == "The mill at Orrin burned down in 1921 & was never rebuilt."


def test_parte_knows_which_side_was_rewritten(tmp_path):
    rows = load("parte", "default", tmp_path)["test"]
    names = rows.features["rewritten"].names
    assert [names[row["rewritten"]] for row in rows] == ["premise", "hypothesis", "both"]
    assert rows[1]["premise"] == rows[1]["original_premise"]
    assert columns(rows, "original_id") == [("0",), ("0",), ("1",)]


def test_parte_reads_json_lines_with_other_names(tmp_path):
    (row,) = load("parte", "premise", tmp_path, FILES / "parte_jsonl")["test"]
    assert row["premise"] == "Fire destroyed the mill at Orrin in 1921."
    assert row["hypothesis"] == row["original_hypothesis"]


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_parte_names_a_missing_column_and_those_it_found(ending, tmp_path):
    header = (FILES / "parte" / "parte.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    header = ["Kind" if column == "Task" else column for column in header]
    mark = {"csv": ",", "tsv": "\t"}[ending]
    (tmp_path / f"parte.{ending}").write_text(f"{mark.join(header)}\n{mark.join('01234567')}\n")
    sentence = r"parte...v has no column 'task' \(or source_task, rte_task\); its columns are id, .*, kind, rte"
    with pytest.raises(ValueError, match=sentence):
        load("parte", "default", tmp_path / "cache", tmp_path)


def test_nature_keeps_every_intent_and_tag_of_the_source(tmp_path):
    features = load("nature-atis", "original", tmp_path)["test"].features
    assert features["intent"].names == ["atis_airfare", "atis_flight", "atis_flight#atis_airfare"]
    tags = ["O", "B-fromloc.city_name", "B-toloc.city_name", "I-toloc.city_name"]
    assert features["tags"].feature.names == tags
    row = load("nature-atis", "original", tmp_path)["test"][0]
    assert row["tokens"] == ["fly", "to", "new", "york", "and", "the", "fare"]
    assert [tags[tag] for tag in row["tags"]][2:4] == ["B-toloc.city_name", "I-toloc.city_name"]


def test_altered_configs_keep_the_numbers_of_tags_and_may_continue_every_slot():
    nature = benchmarks()["nature-atis"]
    builders = [nature(config_name=name, data_dir=FILES / "nature_slu", hash="x") for name in ("original", "augmented")]
    clean, altered = (builder.info.features["tags"].feature.names for builder in builders)
    assert altered[: len(clean)] == clean
    assert altered[len(clean) :] == ["I-fromloc.city_name"]
    assert builders[1].info.features["clean_tags"].feature.names == altered


def test_augmented_training_sets_hold_each_utterance_twice(tmp_path):
    rows = load("nature-snips", "augmented", tmp_path)["train"]
    assert columns(rows, "id") == [("0",), ("1",), ("0-augmented",), ("1-augmented",)]
    assert columns(rows, "operator")[:2] == [("none",), ("none",)]
    assert all(rows[place]["tokens"] == rows[place]["clean_tokens"] for place in (0, 1))
    assert str(tmp_path.anchor) not in "".join(rows["operator"])


def test_hard_keeps_an_altered_utterance_and_says_by_what(tmp_path):
    torch = pytest.importorskip("torch")
    (row,) = load("nature-snips", "hard", tmp_path)["test"]
    assert row["clean_tokens"] == ["play", "some", "jazz"] != row["tokens"]
    assert row["operator"].startswith("hard: ")
    assert row["operator"].endswith(f" selector=slu_model torch={torch.__version__}")


def test_a_failing_operator_is_not_blamed_on_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("lapsus.perturbations.noise.propose", lambda *_, **__: {}["lost"])
    sentence = r"zh_homophone on the rows '\w+' to '\w+' failed \(KeyError: 'lost'\); report it as a bug of lapsus"
    with pytest.raises(RuntimeError, match=sentence):
        load("readin-afqmc-sim", "auto.1", tmp_path)


def test_a_missing_extra_is_still_named(tmp_path, monkeypatch):
    monkeypatch.setattr("lapsus.perturbations.noise.propose", lambda *_, **__: import_optional("no_such_module", "zh"))
    with pytest.raises(ModuleNotFoundError, match=r"install it with: pip install .lapsus\[zh\]"):
        load("readin-afqmc-sim", "auto.1", tmp_path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("play O\njazz B-genre\n\n", "test.txt line 3"),
        ("play O loud\nPlayMusic\n\n", "test.txt line 1"),
        ("play X-genre\nPlayMusic\n\n", "test.txt line 1 has the tag 'X-genre'"),
        ("PlayMusic\n\n", "test.txt line 1"),
    ],
)
def test_nature_names_a_broken_line(text, sentence, tmp_path):
    for part in ("train", "dev", "test"):
        (tmp_path / f"{part}.txt").write_text("play O\nPlayMusic\n\n" if part != "test" else text)
    with pytest.raises(ValueError, match=sentence):
        load("nature-snips", "original", tmp_path / "cache", tmp_path)


def test_nlued_reads_the_csv_and_the_folds(tmp_path):
    rows = [row for part in load("nature-nlued", "original", tmp_path).values() for row in part]
    assert len(rows) == 20
    assert len({row["id"] for row in rows}) == 20
    woken = next(row for row in rows if row["id"] == "alarm_set-1")
    assert woken["tokens"] == ["wake", "me", "next", "friday", "at", "six"]
    folds = load("nature-nlued", "original", tmp_path, FILES / "nlued_folds")
    assert {split: len(part) for split, part in folds.items()} == {"train": 9, "validation": 1, "test": 1}


def test_dialect_pairs_stand_side_by_side(tmp_path):
    row = load("dialect-zh", "default", tmp_path)["test"][0]
    assert (row["base"], row["dialect"]) == ("打印机没有纸了。", "印表机没有纸了。")


def test_dialect_files_must_translate_the_same_sentences(tmp_path):
    shutil.copytree(FILES / "frmt", tmp_path / "frmt")
    file = tmp_path / "frmt" / "entity_bucket" / "zh_entity_test_en_zh-CN.tsv"
    file.write_text(file.read_text(encoding="utf-8").replace("fort", "port"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"line 1 of .*zh-CN.tsv and .*Simplified.tsv translates different sentences"):
        load("dialect-zh", "default", tmp_path / "cache", tmp_path / "frmt")


def test_only_certain_pairs_are_matched(tmp_path):
    rows = load("dialect-en-demszky", "default", tmp_path)["test"]
    assert columns(rows, "base", "dialect") == [
        ("the cook is washing his big green car", "the cook he is washing his big green car"),
        ("there are seven lamps in that house", "seven lamps are there in that house"),
        ("my cousin knows you well", "my cousin is knowing you well"),
    ]
    names = rows.features["features"].feature.names
    assert [names[label] for label in rows[0]["features"]] == ["Left Dislocation", "Resumptive Subject Pronoun"]


def test_the_hand_written_english_pairs_cover_ten_features():
    from lapsus.dataset_scripts.dialect import DialectEn

    builder = DialectEn()
    rows = [row for split in ("exemplars", "dev", "test") for row in builder.rows(builder.source, "default", split)]
    assert len(rows) >= 60
    assert len({row["feature"] for row in rows}) >= 10


def test_slurp_puts_every_transcript_beside_the_gold_text(tmp_path):
    row = load("slurp-asr", "speech", tmp_path)["test"][0]
    assert row["clean_text"] == "play blue river by ida moss"
    assert columns(row["text"], "headset", "text") == [
        (False, "play blue liver by ida moss"),
        (True, "play blue river by ida moss"),
    ]
    features = load("slurp-asr", "clean", tmp_path)["train"].features
    assert features["scenario"].names == ["audio", "datetime", "general", "lists", "play"]
    assert columns(row["entities"], "text") == [("blue river",), ("ida moss",)]


def test_noiseqa_refuses_other_questions(tmp_path):
    shutil.copytree(FILES / "noiseqa", tmp_path / "noiseqa")
    file = tmp_path / "noiseqa" / "Natural" / "xquad-asr-natural.json"
    file.write_text(file.read_text().replace('"q2"', '"q3"'))
    with pytest.raises(ValueError, match="question 'q2' is in only one of"):
        load("noiseqa", "speech", tmp_path / "cache", tmp_path / "noiseqa")


def test_catslu_leaves_out_what_was_not_written_down(tmp_path):
    rows = load("zh-asr-slu", "speech", tmp_path)["train"]
    assert columns(rows, "id", "clean_text", "text") == [("0-1", "导航去老码头", "导航去老马头"), ("1-1", "退出", "")]
    frame = rows[0]["frame"][1]
    slots = rows.features["frame"].feature["slot"].names
    assert (slots[frame["slot"]], frame["value"]) == ("终点名称", "老码头")


# Builders on their own


def test_a_changed_source_never_gives_stale_rows(tmp_path):
    source = tmp_path / "rte"
    shutil.copytree(FILES / "rte", source)
    first = load("rte", "rte1", tmp_path / "cache", source)["test"][0]["premise"]
    file = source / "rte1_test.xml"
    file.write_text(file.read_text().replace("Orrin", "Orrun"))
    assert load("rte", "rte1", tmp_path / "cache", source)["test"][0]["premise"] == first.replace("Orrin", "Orrun")


def test_builders_stream(tmp_path):
    builder = benchmarks()["readin-afqmc"](config_name="keyboard", data_dir=FILES / "readin", cache_dir=str(tmp_path))
    assert next(iter(builder.as_streaming_dataset(split="test")))["clean_sentence1"] == "包裹什么时候到"


@pytest.mark.parametrize("pack", ["zip", "tar", "tar.gz", "tar.xz"])
def test_archives_give_the_same_rows_as_folders(pack, tmp_path):
    archive = tmp_path / f"READIN.{pack}"
    if pack == "zip":
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            for path in sorted((FILES / "readin").rglob("*.json")):
                file.write(path, f"READIN-main/{path.relative_to(FILES / 'readin')}")
    else:
        with tarfile.open(archive, f"w:{pack.removeprefix('tar').removeprefix('.')}") as file:
            file.add(FILES / "readin", "READIN-main")
    packed = load("readin-wmt2021", "speech", tmp_path / "packed", archive)["test"]
    assert list(packed) == list(load("readin-wmt2021", "speech", tmp_path / "plain")["test"])


@pytest.mark.parametrize("name", ["readin-afqmc", "nature-atis", "dialect-en-demszky", "slurp-asr", "zh-asr-slu"])
def test_what_cannot_be_downloaded_is_said_with_where_to_get_it(name, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"cannot be downloaded by a program; get it from .*\w"):
        build_dataset(benchmarks()[name], tmp_path / "out")


class Shelf(datasets.DownloadManager):
    """Gives local files for addresses, and notes the addresses."""

    asked = ()

    def download(self, url_or_urls):
        Shelf.asked = tuple(url_or_urls)
        return [str(self.place(url)) for url in url_or_urls]

    def place(self, url):
        *folders, name = url.split("/")
        return max(FILES.rglob(name), key=lambda path: path.parent.name == folders[-1])


@pytest.mark.parametrize("name", ["nature-nlued", "nature-snips", "dialect-pt"])
def test_downloads_keep_the_names_that_files_have_at_their_address(name, tmp_path):
    config = next(iter(BUILT[name][1]))
    builder = benchmarks()[name](config_name=config, cache_dir=str(tmp_path))
    builder.download_and_prepare(dl_manager=Shelf())
    assert all(url.startswith("https://") for url in Shelf.asked)
    built = builder.as_dataset()
    assert {split: len(rows) for split, rows in built.items()} == BUILT[name][1][config]
    assert len(builder.source.hashes) == len(Shelf.asked)
    assert "intent" not in builder.info.features or builder.info.features["intent"].names


def test_typists_stand_together_by_speed_and_all_of_them(tmp_path):
    texts = {row["clean_text"]: row["text"] for row in load("aalto-typing", "typed", tmp_path)["test"]}
    assert columns(texts["The ferry leaves at six."], "typist", "text") == [
        (3, "The ferry leaves at six."),
        (8, "The ferry leaves at six"),
        (12, "Teh ferry leaves at six."),
    ]
    medium = {row["clean_text"]: row["text"] for row in load("aalto-typing", "typed.medium", tmp_path)["test"]}
    assert [columns(each, "typist") for each in medium.values()] == [[(8,)]] * 2


def test_a_log_that_does_not_replay_is_not_in_uncorrected(tmp_path):
    texts = {row["clean_text"]: row["text"] for row in load("aalto-typing", "uncorrected", tmp_path)["test"]}
    assert columns(texts["The ferry leaves at six."], "text") == [
        ("The fery leaves at six.",),
        ("The ferry laeves at six",),
        ("Teh ferry leaves at six.",),
    ]
    assert columns(texts["Don't wait for me."], "text") == [("Dont wait for me.",), ("Don't wait ofr me,",)]
    assert columns(texts["We sold the old mill."], "typist", "text") == [(8, "We sold th eold mill.")]


@pytest.mark.parametrize(
    ("keys", "without_backspace"),
    [
        ("hello", "hello"),
        ("ehe<<<hello", "ehello"),  # of what was typed first, the rest was retyped
        ("hex<llo", "hexlo"),  # replaced
        ("hel<<ello", "hello"),  # nothing was wrong before it was taken back
        ("heo<llo", "heolo"),
        ("heell<<<llo", "heello"),  # put in
        ("hello wrl<<orld", "hello wrld"),  # left out
        ("helo<lo abc", "helo abc"),
        ("lets  <go", "lets  go"),  # a key hit twice
        ("an<d so", "an so"),
        ("abcx<", "abcx"),  # nothing follows
        ("<<ab", "ab"),  # nothing to take back
        ("abx<cy<<d", "abx"),  # a correction of a correction keeps what was first
        ("abx<cy<<<d", "abx"),
    ],
)
def test_what_was_typed_first_stays_without_backspace(keys, without_backspace):
    from lapsus.dataset_scripts.aalto_typing import TypingLog, replay_keys, undo_corrections

    names = ["BKSP" if key == "<" else key for key in keys]
    typed, _ = replay_keys(names)
    assert undo_corrections(TypingLog(1, typed, typed, names, 9)) == without_backspace
    assert undo_corrections(TypingLog(1, typed, f"{typed}!", names, 9)) is None


def test_the_studys_own_files_give_the_same_rows(tmp_path):
    for config in AALTO:
        plain, own = (
            list(load("aalto-typing", config, tmp_path / folder, FILES / folder)["test"])
            for folder in ("aalto_typing", "aalto_own")
        )
        assert plain == own


def test_a_compressed_file_of_a_folder_is_read(tmp_path):
    content = (FILES / "aalto_typing" / "keystrokes.jsonl").read_bytes()
    packed = tmp_path / "logs" / "keystrokes.jsonl.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(content))
    assert list(load("aalto-typing", "typed", tmp_path / "a", packed.parent)["test"]) == list(
        load("aalto-typing", "typed", tmp_path / "b")["test"]
    )
    packed.write_bytes(gzip.compress(content)[:-9])
    with pytest.raises(OSError, match=r"keystrokes.jsonl.gz is a damaged archive \(.*\); get it again"):
        load("aalto-typing", "typed", tmp_path / "c", packed.parent)
    packed.write_bytes(gzip.compress(bytes(3 * 2**20)))
    with pytest.raises(OSError, match="unpacks to more than 200 times its size, as a zip bomb does"):
        load("aalto-typing", "typed", tmp_path / "d", packed.parent)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('"typist": 3', '"typist": "x"', "line 1 has 'x' as its typist; mend the log"),
        ('"ms": [0, ', '"ms": [', "line 1 has keys and ms that are not as many names and numbers; mend the log"),
        ('"typed": "The ferry leaves at six."', '"typed": " "', "line 1 has an empty typed text; leave the log out"),
        ('"ms"', '"times"', "line 1: has no ms; its keys are typist, sentence, typed, keys, times"),
        (
            "Don't wait for me",
            "The ferry leaves at six",
            "line 2 has typist 3 copy 'The ferry leaves at six.' a second",
        ),
    ],
)
def test_spoilt_logs_are_named(old, new, sentence, tmp_path):
    text = (FILES / "aalto_typing" / "keystrokes.jsonl").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "keystrokes.jsonl").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=sentence):
        build_dataset(benchmarks()["aalto-typing"], tmp_path / "out", source=tmp_path, allow_partial=True)


def test_the_studys_own_files_are_checked(tmp_path):
    folder = shutil.copytree(FILES / "aalto_own", tmp_path / "own")
    file = folder / "Keystrokes" / "files" / "8_keystrokes.txt"
    good = file.read_text(encoding="utf-8")
    for old, new, sentence in (
        ("LETTER", "KEY", "8_keystrokes.txt has the columns .*KEY, KEYCODE, not those of the study"),
        ("14721277970", "soon", "8_keystrokes.txt section 4000 has no number where one belongs"),
        ("\tSHIFT\t", "\t", "8_keystrokes.txt, line 2: has 8 tab-separated fields, not 9"),
    ):
        file.write_text(good.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(ValueError, match=sentence):
            load("aalto-typing", "clean", tmp_path / "cache", folder)


def test_disfluent_questions_that_the_files_lost_are_left_out(tmp_path):
    built = load("disfl-qa", "disfluent", tmp_path)
    assert columns(built["train"], "id") == [("56aa01",), ("56aa02",)]
    assert built["train"][0]["question"] == "Who built no wait who keeps the ferry at Orrin?"
    assert built["test"][0]["answers"]["text"] == ["carts and sheep"]
    assert built["test"][1]["answers"] == {"text": [], "answer_start": []}


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("#VALUE!", True),
        ("Question N/A", True),
        ("No question.", True),
        ("no question n/a", True),
        ("n/a", True),
        ('\\"\\"', True),
        ("", True),
        ("What is a question?", False),
        ("question who asked", False),
        ("no wait who?", False),
    ],
)
def test_what_stands_for_no_question_is_known(text, lost):
    from lapsus.dataset_scripts.disfl_qa import NO_QUESTION

    assert bool(NO_QUESTION.fullmatch(text)) == lost


def test_the_licence_of_disfl_qa_is_that_of_what_is_in_it(tmp_path):
    folder = shutil.copytree(FILES / "disfl_qa", tmp_path / "source")
    unit = benchmarks()["disfl-qa"]
    cards = []
    for name in ("with", "without"):
        built = build_dataset(unit, tmp_path / name / "disfl-qa", source=folder, allow_partial=True)
        cards.append((built.path / "README.md").read_text(encoding="utf-8"))
        shutil.rmtree(folder / "squad", ignore_errors=True)
    assert [re.search("^license: (.*)$", card, re.MULTILINE)[1] for card in cards] == ["cc-by-sa-4.0", "cc-by-4.0"]
    assert ["`context`" in card for card in cards] == [True, False]


@pytest.mark.parametrize(
    ("name", "file", "old", "new", "sentence"),
    [
        (
            "disfl_qa",
            "train.json",
            "Who built no wait who keeps the ferry at Orrin?",
            None,
            "has None as its disfluent",
        ),
        ("disfl_qa", "train.json", "56aa02", "56aa99", "question '56aa99' is not in .*dev-v2.0.json"),
        ("disfl_qa", "dev.json", "When did the mill burn down?", " ", "question '56aa03' has an empty original; mend"),
        ("odsqa", "ODSQA_textq_test-v1.1.json", "901-1-2", "901-1-1", "question '901-1-1' is there twice"),
        ("odsqa", "ODSQA_spokenq_test-v1.1.json", "901-1-2", "901-1-9", "'901-01-02' is in only one of"),
        (
            "odsqa",
            "ODSQA_spokenq_test-v1.1.json",
            '"text": "六點"',
            '"text": "七點"',
            "has the answer '七點' at 6, where",
        ),
        (
            "odsqa",
            "ODSQA_spokenq_test-v1.1.json",
            '"answer_start": 6',
            '"answer_start": 99',
            "outside of its paragraph",
        ),
        ("odsqa", "ODSQA_spokenq_test-v1.1.json", "船夫姓林", "船夫姓李", "has another context or answer than"),
        (
            "odsqa",
            "ODSQA_spokenq_test-v1.1.json",
            "杜口幾點開船？",
            "",
            "question '901-1-1' has an empty question; mend",
        ),
        (
            "zh_asr_pairs",
            "magicdata.csv",
            "放一首慢歌,放一首慢歌",
            "放一首慢歌,",
            "magicdata.csv row 1 has an empty transcript",
        ),
        ("zh_asr_pairs", "magicdata.csv", "transcript", "text", "magicdata.csv has no column transcript"),
        ("zh_asr_pairs", "magicdata.csv", "放一首慢歌,放一首慢歌", "放,一首,慢歌", "magicdata.csv, line 2"),
        ("slurp", "test.jsonl", "play blue river by ida moss", None, "test.jsonl, line 1: has no sentence;"),
        ("slurp", "test.jsonl", '"play blue river by ida moss"', "4", "test.jsonl row 1 has 4 as its sentence, which"),
        ("slurp", "test.jsonl", "play blue river by ida moss", "", "test.jsonl row 1 has an empty sentence; mend"),
        (
            "zh_asr_slu",
            "train.json",
            '"导航去老马头"',
            "4",
            "train.json dialogue 0 turn 1 has 4 as its asr_1best, which",
        ),
        ("zh_asr_slu", "train.json", "导航去老码头", " ", "dialogue 0 turn 1 has an empty manual_transcript; mend"),
        (
            "demszky",
            "indian_english_dialect.csv",
            "the cook is washing his big green car",
            "",
            "row 1 has an empty Example",
        ),
    ],
)
def test_spoilt_files_of_the_others_are_named(name, file, old, new, sentence, tmp_path):
    folder = shutil.copytree(FILES / name, tmp_path / name)
    path = folder / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(*((old, new) if new is not None else (f'"{old}"', "null")), 1), encoding="utf-8")
    unit = next(unit for unit in benchmarks().values() if BUILT.get(unit.NAME, ("",))[0] == name)
    with pytest.raises(ValueError, match=sentence):
        build_dataset(unit, tmp_path / "out", source=folder, allow_partial=True)
    assert not (tmp_path / "out").exists()


def test_a_character_that_the_recogniser_lacks_is_one_character(tmp_path):
    rows = load("zh-asr", "speech", tmp_path)["aishell1"]
    assert rows[1]["text"] == "工程\ufffd在秋天完工"
    assert rows[1]["clean_text"] == "工程将在秋天完工"
