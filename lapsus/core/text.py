"""Words and labels of texts in any language: Chinese is written without spaces, so each character counts as a word.

>>> split_words("花呗 Pay怎么还？"), split_words("don't stop")
(['花', '呗', 'Pay', '怎', '么', '还', '？'], ["don't", 'stop'])
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from lapsus.core.conversations import is_messages, list_user_texts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

CHINESE = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
MIN_LETTERS = 20  # mean letters of a gold answer from which it is a sentence, not a label; a Chinese letter counts two
ALONE = f"[{CHINESE}\u3040-\u30ff\u3000-\u303f\uff00-\uff20]"  # kana too, and full-width marks


@cache
def _compile_word_pattern() -> re.Pattern[str]:  # on first use: it takes long
    return re.compile(rf"{ALONE}|(?:(?!{ALONE})\S)+")


def split_words(text: str) -> list[str]:
    """Return the words between spaces; each character of Chinese and Japanese is a word of its own."""
    return _compile_word_pattern().findall(text)


def to_text(value: Any) -> str:
    """Return tokens joined by spaces, of messages what the user says in lines, other lists as JSON, the rest as str.

    >>> to_text(["slow", "down"]), to_text([{"role": "user", "content": "slow down"}]), to_text(7)
    ('slow down', 'slow down', '7')
    >>> to_text([{"name": "f"}])
    '[{"name": "f"}]'
    """
    if isinstance(value, str):
        return value
    if is_messages(value):
        return "\n".join(list_user_texts(value))
    if not isinstance(value, list):
        return str(value)
    return " ".join(value) if all(isinstance(each, str) for each in value) else json.dumps(value, ensure_ascii=False)


def to_label(value: Any) -> str:
    """Return a prediction or gold answer as text, the same for 1, 1.0 and "1".

    >>> to_label(1.0), to_label("1"), to_label({"b": 1, "a": [2]})
    ('1', '1', '{"a": [2], "b": 1}')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def is_upper(text: str) -> bool:
    """Return whether all letters of a text are capitals.

    >>> is_upper("CALL MOM!"), is_upper("I")
    (True, False)
    """
    letters = 0
    for character in text:
        if character.isalpha():
            if not character.isupper():
                return False
            letters += 1
    return letters > 1


def is_free_text(distinct_texts: Collection[str], n_rows: int) -> bool:
    """Return whether the gold answers of so many rows are sentences that differ from each other.

    >>> is_free_text(["The train is late.", "Nobody was in the old house."], 2)
    True
    >>> is_free_text(["entailment", "contradiction"], 2)
    False
    """
    if len(distinct_texts) * 2 < n_rows:
        return False
    letters = sum(len(text) + sum(map(_is_han, text)) for text in distinct_texts)
    n_spaced = sum(" " in text.strip() or any(map(_is_han, text)) for text in distinct_texts)
    return letters >= MIN_LETTERS * len(distinct_texts) and n_spaced * 2 > len(distinct_texts)


def _is_han(letter: str) -> bool:
    return "\u4e00" <= letter <= "\u9fff"


def is_mostly_chinese(texts: Iterable[str]) -> bool:
    """Return whether more than half of the letters of the texts are Chinese characters.

    >>> is_mostly_chinese(["范廷颂主教 Paul", "1963年"])
    True
    """
    letters = [letter for text in texts for letter in text if letter.isalpha()]
    return 2 * sum(map(_is_han, letters)) > len(letters)
