"""A model that is a Python function from a list of rows to a list of answers.

>>> model = PythonFunction(lambda rows: ["weather" if "rain" in row["text"] else "music" for row in rows], "keywords")
>>> from lapsus.running.tasks import own_task
>>> [answer.raw for _, answer in model.answers(own_task(["text"], "label"), [{"id": "a", "text": "rain"}])]
['weather']
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lapsus.kernel.functions import named_function
from lapsus.running.answers import Answer
from lapsus.running.models import ModelKind, Row
from lapsus.running.tasks import Task


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """A function as a model; it sees what the user wrote and the task's other columns, never the right answer."""

    function: Callable[[list[dict[str, Any]]], Any]
    name: str
    revision: str = ""
    batch: int = 256

    @property
    def identity(self) -> str:
        """The function's name, and the hash of its file or its own `revision`."""
        return f"python:{self.name} at {self.revision}"

    def prepare(self, task: Task) -> None:
        """Accept any task."""

    def question(self, task: Task, row: Row) -> Any:
        """Return the row as the function sees it."""
        return task.seen(row)

    def answers(self, task: Task, rows: Sequence[Row]) -> Iterator[tuple[int, Answer]]:
        """Ask the function for all rows at once."""
        try:
            given = self.function([task.seen(row) for row in rows])
        except Exception as error:
            raise ValueError(
                f"{self.name} raised {type(error).__name__}: {error}; `lapsus --debug run …` shows where"
            ) from error
        if isinstance(given, str | bytes | Mapping) or not hasattr(given, "__len__"):
            raise TypeError(f"{self.name} returned {type(given).__name__}, not a list; return one answer per row")
        if len(given) != len(rows):
            raise ValueError(f"{self.name} returned {len(given)} answers for {len(rows)} rows; return one per row")
        for place, raw in enumerate(given):
            yield place, Answer(as_json(raw, self.name))

    def tokens(self, task: Task, rows: Sequence[Row]) -> int | None:
        """Return nothing: a function has no tokens."""
        return None

    def usage(self) -> Mapping[str, int]:
        """Return nothing."""
        return {}


def as_json(value: Any, name: str) -> Any:
    """Return an answer as JSON can hold it; numbers and arrays of numpy become Python's."""
    if isinstance(value, Mapping):
        return {str(key): as_json(each, name) for key, each in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [as_json(each, name) for each in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"{name} answered with a {type(value).__name__}; answer with text, numbers, lists or dicts")


def open_function(rest: str, options: Mapping[str, Any]) -> PythonFunction:
    """Return the function that MODULE:FUNCTION names."""
    function = named_function(rest)
    return PythonFunction(
        function,
        options.get("name") or rest.replace(":", "."),
        revision_of(function),
        options.get("batch") or 256,
    )


def revision_of(function: Any) -> str:
    """Return the function's own attribute `revision`, or the hash of the file it stands in."""
    told = getattr(function, "revision", None)
    if told is not None:
        return str(told)
    try:
        path = inspect.getsourcefile(function)
    except TypeError:
        path = None
    if path is None or not Path(path).is_file():
        return "unknown"
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]


UNITS = (
    ModelKind("python", "python:MODULE:FUNCTION", "a function from a list of rows to a list of answers", open_function),
)
