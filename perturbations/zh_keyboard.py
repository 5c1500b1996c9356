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
from lapsus.perturbations.engines import load
from lapsus.perturbations.pinyin_engine import load_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lapsus.perturbations.pinyin_engine import Word

    Options = tuple[Sequence[str], Sequence[float]]
    Offers = tuple[tuple[str, float], ...]

ANNOTATORS = Path(__file__).with_suffix(".json")
EMBEDDED = "embedded"
MOST = 10  # times what people do
LONGEST = 20_000  # characters: nobody types more at one sitting
UNLIKELY = 0.1  # how often what does not fit its neighbours comes to mind, beside what does
PAGE = 9  # candidates that an input method shows at once
PRINT = re.compile("[。！”…]$|[、：；“”《》（）—]|\\d{2}")  # marks that questions to a service do without
RUNS = re.compile(r"[\u4e00-\u9fff]+|[A-Za-z]+|.", re.DOTALL)
KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
ACCENTS = (("zh", "z"), ("ch", "c"), ("sh", "s"), ("z", "zh"), ("c", "ch"), ("s", "sh"), ("n", "l"), ("l", "n"))
# 还 that is huan (repay), not hai (still): in questions to a bank mostly, elsewhere before what is repaid.
REPAID_ASKED = re.compile("还(?!不(?![了上起清])|[是有能可要没会在得需想让应都用怎显提很更])")
REPAID = re.compile("还[款钱清贷债]")
PARTICLES = "吗么嘛啊呢吧"
FILLERS = "的的的的的的的的的的是是有和我了了在吗啊呢呃还"
STRAY_ASKED, STRAY = "，，， ", "，，，，。“”、 "
SPREAD = 2.0
CONTEXT = 0.4  # how much the word before weighs in the order of candidates
ENDING = 0.15  # how often it is a word that ends alike, beside one that begins alike
COMMON = 11.5  # nats: it is the common words that come to mind in place of each other
IMES = 8  # input methods that the texts of one annotator are typed with


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
    glance_character: float  # of picking the right character likewise
    glance_decay: float  # how much less with each further place: a power of the place
    compose: float  # of putting an unknown word together as it should be
    first: float  # of taking the first word for an unknown one; else it is put together piece by piece
    misclick: float  # of taking a word that is as likely although the right one is first
    misclick_decay: float  # of going one place further
    drift: float  # of taking a candidate one place further, when the right one is not there
    odd: float  # of not minding a letter in what is offered
    start: float  # of a false start: a wrong first character, left there when the chunk is typed anew
    again: float  # of typing a whole chunk again after a wrong word
    raw: float  # of a wrong chunk's letters left standing
    omit: float  # of leaving out a short word
    omit_character: float  # of leaving out a character of a longer word
    reword: float  # of putting another word that begins or ends alike
    particle: float  # of another final particle: 么 for 吗
    stray: float  # of a character too many, after any chunk
    filler: float  # of that character being one that fits everywhere, such as 的
    stray_mark: float  # of a mark too many, after any chunk
    stop: float  # of stopping before the end
    stop_earlier: float  # of stopping yet another character earlier
    close: float  # of leaving out the last mark
    fading: float  # of seeing a wrong chunk in time, at the beginning; it fades towards the end
    retype: float  # of typing a text again, faster, when nothing went wrong
    marks: tuple[float, float, float]  # of a mark left out, of another mark, of a blank left out
    quotes: tuple[float, float]  # of quotation marks swapped, left out
    digit: float  # of another digit
    ranking: float  # how far a person's input method is from the engine: a standard deviation, of `SPREAD` nats


@dataclass(frozen=True, slots=True)
class ZhKeyboard:
    """A person retyping a text. Short questions and prose with its marks are typed with different habits.

    Args:
        who: Whose habits: 1 to 3, fitted to the three people who typed READIN.
        rate: How much goes wrong: 1 is what people do. A higher rate only adds edits.
        engine: Whose candidates: "embedded", or a real input method that is installed, such as "libpinyin".

    >>> ZhKeyboard.annotator(2).rate
    1.0
    """

    who: int = 1
    rate: float = 1.0
    engine: str = "embedded"
    name: str = "zh_keyboard"
    version: str = "1"

    def __post_init__(self) -> None:
        if self.who not in annotators():
            raise ValueError(f"who is {self.who!r}; choose one of {', '.join(map(str, annotators()))}")
        if not 0 <= self.rate <= MOST:
            raise ValueError(f"rate is {self.rate!r}; give a number from 0 to {MOST}, where 1 is what people do")
        if self.engine != EMBEDDED:
            load(self.engine)

    @classmethod
    def annotator(cls, number: int, *, rate: float = 1.0) -> ZhKeyboard:
        """Return one of the three people of the `-sim` tracks."""
        return cls(number, rate)

    def edits(self, text: str, rng: Random) -> list[Edit]:
        """Return what typing `text` changes."""
        typist = annotators()[self.who]["prose" if is_prose(text) else "question"]
        # All share the stream of an example: without one of their own they would slip at the same places.
        own = Random(int(rng.random() * 2**48) * 64 + self.who)
        found: list[Edit] = []
        for sitting in range(math.ceil(self.rate)):
            chances = [(edit, own.random()) for edit in retyped(text[:LONGEST], typist, own, self.engine, IMES * self.who)]
            kept = [edit for edit, chance in chances if chance < self.rate - sitting]
            found = _united(found, kept)
        return found

    def untouched(self, text: str) -> str:
        """Say what of `text` no typing can change, and why; nothing where all of it is typed.

        >>> ZhKeyboard().untouched("國際標準")
        'no reading among the simplified characters: 國 際 標 準'
        """
        reasons = []
        if len(text) > LONGEST:
            reasons.append(f"only the first {LONGEST} characters are typed")
        unread = dict.fromkeys(c for c in text[:LONGEST] if c.isalpha() and not c.isascii() and not _readable(c))
        if unread:
            reasons.append(f"no reading among the simplified characters: {' '.join(unread)}")
        return "; ".join(reasons)


def _readable(character: str) -> bool:
    return character in load_engine().by_text


def is_prose(text: str) -> bool:
    """Say whether a text is written prose: long, or with the marks of print.

    >>> is_prose("花呗怎么还款"), is_prose("人才哪里找？"), is_prose("乡村振兴，人才是关键。")
    (False, False, True)
    """
    return len(text) > 40 or PRINT.search(text) is not None


@cache
def annotators() -> Mapping[int, Mapping[str, Typist]]:
    """Return the fitted habits of each person, for questions and for prose."""
    rows = json.loads(ANNOTATORS.read_text(encoding="utf-8"))
    return {number: {kind: _typist(habits) for kind, habits in row.items()} for number, row in enumerate(rows, 1)}


def _typist(habits: Mapping[str, Any]) -> Typist:
    return Typist(**{name: tuple(value) if isinstance(value, list) else value for name, value in habits.items()})


def retyped(text: str, typist: Typist, rng: Random, engine: str = EMBEDDED, ime: int = 0) -> list[Edit]:
    """Return one go at `text`, or the second if the first was flawless and the typist is urged to be faster."""
    found = _Sitting(text, typist, rng, engine, ime).edits()
    if not found and rng.random() < typist.retype:
        found = _Sitting(text, typist, rng, engine, ime).edits()
    return found


def _united(first: list[Edit], second: list[Edit]) -> list[Edit]:
    """Add to `first` the edits of `second` that do not touch it."""
    if not first:
        return second
    added = [new for new in second if all(new.end < old.start or new.start > old.end for old in first)]
    return sorted(first + added)


class _Sitting:
    """One go at a text: what the typist has in mind, and what comes out."""

    def __init__(self, text: str, typist: Typist, rng: Random, engine: str, ime: int) -> None:
        self.text, self.typist, self.draw, self.candidates = text, typist, rng.random, engine
        self.ime = ime + int(self.draw() * IMES)
        self.repaid, self.stray = (REPAID, STRAY) if is_prose(text) else (REPAID_ASKED, STRAY_ASKED)
        self.last = ""
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
        kept = [edit for edit in found if edit.end < cut]
        if len(kept) < len(found) and found[len(kept)].start < cut:  # the cut goes through it: all that follows is gone
            cut = found[len(kept)].start
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
                end = start + len(chunk)
                typed = self.chunk(chunk, syllables, last, self.text[end : end + 2])
                if typed != chunk and self.draw() < self.typist.fading * (1 - start / len(self.text)):
                    typed = chunk
                yield start, chunk, typed
                start = end
                last = chunk

    def chunks(self, run: str, start: int) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield what is typed at one go, with its syllables."""
        draw, typist = self.draw, self.typist
        held, sounds = "", ()
        words = self.engine.segment(run)
        place = start
        for word in words:
            text = word.text
            syllables = self.sounds(text, word.reading, place)
            place += len(text)
            if held and len(held) + len(text) <= 5 and draw() < typist.join:
                held, sounds = held + text, sounds + syllables
                continue
            if held:
                yield held, sounds
            held, sounds = text, syllables
            if len(text) > 2 and draw() < typist.split:
                cut = 2
                yield text[:cut], syllables[:cut]
                held, sounds = text[cut:], syllables[cut:]
        yield held, sounds

    def sounds(self, text: str, reading: str, place: int) -> tuple[str, ...]:
        """Return the syllables of a word as it is read here."""
        if text == "还" and self.repaid.match(self.text, place):
            return ("huan",)
        return tuple(reading.split(" ")) if reading else ("",) * len(text)

    def chunk(self, meant: str, syllables: tuple[str, ...], last: str, following: str) -> str:
        """Return what becomes of a chunk, and of the moment after it."""
        draw, typist = self.draw, self.typist
        self.last = last
        chance = draw()
        size = len(meant)
        if chance < typist.omit:
            typed = "" if size == 1 and (_follows(last, following) or draw() < UNLIKELY) else meant
        elif (chance := chance - typist.omit) < typist.omit_character:
            cut = 0 if draw() < 0.35 else size - 1
            typed = meant[:cut] + meant[cut + 1 :] if size > 1 and _is_common(meant) else meant
        elif meant in PARTICLES and draw() < typist.particle:
            typed = PARTICLES[int(draw() ** 2 * len(PARTICLES))]
        elif chance - typist.omit_character < typist.reword:
            typed = _drawn(_expected(last[-4:], following), draw) if size == 1 else self.reworded(meant)
        else:
            typed = self.keyed(meant, syllables)
            if draw() < typist.start and syllables[0]:
                typed = self.false_start(meant[0], syllables[0]) + typed
        if draw() < typist.stray:
            known = draw() < typist.filler
            typed += FILLERS[int(draw() * len(FILLERS))] if known else _drawn(_expected(meant[-4:], following), draw)
        if draw() < typist.stray_mark:
            typed += self.stray[int(draw() * len(self.stray))]
        return typed

    def reworded(self, meant: str) -> str:
        """Return a chunk with another common word in place of its last, or its first."""
        for start, end in ((0, len(meant)), (len(meant) - 2, len(meant)), (0, 2)):
            if other := _drawn(_likenesses(meant[start:end]), self.draw):
                return meant[:start] + other + meant[end:]
        return meant

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
        alone = keys in self.engine.syllables  # only what is typed alone is ranked by what stands before it
        offers = _offers(keys, self.last[-4:] if alone else "", self.ime, typist.ranking, self.candidates)
        if not offers:
            return meant
        if careless:
            return self.first(meant, offers)
        place = next((n for n, (text, _) in enumerate(offers) if text == meant), -1)
        if place == 0:
            if len(offers) == 1 or draw() >= typist.misclick * math.exp(-(offers[1][1] - offers[0][1]) / 2):
                return meant
            place = 1
            while place + 1 < len(offers) and draw() < typist.misclick_decay:
                place += 1
            return offers[place][0]
        if place > 0:
            glance = typist.glance if len(meant) > 1 else typist.glance_character
            return meant if draw() < glance * place**-typist.glance_decay else self.first(meant, offers)
        if draw() < typist.compose:
            return meant
        if len(meant) == 1 or not syllables or draw() < typist.first:
            return self.first(meant, offers)
        cut = next((n for n in range(len(meant) - 1, 1, -1) if meant[:n] in self.engine.by_text), 1)
        return self.picked(meant[:cut], "".join(syllables[:cut]), careless=False, syllables=syllables[:cut]) + self.picked(
            meant[cut:], "".join(syllables[cut:]), careless=False, syllables=syllables[cut:]
        )

    def first(self, meant: str, offers: Offers) -> str:
        """Return about the first of the candidates, where the right one is not seen."""
        place = 0
        while place + 1 < min(len(offers), PAGE) and self.draw() < self.typist.drift:
            place += 1
        typed = offers[place][0]
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
            chance = draw()
            return "" if chance < blank else "，" if chance < 1.3 * blank else run
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
        share, others = OTHER.get(run, (0.0, ""))
        return others[int(draw() * len(others))] if chance - dropped < changed * share else run


WIDE = {",": "，", "(": "（", ")": "）", ":": "：", "?": "？", "!": "！", ";": "；"}
SWAPPED = {"“": "”", "”": "“", "‘": "“", "’": "”"}
OTHER = {  # how often another mark is typed, beside 、; and which
    "、": (1.0, "，，，，，，。"),
    "；": (1.0, "，，：，"),
    "。": (0.2, "，，、"),
    "，": (0.05, "。、"),
    "：": (0.2, "；，"),
    "·": (0.8, ".."),
}


@lru_cache(1 << 17)
def _offers(keys: str, before: str, ime: int, ranking: float, engine: str) -> Offers:
    """Return the candidates for `keys` after `before`, the embedded engine's in the order of one input method."""
    if engine != EMBEDDED:
        return tuple((text, float(n)) for n, text in enumerate(load(engine).candidates(keys, limit=2 * PAGE)))
    embedded = load_engine()
    known = embedded.by_text
    offers = []
    expected = dict(embedded.scored(keys, _context(before), 4 * PAGE)) if before else {}
    for text, cost in embedded.scored(keys, "", 3 * PAGE):
        if text in expected:
            here = expected[text]
            if len(text) == 1 and (longer := known.get(before[-1] + text)) and before[-1] in known:
                here = min(here, longer.cost - known[before[-1]].cost)
            cost += CONTEXT * (here - cost)
        offers.append((text, cost + SPREAD * ranking * _leaning(text, ime)))
    offers.sort(key=lambda offer: offer[1])
    return tuple(offers[: 2 * PAGE])


def _leaning(text: str, ime: int) -> float:
    """Return a number that is fixed for a word and an input method, and normal over words."""
    return (sum(crc32(f"{ime}{text}".encode()).to_bytes(4, "big")) - 510) / 147.8


def _is_common(word: str) -> bool:
    known = load_engine().by_text.get(word)
    return known is not None and known.cost <= COMMON


@lru_cache(1 << 14)
def _likenesses(word: str) -> Options:
    """Return the words that begin or end as `word` does, with what they add up to."""
    if not 2 <= len(word) <= 4 or not _is_common(word):
        return (), ()
    alike = [(w, 1.0) for w in _beginning(word[0], len(word))[:8]] + [(w, ENDING) for w in _ending(word[-1], len(word))[:8]]
    found = [(w.text, weight * math.exp(-0.8 * w.cost)) for w, weight in alike if w.text != word]
    return [text for text, _ in found], list(accumulate(weight for _, weight in found))


@cache
def _index(*, last: bool) -> dict[tuple[str, int], list[Word]]:
    found: dict[tuple[str, int], list[Word]] = {}
    for word in load_engine().words:
        if 1 < len(word.text) <= 4:
            row = found.setdefault((word.text[-1 if last else 0], len(word.text)), [])
            if len(row) < 12:
                row.append(word)
    return found


def _beginning(character: str, size: int) -> list[Word]:
    return _index(last=False).get((character, size), [])


def _ending(character: str, size: int) -> list[Word]:
    return _index(last=True).get((character, size), [])


@lru_cache(1 << 14)
def _context(last: str) -> str:
    """Return the last word of what stands there."""
    engine = load_engine()
    return next((last[n:] for n in range(max(0, len(last) - 4), len(last)) if last[n:] in engine.by_text), "")


@lru_cache(1 << 14)
def _follows(last: str, following: str) -> bool:
    """Say whether `following` is known to come after `last`."""
    row = load_engine().bigrams.row(_context(last))[0]
    return bool(following) and (following in row or following[0] in row)


@lru_cache(1 << 14)
def _expected(last: str, following: str) -> Options:
    """Return the characters that often come after `last`, above all those before `following`."""
    engine = load_engine()
    word = _context(last)
    weights = {text: math.exp(-cost) for text, cost in engine.bigrams.row(word)[0].items() if len(text) == 1}
    if word:
        known = engine.by_text[word].cost
        for longer in _beginning(word[-1], 2):
            weights[longer.text[1]] = weights.get(longer.text[1], 0.0) + math.exp(min(0.0, known - longer.cost))
    likely = sorted(((text, weight) for text, weight in weights.items() if text >= "\u4e00"), key=lambda w: -w[1])[:60]
    weighed = [(t, w if _follows(t, following) or t + following[:1] in engine.by_text else UNLIKELY * w) for t, w in likely]
    if not weighed:
        weighed = [(text, 1.0) for text in "的了是我不有"]
    return [text for text, _ in weighed], list(accumulate(weight for _, weight in weighed))


def _drawn(options: Options, draw: Callable[[], float]) -> str:
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

UNITS = (ZhKeyboard(),)
