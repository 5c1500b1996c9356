"""The candidates that one person's input method offers."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING
from zlib import crc32

from lapsus.perturbations.zh.input_method.installed import open_input_method
from lapsus.perturbations.zh.input_method.pinyin import load_engine
from lapsus.perturbations.zh.typist.habits import SPREAD
from lapsus.perturbations.zh.typist.memory import Memory, Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Texts and their costs, best first. Plain tuples: the garbage collector does not track tuples of strings and floats.
Offers = tuple[tuple[str, ...], tuple[float, ...]]

EMBEDDED = "embedded"
PAGE = 9  # candidates that an input method shows at once
SETTLED = 5.5  # nats: texts that cost less have the same place in every input method
CONTEXT = 0.4  # how much the word before weighs in the order of candidates


@lru_cache(64)
def make_input_method(
    ime: int, ranking: float, engine: str, memory: Memory, topic: Topic | None
) -> Callable[[str, str], Offers]:
    """Return a function from keys and the word before to candidates, those of the embedded engine in `ime`'s order.

    >>> from lapsus.perturbations.zh.typist.memory import NOTHING
    >>> texts, costs = make_input_method(1, 1.0, EMBEDDED, NOTHING, None)("huabei", "")
    >>> texts[0]
    '华北'
    """

    @lru_cache(1 << 12)
    def list_candidates(keys: str, before: str) -> Offers:
        if engine != EMBEDDED:
            texts = tuple(open_input_method(engine).candidates(keys, limit=2 * PAGE))
            return texts, tuple(map(float, range(len(texts))))
        full_texts = load_engine().find_full_texts(keys, "", 3 * PAGE)
        if len(full_texts) == 1:
            return (full_texts[0][0],), (full_texts[0][1],)
        shifts = _shift_by_context(keys, before, topic) if before else [0.0] * len(full_texts)
        ranks = memory.ranks
        ranked = sorted(
            [
                (cost + ranking * noise + ranks.get(text, 0.0) + shift, text)
                for (text, cost), noise, shift in zip(full_texts, _personal_order(keys, ime), shifts, strict=True)
            ]
        )
        costs, texts = zip(*ranked[: 2 * PAGE], strict=True) if ranked else ((), ())
        return texts, costs

    return list_candidates


@lru_cache(1 << 15)
def _shift_by_context(keys: str, before: str, topic: Topic | None) -> Sequence[float]:
    """Return how much more the texts for `keys` cost after a word than alone."""
    embedded = load_engine()
    costs = embedded.costs
    row, backoff = embedded.bigrams.row(before)
    familiar = topic.follows.get(before, {}) if topic else {}
    shifts = []
    for text, alone in embedded.find_full_texts(keys, "", 3 * PAGE):
        cost = row[text] + alone - costs[text] if text in row else backoff + alone
        if len(text) == 1 and (longer := before[-1] + text) in costs:
            cost = min(cost, costs[longer] - costs[before[-1]])
        if text in familiar:
            cost = min(cost, -math.log(familiar[text]))
        shifts.append(CONTEXT * (cost - alone))
    return tuple(shifts)


@lru_cache(1 << 15)
def _personal_order(keys: str, ime: int) -> Sequence[float]:
    """Return by how many nats one input method moves each of the texts for `keys`."""
    # Texts that cost less than SETTLED are not moved.
    return tuple(
        [
            SPREAD * min(1.0, (cost - SETTLED) / SETTLED) * _personal_preference(text, ime) if cost > SETTLED else 0.0
            for text, cost in load_engine().find_full_texts(keys, "", 3 * PAGE)
        ]
    )


def _personal_preference(text: str, ime: int) -> float:
    """Return a number that is fixed for a text and an input method, and normal over texts."""
    return (sum(crc32(f"{ime}{text}".encode()).to_bytes(4, "big")) - 510) / 147.8
