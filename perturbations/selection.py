"""The hard set: every operator on every utterance, and of each the candidate that a selector reads worst.

A selector is any callable that takes a list of candidates and says of each how badly it fares; greater is worse, and
tuples compare from left to right. Among equals the earlier operator stands. The paper's selector is JointBERT; ours
is `judged_by(model)` for any model with `predict` and `losses`, such as `lapsus.models.slu_model.SluModel`.

>>> [hardest([["so", "well", "now"], ["a", "b"]], score=lambda texts: [len(text) for text in texts])]
[['well', 'a']]
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from lapsus.kernel.bio import slots
from lapsus.perturbations.tokens import perturb_tokens_batch, utterance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from lapsus.perturbations.core import Edit, Operator

T = TypeVar("T")


class Candidate(NamedTuple):
    """An utterance as one operator altered it, with the labels it should still get."""

    operator: str
    tokens: list[str]
    tags: list[str]
    intent: str
    edits: tuple[Edit, ...]


class Reader(Protocol):
    """A model of intents and slots."""

    def predict(self, utterances: Sequence[Sequence[str]]) -> Sequence[Mapping[str, Any]]:
        """Return `intent` and `tags` of each utterance."""
        ...

    def losses(self, examples: Sequence[Mapping[str, Any]]) -> Sequence[float]:
        """Return how improbable the model finds the true labels of each example."""
        ...


class Badness(NamedTuple):
    """How badly a model reads a candidate: what decides first stands first."""

    wrong: bool
    errors: int
    loss: float


def hardest(candidates: Sequence[Sequence[T]], score: Callable[[list[T]], Sequence[Any]]) -> list[T]:
    """Return of each row of candidates the one with the greatest score; the earlier one of equals.

    All candidates are scored in one call, so that a model can batch them.
    """
    scores = iter(score([candidate for row in candidates for candidate in row]))
    chosen = []
    for i, row in enumerate(candidates):
        own = list(islice(scores, len(row)))
        if not row or len(own) != len(row):
            raise ValueError(f"utterance {i} has {len(row)} candidates and {len(own)} scores; give one score to each")
        chosen.append(row[max(range(len(row)), key=own.__getitem__)])
    return chosen


def candidates(
    rows: Sequence[Mapping[str, Any]], operators: Iterable[Operator], *, seed: int = 0
) -> list[list[Candidate]]:
    """Return what each operator makes of each row of `id`, `tokens`, `tags` and `intent`.

    An operator that leaves an utterance as it is makes no candidate of it, unless all do.
    """
    said = [utterance(row["tokens"], row["tags"]) for row in rows]
    keys = [str(row["id"]) for row in rows]
    made: list[list[Candidate]] = [[] for _ in rows]
    for operator in operators:
        for row, found, noisy in zip(
            rows, made, perturb_tokens_batch(operator, said, seed=seed, keys=keys), strict=True
        ):
            found.append(Candidate(operator.name, noisy.tokens, noisy.tags or [], row["intent"], noisy.edits))
    return [[candidate for candidate in found if candidate.edits] or found for found in made]


def judged_by(model: Reader) -> Callable[[list[Candidate]], list[Badness]]:
    """Return the selector that asks `model`: the whole frame wrong, then how much of it, then the model's loss.

    Errors are the slots that the model missed, those it invented, and the intent.
    """

    def judge(candidates: list[Candidate]) -> list[Badness]:
        frames = model.predict([candidate.tokens for candidate in candidates])
        losses = model.losses([candidate._asdict() for candidate in candidates])
        found = []
        for candidate, frame, loss in zip(candidates, frames, losses, strict=True):
            errors = len({*slots(candidate.tags)} ^ {*slots(frame["tags"])}) + (candidate.intent != frame["intent"])
            found.append(Badness(errors > 0, errors, loss))
        return found

    return judge


def shares(operators: Iterable[str]) -> dict[str, float]:
    """Return which part of a hard set each operator made, the greatest first (the paper's Table 2).

    >>> shares(["speako", "filler_eos", "speako", "speako"])
    {'speako': 0.75, 'filler_eos': 0.25}
    """
    counts = Counter(operators)
    return {name: count / counts.total() for name, count in counts.most_common()}
