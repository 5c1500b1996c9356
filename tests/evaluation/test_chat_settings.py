"""A system prompt, example rows, a cap, parameters and a schema of a run: in the requests, their keys, the manifest."""

from __future__ import annotations

import json

import pytest
from chat_double import serve_chat
from click.testing import CliRunner

from lapsus.cli.main import main
from lapsus.core.types import Example
from lapsus.evaluation import make_task, run
from lapsus.evaluation.answer_types import FrameAnswer, SpanAnswer
from lapsus.evaluation.cache import make_request_key
from lapsus.evaluation.chat_settings import set_chat, write_gold
from lapsus.evaluation.models import make_request, open_model

ROWS = [{"id": key, "text": f"row {key}", "label": "yes"} for key in "ab"]
SHOTS = [{"id": "s", "text": "a shot", "label": "no"}]
TASK = make_task("text", "label", labels=["yes", "no"])
SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}


@pytest.fixture
def chat_server():
    with serve_chat() as server:
        yield server


def key_of(task=TASK, **options):
    return make_request(open_model("http://localhost:1/v1#m", options), task, Example("a", "clean", ROWS[0])).key


def test_every_setting_is_in_the_request(chat_server):
    run(
        TASK,
        ROWS[:1],
        chat_server.url("plain"),
        system="Be brief.",
        shots=SHOTS,
        max_tokens=7,
        params={"top_p": 0.5, "temperature": 0.7},
        json_schema=SCHEMA,
    )
    (request,) = chat_server.requests
    question = "Which label fits? Answer with one of these alone: yes, no.\n\n"
    assert request["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": f"{question}a shot"},
        {"role": "assistant", "content": "no"},
        {"role": "user", "content": f"{question}row a"},
    ]
    assert (request["max_tokens"], request["top_p"], request["temperature"], request["seed"]) == (7, 0.5, 0.7, 0)
    assert request["response_format"]["json_schema"]["schema"] == SCHEMA


def test_every_setting_is_in_the_key():
    keys = [
        key_of(),
        key_of(set_chat(TASK, system="Be brief.")),
        key_of(set_chat(TASK, shots=SHOTS)),
        key_of(set_chat(TASK, max_tokens=7)),
        key_of(params={"top_p": 0.5}),
        key_of(json_schema=SCHEMA),
        key_of(set_chat(make_task("text", "label", labels=["yes", "no"], prompt="{text}"))),
    ]
    assert len(set(keys)) == len(keys)
    assert key_of(set_chat(TASK), params={}) == keys[0]
    prompt = {"prompt": "row a", "max_tokens": 16}
    assert keys[-1] == make_request_key("http://localhost:1/v1#m at temperature 0, seed 0", "rows 1", prompt)


def test_a_conversation_goes_as_it_is_behind_the_system_prompt():
    messages = [{"role": "system", "content": "You book."}, {"role": "user", "content": "hi"}]
    task = set_chat(make_task("messages"), system="Be brief.")
    assert task.render_prompt({"messages": messages}) == [
        {"role": "system", "content": "Be brief.\n\nYou book."},
        {"role": "user", "content": "hi"},
    ]
    assert task.render_prompt({"messages": messages[1:]})[0] == {"role": "system", "content": "Be brief."}
    with pytest.raises(ValueError, match="leave out --shots"):
        set_chat(task, shots=[{"messages": messages}]).render_prompt({"messages": messages})


def test_gold_answers_are_written_as_they_are_read():
    frame = FrameAnswer(intents=("PlayMusic",), slots=("genre",))
    row = {"id": "a", "tokens": ["play", "jazz"], "tags": ["O", "B-genre"], "intent": "PlayMusic"}
    assert frame.score(frame.parse(write_gold(frame, row), row), row)["score"] == 1
    span = {"id": "p", "question": "?", "context": "Rome is it.", "answers": {"text": ["Rome"], "answer_start": [0]}}
    assert write_gold(SpanAnswer("answers"), span) == "Rome"


def answer(rows):
    return ["yes"] * len(rows)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"system": "x"}, "answer does not read --system on the task rows; leave it out"),
        ({"shots": SHOTS}, "answer does not read --shots"),
        ({"max_tokens": 3}, "answer does not read --max-tokens"),
        ({"max_tokens": 0}, "max_tokens is 0; give a number from 1"),
        ({"shots": [{"id": "s", "text": "x"}]}, "example row 0 has no column 'label'"),
    ],
)
def test_settings_that_nothing_reads_are_refused(settings, message):
    with pytest.raises((TypeError, ValueError, LookupError), match=message):
        run(TASK, ROWS, answer, **settings)


def test_an_example_row_is_none_of_the_rows(chat_server):
    with pytest.raises(ValueError, match="the example row 's' is the row 'b' too; take other examples"):
        run(TASK, ROWS, chat_server.url("plain"), shots=[{**ROWS[1], "id": "s"}])
    assert not chat_server.requests


@pytest.mark.parametrize("name", ["messages", "model", "max_tokens", "max_completion_tokens", "tools", "stream"])
def test_parameters_replace_no_field_of_lapsus(name):
    with pytest.raises(ValueError, match=f"--params holds '{name}', which lapsus sets itself; leave it out"):
        open_model("http://localhost:1/v1#m", {"params": {name: 1}})


def invoke(folder, server, *options, name="out"):
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    words = ["run", "--rows", folder / "rows.jsonl", "--text", "text", "--gold", "label", "--labels", "yes,no"]
    words += ["--model", server.url("plain"), "--out", folder / name, *options]
    return CliRunner().invoke(main, list(map(str, words)))


def test_from_the_command_line(chat_server, tmp_path):
    (tmp_path / "system.txt").write_text("Be brief.\n")
    (tmp_path / "shots.csv").write_text("id,text,label\ns,a shot,no\n")
    options = ["--system", tmp_path / "system.txt", "--shots", tmp_path / "shots.csv", "--max-tokens", "9"]
    options += ["--params", '{"top_p": 0.5}', "--price", "1000000,2000000"]
    result = invoke(tmp_path, chat_server, *options)
    assert result.exit_code == 0, result.output
    assert "cost of what was sent: 14.0000 at" in result.output  # two rows of five and one tokens
    (manifest,) = (json.loads(path.read_bytes()) for path in tmp_path.rglob("run.json"))
    assert manifest["chat"] == {"system": "Be brief.", "shots": SHOTS, "max_tokens": 9}
    assert manifest["model_identity"].endswith('at temperature 0, seed 0, with {"top_p": 0.5}')
    assert len(chat_server.requests) == 2 and chat_server.requests[0]["max_tokens"] == 9
    again = invoke(tmp_path, chat_server, *options)
    assert "sent 0 requests" in again.output and len(chat_server.requests) == 2
    other = invoke(tmp_path, chat_server, "--system", "Be long.")
    assert other.exit_code == 1 and "holds the answers to another system prompt" in other.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--system", "missing.txt"], "missing.txt: no such file for --system"),
        (["--params", "{top_p: 1}"], "--params is no JSON"),
        (["--params", "[1]"], "--params is no JSON object"),
        (["--json-schema", "task"], "has no JSON schema"),
    ],
)
def test_mistakes_are_one_sentence(options, message, chat_server, tmp_path):
    result = invoke(tmp_path, chat_server, *options)
    assert result.exit_code == 1 and message in result.output and "Traceback" not in result.output
