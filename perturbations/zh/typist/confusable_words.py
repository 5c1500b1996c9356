"""What is typed in place of a word: words with the same beginning or end, characters that often follow or slip in."""

from __future__ import annotations

import math
from bisect import bisect
from collections import defaultdict
from functools import cache, lru_cache
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING, TypeAlias

from lapsus.perturbations.zh.input_method.pinyin import NEVER, load_engine
from lapsus.perturbations.zh.typist.memory import Memory, Options, Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from lapsus.perturbations.zh.typist.keys import Draw

UNLIKELY = 0.1  # chance of what does not fit its neighbours, where what fits has chance 1
ENDING = 0.15  # how often it is a word that ends alike, beside one that begins alike
COMMON = 11.5  # nats: words that cost more are never typed in place of another
USUAL, RARE = 7.0, 15.0  # nats: words that everybody types blindly, words that nobody does
MAX_PER_AFFIX = 12  # words of one beginning, or ending
LEAST_FIT, FIT_OF_ENDS = 0.01, 0.2  # of what was never seen side by side; at the ends of a text
TOPIC = 0.5  # how often it is a word of the topic
FITTING = 0.2  # how much what was just typed decides
LIKELIEST = 30  # of what comes after a word
ANY = "的了是我不有"  # what may follow any word

# What tells the cost of what follows a word, its share in the topic; the word's last character, and its cost alone.
Continuation: TypeAlias = "tuple[Callable[..., float], Callable[..., float], str, float]"


def is_common(word: str) -> bool:
    """Return whether a word is common enough to be typed in place of another."""
    return load_engine().costs.get(word, NEVER) <= COMMON


@lru_cache(1 << 14)
def commonness(word: str) -> float:
    """Return 1 for the commonest words, 0 for rare and unknown ones."""
    return min(1.0, max(0.0, (RARE - load_engine().costs.get(word, NEVER)) / (RARE - USUAL)))


@lru_cache(1 << 14)
def find_similar_words(word: str, last: str, topic: Topic | None = None) -> Options:
    """Return the words that begin or end as `word` does, above all those that follow the word `last`."""
    if not 2 <= len(word) <= 4 or not is_common(word):
        return (), ()
    row = load_engine().bigrams.row(last)[0]
    size = len(word)
    similar = [(*w, 1.0) for w in _find_by_beginning(word[0], size)] + [
        (*w, ENDING) for w in _find_by_ending(word[-1], size)
    ]
    candidates = [
        (text, weight * (math.exp(-0.8 * cost) + (FITTING * math.exp(-row[text]) if text in row else 0.0)))
        for text, cost, weight in similar
        if text != word
    ]
    if topic:
        total = sum(weight for _, weight in candidates) or 1.0
        near = [
            (text, share)
            for text, share in topic.words.items()
            if text != word and len(text) == len(word) and (text[0] == word[0] or text[-1] == word[-1])
        ]
        near_total = sum(share for _, share in near)
        candidates += [(text, TOPIC * total * share / near_total) for text, share in near]
    return tuple(text for text, _ in candidates), tuple(accumulate(weight for _, weight in candidates))


@cache
def _index(*, last: bool) -> Mapping[tuple[str, int], Sequence[tuple[str, float]]]:
    """Return the likeliest words, and their costs, by their first or last character and their size."""
    index: defaultdict[tuple[str, int], list[tuple[str, float]]] = defaultdict(list)
    for text, _, cost, _ in load_engine().entries:
        if 1 < len(text) <= 4:
            row = index[text[-1 if last else 0], len(text)]
            if len(row) < MAX_PER_AFFIX:
                row.append((text, cost))
    return dict(index)


def _find_by_beginning(character: str, size: int) -> Sequence[tuple[str, float]]:
    return _index(last=False).get((character, size), ())


def _find_by_ending(character: str, size: int) -> Sequence[tuple[str, float]]:
    return _index(last=True).get((character, size), ())


def can_follow(word: str, following: str, topic: Topic | None = None) -> bool:
    """Return whether `following` is known to come after `word`."""
    row = load_engine().bigrams.row(word)[0]
    known = topic.follows.get(word, {}) if topic else {}
    return bool(following) and any(start in row or start in known for start in (following, following[0]))


def score_continuation(word: str, following: str, topic: Topic | None = None) -> float:
    """Return how well `following` goes with the word before it: about the root of its probability."""
    return _score_continuations([_make_continuation(word, topic)], following)[0] if following and word else FIT_OF_ENDS


@lru_cache(1 << 13)
def _make_continuation(word: str, topic: Topic | None) -> Continuation:
    """Return a function that says how well a text goes with `word` before it."""
    engine = load_engine()
    known = topic.follows.get(word, {}) if topic else {}
    return engine.bigrams.row(word)[0].get, known.get, word[-1], engine.costs.get(word[-1], -NEVER)


def _score_continuations(words: Iterable[Continuation], following: str) -> list[float]:
    """Return how well `following` goes with each of the words."""
    cost_of = load_engine().costs.get
    start, first = following[:2], following[0]
    fits = []
    for after, share_of, last, alone in words:
        least = after(start, NEVER)
        if (cost := after(first, NEVER)) < least:
            least = cost
        if (cost := cost_of(last + first, NEVER) - alone) < least:
            least = cost
        share = math.exp(-least) if least > 0 else 1.0
        if (usual := share_of(start, 0.0)) > share:
            share = usual
        if (usual := share_of(first, 0.0)) > share:
            share = usual
        fits.append(math.sqrt(share) if share > LEAST_FIT**2 else LEAST_FIT)
    return fits


def find_likely_followers(word: str, following: str, topic: Topic | None = None) -> Options:
    """Return what often comes after `word`, above all before `following`: characters and short words."""
    texts, weights, continuations = _rank_followers(word, topic)
    return texts, tuple(
        accumulate(map(mul, weights, _score_continuations(continuations, following)) if following else weights)
    )


@lru_cache(1 << 14)
def _rank_followers(word: str, topic: Topic | None) -> tuple[Sequence[str], Sequence[float], Sequence[Continuation]]:
    """Return what comes after a word the most often, how often, and what follows that."""
    engine = load_engine()
    weights = {text: math.exp(-cost) for text, cost in engine.bigrams.row(word)[0].items() if len(text) <= 2}
    if word:
        known = engine.costs[word]
        for longer, cost in _find_by_beginning(word[-1], 2):
            weights[longer[1]] = weights.get(longer[1], 0.0) + math.exp(min(0.0, known - cost))
    if topic and word in topic.follows:
        general = (1 - TOPIC) / (sum(weights.values()) or 1.0)
        weights = {text: weight * general for text, weight in weights.items()}
        for text, share in topic.follows[word].items():
            weights[text] = weights.get(text, 0.0) + TOPIC * share
    chinese = {text: weight for text, weight in weights.items() if text >= "\u4e00"} or dict.fromkeys(ANY, 1.0)
    texts = tuple(sorted(chinese, key=chinese.__getitem__, reverse=True)[:LIKELIEST])
    continuations = tuple([_make_continuation(engine.find_last_word(text) or text, topic) for text in texts])
    return texts, tuple([chinese[text] for text in texts]), continuations


def find_likely_strays(memory: Memory, word: str, following: str, topic: Topic | None = None) -> Options:
    """Return the characters that slip in everywhere, above all where they fit."""
    fits = map(mul, _weigh_strays_after(memory, word, topic), _weigh_strays_before(memory, following, topic))
    return memory.strays[0], tuple(accumulate(fits))


@lru_cache(1 << 13)
def _weigh_strays_after(memory: Memory, word: str, topic: Topic | None) -> Sequence[float]:
    """Return how often each of the characters slips in, by how well it follows a word."""
    texts, sums = memory.strays
    return tuple(
        [
            (total - before) * score_continuation(word, text, topic)
            for text, total, before in zip(texts, sums, (0.0, *sums), strict=False)
        ]
    )


@lru_cache(1 << 13)
def _weigh_strays_before(memory: Memory, following: str, topic: Topic | None) -> Sequence[float]:
    """Return how well each of the characters goes before what follows."""
    last_word = load_engine().find_last_word
    return tuple([score_continuation(last_word(text), following, topic) for text in memory.strays[0]])


def draw_option(options: Options, draw: Draw) -> str:
    """Return one of the options, by their weights; nothing where there is none."""
    texts, sums = options
    return texts[min(bisect(sums, draw() * sums[-1]), len(texts) - 1)] if texts else ""
