"""The real files, where they are beside the checkout: the counts and rates that the papers print."""

from __future__ import annotations

import Levenshtein  # another implementation than the one that builds the cards
import pytest
import viewer
from paths import SHARED_DATA

from lapsus.dataset_scripts import benchmarks
from lapsus.hub.build import build_dataset

DATA = SHARED_DATA
pytestmark = [pytest.mark.data, pytest.mark.skipif(not DATA.exists(), reason="the real files are not here")]


def rows(name, folder, config, split):
    builder = benchmarks()[name](config_name=config, data_dir=DATA / folder, hash="unused")
    return list(builder.rows(builder.source, config, split))


def error_rates(clean, noisy):
    """Return READIN's micro average and worst average error rate."""
    rates = [
        [Levenshtein.distance(text, typed) / len(text) for typed in all_typed]
        for text, all_typed in zip(clean, noisy, strict=True)
    ]
    return sum(sum(row) / len(row) for row in rates) / len(rates), sum(map(max, rates)) / len(rates)


COMPLETE = {
    "dialect-zh": "frmt",
    "dialect-pt": "frmt",
    "dialect-en-demszky": "demszky",
    "noiseqa": "noiseqa",
    "zh-asr-slu": "zh_asr_slu",
    "zh-asr": "zh_asr_pairs",
}
SIMULATED = {
    "readin-afqmc-sim": ("afqmc", 4_316),
    "readin-cmrc2018-sim": ("cmrc2018", 3_219),
    "readin-cspider-sim": ("cspider", 1_034),
    "readin-wmt2021-sim": ("wmt21", 1_948),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPLETE)
def test_whole_sources_have_their_official_rows(name, tmp_path):
    assert build_dataset(benchmarks()[name], tmp_path / name, source=DATA / COMPLETE[name]).row_count_mismatches == {}


@pytest.mark.parametrize("name", SIMULATED)
def test_synthetic_tracks_hold_every_row_of_the_public_test_split(name):
    folder, official = SIMULATED[name]
    assert len(rows(name, folder, "auto.1", "test")) == official


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "folder", "configs"),
    [
        ("nature-atis", "nature_slu/atis", ("original", "filler_pre_verb", "synonym_any", "random.0", "augmented")),
        ("readin-cspider-sim", "cspider", ("auto.1", "keyboard.2", "speech.3")),
    ],
)
def test_the_edits_of_altered_rows_replay(name, folder, configs, tmp_path):
    whole = benchmarks()[name]
    part = type("Part", (whole,), {"__module__": __name__, "ROWS": {config: whole.ROWS[config] for config in configs}})
    assert build_dataset(part, tmp_path / name, source=DATA / folder).row_count_mismatches == {}


READIN_PART = dict.fromkeys(("clean", "keyboard.1", "keyboard.2", "keyboard.3", "keyboard"), 2158)


def test_readin_afqmc_has_what_the_part_holds(tmp_path):
    built = build_dataset(benchmarks()["readin-afqmc"], tmp_path / "out", source=DATA / "readin", allow_partial=True)
    assert built.rows["clean"] == {"train": 18_000, "validation": 2_000, "test": 2_158}
    assert {config: splits["test"] for config, splits in built.rows.items() if splits["test"]} == READIN_PART
    assert built.row_count_mismatches["keyboard.1/test"] == (4_316, 2_158)
    assert "`clean/test` has 2,158 of 4,316" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")


def test_readin_afqmc_is_balanced_where_the_paper_says_so():
    for split, half in (("train", 9_000), ("validation", 1_000)):
        labels = [row["label"] for row in rows("readin-afqmc", "readin", "clean", split)]
        assert labels.count("paraphrase") == labels.count("different") == half


def test_the_public_afqmc_has_the_papers_labels():
    labels = [row["label"] for row in rows("readin-afqmc", "afqmc", "clean", "test")]
    assert (labels.count("paraphrase"), labels.count("different")) == (1_338, 2_978)


def test_readin_afqmc_has_the_papers_error_rates():
    # Table 3 prints 18.8 and 27.5 for the whole set, both questions joined, with the line end of annotator 3.
    part = rows("readin-afqmc", "readin", "keyboard", "test")
    clean = [row["clean_sentence1"] + row["clean_sentence2"] for row in part]
    typed = [
        [one["text"] + two["text"] for one, two in zip(row["sentence1"], row["sentence2"], strict=True)] for row in part
    ]
    assert error_rates(clean, typed) == pytest.approx((0.1732, 0.2620), abs=5e-5)
    assert error_rates(clean, [[*two, f"{third}\n"] for *two, third in typed]) == pytest.approx(
        (0.188, 0.275), abs=3e-3
    )


def test_the_card_of_readin_afqmc_prints_the_rate_of_table_3(tmp_path):
    # Without that line end the whole set has 17.4 and 25.9; this half of it has 17.3 and 26.2.
    built = build_dataset(benchmarks()["readin-afqmc"], tmp_path / "out", source=DATA / "readin", allow_partial=True)
    (rate,) = [
        rate for rate in built.rates if (rate.location, rate.column) == ("keyboard/test", "sentence1 + sentence2")
    ]
    assert (rate.micro_average, rate.worst_average) == pytest.approx((0.1732, 0.2620), abs=5e-5)
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "| `keyboard/test` | `sentence1 + sentence2` | 17.3% | 26.2% |" in card


@pytest.mark.parametrize("name", SIMULATED)
def test_synthetic_tracks_come_with_their_clean_rows(name):
    folder, official = SIMULATED[name]
    clean = rows(name, folder, "clean", "test")
    assert len(clean) == official
    assert clean == rows(name.removesuffix("-sim"), folder, "clean", "test")
    assert next(iter(benchmarks()[name].ROWS)) == "clean"


@pytest.mark.parametrize(
    ("track", "printed", "on_this_part"),
    [("keyboard", (0.177, 0.251), (0.1838, 0.2540)), ("speech", (0.216, 0.308), (0.2135, 0.2992))],
)
def test_readin_wmt2021_has_the_papers_error_rates(track, printed, on_this_part):
    part = rows("readin-wmt2021", "readin", track, "test")
    typed = [[one["text"] for one in row["translation"]["zh"]] for row in part]
    rates = error_rates([row["clean_zh"] for row in part], typed)
    assert rates == pytest.approx(on_this_part, abs=5e-5)
    assert rates == pytest.approx(printed, abs=1e-2)


def test_speech_lacks_only_what_the_recogniser_lost():
    clean = [row["id"] for row in rows("readin-wmt2021", "readin", "clean", "test")]
    spoken = [row["id"] for row in rows("readin-wmt2021", "readin", "speech", "test")]
    assert (len(clean), len(spoken)) == (974, 958)
    assert [name for name in clean if name in set(spoken)] == spoken
    assert [row["id"] for row in rows("readin-wmt2021", "readin", "keyboard", "test")] == clean


def test_the_news_of_wmt21_are_those_of_readin():
    public = rows("readin-wmt2021", "wmt21", "clean", "test")
    assert len(public) == 1_948
    assert public[:974] == rows("readin-wmt2021", "readin", "clean", "test")


# NATURE, Table 1: sentences, words, vocabulary per split; intents and tags of section 4.1
TABLE_1 = {
    "atis": ({"train": (4_478, 50_497, 867), "validation": (500, 5_703, 463), "test": (893, 9_164, 448)}, 18, 127),
    "snips": (
        {"train": (13_084, 117_700, 11_418), "validation": (700, 6_384, 1_571), "test": (700, 6_354, 1_624)},
        7,
        72,
    ),
}


@pytest.mark.parametrize("name", TABLE_1)
def test_nature_has_the_statistics_of_table_1(name):
    table, intents, tags = TABLE_1[name]
    splits = {split: rows(f"nature-{name}", f"nature_slu/{name}", "original", split) for split in table}
    tokens = {split: [token for row in utterances for token in row["tokens"]] for split, utterances in splits.items()}
    assert {split: (len(splits[split]), len(tokens[split]), len(set(tokens[split]))) for split in table} == table
    everything = [row for utterances in splits.values() for row in utterances]
    assert len({intent for row in everything for intent in row["intent"].split("#")}) == intents
    assert len({tag for row in everything for tag in row["tags"]}) == tags
    if name == "atis":  # the paper prints 939
        assert len({token for split in tokens.values() for token in split}) == 950


def test_nlued_builds_the_folds_in_the_papers_shares():
    sizes = [len(rows("nature-nlued", "nlued", "original", split)) for split in ("train", "validation", "test")]
    assert sizes == [8_852, 1_092, 1_092]
    assert sum(sizes) == 11_036


# FRMT's README: sentences per bucket and split
BUCKETS = {
    "dialect-pt": {"exemplars": (118, 112, 111), "dev": (848, 935, 744), "test": (874, 985, 757)},
    "dialect-zh": {"exemplars": (173, 104, 111), "dev": (524, 883, 744), "test": (538, 932, 757)},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BUCKETS)
def test_frmt_has_its_buckets(name):
    for split, sizes in BUCKETS[name].items():
        buckets = [row["bucket"] for row in rows(name, "frmt", "default", split)]
        assert tuple(buckets.count(bucket) for bucket in ("lexical", "entity", "random")) == sizes


@pytest.mark.parametrize(("name", "least"), [("dialect-zh", 1_252), ("dialect-pt", 1_415)])
def test_frmt_has_at_least_as_many_changed_meanings_as_the_paper(name, least):
    changed = [row for row in rows(name, "frmt", "default", "test") if row["perturbed"]]
    assert len(changed) >= least
    assert all(row["perturbed"] != row["base"] and row["perturbation"] for row in changed)


def test_taiwanese_mandarin_is_in_simplified_characters():
    texts = "".join(row["dialect"] for row in rows("dialect-zh", "frmt", "default", "test"))
    assert "软体" in texts
    assert not set("軟體電腦們對") & set(texts)


def test_rte_test_sets_have_the_2400_pairs_of_parte():
    tests = [rows("rte", "rte", f"rte{number}", "test") for number in (1, 2, 3)]
    assert [len(test) for test in tests] == [800, 800, 800]
    assert [sum(row["label"] == "entailed" for row in test) for test in tests] == [400, 400, 410]


def test_demszky_keeps_certain_pairs():
    pairs = rows("dialect-en-demszky", "demszky", "default", "test")
    assert len(pairs) == 115
    assert len({row["dialect"] for row in pairs}) == 115
    assert len({feature for row in pairs for feature in row["features"]}) == 22


def test_slurp_has_the_transcripts_of_13071_recordings():
    spoken = rows("slurp-asr", "slurp", "speech", "test")
    assert len(spoken) == 2_974
    assert sum(len(row["text"]) for row in spoken) == 13_071


def test_catslu_leaves_out_1272_utterances():
    kept = [len(rows("zh-asr-slu", "zh_asr_slu", "speech", split)) for split in ("train", "validation")]
    assert sum(kept) == 6_014 - 1_272


def test_cmrc2018_answers_stand_where_they_say_but_for_200():
    questions = rows("readin-cmrc2018", "cmrc2018", "clean", "test")
    answers = [
        (row["context"], text, start)
        for row in questions
        for text, start in zip(row["answers"]["text"], row["answers"]["answer_start"], strict=True)
    ]
    assert (len(questions), len(answers)) == (3_219, 9_657)
    assert sum(context[start : start + len(text)] != text for context, text, start in answers) == 200


# parts of the sources: benchmark -> (folder, rows that the part holds)
PARTS = {
    "odsqa": ("odsqa", {"clean/test": 665, "speech/test": 665}),
    "disfl-qa": (
        "disfl_qa",
        {"clean/train": 7_182, "clean/validation": 1_000, "disfluent/train": 7_149, "disfluent/validation": 996},
    ),
    "aalto-typing": ("aalto_typing", {"clean/test": 919, "typed/test": 919, "uncorrected/test": 918}),
    "hinglish-top": ("hinglish_top", {"clean/train": 2_993, "hinglish/train": 2_993, "hinglish/validation": 1_390}),
    "dstc10-asr": ("dstc10_task2", {"speech/validation": 141}),
    "topical-chat-asr": (
        "topical_chat_asr",
        {
            "clean/test_freq": 436,
            "speech.1/test_freq": 436,
            "speech.1/test_rare": 463,
            "speech.2/test_rare": 463,
        },
    ),
    "xsid-no": (
        "xsid",
        {"clean/validation": 300, "clean/test": 260, "writer.1/validation": 299, "writer.10/test": 260},
    ),
    "xsid-de": ("xsid", {"clean/test": 260, "writer.1/test": 260, "writer.4/test": 260}),
    "xsid-it": ("xsid", {"clean/test": 260, "writer.1/test": 260}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PARTS)
def test_parts_of_sources_have_what_they_hold_and_suit_the_viewer(name, tmp_path):
    folder, held = PARTS[name]
    built = build_dataset(benchmarks()[name], tmp_path / name, source=DATA / folder, allow_partial=True)
    found = {f"{config}/{split}": rows for config, splits in built.rows.items() for split, rows in splits.items()}
    assert {place: found[place] for place in held} == held
    assert list(viewer.findings(built.path)) == []


def test_odsqa_questions_have_the_papers_error_rate():
    spoken = rows("odsqa", "odsqa", "speech", "test")
    edits = sum(Levenshtein.distance(row["question"], row["clean_question"]) for row in spoken)
    assert edits / sum(len(row["clean_question"]) for row in spoken) == pytest.approx(0.1857, abs=5e-3)


# recognised and true, over all characters, as they are in the files; `<unk>` counts five there and one here
CORPUS_RATES = {
    "aishell1": (0.2533, 656),
    "magicdata": (0.3521, 305),
    "mandarin": (0.3336, 466),
    "accented": (0.1096, 0),
}


@pytest.mark.parametrize("split", CORPUS_RATES)
def test_zh_asr_counts_an_unknown_character_once(split):
    in_files, unknown = CORPUS_RATES[split]
    pairs = rows("zh-asr", "zh_asr_pairs", "speech", split)
    assert sum("\ufffd" in row["text"] for row in pairs) == unknown
    raw = [(row["text"].replace("\ufffd", "<unk>"), row["clean_text"]) for row in pairs]
    characters = sum(len(clean) for _, clean in raw)
    assert sum(Levenshtein.distance(*pair) for pair in raw) / characters == pytest.approx(in_files, abs=5e-5)


def test_aalto_typists_leave_one_percent_and_make_four():
    means = {}
    for config in ("typed", "uncorrected"):
        sentences = rows("aalto-typing", "aalto_typing", config, "test")
        typings = [(one["text"], row["clean_text"]) for row in sentences for one in row["text"]]
        assert len(typings) == {"typed": 10_446, "uncorrected": 7_045}[config]
        means[config] = sum(Levenshtein.distance(*pair) / len(pair[1]) for pair in typings) / len(typings)
    assert means == pytest.approx({"typed": 0.0117, "uncorrected": 0.0404}, abs=5e-5)


def test_aalto_typists_are_in_the_same_group_whichever_way_they_are_asked_for():
    every = {one["typist"] for row in rows("aalto-typing", "aalto_typing", "typed", "test") for one in row["text"]}
    groups = [
        {one["typist"] for row in rows("aalto-typing", "aalto_typing", f"typed.{speed}", "test") for one in row["text"]}
        for speed in ("slow", "medium", "fast")
    ]
    assert len(every) == 1_160 == sum(map(len, groups)) and every == set().union(*groups)
