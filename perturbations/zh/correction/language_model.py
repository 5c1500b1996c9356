"""How likely each character is after the three before it, learned from texts: Kneser and Ney's interpolation."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import lru_cache
from math import log
from typing import TYPE_CHECKING

from lapsus.perturbations.zh.typist.keys import NEIGHBOURS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


EDGE = "\n"  # before and after each text
ORDER = 4
DISCOUNT = 0.75
UNSEEN = 1e-4  # probability of a character that was never seen, in any context


class CharacterModel:
    """The probability of characters in texts like those given.

    >>> model = CharacterModel(["怎么还款", "怎么还钱", "怎么关闭"])
    >>> model.probability("么", "还") > model.probability("么", "钱")
    True
    """

    def __init__(self, texts: Iterable[str]) -> None:
        grams: Counter[str] = Counter()
        for text in texts:
            padded = f"{EDGE}{text}{EDGE}"
            grams.update(padded[max(0, i + 1 - ORDER) : i + 1] for i in range(1, len(padded)))
        followers: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for size in range(ORDER, 0, -1):
            shorter = Counter({gram: count for gram, count in grams.items() if len(gram) < size})
            for gram, count in grams.items():
                if len(gram) == size:
                    followers[gram[:-1]][gram[-1]] = count
                    if size > 1:
                        shorter[gram[1:]] += 1  # in how many contexts, not how often
            grams = shorter
        self.followers: Mapping[str, Mapping[str, int]] = dict(followers)
        self._totals = {context: sum(following.values()) for context, following in followers.items()}
        self.probability = lru_cache(1 << 18)(self._compute_probability)

    def _compute_probability(self, context: str, character: str) -> float:
        """Return the probability of a character after up to three others."""
        shorter = self.probability(context[1:], character) if context else UNSEEN
        following = self.followers.get(context)
        if following is None:
            return shorter
        discounted = max(following.get(character, 0) - DISCOUNT, 0.0) + DISCOUNT * len(following) * shorter
        return discounted / self._totals[context]

    def text_probability(self, text: str, before: str) -> float:
        """Return the probability of `text` after `before`."""
        probability = 1.0
        for character in text:
            probability *= self.probability(before, character)
            before = (before + character)[1 - ORDER :]
        return probability

    def cost(self, text: str, before: str) -> float:
        """Return the negative logarithm of the probability of `text` after `before`, also where that is next to 0."""
        total = 0.0
        for character in text:
            total -= log(self.probability(before, character))
            before = (before + character)[1 - ORDER :]
        return total


# Readings one slip of the keys apart: name the slip between two, or find all that are near.


SHORTEST = 3  # letters of a reading; in shorter ones a slip leaves too little to recognise


@lru_cache(1 << 16)
def name_slip(target: str, typed: str) -> str:
    """Name the one slip between two readings; nothing where it is not one.

    >>> name_slip("shao", "sao"), name_slip("liao", "lioa"), name_slip("qian", "qina"), name_slip("huan", "hu")
    ('accent', 'swapped', 'swapped', '')
    """
    longer, shorter = (target, typed) if len(target) > len(typed) else (typed, target)
    at = next((i for i, (a, b) in enumerate(zip(longer, shorter, strict=False)) if a != b), len(shorter))
    if len(longer) == len(shorter):
        if target == typed:
            return ""
        if target[at + 1 :] == typed[at + 1 :]:
            old, new = target[at], typed[at]
            return "accent" if {old, new} == {"l", "n"} else "beside" if new in NEIGHBOURS.get(old, "") else "other"
        crossed = target[at : at + 2] == typed[at : at + 2][::-1] and target[at + 2 :] == typed[at + 2 :]
        return "swapped" if crossed else ""
    if longer[at + 1 :] != shorter[at:]:
        return ""
    if longer[at - 1 : at + 1] in {"zh", "ch", "sh", "ng"}:
        return "accent"
    return "missed" if longer is target else "added"


class ReadingIndex:
    """Readings, found again from what one slip made of them.

    >>> ReadingIndex(["huabei", "jiebei"]).find_near("huaebi")
    [('huabei', 'swapped')]
    """

    def __init__(self, readings: Iterable[str]) -> None:
        self._known = frozenset(readings)
        self._without = defaultdict(list)
        for reading in sorted(self._known):
            for rest in _drop_one_letter(reading) if len(reading) >= SHORTEST else ():
                self._without[rest].append(reading)

    def find_near(self, typed: str) -> list[tuple[str, str]]:
        """Return the readings one slip away from the letters `typed`, and the slip."""
        if len(typed) < SHORTEST:
            return []
        readings = set(self._without.get(typed, ()))
        for rest in _drop_one_letter(typed):
            readings.update(self._without.get(rest, ()))
            if rest in self._known:
                readings.add(rest)
        return [(target, slip_name) for target in sorted(readings) if (slip_name := name_slip(target, typed))]


def _drop_one_letter(letters: str) -> set[str]:
    return {letters[:i] + letters[i + 1 :] for i in range(len(letters))}
