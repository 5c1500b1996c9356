"""BFCL's files: what is refused."""

from __future__ import annotations

import shutil

import pytest
from paths import TESTS

from lapsus.dataset_scripts import benchmarks


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("possible_answer/BFCL_v4_multiple.json", '"multiple_0"', '"multiple_1"', "'multiple_0' has no accepted call"),
        ("BFCL_v4_multiple.json", '"role": "user"', '"role": "tool"', "is not one turn of a user"),
        (
            "BFCL_v4_multiple.json",
            "I want to be in Ystad by ship, by way of Rønne and Simrishamn.",
            " ",
            "empty content",
        ),
    ],
)
def test_other_files_are_refused(tmp_path, file, old, new, message):
    folder = shutil.copytree(TESTS / "benchmarks_files" / "bfcl", tmp_path / "bfcl")
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new), encoding="utf-8")
    builder = benchmarks()["bfcl"](config_name="clean", data_dir=folder)
    with pytest.raises(ValueError, match=message):
        list(builder.rows(builder.source, "clean", "multiple"))


def test_a_system_message_stands_apart():
    builder = benchmarks()["bfcl"](config_name="clean", data_dir=TESTS / "benchmarks_files" / "bfcl")
    (row,) = builder.rows(builder.source, "clean", "live_simple")
    assert (row["system"], row["request"]) == ("You are the assistant of a house.", "kitchn lamp to 40 pls, warm")
