"""The words of an answer, as scorers compare them: no case, no marks, numbers as digits, one word per Chinese sign.

>>> split_answer("The Café cost €1,200.50, twelve in all."), split_answer("在2019年")
(['the', 'café', 'cost', '1200.50', '12', 'in', 'all'], ['在', '2019', '年'])
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

from lapsus.core.text import CHINESE

DIGITS = "zero one two three four five six seven eight nine ten eleven twelve"
SMALL_NUMBERS = {word: str(number) for number, word in enumerate(DIGITS.split())}
THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
TRAILING_ZEROS = re.compile(r"\.0+")


@cache
def _compile_word() -> re.Pattern[str]:
    """Return the pattern of a word: a number, a Chinese sign, or letters with the marks that belong to them."""
    marks = "".join(chr(code) for code in range(0x300, 0x1B00) if unicodedata.category(chr(code)).startswith("M"))
    return re.compile(rf"\d+(?:[.,]\d+)*|[{CHINESE}]|(?:(?![{CHINESE}])[^\W\d_])(?:(?![{CHINESE}])[^\W\d_]|[{marks}])*")


def split_answer(text: str) -> list[str]:
    """Return the words of an answer."""
    return [_normalise_word(word) for word in _compile_word().findall(unicodedata.normalize("NFKC", text).casefold())]


def _normalise_word(word: str) -> str:
    if not word[0].isdigit():
        return SMALL_NUMBERS.get(word, word)
    number = word.replace(",", "") if THOUSANDS.fullmatch(word) else word
    integer, _, decimals = number.rpartition(".")
    return integer if integer and TRAILING_ZEROS.fullmatch(f".{decimals}") and "." not in integer else number


def compute_f1(
    words: Sequence[str], other_words: Sequence[str], weigh: Callable[[str], float] = lambda _: 1.0
) -> float:
    """Return the F1 of the words that two answers share, each with its weight; 1 where both have none.

    >>> compute_f1(["in", "paris"], ["paris"])
    0.666...
    """
    if not words or not other_words:
        return float(not words and not other_words)
    shared = Counter(words) & Counter(other_words)
    total = sum(map(weigh, words)) + sum(map(weigh, other_words))
    return 2 * sum(weigh(word) * count for word, count in shared.items()) / total if total else 1.0
