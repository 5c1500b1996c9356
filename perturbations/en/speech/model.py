"""What was fitted to transcripts of recognisers: which words are missed, and what is written in their place."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import log
from pathlib import Path
from typing import Any

from lapsus.perturbations.en.sounds import load_frequencies
from lapsus.perturbations.streams import WeightedOptions

FITTED = Path(__file__).parents[1] / "data" / "en_speech.json"
BACKOFF = 3.0  # how many words what is expected weighs beside the pairs counted
UNSEEN = 1e-8  # share of a word that no list has
WORD_FEATURES = (
    "one", "rarity", "surprise", "after", "short", "long", "first", "last", "before_last", "again", "habit", "foreign",
    "length", "capital",
)  # fmt: skip
"""The numbers that a word's chance of being missed depends on; `word_features` says what they are."""


@dataclass(frozen=True, slots=True, eq=False)
class Recogniser:
    """One kind of recogniser and what it is used for.

    Args:
        hazard: The weight of each trait of a word in its chance of being missed, on the logit.
        spread: How much texts, people and recordings differ, on the logit: standard deviations.
        shares: Single chances and weights, by name.
        sizes: For a stretch of so many missed words, how many words are written.
        counts: How often the recogniser wrote each word, and each two words; texts of its domain.
        habits: Words that are missed more or less often than their traits say, on the logit.
        memory: What stood in the place of some words again and again.
        insertions: Words that were written where nothing was said.
        spellings: What is written for a word that was heard, where it is not the word.
    """

    hazard: tuple[float, ...]
    spread: tuple[float, float, float]
    shares: Mapping[str, float]
    sizes: Mapping[int, WeightedOptions]
    words: Mapping[str, float]
    pairs: Mapping[str, Mapping[str, float]]
    total: float
    habits: Mapping[str, float]
    memory: Mapping[str, tuple[WeightedOptions, float]]
    insertions: WeightedOptions
    spellings: Mapping[str, WeightedOptions]

    @classmethod
    def from_fit(cls, fitted: Mapping[str, Any]) -> Recogniser:
        """Return the recogniser that a fit wrote down."""
        pairs: dict[str, dict[str, float]] = {}
        for pair, count in fitted["pairs"].items():
            first, _, second = pair.partition(" ")
            pairs.setdefault(first, {})[second] = count
        return cls(
            tuple(fitted["hazard"]),
            tuple(fitted["spread"]),
            fitted["shares"],
            {int(size): WeightedOptions.from_weights(weights) for size, weights in fitted["sizes"].items()},
            fitted["words"],
            pairs,
            sum(fitted["words"].values()),
            fitted["habits"],
            {
                old: (WeightedOptions.from_weights(new), float(sum(new.values())))
                for old, new in fitted["memory"].items()
            },
            WeightedOptions.from_weights(fitted["added"]),
            {old: WeightedOptions.from_weights(new) for old, new in fitted["heard"].items()},
        )

    def word_share(self, word: str) -> float:
        """Return how much of what the recogniser writes a word is: counted, and as in any English."""
        general = self.shares["general"]
        anywhere = load_frequencies().get(word, UNSEEN)
        return (1 - general) * self.words.get(word, 0.0) / self.total + general * anywhere + UNSEEN

    def pair_affinity(self, first: str, second: str) -> float:
        """Return how much likelier two words stand together than apart, as a logarithm."""
        following = self.pairs.get(first)
        if following is None:
            return 0.0
        count = self.words.get(first, 1.0)
        share = self.word_share(second)
        return log((following.get(second, 0.0) + BACKOFF * share) / ((count + BACKOFF) * share))


@cache
def load_recognisers() -> Mapping[str, Recogniser]:
    """Return what `tools/fit_en_speech.py` found, by what a recogniser is for: `assistant` and `search`."""
    return {
        name: Recogniser.from_fit(fitted) for name, fitted in json.loads(FITTED.read_text(encoding="utf-8")).items()
    }


def word_features(model: Recogniser, words: Sequence[str], capital: Sequence[bool]) -> list[list[float]]:
    """Return the numbers that the chance of being missed depends on, for each word; `again` is left at 0.

    These are: one; rarity in nats; how much rarer beside the word before and after; whether there are at most two
    letters, or more than seven; whether the word is the first, the last, the last but one of the text; whether the word
    before was missed; habit; whether the recogniser never wrote it; one by the number of words; a capital.
    """
    shares = [-log(model.word_share(word)) for word in words]
    ends = len(words) - 1
    features = []
    for at, word in enumerate(words):
        before = model.pair_affinity(words[at - 1], word) if at else model.pair_affinity("^", word)
        after = model.pair_affinity(word, words[at + 1]) if at < ends else 0.0
        features.append(
            [
                1.0,
                min(shares[at], 14.0),
                -before,
                -after,
                float(len(word) < 3),
                float(len(word) > 7),
                float(at == 0),
                float(at == ends),
                float(at == ends - 1),
                0.0,
                model.habits.get(word, 0.0),
                float(word not in model.words),
                1 / len(words),
                float(at > 0 and capital[at]),
            ]
        )
    return features
