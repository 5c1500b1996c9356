"""What comes to a typist's mind: words like the one meant, characters that often follow."""

from __future__ import annotations

import math
from bisect import bisect
from functools import cache, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from lapsus.perturbations._memory import Memory, Options, Topic
from lapsus.perturbations.pinyin_engine import NEVER, load_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lapsus.perturbations.pinyin_engine import Word

    Draw = Callable[[], float]

UNLIKELY = 0.1  # how often what does not fit its neighbours comes to mind, beside what does
ENDING = 0.15  # how often it is a word that ends alike, beside one that begins alike
COMMON = 11.5  # nats: it is the common words that come to mind in place of each other
KEPT = 12
LEAST_FIT, FIT_OF_ENDS = 0.01, 0.2
TOPIC = 0.5  # how often it is a word of the topic
FITTING = 0.2  # how much what was just typed decides


def is_common(word: str) -> bool:
    """Say whether a word is one that comes to mind easily."""
    known = load_engine().by_text.get(word)
    return known is not None and known.cost <= COMMON


@lru_cache(1 << 14)
def likenesses(word: str, last: str, topic: Topic | None = None) -> Options:
    """Return the words that begin or end as `word` does, above all those that follow the word `last`."""
    if not 2 <= len(word) <= 4 or not is_common(word):
        return (), ()
    row = load_engine().bigrams.row(last)[0]
    alike = [(w, 1.0) for w in _beginning(word[0], len(word))] + [(w, ENDING) for w in _ending(word[-1], len(word))]
    found = [
        (w.text, weight * (math.exp(-0.8 * w.cost) + FITTING * math.exp(-row.get(w.text, NEVER))))
        for w, weight in alike
        if w.text != word
    ]
    if topic:
        total = sum(weight for _, weight in found) or 1.0
        near = [
            (text, share)
            for text, share in topic.words.items()
            if text != word and len(text) == len(word) and (text[0] == word[0] or text[-1] == word[-1])
        ]
        whole = sum(share for _, share in near)
        found += [(text, TOPIC * total * share / whole) for text, share in near]
    return tuple(text for text, _ in found), tuple(accumulate(weight for _, weight in found))


@cache
def _index(*, last: bool) -> dict[tuple[str, int], list[Word]]:
    found: dict[tuple[str, int], list[Word]] = {}
    for word in load_engine().words:
        if 1 < len(word.text) <= 4:
            row = found.setdefault((word.text[-1 if last else 0], len(word.text)), [])
            if len(row) < KEPT:
                row.append(word)
    return found


def _beginning(character: str, size: int) -> list[Word]:
    return _index(last=False).get((character, size), [])


def _ending(character: str, size: int) -> list[Word]:
    return _index(last=True).get((character, size), [])


@lru_cache(1 << 14)
def follows(last: str, following: str, topic: Topic | None = None) -> bool:
    """Say whether `following` is known to come after `last`."""
    engine = load_engine()
    word = engine.last_word(last)
    row = engine.bigrams.row(word)[0]
    known = topic.follows.get(word, {}) if topic else {}
    return bool(following) and any(start in row or start in known for start in (following, following[0]))


@lru_cache(1 << 16)
def fit(last: str, following: str, topic: Topic | None = None) -> float:
    """Say how well `following` goes with what stands before it: about the root of its probability."""
    engine = load_engine()
    word = engine.last_word(last)
    if not following or not word:
        return FIT_OF_ENDS
    row = engine.bigrams.row(word)[0]
    known = topic.follows.get(word, {}) if topic else {}
    least = min((row[start] for start in (following[:2], following[0]) if start in row), default=NEVER)
    longer = engine.by_text.get(word[-1] + following[0])
    if longer:
        least = min(least, longer.cost - engine.by_text[word[-1]].cost if word[-1] in engine.by_text else NEVER)
    share = max(known.get(following[:2], 0.0), known.get(following[0], 0.0))
    return max(math.sqrt(max(math.exp(-max(least, 0.0)), share)), LEAST_FIT)


@lru_cache(1 << 14)
def expected(last: str, following: str, topic: Topic | None = None) -> Options:
    """Return what often comes after `last`, above all before `following`: characters and short words."""
    weighed = [
        (text, weight * fit(text, following, topic)) for text, weight in _likely(load_engine().last_word(last), topic)
    ]
    if not weighed:
        weighed = [(text, 1.0) for text in "的了是我不有"]
    return tuple(text for text, _ in weighed), tuple(accumulate(weight for _, weight in weighed))


@lru_cache(1 << 14)
def _likely(word: str, topic: Topic | None) -> Sequence[tuple[str, float]]:
    """Return what comes after a word the most often, and how often."""
    engine = load_engine()
    weights = {text: math.exp(-cost) for text, cost in engine.bigrams.row(word)[0].items() if len(text) <= 2}
    if word:
        known = engine.by_text[word].cost
        for longer in _beginning(word[-1], 2):
            weights[longer.text[1]] = weights.get(longer.text[1], 0.0) + math.exp(min(0.0, known - longer.cost))
    if topic and word in topic.follows:
        general = (1 - TOPIC) / (sum(weights.values()) or 1.0)
        weights = {text: weight * general for text, weight in weights.items()}
        for text, share in topic.follows[word].items():
            weights[text] = weights.get(text, 0.0) + TOPIC * share
    return sorted(((text, weight) for text, weight in weights.items() if text >= "\u4e00"), key=lambda w: -w[1])[:60]


@lru_cache(1 << 14)
def slipping_in(memory: Memory, last: str, following: str, topic: Topic | None = None) -> Options:
    """Return the characters that slip in everywhere, above all where they fit."""
    texts, sums = memory.strays
    weighed = [
        (total - before) * fit(last, text, topic) * fit(text, following, topic)
        for text, total, before in zip(texts, sums, (0.0, *sums), strict=False)
    ]
    return texts, tuple(accumulate(weighed))


def drawn(options: Options, draw: Draw) -> str:
    """Return one of the options, by their weights; nothing where there is none."""
    texts, sums = options
    return texts[min(bisect(sums, draw() * sums[-1]), len(texts) - 1)] if texts else ""
