"""What a stretch of speech may be heard as: words that sound like it, the likeliest English among them."""

from __future__ import annotations

from functools import cache, lru_cache
from math import exp, log
from typing import TYPE_CHECKING, NamedTuple

from lapsus.perturbations.en.sounds import (
    classify_sounds,
    load_frequent_pronunciations,
    load_offensive_words,
    pronounce,
)
from lapsus.perturbations.en.speech.model import load_recognisers
from lapsus.perturbations.streams import draw_index

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

VOCABULARY = {"assistant": 8_000, "search": 15_000}  # frequent words that a recogniser knows beside those it wrote
MAX_CANDIDATES = 40  # words that are weighed for one stretch
MAX_DISTANCE = 0.6  # of the length of what was said
SOUND_SHIFTS = {
    "us": (),
    "de": (("θ", "s", 0.3), ("ð", "z", 0.25), ("w", "v", 0.3), ("z", "s", 0.2), ("d", "t", 0.08), ("æ", "ɛ", 0.3)),
    "es": (("ɪ", "i", 0.4), ("v", "b", 0.3), ("z", "s", 0.4), ("ʃ", "tʃ", 0.1), ("ʌ", "ɑ", 0.3), ("h", "", 0.08)),
    "hi": (("w", "v", 0.2), ("v", "w", 0.2), ("θ", "t", 0.4), ("ð", "d", 0.4), ("ɔ", "ɑ", 0.2), ("z", "dʒ", 0.08)),
    "fr": (("h", "", 0.5), ("θ", "s", 0.3), ("ð", "z", 0.3), ("ɪ", "i", 0.4), ("ʌ", "ə", 0.2)),
    "ja": (("l", "ɹ", 0.3), ("ɹ", "l", 0.3), ("v", "b", 0.3), ("θ", "s", 0.4), ("ð", "z", 0.4), ("ɚ", "ɑ", 0.2)),
    "ru": (("w", "v", 0.3), ("θ", "s", 0.3), ("ð", "z", 0.3), ("d", "t", 0.06), ("z", "s", 0.1), ("ɪ", "i", 0.3)),
    "zh": (("θ", "s", 0.4), ("ð", "z", 0.3), ("v", "w", 0.3), ("ɹ", "l", 0.1), ("l", "", 0.06), ("ɪ", "i", 0.3)),
}
"""Accents by first language: how often one sound passes into another. Set by hand; not measured."""


class HeardWord(NamedTuple):
    """A word that a stretch may be heard as: its distance, and how rare it is, in nats."""

    distance: int
    rarity: float
    word: str


@cache
def _load_vocabulary(recogniser: str) -> dict[int, tuple[list[str], list[tuple[float, str]]]]:
    """Return the sounds of words that are about as long as some length, with (rarity, word), by that length."""
    frequent, model = load_frequent_pronunciations(), load_recognisers()[recogniser]
    known = [
        *list(frequent)[: VOCABULARY[recogniser]],
        *(word for word in model.words if word.isascii()),
    ]
    by_length: dict[int, list[tuple[str, float, str]]] = {}
    for word in dict.fromkeys(word for word in known if word not in load_offensive_words()):
        if word[0].isalpha() and (sounds := classify_sounds(frequent.get(word) or pronounce(word))):
            by_length.setdefault(len(sounds), []).append((sounds, -log(model.word_share(word)), word))
    near = {}
    for length in range(2, max(by_length) + 8, 2):
        within = max(4, int(MAX_DISTANCE * length) - 1)
        entries = [pair for other in range(length - within, length + within + 1) for pair in by_length.get(other, ())]
        near[length] = [sounds for sounds, *_ in entries], [(rarity, word) for _, rarity, word in entries]
    return near


@lru_cache(1 << 16)
def find_similar_words(recogniser: str, sounds: str) -> tuple[HeardWord, ...]:
    """Return the words that sound like some sounds, the likeliest first."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import extract

    target = classify_sounds(sounds)
    near = _load_vocabulary(recogniser)
    candidate_sounds, words = near[min(len(target), max(near))]
    weights = load_recognisers()[recogniser].shares
    cutoff = max(4, int(MAX_DISTANCE * len(target)))
    matches = extract(
        target, candidate_sounds, scorer=Levenshtein.distance, limit=4 * MAX_CANDIDATES, score_cutoff=cutoff
    )
    heard_words = [HeardWord(int(far), *words[at]) for _, far, at in matches]
    heard_words.sort(
        key=lambda heard: (weights["distance"] * heard.distance + weights["rarity"] * heard.rarity, heard.word)
    )
    return tuple(heard_words[:MAX_CANDIDATES])


def draw_similar_word(
    recogniser: str, sounds: str, not_this: str, before: str, after: str | None, draw: Callable[[], float]
) -> str | None:
    """Return a word that sounds like `sounds` and fits between two others, or nothing where none does."""
    candidates = [heard for heard in find_similar_words(recogniser, sounds) if heard.word != not_this]
    if not candidates:
        return None
    scores = [score(recogniser, heard, before, after) for heard in candidates]
    best = max(scores)
    return candidates[draw_index((exp(value - best) for value in scores), draw())].word


def score(recogniser: str, heard: HeardWord, before: str, after: str | None) -> float:
    """Return how likely a word is heard, as a logarithm but for a constant."""
    model = load_recognisers()[recogniser]
    weights = model.shares
    return -(
        weights["distance"] * heard.distance
        + weights["rarity"] * heard.rarity
        - weights["before"] * model.pair_affinity(before, heard.word)
        - (weights["next"] * model.pair_affinity(heard.word, after) if after else 0.0)
    )


def apply_accent(sounds: str, accent: str, draw: Callable[[], float]) -> str:
    """Return the sounds as somebody with an accent says them.

    >>> apply_accent("θɪŋk", "de", lambda: 0.0)
    'sɪŋk'
    """
    shifts = {source: (other, chance) for source, other, chance in SOUND_SHIFTS[accent]}
    shifted = ""
    for sound in sounds:
        other, chance = shifts.get(sound, (sound, 0.0))
        shifted += other if chance and draw() < chance else sound
    return shifted


def split_sounds(sounds: str, pieces: int, draw: Callable[[], float]) -> Sequence[str]:
    """Cut sounds into so many pieces of about the same length.

    >>> split_sounds("ɔdioʊbʊk", 2, lambda: 0.5)
    ['ɔdio', 'ʊbʊk']
    """
    size = len(sounds)
    bounds = [0]
    for number in range(1, pieces):
        middle = size * number / pieces + (draw() - 0.5) * 2
        bounds.append(min(max(round(middle), bounds[-1] + 1), size - pieces + number))
    return [sounds[start:end] for start, end in zip(bounds, [*bounds[1:], size], strict=True)]
