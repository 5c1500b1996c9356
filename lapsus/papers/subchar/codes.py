"""How characters are spelt: their Pinyin, Zhuyin or Wubi, each written in letters that no text has.

A code is a run of letters from a private stretch of Unicode and an end mark, so that codes that follow each other are
read in one way only, and Latin letters of a text stay what they are.

>>> format_codes(make_spellings("pinyin", ["花", "华", "化"], index=False)["花"])
'hua1.'
>>> spelt = make_spellings("pinyin-toneless", ["花", "华"], index=True)
>>> format_codes(spelt["花"] + spelt["华"])
'hua/0.hua/1.'
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from lapsus.core.imports import import_optional

FIRST = 0xE000  # the stretch of 256 code points that codes are written in
END, ESCAPE = "\ue0ff", "\ue0fe"  # behind a code; before a spelt-out code point
INDEX = 0xE0B0  # the digits of an index, apart from those of tones
ZHUYIN = 0x3100  # Zhuyin's own letters begin here
RESERVED = [chr(point) for point in range(FIRST, FIRST + 256)]
HAN = ["〇", *map(chr, range(0x4E00, 0xA000))]


def make_spellings(code: str, order: Sequence[str] = (), *, index: bool) -> dict[str, str]:
    """Return the code of each character that has one.

    Args:
        code: A name of `CODES`.
        order: Characters, the most frequent first; they get the lower indexes among those of one code.
        index: Whether a number keeps apart the characters that are spelt alike.
    """
    if code not in CODES:
        raise ValueError(f"code is {code!r}; choose one of {', '.join(CODES)}")
    letters_by_character = CODES[code]()
    ranked = [
        *(each for each in dict.fromkeys(order) if each in letters_by_character),
        *(each for each in letters_by_character if each not in order),
    ]
    code_counts: Counter[str] = Counter()
    codes = {}
    for character in ranked:
        letters = letters_by_character[character]
        number = "".join(chr(INDEX + int(digit)) for digit in str(code_counts[letters])) if index else ""
        codes[character] = f"{letters}{number}{END}"
        code_counts[letters] += 1
    escaped = {each: f"{ESCAPE}{_to_private_use(f'{ord(each) - FIRST:02x}')}{END}" for each in RESERVED}
    return codes | escaped


def format_codes(text: str) -> str:
    """Return codes as people can read them: `.` ends a code, `/` stands before an index."""
    parts = []
    for index, character in enumerate(text):
        point = ord(character) - FIRST
        if character not in RESERVED:
            parts.append(character)
        elif character == END:
            parts.append(".")
        elif character == ESCAPE:
            parts.append("\\")
        elif INDEX <= ord(character) < INDEX + 10:
            first = not (index and INDEX <= ord(text[index - 1]) < INDEX + 10)
            parts.append(f"{'/' if first else ''}{ord(character) - INDEX}")
        else:
            parts.append(chr(point) if point < 0x80 else chr(ZHUYIN + point - 0x80))
    return "".join(parts)


def _to_private_use(letters: str) -> str:
    """Return Latin letters, digits and Zhuyin in the private stretch."""
    return "".join(
        chr(FIRST + ord(each)) if each.isascii() else chr(FIRST + 0x80 + ord(each) - ZHUYIN) for each in letters
    )


@cache
def _load_readings() -> dict[str, str]:
    """Return the most common reading of each character, as Pinyin with a digit for its tone."""
    from pypinyin.contrib.tone_convert import to_tone3
    from pypinyin.pinyin_dict import pinyin_dict

    readings = {each: pinyin_dict[ord(each)].split(",")[0] for each in HAN if ord(each) in pinyin_dict}
    digits = {each: to_tone3(each, v_to_u=False, neutral_tone_with_five=True) for each in set(readings.values())}
    return {character: digits[reading] for character, reading in readings.items()}


def _spell_pinyin() -> dict[str, str]:
    return {character: _to_private_use(sound) for character, sound in _load_readings().items()}


def _spell_toneless() -> dict[str, str]:
    return {character: _to_private_use(sound.rstrip("12345")) for character, sound in _load_readings().items()}


def _spell_zhuyin() -> dict[str, str]:
    from pypinyin import Style
    from pypinyin.contrib.tone_convert import tone3_to_tone
    from pypinyin.style import convert

    def spell(sound: str) -> str:
        plain = convert(tone3_to_tone(sound.replace("v", "ü")), Style.BOPOMOFO, strict=True)
        zhuyin = "".join(each for each in plain if 0x3105 <= ord(each) <= 0x312F)
        return _to_private_use(f"{zhuyin or sound.rstrip('12345')}{sound[-1]}")

    zhuyin_by_sound = {sound: spell(sound) for sound in set(_load_readings().values())}
    return {character: zhuyin_by_sound[sound] for character, sound in _load_readings().items()}


def _spell_wubi() -> dict[str, str]:
    """Return the four keys or fewer of Wubi 86, of the package pywubi (MIT)."""
    wubi = import_optional("pywubi", "papers", "the code wubi").wubi
    return {
        character: _to_private_use(keys[0]) for character in HAN if (keys := wubi(character)) and keys[0] != character
    }


CODES: dict[str, Callable[[], dict[str, str]]] = {
    "pinyin": _spell_pinyin,
    "pinyin-toneless": _spell_toneless,
    "zhuyin": _spell_zhuyin,
    "wubi": _spell_wubi,
    "characters": dict,
}


def rank_characters(texts: Iterable[str]) -> list[str]:
    """Return the characters of texts, the most frequent first."""
    counts = Counter(character for text in texts for character in text)
    return sorted(counts, key=lambda character: (-counts[character], character))
