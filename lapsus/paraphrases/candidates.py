"""The paraphrases that judges see: what generators propose, without what is too near to its sentence.

>>> from lapsus.paraphrases.replay import Replay
>>> mine = Replay("mine", {"Ada won the cup.": ("Ada won the cup", "The cup went to Ada.", "the cup went to Ada")})
>>> chosen, counts = candidates(["Ada won the cup."], [mine])
>>> [(each.paraphrase, each.overlap) for each in chosen]
[('The cup went to Ada.', 0.5)]
>>> counts
Counts(sentences=1, proposed=3, repeated=1, near=1, kept=1, without=0)
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from lapsus.paraphrases.generators import Generator
from lapsus.paraphrases.likeness import Encoder
from lapsus.paraphrases.overlap import Overlap, jaccard, tokens


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence in other words: the item of a sheet.

    `overlap` is the share of words in common, `rank` the place among those of its sentence (1 is shown first),
    `likeness` what the encoder says, where there is one.
    """

    item: str
    text: str
    paraphrase: str
    generator: str
    overlap: float
    rank: int = 0
    likeness: float | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of the proposals: `near` had an overlap out of bounds, `without` are sentences with none kept."""

    sentences: int
    proposed: int
    repeated: int
    near: int
    kept: int
    without: int


def candidates(
    texts: Sequence[str],
    generators: Iterable[Generator],
    overlap: Overlap | None = None,
    encoder: Encoder | None = None,
    most: int = 3,
    progress: Callable[..., Any] = lambda each, **_: each,
) -> tuple[list[Candidate], Counts]:
    """Return at most `most` paraphrases of each text that pass the filter, the best first.

    Best is what the encoder finds most alike; without one, what its generator proposed first.
    """
    bounds = overlap or Overlap()
    found: dict[str, list[Candidate]] = {text: [] for text in texts}
    proposed = repeated = near = 0
    for generator in generators:
        made = generator.paraphrases(texts)
        for text, paraphrases in zip(texts, progress(made, total=len(texts), desc=generator.name), strict=True):
            known = {bare(text), *(bare(each.paraphrase) for each in found[text])}
            for paraphrase in (" ".join(each.split()) for each in paraphrases):
                proposed += 1
                share = jaccard(text, paraphrase)
                if not tokens(paraphrase) or not bounds.keeps(share):
                    near += 1
                elif bare(paraphrase) in known:
                    repeated += 1
                else:
                    known.add(bare(paraphrase))
                    found[text].append(_candidate(text, paraphrase, generator.name, share))
    ranked = _ranked(found, encoder, most)
    without = sum(not each for each in ranked)
    chosen = [each for several in ranked for each in several]
    return chosen, Counts(len(found), proposed, repeated, near, len(chosen), without)


def bare(text: str) -> str:
    """Return a text without capitals, double spaces and its last mark: what is equal then is no other paraphrase."""
    return " ".join(text.casefold().split()).rstrip(" .!?")


def item_of(text: str, paraphrase: str) -> str:
    """Return the name of an item: the same sentence and paraphrase have the same in every sheet."""
    return "p" + hashlib.sha256(f"{text}\n{paraphrase}".encode()).hexdigest()[:12]  # never a number to a spreadsheet


def _candidate(text: str, paraphrase: str, generator: str, share: Fraction) -> Candidate:
    return Candidate(item_of(text, paraphrase), text, paraphrase, generator, round(float(share), 4))


def _ranked(found: dict[str, list[Candidate]], encoder: Encoder | None, most: int) -> list[list[Candidate]]:
    """Return the best of each sentence's candidates, with their rank."""
    several = list(found.values())
    if encoder is not None:
        every = [each for some in several for each in some]
        alike = iter(encoder.alike([(each.text, each.paraphrase) for each in every]))
        several = [
            sorted(
                (replace(each, likeness=round(next(alike), 4)) for each in some),
                key=lambda each: -(each.likeness or 0.0),
            )
            for some in several
        ]
    return [[replace(each, rank=rank) for rank, each in enumerate(some[:most], 1)] for some in several]
