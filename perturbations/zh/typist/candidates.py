"""The candidates that one person's input method offers."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING
from zlib import crc32

from lapsus.perturbations.zh.engine.installed import load
from lapsus.perturbations.zh.engine.pinyin import load_engine
from lapsus.perturbations.zh.typist.habits import SPREAD
from lapsus.perturbations.zh.typist.learned_words import Memory, Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Texts and their costs, best first. Plain tuples: the garbage collector does not track tuples of strings and floats.
Offers = tuple[tuple[str, ...], tuple[float, ...]]

EMBEDDED = "embedded"
PAGE = 9  # candidates that an input method shows at once
SETTLED = 5.5  # nats: texts that cost less have the same place in every input method
CONTEXT = 0.4  # how much the word before weighs in the order of candidates


@lru_cache(64)
def input_method(
    ime: int, ranking: float, engine: str, memory: Memory, topic: Topic | None
) -> Callable[[str, str], Offers]:
    """Return a function from keys and the word before to candidates, those of the embedded engine in `ime`'s order.

    >>> from lapsus.perturbations.zh.typist.learned_words import NOTHING
    >>> texts, costs = input_method(1, 1.0, EMBEDDED, NOTHING, None)("huabei", "")
    >>> texts[0]
    '华北'
    """

    @lru_cache(1 << 12)
    def offers(keys: str, before: str) -> Offers:
        if engine != EMBEDDED:
            texts = tuple(load(engine).candidates(keys, limit=2 * PAGE))
            return texts, tuple(map(float, range(len(texts))))
        whole = load_engine().whole(keys, "", 3 * PAGE)
        if len(whole) == 1:
            return (whole[0][0],), (whole[0][1],)
        here = _moved_by_context(keys, before, topic) if before else [0.0] * len(whole)
        ranks = memory.ranks
        ranked = sorted(
            [
                (cost + ranking * noise + ranks.get(text, 0.0) + moved, text)
                for (text, cost), noise, moved in zip(whole, _own_order(keys, ime), here, strict=True)
            ]
        )
        costs, texts = zip(*ranked[: 2 * PAGE], strict=True) if ranked else ((), ())
        return texts, costs

    return offers


@lru_cache(1 << 15)
def _moved_by_context(keys: str, before: str, topic: Topic | None) -> Sequence[float]:
    """Return how much more the texts for `keys` cost after a word than alone."""
    embedded = load_engine()
    costs = embedded.costs
    row, backoff = embedded.bigrams.row(before)
    familiar = topic.follows.get(before, {}) if topic else {}
    moved = []
    for text, alone in embedded.whole(keys, "", 3 * PAGE):
        here = row[text] + alone - costs[text] if text in row else backoff + alone
        if len(text) == 1 and (longer := before[-1] + text) in costs:
            here = min(here, costs[longer] - costs[before[-1]])
        if text in familiar:
            here = min(here, -math.log(familiar[text]))
        moved.append(CONTEXT * (here - alone))
    return tuple(moved)


@lru_cache(1 << 15)
def _own_order(keys: str, ime: int) -> Sequence[float]:
    """Return by how many nats one input method moves each of the texts for `keys`."""
    # Texts that cost less than SETTLED are not moved.
    return tuple(
        [
            SPREAD * min(1.0, (cost - SETTLED) / SETTLED) * _own_taste(text, ime) if cost > SETTLED else 0.0
            for text, cost in load_engine().whole(keys, "", 3 * PAGE)
        ]
    )


def _own_taste(text: str, ime: int) -> float:
    """Return a number that is fixed for a text and an input method, and normal over texts."""
    return (sum(crc32(f"{ime}{text}".encode()).to_bytes(4, "big")) - 510) / 147.8
