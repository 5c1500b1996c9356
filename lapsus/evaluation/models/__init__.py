"""Models that answer tasks, opened by a spec such as `python:MODULE:FUNCTION`.

A kind of model is a `ModelProvider` in the tuple `UNITS` of a module here, or of another package's module that the
entry point `lapsus.models` names.

>>> open_model("gguf:model.bin")
Traceback (most recent call last):
...
LookupError: unknown model 'gguf:model.bin'; write ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from lapsus.core.plugins import load_units
from lapsus.core.track_names import CLEAN
from lapsus.core.types import Example, Request, Response, Row
from lapsus.evaluation.cache import make_request_key

if TYPE_CHECKING:
    from lapsus.evaluation.tasks import Task

COMMON_OPTIONS = ("name", "label_map")  # options of every kind of model
MODULES = {  # of the kinds of models here: a model of another package is searched where the scheme is none of these
    "hf": "lapsus.evaluation.models.transformers",
    "http": "lapsus.evaluation.models.endpoint",
    "https": "lapsus.evaluation.models.endpoint",
    "inspect": "lapsus.evaluation.models.inspect",
    "python": "lapsus.evaluation.models.function",
    "vllm": "lapsus.evaluation.models.vllm",
    "wheel": "lapsus.evaluation.models.packaged",
}


class ModelAdapter(Protocol):
    """A model that answers requests.

    One with an attribute `deterministic` that is true answers a prompt in one way, and is asked for no repeats.
    """

    @property
    def name(self) -> str:
        """The model's name in predictions."""
        ...

    @property
    def identity(self) -> str:
        """What a response depends on besides task and prompt: the model, its revision and its settings."""
        ...

    @property
    def batch_size(self) -> int:
        """The number of requests in flight; a crash loses at most their responses."""
        ...

    def prepare(self, task: Task) -> None:
        """Prepare for a task; raise TypeError or ValueError for one that this model cannot do."""
        ...

    def build_prompt(self, task: Task, row: Row) -> Any:
        """Return all that the model reads about a row, as JSON can hold it: equal prompts are sent once."""
        ...

    def respond(self, task: Task, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Yield the index of each request and its response, in any order; read nothing but the prompts."""
        ...

    def count_tokens(self, task: Task, requests: Sequence[Request]) -> int | None:
        """Return the number of tokens of the prompts, where it is known without a request."""
        ...

    def get_usage(self) -> Mapping[str, int]:
        """Return what the responses have cost so far, such as tokens; empty where that is unknown."""
        ...


def get_repeat(track: str) -> int:
    """Return which answer to the clean text a track holds: 3 for `clean.3`, else the first.

    >>> get_repeat("clean.3"), get_repeat("clean"), get_repeat("keyboard.3")
    (3, 1, 1)
    """
    family, _, number = track.partition(".")
    return int(number) if family in CLEAN and number.isdecimal() else 1


def make_request(model: ModelAdapter, task: Task, example: Example) -> Request:
    """Return the request about an example."""
    prompt = model.build_prompt(task, example.columns)
    repeat = 1 if getattr(model, "deterministic", False) else get_repeat(example.track)
    return Request(example, prompt, make_request_key(model.identity, task.identity, prompt, repeat))


@dataclass(frozen=True, slots=True)
class ModelProvider:
    """A kind of model.

    Args:
        name: The scheme of its specs: what stands before the colon.
        usage: The form of its specs.
        summary: What it is, in one line.
        open: Returns the model for the rest of a spec, and the options of the run.
        options: The names of the options that `open` reads, besides `name` and `label_map`.
    """

    name: str
    usage: str
    summary: str
    open: Callable[[str, Mapping[str, Any]], ModelAdapter]
    options: tuple[str, ...] = ()


def load_model_providers() -> dict[str, ModelProvider]:
    """Return every kind of model by its name."""
    return dict(sorted(load_units("lapsus.evaluation.models", "lapsus.models", lambda unit: unit.name).items()))


def find_provider(spec: str) -> ModelProvider:
    """Return the kind of model that a spec such as `hf:PATH` names."""
    scheme, _, rest = spec.partition(":")
    providers: Iterable[ModelProvider] = (
        import_module(MODULES[scheme]).UNITS if scheme in MODULES else load_model_providers().values()
    )
    provider = next((provider for provider in providers if provider.name == scheme and rest), None)
    if provider is None:
        *first_forms, last_form = (f"{name}:…" for name in load_model_providers())
        raise LookupError(f"unknown model {spec!r}; write {', '.join(first_forms)} or {last_form}")
    return provider


def open_model(spec: str, options: Mapping[str, Any] | None = None) -> ModelAdapter:
    """Return the model that a spec such as `hf:PATH` names; refuse an option that its kind does not have."""
    provider = find_provider(spec)
    check_options(f"{provider.name}:", options or {}, provider.options)
    return provider.open(spec.partition(":")[2], options or {})


def check_options(model: str, options: Iterable[str], known: Iterable[str]) -> None:
    """Refuse an option that a model does not have.

    >>> check_options("python:", {"lable_map": {}}, ["batch_size"])
    Traceback (most recent call last):
    ...
    TypeError: python: has no option 'lable_map'; its options are name, label_map, batch_size
    """
    known = (*COMMON_OPTIONS, *known)
    unknown = next((name for name in options if name not in known), None)
    if unknown is not None:
        raise TypeError(f"{model} has no option {unknown!r}; its options are {', '.join(known)}")
