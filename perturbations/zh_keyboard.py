"""Type Chinese as people do: in chunks, through a Pinyin input method, in a hurry and without looking back.

>>> from lapsus.perturbations.core import apply, perturb
>>> text = "花呗怎么不能提额了"
>>> apply(text, perturb(ZhKeyboard.annotator(1), text, seed=1, key="row-7"))
'华北怎么不能提额了'
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any
from zlib import crc32

from lapsus.perturbations.core import Edit
from lapsus.perturbations.pinyin_engine import load_engine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ANNOTATORS = Path(__file__).with_suffix(".json")
LONGEST = 20_000  # characters: nobody types more at one sitting
PAGE = 9  # candidates that an input method shows at once
PRINT = re.compile("[。！”…]$|[、：；“”《》（）—]|\\d{2}")  # marks that questions to a service do without
RUNS = re.compile(r"[\u4e00-\u9fff]+|[A-Za-z]+|.", re.DOTALL)
KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
ACCENTS = (("zh", "z"), ("ch", "c"), ("sh", "s"), ("z", "zh"), ("c", "ch"), ("s", "sh"), ("n", "l"), ("l", "n"))
REPAID = re.compile("还(?=$|[^\u4e00-\u9fff]|[了完款钱清花借的吗呗一多上不])")  # 还 that is huan, not hai


@dataclass(frozen=True, slots=True)
class Typist:
    """The habits of one person at one input method; probabilities, unless said otherwise."""

    join: float  # of typing the next word together with this one
    split: float  # of typing a word in two pieces
    abbreviate: float  # of typing a chunk by initials, in whole or at its end
    initial: float  # of typing a single character by its first letter
    slip: float  # of a slip, per letter
    second: float  # of one more slip in the same chunk
    slip_initial: float  # how much a syllable's first letter is spared: a factor
    miss: float  # kinds of slips, by weight: a letter left out
    neighbour: float  # the key beside it
    double: float  # the key beside it as well
    swap: float  # two letters in the wrong order
    nasal: float  # n for ng and back
    accent: float  # z for zh, l for n and their like
    glance: float  # of picking the right word when it is not offered first
    glance_decay: float  # how much less with each further place: a power of the place
    compose: float  # of putting an unknown word together as it should be
    first: float  # of taking the first word for an unknown one; else it is put together piece by piece
    misclick: float  # of taking another word although the right one is first
    misclick_decay: float  # of going one place further
    drift: float  # of taking a candidate one place further, when the right one is not there
    odd: float  # of not minding a letter in what is offered
    start: float  # of a false start: a wrong first character, left there when the chunk is typed anew
    again: float  # of typing a whole chunk again after a wrong word
    raw: float  # of a wrong chunk's letters left standing
    omit: float  # of leaving out a short word
    omit_character: float  # of leaving out a character of a longer word
    reword: float  # of putting another word that begins or ends alike
    stray: float  # of a word too many, after any word
    stop: float  # of stopping before the end
    stop_earlier: float  # of stopping yet another character earlier
    close: float  # of leaving out the last mark
    fading: float  # of seeing a wrong chunk in time, at the beginning; it fades towards the end
    retype: float  # of typing a text again, faster, when nothing went wrong
    marks: tuple[float, float, float]  # of a mark left out, of another mark, of a blank left out
    quotes: tuple[float, float]  # of quotation marks swapped, left out
    digit: float  # of another digit
    ranking: float  # how far this input method's order is from the engine's: a standard deviation, in log places
    ime: int  # which input method: seeds its order


@dataclass(frozen=True, slots=True)
class ZhKeyboard:
    """A person retyping a text; `rate` scales what goes wrong, 1 being what was measured on people.

    Short questions and prose with its marks are typed with different habits.

    >>> ZhKeyboard.annotator(2).question.ime
    2
    """

    question: Typist
    prose: Typist
    rate: float = 1.0
    name: str = "zh_keyboard"
    version: str = "1"

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 10:
            raise ValueError(f"rate {self.rate!r} is not between 0 and 10; 1 is what people do")

    @classmethod
    def annotator(cls, number: int, rate: float = 1.0) -> ZhKeyboard:
        """Return one of three people whose habits were fitted to READIN's annotators."""
        annotators = load_annotators()
        if number not in annotators:
            raise LookupError(f"annotator {number!r} is unknown; choose from {sorted(annotators)}")
        return cls(**annotators[number], rate=rate)

    def edits(self, text: str, rng: Random) -> list[Edit]:
        """Return what typing `text` changes; a higher rate only adds."""
        typist = self.prose if is_prose(text) else self.question
        # Annotators share the stream of an example: without one of their own they would slip at the same places.
        rng = Random(int(rng.random() * 2**48) * 64 + typist.ime)
        found: list[Edit] = []
        left = self.rate
        while left > 0:
            once = _retyped(text[:LONGEST], typist, rng)
            kept = [edit for edit in once if rng.random() < left]
            found = kept if not found else _united(found, kept)
            left -= 1
        return found


def is_prose(text: str) -> bool:
    """Say whether a text is written prose: long, or with the marks of print.

    >>> is_prose("花呗怎么还款"), is_prose("人才哪里找？"), is_prose("乡村振兴，人才是关键。")
    (False, False, True)
    """
    return len(text) > 40 or PRINT.search(text) is not None


def load_annotators() -> dict[int, dict[str, Typist]]:
    """Return the fitted habits of each annotator, for questions and for prose."""
    return {
        number: {kind: Typist(**{k: tuple(v) if isinstance(v, list) else v for k, v in row.items()}) for kind, row in rows.items()}
        for number, rows in enumerate(_annotators(), 1)
    }


@cache
def _annotators() -> list[dict[str, dict[str, Any]]]:
    rows: list[dict[str, dict[str, Any]]] = json.loads(ANNOTATORS.read_text(encoding="utf-8"))
    return rows


def _retyped(text: str, typist: Typist, rng: Random) -> list[Edit]:
    """Return one go at `text`, or the second if the first was flawless and the typist is urged to be faster."""
    edits = _Sitting(text, typist, rng).edits()
    if not edits and rng.random() < typist.retype:
        edits = _Sitting(text, typist, rng).edits()
    return edits


def _united(first: list[Edit], second: list[Edit]) -> list[Edit]:
    """Add to `first` the edits of `second` that do not touch it."""
    found = list(first)
    for edit in second:
        if all(edit.end < other.start or edit.start > other.end for other in first):
            found.append(edit)
    return sorted(found)


class _Sitting:
    """One go at a text: what the typist has in mind, and what comes out."""

    def __init__(self, text: str, typist: Typist, rng: Random) -> None:
        self.text, self.typist, self.draw = text, typist, rng.random
        self.engine = load_engine()
        self.chosen: dict[str, str] = {}  # what was picked for a word is picked again
        self.quotes = self.draw()

    def edits(self) -> list[Edit]:
        """Type the whole text."""
        found: list[Edit] = []
        for start, meant, typed in self.pieces():
            if meant != typed:
                found.append(_trimmed(start, meant, typed))
        if len(self.text) > 2 and self.draw() < self.typist.stop:
            found = self.stopped(found)
        return found

    def stopped(self, found: list[Edit]) -> list[Edit]:
        """Leave out the end."""
        size = 1
        while size < len(self.text) // 2 and self.draw() < self.typist.stop_earlier:
            size += 1
        cut = len(self.text) - size
        kept = [edit for edit in found if edit.end <= cut]
        while kept and kept[-1].end == cut:
            cut = kept[-1].start + 0
            last = kept.pop()
            return [*kept, Edit(last.start, len(self.text), last.text)]
        return [*kept, Edit(cut, len(self.text), "")]

    def pieces(self) -> Iterator[tuple[int, str, str]]:
        """Yield (start, what was meant, what was typed), piece by piece."""
        last = ""
        for match in RUNS.finditer(self.text):
            run, start = match.group(), match.start()
            if not "\u4e00" <= run[0] <= "\u9fff":
                yield start, run, self.other(run, start)
                last = run[-1]
                continue
            for chunk, syllables in self.chunks(run, start):
                typed = self.chunk(chunk, syllables, last)
                if typed != chunk and self.draw() < self.typist.fading * (1 - start / len(self.text)):
                    typed = chunk
                yield start, chunk, typed
                start += len(chunk)
                last = chunk

    def chunks(self, run: str, start: int) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield what is typed at one go, with its syllables."""
        draw, typist = self.draw, self.typist
        held, sounds = "", ()
        words = self.engine.segment(run)
        place = start
        for word in words:
            text = word.text
            syllables = _sounds(text, word.reading, self.text, place)
            place += len(text)
            if held and len(held) + len(text) <= 5 and draw() < typist.join:
                held, sounds = held + text, sounds + syllables
                continue
            if held:
                yield held, sounds
            held, sounds = text, syllables
            if len(text) > 1 and draw() < typist.split:
                cut = 1 if len(text) < 4 else 2
                yield text[:cut], syllables[:cut]
                held, sounds = text[cut:], syllables[cut:]
        yield held, sounds

    def chunk(self, meant: str, syllables: tuple[str, ...], last: str) -> str:
        """Return what becomes of a chunk, and of the moment after it."""
        draw, typist = self.draw, self.typist
        chance = draw()
        size = len(meant)
        if chance < typist.omit:
            typed = "" if size == 1 else meant
        elif (chance := chance - typist.omit) < typist.omit_character:
            cut = int(draw() * size)
            typed = meant[:cut] + meant[cut + 1 :] if size > 1 else meant
        elif chance - typist.omit_character < typist.reword:
            typed = _drawn(_likenesses(meant) if size > 1 else _expected(last[-4:]), draw)[:size] or meant
        else:
            typed = self.keyed(meant, syllables)
            if draw() < typist.start and syllables[0]:
                typed = self.false_start(meant[0], syllables[0]) + typed
        if draw() < typist.stray:
            typed += _drawn(_expected(meant[-4:]), draw)
        return typed

    def keyed(self, meant: str, syllables: tuple[str, ...]) -> str:
        """Return what the keys and the candidate list make of a chunk."""
        draw, typist = self.draw, self.typist
        if "" in syllables:
            return meant
        keys = "".join(syllables)
        short = draw() < (typist.abbreviate if len(syllables) > 1 else typist.initial)
        if short:
            keys = self.shortened(syllables)
        slipped = False
        if draw() < 1 - (1 - typist.slip) ** len(keys):
            wrong = self.slipped(keys)
            while wrong and draw() < typist.second:
                wrong = self.slipped(wrong)
            slipped = wrong != keys
            keys = wrong
        if slipped:
            typed = keys if draw() < typist.raw else self.picked(meant, keys, careless=True)
        elif short:
            typed = self.picked(meant, keys, careless=False)
        elif meant in self.chosen:
            typed = self.chosen[meant]
        else:
            typed = self.chosen[meant] = self.picked(meant, keys, careless=False, syllables=syllables)
        if typed != meant and draw() < typist.again:
            typed += meant
        return typed

    def false_start(self, meant: str, syllable: str) -> str:
        """Return the wrong character that a chunk was begun with, if it is wrong."""
        keys = self.slipped(syllable) if self.draw() < 0.7 else syllable[0]
        typed = self.picked(meant, keys, careless=True)
        return "" if typed == meant else typed

    def shortened(self, syllables: Sequence[str]) -> str:
        """Return a chunk by initials: all of them, or of the last syllables alone."""
        full = 0 if self.draw() < 0.6 else int(self.draw() * len(syllables))
        double = self.draw() < 0.2
        rest = (s[:2] if double and s[1:2] == "h" else s[0] for s in syllables[full:])
        return "".join(syllables[:full]) + "".join(rest)

    def slipped(self, keys: str) -> str:
        """Return `keys` with one slip."""
        if not keys.isalpha():
            return keys
        draw, typist = self.draw, self.typist
        at = int(draw() * len(keys))
        if keys[at] not in "aeiouvng" and draw() < typist.slip_initial:
            at = int(draw() * len(keys))
        kind = bisect(_kinds(typist), draw())
        if kind == 0:
            return keys[:at] + keys[at + 1 :]
        if kind in (1, 2):
            beside = _BESIDE[keys[at]]
            key = beside[int(draw() * len(beside))]
            return keys[:at] + key + keys[at + 1 - (kind == 2) :]
        if kind == 3:
            at = min(at, len(keys) - 2) if len(keys) > 1 else 0
            return keys[:at] + keys[at : at + 2][::-1] + keys[at + 2 :]
        if kind == 4:
            for place in (m.start() for m in re.finditer("(?<=[aeiou])n", keys)):
                if keys[place + 1 : place + 2] == "g":
                    return keys[: place + 1] + keys[place + 2 :]
                return keys[: place + 1] + "g" + keys[place + 1 :]
        first = int(draw() * len(ACCENTS))
        for n in range(len(ACCENTS)):
            right, wrong = ACCENTS[(first + n) % len(ACCENTS)]
            if right in keys:
                return keys.replace(right, wrong, 1)
        return keys[:at] + keys[at + 1 :]

    def picked(self, meant: str, keys: str, *, careless: bool, syllables: tuple[str, ...] = ()) -> str:
        """Return the candidate that is taken."""
        draw, typist = self.draw, self.typist
        offers = _offers(keys, typist.ime, typist.ranking)
        if not offers:
            return meant
        if careless:
            return self.first(meant, offers)
        if meant in offers:
            place = offers.index(meant)
            if place == 0:
                if len(offers) == 1 or draw() >= typist.misclick:
                    return meant
                place = 1
                while place + 1 < len(offers) and draw() < typist.misclick_decay:
                    place += 1
                return offers[place]
            return meant if draw() < typist.glance * place**-typist.glance_decay else self.first(meant, offers)
        if draw() < typist.compose:
            return meant
        if len(meant) == 1 or not syllables or draw() < typist.first:
            return self.first(meant, offers)
        cut = next((n for n in range(len(meant) - 1, 1, -1) if meant[:n] in self.engine.by_text), 1)
        return self.picked(meant[:cut], "".join(syllables[:cut]), careless=False, syllables=syllables[:cut]) + self.picked(
            meant[cut:], "".join(syllables[cut:]), careless=False, syllables=syllables[cut:]
        )

    def first(self, meant: str, offers: Sequence[str]) -> str:
        """Return about the first of the candidates, where the right one is not seen."""
        place = 0
        while place + 1 < min(len(offers), PAGE) and self.draw() < self.typist.drift:
            place += 1
        typed = offers[place]
        return meant if min(typed) < "\u3000" and self.draw() >= self.typist.odd else typed

    def other(self, run: str, start: int) -> str:
        """Return what becomes of a mark, a digit, a blank or a Latin word."""
        draw, typist = self.draw, self.typist
        dropped, changed, blank = typist.marks
        if run.isalpha() and run.isascii():
            if draw() < 1 - (1 - typist.slip) ** len(run):
                at = int(draw() * len(run))
                key = _BESIDE[run[at].lower()][0]
                return run[:at] + (run[at + 1 :] if draw() < 0.6 else key + run[at + 1 :])
            return run
        if run.isspace():
            return "" if draw() < blank else run
        if run.isdecimal():
            chance = draw()
            if chance < typist.digit:
                return str(int(draw() * 10))
            return "" if chance < typist.digit + dropped else run
        if run in WIDE:
            return WIDE[run] if draw() < 0.85 else run
        if run in SWAPPED:
            swapped, left = typist.quotes
            return "" if self.quotes < left else SWAPPED[run] if self.quotes < left + swapped else run
        if start + 1 == len(self.text):
            if draw() < typist.close:
                return ""
        chance = draw()
        if chance < dropped:
            return ""
        if run in OTHER and chance < dropped + changed:
            return OTHER[run][int(draw() * len(OTHER[run]))]
        return run


WIDE = {",": "，", "(": "（", ")": "）", ":": "：", "?": "？", "!": "！", ";": "；"}
SWAPPED = {"“": "”", "”": "“", "‘": "“", "’": "”"}
OTHER = {"、": "，，，，。", "；": "，，：", "。": "，、", "，": "。、", "：": "；，", "·": "."}


def _sounds(text: str, reading: str, whole: str, place: int) -> tuple[str, ...]:
    """Return the syllables of a word as it is read here."""
    if text == "还" and REPAID.match(whole, place):
        return ("huan",)
    return tuple(reading.split(" ")) if reading else ("",) * len(text)


@lru_cache(1 << 16)
def _offers(keys: str, ime: int, ranking: float) -> tuple[str, ...]:
    """Return the candidates for `keys` in the order of one input method."""
    offers = load_engine().ranked(keys, "", 2 * PAGE)
    if not ranking or len(offers) < 2:
        return offers
    size = len(offers[0])
    whole = [text for text in offers if len(text) == size]
    order = {text: math.log(place + 1.5) + ranking * _leaning(text, ime) for place, text in enumerate(whole)}
    return tuple(sorted(whole, key=order.__getitem__)) + tuple(text for text in offers if len(text) != size)


def _leaning(text: str, ime: int) -> float:
    """Return a number that is fixed for a word and an input method, and normal over words."""
    return (sum(crc32(f"{ime}{text}".encode()).to_bytes(4, "big")) - 510) / 147.8


@lru_cache(1 << 14)
def _likenesses(word: str) -> tuple[Sequence[str], Sequence[float]]:
    """Return the words that begin or end as `word` does, with what they add up to."""
    if not 2 <= len(word) <= 4:
        return (), ()
    found = [w for w in _beginning(word[0], len(word)) if w.text != word]
    found += [w for w in _ending(word[-1], len(word)) if w.text != word]
    found = sorted(found, key=lambda w: w.cost)[:8]
    return [w.text for w in found], list(accumulate(math.exp(-w.cost / 2) for w in found))


@cache
def _index(last: bool) -> dict[tuple[str, int], list]:
    found: dict[tuple[str, int], list] = {}
    for word in load_engine().words:
        if 1 < len(word.text) <= 4:
            row = found.setdefault((word.text[-1 if last else 0], len(word.text)), [])
            if len(row) < 12:
                row.append(word)
    return found


def _beginning(character: str, size: int) -> list:
    return _index(last=False).get((character, size), [])


def _ending(character: str, size: int) -> list:
    return _index(last=True).get((character, size), [])


@lru_cache(1 << 14)
def _expected(last: str) -> tuple[Sequence[str], Sequence[float]]:
    """Return the short words that often follow the text `last`, with what they add up to."""
    engine = load_engine()
    row: dict[str, float] = {}
    for n in range(len(last)):
        row = engine.bigrams.row(last[n:])[0]
        if row:
            break
    likely = sorted((cost, text) for text, cost in row.items() if len(text) == 1 and text >= "\u4e00")[:40]
    if not likely:
        likely = [(0.0, text) for text in "的了是我不有"]
    return [text for _, text in likely], list(accumulate(math.exp(-cost) for cost, _ in likely))


def _drawn(options: tuple[Sequence[str], Sequence[float]], draw) -> str:
    texts, sums = options
    return texts[min(bisect(sums, draw() * sums[-1]), len(texts) - 1)] if texts else ""


@lru_cache(64)
def _kinds(typist: Typist) -> Sequence[float]:
    """Return the shares of the kinds of slips, added up."""
    weights = (typist.miss, typist.neighbour, typist.double, typist.swap, typist.nasal, typist.accent)
    return [total / sum(weights) for total in accumulate(weights)]


def _trimmed(start: int, old: str, new: str) -> Edit:
    """Return the edit without what both sides begin and end with."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return Edit(start + head, start + len(old) - tail, new[head : len(new) - tail])


def _neighbours() -> dict[str, str]:
    beside = {}
    for r, row in enumerate(KEYBOARD):
        for i, key in enumerate(row):
            around = [row[j] for j in (i - 1, i + 1) if 0 <= j < len(row)]
            if r > 0:
                around += [KEYBOARD[r - 1][j] for j in (i, i + 1) if j < len(KEYBOARD[r - 1])]
            if r < 2:
                around += [KEYBOARD[r + 1][j] for j in (i - 1, i) if 0 <= j < len(KEYBOARD[r + 1])]
            beside[key] = "".join(around)
    return beside


_BESIDE = _neighbours()
