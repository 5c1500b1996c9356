"""Which language texts are in, as far as a script and a list of English words tell.

>>> detect_language(["will it rain tomorrow", "play a song"])
Guess(language='en', reason='100 % of their words are English')
>>> detect_language(["花呗怎么提额"]).language, detect_language(["wird es morgen regnen"]).language
('zh', None)
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

MIN_SHARE = 0.65  # of short words that English knows: texts of 12 rows have .70 and more, other languages up to .56
MAX_WORD = 8  # letters of the longest listed word
MAX_TEXTS = 500  # texts that are looked at
WORDS = Path(__file__).parent / "en" / "data" / "words.txt"
WORD = re.compile(r"[^\W\d_]+")
SCRIPTS = {"CJK": "zh", "HIRAGANA": "ja", "KATAKANA": "ja", "HANGUL": "ko"}  # that are one language's


class Guess(NamedTuple):
    """A language by its code, or None where it is unknown, and the reason."""

    language: str | None
    reason: str


def detect_language(texts: Iterable[str]) -> Guess:
    """Return the language of texts; None where nothing here tells it."""
    sample = list(islice(texts, MAX_TEXTS))
    scripts = Counter(name_script(letter) for text in sample for letter in text if letter.isalpha())
    if not scripts:
        return Guess(None, "they have no letters")
    script, number = scripts.most_common(1)[0]
    if script in {"HIRAGANA", "KATAKANA"} or scripts["HIRAGANA"] * 10 > scripts.total():
        return Guess("ja", "they are written in kana")
    if number * 2 < scripts.total():
        return Guess(None, "no script has half of their letters")
    share = f"{number / scripts.total():.0%}".replace("%", " %")
    if script != "LATIN":
        name = "Chinese" if script == "CJK" else script.capitalize()
        return Guess(SCRIPTS.get(script), f"{share} of their letters are {name}")
    known = _share_english(sample)
    percent = f"{known:.0%} of their words are English".replace("%", " %")
    return Guess("en" if known >= MIN_SHARE else None, percent)


def name_script(letter: str) -> str:
    """Return the first word of the letter's Unicode name, which is its script.

    >>> name_script("é"), name_script("я"), name_script("花")
    ('LATIN', 'CYRILLIC', 'CJK')
    """
    return unicodedata.name(letter, "UNKNOWN").partition(" ")[0]


def _share_english(texts: Iterable[str]) -> float:
    """Return the share of words of two to eight letters that English knows; 0 where there are none."""
    words = [word for text in texts for word in WORD.findall(text.casefold()) if 1 < len(word) <= MAX_WORD]
    return sum(word in _load_words() for word in words) / max(1, len(words))


@cache
def _load_words() -> frozenset[str]:
    return frozenset(WORDS.read_text(encoding="utf-8").split())
