"""The contract of operators: an operator proposes the edits of a text; seeds, batches and constraints are handled here.

>>> perturb(Shout(), "slow down", seed=1, key="row-7")
(Edit(start=9, end=9, text='!'),)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from math import inf
from random import Random
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

from lapsus.core.conversations import holds_messages
from lapsus.core.edits import Edit, Span, overlaps
from lapsus.perturbations.protection import drop_destructive
from lapsus.perturbations.streams import HashedStream, draw_index, open_session_stream, stream_starts

T = TypeVar("T")


class Constraints(NamedTuple):
    """What an operator respects: spans that stay whole, spans that stay as they are, and the context of the text."""

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
        """Another text whenever the same (text, seed, key) gives other edits."""
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
class ConstrainedOperator(Operator, Protocol):
    """An operator that reads the constraints before it chooses a place."""

    def edits_within(
        self, texts: Sequence[str], rngs: Sequence[Random], constraint_sets: Sequence[Constraints]
    ) -> Iterable[Iterable[Edit]]:
        """Propose the edits of each text; without constraints, as `edits` would."""
        ...


@runtime_checkable
class Choice(Operator, Protocol):
    """An operator that passes each example to one of several others."""

    def choose(self, rng: Random) -> Operator:
        """Return the operator that this example gets."""
        ...


@runtime_checkable
class KeyedOperator(Operator, Protocol):
    """An operator that draws for many texts at once from the seed and the keys: cheaper than one stream each."""

    def edits_from_keys(self, texts: Sequence[str], seed: int, keys: Sequence[str]) -> Iterable[Iterable[Edit]]:
        """Propose the edits of each text, as `edits` would with the `HashedStream` of its key."""
        ...


@runtime_checkable
class SessionOperator(KeyedOperator, Protocol):
    """A keyed operator that imitates a person, who stays the same for all texts of one session."""

    def edits_in_sessions(
        self, texts: Sequence[str], seed: int, keys: Sequence[str], sessions: Sequence[str]
    ) -> Iterable[Iterable[Edit]]:
        """Propose the edits of each text; where the sessions are the keys, as `edits_from_keys` would."""
        ...


@runtime_checkable
class PeopleOperator(KeyedOperator, Protocol):
    """A keyed operator that imitates people, another one in each text of a batch."""

    def edits_by_people(
        self, texts: Sequence[str], seed: int, keys: Sequence[str], people: Sequence[int]
    ) -> Iterable[Iterable[Edit]]:
        """Propose the edits of each text by the person with this number, as `edits_from_keys` would with `who`."""
        ...


def with_person(op: Operator, person: int) -> Operator:
    """Return the operator as a person, where it imitates another one in each text (`who` is 0).

    >>> from lapsus.perturbations import EnKeyboard
    >>> with_person(EnKeyboard(), 7).who, with_person(EnKeyboard(3), 7).who, with_person(Shout(), 7).name
    (7, 3, 'shout')
    """
    if isinstance(op, Thinned):
        return replace(op, operator=with_person(op.operator, person))
    if hasattr(type(op), "annotator") and getattr(op, "who", None) == 0:
        return replace(op, who=person)  # type: ignore[type-var] # it has the field
    return op


def list_versions(op: Operator) -> tuple[str, ...]:
    """Return `name@version` of an operator and of all the `operators` it chooses from.

    >>> list_versions(Mixture("loud", (Shout(),)))
    ('loud@1', 'shout@1')
    """
    return (
        f"{op.name}@{op.version}",
        *(name for member in getattr(op, "operators", ()) for name in list_versions(member)),
    )


def open_stream(op: Operator, seed: int, key: str) -> Random:
    """Return the random stream of one example: the same on every machine, for every order and batch.

    Draw only `random()` from it: the one method whose numbers Python promises to keep.
    `op.edits(text, open_stream(op, seed, key))` are the edits that `perturb(op, text, seed=seed, key=key)` returns.

    >>> Shout().edits("hi", open_stream(Shout(), 0, "row-7"))
    (Edit(start=2, end=2, text='!'),)
    """
    if isinstance(op, SessionOperator):
        return open_session_stream(f"{op.name}/{seed}", key)
    if isinstance(op, KeyedOperator):
        return HashedStream(int(stream_starts(f"{op.name}/{seed}", [key])[0]))
    return _seed_stream(op, seed, key)


def _seed_stream(op: Operator, seed: int, key: str) -> Random:
    return Random(f"{op.name}/{seed}/{key}".encode("utf-8", "surrogatepass"))


def perturb(
    op: Operator, text: str, *, seed: int = 0, key: str | None = None, constraints: Constraints | None = None
) -> tuple[Edit, ...]:
    """Return the edits `op` makes to `text`: a pure function of its arguments."""
    constraint_sets = None if constraints is None else [constraints]
    return propose(op, [text], seed=seed, keys=None if key is None else [key], constraint_sets=constraint_sets)[0].edits


def perturb_batch(
    op: Operator,
    texts: Sequence[str],
    *,
    seed: int = 0,
    keys: Sequence[str] | None = None,
    sessions: Sequence[str] | None = None,
) -> list[tuple[Edit, ...]]:
    """Return the edits `op` makes to each of `texts`; `keys` are the ids of the examples, `sessions` those of rows."""
    return [proposal.edits for proposal in propose(op, texts, seed=seed, keys=keys, sessions=sessions)]


class Proposal(NamedTuple):
    """The edits of one example, and the operator that made them."""

    edits: tuple[Edit, ...]
    operator: Operator


def propose(
    op: Operator,
    texts: Sequence[str],
    *,
    seed: int = 0,
    keys: Sequence[str] | None = None,
    constraint_sets: Sequence[Constraints] | None = None,
    sessions: Sequence[str] | None = None,
    people: Sequence[int] | None = None,
) -> list[Proposal]:
    """Return the edits of each of `texts` and the operator that made them; within `constraint_sets`, where given.

    Texts with the same name in `sessions`, such as the columns of a row, belong to one session; without `sessions`,
    each text is a session of its own. `people` are the numbers of those who write the texts, for operators that imitate
    another person in each text.
    """
    keys = texts if keys is None else keys
    if len(keys) != len(texts):
        raise ValueError(f"{len(texts)} texts but {len(keys)} keys: give one key per text")
    if isinstance(op, KeyedOperator):
        if isinstance(op, SessionOperator) and sessions is not None:
            proposed_edits = op.edits_in_sessions(texts, seed, keys, sessions)
        elif isinstance(op, PeopleOperator) and people is not None:
            proposed_edits = op.edits_by_people(texts, seed, keys, people)
        else:
            proposed_edits = op.edits_from_keys(texts, seed, keys)
        return [Proposal(edits, op) for edits in _apply_constraints(texts, proposed_edits, constraint_sets)]
    rngs = [_seed_stream(op, seed, key) for key in keys]
    if not isinstance(op, Choice):
        return [Proposal(edits, op) for edits in call_operator(op, texts, rngs, constraint_sets, people)]
    groups: dict[int, tuple[Operator, list[int]]] = {}
    for i, rng in enumerate(rngs):
        operator = op.choose(rng)
        groups.setdefault(id(operator), (operator, []))[1].append(i)
    proposals: dict[int, Proposal] = {}
    for operator, rows in groups.values():
        group_constraints = None if constraint_sets is None else [constraint_sets[i] for i in rows]
        group_people = None if people is None else [people[i] for i in rows]
        group_edits = call_operator(
            operator, [texts[i] for i in rows], [rngs[i] for i in rows], group_constraints, group_people
        )
        proposals |= {i: Proposal(edits, operator) for i, edits in zip(rows, group_edits, strict=True)}
    return [proposals[i] for i in range(len(texts))]


def call_operator(
    op: Operator,
    texts: Sequence[str],
    rngs: Sequence[Random],
    constraint_sets: Sequence[Constraints] | None,
    people: Sequence[int] | None = None,
) -> list[tuple[Edit, ...]]:
    """Return the edits of each text, by the most capable method that `op` has."""
    if people is not None and with_person(op, 1) != op:
        return [
            call_operator(with_person(op, person), [texts[i]], [rngs[i]], constraint_sets and [constraint_sets[i]])[0]
            for i, person in enumerate(people)
        ]
    if isinstance(op, ConstrainedOperator):
        proposals = op.edits_within(
            texts, rngs, [Constraints()] * len(texts) if constraint_sets is None else constraint_sets
        )
    elif isinstance(op, BatchOperator):
        proposals = op.edits_batch(texts, rngs)
    else:
        proposals = (op.edits(text, rng) for text, rng in zip(texts, rngs, strict=True))
    return _apply_constraints(texts, proposals, constraint_sets)


def _apply_constraints(
    texts: Sequence[str], proposals: Iterable[Iterable[Edit]], constraint_sets: Sequence[Constraints] | None
) -> list[tuple[Edit, ...]]:
    """Drop the edits that the constraints forbid."""
    if constraint_sets is None:
        return [tuple(edits) for edits in proposals]
    return [
        drop_destructive(text, drop_conflicts(edits, constraints), constraints.protected)
        for text, edits, constraints in zip(texts, proposals, constraint_sets, strict=True)
    ]


def drop_conflicts(edits: Iterable[Edit], constraints: Constraints) -> tuple[Edit, ...]:
    """Return the edits that leave every span whole and change no protected span.

    A word inserted inside a span moves to the span's border: a word that ends with a space moves before the span, one
    that begins with a space behind it.

    >>> drop_conflicts([Edit(4, 4, "like ")], Constraints(spans=((0, 8),)))
    (Edit(start=0, end=0, text='like '),)
    """
    borders = constraints.spans + constraints.protected
    valid_edits = []
    for edit in edits:
        start, end, text = _move_out_of_spans(edit, borders)
        if start == end:
            is_valid = not any(left < start < right for left, right in constraints.protected)
        else:
            crosses_border = any(start < border < end for span in constraints.spans for border in span)
            is_valid = not crosses_border and not overlaps(start, end, constraints.protected)
        if is_valid:
            valid_edits.append(Edit(start, end, text))
    valid_edits.sort(key=lambda edit: edit[:2])
    return tuple(valid_edits)


def _move_out_of_spans(edit: Edit, spans: Iterable[Span]) -> Edit:
    """Return an insertion moved out of the spans that it falls into; any other edit as it is."""
    start, end, text = edit
    if start < end or not (text[:1].isspace() or text[-1:].isspace()):
        return edit
    for left, right in spans:
        if left < start < right:
            start = left if text[-1:].isspace() else right
    return Edit(start, start, text)


def make_constraints(text: Any, answers: Any) -> Constraints:
    """Return the constraints of a text in which answers lie."""
    if not isinstance(text, str):
        raise TypeError(f"the text is no string but {type(text).__name__}; give a string")  # no value: reasons group
    if text.startswith("[") and holds_messages(text):
        raise ValueError("the text is the JSON of messages; say which turns to perturb, as turns='all'")
    spans = []
    for start, answer in zip(*((answers["answer_start"], answers["text"]) if answers else ((), ())), strict=True):
        if text[start : start + len(answer)] != answer:
            raise ValueError(f"the answer {answer!r} does not stand at {start} in its text; correct answer_start")
        spans.append((start, start + len(answer)))
    return Constraints(tuple(spans))


def move_spans(edits: Iterable[Edit], spans: Iterable[Span]) -> list[Span]:
    """Return where each of `spans` of the clean text lies in the noisy text.

    >>> move_spans([Edit(0, 0, "so "), Edit(4, 5, "")], [(2, 6)])
    [(5, 8)]
    """
    edits = tuple(edits)
    noisy_spans = []
    for start, end in spans:
        before = within = 0
        for left, right, text in edits:
            growth = len(text) - (right - left)
            if right <= start:  # an insertion at the start of the span stays outside
                before += growth
            elif start <= left and right <= end and left < end:
                within += growth
            elif left < end and start < right:
                raise ValueError(
                    f"edit {(left, right, text)} crosses the border of the span {(start, end)}; "
                    "pass the span as a constraint, which drops such edits"
                )
        noisy_spans.append((start + before, end + before + within))
    return noisy_spans


def pick(rng: Random, options: Sequence[T]) -> T:
    """Return one of `options`, all equally likely, by one draw."""
    return options[int(rng.random() * len(options))]


class ShortRepr:
    """Gives a dataclass a short repr that evaluates back: its version, and the settings that are not the default."""

    __slots__ = ()

    def __repr__(self) -> str:
        settings = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)  # type: ignore[arg-type] # it is mixed into dataclasses
            if field.name == "version" or getattr(self, field.name) != field.default
        ]
        return f"{type(self).__name__}({', '.join(settings)})"


class SingleTextMixin:
    """Gives an operator with `edits_within` the method `edits`."""

    __slots__ = ()

    def edits(self: ConstrainedOperator, text: str, rng: Random) -> Iterable[Edit]:
        """Propose the edits of one text."""
        return next(iter(self.edits_within([text], [rng], [Constraints()])))


class TextByTextMixin(SingleTextMixin):
    """Gives an operator with `draw_edits`, for one text, the methods `edits_within` and `edits`."""

    __slots__ = ()

    def draw_edits(self, text: str, rng: Random, constraints: Constraints) -> tuple[Edit, ...]:
        """Propose the edits of one text."""
        raise NotImplementedError

    def edits_within(
        self, texts: Sequence[str], rngs: Sequence[Random], constraint_sets: Sequence[Constraints]
    ) -> list[tuple[Edit, ...]]:
        """Propose the edits of each text by itself."""
        return list(map(self.draw_edits, texts, rngs, constraint_sets))


@dataclass(frozen=True, slots=True)
class Shout:
    """Append an exclamation mark: the smallest operator, for examples and tests."""

    name: str = "shout"
    version: str = "1"

    def edits(self, text: str, rng: Random) -> Iterable[Edit]:
        """Append one mark."""
        return (Edit(len(text), len(text), "!"),)


@dataclass(frozen=True, slots=True)
class Clean:
    """Leave the text as it is: the clean share of a mixture."""

    name: str = "clean"
    version: str = "1"

    def edits(self, text: str, rng: Random) -> Iterable[Edit]:
        """Propose nothing."""
        return ()

    def untouched(self, text: str) -> str:
        """Return why the text is unchanged."""
        return "the row is of the clean share"


@dataclass(frozen=True, slots=True)
class Mixture:
    """One of `operators` for each example, by `weights` or all equally likely; a noisy row records which one.

    >>> loud = Mixture("loud", (Shout(), Clean()), weights=(1, 3))
    >>> [len(perturb(loud, "slow down", key=str(key))) for key in range(8)]
    [0, 1, 0, 0, 0, 0, 1, 1]
    """

    name: str
    operators: tuple[Operator, ...]
    version: str = "1"
    weights: tuple[float, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if self.weights and len(self.weights) != len(self.operators):
            raise ValueError(
                f"{self.name} has {len(self.operators)} operators but {len(self.weights)} weights; give one for each"
            )
        if self.weights and not (min(self.weights) >= 0 and 0 < sum(self.weights) < inf):
            raise ValueError(f"the weights of {self.name} are {self.weights}; give numbers from 0 that are not all 0")

    @property
    def needs(self) -> str:
        """What at least one of the operators needs installed."""
        return next((needs for operator in self.operators if (needs := getattr(operator, "needs", ""))), "")

    @property
    def summary(self) -> str:
        """What the operator does."""
        return f"Do one of {len(self.operators)} things, drawn for each example and recorded with its edits"

    def choose(self, rng: Random) -> Operator:
        """Draw the operator of one example."""
        if not self.weights:
            return pick(rng, self.operators)
        return self.operators[draw_index(self.weights, rng.random())]

    def edits(self, text: str, rng: Random) -> Iterable[Edit]:
        """Propose what the drawn operator proposes."""
        return self.choose(rng).edits(text, rng)


@dataclass(frozen=True, slots=True)
class Thinned(SingleTextMixin):
    """Fewer edits of an operator: each of its edits stays with the probability `rate`.

    A higher rate only adds edits. They are among those that the operator makes of the same text with the same seed and
    key, unless it is a `KeyedOperator`: such an operator draws from another stream here, also at a rate of 1.

    >>> [len(perturb(Thinned(Shout(), rate), "slow down", key="a")) for rate in (0, 1)]
    [0, 1]
    """

    operator: Operator
    rate: float

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 1:
            raise ValueError(
                f"the severity of {self.operator.name} is {self.rate}; give the share of its edits, from 0 to 1"
            )

    @property
    def name(self) -> str:
        """The name of the operator, so that both draw from the same stream."""
        return self.operator.name

    @property
    def version(self) -> str:
        """The version of the operator."""
        return self.operator.version

    @property
    def needs(self) -> str:
        """What the operator needs installed."""
        return str(getattr(self.operator, "needs", ""))

    def untouched(self, text: str) -> str:
        """Return why the operator leaves a text unchanged; nothing where it gives no reason."""
        return str(getattr(self.operator, "untouched", lambda _: "")(text))

    def edits_within(
        self, texts: Sequence[str], rngs: Sequence[Random], constraint_sets: Sequence[Constraints]
    ) -> Iterator[tuple[Edit, ...]]:
        """Propose some of the operator's edits of each text: one draw per edit, after the draws of the operator."""
        for edits, rng in zip(call_operator(self.operator, texts, rngs, constraint_sets), rngs, strict=True):
            yield tuple(edit for edit in edits if rng.random() < self.rate)
