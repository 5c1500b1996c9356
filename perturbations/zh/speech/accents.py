"""Accents: what it costs to hear one sound as another, and the words that then sound alike."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, lru_cache
from math import exp, log
from operator import itemgetter, ne
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, TypeAlias

from lapsus.perturbations.zh.engine.pinyin import Entry, Word, load_engine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Confusions: TypeAlias = "Mapping[str, Mapping[str, float]]"
Passes: TypeAlias = "tuple[tuple[str, str, float], ...]"

FITTED = Path(__file__).parents[1] / "data" / "zh_speech.json"
INITIALS = ("zh", "ch", "sh", *"bpmfdtnlgkhjqxrzcsyw")
BOTH_WRONG = 0.65  # initial and final go wrong together: what both cost, as a part of their sum
RIGHT = 0.7  # nats that a syllable is worth if it is heard as it was said
HEARD = (30, 14, 7, 4)  # syllables that each syllable of a word of one, two, three, more may be heard as
SAME_READING = 8  # words of one reading that are considered
ALIKE = 40


@cache
def fitted() -> Any:
    """Return what benchmarks/fit_speech.py has found."""
    return json.loads(FITTED.read_text(encoding="utf-8"))


@cache
def sound(syllable: str) -> tuple[str, str]:
    """Split a syllable into initial and final; ü is v.

    >>> sound("zhuang"), sound("xu"), sound("er")
    (('zh', 'uang'), ('x', 'v'), ('', 'er'))
    """
    initial = next((i for i in INITIALS if syllable.startswith(i)), "")
    final = syllable[len(initial) :]
    return initial, "v" + final[1:] if initial in {"j", "q", "x", "y"} and final.startswith("u") else final


@cache
def tone(character: str) -> str:
    """Return the tone of a character's most common reading, 1 to 5; 5 is none.

    >>> tone("花"), tone("吗"), tone("a")
    ('1', '5', '5')
    """
    from pypinyin.contrib.tone_convert import to_tone3
    from pypinyin.pinyin_dict import pinyin_dict

    reading = pinyin_dict.get(ord(character), "").split(",")[0]
    return to_tone3(reading, neutral_tone_with_five=True)[-1:] or "5"


def spoken(word: Word) -> str:
    """Return the reading of a word with its tones.

    >>> spoken(Word("蚂蚁", "ma yi", 0.0))
    'ma3 yi3'
    """
    return " ".join(map("".join, zip(word.reading.split(), map(tone, word.text), strict=False)))


@cache
def _syllables() -> Mapping[tuple[str, str], str]:
    return {sound(syllable): syllable for syllable in sorted(load_engine().syllables)}


class Hearing:
    """What a recogniser makes of a speaker: the cost, in nats, of hearing one sound for another."""

    def __init__(self, initials: Confusions, finals: Confusions, tones: float) -> None:
        self.initials, self.finals, self.tones = initials, finals, tones
        self.unclear = lru_cache(None)(self._unclear)
        self.heard = lru_cache(None)(self._heard)
        self.alike = lru_cache(1 << 15)(self._alike)

    def _unclear(self, reading: str) -> float:
        """Return the mean cost of the syllables of a reading being heard as they are."""
        sounds = [sound(syllable) for syllable in reading.split(" ")]
        costs = (self.initials.get(i, {}).get(i, 0.0) + self.finals.get(f, {}).get(f, 0.0) for i, f in sounds)
        return sum(costs) / len(sounds)

    def _heard(self, syllable: str) -> list[tuple[float, str]]:
        """Return the syllables that this one may be heard as, the likeliest first."""
        initial, final = sound(syllable)
        known = _syllables()
        heard = []
        for i, one in self.initials.get(initial, {initial: 0.0}).items():
            for f, other in self.finals.get(final, {final: 0.0}).items():
                if (i, f) in known:
                    cost = one + other - RIGHT * (i == initial and f == final)
                    heard.append((BOTH_WRONG * cost if i != initial and f != final else cost, known[i, f]))
        return sorted(heard)

    def _alike(self, reading: str) -> list[tuple[float, Word]]:
        """Return (cost, word) of the words that sound like `ma3 yi3`, the likeliest first."""
        said = reading.split(" ")
        width = HEARD[min(len(said), len(HEARD)) - 1]
        tones = [syllable[-1] for syllable in said]
        wrong: dict[str, float] = {}  # the cost of other tones
        found = []
        for cost, heard in _readings([self.heard(syllable[:-1])[:width] for syllable in said]):
            for new, entry in _toned(heard):
                if new not in wrong:
                    wrong[new] = self.tones * sum(map(ne, new, tones))
                total = cost + wrong[new]
                found.append((total + entry[2], total, entry))
        found.sort(key=itemgetter(0))
        return [(cost, Word._make(entry)) for _, cost, entry in found[:ALIKE]]


def _readings(choices: Sequence[Sequence[tuple[float, str]]]) -> Sequence[tuple[float, str]]:
    """Return the cost and the syllables of each combination of choices that is the reading of a word.

    A combination whose beginning no word has is left where it begins.
    """
    engine = load_engine()
    ways, gap = [(0.0, "")], ""
    for number, choice in enumerate(choices, 1):
        known = engine.openings if number < len(choices) else engine.read
        following = [(cost, gap + syllable) for cost, syllable in choice]
        ways = [
            (so_far + cost, longer)
            for so_far, before in ways
            for cost, syllable in following
            if (longer := before + syllable) in known
        ]
        gap = " "
    return ways


@lru_cache(1 << 15)
def _toned(reading: str) -> tuple[tuple[str, Entry], ...]:
    """Return the likeliest words of a reading, each after its tones."""
    return tuple([("".join(map(tone, entry[0])), entry) for entry in load_engine().read[reading][:SAME_READING]])


@dataclass(frozen=True, slots=True)
class Accent:
    """How a region speaks: how often one sound passes into another, and how unlike the standard its tones are.

    The sources, and what these figures can and cannot claim, are in docs/fidelity.md.
    """

    home: str
    initials: Passes
    finals: Passes
    tones: float


def _each(pairs: Iterable[tuple[str, str]], chance: float) -> Passes:
    return tuple((one, other, chance) for one, other in pairs)


FLAT = (("zh", "z"), ("ch", "c"), ("sh", "s"))
BACK = (("in", "ing"), ("en", "eng"), ("un", "ong"), ("vn", "iong"))
FRONT = (("ing", "in"), ("eng", "en"))
XIANG = (("h", "f"), ("n", "l"), ("l", "n"))
XIANG_FINALS = (*FRONT, ("ang", "an"), ("e", "uo"), ("v", "i"), ("u", "v"))
SOUTHWEST = (("n", "l"), ("l", "n"), ("f", "h"))
SOUTHWEST_FINALS = (*FRONT, ("uo", "o"), ("e", "o"), ("ve", "io"))
ACCENTS = (  # READIN, Table 8, in its order
    Accent("Harbin, 35", (("r", "y", 0.08), *_each(FLAT, 0.06)), (("ing", "in", 0.03), ("e", "o", 0.03)), 0.15),
    Accent("Loudi, 64", (*_each(FLAT, 0.5), *_each(XIANG, 0.35)), _each(XIANG_FINALS, 0.3), 0.6),
    Accent(
        "Hefei, 43",
        (*_each(FLAT, 0.2), ("n", "l", 0.25), ("l", "n", 0.15), ("r", "l", 0.05)),
        (*_each(FRONT, 0.3), ("ang", "an", 0.1), ("i", "ei", 0.05)),
        0.3,
    ),
    Accent("Zhangjiakou, 45", (*_each(FLAT, 0.12), ("s", "sh", 0.05)), (*_each(BACK, 0.25), ("uo", "e", 0.05)), 0.35),
    Accent(
        "Datong, 32",
        (*_each(FLAT, 0.08), ("z", "zh", 0.06), ("s", "sh", 0.05)),
        (*_each(BACK, 0.25), ("ie", "i", 0.06), ("uo", "u", 0.04)),
        0.4,
    ),
    Accent("Loudi, 43", (*_each(FLAT, 0.35), *_each(XIANG, 0.2)), _each(XIANG_FINALS, 0.18), 0.45),
    Accent("Changde, 57", (*_each(FLAT, 0.5), ("n", "l", 0.4), ("h", "f", 0.1)), _each(SOUTHWEST_FINALS, 0.25), 0.45),
    Accent("Shijiazhuang, 32", (("r", "y", 0.03), *_each(FLAT, 0.04)), (("ai", "ei", 0.03), ("en", "eng", 0.02)), 0.2),
    Accent("Guangyuan, 33", (*_each(FLAT, 0.3), *_each(SOUTHWEST, 0.2)), _each(SOUTHWEST_FINALS, 0.2), 0.35),
    Accent("Zigong, 36", (*_each(FLAT, 0.08), *_each(SOUTHWEST, 0.25)), _each(SOUTHWEST_FINALS, 0.2), 0.35),
)


def accented(confusions: Confusions, passes: Passes) -> Confusions:
    """Return confusions with those of an accent, in nats.

    >>> {other: round(exp(-cost), 2) for other, cost in accented({"n": {"n": 0.0}}, (("n", "l", 0.25),))["n"].items()}
    {'n': 0.75, 'l': 0.25}
    """
    chances = {one: {other: exp(-cost) for other, cost in others.items()} for one, others in confusions.items()}
    for one, other, chance in passes:
        row = chances.setdefault(one, {one: 1.0})
        for heard in row:
            row[heard] *= 1 - chance
        row[other] = row.get(other, 0.0) + chance
    return {one: {other: -log(chance) for other, chance in row.items()} for one, row in chances.items()}


@cache
def hearing(name: str) -> Hearing:
    """Return the hearing of a fitted annotator, or of a speaker from one of the regions of Table 8."""
    sounds = fitted()["sounds"]
    if name in sounds:
        return Hearing(**sounds[name])
    accent = next(accent for accent in ACCENTS if accent.home == name)
    anyone = sounds["anyone"]
    initials, finals = accented(anyone["initials"], accent.initials), accented(anyone["finals"], accent.finals)
    return Hearing(initials, finals, anyone["tones"] * (1 - accent.tones))


@cache
def burden(home: str) -> float:
    """Return how much less clear than the ten on average a speaker is, in nats per syllable."""

    def unclear(name: str) -> float:
        return mean(map(hearing(name).unclear, sorted(load_engine().syllables)))

    return unclear(home) - mean(unclear(accent.home) for accent in ACCENTS)
