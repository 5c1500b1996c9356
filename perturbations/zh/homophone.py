"""Replace characters by others of the same sound: READIN's automatic noise, and the copies of its ADA training.

People do not write like this, and `lapsus fidelity` shows it: it is here as the baseline.

>>> from lapsus.perturbations import apply, perturb
>>> text = "花呗怎么不能提额了"
>>> noisy = apply(text, perturb(ZhHomophone(rate=0.5), text, seed=1, key="row-7"))
>>> len(noisy) == len(text) and noisy != text
True
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.core.edits import Edit
from lapsus.perturbations.streams import (
    GOLDEN,
    HALF,
    CodePoints,
    Int64Array,
    UInt64Array,
    encode_texts,
    scramble,
    stream_start,
    stream_starts,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random


CHARSETS = {"gb2312": "the 6,763 simplified characters of GB 2312", "cjk": "every character that has a reading"}

LOW = np.uint64(2**32 - 1)  # one draw serves twice: its upper half hits, its lower half picks


class HomophoneTable(NamedTuple):
    """The characters of a set by sound; for each code point its sound and its place within that sound."""

    characters: CodePoints
    sound: NDArray[np.int32]  # by code point; 0 has no homophone
    place: NDArray[np.int32]  # by code point
    first: Int64Array  # by sound: where its characters begin
    n_others: UInt64Array  # by sound: how many characters it has beside the one replaced


def _is_in_charset(character: str, charset: str) -> bool:
    return charset == "cjk" or len(character.encode("gb2312", "ignore")) == 2


@cache
def group_by_sound(charset: str, same_tone: bool) -> HomophoneTable:
    """Group the characters of a set by their most common reading."""
    from pypinyin.contrib.tone_convert import to_normal
    from pypinyin.pinyin_dict import pinyin_dict

    groups: defaultdict[str, list[int]] = defaultdict(list)
    for code, readings in sorted(pinyin_dict.items()):
        if _is_in_charset(chr(code), charset):
            reading = readings.split(",")[0]
            groups[reading if same_tone else to_normal(reading)].append(code)
    homophones = [[], *(groups[reading] for reading in sorted(groups) if len(groups[reading]) > 1)]
    sound, place = np.zeros(0x110000, np.int32), np.zeros(0x110000, np.int32)
    for number, group in enumerate(homophones):
        sound[group], place[group] = number, range(len(group))
    sizes = np.array([len(group) for group in homophones])
    return HomophoneTable(
        np.array([code for group in homophones for code in group], np.uint32),
        sound,
        place,
        first=sizes.cumsum() - sizes,
        n_others=(sizes - 1).clip(0).astype(np.uint64),
    )


@dataclass(frozen=True, slots=True)
class ZhHomophone:
    """Replace each character with probability `rate` by one of the same syllable, all equally likely.

    Args:
        rate: Probability that a character is replaced, where it has a homophone. A higher rate only adds edits.
        same_tone: Whether the tone is kept too, as in the authors' own table.
        charset: What the replacements (and the replaced) come from: "gb2312" or "cjk".
    """

    rate: float = 0.15
    same_tone: bool = True
    charset: str = "gb2312"
    name: str = "zh_homophone"
    version: str = "1"

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 1:
            raise ValueError(f"rate is {self.rate}; give a probability from 0 to 1")
        if self.charset not in CHARSETS:
            raise ValueError(f"charset is {self.charset!r}; choose one of {', '.join(CHARSETS)}")

    def edits(self, text: str, rng: Random) -> tuple[Edit, ...]:
        """Replace characters of one text."""
        return self._make_edits([text], np.array([stream_start(rng)], np.uint64))[0]

    def edits_from_keys(self, texts: Sequence[str], seed: int, keys: Sequence[str]) -> list[tuple[Edit, ...]]:
        """Replace characters of each text, all draws made at once from the seed and the keys."""
        return self._make_edits(texts, stream_starts(f"{self.name}/{seed}", keys))

    def rewrite(self, texts: Sequence[str], *, seed: int = 0, keys: Sequence[str] | None = None) -> list[str]:
        """Return the noisy texts alone, without their edits: several times faster where no record is needed."""
        points, _, bounds, where, new = self._draw_replacements(
            texts, stream_starts(f"{self.name}/{seed}", texts if keys is None else keys)
        )
        noisy = points.copy()
        noisy[where] = new
        line = noisy.tobytes().decode("utf-32-le", "surrogatepass")
        return [line[start:end] for start, end in pairwise(bounds.tolist())]

    def _make_edits(self, texts: Sequence[str], begin: UInt64Array) -> list[tuple[Edit, ...]]:
        _, offsets, bounds, where, new = self._draw_replacements(texts, begin)
        new_text = new.tobytes().decode("utf-32-le")
        at = offsets[where]
        rows = zip(at.tolist(), (at + 1).tolist(), new_text, strict=True)
        edits: list[Edit] = list(map(tuple.__new__, repeat(Edit), rows))  # thrice as fast as Edit(...)
        return [tuple(edits[start:end]) for start, end in pairwise(np.searchsorted(where, bounds).tolist())]

    def _draw_replacements(
        self, texts: Sequence[str], begin: UInt64Array
    ) -> tuple[CodePoints, Int64Array, Int64Array, Int64Array, CodePoints]:
        """Return all code points, their offset in their text, the texts' bounds, what is hit, and by what."""
        points, bounds = encode_texts(texts)
        lengths = np.diff(bounds)
        offsets = np.arange(len(points)) - np.repeat(bounds[:-1], lengths)
        draws = scramble(np.repeat(begin, lengths) + (offsets.astype(np.uint64) + np.uint64(1)) * GOLDEN)
        table = group_by_sound(self.charset, self.same_tone)
        sound = table.sound[points]
        where = np.flatnonzero((draws >> HALF < np.uint64(self.rate * 2**32)) & (sound > 0))
        sound = sound[where]
        pick = ((draws[where] & LOW) * table.n_others[sound] >> HALF).astype(np.int64)
        pick += pick >= table.place[points[where]]  # skip the character itself
        return points, offsets, bounds, where, table.characters[table.first[sound] + pick]


UNITS = (ZhHomophone(),)
