"""`lapsus make` of conversations: the folder loads with every message as it was, and suits the Hub's viewer."""

from __future__ import annotations

import json

import pytest
import viewer
from click.testing import CliRunner
from datasets import Json, load_dataset

from lapsus.cli.main import main
from lapsus.core.conversations import apply_to_messages, list_turns
from lapsus.hub import build_rows
from lapsus.perturbations import EnKeyboard, Noise

WORDS = ("please change the delivery address of my order", "it is number W7712 in Springfield", "go ahead, thanks")
ROWS = [
    {
        "id": f"chat-{10**number}",
        "messages": [
            {"role": "system", "content": "Be brief."},
            *(
                message
                for place, text in enumerate(WORDS[: 1 + number % 3])
                for message in (
                    {"role": "user", "content": text if (place + number) % 2 else [{"type": "text", "text": text}]},
                    {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "find"}}]},
                )
            ),
        ],
        "order": "W7712",
    }
    for number in range(9)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("chats")
    (home / "chats.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    build_rows(home / "chats.jsonl", home / "out", text="messages", noise="typed=en_keyboard:2@4", protect=["order"])
    return home / "out"


def load(folder, config):
    return load_dataset(str(folder), config, split="test", cache_dir=str(folder.parent / "cache"))


def test_the_folder_suits_the_viewer(folder):
    assert list(viewer.findings(folder)) == []


def test_messages_and_edits_come_back_as_they_were(folder):
    clean = load(folder, "clean")
    assert isinstance(clean.features["messages"].feature, Json)
    assert list(clean) == ROWS
    changed = 0
    for number in (1, 2):
        noise = Noise(EnKeyboard.annotator(number, rate=4), "messages", "id", protect_columns=("order",))
        for row, noisy in zip(ROWS, load(folder, f"typed.{number}"), strict=True):
            assert noisy["clean_messages"] == row["messages"]
            assert noisy["messages"] == noise(row)["messages"]
            assert apply_to_messages(row["messages"], noisy["edits"]["messages"]) == noisy["messages"]
            assert all("W7712" in turn.text for turn in list_turns(noisy["messages"]) if turn.number == 1)
            changed += noisy["messages"] != row["messages"]
    assert changed > 5
    for row in load(folder, "typed"):
        assert [entry["annotator"] for entry in row["messages"]] == [1, 2]
        assert all(len(entry["text"]) == len(row["clean_messages"]) for entry in row["messages"])


def test_noise_goes_over_the_rows_of_a_folder(folder):
    over = Noise(EnKeyboard(corrects=False, rate=4), "messages", "id", seed=3, turns="last").map(
        load(folder, "typed.1")
    )
    for row, noisy in zip(ROWS, over, strict=True):
        assert apply_to_messages(row["messages"], noisy["edits"]) == noisy["messages"]


def test_the_card_says_what_is_perturbed_and_what_is_kept(folder):
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "Noise falls on what the user says (all turns), by one person in each conversation" in card
    assert "Noise leaves these as they are: the values of `order`." in card
    assert "| `typed.1/test` | `messages` |" in card
    assert "- en\n" in card


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--text", "order", "--turns", "last"), "'order' holds no messages"),
        (("--text", "messages", "--protect", "prder"), "no column is called 'prder'"),
        (("--text", "messages", "--human", "speako=x.jsonl"), "--human compares texts"),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path, options, message):
    (tmp_path / "chats.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    paths = [str(tmp_path / "chats.jsonl"), "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(main, ["make", *paths, "--noise", "speako", *options])
    assert result.exit_code != 0
    assert message in str(result.exception) + result.output
    assert not (tmp_path / "out").exists()
