"""Tool calls: reading them from what models answer, and the match with accepted calls by BFCL's rules."""

from __future__ import annotations

import copy
import json
import random

import pytest
from accepted_calls import make_accepted
from paths import SHARED_DATA

from lapsus.evaluation import find_task
from lapsus.evaluation.call_match import is_accepted, match_calls
from lapsus.evaluation.scorers import Answer, open_scorer
from lapsus.evaluation.tool_answer import ToolCallAnswer
from lapsus.evaluation.tool_calls import ToolCall, list_functions, make_tools, read_calls, read_gold_calls

RIDE = {
    "name": "ride.book",
    "description": "Book a ride.",
    "parameters": {
        "type": "dict",
        "required": ["to", "time"],
        "properties": {
            "to": {"type": "string"},
            "time": {"type": "integer"},
            "price": {"type": "float"},
            "pets": {"type": "boolean"},
            "stops": {"type": "array", "items": {"type": "string"}},
            "seats": {"type": "tuple", "items": {"type": "integer"}},
            "who": {"type": "dict", "properties": {}},
            "legs": {"type": "array", "items": {"type": "dict"}},
            "note": {"type": "any"},
        },
    },
}
CANCEL = {
    "name": "ride.cancel",
    "parameters": {"type": "dict", "required": ["id"], "properties": {"id": {"type": "string"}}},
}
FUNCTIONS = [RIDE, CANCEL]
GOLD = [
    {
        "ride.book": {
            "to": ["Berkeley, CA", "Berkeley"],
            "time": [600],
            "price": ["", 9.5, 10.0],
            "pets": ["", True],
            "stops": ["", ["Albany", "El Cerrito"]],
            "seats": ["", [1, 2]],
            "who": ["", {"name": ["Ann"], "age": ["", 7]}],
            "legs": ["", [{"a": ["x"]}, {"a": ["y"]}]],
            "note": ["", "it's late"],
        }
    }
]
TWO = [{"ride.cancel": {"id": ["A1"]}}, {"ride.cancel": {"id": ["B2"]}}]
LEAST = {"to": "Berkeley", "time": 600}


def book(**arguments):
    return [ToolCall("ride.book", {**LEAST, **arguments})]


def cancel(*ids):
    return [ToolCall("ride.cancel", {"id": each}) for each in ids]


RIGHT = {
    "the least": book(),
    "the name as it is sent": [ToolCall("ride_book", LEAST)],
    "another accepted value, without case and marks": book(to="berkeley CA"),
    "an integer for a float": book(price=10),
    "a float": book(price=9.5),
    "true": book(pets=True),
    "a list in order, without case": book(stops=["albany", "El Cerrito"]),
    "a tuple": book(seats=[1, 2]),
    "an object": book(who={"name": "ann"}),
    "an object with what may be left out": book(who={"name": "Ann", "age": 7}),
    "objects in order": book(legs=[{"a": "X"}, {"a": "y"}]),
    "another kind of quote": book(note='it"s late'),
}
WRONG = {
    "another function": cancel("A1"),
    "no call": [],
    "the call twice": book() * 2,
    "another call too": [*book(), *cancel("A1")],
    "a name in other letters": [ToolCall("Ride.book", LEAST)],
    "a name without its package": [ToolCall("book", LEAST)],
    "a name with a blank": [ToolCall("ride book", LEAST)],
    "no name": [ToolCall("", LEAST)],
    "a needed argument left out": [ToolCall("ride.book", {"to": "Berkeley"})],
    "no arguments": [ToolCall("ride.book", {})],
    "an argument that the function has not": book(car="x"),
    "an argument in other letters": [ToolCall("ride.book", {"To": "Berkeley", "time": 600})],
    "a misspelt value": book(to="Berkley"),
    "another value": book(to="Oakland"),
    "a longer value": book(to="Berkeley, CA, USA"),
    "an empty value": book(to=""),
    "null": book(to=None),
    "a text for an integer": book(time="600"),
    "a float for an integer": book(time=600.0),
    "another integer": book(time=601),
    "a negative integer": book(time=-600),
    "an integer in a list": book(time=[600]),
    "true for an integer": book(time=True),
    "a text for a float": book(price="9.5"),
    "another float": book(price=9.51),
    "false": book(pets=False),
    "1 for true": book(pets=1),
    "a text for true": book(pets="true"),
    "a list in another order": book(stops=["El Cerrito", "Albany"]),
    "a shorter list": book(stops=["Albany"]),
    "a longer list": book(stops=["Albany", "El Cerrito", "Albany"]),
    "a list as text": book(stops='["Albany", "El Cerrito"]'),
    "items of another type": book(seats=["1", "2"]),
    "an object with another value": book(who={"name": "Bob"}),
    "an object without its needed key": book(who={"age": 7}),
    "an object with another key": book(who={"name": "Ann", "town": "x"}),
    "an object as text": book(who='{"name": "Ann"}'),
    "objects in another order": book(legs=[{"a": "y"}, {"a": "x"}]),
    "an object too few": book(legs=[{"a": "x"}]),
    "an object in place of a list": book(legs={"a": "x"}),
    "another text": book(note="it is late"),
    "calls that cannot be read": None,
}


@pytest.mark.parametrize("what", RIGHT)
def test_accepted_calls_are_right(what):
    match = match_calls(RIGHT[what], GOLD, FUNCTIONS)
    assert (match.right, match.right_tool, match.right_arguments, match.reason) == (True, True, 1.0, "")


@pytest.mark.parametrize("what", WRONG)
def test_wrong_calls_score_0(what):
    match = match_calls(WRONG[what], GOLD, FUNCTIONS)
    assert not match.right
    assert match.reason
    assert match.right_arguments < 1 or not match.right_tool or len(WRONG[what]) != 1 or "adds" in match.reason


def test_there_are_forty_wrong_calls():
    assert len(WRONG) >= 40


def test_parallel_calls_match_in_any_order_one_to_one():
    assert match_calls(cancel("b2", "a1"), TWO, FUNCTIONS).right
    assert not match_calls(cancel("a1", "a1"), TWO, FUNCTIONS).right
    assert match_calls(cancel("a1", "c3"), TWO, FUNCTIONS).right_arguments == 0.5
    either = [{"ride.cancel": {"id": ["A1", "B2"]}}, {"ride.cancel": {"id": ["A1"]}}]
    assert match_calls(cancel("a1", "b2"), either, FUNCTIONS).right  # a greedy match takes a1 for the first


def test_tool_and_arguments_are_scored_apart():
    match = match_calls(book(to="Oakland"), [{"ride.book": {"to": ["Berkeley"], "time": [600]}}], FUNCTIONS)
    assert (match.right, match.right_tool, match.right_arguments) == (False, True, 0.5)
    match = match_calls(cancel("A1"), GOLD, FUNCTIONS)
    assert (match.right_tool, match.right_arguments) == (False, 0.0)


def test_plain_gold_calls_and_no_descriptions():
    gold = [{"name": "f", "arguments": {"a": 1, "b": {"c": [1, {"d": "x"}]}}}]
    assert match_calls([ToolCall("f", {"a": 1, "b": {"c": [1, {"d": "X"}]}})], gold).right
    assert not match_calls([ToolCall("f", {"a": True, "b": {"c": [1, {"d": "x"}]}})], gold).right
    assert not match_calls([ToolCall("f", {"a": 1, "b": {"c": [1, {"d": "y"}]}})], gold).right
    assert match_calls([], []).right


ARGUMENTS = {"to": "Albany", "time": 5}
CALL = ToolCall("ride.book", ARGUMENTS)
SPELLINGS = {
    "tool_calls of a message": {"content": None, "tool_calls": [{"type": "function", "function": {"name": "ride.book", "arguments": json.dumps(ARGUMENTS)}}]},
    "the list of tool_calls": [{"function": {"name": "ride.book", "arguments": json.dumps(ARGUMENTS)}}],
    "calls of inspect": [{"id": "1", "function": "ride.book", "arguments": ARGUMENTS}],
    "an object": {"name": "ride.book", "arguments": ARGUMENTS},
    "parameters": json.dumps({"name": "ride.book", "parameters": ARGUMENTS}),
    "JSON": json.dumps([{"name": "ride.book", "arguments": ARGUMENTS}]),
    "JSON by name": json.dumps([{"ride.book": ARGUMENTS}]),
    "a fence": f"Sure:\n```json\n{json.dumps([{'name': 'ride.book', 'arguments': ARGUMENTS}], indent=1)}\n```\nDone.",
    "a tag": f'<tool_call>\n{json.dumps({"name": "ride.book", "arguments": ARGUMENTS})}\n</tool_call>',
    "behind thinking": f'<think>{{"name": "x"}}</think>{json.dumps({"name": "ride.book", "arguments": ARGUMENTS})}',
    "Python": "[ride.book(to='Albany', time=5)]",
    "one Python call": "ride.book(to='Albany', time=5)",
    "a message that writes its call": {"role": "assistant", "content": json.dumps({"name": "ride.book", "arguments": ARGUMENTS}), "tool_calls": None},
}  # fmt: skip


@pytest.mark.parametrize("what", SPELLINGS)
def test_a_call_is_read_in_every_spelling(what):
    assert read_calls(SPELLINGS[what]) == [CALL]


@pytest.mark.parametrize("raw", [
    '{"name": "f", "arguments": {"a": ', [{"function": {"name": "f", "arguments": "[1]"}}], "f(g(1))", "f(*a)", "f(1)", 7, None,
    "f(a=" + "(" * 30_000, {"tool_calls": "none"}, f"f(a={'[' * 90}{']' * 90})" + ")",
    f'{{"name": "f", "arguments": {{"a": {"[" * 900}{"]" * 900}}}}}',
    f'[{{"name": "f", "arguments": {{"a": {"[" * 101}{"]" * 101}}}}}]',
])  # fmt: skip
def test_what_cannot_be_read_is_none(raw):
    assert read_calls(raw) is None


@pytest.mark.parametrize("raw", ["I need the date first.", [], {"content": "Which date?", "tool_calls": []}, ""])
def test_no_call_is_no_call(raw):
    assert read_calls(raw) == []


def test_several_calls_in_a_text():
    text = 'First {"name": "f", "arguments": {"a": {"b": 1}}} then {"name": "g", "arguments": {}}.'
    assert read_calls(text) == [ToolCall("f", {"a": {"b": 1}}), ToolCall("g", {})]


def test_tools_have_names_and_types_that_apis_take():
    (tool,) = make_tools(list_functions(json.dumps([RIDE])))
    function = tool["function"]
    assert function["name"] == "ride_book"
    assert function["parameters"]["properties"]["seats"] == {"type": "array", "items": {"type": "integer"}}
    assert list_functions([tool]) == [function]
    odd = {"name": "f", "parameters": {"type": "dict", "properties": {"optional": {"type": "any", "optional": True}}}}
    assert make_tools([odd])[0]["function"]["parameters"]["properties"] == {"optional": {"type": "string"}}


@pytest.mark.parametrize("gold", ["none", [1], "{", [{"a": 1, "b": 2}]])
def test_gold_answers_that_are_no_calls_are_refused(gold):
    with pytest.raises(ValueError, match=r"is no list of calls; write \[\{\"name\""):
        read_gold_calls(gold)


def test_the_task_of_bfcl_scores_calls_of_any_spelling():
    task = find_task("bfcl")
    assert isinstance(task.answer_type, ToolCallAnswer)
    row = {"id": "a", "system": "", "request": "x", "functions": json.dumps(FUNCTIONS), "calls": json.dumps(TWO)}
    task.check_row(row, "the row")
    assert "calls" not in task.visible_columns(row)
    assert '"ride.cancel"' in task.render_prompt(row)
    prediction = task.answer_type.parse('[ride.cancel(id="b2"), ride.cancel(id="a1")]', row)
    result = task.answer_type.score(prediction, row)
    assert (result["score"], result["right_tool"], result["right_arguments"]) == (1.0, 1.0, 1.0)
    assert task.answer_type.score(None, row)["score"] == 0
    (score,) = open_scorer("tool-call").score([Answer(result["prediction"], row["calls"], row)])
    assert (score.value, score.parts) == (1.0, {"right tool": 1.0, "right arguments": 1.0})


def test_an_accepted_value_of_a_variable_name():
    assert is_accepted("user_id", ["user_id"], {"type": "integer"})
    assert not is_accepted("7", [7], {"type": "integer"})


CATEGORIES = ("simple_python", "multiple", "parallel", "live_simple")


def load_bfcl(category):
    folder = SHARED_DATA / "bfcl"
    rows, golds = (
        list(map(json.loads, (folder / part / f"BFCL_v4_{category}.json").read_text(encoding="utf-8").splitlines()))
        for part in ("", "possible_answer")
    )
    answers = {gold["id"]: gold["ground_truth"] for gold in golds}
    return [(row["function"], answers[row["id"]]) for row in rows]


@pytest.mark.data
@pytest.mark.skipif(not (SHARED_DATA / "bfcl").exists(), reason="the real files are not here")
@pytest.mark.parametrize("category", CATEGORIES)
def test_accepted_answers_of_bfcl_are_right_and_broken_ones_wrong(category):
    rng = random.Random(category)
    for functions, gold in load_bfcl(category):
        calls = [ToolCall(name, make_accepted(possible)) for each in gold for name, possible in each.items()]
        assert match_calls(calls, gold, functions).right
        assert match_calls(calls[::-1], json.dumps(gold), list_functions(json.dumps(functions))).right
        broken = copy.deepcopy(calls)
        place = rng.randrange(len(broken))
        broken[place] = broken[place]._replace(name="nothing")
        assert not match_calls(broken, gold, functions).right
        broken[place] = ToolCall(calls[place].name, {**calls[place].arguments, "invented": 1})
        assert not match_calls(broken, gold, functions).right
