"""Rows of messages in `lapsus run` and the report: what is sent, what is written, which values noise destroyed."""

from __future__ import annotations

import csv
import json
import re

import pytest
import slow_endpoint
from click.testing import CliRunner

import lapsus
from lapsus.cli.main import main
from lapsus.core.conversations import add_instruction, apply_to_messages, list_user_texts, to_chat
from lapsus.evaluation import TrackSet, add_noise, make_task
from lapsus.io.readers import read_rows
from lapsus.jobs.perturb_file import perturb_file
from lapsus.perturbations import EnKeyboard, Noise

WORDS = ("please change the delivery address of my order", "it is number W7712 in Springfield", "go ahead, thanks")
CALL = {"id": "c", "type": "function", "function": {"name": "find", "arguments": "{}"}}


def make_rows(count=24):
    return [
        {
            "id": f"chat-{number}",
            "messages": [
                {"role": "system", "content": "You are a clerk."},
                {"role": "user", "content": WORDS[0]},
                {"role": "assistant", "content": None, "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "c", "content": "an order"},
                {"role": "assistant", "content": "Which number?"},
                {"role": "user", "content": [{"type": "text", "text": WORDS[1]}]},
                {"role": "assistant", "content": "W7712, then."},
            ],
            "order": "W7712",
        }
        for number in range(count)
    ]


ROWS = make_rows()
TASK = make_task("messages", "order", name="chats")
NOISE = "typed=en_keyboard:2@8"


def read_number(rows):
    """Answer with the number that stands in the user's words."""
    assert all("clean_messages" not in row and "order" not in row for row in rows)
    matches = (re.search(r"\b[A-Z][0-9]{4}\b", " ".join(list_user_texts(row["messages"]))) for row in rows)
    return [match[0] if match else "none" for match in matches]


@pytest.fixture(scope="module")
def tracks():
    return lapsus.run(TASK, ROWS, read_number, noise=[NOISE])


def test_the_rows_of_a_track_tell_their_turns(tracks):
    clean, *noisy = tracks
    assert [track.track for track in tracks] == ["clean", "typed.1", "typed.2"]
    assert all(row["text"] == list(WORDS[:2]) and "value_hit" not in row for row in clean.rows)
    for number, track in enumerate(noisy, 1):
        noise = Noise(EnKeyboard.annotator(number, rate=8), "messages", "id")
        for row, given in zip(track.rows, ROWS, strict=True):
            assert row["clean_text"] == list(WORDS[:2])
            assert row["text"] == list_user_texts(noise(given)["messages"])
            assert row["text"] == list_user_texts(apply_to_messages(given["messages"], row["edits"]))


def test_a_destroyed_value_is_a_hit(tracks):
    rows = [row for track in tracks[1:] for row in track.rows]
    for row in rows:
        assert row["value_hit"] == ("W7712" not in re.findall(r"\w+", row["text"][1]))
    assert 0 < sum(row["value_hit"] for row in rows) < len(rows)
    protected = lapsus.run(TASK, ROWS, read_number, noise=[NOISE], protect=["gold"])
    assert all(row["score"] == 1 and not row["value_hit"] for track in protected[1:] for row in track.rows)
    labels = make_task("text", "label", labels=["play", "stop"])
    named = lapsus.run(
        labels, [{"id": 1, "text": "play it", "label": "play"}], lambda rows: ["play"] * len(rows), noise=["speako"]
    )
    assert not any("value_hit" in row for track in named for row in track.rows)
    absent = make_task("text", "gold")
    other = lapsus.run(
        absent, [{"id": 1, "text": "who", "gold": "me"}], lambda rows: ["me"] * len(rows), noise=["filler_eos"]
    )
    assert not any("value_hit" in row for track in other for row in track.rows)


def test_the_report_shows_hits_apart_and_marks_the_edits(tracks, tmp_path):
    lapsus.report(tracks, out=tmp_path / "report")
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    scores = {(row["track"], row["measure"]): (row["examples"], row["value"]) for row in report["task_scores"]}
    for track in tracks[1:]:
        hits = [row for row in track.rows if row["value_hit"]]
        assert scores[track.track, "Value hit"] == (24, pytest.approx(len(hits) / 24))
        assert scores[track.track, "Score where a value is hit"] == (len(hits), 0)
        assert scores[track.track, "Score where values are there"] == (24 - len(hits), 1)
    example = report["lost_examples"][0]
    row = next(
        row for track in tracks for row in track.rows if (track.track, row["id"]) == (example["track"], example["id"])
    )
    recorded = [[edit["turn"], edit["start"], edit["end"], edit["text"]] for edit in row["edits"]]
    assert [[turn, *edit] for turn, edits in enumerate(example["edits"]) for edit in edits] == recorded


def test_a_chat_endpoint_gets_the_messages_up_to_the_open_turn():
    task = make_task("messages", "order", labels=["W7712", "W1"], prompt="Which order? One of: {labels}.")
    with slow_endpoint.serving() as server:
        lapsus.run(task, ROWS[:1], server.word)
        lapsus.run(TASK, ROWS[:1], server.word)
    instructed, plain = (body["messages"] for body in server.bodies)
    assert plain == ROWS[0]["messages"][:-1]  # the last one is the answer that was given
    assert instructed[1:] == plain[1:]
    assert instructed[0]["content"] == "You are a clerk.\n\nWhich order? One of: W7712, W1."


def test_messages_are_asked_in_the_names_of_openai():
    shared = [
        {"from": "system", "value": "Be brief."},
        {"from": "human", "value": "hi"},
        {"from": "gpt", "value": "ho"},
    ]
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]
    assert to_chat(shared) == chat
    assert add_instruction(chat[1:], "Answer.") == [{"role": "system", "content": "Answer."}, chat[1]]
    assert to_chat([{"role": "user", "content": "hi", "name": None}]) == [chat[1]]
    assert TASK.render_prompt({"messages": shared, "order": "x"}) == chat


def test_inspect_models_are_asked_the_messages(monkeypatch):
    inspect_model = pytest.importorskip("inspect_ai.model")
    # mockllm counts the tokens of calls with a file that it downloads
    monkeypatch.setattr("inspect_ai.model._model.count_text_tokens", lambda text: len(text) // 4)
    from lapsus.evaluation.models.inspect import InspectModel

    asked = []

    def answer(messages, *_):
        asked.append(messages)
        return inspect_model.ModelOutput.from_content("mockllm/model", "W7712")

    model = inspect_model.get_model("mockllm/model", custom_outputs=answer, memoize=False)
    (track,) = lapsus.run(TASK, ROWS[:1], InspectModel(model, "mockllm/model", "mock", 4))
    assert track.rows[0]["score"] == 1
    (messages,) = asked
    assert [message.role for message in messages] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert messages[2].tool_calls[0].function == "find"


def test_a_model_without_a_chat_template_says_so():
    with slow_endpoint.serving() as server, pytest.raises(ValueError, match="reads no conversations"):
        lapsus.run(make_task("messages", "order", labels=["W7712"]), ROWS[:1], server.word, chat_template=False)


def write_csv(path):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(ROWS[0])
        writer.writerows([row["id"], json.dumps(row["messages"]), row["order"]] for row in ROWS)
    return path


def test_the_command_reads_messages_of_a_spreadsheet(tmp_path, monkeypatch):
    (tmp_path / "bot.py").write_text("def answer(rows):\n    return [row['messages'][-2]['role'] for row in rows]\n")
    monkeypatch.chdir(tmp_path)
    options = ["run", "--rows", str(write_csv(tmp_path / "chats.csv")), "--text", "messages", "--gold", "order"]
    model = ["--model", "python:bot:answer", "--out", "out"]
    turns = ["--noise", "typed=en_keyboard@8", "--turns", "last", "--protect", "gold"]
    result = CliRunner().invoke(main, [*options, *model, *turns])
    assert result.exit_code == 0, result.output
    rows = read_rows(tmp_path / "out" / "chats" / "bot.answer" / "typed.jsonl")
    assert {row["response"] for row in rows} == {"user"}
    assert {edit["turn"] for row in rows for edit in row["edits"]} == {1}
    assert all("W7712" in row["text"][1] for row in rows)
    result = CliRunner().invoke(main, [*options, *model, "--turns", "last"])
    assert "--turns and --protect belong to --noise" in result.output


def test_noise_needs_the_columns_that_it_names():
    data = TrackSet.from_rows("chats", TASK, ROWS)
    with pytest.raises(LookupError, match="chats has no column 'prder'"):
        add_noise(data, ["speako"], protect=["prder"])
    texts = TrackSet.from_rows("texts", make_task("text", "label"), [{"text": "hi", "label": "a"}])
    with pytest.raises(ValueError, match="'text' holds no messages"):
        add_noise(texts, ["speako"], turns="last")


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_references_of_any_format_tell_the_texts(tracks, tmp_path, ending):
    path = tmp_path / f"noisy.{ending}"
    noise = Noise(EnKeyboard.annotator(1, rate=8), "messages", "id")
    perturb_file(write_csv(tmp_path / "chats.csv"), path, noise, progress=False)
    predictions = [{name: row[name] for name in ("id", "model", "track", "prediction")} for row in tracks[1].rows]
    (tmp_path / "typed.1.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in predictions))
    options = ["--references", str(path), "--gold", "order", "--out", str(tmp_path / "other")]
    result = CliRunner().invoke(main, ["report", str(tmp_path / "typed.1.jsonl"), *options])
    assert result.exit_code == 0, result.output
    lapsus.report([tracks[1]], out=tmp_path / "own")
    own, other = (json.loads((tmp_path / name / "report.json").read_text())["tracks"] for name in ("own", "other"))
    assert other[0]["noise_rate"] == pytest.approx(own[0]["noise_rate"])
    assert own[0]["noise_rate"] > 0.02
