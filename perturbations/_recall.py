"""What comes to a typist's mind: words like the one meant, characters that often follow."""

from __future__ import annotations

import math
from bisect import bisect
from functools import cache, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from lapsus.perturbations.pinyin_engine import NEVER, load_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lapsus.perturbations.pinyin_engine import Word

    Draw = Callable[[], float]
    Options = tuple[Sequence[str], Sequence[float]]  # texts, and their weights added up

UNLIKELY = 0.1  # how often what does not fit its neighbours comes to mind, beside what does
ENDING = 0.15  # how often it is a word that ends alike, beside one that begins alike
COMMON = 11.5  # nats: it is the common words that come to mind in place of each other
KEPT = 12
FITTING = 0.2  # how much what was just typed decides


def is_common(word: str) -> bool:
    """Say whether a word is one that comes to mind easily."""
    known = load_engine().by_text.get(word)
    return known is not None and known.cost <= COMMON


@lru_cache(1 << 14)
def likenesses(word: str, last: str) -> Options:
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
def follows(last: str, following: str) -> bool:
    """Say whether `following` is known to come after `last`."""
    engine = load_engine()
    row = engine.bigrams.row(engine.last_word(last))[0]
    return bool(following) and (following in row or following[0] in row)


@lru_cache(1 << 14)
def expected(last: str, following: str) -> Options:
    """Return the characters that often come after `last`, above all those before `following`."""
    known = load_engine().by_text
    weighed = [
        (t, w if follows(t, following) or t + following[:1] in known else UNLIKELY * w)
        for t, w in _likely(load_engine().last_word(last))
    ]
    if not weighed:
        weighed = [(text, 1.0) for text in "的了是我不有"]
    return tuple(text for text, _ in weighed), tuple(accumulate(weight for _, weight in weighed))


@lru_cache(1 << 14)
def _likely(word: str) -> Sequence[tuple[str, float]]:
    """Return the characters that come after a word the most often, and how often."""
    engine = load_engine()
    weights = {text: math.exp(-cost) for text, cost in engine.bigrams.row(word)[0].items() if len(text) == 1}
    if word:
        known = engine.by_text[word].cost
        for longer in _beginning(word[-1], 2):
            weights[longer.text[1]] = weights.get(longer.text[1], 0.0) + math.exp(min(0.0, known - longer.cost))
    return sorted(((text, weight) for text, weight in weights.items() if text >= "\u4e00"), key=lambda w: -w[1])[:60]


def drawn(options: Options, draw: Draw) -> str:
    """Return one of the options, by their weights; nothing where there is none."""
    texts, sums = options
    return texts[min(bisect(sums, draw() * sums[-1]), len(texts) - 1)] if texts else ""
