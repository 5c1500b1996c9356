"""Whether tool calls are the accepted ones, by the rules of BFCL.

The Berkeley Function Calling Leaderboard (Apache-2.0) publishes the rules of its "AST evaluation": the name of the
function is exact; each required argument is there, and none that the function does not have; one that is left out must
be optional, which an accepted value of "" says; a value is right if it equals an accepted one. An integer stands for a
float and not the other way round, and true is not 1. Texts are compared without case, blanks and the signs , . / - _ *
and ^, lists in order, objects key by key. Parallel calls match in any order, one to one. Where an accepted call names
an argument that its function does not describe, as in seven rows of BFCL, the accepted call counts.

>>> gold = [{"ride.book": {"to": ["Berkeley, CA"], "seats": ["", 1]}}]
>>> from lapsus.evaluation.tool_calls import read_calls
>>> match_calls(read_calls('{"name": "ride_book", "arguments": {"to": "berkeley CA"}}'), gold).right
True
>>> match_calls(read_calls("[ride.book(to='Albany')]"), gold).reason
"to is 'Albany', none of 'Berkeley, CA'"
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from lapsus.core.checks import shorten_repr
from lapsus.core.messages import format_list
from lapsus.evaluation.tool_calls import NOTHING, GoldCall, Possible, ToolCall, read_gold_calls, to_wire_name

TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "any": (str,),
    "integer": (int,),
    "float": (int, float),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "list": (list,),
    "tuple": (list,),
    "dict": (dict,),
    "object": (dict,),
    "null": (type(None),),
}
IGNORED_SIGNS = re.compile(r"[ ,./\-_*^]")


@dataclass(frozen=True, slots=True)
class CallMatch:
    """Whether calls are right, whether their names are, which share of the arguments is, and what is wrong."""

    right: bool
    right_tool: bool
    right_arguments: float
    reason: str = ""


def match_calls(calls: Sequence[ToolCall] | None, gold: Any, functions: Sequence[Mapping[str, Any]] = ()) -> CallMatch:
    """Return how far calls are the accepted ones: as many, and each of these met by a call of its own.

    `functions` say the types of arguments; without them, a value has the type of an accepted one.
    """
    if calls is None:
        return CallMatch(right=False, right_tool=False, right_arguments=0.0, reason="the calls cannot be read")
    golds = read_gold_calls(gold)
    parameters = {function["name"]: function.get("parameters") or {} for function in functions}
    names, gold_names = (Counter(to_wire_name(each[0]) for each in side) for side in (calls, golds))
    share = _share_arguments(calls, golds, parameters)
    right_tool = names == gold_names
    if len(calls) != len(golds):
        return CallMatch(False, right_tool, share, f"{len(calls)} calls instead of {len(golds)}")
    problems = [[_find_problem(call, each, parameters) for call in calls] for each in golds]
    unmet = _find_unmet([[not problem for problem in row] for row in problems])
    if unmet is None:
        return CallMatch(right=True, right_tool=True, right_arguments=1.0)
    same = (
        problem for call, problem in zip(calls, problems[unmet], strict=True) if _is_same(call.name, golds[unmet][0])
    )
    return CallMatch(False, right_tool, share, next(filter(None, same), f"no call of {golds[unmet][0]}"))


def _is_same(name: str, gold_name: str) -> bool:
    return name in {gold_name, to_wire_name(gold_name)}


def _find_unmet(fits: Sequence[Sequence[bool]]) -> int | None:
    """Return a row that has no column of its own among those that fit; None where each has one."""
    owners: dict[int, int] = {}

    def place(row: int, seen: set[int]) -> bool:
        for column, fit in enumerate(fits[row]):
            if fit and column not in seen:
                seen.add(column)
                if column not in owners or place(owners[column], seen):
                    owners[column] = row
                    return True
        return False

    return next((row for row in range(len(fits)) if not place(row, set())), None)


def _find_problem(call: ToolCall, gold: GoldCall, parameters: Mapping[str, Mapping[str, Any]]) -> str:
    """Return what is wrong with a call; nothing where it is the accepted one."""
    name, possible = gold
    if not _is_same(call.name, name):
        return f"calls {call.name}, not {name}"
    schema = parameters.get(name, {})
    properties = schema.get("properties") or {}
    for needed in schema.get("required") or ():
        if needed in possible and needed not in call.arguments and possible[needed] is not NOTHING:
            return f"leaves out {needed}"
    for argument, value in call.arguments.items():
        if argument not in possible:
            return f"adds {argument}"
        if not is_accepted(value, possible[argument], properties.get(argument)):
            accepted = format_list((shorten_repr(each) for each in possible[argument] if each != ""), 4)
            return f"{argument} is {shorten_repr(value)}, none of {accepted}"
    left_out = (name for name, values in possible.items() if name not in call.arguments and "" not in values)
    return next((f"leaves out {name}" for name in left_out), "")


def _share_arguments(
    calls: Sequence[ToolCall], golds: Sequence[GoldCall], parameters: Mapping[str, Mapping[str, Any]]
) -> float:
    """Return the share of the expected arguments that a call of that name has right, each call for one gold call."""
    right = total = 0
    unused = list(calls)
    for name, possible in golds:
        properties = parameters.get(name, {}).get("properties") or {}
        count = partial(_count_right, possible, properties)
        best = max((call for call in unused if _is_same(call.name, name)), key=count, default=None)
        total += len(possible)
        if best is not None:
            right += count(best)
            unused.remove(best)
    return right / total if total else float(len(golds) == len(calls) and not unused)


def _count_right(possible: Possible, properties: Mapping[str, Any], call: ToolCall) -> int:
    return sum(
        is_accepted(call.arguments[argument], values, properties.get(argument))
        if argument in call.arguments
        else "" in values
        for argument, values in possible.items()
    )


def is_accepted(value: Any, possible: Sequence[Any], schema: Mapping[str, Any] | None = None) -> bool:
    """Return whether the value of an argument is an accepted one.

    >>> is_accepted(10, [10.0], {"type": "float"}), is_accepted(600.0, [600], {"type": "integer"})
    (True, False)
    >>> is_accepted("april 1 2024", ["April 1, 2024"]), is_accepted(1, [True])
    (True, False)
    """
    named = [each for each in possible if each != ""]
    kinds = _list_types(schema)
    is_variable = bool(named) and type(named[0]) is type(value) and bool(kinds) and not _fits(named[0], kinds)
    if not is_variable and kinds and not _fits(value, kinds):
        return False
    item_kinds = _list_types((schema or {}).get("items"))
    if not is_variable and isinstance(value, list) and item_kinds and not _fit_items(value, named, item_kinds):
        return False
    if isinstance(value, Mapping | list):
        return any(_is_entry_accepted(value, each) for each in named)
    return value in possible if value == "" else any(_is_equal(value, each) for each in named)


def _list_types(schema: Any) -> tuple[type, ...]:
    """Return the types that a schema takes; none where it does not say."""
    kinds = schema.get("type") if isinstance(schema, Mapping) else None
    names = kinds if isinstance(kinds, list) else [kinds]
    return tuple(each for name in names for each in TYPES.get(str(name), ()))


def _fits(value: Any, kinds: tuple[type, ...]) -> bool:
    return type(value) in kinds


def _fit_items(items: Sequence[Any], possible: Sequence[Any], kinds: tuple[type, ...]) -> bool:
    """Return whether each item has the type of the schema, or that of the items of an accepted list."""
    lists = (each for each in possible if isinstance(each, list) and len(each) == len(items))
    return all(_fits(item, kinds) for item in items) or any(
        all(type(item) is type(gold) for item, gold in zip(items, each, strict=True)) for each in lists
    )


def _is_entry_accepted(value: Any, gold: Any) -> bool:
    """Return whether an object is an accepted one, each of whose keys has a list of values; in lists, one by one."""
    if isinstance(value, list) and isinstance(gold, list) and any(isinstance(each, Mapping) for each in gold):
        return len(value) == len(gold) and all(map(_is_entry_accepted, value, gold))
    if not isinstance(gold, Mapping) or not isinstance(value, Mapping):
        return _is_equal(value, gold)
    if not set(value) <= set(gold):
        return False
    lists = {key: values if isinstance(values, list) else [values] for key, values in gold.items()}
    return all(
        any(_is_entry_accepted(value[key], each) for each in values) if key in value else "" in values
        for key, values in lists.items()
    )


def _is_equal(value: Any, gold: Any) -> bool:
    return bool(_to_comparable(value) == _to_comparable(gold))


def _to_comparable(value: Any) -> Any:
    """Return a value such that equal ones compare equal; true is not 1."""
    if isinstance(value, str):
        return IGNORED_SIGNS.sub("", value).lower().replace("'", '"')
    if isinstance(value, list | tuple):
        return [_to_comparable(each) for each in value]
    if isinstance(value, Mapping):
        return {key: _to_comparable(each) for key, each in value.items()}
    return ("boolean", value) if isinstance(value, bool) else value
