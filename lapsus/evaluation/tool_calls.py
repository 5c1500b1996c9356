"""Tool calls: read from what a model answered, and from gold answers; functions as tools of a request.

>>> read_calls("[ride.book(to='Albany')]")
[ToolCall(name='ride.book', arguments={'to': 'Albany'})]
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from lapsus.core.checks import shorten_repr
from lapsus.evaluation.parsing import is_shallow, iter_json_objects, strip_reasoning

Possible = Mapping[str, Sequence[Any]]  # the accepted values of each argument; "" says that it may be left out
GoldCall = tuple[str, Possible]

JSON_TYPES = {"dict": "object", "float": "number", "tuple": "array", "list": "array", "any": "string"}
NO_NAME_SIGN = re.compile(r"[^a-zA-Z0-9_-]")
MAX_NAME = 64  # signs of a name that the APIs take
MAX_CODE = 20_000  # signs of an answer that is read as Python
CALL_START = re.compile(r"\s*\[?\s*[A-Za-z_][\w.]*\s*\(")
FENCE = re.compile(r"```\w*\s*(.*?)```", re.DOTALL)
NOTHING: Sequence[Any] = ("", [])  # accepted where a gold call names an argument without a value
ARGUMENT_KEYS = ("arguments", "parameters", "args")


class ToolCall(NamedTuple):
    """The name of a function, and its arguments."""

    name: str
    arguments: Mapping[str, Any]


# From the answer of a model to calls.


def read_calls(raw: Any) -> list[ToolCall] | None:
    """Return the calls in an answer: of `tool_calls`, of JSON or Python in a text; None where one cannot be read.

    A text that calls nothing has no calls, and is read as such.

    >>> read_calls({"tool_calls": [{"function": {"name": "f", "arguments": '{"a": 1}'}}]})
    [ToolCall(name='f', arguments={'a': 1})]
    >>> read_calls("I cannot do that."), read_calls('{"name": "f", "arguments": "{"}')
    ([], None)
    """
    if isinstance(raw, str):
        return _read_text(strip_reasoning(raw))
    if not isinstance(raw, Mapping):
        return _read_items(raw) if isinstance(raw, list | tuple) else None
    listed = raw.get("tool_calls") or raw.get("calls")
    if listed:
        return _read_items(listed)
    if "content" in raw or "tool_calls" in raw or "calls" in raw:  # a message without calls may write them as text
        return _read_text(strip_reasoning(str(raw.get("content") or "")))
    return _read_items([raw])


def _read_text(text: str) -> list[ToolCall] | None:
    """Return the calls in a text: JSON as a whole, in a fence or anywhere; else Python calls."""
    fence = FENCE.search(text)
    for part in (text.strip(), *([fence[1].strip()] if fence else [])):
        try:
            value = json.loads(part)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, Mapping | list):
            return read_calls(value)
    objects = [value for value in iter_json_objects(text) if _looks_like_call(value)]
    if objects:
        lists = [value.get("tool_calls", value.get("calls", [value])) for value in objects]
        return _read_items([item for items in lists for item in (items if isinstance(items, list) else [items])])
    code = fence[1].strip() if fence else text.strip()
    if CALL_START.match(code):
        return _read_python(code)
    return None if re.search(r'[{\[]\s*["{]', text) else []


def _looks_like_call(value: Mapping[str, Any]) -> bool:
    return bool({"tool_calls", "calls", "name", "function"} & set(value)) or _is_by_name(value)


def _is_by_name(value: Mapping[str, Any]) -> bool:
    """Return whether an object is `{name: arguments}`, as BFCL writes calls."""
    return len(value) == 1 and isinstance(next(iter(value.values())), Mapping)


def _read_items(items: Any) -> list[ToolCall] | None:
    if not isinstance(items, list | tuple):
        return None
    calls = [_read_item(item) for item in items]
    return None if None in calls else [call for call in calls if call is not None]


def _read_item(item: Any) -> ToolCall | None:
    if isinstance(item, ToolCall):
        return item
    if not isinstance(item, Mapping):
        return None
    function = item.get("function")
    body = function if isinstance(function, Mapping) else item
    name = body.get("name", function if isinstance(function, str) else None)
    arguments: Any = next((body[key] for key in ARGUMENT_KEYS if key in body), {})
    if name is None and _is_by_name(item):
        name, arguments = next(iter(item.items()))
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError):
            return None
    arguments = {} if arguments is None else arguments
    if not isinstance(name, str) or not isinstance(arguments, Mapping) or not is_shallow(arguments):
        return None
    return ToolCall(name, arguments)


def _read_python(code: str) -> list[ToolCall] | None:
    """Return calls as Python writes them, `[f(a=1), g(b="x")]`, with plain values alone."""
    if len(code) > MAX_CODE:
        return None
    try:
        tree: ast.AST = ast.parse(code, mode="eval").body
        nodes = tree.elts if isinstance(tree, ast.List | ast.Tuple) else [tree]
        calls = []
        for node in nodes:
            if not isinstance(node, ast.Call) or node.args or any(keyword.arg is None for keyword in node.keywords):
                return None
            arguments = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
            calls.append(ToolCall(ast.unparse(node.func), json.loads(json.dumps(arguments))))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None
    return calls


# The functions of a row, and the gold calls.


def list_functions(value: Any) -> list[Mapping[str, Any]]:
    """Return the descriptions of functions, from JSON, from OpenAI's tools or from BFCL's functions."""
    value = json.loads(value) if isinstance(value, str) else value
    items = [value] if isinstance(value, Mapping) else list(value or [])
    functions = [item["function"] if isinstance(item.get("function"), Mapping) else item for item in items]
    if not all(isinstance(function.get("name"), str) for function in functions):
        raise ValueError(
            f"{shorten_repr(value)} describes no functions; give a list of objects with name and parameters"
        )
    return functions


def make_tools(functions: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return functions as the tools of a request: names and types that BFCL writes and no API takes are replaced.

    >>> make_tools([{"name": "a.b", "parameters": {"type": "dict", "properties": {}}}])[0]["function"]
    {'name': 'a_b', 'description': '', 'parameters': {'type': 'object', 'properties': {}}}
    """
    return [
        {
            "type": "function",
            "function": {
                "name": to_wire_name(function["name"]),
                "description": function.get("description") or "",
                "parameters": _to_json_schema(function.get("parameters") or {"type": "object", "properties": {}}),
            },
        }
        for function in functions
    ]


def to_wire_name(name: str) -> str:
    """Return the name under which a function is sent.

    >>> to_wire_name("uber.ride")
    'uber_ride'
    """
    return NO_NAME_SIGN.sub("_", name)[:MAX_NAME]


def _to_json_schema(value: Any, *, is_name: bool = False) -> Any:
    """Return a description of parameters as JSON Schema; below `properties` keys are names of arguments."""
    if isinstance(value, list):
        return [_to_json_schema(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    if is_name:
        return {name: _to_json_schema(each) for name, each in value.items()}
    schema = {
        key: _to_json_schema(each, is_name=key == "properties") for key, each in value.items() if key != "optional"
    }
    if isinstance(schema.get("type"), str):
        schema["type"] = JSON_TYPES.get(schema["type"], schema["type"])
    return schema


def read_gold_calls(gold: Any) -> list[GoldCall]:
    """Return the accepted calls: of BFCL, `{name: {argument: [values]}}`, or plain ones, whose values are exact.

    >>> read_gold_calls('[{"f": {"a": [1, 2]}}]'), read_gold_calls([{"name": "f", "arguments": {"a": 1}}])
    ([('f', {'a': [1, 2]})], [('f', {'a': [1]})])
    """
    try:
        value = json.loads(gold) if isinstance(gold, str) else gold
        items = [value] if isinstance(value, Mapping) else list(value)
        return [_read_gold_call(item) for item in items]
    except (ValueError, TypeError) as error:
        raise ValueError(
            f'the gold answer {shorten_repr(gold)} is no list of calls; write [{{"name": …, "arguments": {{…}}}}]'
        ) from error


def _read_gold_call(item: Any) -> GoldCall:
    if isinstance(item, Mapping) and _is_by_name(item) and "function" not in item:
        name, possible = next(iter(item.items()))
        return name, {argument: _list_values(values) for argument, values in possible.items()}
    call = _read_item(item)
    if call is None:
        raise ValueError
    return call.name, {argument: [_accept_exactly(value)] for argument, value in call.arguments.items()}


def _list_values(values: Any) -> Sequence[Any]:
    """Return the accepted values of an argument; where there are none, an empty list or nothing is meant."""
    return (values or NOTHING) if isinstance(values, list) else [values]


def _accept_exactly(value: Any) -> Any:
    """Return a value in the form of accepted ones: each key of an object has a list of values."""
    if isinstance(value, Mapping):
        return {key: [_accept_exactly(each)] for key, each in value.items()}
    return [_accept_exactly(each) for each in value] if isinstance(value, list) else value
