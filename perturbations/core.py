"""An operator only proposes edits; seeding, replay and batching are written here, once.

>>> edits = perturb(Shout(), "slow down", seed=1, key="row-7")
>>> apply("slow down", edits)
'slow down!'
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Edit(NamedTuple):
    """Replace `source[start:end]` with `text`."""

    start: int
    end: int
    text: str


@runtime_checkable
class Operator(Protocol):
    """A frozen, seedless description of one kind of noise.

    `name` is what the operator is called in datasets and on the command line;
    `version` changes whenever the same (text, seed, key) would give other edits.
    """

    name: str
    version: str

    def edits(self, text: str, rng: Random) -> Iterable[Edit]:
        """Propose edits of `text`, in order and without overlap."""
        ...


@runtime_checkable
class BatchOperator(Operator, Protocol):
    """An operator that is faster on many texts at once, with the same result for each."""

    def edits_batch(self, texts: Sequence[str], rngs: Sequence[Random]) -> Iterable[Iterable[Edit]]:
        """Propose the edits of each text, as `edits` would."""
        ...


@runtime_checkable
class KeyedOperator(Operator, Protocol):
    """An operator cheaper than seeding one stream per text: it draws for all from the seed and the keys."""

    def edits_keyed(self, texts: Sequence[str], seed: int, keys: Sequence[str]) -> Iterable[Iterable[Edit]]:
        """Propose the edits of each text: a pure function of (text, seed, key), whatever the batch."""
        ...


def stream(op: Operator, seed: int, key: str) -> Random:
    """Return the random stream of one example: the same on every machine, for every order and batch.

    Only `random()` may be drawn from it: the one stream Python promises to keep.
    """
    return Random(f"{op.name}/{seed}/{key}")


def perturb_batch(
    op: Operator, texts: Sequence[str], *, seed: int = 0, keys: Sequence[str] | None = None
) -> list[tuple[Edit, ...]]:
    """Return the edits `op` makes to each of `texts`; `keys` are the ids of the examples."""
    keys = texts if keys is None else keys
    if isinstance(op, KeyedOperator):
        return [tuple(edits) for edits in op.edits_keyed(texts, seed, keys)]
    rngs = [stream(op, seed, key) for key in keys]
    if isinstance(op, BatchOperator):
        return [tuple(edits) for edits in op.edits_batch(texts, rngs)]
    return [tuple(op.edits(text, rng)) for text, rng in zip(texts, rngs, strict=True)]


def perturb(op: Operator, text: str, *, seed: int = 0, key: str | None = None) -> tuple[Edit, ...]:
    """Return the edits `op` makes to `text`: a pure function of its arguments."""
    return perturb_batch(op, [text], seed=seed, keys=None if key is None else [key])[0]


def apply(text: str, edits: Iterable[Edit | tuple[int, int, str]]) -> str:
    """Replay `edits` on `text`.

    >>> apply("hello", [Edit(0, 1, "j"), Edit(5, 5, "!")])
    'jello!'
    """
    parts: list[str] = []
    cursor = 0
    for start, end, new in edits:
        if not cursor <= start <= end <= len(text):
            raise ValueError(
                f"edit {(start, end, new)} overlaps its neighbour or leaves the text of {len(text)} characters; "
                "edits must be sorted and within the text"
            )
        parts += text[cursor:start], new
        cursor = end
    parts.append(text[cursor:])
    return "".join(parts)


@dataclass(frozen=True, slots=True)
class Shout:
    """End with an exclamation mark: the smallest operator, for examples and tests."""

    name: str = "shout"
    version: str = "1"

    def edits(self, text: str, rng: Random) -> Iterable[Edit]:  # noqa: ARG002 - the protocol's signature
        """Append one mark."""
        return (Edit(len(text), len(text), "!"),)
