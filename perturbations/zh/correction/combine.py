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

    from lapsus.core.edits import Edit
    from lapsus.perturbations.zh.correction.tagger import Tagger
    from lapsus.perturbations.zh.correction.task_words import Corpus, TaskModel

SHARES = (0.03, 0.1, 0.3, 0.6)  # thresholds of the tagger: at a low one neighbours are changed together
CAUTION = 1.0  # nats, of the corpus: it proposes much
LEAST, MOST = -4.0, 12.0  # odds of the tagger that count: what it did not learn to write may be right still
SAMPLE, FEW = 400, 0.05  # texts of a corpus, and the share of them that may be of another task
MOST_TEXT = 20.0  # odds of the text, either way
WEIGHTS = (0.27, 0.13, 1.24, 0.48)  # logistic regression on READIN's rows with even numbers


class ScoredEdit(NamedTuple):
    """A change, and how much speaks for it."""

    score: float
    edit: Edit


@lru_cache(16)
def is_same_task(tagger: Tagger, corpus: Corpus) -> bool:
    """Say whether the texts of a corpus are of the tagger's task, but for few."""
    sample = corpus.texts[:: max(1, len(corpus.texts) // SAMPLE)]
    return sum(map(tagger.units.is_foreign, sample)) <= FEW * len(sample)


def is_in_both_tasks(text: str, tagger: Tagger, model: TaskModel) -> bool:
    """Say whether a text is of the task of both."""
    return bool(text) and not tagger.units.is_foreign(text) and model.task_probability(text) >= UNSURE


def rank_proposals(text: str, tagger: Tagger, model: TaskModel) -> list[ScoredEdit]:
    """Return what either proposes, what most speaks for first."""
    scored = [
        ScoredEdit(sum(weight * value for weight, value in zip(WEIGHTS, features, strict=True)), edit)
        for edit, features in extract_features(text, tagger, model)
    ]
    return sorted(scored, key=lambda proposal: (-proposal.score, proposal.edit))


def extract_features(
    text: str, tagger: Tagger, model: TaskModel
) -> Iterator[tuple[Edit, tuple[float, float, bool, int]]]:
    """Yield what either proposes, each with what `WEIGHTS` weigh."""
    output = tagger.predict(text)
    corpus_edits = set(model.edits(text, CAUTION))
    for edit in sorted(corpus_edits.union(edit for threshold in SHARES for edit in output.edits(threshold))):
        yield (
            edit,
            (
                min(max(output.log_odds(edit), LEAST), MOST),
                min(max(model.log_odds(text, edit), -MOST_TEXT), MOST_TEXT),
                edit in corpus_edits,
                len(edit.text) - (edit.end - edit.start),
            ),
        )


def select_edits(proposals: Iterable[ScoredEdit], bar: float) -> list[Edit]:
    """Return the changes above the bar; of two that overlap, the one that more speaks for."""
    edits: list[Edit] = []
    for score, edit in proposals:
        if score > bar and all(can_combine(edit, accepted) for accepted in edits):
            edits.append(edit)
    return sorted(edits)


def can_combine(first: Edit, second: Edit) -> bool:
    """Say whether two edits can both be made."""
    return first.start != second.start and (first.end <= second.start or second.end <= first.start)
