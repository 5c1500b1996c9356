"""The hard set: every operator on every utterance, and of each the candidate that a selector reads worst.

A selector is any callable that takes a list of candidates and says of each how badly it fares; greater is worse, and
tuples compare from left to right. Among equals the earlier operator stands. The paper's selector is JointBERT; ours
is `make_selector(model)` for any model with `predict` and `compute_losses`.

>>> [select_hardest([["so", "well", "now"], ["a", "b"]], score=lambda texts: [len(text) for text in texts])]
[['well', 'a']]
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from lapsus.core.bio import extract_slots
from lapsus.perturbations.tokens import parse_utterance, perturb_tokens_batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from lapsus.core.edits import Edit
    from lapsus.perturbations.core import Operator

T = TypeVar("T")


class Candidate(NamedTuple):
    """An utterance as one operator altered it, with the labels it should still get."""

    operator: str
    tokens: list[str]
    tags: list[str]
    intent: str
    edits: tuple[Edit, ...]


class SluReader(Protocol):
    """A model of intents and slots."""

    def predict(self, utterances: Sequence[Sequence[str]]) -> Sequence[Mapping[str, Any]]:
        """Return `intent` and `tags` of each utterance."""
        ...

    def compute_losses(self, examples: Sequence[Mapping[str, Any]]) -> Sequence[float]:
        """Return how improbable the model finds the true labels of each example."""
        ...


class ReadingError(NamedTuple):
    """How badly a model reads a candidate: what decides first stands first."""

    wrong: bool
    errors: int
    loss: float


def select_hardest(candidates: Sequence[Sequence[T]], score: Callable[[list[T]], Sequence[Any]]) -> list[T]:
    """Return of each row of candidates the one with the greatest score; the earlier one of equals.

    All candidates are scored in one call, so that a model can batch them.
    """
    scores = iter(score([candidate for row in candidates for candidate in row]))
    worst = []
    for i, row in enumerate(candidates):
        row_scores = list(islice(scores, len(row)))
        if not row or len(row_scores) != len(row):
            raise ValueError(
                f"utterance {i} has {len(row)} candidates and {len(row_scores)} scores; give one score to each"
            )
        worst.append(row[max(range(len(row)), key=row_scores.__getitem__)])
    return worst


def make_candidates(
    rows: Sequence[Mapping[str, Any]], operators: Iterable[Operator], *, seed: int = 0
) -> list[list[Candidate]]:
    """Return what each operator makes of each row of `id`, `tokens`, `tags` and `intent`.

    An operator that leaves an utterance as it is makes no candidate of it, unless all do.
    """
    utterances = [parse_utterance(row["tokens"], row["tags"]) for row in rows]
    keys = [str(row["id"]) for row in rows]
    candidates_by_row: list[list[Candidate]] = [[] for _ in rows]
    for operator in operators:
        for row, row_candidates, noisy in zip(
            rows, candidates_by_row, perturb_tokens_batch(operator, utterances, seed=seed, keys=keys), strict=True
        ):
            row_candidates.append(Candidate(operator.name, noisy.tokens, noisy.tags or [], row["intent"], noisy.edits))
    return [
        [candidate for candidate in row_candidates if candidate.edits] or row_candidates
        for row_candidates in candidates_by_row
    ]


def make_selector(model: SluReader) -> Callable[[list[Candidate]], list[ReadingError]]:
    """Return the selector that asks `model`: the whole frame wrong, then how much of it, then the model's loss.

    Errors are the slots that the model missed, those it invented, and the intent.
    """

    def judge(candidates: list[Candidate]) -> list[ReadingError]:
        frames = model.predict([candidate.tokens for candidate in candidates])
        losses = model.compute_losses([candidate._asdict() for candidate in candidates])
        reading_errors = []
        for candidate, frame, loss in zip(candidates, frames, losses, strict=True):
            errors = len({*extract_slots(candidate.tags)} ^ {*extract_slots(frame["tags"])}) + (
                candidate.intent != frame["intent"]
            )
            reading_errors.append(ReadingError(errors > 0, errors, loss))
        return reading_errors

    return judge


def count_operator_shares(operators: Iterable[str]) -> dict[str, float]:
    """Return which part of a hard set each operator made, the greatest first (the paper's Table 2).

    >>> count_operator_shares(["speako", "filler_eos", "speako", "speako"])
    {'speako': 0.75, 'filler_eos': 0.25}
    """
    counts = Counter(operators)
    return {name: count / counts.total() for name, count in counts.most_common()}
