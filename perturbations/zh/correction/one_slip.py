"""Readings one slip of the keys apart: name the slip between two, or find all that are near."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from lapsus.perturbations.zh.typist.keys import BESIDE

if TYPE_CHECKING:
    from collections.abc import Iterable

SHORTEST = 3  # letters of a reading; in shorter ones a slip leaves too little to recognise


@lru_cache(1 << 16)
def slip(meant: str, typed: str) -> str:
    """Name the one slip between two readings; nothing where it is not one.

    >>> slip("shao", "sao"), slip("liao", "lioa"), slip("qian", "qina"), slip("huan", "hu")
    ('accent', 'swapped', 'swapped', '')
    """
    longer, shorter = (meant, typed) if len(meant) > len(typed) else (typed, meant)
    at = next((i for i, (a, b) in enumerate(zip(longer, shorter, strict=False)) if a != b), len(shorter))
    if len(longer) == len(shorter):
        if meant == typed:
            return ""
        if meant[at + 1 :] == typed[at + 1 :]:
            old, new = meant[at], typed[at]
            return "accent" if {old, new} == {"l", "n"} else "beside" if new in BESIDE.get(old, "") else "other"
        crossed = meant[at : at + 2] == typed[at : at + 2][::-1] and meant[at + 2 :] == typed[at + 2 :]
        return "swapped" if crossed else ""
    if longer[at + 1 :] != shorter[at:]:
        return ""
    if longer[at - 1 : at + 1] in {"zh", "ch", "sh", "ng"}:
        return "accent"
    return "missed" if longer is meant else "added"


class Readings:
    """Readings, found again from what one slip made of them.

    >>> Readings(["huabei", "jiebei"]).near("huaebi")
    [('huabei', 'swapped')]
    """

    def __init__(self, readings: Iterable[str]) -> None:
        self._known = frozenset(readings)
        self._without = defaultdict(list)
        for reading in sorted(self._known):
            for rest in _shortened(reading) if len(reading) >= SHORTEST else ():
                self._without[rest].append(reading)

    def near(self, typed: str) -> list[tuple[str, str]]:
        """Return the readings one slip away from the letters `typed`, and the slip."""
        if len(typed) < SHORTEST:
            return []
        found = set(self._without.get(typed, ()))
        for rest in _shortened(typed):
            found.update(self._without.get(rest, ()))
            if rest in self._known:
                found.add(rest)
        return [(meant, how) for meant in sorted(found) if (how := slip(meant, typed))]


def _shortened(letters: str) -> set[str]:
    return {letters[:i] + letters[i + 1 :] for i in range(len(letters))}
