"""Conversations in the page's examples, calls as they are read, and answers that were refused or cut."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files

import pytest

import lapsus
from lapsus.core.conversations import list_user_texts
from lapsus.core.types import Track
from lapsus.evaluation import make_task
from lapsus.evaluation.run_folder import write_prediction_files
from lapsus.perturbations import EnKeyboard, Noise
from lapsus.reporting.html.examples import iter_example_parts
from lapsus.reporting.score_table import align_tracks
from lapsus.reporting.tracks import read_tracks

IMAGE = {"type": "image_url", "image_url": {"url": "data:"}}
CALL = {"id": "c", "type": "function", "function": {"name": "find", "arguments": '{"id": "W7712"}'}}
CHAT = [
    {"role": "system", "content": "You are a clerk."},
    {"role": "user", "content": "please change the delivery address of my order"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "an order"},
    {"role": "user", "content": [IMAGE]},
    {"role": "user", "content": [IMAGE, {"type": "text", "text": "it is number W7712 in Springfield"}]},
    {"role": "assistant", "content": "Done."},
]
SHAREGPT = [{"from": "human", "value": "where is my parcel"}]
ROWS = [{"id": "long", "messages": CHAT, "order": "W7712"}, {"id": "short", "messages": SHAREGPT, "order": "W1"}]
SHOWN = [
    ("system", "You are a clerk."),
    ("user", None),
    ("assistant", '[{"name": "find", "arguments": {"id": "W7712"}}]'),
    ("tool", "an order"),
    ("user", "(image_url)"),
    ("user", None),
]
NOISE = EnKeyboard.annotator(1, rate=8)


def read_parts(tracks):
    return [json.loads(part.json) for part in iter_example_parts(align_tracks(tracks))]


def list_messages(part, key):
    """Return the messages of an example as the page shows them, and the noisy texts of the user's turns."""
    place = part["ids"].index(key)
    numbers = part["transcripts"][place]
    shown = [("user", None) if number < 0 else tuple(part["messages"][number]) for number in numbers]
    texts = [part["texts"][place][-1 - number] for number in numbers if number < 0]
    return shown, ["".join(each if isinstance(each, str) else each[1] for each in text) for text in texts]


@pytest.fixture(scope="module")
def part():
    tracks = lapsus.run(
        make_task("messages", "order"), ROWS, lambda rows: ["W7712"] * len(rows), noise=["en_keyboard:1@8"]
    )
    assert "messages" in tracks[0].rows[0] and "messages" not in tracks[1].rows[0], "noise leaves them as they are"
    (part,) = read_parts(tracks)
    return part


def test_a_run_shows_what_the_model_read_with_marked_edits(part):
    noisy = Noise(NOISE, "messages", "id")
    assert list_messages(part, "long") == (SHOWN, list_user_texts(noisy(ROWS[0])["messages"]))
    assert list_messages(part, "short") == ([("user", None)], list_user_texts(noisy(ROWS[1])["messages"]))
    assert any(not isinstance(stretch, str) for text in part["texts"][0] for stretch in text)


def test_files_of_ones_own_are_shown_alike(tmp_path):
    noisy = [{**row, **Noise(NOISE, "messages", "id")(row), "prediction": "W7712"} for row in ROWS]
    clean = [{**row, "prediction": "W7712"} for row in ROWS]
    write_prediction_files([(tmp_path / "m.clean.jsonl", clean), (tmp_path / "m.keyboard.1.jsonl", noisy)])
    (part,) = read_parts(read_tracks(sorted(tmp_path.iterdir()), gold="order"))
    shown, texts = list_messages(part, "long")
    assert shown == [*SHOWN, ("assistant", "Done.")] and texts == list_user_texts(noisy[0]["messages"])


def test_texts_are_no_conversations_and_a_message_too_many_shows_none():
    rows = [{"id": "a", "score": 1.0, "text": "hi", "clean_text": "hi", "messages": [*SHAREGPT, *SHAREGPT]}]
    for columns in ({}, {"messages": "hi"}):
        (other,) = read_parts([Track("m", "keyboard.1", [{**row, **columns} for row in rows])])
        assert "transcripts" not in other and other["texts"] == [[["hi"]]]


def make_rows(*reasons):
    return [
        {"id": str(number), "score": float(not reason), "prediction": None if reason else "yes", "gold": "yes"}
        | ({"finish_reason": reason, "error": f"ended by {reason}"} if reason else {})
        | {"text": "is it", "clean_text": "is it", "unparsed": bool(reason)}
        for number, reason in enumerate(reasons)
    ]


def test_refused_and_cut_answers_are_columns_of_their_own(tmp_path):
    tracks = [
        Track("m", "clean", make_rows(*[None] * 6)),
        Track("m", "keyboard.1", make_rows("refusal", "content_filter", "length", "thinking", "context", None)),
    ]
    lapsus.report(tracks, tmp_path)
    clean, noisy = json.loads((tmp_path / "report.json").read_text("utf-8"))["tracks"]
    assert (clean["refused"], clean["cut"], clean["unparsed"]) == (0, 0, 0)
    assert (noisy["refused"], noisy["cut"], noisy["unparsed"]) == (2, 2, 5)
    assert noisy["failed"] == 1, "the context that is too long"
    page = (tmp_path / "index.html").read_text("utf-8")
    assert ">Refused</span>" in page and ">Cut</span>" in page
    assert "refused 2 of 6 requests" in page and "2 of 6 answers were cut" in page
    (part,) = read_parts(tracks)
    outcomes = [part["models"][0]["pairs"][number][2] for number in part["models"][0]["pair_indices"]]
    assert dict(zip(part["ids"], outcomes, strict=True)) == {
        "0": "lost refused",
        "1": "lost refused",
        "2": "lost cut",
        "3": "lost cut",
        "4": "lost",
        "5": "unchanged",
    }


def test_a_page_without_them_has_no_such_columns(tmp_path):
    lapsus.report([Track("m", name, make_rows(None, None)) for name in ("clean", "keyboard.1")], tmp_path)
    page = (tmp_path / "index.html").read_text("utf-8")
    assert ">Refused</span>" not in page and ">Cut</span>" not in page and ">Unparsed</span>" in page


CALLS = [
    ('[{"name": "f", "arguments": {"b": 1, "a": "x"}}]', 'f(b=1, a="x")'),
    ('[{"arguments": {}, "name": "f"}, {"arguments": {"a": [1]}, "name": "g"}]', "f()\ng(a=[1])"),
    ('[{"f": {"a": [1, 2]}}]', '[{"f": {"a": [1, 2]}}]'),
    ('[{"name": "f"', '[{"name": "f"'),
    ("[1]", "[1]"),
    (None, None),
]


@pytest.mark.skipif(not shutil.which("node"), reason="needs node")
def test_calls_are_shown_as_a_program_writes_them():
    script = files("lapsus.reporting.html").joinpath("templates", "examples.js").read_text(encoding="utf-8")
    function = script[script.index("const formatCalls") : script.index("const MAX_SHOWN")]
    texts = json.dumps([text for text, _ in CALLS])
    program = f"{function}\nconsole.log(JSON.stringify({texts}.map((text) => formatCalls(text))))"
    result = subprocess.run(["node", "-e", program], capture_output=True, check=True, text=True)
    assert json.loads(result.stdout) == [shown for _, shown in CALLS]
