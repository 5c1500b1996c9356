"""The candidates that one person's input method offers."""

from __future__ import annotations

import math
from functools import lru_cache
from zlib import crc32

from lapsus.perturbations._memory import Memory, Topic
from lapsus.perturbations._typist import SPREAD
from lapsus.perturbations.engines import load
from lapsus.perturbations.pinyin_engine import load_engine

Offers = tuple[tuple[str, float], ...]  # texts and costs, the first one first

EMBEDDED = "embedded"
PAGE = 9  # candidates that an input method shows at once
SETTLED = 5.5  # nats: what is this common stands at the same place everywhere
CONTEXT = 0.4  # how much the word before weighs in the order of candidates


@lru_cache(1 << 17)
def offers(
    keys: str, before: str, ime: int, ranking: float, engine: str, memory: Memory, topic: Topic | None
) -> Offers:
    """Return the candidates for `keys` after `before`, the embedded engine's in the order of one input method."""
    if engine != EMBEDDED:
        return tuple((text, float(n)) for n, text in enumerate(load(engine).candidates(keys, limit=2 * PAGE)))
    embedded = load_engine()
    known = embedded.by_text
    found = []
    expected = dict(embedded.scored(keys, embedded.last_word(before), 4 * PAGE)) if before else {}
    familiar = topic.follows.get(embedded.last_word(before), {}) if topic and before else {}
    for text, alone in embedded.scored(keys, "", 3 * PAGE):
        cost = alone + memory.ranks.get(text, 0.0)
        if before:
            here = expected.get(text, alone)
            if len(text) == 1 and (longer := known.get(before[-1] + text)) and before[-1] in known:
                here = min(here, longer.cost - known[before[-1]].cost)
            if text in familiar:
                here = min(here, -math.log(familiar[text]))
            cost += CONTEXT * (here - alone)
        # Whatever the method, the most common characters stand where they stand.
        room = min(1.0, max(0.0, (alone - SETTLED) / SETTLED))
        found.append((text, cost + SPREAD * ranking * room * _leaning(text, ime)))
    found.sort(key=lambda offer: offer[1])
    return tuple(found[: 2 * PAGE])


def _leaning(text: str, ime: int) -> float:
    """Return a number that is fixed for a word and an input method, and normal over words."""
    return (sum(crc32(f"{ime}{text}".encode()).to_bytes(4, "big")) - 510) / 147.8
