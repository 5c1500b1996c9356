"""A model that is a Python function from a list of rows to a list of answers.

>>> model = FunctionModel(lambda rows: ["weather" if "rain" in row["text"] else "music" for row in rows], "keywords")
>>> from lapsus.evaluation.tasks import make_task
>>> [answer.value for _, answer in model.respond(make_task(["text"], "label"), [{"id": "a", "text": "rain"}])]
['weather']
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lapsus.core.imports import import_function
from lapsus.evaluation.cache import Response
from lapsus.evaluation.models import ModelProvider, Row
from lapsus.evaluation.tasks import Task


@dataclass(frozen=True, slots=True)
class FunctionModel:
    """A function as a model; it sees what the user wrote and the task's other columns, never the right answer."""

    function: Callable[[list[dict[str, Any]]], Any]
    name: str
    revision: str = ""
    batch_size: int = 256

    @property
    def identity(self) -> str:
        """The function's name, and the hash of its file or its own `revision`."""
        return f"python:{self.name} at {self.revision}"

    def prepare(self, task: Task) -> None:
        """Accept any task."""

    def build_request(self, task: Task, row: Row) -> Any:
        """Return the row as the function sees it."""
        return task.visible_columns(row)

    def respond(self, task: Task, rows: Sequence[Row]) -> Iterator[tuple[int, Response]]:
        """Ask the function for all rows at once."""
        try:
            values = self.function([task.visible_columns(row) for row in rows])
        except Exception as error:
            raise ValueError(
                f"{self.name} raised {type(error).__name__}: {error}; `lapsus --debug run …` shows where"
            ) from error
        if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__len__"):
            raise TypeError(f"{self.name} returned {type(values).__name__}, not a list; return one answer per row")
        if len(values) != len(rows):
            raise ValueError(f"{self.name} returned {len(values)} answers for {len(rows)} rows; return one per row")
        for place, raw in enumerate(values):
            yield place, Response(to_json(raw, self.name))

    def count_tokens(self, task: Task, rows: Sequence[Row]) -> int | None:
        """Return nothing: a function has no tokens."""
        return None

    def get_usage(self) -> Mapping[str, int]:
        """Return nothing."""
        return {}


def to_json(value: Any, name: str) -> Any:
    """Return an answer as JSON can hold it; numbers and arrays of numpy become Python's."""
    if isinstance(value, Mapping):
        return {str(key): to_json(each, name) for key, each in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [to_json(each, name) for each in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"{name} answered with a {type(value).__name__}; answer with text, numbers, lists or dicts")


def open_function(rest: str, options: Mapping[str, Any]) -> FunctionModel:
    """Return the function that MODULE:FUNCTION names."""
    function = import_function(rest)
    return FunctionModel(
        function,
        options.get("name") or rest.replace(":", "."),
        find_revision(function),
        options.get("batch") or 256,
    )


def find_revision(function: Any) -> str:
    """Return the function's own attribute `revision`, or the hash of the file it stands in."""
    revision = getattr(function, "revision", None)
    if revision is not None:
        return str(revision)
    try:
        path = inspect.getsourcefile(function)
    except TypeError:
        path = None
    if path is None or not Path(path).is_file():
        return "unknown"
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]


UNITS = (
    ModelProvider(
        "python", "python:MODULE:FUNCTION", "a function from a list of rows to a list of answers", open_function
    ),
)
