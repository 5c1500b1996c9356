"""Hinglish-TOP's files: parses, requests that are in train too, and what is refused."""

from __future__ import annotations

import shutil

import pytest
from paths import BENCHMARK_FILES

from lapsus.dataset_scripts import benchmarks
from lapsus.dataset_scripts.hinglish_top import read_parse

FILES = BENCHMARK_FILES / "hinglish_top"


def read(config, split, folder=FILES):
    builder = benchmarks()["hinglish-top"](config_name=config, data_dir=folder)
    return list(builder.rows(builder.source, config, split))


def test_slots_are_those_of_the_outermost_intent_with_all_their_words():
    (row,) = read("hinglish", "test")
    assert (row["text"], row["clean_text"]) == ('Ravi ko 7 : 15 par " hi " bolo', 'say " hi " to Ravi at 7 : 15')
    assert (row["intent"], row["domain"]) == ("SEND", "messaging")
    assert [tuple(entity.values()) for entity in row["entities"]] == [
        ("RECIPIENT", "Ravi"),
        ("TIME", "7 : 15 par"),
        ("CONTENT", '" hi "'),
    ]


def test_requests_whose_english_is_in_train_are_marked():
    assert [row["seen"] for row in read("hinglish", "validation")] == [True, False]
    assert [row["seen"] for row in read("clean", "train")] == [False, False]


@pytest.mark.parametrize(
    "parse", ["", "play it", "[IN:A x", "[IN:A x ] ]", "[IN:A x ] y", "[SL:A x ]", "[IN:A ] [IN:B ]"]
)
def test_a_parse_that_is_not_one_intent_is_refused(parse):
    with pytest.raises(ValueError, match=r"line 2 has the parse .*, which is not one intent with its brackets"):
        read_parse(parse, "line 2")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("en_query\tcs_query", "cs_query\ten_query", "test.tsv does not begin with the columns en_query, cs_query"),
        ("bolo ]\t", "bolo\t", "test.tsv line 2 has the parse"),
        ("\tmessaging", "\t ", "test.tsv line 2 has an empty domain"),
        ("\tmessaging", "", "test.tsv"),
    ],
)
def test_other_files_are_refused(tmp_path, old, new, message):
    folder = shutil.copytree(FILES, tmp_path / "top")
    text = (folder / "test.tsv").read_text(encoding="utf-8")
    assert old in text
    (folder / "test.tsv").write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read("hinglish", "test", folder)
