"""The paraphrases that judges see: what generators propose, without what is too near to its sentence.

>>> from lapsus.collect.generators import FileGenerator
>>> paraphrases = ("Ada won the cup", "The cup went to Ada.", "the cup went to Ada")
>>> generator = FileGenerator("mine", {"Ada won the cup.": paraphrases})
>>> chosen, counts = collect_candidates(["Ada won the cup."], [generator])
>>> [(each.paraphrase, each.overlap) for each in chosen]
[('The cup went to Ada.', 0.5)]
>>> counts
FilterCounts(sentences=1, proposed=3, repeated=1, out_of_bounds=1, accepted=1, sentences_without=0)
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from lapsus.collect.generators import ParaphraseGenerator
from lapsus.collect.judgements import Verdict
from lapsus.core.overlap import OverlapFilter, jaccard, normalise, split_tokens
from lapsus.evaluation.text_metrics import TextMetric


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """A sentence in other words: the item of a sheet.

    `overlap` is the share of words in common, `rank` the place among those of its sentence (1 is shown first),
    `similarity` what the encoder says, where there is one.
    """

    item: str
    text: str
    paraphrase: str
    generator: str
    overlap: float
    rank: int = 0
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class FilterCounts:
    """What became of the proposals: `out_of_bounds` had an overlap out of bounds.

    `sentences_without` are the sentences of which no paraphrase was accepted.
    """

    sentences: int
    proposed: int
    repeated: int
    out_of_bounds: int
    accepted: int
    sentences_without: int


def collect_candidates(
    texts: Sequence[str],
    generators: Iterable[ParaphraseGenerator],
    overlap: OverlapFilter | None = None,
    encoder: TextMetric | None = None,
    per_sentence: int = 3,
    progress: Callable[..., Any] = lambda each, **_: each,
) -> tuple[list[Paraphrase], FilterCounts]:
    """Return at most `per_sentence` paraphrases of each text that pass the filter, the best first.

    Best is what the encoder, such as the text metric `cosine:PATH`, finds most alike; without one, what its generator
    proposed first.
    """
    bounds = overlap or OverlapFilter()
    paraphrases_by_text: dict[str, list[Paraphrase]] = {text: [] for text in texts}
    proposed = repeated = out_of_bounds = 0
    for generator in generators:
        proposals = generator.generate(texts)
        for text, paraphrases in zip(texts, progress(proposals, total=len(texts), desc=generator.name), strict=True):
            known = {normalise(text), *(normalise(each.paraphrase) for each in paraphrases_by_text[text])}
            for paraphrase in (" ".join(each.split()) for each in paraphrases):
                proposed += 1
                share = jaccard(text, paraphrase)
                if not split_tokens(paraphrase) or not bounds.accepts(share):
                    out_of_bounds += 1
                elif normalise(paraphrase) in known:
                    repeated += 1
                else:
                    known.add(normalise(paraphrase))
                    paraphrases_by_text[text].append(_make_paraphrase(text, paraphrase, generator.name, share))
    ranked = _rank_candidates(paraphrases_by_text, encoder, per_sentence)
    n_without = sum(not each for each in ranked)
    best_paraphrases = [each for group in ranked for each in group]
    return best_paraphrases, FilterCounts(
        len(paraphrases_by_text), proposed, repeated, out_of_bounds, len(best_paraphrases), n_without
    )


def make_item_id(text: str, paraphrase: str) -> str:
    """Return the name of an item: the same sentence and paraphrase have the same in every sheet."""
    return "p" + hashlib.sha256(f"{text}\n{paraphrase}".encode()).hexdigest()[:12]  # never a number to a spreadsheet


def _make_paraphrase(text: str, paraphrase: str, generator: str, share: Fraction) -> Paraphrase:
    return Paraphrase(make_item_id(text, paraphrase), text, paraphrase, generator, round(float(share), 4))


def _rank_candidates(
    paraphrases_by_text: dict[str, list[Paraphrase]], encoder: TextMetric | None, limit: int
) -> list[list[Paraphrase]]:
    """Return the best of each sentence's candidates, with their rank."""
    groups = list(paraphrases_by_text.values())
    if encoder is not None:
        all_paraphrases = [each for group in groups for each in group]
        paraphrases, texts = [each.paraphrase for each in all_paraphrases], [each.text for each in all_paraphrases]
        similarities = iter(encoder.score(paraphrases, texts))
        groups = [
            sorted(
                (replace(each, similarity=round(next(similarities), 4)) for each in group),
                key=lambda each: -(each.similarity or 0.0),
            )
            for group in groups
        ]
    return [[replace(each, rank=rank) for rank, each in enumerate(group[:limit], 1)] for group in groups]


# The one paraphrase of each sentence that goes into the set: the accepted one that judges find most alike.


def choose_judged(candidates: Iterable[Paraphrase], verdicts: Iterable[Verdict]) -> dict[str, str]:
    """Return the best accepted paraphrase of each sentence; of two that are as alike, the one that ranked first."""
    similarity = {each.item: each.similarity or 0.0 for each in verdicts if each.outcome == "accepted"}
    best: dict[str, Paraphrase] = {}
    for each in sorted(candidates, key=lambda each: each.rank):
        if each.item not in similarity:
            continue
        current = best.get(each.text)
        if current is None or similarity[each.item] > similarity[current.item]:
            best[each.text] = each
    return {text: each.paraphrase for text, each in best.items()}


def choose_unjudged(candidates: Iterable[Paraphrase], min_similarity: float | None = None) -> dict[str, str]:
    """Return the first-ranked paraphrase of each sentence, if an encoder finds it alike by `min_similarity` or more.

    No person has seen these: some will mean something else, so that the label of their pair no longer holds.
    """
    first = [each for each in candidates if each.rank == 1]
    if min_similarity is not None and any(each.similarity is None for each in first):
        raise ValueError(
            "the candidates have no likeness to compare with --min-similarity; propose them with --encoder, "
            "or leave it out"
        )
    return {
        each.text: each.paraphrase
        for each in first
        if min_similarity is None or (each.similarity or 0.0) >= min_similarity
    }
