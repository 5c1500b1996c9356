"""A model that is a Python function from a list of rows to a list of answers.

>>> from lapsus.core.types import Example
>>> from lapsus.evaluation.models import make_request
>>> from lapsus.evaluation.tasks import make_task
>>> task = make_task(["text"], "label")
>>> model = FunctionModel(lambda rows: ["weather" if "rain" in row["text"] else "music" for row in rows], "keywords")
>>> request = make_request(model, task, Example("a", "clean", {"id": "a", "text": "rain", "label": "weather"}))
>>> request.prompt, list(model.respond(task, [request]))[0][1].value
({'id': 'a', 'text': 'rain'}, 'weather')
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from lapsus.core.types import Request, Response, Row
from lapsus.evaluation.models import ModelAdapter, ModelProvider, check_options, open_model
from lapsus.evaluation.tasks import Task


@dataclass(frozen=True, slots=True)
class FunctionModel:
    """A function as a model; it reads the columns of each row without the gold answer."""

    function: Callable[[list[dict[str, Any]]], Any]
    name: str
    revision: str = ""
    batch_size: int = 256

    @property
    def identity(self) -> str:
        """The function's name, and its `revision` or the hash of its file."""
        return f"python:{self.name} at {self.revision}"

    def prepare(self, task: Task) -> None:
        """Accept any task."""

    def build_prompt(self, task: Task, row: Row) -> Any:
        """Return the columns that the function reads."""
        return task.visible_columns(row)

    def respond(self, task: Task, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Call the function once with all rows."""
        try:
            values = self.function([dict(request.prompt) for request in requests])
        except Exception as error:
            raise ValueError(
                f"{self.name} raised {type(error).__name__}: {error}; `lapsus --debug …` shows where"
            ) from error
        if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__len__"):
            raise TypeError(f"{self.name} returned {type(values).__name__}, not a list; return one answer per row")
        if len(values) != len(requests):
            raise ValueError(f"{self.name} returned {len(values)} answers for {len(requests)} rows; return one per row")
        for index, value in enumerate(values):
            yield index, Response(to_json(value, self.name))

    def count_tokens(self, task: Task, requests: Sequence[Request]) -> int | None:
        """Return None: a function has no tokens."""
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
        options.get("batch_size") or 256,
    )


def import_function(name: str) -> Callable[..., Any]:
    """Return the function that MODULE:FUNCTION names; modules of the working folder are found too.

    >>> import_function("json:dumps")(["rain"])
    '["rain"]'
    """
    module_name, _, function_name = name.partition(":")
    if not (module_name and function_name):
        raise ValueError(f"'python:{name}' names no function; write python:MODULE:FUNCTION")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name != module_name.partition(".")[0]:
            raise
        raise ModuleNotFoundError(
            f"there is no module {module_name!r} here; run lapsus in its folder, or set PYTHONPATH"
        ) from error
    function: Callable[..., Any] | None = getattr(module, function_name, None)
    if not callable(function):
        defined = [name for name, value in vars(module).items() if inspect.isfunction(value) and name[0] != "_"]
        raise LookupError(  # noqa: TRY004 - the name is at fault
            f"{module_name} has no function {function_name!r}; it has {', '.join(defined) or 'none'}"
        )
    return function


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


def to_adapter(model: Any, options: Mapping[str, Any]) -> ModelAdapter:
    """Return a model that is named, an adapter, or a function of rows."""
    if isinstance(model, str):
        return open_model(model, options)
    if hasattr(model, "respond"):
        if "name" in options:
            raise TypeError("name is an option of models that run opens; give it to the adapter itself")
        check_options("an adapter", options, ())
        return cast("ModelAdapter", model)
    if callable(model):
        check_options("a function", options, ("batch_size",))
        name = str(options.get("name") or getattr(model, "__name__", "function"))
        return FunctionModel(model, name, find_revision(model), options.get("batch_size") or 256)
    raise TypeError(f"model is {model!r}; give a spec such as 'hf:PATH', an adapter, or a function of rows")


UNITS = (
    ModelProvider(
        "python",
        "python:MODULE:FUNCTION",
        "a function from a list of rows to a list of answers",
        open_function,
        ("batch_size",),
    ),
)
