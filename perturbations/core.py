"""An operator only proposes edits; seeding, replay and batching are written here, once.

>>> edits = perturb(Shout(), "slow down", seed=1, key="row-7")
>>> apply("slow down", edits)
'slow down!'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

T = TypeVar("T")
Span: TypeAlias = tuple[int, int]


class Edit(NamedTuple):
    """Replace `source[start:end]` with `text`."""

    start: int
    end: int
    text: str


def shared_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Return how much two sequences have in common at their start, and behind it at their end."""
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


def trimmed(start: int, old: str, new: str) -> Edit:
    """Return the edit of what stands at `start` without what both sides begin and end with.

    >>> trimmed(3, "abcd", "axd")
    Edit(start=4, end=6, text='x')
    """
    head, tail = shared_ends(old, new)
    return Edit(start + head, start + len(old) - tail, new[head : len(new) - tail])


class Frame(NamedTuple):
    """What surrounds a text: stretches that stay whole, stretches that nothing may touch, and what it is about."""

    spans: tuple[Span, ...] = ()
    protected: tuple[Span, ...] = ()
    context: str = ""


@runtime_checkable
class Operator(Protocol):
    """A frozen, seedless description of one kind of noise.

    A dataclass field will do for `name` and for `version`.
    """

    @property
    def name(self) -> str:
        """What the operator is called in datasets and on the command line."""
        ...

    @property
    def version(self) -> str:
        """What changes whenever the same (text, seed, key) would give other edits."""
        ...

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
class FramedOperator(Operator, Protocol):
    """An operator that looks at the labelled and the protected spans before it chooses a place."""

    def edits_framed(
        self, texts: Sequence[str], rngs: Sequence[Random], frames: Sequence[Frame]
    ) -> Iterable[Iterable[Edit]]:
        """Propose the edits of each text; with an empty frame, as `edits` would."""
        ...


@runtime_checkable
class Choice(Operator, Protocol):
    """An operator that hands each example to one of several others."""

    def choose(self, rng: Random) -> Operator:
        """Return the operator that this example gets."""
        ...


def released(op: Operator) -> tuple[str, ...]:
    """Return `name@version` of an operator and of all the `operators` it chooses from.

    >>> released(Mixture("loud", (Shout(),)))
    ('loud@1', 'shout@1')
    """
    return (f"{op.name}@{op.version}", *(name for each in getattr(op, "operators", ()) for name in released(each)))


class Proposal(NamedTuple):
    """The edits of one example, and the operator that made them."""

    edits: tuple[Edit, ...]
    operator: Operator


@runtime_checkable
class KeyedOperator(Operator, Protocol):
    """An operator that draws for many texts at once from the seed and the keys, which is cheaper than a stream each."""

    def edits_keyed(self, texts: Sequence[str], seed: int, keys: Sequence[str]) -> Iterable[Iterable[Edit]]:
        """Propose the edits of each text, as `edits` would with the `HashedStream` of its key."""
        ...


@runtime_checkable
class SittingOperator(KeyedOperator, Protocol):
    """A keyed operator that imitates a person who stays the same while the texts of one sitting are entered."""

    def edits_in_sittings(
        self, texts: Sequence[str], seed: int, keys: Sequence[str], sittings: Sequence[str]
    ) -> Iterable[Iterable[Edit]]:
        """Propose the edits of each text; where the sittings are the keys, as `edits_keyed` would."""
        ...


def stream(op: Operator, seed: int, key: str) -> Random:
    """Return the random stream of one example: the same on every machine, for every order and batch.

    Only `random()` may be drawn from it: the one method whose numbers Python promises to keep.
    `op.edits(text, stream(op, seed, key))` are the edits that `perturb(op, text, seed=seed, key=key)` returns.

    >>> Shout().edits("hi", stream(Shout(), 0, "row-7"))
    (Edit(start=2, end=2, text='!'),)
    """
    if isinstance(op, SittingOperator):
        from lapsus.perturbations.sittings import seated_stream

        return seated_stream(f"{op.name}/{seed}", key)
    if isinstance(op, KeyedOperator):
        from lapsus.perturbations.hashed_draws import HashedStream, starts

        return HashedStream(int(starts(f"{op.name}/{seed}", [key])[0]))
    return _seeded(op, seed, key)


def _seeded(op: Operator, seed: int, key: str) -> Random:
    return Random(f"{op.name}/{seed}/{key}".encode("utf-8", "surrogatepass"))


def pick(rng: Random, options: Sequence[T]) -> T:
    """Return one of `options`, each as likely, for one draw."""
    return options[int(rng.random() * len(options))]


def propose(
    op: Operator,
    texts: Sequence[str],
    *,
    seed: int = 0,
    keys: Sequence[str] | None = None,
    frames: Sequence[Frame] | None = None,
    sittings: Sequence[str] | None = None,
) -> list[Proposal]:
    """Return the edits of each of `texts` and who made them; within `frames`, where given.

    Texts with the same name in `sittings` are entered together, such as the columns of a row; else each is by itself.
    """
    keys = texts if keys is None else keys
    if len(keys) != len(texts):
        raise ValueError(f"{len(texts)} texts but {len(keys)} keys: give one key per text")
    if isinstance(op, SittingOperator) and sittings is not None:
        return [Proposal(edits, op) for edits in _kept(op.edits_in_sittings(texts, seed, keys, sittings), frames)]
    if isinstance(op, KeyedOperator):
        return [Proposal(edits, op) for edits in _kept(op.edits_keyed(texts, seed, keys), frames)]
    rngs = [_seeded(op, seed, key) for key in keys]
    if not isinstance(op, Choice):
        return [Proposal(edits, op) for edits in edits_of(op, texts, rngs, frames)]
    groups: dict[int, tuple[Operator, list[int]]] = {}
    for i, rng in enumerate(rngs):
        one = op.choose(rng)
        groups.setdefault(id(one), (one, []))[1].append(i)
    proposals: dict[int, Proposal] = {}
    for one, rows in groups.values():
        some = None if frames is None else [frames[i] for i in rows]
        found = edits_of(one, [texts[i] for i in rows], [rngs[i] for i in rows], some)
        proposals |= {i: Proposal(edits, one) for i, edits in zip(rows, found, strict=True)}
    return [proposals[i] for i in range(len(texts))]


def edits_of(
    op: Operator, texts: Sequence[str], rngs: Sequence[Random], frames: Sequence[Frame] | None
) -> list[tuple[Edit, ...]]:
    """Return the edits of each text, asking `op` in the most capable way it offers."""
    if isinstance(op, FramedOperator):
        found = op.edits_framed(texts, rngs, [Frame()] * len(texts) if frames is None else frames)
    elif isinstance(op, BatchOperator):
        found = op.edits_batch(texts, rngs)
    else:
        found = (op.edits(text, rng) for text, rng in zip(texts, rngs, strict=True))
    return _kept(found, frames)


def _kept(found: Iterable[Iterable[Edit]], frames: Sequence[Frame] | None) -> list[tuple[Edit, ...]]:
    """Keep what the frames allow."""
    if frames is None:
        return [tuple(edits) for edits in found]
    return [settled(edits, frame) for edits, frame in zip(found, frames, strict=True)]


def perturb_batch(
    op: Operator,
    texts: Sequence[str],
    *,
    seed: int = 0,
    keys: Sequence[str] | None = None,
    sittings: Sequence[str] | None = None,
) -> list[tuple[Edit, ...]]:
    """Return the edits `op` makes to each of `texts`; `keys` are the ids of the examples, `sittings` those of rows."""
    return [proposal.edits for proposal in propose(op, texts, seed=seed, keys=keys, sittings=sittings)]


def perturb(
    op: Operator, text: str, *, seed: int = 0, key: str | None = None, frame: Frame | None = None
) -> tuple[Edit, ...]:
    """Return the edits `op` makes to `text`: a pure function of its arguments."""
    frames = None if frame is None else [frame]
    return propose(op, [text], seed=seed, keys=None if key is None else [key], frames=frames)[0].edits


def read_edit(edit: Mapping[str, Any] | Sequence[Any]) -> Edit:
    """Return an edit that a noisy row records, as `Noise` writes it.

    >>> read_edit({"start": 9, "end": 9, "text": "!"})
    Edit(start=9, end=9, text='!')
    """
    return Edit(**edit) if isinstance(edit, Mapping) else Edit(*edit)


def apply(text: str, edits: Iterable[Edit | tuple[int, int, str] | Mapping[str, Any]]) -> str:
    """Replay `edits` on `text`; they may be as a noisy row records them.

    >>> apply("hello", [Edit(0, 1, "j"), Edit(5, 5, "!")])
    'jello!'
    >>> apply("hello", [{"start": 0, "end": 1, "text": "j"}])
    'jello'
    """
    parts: list[str] = []
    cursor = 0
    for edit in edits:
        start, end, new = edit if isinstance(edit, tuple) else read_edit(edit)
        if not cursor <= start <= end <= len(text):
            raise ValueError(
                f"edit {(start, end, new)} overlaps its neighbour or leaves the text of {len(text)} characters; "
                "edits must be sorted and within the text"
            )
        parts += text[cursor:start], new
        cursor = end
    parts.append(text[cursor:])
    return "".join(parts)


def settled(edits: Iterable[Edit], frame: Frame) -> tuple[Edit, ...]:
    """Keep the edits that leave every span whole and no protected stretch touched.

    An inserted word that would fall inside a span moves to its border: one that ends with a space stands before
    the span, one that begins with a space behind it.

    >>> settled([Edit(4, 4, "like ")], Frame(spans=((0, 8),)))
    (Edit(start=0, end=0, text='like '),)
    """
    borders = frame.spans + frame.protected
    kept = []
    for edit in edits:
        placed = _placed(edit, borders)
        if any(start < placed.start < end or start < placed.end < end for start, end in frame.protected):
            continue
        if placed.start < placed.end and (
            any(placed.start < end and start < placed.end for start, end in frame.protected)
            or any(placed.start < border < placed.end for span in frame.spans for border in span)
        ):
            continue
        kept.append(placed)
    kept.sort(key=lambda edit: edit[:2])
    return tuple(kept)


def _placed(edit: Edit, spans: Iterable[Span]) -> Edit:
    """Move an inserted word out of the spans it falls into."""
    start, end, text = edit
    if start < end or not (text[:1].isspace() or text[-1:].isspace()):
        return edit
    for left, right in spans:
        if left < start < right:
            start = left if text[-1:].isspace() else right
    return Edit(start, start, text)


def moved(edits: Iterable[Edit], spans: Iterable[Span]) -> list[Span]:
    """Return where each of `spans` of the clean text lies in the noisy text.

    >>> moved([Edit(0, 0, "so "), Edit(4, 5, "")], [(2, 6)])
    [(5, 8)]
    """
    edits = tuple(edits)
    found = []
    for start, end in spans:
        before = within = 0
        for left, right, text in edits:
            grown = len(text) - (right - left)
            if right <= start and (left < start or left == right):  # insertions at its start stay outside
                before += grown
            elif start <= left and right <= end and left < end:
                within += grown
            elif left < end and start < right:
                raise ValueError(
                    f"edit {(left, right, text)} crosses the border of the span {(start, end)}; "
                    "give the span in the frame, and such edits are not made"
                )
        found.append((start + before, end + before + within))
    return found


class ShortRepr:
    """A dataclass whose repr is short and evaluates back: the settings that are not the default, and the version."""

    __slots__ = ()

    def __repr__(self) -> str:
        shown = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)  # type: ignore[arg-type] # it is mixed into dataclasses
            if field.name == "version" or getattr(self, field.name) != field.default
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


class EditsOfOneText:
    """Gives an operator that has `edits_framed` the `edits` of one text in an empty frame."""

    __slots__ = ()

    def edits(self: FramedOperator, text: str, rng: Random) -> Iterable[Edit]:
        """Propose the edits of one text."""
        return next(iter(self.edits_framed([text], [rng], [Frame()])))


@dataclass(frozen=True, slots=True)
class Mixture:
    """Each example gets one of `operators`, each as likely; which one is recorded with its edits."""

    name: str
    operators: tuple[Operator, ...]
    version: str = "1"

    @property
    def needs(self) -> str:
        """What must be installed for one of the operators at least."""
        return next((needs for each in self.operators if (needs := getattr(each, "needs", ""))), "")

    @property
    def summary(self) -> str:
        """What the operator does."""
        return f"Do one of {len(self.operators)} things, drawn for each example and recorded with its edits"

    def choose(self, rng: Random) -> Operator:
        """Draw the operator of one example."""
        return pick(rng, self.operators)

    def edits(self, text: str, rng: Random) -> Iterable[Edit]:
        """Propose what the drawn operator proposes."""
        return self.choose(rng).edits(text, rng)


@dataclass(frozen=True, slots=True)
class Shout:
    """End with an exclamation mark: the smallest operator, for examples and tests."""

    name: str = "shout"
    version: str = "1"

    def edits(self, text: str, rng: Random) -> Iterable[Edit]:
        """Append one mark."""
        return (Edit(len(text), len(text), "!"),)
