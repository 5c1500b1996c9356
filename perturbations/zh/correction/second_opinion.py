"""What a tagger and a corpus propose for a text, weighed by what both say of it.

A tagger knows how people mistype, a corpus how texts go on and what sounds alike. Each proposal of either gets one
score: the odds of the change under the tagger, and how much likelier the text becomes under the corpus' model of
characters. One bar for all, found on clean texts held out when the tagger is trained, says which are made.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from lapsus.perturbations.zh.correction.task_words import UNSURE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lapsus.perturbations.core import Edit
    from lapsus.perturbations.zh.correction.tagger import Tagger
    from lapsus.perturbations.zh.correction.task_words import Adapted, Corpus

SHARES = (0.03, 0.1, 0.3, 0.6)  # thresholds of the tagger: at a low one neighbours are changed together
CAUTION = 1.0  # nats, of the corpus: it proposes much
LEAST, MOST = -4.0, 12.0  # odds of the tagger that count: what it did not learn to write may be right still
SAMPLE, FEW = 400, 0.05  # texts of a corpus, and the share of them that may be of another task
MOST_TEXT = 20.0  # odds of the text, either way
WEIGHTS = (0.27, 0.13, 1.24, 0.48)  # logistic regression on READIN's rows with even numbers


class Proposal(NamedTuple):
    """A change, and how much speaks for it."""

    score: float
    edit: Edit


@lru_cache(16)
def are_of_one_task(tagger: Tagger, corpus: Corpus) -> bool:
    """Say whether the texts of a corpus are of the tagger's task, but for few."""
    some = corpus.texts[:: max(1, len(corpus.texts) // SAMPLE)]
    return sum(map(tagger.units.is_foreign, some)) <= FEW * len(some)


def both_know(text: str, tagger: Tagger, model: Adapted) -> bool:
    """Say whether a text is of the task of both."""
    return bool(text) and not tagger.units.is_foreign(text) and model.belongs(text) >= UNSURE


def proposals(text: str, tagger: Tagger, model: Adapted) -> list[Proposal]:
    """Return what either proposes, what most speaks for first."""
    scored = [
        Proposal(sum(weight * value for weight, value in zip(WEIGHTS, features, strict=True)), edit)
        for edit, features in described(text, tagger, model)
    ]
    return sorted(scored, key=lambda proposal: (-proposal.score, proposal.edit))


def described(text: str, tagger: Tagger, model: Adapted) -> Iterator[tuple[Edit, tuple[float, float, bool, int]]]:
    """Yield what either proposes, each with what `WEIGHTS` weigh."""
    tagged = tagger.tagged(text)
    heard = set(model.edits(text, CAUTION))
    for edit in sorted(heard.union(edit for least in SHARES for edit in tagged.edits(least))):
        yield (
            edit,
            (
                min(max(tagged.odds(edit), LEAST), MOST),
                min(max(model.odds(text, edit), -MOST_TEXT), MOST_TEXT),
                edit in heard,
                len(edit.text) - (edit.end - edit.start),
            ),
        )


def agreed(found: Iterable[Proposal], bar: float) -> list[Edit]:
    """Return the changes above the bar; of two that overlap, the one that more speaks for."""
    made: list[Edit] = []
    for score, edit in found:
        if score > bar and all(apart(edit, other) for other in made):
            made.append(edit)
    return sorted(made)


def apart(one: Edit, other: Edit) -> bool:
    """Say whether two edits can both be made."""
    return one.start != other.start and (one.end <= other.start or other.end <= one.start)
