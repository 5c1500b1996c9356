"""Topical-Chat ASR's files: turns with what stands before them, as each recogniser wrote it."""

from __future__ import annotations

import shutil

import pytest
from paths import BENCHMARK_FILES

from lapsus.dataset_scripts import benchmarks

FILES = BENCHMARK_FILES / "topical_chat_asr"


def read(config, split="test_freq", folder=FILES):
    builder = benchmarks()["topical-chat-asr"](config_name=config, data_dir=folder)
    return list(builder.rows(builder.source, config, split))


@pytest.mark.parametrize(
    ("config", "first", "second"),
    [
        ("clean", "Have you been to the harbour in Orrin?", "Yes, I am there every Sunday."),
        ("speech.1", "Have you been to the harbor in origin?", "Yes, I'm their every Sunday."),
        ("speech.2", "have you been to the harbor and Orrin", "yes I'm there every Sunday"),
    ],
)
def test_a_turn_and_its_context_are_in_the_words_of_one_recogniser(config, first, second):
    start, row = read(config)
    assert (start["id"], start["context"], start["text"]) == ("t_01/000", [], first)
    assert (row["id"], row["turn"], row["speaker"], row["text"]) == ("t_01/001", 1, "agent_2", second)
    assert row["context"] == [{"speaker": "agent_1", "text": first}]
    assert (row.get("clean_text"), row["sentiment"]) == (
        None if config == "clean" else "Yes, I am there every Sunday.",
        "",
    )


@pytest.mark.parametrize(
    ("config", "old", "new", "message"),
    [
        (
            "clean",
            '"Have you been to the harbour in Orrin? "',
            '" "',
            "dialogue t_01 turn 0 has an empty message; mend",
        ),
        ("speech.2", '"yes I\'m there every Sunday"', "null", "turn 1 has None as its message_asr_B, which is no text"),
    ],
)
def test_spoilt_turns_are_named(config, old, new, message, tmp_path):
    folder = shutil.copytree(FILES, tmp_path / "files")
    path = folder / "test_freq_audio.json"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read(config, folder=folder)
