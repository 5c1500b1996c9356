"""How likely each character is after the three before it, learned from texts: Kneser and Ney's interpolation."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import lru_cache
from math import log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

EDGE = "\n"  # before and after each text
ORDER = 4
DISCOUNT = 0.75
UNSEEN = 1e-4  # probability of a character that was never seen, in any context


class Characters:
    """The probability of characters in texts like those given.

    >>> model = Characters(["怎么还款", "怎么还钱", "怎么关闭"])
    >>> model.probability("么", "还") > model.probability("么", "钱")
    True
    """

    def __init__(self, texts: Iterable[str]) -> None:
        grams: Counter[str] = Counter()
        for text in texts:
            edged = f"{EDGE}{text}{EDGE}"
            grams.update(edged[max(0, i + 1 - ORDER) : i + 1] for i in range(1, len(edged)))
        after: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for size in range(ORDER, 0, -1):
            shorter = Counter({gram: count for gram, count in grams.items() if len(gram) < size})
            for gram, count in grams.items():
                if len(gram) == size:
                    after[gram[:-1]][gram[-1]] = count
                    if size > 1:
                        shorter[gram[1:]] += 1  # in how many contexts, not how often
            grams = shorter
        self.after: Mapping[str, Mapping[str, int]] = dict(after)
        self._totals = {context: sum(following.values()) for context, following in after.items()}
        self.probability = lru_cache(1 << 18)(self._probability)

    def _probability(self, context: str, character: str) -> float:
        """Return the probability of a character after up to three others."""
        shorter = self.probability(context[1:], character) if context else UNSEEN
        following = self.after.get(context)
        if following is None:
            return shorter
        seen = max(following.get(character, 0) - DISCOUNT, 0.0) + DISCOUNT * len(following) * shorter
        return seen / self._totals[context]

    def of(self, text: str, before: str) -> float:
        """Return the probability of `text` after `before`."""
        found = 1.0
        for character in text:
            found *= self.probability(before, character)
            before = (before + character)[1 - ORDER :]
        return found

    def cost(self, text: str, before: str) -> float:
        """Return the negative logarithm of the probability of `text` after `before`, also where that is next to 0."""
        found = 0.0
        for character in text:
            found -= log(self.probability(before, character))
            before = (before + character)[1 - ORDER :]
        return found
