"""The candidates that one person's input method offers."""

from __future__ import annotations

from functools import lru_cache
from operator import itemgetter
from zlib import crc32

from lapsus.perturbations._typist import SPREAD
from lapsus.perturbations.engines import load
from lapsus.perturbations.pinyin_engine import load_engine

# Texts for all of the keys and their costs, the first one first; and whether words for fewer keys follow.
# It is a plain tuple because the collector passes those over, and many are kept.
Offers = tuple[tuple[str, ...], tuple[float, ...], bool]

EMBEDDED = "embedded"
PAGE = 9  # candidates that an input method shows at once
SETTLED = 5.5  # nats: what is this common stands at the same place everywhere
CONTEXT = 0.4  # how much the word before weighs in the order of candidates


@lru_cache(1 << 17)
def offers(keys: str, before: str, ime: int, ranking: float, engine: str) -> Offers:
    """Return the candidates for `keys` after a word, the embedded engine's in the order of one input method."""
    if engine != EMBEDDED:
        texts = tuple(load(engine).candidates(keys, limit=2 * PAGE))
        return texts, tuple(map(float, range(len(texts)))), False
    embedded = load_engine()
    if len(whole := embedded.whole(keys, "", 3 * PAGE)) == 1:
        return (whole[0][0],), (whole[0][1],), _goes_on(keys)
    found = [(text, cost + ranking * noise) for text, cost, noise in _leaning(keys, ime)]
    if before:
        known = embedded.by_text
        expected = dict(embedded.whole(keys, before, 4 * PAGE))
        for n, (text, alone, _) in enumerate(_leaning(keys, ime)):
            if text not in expected:
                continue
            here = expected[text]
            if len(text) == 1 and (longer := known.get(before[-1] + text)):
                here = min(here, longer.cost - known[before[-1]].cost)
            found[n] = (text, found[n][1] + CONTEXT * (here - alone))
    found.sort(key=itemgetter(1))
    del found[2 * PAGE :]
    more = len(found) < 2 * PAGE and _goes_on(keys)
    return tuple([text for text, _ in found]), tuple([cost for _, cost in found]), more


def _goes_on(keys: str) -> bool:
    """Say whether words are offered for the beginning of `keys` alone."""
    syllables = load_engine().syllables
    return len(keys) > 1 and (keys not in syllables or any(keys[:n] in syllables for n in range(1, len(keys))))


@lru_cache(1 << 16)
def _leaning(keys: str, ime: int) -> tuple[tuple[str, float, float], ...]:
    """Return the texts for `keys`, their costs, and how far one input method puts them from where they stand."""
    found = load_engine().whole(keys, "", 3 * PAGE)
    # Whatever the method, the most common characters stand where they stand.
    return tuple(
        (text, cost, SPREAD * min(1.0, max(0.0, (cost - SETTLED) / SETTLED)) * _liking(text, ime))
        for text, cost in found
    )


@lru_cache(1 << 16)
def _liking(text: str, ime: int) -> float:
    """Return a number that is fixed for a text and an input method, and normal over texts."""
    return (sum(crc32(f"{ime}{text}".encode()).to_bytes(4, "big")) - 510) / 147.8
