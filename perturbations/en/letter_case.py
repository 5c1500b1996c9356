"""Write a replacement in the case of the word it replaces."""

from __future__ import annotations

import re

from lapsus.core.edits import Edit
from lapsus.core.text import is_upper
from lapsus.perturbations.en.spoken import truecase


def match_case(old: str, word: str) -> str:
    """Write `word` in the case of `old`.

    >>> match_case("Watch", "which"), match_case("NASA", "nassau"), match_case("I", "eye")
    ('Which', 'NASSAU', 'Eye')
    """
    if old.isupper() and len(old) > 1:
        return word.upper()
    return word.capitalize() if old[:1].isupper() else word


def insert_before(text: str, start: int, words: str) -> tuple[Edit, ...]:
    """Insert `words` before the word at `start`; at the start of the text they take the capital over.

    A name keeps its own, and in a text of capitals they are written in capitals.

    >>> insert_before("Play jazz", 0, "so"), insert_before("Boston weather", 0, "so")[0].text
    ((Edit(start=0, end=0, text='So '), Edit(start=0, end=1, text='p')), 'So ')
    """
    if is_upper(text):
        return (Edit(start, start, f"{words.upper()} "),)
    if text[:start].strip() or not text[start : start + 1].isupper():
        return (Edit(start, start, f"{words} "),)
    insertion = Edit(start, start, f"{words[0].upper()}{words[1:]} ")
    word = re.split(r"['’\s.,!?;:]|n['’]t", text[start:], maxsplit=1)[0]
    keeps_capital = word == "I" or word[1:] != word[1:].lower() or truecase([word, "a"])[0][:1].isupper()
    return (insertion,) if keeps_capital else (insertion, Edit(start, start + 1, text[start].lower()))
