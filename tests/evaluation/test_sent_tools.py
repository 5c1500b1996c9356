"""Functions as tools of an endpoint's API, or in the prompt: rows of one's own, a server that calls."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from slow_endpoint import Server, serving

from lapsus.cli.main import main
from lapsus.evaluation import make_task, run

FUNCTION = {
    "name": "ride.book",
    "description": "Book.",
    "parameters": {"type": "dict", "properties": {"to": {"type": "string"}}, "required": ["to"]},
}
CALL = {"id": "1", "type": "function", "function": {"name": "ride_book", "arguments": '{"to": "albany"}'}}
ROWS = [
    {
        "id": "a",
        "request": "To Albany!",
        "functions": [FUNCTION],
        "calls": [{"name": "ride.book", "arguments": {"to": "Albany"}}],
    }
]
TASK = make_task("request", "calls", tools="functions")


def reply(message, reason="tool_calls"):
    return (200, {}, json.dumps({"choices": [{"message": message, "finish_reason": reason}], "usage": {}}))


@pytest.mark.parametrize("content", [None, "", "I book it."])
def test_tools_are_sent_and_calls_are_read(content):
    with serving(reply({"content": content, "tool_calls": [CALL]})) as server:
        (clean,) = run(TASK, ROWS, server.word, send_tools=True)
        (body,) = server.bodies
    assert body["messages"] == [{"role": "user", "content": "To Albany!"}]
    assert body["tools"][0]["function"]["name"] == "ride_book"
    assert body["tools"][0]["function"]["parameters"]["type"] == "object"
    (row,) = clean.rows
    assert (row["score"], row["right_tool"], row["right_arguments"]) == (1, 1, 1)
    assert row["response"]["tool_calls"] == [CALL]


def test_functions_stand_in_the_prompt_of_an_endpoint_without_tools():
    text = '{"name": "ride.book", "arguments": {"to": "Albany"}}'
    with serving(reply({"content": text}, "stop")) as server:
        (clean,) = run(TASK, ROWS, server.word)
        (body,) = server.bodies
    assert "tools" not in body
    assert '"name": "ride.book"' in body["messages"][0]["content"]
    assert body["messages"][0]["content"].endswith("To Albany!")
    assert clean.rows[0]["score"] == 1


def test_a_model_that_asks_back_has_called_nothing():
    with serving(reply({"content": "When?", "tool_calls": []}, "stop")) as server:
        (clean,) = run(TASK, ROWS, server.word, send_tools=True)
    (row,) = clean.rows
    assert (row["score"], row["unparsed"], row["mistake"]) == (0, False, "0 calls instead of 1")


def test_a_system_prompt_stays_one():
    rows = [
        {**ROWS[0], "functions": json.dumps([FUNCTION]), "system": "Be brief.", "calls": json.dumps(ROWS[0]["calls"])}
    ]
    with serving(reply({"content": None, "tool_calls": [CALL]})) as server:
        run("bfcl", rows, server.word, send_tools=True)
        (body,) = server.bodies
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["messages"][0]["content"] == "Be brief."


def test_tools_are_for_tasks_whose_answers_are_calls():
    with serving() as server, pytest.raises(TypeError, match="are no calls of functions; leave out --send-tools"):
        run(make_task("request", "label"), [{"id": "a", "request": "x", "label": "y"}], server.word, send_tools=True)


def test_own_rows_with_tools_from_the_command_line(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps({**ROWS[0], "id": key}) + "\n" for key in "ab"))
    command = ["run", "--rows", path, "--text", "request", "--gold", "calls", "--tools", "functions", "--send-tools"]
    with serving(*[reply({"content": None, "tool_calls": [CALL]})] * 4) as server:
        result = CliRunner().invoke(
            main, list(map(str, [*command, "--noise", "filler_eos", "--model", server.word, "--out", tmp_path / "out"]))
        )
    assert result.exit_code == 0, result.output
    assert "right_arguments" in result.output
    report = CliRunner().invoke(
        main, ["report", *map(str, (tmp_path / "out").glob("*/*/*.jsonl")), "--out", str(tmp_path / "report")]
    )
    assert report.exit_code == 0, report.output
    assert "Right arguments" in (tmp_path / "report" / "index.html").read_text()
    assert Server is not None
