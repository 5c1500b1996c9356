"""How characters are spelt: their Pinyin, Zhuyin or Wubi, each written in letters that no text has.

A code is a run of letters from a private stretch of Unicode and an end mark, so that codes that follow each other are
read in one way only, and Latin letters of a text stay what they are.

>>> readable(spellings("pinyin", ["花", "华", "化"], index=False)["花"])
'hua1.'
>>> spelt = spellings("pinyin-toneless", ["花", "华"], index=True)
>>> readable(spelt["花"] + spelt["华"])
'hua/0.hua/1.'
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from lapsus.kernel.extras import needed

FIRST = 0xE000  # the stretch of 256 code points that codes are written in
END, ESCAPE = "\ue0ff", "\ue0fe"  # behind a code; before a spelt-out code point
INDEX = 0xE0B0  # the digits of an index, apart from those of tones
ZHUYIN = 0x3100  # Zhuyin's own letters begin here
RESERVED = [chr(point) for point in range(FIRST, FIRST + 256)]
HAN = ["〇", *map(chr, range(0x4E00, 0xA000))]


def spellings(code: str, order: Sequence[str] = (), *, index: bool) -> dict[str, str]:
    """Return the code of each character that has one.

    Args:
        code: A name of `CODES`.
        order: Characters, the most frequent first; they get the lower indexes among those of one code.
        index: Whether a number keeps apart the characters that are spelt alike.
    """
    if code not in CODES:
        raise ValueError(f"code is {code!r}; choose one of {', '.join(CODES)}")
    spelt = CODES[code]()
    ranked = [*(each for each in dict.fromkeys(order) if each in spelt), *(each for each in spelt if each not in order)]
    alike: Counter[str] = Counter()
    found = {}
    for character in ranked:
        letters = spelt[character]
        number = "".join(chr(INDEX + int(digit)) for digit in str(alike[letters])) if index else ""
        found[character] = f"{letters}{number}{END}"
        alike[letters] += 1
    escaped = {each: f"{ESCAPE}{_private(f'{ord(each) - FIRST:02x}')}{END}" for each in RESERVED}
    return found | escaped


def readable(text: str) -> str:
    """Return codes as people can read them: `.` ends a code, `/` stands before an index."""
    shown = []
    for place, each in enumerate(text):
        point = ord(each) - FIRST
        if each not in RESERVED:
            shown.append(each)
        elif each == END:
            shown.append(".")
        elif each == ESCAPE:
            shown.append("\\")
        elif INDEX <= ord(each) < INDEX + 10:
            first = not (place and INDEX <= ord(text[place - 1]) < INDEX + 10)
            shown.append(f"{'/' if first else ''}{ord(each) - INDEX}")
        else:
            shown.append(chr(point) if point < 0x80 else chr(ZHUYIN + point - 0x80))
    return "".join(shown)


def _private(letters: str) -> str:
    """Return Latin letters, digits and Zhuyin in the private stretch."""
    return "".join(
        chr(FIRST + ord(each)) if each.isascii() else chr(FIRST + 0x80 + ord(each) - ZHUYIN) for each in letters
    )


@cache
def _sounds() -> dict[str, str]:
    """Return the most common reading of each character, as Pinyin with a digit for its tone."""
    from pypinyin.contrib.tone_convert import to_tone3
    from pypinyin.pinyin_dict import pinyin_dict

    readings = {each: pinyin_dict[ord(each)].split(",")[0] for each in HAN if ord(each) in pinyin_dict}
    digits = {each: to_tone3(each, v_to_u=False, neutral_tone_with_five=True) for each in set(readings.values())}
    return {character: digits[reading] for character, reading in readings.items()}


def _pinyin() -> dict[str, str]:
    return {character: _private(sound) for character, sound in _sounds().items()}


def _toneless() -> dict[str, str]:
    return {character: _private(sound.rstrip("12345")) for character, sound in _sounds().items()}


def _zhuyin() -> dict[str, str]:
    from pypinyin import Style
    from pypinyin.contrib.tone_convert import tone3_to_tone
    from pypinyin.style import convert

    def letters(sound: str) -> str:
        plain = convert(tone3_to_tone(sound.replace("v", "ü")), Style.BOPOMOFO, strict=True)
        kept = "".join(each for each in plain if 0x3105 <= ord(each) <= 0x312F)
        return _private(f"{kept or sound.rstrip('12345')}{sound[-1]}")

    made = {sound: letters(sound) for sound in set(_sounds().values())}
    return {character: made[sound] for character, sound in _sounds().items()}


def _wubi() -> dict[str, str]:
    """Return the four keys or fewer of Wubi 86, of the package pywubi (MIT)."""
    wubi = needed("pywubi", "models", "the code wubi").wubi
    return {character: _private(keys[0]) for character in HAN if (keys := wubi(character)) and keys[0] != character}


CODES: dict[str, Callable[[], dict[str, str]]] = {
    "pinyin": _pinyin,
    "pinyin-toneless": _toneless,
    "zhuyin": _zhuyin,
    "wubi": _wubi,
    "characters": dict,
}


def characters_by_frequency(texts: Iterable[str]) -> list[str]:
    """Return the characters of texts, the most frequent first."""
    counts = Counter(character for text in texts for character in text)
    return sorted(counts, key=lambda character: (-counts[character], character))
