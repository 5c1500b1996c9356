"""Whether noise is noise: how many texts it changed, and whether its operator is for the writing of the texts.

>>> describe_mismatch(find_languages_of("zh_keyboard+filler_eos"), ["wird es morgen regnen"])
'made for Chinese, and 0 % of the letters of the texts are Chinese characters'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lapsus.perturbations.specs import OPERATORS, find_languages, list_operator_names

MIN_TEXTS = 10  # fewer texts than this may all stay unchanged by chance
MIN_SHARE = 0.5  # of letters in the writing that an operator is for
MAX_TEXTS = 500  # texts that are looked at
CHINESE = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
NAMES = {"zh": "Chinese", "en": "English", "pt": "Portuguese", "de": "German", "fr": "French", "es": "Spanish"}


def find_languages_of(spec: str) -> tuple[str, ...]:
    """Return the languages of the first operator of a noise spec that is for some; none of operators for any.

    >>> find_languages_of("typed=zh_keyboard:3@0.5")
    ('zh',)
    """
    for name in list_operator_names(spec):
        if name in OPERATORS and (languages := find_languages(OPERATORS[name])):
            return languages
    return ()


def describe_mismatch(languages: Sequence[str], texts: Iterable[str]) -> str | None:
    """Say that texts are in another writing than that of these languages; None where they are not.

    >>> describe_mismatch(("en",), ["花呗怎么提额"])
    'made for English, and 0 % of the letters of the texts are Latin letters'
    >>> describe_mismatch(("en",), ["will it rain", "wird es regnen"]), describe_mismatch((), ["花呗"])
    (None, None)
    """
    codes = {code.partition("-")[0] for code in languages}
    if not codes <= NAMES.keys() or not codes or ("zh" in codes and len(codes) > 1):
        return None
    letters = [letter for text in list(texts)[:MAX_TEXTS] for letter in text if letter.isalpha()]
    pattern, writing = (CHINESE, "Chinese characters") if "zh" in codes else (LATIN, "Latin letters")
    share = sum(pattern.match(letter) is not None for letter in letters) / max(1, len(letters))
    if not letters or share >= MIN_SHARE:
        return None
    names = " and ".join(NAMES[code] for code in sorted(codes))
    return f"made for {names}, and {share:.0%} of the letters of the texts are {writing}".replace("%", " %")


def check_effect(track: str, spec: str, changed: int, texts: Sequence[str]) -> list[str]:
    """Return what a user must know of noise on texts; raise where it changes none, and is for another language.

    >>> check_effect("keyboard", "en_keyboard", 0, ["花呗怎么提额"] * 20)
    Traceback (most recent call last):
    ValueError: the noise of keyboard changes none of the 20 texts: en_keyboard is made for English, and 0 % of the \
letters of the texts are Latin letters; take an operator for their language (lapsus list operators)
    """
    name = ", ".join(list_operator_names(spec))
    mismatch = describe_mismatch(find_languages_of(spec), texts)
    cure = "take an operator for their language (lapsus list operators)"
    reason = f"{name} is {mismatch}; {cure}" if mismatch else "take another operator, or more of it"
    if changed:
        return [f"warning: {track}: {reason}"] if mismatch else []
    message = f"the noise of {track} changes none of the {len(texts)} texts: {reason}"
    if mismatch and len(texts) >= MIN_TEXTS:
        raise ValueError(message)
    return [f"warning: {message}"]
