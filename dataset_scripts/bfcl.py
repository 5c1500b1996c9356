"""BFCL: requests to call functions, with every accepted call, of the Berkeley Function Calling Leaderboard."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from datasets import Features

from lapsus.dataset_scripts.benchmark import TEXT, Benchmark, Row, parse_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lapsus.dataset_scripts.source import Source

ANSWERS = "possible_answer"  # the folder of the accepted calls


class Bfcl(Benchmark):
    """Requests to an assistant with functions of Python, the functions, and the calls that are right."""

    NAME = "bfcl"
    TITLE = "BFCL v4, single turns in Python"
    LANGUAGES = ("en",)
    LICENSE = "apache-2.0"
    TASKS = ("text-generation",)
    TAGS = ("function-calling", "tool-use", "agents")
    ANNOTATIONS = "expert-generated"
    WHERE = "the file that `pip download --no-deps bfcl-eval==2026.3.23` fetches, or its folder bfcl_eval/data"
    ROWS = {
        "clean": {
            "simple_python": 400,
            "multiple": 200,
            "parallel": 200,
            "parallel_multiple": 200,
            "live_simple": 258,
            "live_multiple": 1_053,
            "live_parallel": 16,
            "live_parallel_multiple": 24,
        }
    }

    def columns(self, config: str) -> Features:
        """Return the features: functions and accepted calls are JSON, since each has other arguments."""
        return Features({"id": TEXT, "system": TEXT, "request": TEXT, "functions": TEXT, "calls": TEXT})

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the requests of a category, with the accepted calls of the same id."""
        file = f"BFCL_v4_{split}.json"
        answers_name = source.find_one(f"{ANSWERS}/{file}")
        (name,) = [each for each in source.match(file) if ANSWERS not in each.split("/")] or [source.find_one(file)]
        calls = {row["id"]: row["ground_truth"] for row in source.read_json_lines(answers_name, "id", "ground_truth")}
        for row in source.read_json_lines(name, "id", "question", "function"):
            where = f"{name} row {row['id']!r}"
            if row["id"] not in calls:
                raise ValueError(f"{where} has no accepted call in {answers_name}; get the file that belongs to it")
            yield {
                "id": row["id"],
                **parse_turn(row["question"], where),
                "functions": to_json(row["function"]),
                "calls": to_json(calls[row["id"]]),
            }


def parse_turn(turns: Any, where: str) -> dict[str, str]:
    """Return what the system and the user say in the one turn of a row.

    >>> parse_turn([[{"role": "user", "content": "Book a ride."}]], "row 1")
    {'system': '', 'request': 'Book a ride.'}
    """
    messages: list[Mapping[str, Any]] = turns[0] if isinstance(turns, list) and len(turns) == 1 else []
    if [message.get("role") for message in messages] not in (["user"], ["system", "user"]):
        raise ValueError(f"{where} is not one turn of a user; name the file of a category with single turns")
    system = parse_text(messages[0], "content", where) if len(messages) > 1 else ""
    return {"system": system, "request": parse_text(messages[-1], "content", where)}


def to_json(value: Any) -> str:
    """Return a value as JSON on one line, the order of its keys kept."""
    return json.dumps(value, ensure_ascii=False)


UNITS = (Bfcl,)
