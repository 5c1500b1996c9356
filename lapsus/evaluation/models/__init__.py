"""Models that answer tasks, opened by a word such as `python:MODULE:FUNCTION`.

A kind of model is a `ModelProvider` in the tuple `UNITS` of a module here, or of another package's module that the entry
point `lapsus.models` names.

>>> open_model("gguf:model.bin")
Traceback (most recent call last):
...
LookupError: 'gguf:model.bin' names no kind of model; write ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from lapsus.core.plugins import load_units
from lapsus.evaluation.cache import Response

if TYPE_CHECKING:
    from lapsus.evaluation.tasks import Task

Row = Mapping[str, Any]


class ModelAdapter(Protocol):
    """Something that answers questions about rows."""

    @property
    def name(self) -> str:
        """What the model is called in predictions."""
        ...

    @property
    def identity(self) -> str:
        """What the answers depend on besides the question: which model, at which revision, with which settings."""
        ...

    @property
    def batch_size(self) -> int:
        """How many questions are under way at once; a crash loses no more answers than these."""
        ...

    def prepare(self, task: Task) -> None:
        """Get ready for a task; refuse one that this model cannot do."""
        ...

    def build_request(self, task: Task, row: Row) -> Any:
        """Return all that the model is told about a row, as JSON can hold it: equal questions are asked once."""
        ...

    def respond(self, task: Task, rows: Sequence[Row]) -> Iterator[tuple[int, Response]]:
        """Yield the place of each row and its answer, in any order."""
        ...

    def count_tokens(self, task: Task, rows: Sequence[Row]) -> int | None:
        """Return how many tokens the questions have, where that is known without asking."""
        ...

    def get_usage(self) -> Mapping[str, int]:
        """Return what the answers have cost so far, such as tokens; empty where that is not known."""
        ...


@dataclass(frozen=True, slots=True)
class ModelProvider:
    """A kind of model: `open` takes what stands behind `name:`, and the options of the run."""

    name: str
    usage: str
    summary: str
    open: Callable[[str, Mapping[str, Any]], ModelAdapter]


def load_model_providers() -> dict[str, ModelProvider]:
    """Return every kind of model by its name."""
    return dict(sorted(load_units("lapsus.evaluation.models", "lapsus.models", lambda kind: kind.name).items()))


def open_model(spec: str, options: Mapping[str, Any] | None = None) -> ModelAdapter:
    """Return the model that a word such as `hf:PATH` names."""
    providers = load_model_providers()
    scheme, colon, rest = spec.partition(":")
    if not colon or scheme not in providers or not rest:
        *first_forms, last_form = (f"{name}:…" for name in providers)
        raise LookupError(f"{spec!r} names no kind of model; write {', '.join(first_forms)} or {last_form}")
    return providers[scheme].open(rest, options or {})
