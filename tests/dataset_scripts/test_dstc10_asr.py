"""DSTC10's files: dialogues with what a recogniser heard, and the snippets that answer."""

from __future__ import annotations

import shutil

import pytest
from paths import BENCHMARK_FILES

from lapsus.dataset_scripts import benchmarks

FILES = BENCHMARK_FILES / "dstc10_task2"


def read(config="speech", split="validation", folder=FILES):
    builder = benchmarks()["dstc10-asr"](config_name=config, data_dir=folder)
    return list(builder.rows(builder.source, config, split))


def test_rows_are_conversations_with_all_hypotheses_of_the_user():
    first, second, other = read()
    assert [row["dialogue"] for row in (first, second, other)] == ["0", "0", "2"]
    assert [message["role"] for message in second["messages"]] == ["user", "assistant", "user"]
    assert second["messages"][-1]["content"] == "can i bring my dock"
    assert [tuple(each.values()) for each in second["nbest"]] == [
        (0, "i need a bad for two nights", -10.5),
        (0, "i need a bed for two nights", -11.5),
        (2, "can i bring my dock", -10.5),
        (2, "can i bring my dog", -11.5),
    ]


def test_the_snippet_of_a_label_answers_it():
    snippets = {row["id"]: row for row in read("knowledge", "snippets")}
    labels = [(row["seeks_knowledge"], row["snippet"], row["response"]) for row in read()]
    assert labels[0] == ("no", "", "")
    assert labels[1] == ("yes", "hotel/7/1", "yes dogs are welcome there")
    assert snippets[labels[1][1]]["answer"] == "Dogs are welcome."
    assert (snippets[labels[2][1]]["entity"], snippets[labels[2][1]]["answer"]) == ("", "All day.")


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("val_logs.json", '"S"', '"X"', "dialogue 1 turn 1 has the speaker 'X', which is none of U, S"),
        ("val_logs.json", '"is the fairy running today"', '""', "dialogue 2 turn 0 has an empty text; mend"),
        ("val_labels.json", '"entity_id": 7', '"entity_id": 8', "label 1 names the snippet 'hotel/8/1', which is not"),
        ("val_labels.json", "[", "[{},", "has 3 dialogues, and val_labels.json 4 labels"),
        ("knowledge.json", '"Dogs are welcome."', "null", "hotel/7/1 has None as its body, which is no text"),
    ],
)
def test_spoilt_files_are_named(file, old, new, message, tmp_path):
    folder = shutil.copytree(FILES, tmp_path / "files")
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read(folder=folder)
