"""How many words a paraphrase shares with its sentence, and which share is too much.

P̂aRTE's section 3.1 leaves out paraphrases "that have high lexical overlap" by a threshold of 0.75 of Jaccard's index.
Its appendix B says the opposite: it discards those "that had at most a 25 % lexical overlap". The default here is
section 3.1, which also says why; `Overlap(most=1, least=0.25)` is the appendix.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from lapsus.kernel.words import words


def tokens(text: str) -> frozenset[str]:
    """Return the words of a text (of Chinese, its characters), without marks and capitals.

    >>> sorted(tokens("Ada won; Ada's happy."))
    ['ada', 'happy', 's', 'won']
    """
    return frozenset(words(re.sub(r"[^\w\s]", " ", text.casefold())))


def jaccard(first: str, second: str) -> Fraction:
    """Return the share of the words of two texts that both have; 1 where neither has a word.

    A fraction, since the thresholds are exact: three words of four are not over 0.75.

    >>> jaccard("Ada won the cup.", "The cup went to Ada.")
    Fraction(1, 2)
    """
    one, other = tokens(first), tokens(second)
    return Fraction(len(one & other), len(one | other)) if one | other else Fraction(1)


@dataclass(frozen=True, slots=True)
class Overlap:
    """Keeps what overlaps by more than `least` and by no more than `most`."""

    most: float = 0.75
    least: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.least < self.most <= 1:
            raise ValueError(f"no overlap is over {self.least} and at most {self.most}; give 0 <= least < most <= 1")

    def keeps(self, share: Fraction) -> bool:
        """Return whether a share of words in common is within the bounds; sharing none is kept while `least` is 0."""
        return share <= Fraction(str(self.most)) and (not self.least or share > Fraction(str(self.least)))
