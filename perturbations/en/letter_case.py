"""Write a replacement in the case of the word it replaces."""

from __future__ import annotations

import re

from lapsus.perturbations.core import Edit
from lapsus.perturbations.en.spoken import truecased


def like(old: str, word: str) -> str:
    """Write `word` in the case of `old`.

    >>> like("Watch", "which"), like("NASA", "nassau"), like("I", "eye")
    ('Which', 'NASSAU', 'Eye')
    """
    if old.isupper() and len(old) > 1:
        return word.upper()
    return word.capitalize() if old[:1].isupper() else word


def in_capitals(text: str) -> bool:
    """Tell whether all letters of a text are capitals.

    >>> in_capitals("CALL MOM!"), in_capitals("I")
    (True, False)
    """
    letters = 0
    for character in text:
        if character.isalpha():
            if not character.isupper():
                return False
            letters += 1
    return letters > 1


def put_before(text: str, start: int, words: str) -> tuple[Edit, ...]:
    """Put `words` before the word at `start`; where it begins the text, they take its capital over.

    A name keeps its own, and in a text of capitals they are written in capitals.

    >>> put_before("Play jazz", 0, "so"), put_before("Boston weather", 0, "so")[0].text
    ((Edit(start=0, end=0, text='So '), Edit(start=0, end=1, text='p')), 'So ')
    """
    if in_capitals(text):
        return (Edit(start, start, f"{words.upper()} "),)
    if text[:start].strip() or not text[start : start + 1].isupper():
        return (Edit(start, start, f"{words} "),)
    put = Edit(start, start, f"{words[0].upper()}{words[1:]} ")
    word = re.split(r"['’\s.,!?;:]|n['’]t", text[start:], maxsplit=1)[0]
    keeps = word == "I" or word[1:] != word[1:].lower() or truecased([word, "a"])[0][:1].isupper()
    return (put,) if keeps else (put, Edit(start, start + 1, text[start].lower()))
