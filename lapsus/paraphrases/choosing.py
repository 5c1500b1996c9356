"""The one paraphrase of each sentence that goes into the set: the accepted one that judges find most alike."""

from __future__ import annotations

from collections.abc import Iterable

from lapsus.paraphrases.candidates import Candidate
from lapsus.paraphrases.judgements import Verdict


def judged_best(candidates: Iterable[Candidate], verdicts: Iterable[Verdict]) -> dict[str, str]:
    """Return the best accepted paraphrase of each sentence; of two that are as alike, the one that ranked first."""
    similarity = {each.item: each.similarity or 0.0 for each in verdicts if each.outcome == "accepted"}
    best: dict[str, Candidate] = {}
    for each in sorted(candidates, key=lambda each: each.rank):
        if each.item not in similarity:
            continue
        before = best.get(each.text)
        if before is None or similarity[each.item] > similarity[before.item]:
            best[each.text] = each
    return {text: each.paraphrase for text, each in best.items()}


def unjudged_best(candidates: Iterable[Candidate], least: float | None = None) -> dict[str, str]:
    """Return the first-ranked paraphrase of each sentence, if an encoder finds it alike by `least` or more.

    No person has seen these: some will mean something else, so that the label of their pair no longer holds.
    """
    first = [each for each in candidates if each.rank == 1]
    if least is not None and any(each.likeness is None for each in first):
        raise ValueError(
            "the candidates have no likeness to compare with --least-likeness; propose them with --encoder, "
            "or leave it out"
        )
    return {each.text: each.paraphrase for each in first if least is None or (each.likeness or 0.0) >= least}
