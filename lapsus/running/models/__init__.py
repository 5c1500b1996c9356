"""Models that answer tasks, opened by a word such as `python:MODULE:FUNCTION`.

A kind of model is a `ModelKind` in the tuple `UNITS` of a module here, or of another package's module that the entry
point `lapsus.models` names.

>>> open_model("gguf:model.bin")
Traceback (most recent call last):
...
LookupError: 'gguf:model.bin' names no kind of model; write ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lapsus.kernel.units import units
from lapsus.running.answers import Answer
from lapsus.running.tasks import Task

Row = Mapping[str, Any]


class Model(Protocol):
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
    def batch(self) -> int:
        """How many questions are under way at once; a crash loses no more answers than these."""
        ...

    def prepare(self, task: Task) -> None:
        """Get ready for a task; refuse one that this model cannot do."""
        ...

    def question(self, task: Task, row: Row) -> Any:
        """Return all that the model is told about a row, as JSON can hold it: equal questions are asked once."""
        ...

    def answers(self, task: Task, rows: Sequence[Row]) -> Iterator[tuple[int, Answer]]:
        """Yield the place of each row and its answer, in any order."""
        ...

    def tokens(self, task: Task, rows: Sequence[Row]) -> int | None:
        """Return how many tokens the questions have, where that is known without asking."""
        ...

    def usage(self) -> Mapping[str, int]:
        """Return what the answers have cost so far, such as tokens; empty where that is not known."""
        ...


@dataclass(frozen=True, slots=True)
class ModelKind:
    """A kind of model: `open` takes what stands behind `name:`, and the options of the run."""

    name: str
    form: str
    summary: str
    open: Callable[[str, Mapping[str, Any]], Model]


def model_kinds() -> dict[str, ModelKind]:
    """Return every kind of model by its name."""
    return dict(sorted(units("lapsus.running.models", "lapsus.models", lambda kind: kind.name).items()))


def open_model(word: str, options: Mapping[str, Any] | None = None) -> Model:
    """Return the model that a word such as `hf:PATH` names."""
    kinds = model_kinds()
    kind, colon, rest = word.partition(":")
    if not colon or kind not in kinds or not rest:
        *others, last = (f"{name}:…" for name in kinds)
        raise LookupError(f"{word!r} names no kind of model; write {', '.join(others)} or {last}")
    return kinds[kind].open(rest, options or {})
