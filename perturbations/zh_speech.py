"""Dictate Chinese with an accent into a recogniser: modelled noise, not the output of one.

The recogniser knows frequent words well and guesses at the others: a stretch that it misses comes back as words that
sound like it, to an ear that this speaker misleads, or not at all. Numbers come back as digits, Latin words hardly
ever, and the punctuation is the recogniser's own. What the parameters are fitted on is told in docs/fidelity.md.

>>> from lapsus.perturbations.core import apply, perturb
>>> text = "傅昆宝家的厨房收拾得干干净净，桌上放着一盆南瓜头菜"
>>> apply(text, perturb(ZhSpeech.annotator(1), text, seed=1, key="row-7"))
'GOLDEN'
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate, product
from math import exp, log
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, TypeAlias
from zlib import crc32

from pypinyin.contrib.tone_convert import to_tone3
from pypinyin.pinyin_dict import pinyin_dict

from lapsus.perturbations.core import Edit
from lapsus.perturbations.pinyin_engine import Word, load_engine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from random import Random

Confusions: TypeAlias = "Mapping[str, Mapping[str, float]]"

FITTED = Path(__file__).with_suffix(".json")
LONGEST = 20_000  # characters: nobody dictates more in one breath
PARTS = re.compile(
    r"[\u4e00-\u9fff]+|[A-Za-z]+|\d+(?:时|点半)(?![间期代候光])|\d[\d,.]*\d|\d|[^\w]+|.", re.DOTALL
)
INITIALS = ("zh", "ch", "sh", *"bpmfdtnlgkhjqxrzcsyw")
ASKING = re.compile("吗|呢|什么|怎么|为何|多少|几|哪|谁|是不是|能不能|会不会|可不可以|有没有")
NUMBERED = re.compile("第[一二三四五六七八九]|[四五六七八九][个名条级]?")
DIGITS = str.maketrans("一二三四五六七八九", "123456789")
SINGLE = dict(zip("2345678", "两三四五六七八", strict=True))
BURDEN = 2.5  # how much more a speaker is missed, on the logit, for each nat less clear than the ten on average
TOGETHER = (0.65, 1.0, 1.0)
RIGHT = 0.7
MARKS = (  # what a run of marks becomes: upper limits of a draw; nothing above the last
    (frozenset("。！？!?"), ((0.92, "。"), (1.0, "，"))),
    (frozenset("；;"), ((0.05, "。"), (0.93, "，"))),
    (frozenset("、：:"), ((0.54, "，"),)),
    (frozenset("-—"), ((0.4, "，"),)),
    (frozenset(" "), ((0.5, "，"),)),
    (frozenset("（()）…"), ((0.25, "，"),)),
)
ENGLISH = ("so", "you", "see", "how", "now", "easy", "OK", "word", "interest", "Tom", "but", "yeah")  # heard in Chinese
SPELLED = {"bi": "b", "xi": "c", "di": "d", "yi": "e", "ai": "i", "an": "n", "ou": "o", "pi": "p", "ti": "t", "wei": "v"}


def _logit(number: int) -> float:
    """Spread 32 bits over the logit: a standard logistic variate, of standard deviation 1.8."""
    share = (number + 0.5) / 2**32
    return log(share / (1 - share))


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
def _syllables() -> Mapping[tuple[str, str], str]:
    return {sound(syllable): syllable for syllable in sorted(load_engine().syllables)}


@cache
def tone(character: str) -> str:
    """Return the tone of a character's most common reading, 1 to 5; 5 is none."""
    return to_tone3(pinyin_dict.get(ord(character), "").split(",")[0], neutral_tone_with_five=True)[-1:]


def spoken(word: Word) -> str:
    """Return the reading of a word with its tones, such as `ma3 yi3`."""
    if not word.reading:
        return ""
    return " ".join(f"{syllable}{tone(c) or 5}" for syllable, c in zip(word.reading.split(" "), word.text, strict=True))


class Hearing:
    """What a recogniser makes of a speaker's sounds: the cost, in nats, of hearing one for another."""

    def __init__(self, initials: Confusions, finals: Confusions, tones: float) -> None:
        self.initials, self.finals, self.tones = initials, finals, tones
        self.clarity = lru_cache(None)(self._clarity)
        self.heard = lru_cache(None)(self._heard)
        self.alike = lru_cache(1 << 15)(self._alike)

    def _clarity(self, reading: str) -> float:
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
                    same = (i == initial) + (f == final)  # sounds go wrong together
                    heard.append((TOGETHER[same] * (one + other) - RIGHT * (same == 2), known[i, f]))
        return sorted(heard)

    def _alike(self, reading: str) -> list[tuple[float, Word]]:
        """Return (cost, word) of the words that sound like `ma3 yi3`, the likeliest first."""
        spoken = reading.split(" ")
        width = (30, 14, 7, 4)[min(len(spoken), 4) - 1]
        by_reading = load_engine().by_reading
        found = []
        for heard in product(*(self.heard(syllable[:-1])[:width] for syllable in spoken)):
            words = by_reading.get(" ".join(syllable for _, syllable in heard))
            if words:
                cost = sum(cost for cost, _ in heard)
                for word in words[:8]:
                    off = sum(tone(new) != old[-1] for new, old in zip(word.text, spoken, strict=True))
                    found.append((cost + self.tones * off, word))
        return sorted(found, key=lambda pair: pair[0] + pair[1].cost)[:40]


@dataclass(frozen=True, slots=True)
class Speaker:
    """One person at the recogniser; probabilities, unless said otherwise."""

    sounds: str  # whose sounds: a fitted annotator, or a speaker of READIN's Table 8
    hazard: tuple[float, ...]  # of a word being missed: the weights of its `traits`, on the logit
    spread: tuple[float, ...]  # on the logit: how much texts differ for all, for this speaker; words in a text, for all
    lost: tuple[float, ...]  # of a missed word leaving nothing: of one character, of two, of more
    silent: float  # of a missed stretch leaving nothing
    swallowed: float  # of a syllable of a missed stretch being swallowed
    added: float  # of a sound too many, per missed stretch
    regrouped: tuple[float, ...]  # of a missed word, of a longer stretch, being heard as other words than it has
    omitted: float  # of a clause left out
    ended: float  # of stopping before the end
    temperature: float  # how freely the recogniser guesses
    language: float  # how much it listens to its language model
    breaks: tuple[float, ...]  # of a comma lost after a short clause, after a longer one
    pause: float  # of a comma too many, after any word
    halting: float  # of a comma before, or after, a missed stretch
    foreign: tuple[float, ...]  # of a Latin word announced as one, of one left out
    number: float  # of a number misheard


def traits(words: Sequence[Word], hearing: Hearing, first: bool) -> Iterator[tuple[float, ...]]:
    """Yield what the chance of each word of a stretch being missed depends on, beside the word before being missed.

    These are: one; its rarity in nats per character; its surprise after the word before, in nats; whether it has one
    character, and whether more than two; whether it is the first of the text; how unclear its sounds are, in nats.
    """
    cost = load_engine().bigrams.cost
    last = ""
    for number, word in enumerate(words):
        size = len(word.text)
        unclear = hearing.clarity(word.reading) if word.reading else 2.0
        rarity, surprise = min(word.cost, 20.0) / size, min(cost(last, word), 20.0)
        yield 1.0, rarity, surprise, float(size == 1), float(size > 2), float(first and number == 0), unclear
        last = word.text


@cache
def _fitted() -> Any:
    return json.loads(FITTED.read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Accent:
    """How a region speaks: how often one sound passes into another, and how unlike the standard its tones are.

    The sources, and what these figures can and cannot claim, are in docs/fidelity.md.
    """

    home: str
    initials: tuple[tuple[str, str, float], ...]
    finals: tuple[tuple[str, str, float], ...]
    tones: float


FLAT = ("zh", "z"), ("ch", "c"), ("sh", "s")
NASALS_BACK = ("in", "ing"), ("en", "eng"), ("un", "ong"), ("vn", "iong")
NASALS_FRONT = ("ing", "in"), ("eng", "en")


def _each(pairs: Iterable[tuple[str, str]], chance: float) -> tuple[tuple[str, str, float], ...]:
    return tuple((one, other, chance) for one, other in pairs)


XIANG = (("h", "f"), ("n", "l"), ("l", "n")), (*NASALS_FRONT, ("ang", "an"), ("e", "uo"), ("v", "i"), ("u", "v"))
SOUTHWEST = (("n", "l"), ("l", "n"), ("f", "h")), (*NASALS_FRONT, ("uo", "o"), ("e", "o"), ("ve", "io"))
ACCENTS = (  # READIN, Table 8, in its order
    Accent("Harbin, 35", (("r", "y", 0.08), *_each(FLAT, 0.06)), (("ing", "in", 0.03), ("e", "o", 0.03)), 0.15),
    Accent("Loudi, 64", (*_each(FLAT, 0.5), *_each(XIANG[0], 0.35)), _each(XIANG[1], 0.3), 0.6),
    Accent("Hefei, 43", (*_each(FLAT, 0.2), ("n", "l", 0.25), ("l", "n", 0.15), ("r", "l", 0.05)),
           (*_each(NASALS_FRONT, 0.3), ("ang", "an", 0.1), ("i", "ei", 0.05)), 0.3),
    Accent("Zhangjiakou, 45", (*_each(FLAT, 0.12), ("s", "sh", 0.05)), (*_each(NASALS_BACK, 0.25), ("uo", "e", 0.05)), 0.35),
    Accent("Datong, 32", (*_each(FLAT, 0.08), ("z", "zh", 0.06), ("s", "sh", 0.05)),
           (*_each(NASALS_BACK, 0.25), ("ie", "i", 0.06), ("uo", "u", 0.04)), 0.4),
    Accent("Loudi, 43", (*_each(FLAT, 0.35), *_each(XIANG[0], 0.2)), _each(XIANG[1], 0.18), 0.45),
    Accent("Changde, 57", (*_each(FLAT, 0.5), ("n", "l", 0.4), ("h", "f", 0.1)), _each(SOUTHWEST[1], 0.25), 0.45),
    Accent("Shijiazhuang, 32", (("r", "y", 0.03), *_each(FLAT, 0.04)), (("ai", "ei", 0.03), ("en", "eng", 0.02)), 0.2),
    Accent("Guangyuan, 33", (*_each(FLAT, 0.3), *_each(SOUTHWEST[0], 0.2)), _each(SOUTHWEST[1], 0.2), 0.35),
    Accent("Zigong, 36", (*_each(FLAT, 0.08), *_each(SOUTHWEST[0], 0.25)), _each(SOUTHWEST[1], 0.2), 0.35),
)  # fmt: skip


def _accented(confusions: Confusions, passes: Iterable[tuple[str, str, float]]) -> Confusions:
    """Return confusions to which those of an accent are added, in nats."""
    chances = {sound: {other: exp(-cost) for other, cost in others.items()} for sound, others in confusions.items()}
    for sound, other, chance in passes:
        row = chances.setdefault(sound, {sound: 1.0})
        for heard in row:
            row[heard] *= 1 - chance
        row[other] = row.get(other, 0.0) + chance
    return {sound: {other: -log(chance) for other, chance in row.items()} for sound, row in chances.items()}


@cache
def hearing(name: str) -> Hearing:
    """Return how a fitted annotator, or someone from one of Table 8's homes, is heard."""
    sounds = _fitted()["sounds"]
    if name in sounds:
        return Hearing(**sounds[name])
    accent = next(accent for accent in ACCENTS if accent.home == name)
    anyone = sounds["anyone"]
    initials, finals = (_accented(anyone[part], getattr(accent, part)) for part in ("initials", "finals"))
    return Hearing(initials, finals, anyone["tones"] * (1 - accent.tones))


class _Dictation:
    """One text on its way through the recogniser: the dice, and what has come out so far."""

    def __init__(self, speaker: Speaker, text: str, draw: Any) -> None:
        self.speaker, self.text, self.draw = speaker, text, draw
        self.hearing, self.engine = hearing(speaker.sounds), load_engine()
        self.edits: list[Edit] = []
        self.last = ""  # the word before
        self.missed: list[tuple[int, Word]] = []  # the words of the stretch being missed, and where they start
        self.astray = False  # whether the word before was missed
        self.clause = 0  # characters since the last mark

    def run(self) -> list[Edit]:
        """Go through the text from left to right."""
        speaker, text, draw = self.speaker, self.text, self.draw
        self.hash = crc32(text.encode("utf-8", "replace"))
        mood = speaker.spread[0] * _logit(self.hash) + speaker.spread[1] * _logit(int(draw() * 2**32))
        end = len(text) if draw() >= speaker.ended else int(len(text) * (0.15 + 0.8 * draw()))
        if (comma := text.find(",")) > 0 and not text[comma + 1 :][:1].isdigit():
            end = min(end, comma)  # READIN's speakers were shown a text only up to its first ASCII comma
        omitted = False
        for match in PARTS.finditer(text):
            part, start = match.group(), match.start()
            if start >= end:
                break
            if not part[0].isalnum():
                self.flush()
                if match.end() == len(text):
                    break
                self.mark(part, start)
                omitted = draw() < speaker.omitted
            elif omitted:
                self.replace(start, match.end(), "")
            elif "\u4e00" <= part[0] <= "\u9fff":
                self.chinese(part, start, mood)
            else:
                self.flush()
                self.foreign(part, start)
        else:
            start = len(text)
        self.flush()
        self.replace(start, len(text), self.close(start))
        return self.edits

    def replace(self, start: int, end: int, new: str) -> None:
        """Record an edit without what it leaves as it is."""
        while start < end and new and self.text[start] == new[0]:
            start, new = start + 1, new[1:]
        while start < end and new and self.text[end - 1] == new[-1]:
            end, new = end - 1, new[:-1]
        if start < end or new:
            self.edits.append(Edit(start, end, new))

    def chinese(self, part: str, start: int, mood: float) -> None:
        """Hear a stretch of Chinese, word by word."""
        *weights, again = self.speaker.hazard
        words = self.engine.segment(part)
        for word, trait in zip(words, traits(words, self.hearing, start == 0), strict=True):
            own = self.speaker.spread[2] * _logit(crc32(b"%d" % start, self.hash))
            logit = mood + own + sum(weight * value for weight, value in zip(weights, trait, strict=True))
            if self.draw() < 1 / (1 + exp(-logit - (again if self.astray else 0.0))):
                self.missed.append((start, word))
                self.astray = True
            else:
                self.flush(word)
                self.astray = False
                self.last = word.text
                if NUMBERED.fullmatch(word.text) and self.draw() < 0.35:
                    self.replace(start, start + len(word.text), word.text.translate(DIGITS))
                end = start + len(word.text)
                if self.draw() < self.speaker.pause and self.text[end : end + 1].isalnum():
                    self.replace(end, end, "，")
            start += len(word.text)
            self.clause += len(word.text)

    def flush(self, following: Word | None = None) -> None:
        """Write down the missed stretch as it was heard."""
        if not self.missed:
            return
        speaker, draw = self.speaker, self.draw
        start, end = self.missed[0][0], self.missed[-1][0] + len(self.missed[-1][1].text)
        kept = [word for _, word in self.missed if draw() >= speaker.lost[min(len(word.text), 3) - 1]]
        if draw() < speaker.silent:
            kept = []
        self.missed = []
        if draw() < speaker.regrouped[len(kept) > 1]:
            groups = self.regrouped([syllable for word in kept for syllable in spoken(word).split(" ")])
        else:
            groups = [(spoken(word), word.text) for word in kept]
        if draw() < speaker.added:
            groups.insert(int(draw() * (len(groups) + 1)), (("de5", "yi1", "shi4", "le5", "zai4", "you3")[int(draw() * 6)], ""))
        before, after = ("，" if draw() < speaker.halting else "" for _ in range(2))
        if start == 0 or not self.text[start - 1].isalnum() or (self.edits and self.edits[-1].end == start):
            before = ""
        if not following:
            after = ""
        new = before + "".join(
            self.guess(reading, text, following if n == len(groups) else None) for n, (reading, text) in enumerate(groups, 1)) + after
        self.replace(start, end, new)

    def regrouped(self, syllables: list[str]) -> list[tuple[str, str]]:
        """Cut syllables into words anew, swallowing some."""
        heard = [s for s in syllables if s and self.draw() >= self.speaker.swallowed] or syllables[:1]
        groups = []
        while heard:
            size = (2, 2, 2, 2, 2, 3, 1)[int(self.draw() * 7)]
            groups.append((" ".join(heard[:size]), ""))
            heard = heard[size:]
        return groups

    def guess(self, reading: str, text: str, following: Word | None) -> str:
        """Return a word that sounds like the reading and is not the text."""
        chance = self.draw()
        if chance < 0.004:
            return ENGLISH[int(self.draw() * len(ENGLISH))]
        if reading[:-1] in SPELLED and chance < 0.06:
            return SPELLED[reading[:-1]]
        found = [(cost, word) for cost, word in self.hearing.alike(reading) if word.text != text] if reading else []
        if not found:
            parts = reading.split(" ")
            return "".join(self.guess(part, "", None) for part in parts) if len(parts) > 1 else text
        cost, language, temperature = self.engine.bigrams.cost, self.speaker.language, self.speaker.temperature
        scores = [heard + language * cost(self.last, word) for heard, word in found]
        if following:
            scores = [score + language * (cost(word.text, following) - following.cost) for score, (_, word) in zip(scores, found)]
        least = min(scores)
        weights = list(accumulate(exp((least - score) / temperature) for score in scores))
        word = found[min(bisect(weights, self.draw() * weights[-1]), len(found) - 1)][1].text
        self.last = word
        return word

    def mark(self, part: str, start: int) -> None:
        """Put the recogniser's own mark, or none."""
        short = self.clause < 6
        self.clause, self.last = 0, ""
        chance = self.draw()
        kept = part[0] if part[0] in "%％℃°/~" else ""  # read aloud as a word
        for marks, choices in MARKS:
            if not marks.isdisjoint(part):
                break
        else:
            choices = ((0.03, "，"),)
        if "，" in part:
            choices = ((self.speaker.breaks[not short], ""), (1, "，"))
        new = next((mark for limit, mark in choices if chance < limit), "")
        self.replace(start, start + len(part), kept + new)

    def close(self, end: int) -> str:
        """Return the last mark: the recogniser always puts one."""
        asked = ASKING.search(self.text, max(end - 12, 0), end) and not self.text.endswith("。")
        return "？" if asked else "。"

    def foreign(self, part: str, start: int) -> None:
        """Hear a number, a Latin word, or something else."""
        self.clause += len(part)
        self.last = ""
        new = part
        if part[0].isdigit():
            new = self.number(part)
        elif part[0].isascii():
            announced, left_out = self.speaker.foreign
            chance = self.draw()
            new = "英文" if chance < announced else "" if chance < announced + left_out else part
            if new == part:
                new = ("应为", "应用", "因为", "应问", "一文")[int(self.draw() * 5)]
        self.replace(start, start + len(part), new)

    def number(self, part: str) -> str:
        """Write a number as recognisers do."""
        if self.draw() < self.speaker.number:
            place = int(self.draw() * len(part))
            return part[:place] + part[place + 1 :] if self.draw() < 0.4 else part[:place] + "4175"[int(self.draw() * 4)] + part[place + 1 :]
        if part.endswith("时") and self.draw() < 0.8:
            return f"{part[:-1]}:00"
        if part.endswith("点半") and self.draw() < 0.8:
            return f"{part[:-2]}:30"
        if part.isdigit() and len(part) > 3 + (part[0] in "12"):
            return f"{part[:-4]}万" if part.endswith("0000") else f"{int(part):,}"
        return SINGLE[part] if part in SINGLE and self.draw() < 0.2 else part


@cache
def _unclear(name: str) -> float:
    """Return how unclear a speaker is, over all syllables, in nats."""
    return mean(map(hearing(name).clarity, sorted(load_engine().syllables)))


@dataclass(frozen=True, slots=True)
class ZhSpeech:
    """A person dictating a text, and what a recogniser would have written down."""

    person: Speaker
    name: str = "zh_speech"
    version: str = "1"

    @classmethod
    def annotator(cls, number: int) -> ZhSpeech:
        """Return one of the three that were fitted on READIN's speech."""
        annotators = _fitted()["annotators"]
        return cls(_person(**annotators[_one_of(number, len(annotators))]))

    @classmethod
    def speaker(cls, number: int) -> ZhSpeech:
        """Return one of the ten speakers of READIN's Table 8, by their region's sounds."""
        home = ACCENTS[_one_of(number, len(ACCENTS))].home
        habits = _fitted()["anyone"]
        constant, *weights = habits["hazard"]
        heavier = BURDEN * (_unclear(home) - mean(map(_unclear, (accent.home for accent in ACCENTS))))
        return cls(_person(**habits | {"sounds": home, "hazard": [constant + heavier, *weights]}))

    def edits(self, text: str, rng: Random) -> tuple[Edit, ...]:
        """Propose what the recogniser makes of the text."""
        if not text or len(text) > LONGEST:
            return ()
        return tuple(_Dictation(self.person, text, rng.random).run())


def _one_of(number: int, count: int) -> int:
    if not 1 <= number <= count:
        raise LookupError(f"there is no number {number}: choose one from 1 to {count}")
    return number - 1


def _person(**habits: Any) -> Speaker:
    return Speaker(**{name: tuple(value) if isinstance(value, list) else value for name, value in habits.items()})


UNITS = tuple(ZhSpeech.annotator(number) for number in (1, 2, 3))
