"""How many words two texts share: what is too near to a text is no paraphrase of it.

>>> OverlapFilter().accepts(jaccard("Ada won the cup.", "The cup went to Ada."))
True
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from lapsus.core.text import split_words

# How many words a paraphrase shares with its sentence, and which share is too much.
# P̂aRTE's section 3.1 leaves out paraphrases "that have high lexical overlap" by a threshold of 0.75 of Jaccard's index.
# Its appendix B says the opposite: it discards those "that had at most a 25 % lexical overlap". The default here is
# section 3.1, which also says why; `OverlapFilter(maximum=1, minimum=0.25)` is the appendix.


def split_tokens(text: str) -> frozenset[str]:
    """Return the words of a text (of Chinese, its characters), without marks and capitals.

    >>> sorted(split_tokens("Ada won; Ada's happy."))
    ['ada', 'happy', 's', 'won']
    """
    return frozenset(split_words(re.sub(r"[^\w\s]", " ", text.casefold())))


def jaccard(first: str, second: str) -> Fraction:
    """Return the share of the words of two texts that both have; 1 where neither has a word.

    A fraction, since the thresholds are exact: three words of four are not over 0.75.

    >>> jaccard("Ada won the cup.", "The cup went to Ada.")
    Fraction(1, 2)
    """
    first_tokens, second_tokens = split_tokens(first), split_tokens(second)
    return (
        Fraction(len(first_tokens & second_tokens), len(first_tokens | second_tokens))
        if first_tokens | second_tokens
        else Fraction(1)
    )


@dataclass(frozen=True, slots=True)
class OverlapFilter:
    """Keeps what overlaps by more than `minimum` and by no more than `maximum`."""

    maximum: float = 0.75
    minimum: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.minimum < self.maximum <= 1:
            raise ValueError(
                f"no overlap is over {self.minimum} and at most {self.maximum}; give 0 <= least < most <= 1"
            )

    def accepts(self, share: Fraction) -> bool:
        """Return whether a share of words in common is within the bounds; sharing none is kept while `minimum` is 0."""
        return share <= Fraction(str(self.maximum)) and (not self.minimum or share > Fraction(str(self.minimum)))


def normalise(text: str) -> str:
    """Return a text without capitals, double spaces and its last mark: what is equal then is no other paraphrase."""
    return " ".join(text.casefold().split()).rstrip(" .!?")
