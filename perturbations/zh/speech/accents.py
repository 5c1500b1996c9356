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

from lapsus.perturbations.zh.input_method.pinyin import Entry, Word, load_engine

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
def load_fitted() -> Any:
    """Return what tools/fit_speech.py has found."""
    return json.loads(FITTED.read_text(encoding="utf-8"))


@cache
def split_syllable(syllable: str) -> tuple[str, str]:
    """Split a syllable into initial and final; ü is v.

    >>> split_syllable("zhuang"), split_syllable("xu"), split_syllable("er")
    (('zh', 'uang'), ('x', 'v'), ('', 'er'))
    """
    initial = next((i for i in INITIALS if syllable.startswith(i)), "")
    final = syllable[len(initial) :]
    return initial, "v" + final[1:] if initial in {"j", "q", "x", "y"} and final.startswith("u") else final


@cache
def find_tone(character: str) -> str:
    """Return the tone of a character's most common reading, 1 to 5; 5 is none.

    >>> find_tone("花"), find_tone("吗"), find_tone("a")
    ('1', '5', '5')
    """
    from pypinyin.contrib.tone_convert import to_tone3
    from pypinyin.pinyin_dict import pinyin_dict

    reading = pinyin_dict.get(ord(character), "").split(",")[0]
    return to_tone3(reading, neutral_tone_with_five=True)[-1:] or "5"


def read_with_tones(word: Word) -> str:
    """Return the reading of a word with its tones.

    >>> read_with_tones(Word("蚂蚁", "ma yi", 0.0))
    'ma3 yi3'
    """
    return " ".join(map("".join, zip(word.reading.split(), map(find_tone, word.text), strict=False)))


@cache
def _index_syllables() -> Mapping[tuple[str, str], str]:
    return {split_syllable(syllable): syllable for syllable in sorted(load_engine().syllables)}


class Hearing:
    """What a recogniser makes of a speaker: the cost, in nats, of hearing one sound for another."""

    def __init__(self, initials: Confusions, finals: Confusions, tones: float) -> None:
        self.initials, self.finals, self.tones = initials, finals, tones
        self.measure_difficulty = lru_cache(None)(self._measure_difficulty)
        self.list_confusions = lru_cache(None)(self._list_confusions)
        self.find_near_homophones = lru_cache(1 << 15)(self._find_near_homophones)

    def _measure_difficulty(self, reading: str) -> float:
        """Return the mean cost of the syllables of a reading being heard as they are."""
        sounds = [split_syllable(syllable) for syllable in reading.split(" ")]
        costs = (self.initials.get(i, {}).get(i, 0.0) + self.finals.get(f, {}).get(f, 0.0) for i, f in sounds)
        return sum(costs) / len(sounds)

    def _list_confusions(self, syllable: str) -> list[tuple[float, str]]:
        """Return the syllables that this one may be heard as, the likeliest first."""
        initial, final = split_syllable(syllable)
        known = _index_syllables()
        syllables = []
        for i, initial_cost in self.initials.get(initial, {initial: 0.0}).items():
            for f, final_cost in self.finals.get(final, {final: 0.0}).items():
                if (i, f) in known:
                    cost = initial_cost + final_cost - RIGHT * (i == initial and f == final)
                    syllables.append((BOTH_WRONG * cost if i != initial and f != final else cost, known[i, f]))
        return sorted(syllables)

    def _find_near_homophones(self, reading: str) -> list[tuple[float, Word]]:
        """Return (cost, word) of the words that sound like `ma3 yi3`, the likeliest first."""
        syllables = reading.split(" ")
        width = HEARD[min(len(syllables), len(HEARD)) - 1]
        tones = [syllable[-1] for syllable in syllables]
        wrong: dict[str, float] = {}  # the cost of other tones
        candidates = []
        for cost, heard in _combine_readings([self.list_confusions(syllable[:-1])[:width] for syllable in syllables]):
            for new, entry in _list_words_by_tone(heard):
                if new not in wrong:
                    wrong[new] = self.tones * sum(map(ne, new, tones))
                total = cost + wrong[new]
                candidates.append((total + entry[2], total, entry))
        candidates.sort(key=itemgetter(0))
        return [(cost, Word._make(entry)) for _, cost, entry in candidates[:ALIKE]]


def _combine_readings(choices: Sequence[Sequence[tuple[float, str]]]) -> Sequence[tuple[float, str]]:
    """Return the cost and the syllables of each combination of choices that is the reading of a word.

    A combination whose beginning no word has is left where it begins.
    """
    engine = load_engine()
    combinations, gap = [(0.0, "")], ""
    for number, choice in enumerate(choices, 1):
        known = engine.openings if number < len(choices) else engine.entries_by_reading
        following = [(cost, gap + syllable) for cost, syllable in choice]
        combinations = [
            (so_far + cost, longer)
            for so_far, before in combinations
            for cost, syllable in following
            if (longer := before + syllable) in known
        ]
        gap = " "
    return combinations


@lru_cache(1 << 15)
def _list_words_by_tone(reading: str) -> tuple[tuple[str, Entry], ...]:
    """Return the likeliest words of a reading, each after its tones."""
    return tuple(
        [
            ("".join(map(find_tone, entry[0])), entry)
            for entry in load_engine().entries_by_reading[reading][:SAME_READING]
        ]
    )


@dataclass(frozen=True, slots=True)
class Accent:
    """How a region speaks: how often one sound passes into another, and how unlike the standard its tones are.

    The sources, and what these figures can and cannot claim, are in docs/fidelity.md.
    """

    home: str
    initials: Passes
    finals: Passes
    tones: float


def _same_chance(pairs: Iterable[tuple[str, str]], chance: float) -> Passes:
    return tuple((source, target, chance) for source, target in pairs)


FLAT = (("zh", "z"), ("ch", "c"), ("sh", "s"))
BACK = (("in", "ing"), ("en", "eng"), ("un", "ong"), ("vn", "iong"))
FRONT = (("ing", "in"), ("eng", "en"))
XIANG = (("h", "f"), ("n", "l"), ("l", "n"))
XIANG_FINALS = (*FRONT, ("ang", "an"), ("e", "uo"), ("v", "i"), ("u", "v"))
SOUTHWEST = (("n", "l"), ("l", "n"), ("f", "h"))
SOUTHWEST_FINALS = (*FRONT, ("uo", "o"), ("e", "o"), ("ve", "io"))
ACCENTS = (  # READIN, Table 8, in its order
    Accent("Harbin, 35", (("r", "y", 0.08), *_same_chance(FLAT, 0.06)), (("ing", "in", 0.03), ("e", "o", 0.03)), 0.15),
    Accent("Loudi, 64", (*_same_chance(FLAT, 0.5), *_same_chance(XIANG, 0.35)), _same_chance(XIANG_FINALS, 0.3), 0.6),
    Accent(
        "Hefei, 43",
        (*_same_chance(FLAT, 0.2), ("n", "l", 0.25), ("l", "n", 0.15), ("r", "l", 0.05)),
        (*_same_chance(FRONT, 0.3), ("ang", "an", 0.1), ("i", "ei", 0.05)),
        0.3,
    ),
    Accent(
        "Zhangjiakou, 45",
        (*_same_chance(FLAT, 0.12), ("s", "sh", 0.05)),
        (*_same_chance(BACK, 0.25), ("uo", "e", 0.05)),
        0.35,
    ),
    Accent(
        "Datong, 32",
        (*_same_chance(FLAT, 0.08), ("z", "zh", 0.06), ("s", "sh", 0.05)),
        (*_same_chance(BACK, 0.25), ("ie", "i", 0.06), ("uo", "u", 0.04)),
        0.4,
    ),
    Accent("Loudi, 43", (*_same_chance(FLAT, 0.35), *_same_chance(XIANG, 0.2)), _same_chance(XIANG_FINALS, 0.18), 0.45),
    Accent(
        "Changde, 57",
        (*_same_chance(FLAT, 0.5), ("n", "l", 0.4), ("h", "f", 0.1)),
        _same_chance(SOUTHWEST_FINALS, 0.25),
        0.45,
    ),
    Accent(
        "Shijiazhuang, 32",
        (("r", "y", 0.03), *_same_chance(FLAT, 0.04)),
        (("ai", "ei", 0.03), ("en", "eng", 0.02)),
        0.2,
    ),
    Accent(
        "Guangyuan, 33",
        (*_same_chance(FLAT, 0.3), *_same_chance(SOUTHWEST, 0.2)),
        _same_chance(SOUTHWEST_FINALS, 0.2),
        0.35,
    ),
    Accent(
        "Zigong, 36",
        (*_same_chance(FLAT, 0.08), *_same_chance(SOUTHWEST, 0.25)),
        _same_chance(SOUTHWEST_FINALS, 0.2),
        0.35,
    ),
)


def apply_accent(confusions: Confusions, passes: Passes) -> Confusions:
    """Return confusions with those of an accent, in nats.

    >>> confusions = apply_accent({"n": {"n": 0.0}}, (("n", "l", 0.25),))
    >>> {other: round(exp(-cost), 2) for other, cost in confusions["n"].items()}
    {'n': 0.75, 'l': 0.25}
    """
    chances = {source: {target: exp(-cost) for target, cost in costs.items()} for source, costs in confusions.items()}
    for source, target, chance in passes:
        row = chances.setdefault(source, {source: 1.0})
        for heard in row:
            row[heard] *= 1 - chance
        row[target] = row.get(target, 0.0) + chance
    return {source: {target: -log(chance) for target, chance in row.items()} for source, row in chances.items()}


@cache
def load_hearing(name: str) -> Hearing:
    """Return the hearing of a fitted annotator, or of a speaker from one of the regions of Table 8."""
    sounds = load_fitted()["sounds"]
    if name in sounds:
        return Hearing(**sounds[name])
    accent = next(accent for accent in ACCENTS if accent.home == name)
    anyone = sounds["anyone"]
    initials, finals = apply_accent(anyone["initials"], accent.initials), apply_accent(anyone["finals"], accent.finals)
    return Hearing(initials, finals, anyone["tones"] * (1 - accent.tones))


@cache
def speaker_difficulty(home: str) -> float:
    """Return how much less clear than the ten on average a speaker is, in nats per syllable."""

    def mean_difficulty(name: str) -> float:
        return mean(map(load_hearing(name).measure_difficulty, sorted(load_engine().syllables)))

    return mean_difficulty(home) - mean(mean_difficulty(accent.home) for accent in ACCENTS)
