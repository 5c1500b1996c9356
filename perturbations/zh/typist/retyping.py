"""Typing a Chinese text once, chunk by chunk, and the edits that come of it. It can be compiled (see setup.py)."""

from __future__ import annotations

import math
import re
from bisect import bisect
from functools import lru_cache
from typing import TYPE_CHECKING

from lapsus.perturbations.core import Edit, trimmed
from lapsus.perturbations.zh.engine.pinyin import load_engine
from lapsus.perturbations.zh.typist.candidates import EMBEDDED, PAGE, input_method
from lapsus.perturbations.zh.typist.confusable_words import (
    UNLIKELY,
    commonness,
    drawn,
    expected,
    follows,
    is_common,
    likenesses,
    slipping_in,
)
from lapsus.perturbations.zh.typist.habits import Typist
from lapsus.perturbations.zh.typist.keys import shortened, slipped
from lapsus.perturbations.zh.typist.learned_words import NOTHING, Memory, topic_of
from lapsus.perturbations.zh.typist.punctuation import Style, mixes_widths, retyped_mark
from lapsus.perturbations.zh.typist.sitting import PRIME, Sitting, draws, first_draw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

    from lapsus.perturbations.zh.typist.candidates import Offers
    from lapsus.perturbations.zh.typist.keys import Draw
    from lapsus.perturbations.zh.typist.learned_words import Topic

LONGEST = 20_000  # characters that are typed; the rest of a text stays as it is
LONGEST_CHUNK = 5  # characters
IMES = 4  # input methods that the texts of one annotator are typed with
PRINT = re.compile("[。！”…]$|[、：；“”《》（）—]|\\d{2}")  # marks of printed prose, which questions to a service lack
RUNS = re.compile(r"[\u4e00-\u9fff]+|[A-Za-z]+|.", re.DOTALL)
# 还 that is huan (repay), not hai (still): mostly so in questions to a bank, elsewhere before what is repaid.
REPAID_ASKED = re.compile("还(?!不(?![了上起清])|[是有能可要没会在得需想让应都用怎显提很更])")
REPAID = re.compile("还[款钱清贷债]")
MESS = 0.3  # share of wrong characters above which a text may be typed again
FREE = 0.3  # chance that a wrong word is one that fits the context, and not one that looks like the right one
DIGITS_TO_CHOOSE = tuple("123456789")
HALF, EVENLY = 0.5, 3**0.5  # of moods; half the width of an even spread with the standard deviation 1
CLOSE = 1.4  # nats between candidates that are easily taken for each other
PARTICLES = "吗么嘛啊呢吧"
STRAY_ASKED, STRAY = "， ", "，，。“““””  "


def is_prose(text: str) -> bool:
    """Say whether a text is written prose: long, or with the marks of print.

    >>> is_prose("花呗怎么还款"), is_prose("人才哪里找？"), is_prose("乡村振兴，人才是关键。")
    (False, False, True)
    """
    return len(text) > 40 or PRINT.search(text) is not None


@lru_cache(16)
def register(text: str, *, learned: bool = True) -> tuple[bool, Topic | None]:
    """Say whether a text is prose, and what a question is about, which is learned; asked several times in a row."""
    prose = is_prose(text)
    return prose, topic_of(text) if learned and not prose else None


def retyped(
    text: str,
    typist: Typist,
    rng: Random,
    engine: str = EMBEDDED,
    ime: int = 0,
    memory: Memory = NOTHING,
    sitting: Sitting | None = None,
) -> list[Edit]:
    """Return what typing `text` changes; without a sitting it is typed in one of its own.

    It is typed a second time, and that counts, with chance `retype` if nothing went wrong, `redo` if too much did.
    """
    sitting = sitting or Sitting(int(rng.random() * PRIME), int(rng.random() * PRIME))
    found = TypingRun(text, typist, rng, engine, ime, memory, sitting).edits()
    wrong = sum(max(edit.end - edit.start, len(edit.text)) for edit in found)
    if rng.random() < (typist.retype if not found else typist.redo if wrong > MESS * len(text) else 0.0):
        found = TypingRun(text, typist, rng, engine, ime, memory, sitting.later(1)).edits()
    return found


@lru_cache(16)
def mastery(memory: Memory, practice: float) -> Callable[[str], float]:
    """Return a function from a word to the chance that it comes out right although a slip was drawn."""

    @lru_cache(1 << 13)
    def of(word: str) -> float:
        return 1 - (1 - memory.sure.get(word, 0.0)) * (1 - practice * commonness(word))

    return of


def _first_wrong(words: tuple[str, ...], typed: str) -> str:
    """Return the first of the words that does not stand in what was typed for all of them."""
    for word in words:
        if not typed.startswith(word):
            return word
        typed = typed[len(word) :]
    return words[-1]


class TypingRun:
    """Types a text once: `edits()` are what comes out otherwise than it was meant."""

    def __init__(
        self, text: str, typist: Typist, rng: Random, engine: str, ime: int, memory: Memory, sitting: Sitting
    ) -> None:
        self.text, self.own, self.memory, self.words = text, rng.random, memory, sitting.words
        self.draw: Draw = self.own
        prose, self.topic = register(text, learned=memory is not NOTHING)
        block = draws(sitting.block, "")
        self.offers = input_method(ime + int(block() * IMES), typist.ranking, engine, memory, self.topic)
        self.last, self.end = "", 0  # the chunk before the current one, and where the current one ends
        self.eaten = -1  # where a digit stands that chose a candidate
        self.repaid, self.stray = REPAID_ASKED if self.topic else REPAID, STRAY if prose else STRAY_ASKED
        self.engine = load_engine()
        self.chosen: dict[str, str] = {}  # what was picked for a word is picked again
        self.style = Style(self.own(), mixes_widths(text), block() < typist.wide_digits)
        self.mastery = mastery(memory, typist.practice)
        self.typist = typist
        # Above 1 more goes wrong than on average, below 1 less.
        mood = 1 + typist.mood * (1 if first_draw(sitting.words, "") < HALF else -1)
        self.haste = mood * (1 + typist.care * EVENLY * (2 * block() - 1))

    def edits(self) -> list[Edit]:
        """Type the whole text."""
        found: list[Edit] = []
        for start, meant, typed in self.pieces():
            if meant != typed:
                found.append(trimmed(start, meant, typed))
        if 2 < len(self.text) < LONGEST and self.own() < self.typist.stop:
            found = self.stopped(found)
        return found

    def stopped(self, found: list[Edit]) -> list[Edit]:
        """Leave out the end."""
        size = 1
        while size < len(self.text) // 2 and self.own() < self.typist.stop_earlier:
            size += 1
        cut = len(self.text) - size
        kept = [edit for edit in found if edit.end < cut]
        if len(kept) < len(found) and found[len(kept)].start < cut:  # the cut goes through it: all that follows is gone
            cut = found[len(kept)].start
        return [*kept, Edit(cut, len(self.text), "")]

    def pieces(self) -> Iterator[tuple[int, str, str]]:
        """Yield (start, what was meant, what was typed), piece by piece."""
        last = ""
        fading = self.typist.fading / max(len(self.text), 1)
        for match in RUNS.finditer(self.text):
            run, start = match.group(), match.start()
            if not "\u4e00" <= run[0] <= "\u9fff":
                last_one = match.end() == len(self.text)
                eaten = self.eaten == start
                yield start, run, "" if eaten else retyped_mark(run, self.typist, self.own, self.style, last=last_one)
                last = run[-1]
                continue
            for words, syllables in self.chunks(run, start):
                chunk = "".join(words)
                end = start + len(chunk)
                self.last, self.end = last, end
                # A slip that is noticed in time is corrected, so what it would have typed is not worked out.
                if self.own() >= self.typist.fading - fading * start:
                    self.draw = self.draws_about(chunk)
                    yield start, chunk, self.minded(chunk, words, syllables)
                start = end
                last = chunk

    def draws_about(self, what: str) -> Draw:
        """Return where the draws for a word or a chunk come from: mostly it fares as elsewhere in the sitting."""
        return draws(self.words, what) if self.own() < self.typist.alike else self.own

    def once(self, what: str) -> float:
        """Return one draw about words, mostly the same as elsewhere in the sitting."""
        return first_draw(self.words, what) if self.own() < self.typist.alike else self.own()

    def minded(self, meant: str, words: tuple[str, ...], syllables: tuple[str, ...]) -> str:
        """Return what is typed for a chunk: with care what is wrong is mended, in haste what is right is at risk."""
        typed = self.chunk(meant, words, syllables)
        if typed == meant:
            return self.chunk(meant, words, syllables) if self.haste > 1 and self.draw() < self.haste - 1 else typed
        if self.haste < 1 and self.draw() >= self.haste:
            self.eaten = -1
            return meant
        return typed

    def chunks(self, run: str, start: int) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Yield the chunks, each typed without a pause: its words, and its syllables."""
        typist = self.typist
        held: tuple[str, ...] = ()
        sounds: tuple[str, ...] = ()
        size = 0
        for text in self.engine.split(run):
            repaid = text == "还" and self.repaid.match(self.text, start)
            syllables = ("huan",) if repaid else self.engine.syllables_of(text)
            start += len(text)
            if held and size + len(text) <= LONGEST_CHUNK and self.once(f"{held[-1]} {text}") < typist.join:
                held, sounds, size = (*held, text), sounds + syllables, size + len(text)
                continue
            if held:
                yield held, sounds
            held, sounds, size = (text,), syllables, len(text)
            if size > 2 and self.once(text) < typist.split * (1 - commonness(text)):
                cut = 2 if size > 3 or text[1:] not in self.engine.costs else 1
                yield (text[:cut],), syllables[:cut]
                held, sounds, size = (text[cut:],), syllables[cut:], size - cut
        yield held, sounds

    def chunk(self, meant: str, words: tuple[str, ...], syllables: tuple[str, ...]) -> str:
        """Return what is typed for a chunk, with what slips in after it."""
        draw, typist = self.draw, self.typist
        if "" in syllables:  # what has no reading cannot be typed: it is pasted
            return meant
        chance = draw()
        size = len(meant)
        if self.text[self.end : self.end + 1] in DIGITS_TO_CHOOSE and draw() < typist.chosen:
            return self.chosen_by_digit(meant, syllables)
        omit = typist.omit if size == 1 else typist.omit_word if size == 2 else 0.0
        if chance < omit:
            fits = size > 1 or follows(self.before(), self.following(), self.topic) or draw() < UNLIKELY
            typed = "" if fits else meant
        elif (chance := chance - omit) < typist.omit_character:
            cut = 0 if draw() < 0.35 else size - 1
            typed = meant[:cut] + meant[cut + 1 :] if size > 1 and is_common(meant) else meant
        elif meant in PARTICLES and draw() < typist.particle:
            typed = PARTICLES[int(draw() ** 2 * len(PARTICLES))]
        elif chance - typist.omit_character < typist.reword:
            free = size == 1 or draw() < FREE
            typed = drawn(expected(self.before(), self.following(), self.topic), draw) if free else self.reworded(meant)
        else:
            typed = self.attempted(meant, words, syllables)
        extra = draw()
        if extra < typist.stray:
            word = self.engine.last_word(meant[-4:])
            if draw() < typist.filler:
                typed += drawn(slipping_in(self.memory, word, self.following(), self.topic), draw)
            else:
                typed += drawn(expected(word, self.following(), self.topic), draw)
        elif extra < typist.stray + typist.stray_mark:
            typed += self.stray[int(draw() * len(self.stray))]
        return typed

    def chosen_by_digit(self, meant: str, syllables: tuple[str, ...]) -> str:
        """Return the candidate for a chunk that the digit behind it chooses, and eat that digit."""
        texts = self.offers("".join(syllables), "")[0]
        place = int(self.text[self.end]) - 1
        if place >= len(texts):
            return meant
        self.eaten = self.end
        return texts[place]

    def before(self) -> str:
        """Return the word that was meant before."""
        return self.engine.last_word(self.last[-4:])

    def following(self) -> str:
        """Return the two characters that are meant next."""
        return self.text[self.end : self.end + 2]

    def attempted(self, meant: str, words: tuple[str, ...], syllables: tuple[str, ...]) -> str:
        """Return a chunk with a learned confusion, or else as the keys and the candidate list give it."""
        typed = self.confused(words)
        if typed is None:
            typed = self.keyed(meant, words, syllables)
        if self.draw() < self.typist.start:
            typed = self.false_start(meant[0], syllables[0]) + typed
        return typed

    def confused(self, words: tuple[str, ...]) -> str | None:
        """Return a chunk with one of its words typed as another out of habit, if one is."""
        confusions = self.memory.confusions
        for n, word in enumerate(words):
            if word in confusions:
                texts, sums = confusions[word]
                if (chance := self.draw()) < sums[-1]:
                    return "".join((*words[:n], texts[bisect(sums, chance)], *words[n + 1 :]))
        return None

    def reworded(self, meant: str) -> str:
        """Return a chunk with another common word in place of its last, or its first."""
        for start, end in ((0, len(meant)), (len(meant) - 2, len(meant)), (0, 2)):
            before = self.engine.last_word(self.last if start == 0 else meant[:start])
            if other := drawn(likenesses(meant[start:end], before, self.topic), self.draw):
                return meant[:start] + other + meant[end:]
        return meant

    def keyed(self, meant: str, words: tuple[str, ...], syllables: tuple[str, ...]) -> str:
        """Return what the keys and the candidate list make of a chunk."""
        draw, typist = self.draw, self.typist
        steady = draw()
        for word in words:
            if steady >= self.mastery(word):
                break
        else:  # every word is typed right at this draw, whatever slips
            return meant
        intended = "".join(syllables)
        short = draw() < (typist.abbreviate if len(syllables) > 1 else typist.initial)
        if short:
            intended = shortened(syllables, draw)
        keys = self.struck(intended, short=short)
        if keys != intended:
            typed = keys if draw() < typist.raw else self.picked(meant, keys, careless=True)
        elif short:
            typed = self.picked(meant, keys, careless=False)
        elif meant in self.chosen:
            typed = self.chosen[meant]
        else:
            typed = self.chosen[meant] = self.picked(meant, keys, careless=False, syllables=syllables)
        if typed == meant:
            return meant
        if draw() < typist.again:
            typed += meant
        return meant if steady < self.mastery(_first_wrong(words, typed)) else typed

    def struck(self, keys: str, *, short: bool) -> str:
        """Return the keys that are hit where others may be meant."""
        draw, typist = self.draw, self.typist
        if draw() < (1 - (typist.slip_short if short else typist.slip)) ** len(keys):
            return keys
        wrong = slipped(keys, typist, draw, short=short)
        while wrong and draw() < typist.second:
            wrong = slipped(wrong, typist, draw, short=short)
        return wrong

    def false_start(self, meant: str, syllable: str) -> str:
        """Return the wrong character that a chunk was begun with, if it is wrong."""
        keys = slipped(syllable, self.typist, self.draw) if self.draw() < 0.7 else syllable[0]
        typed = self.picked(meant, keys, careless=True)
        return "" if typed == meant else typed

    def picked(  # noqa: PLR0911 - one return per way of choosing
        self, meant: str, keys: str, *, careless: bool, syllables: tuple[str, ...] = ()
    ) -> str:
        """Return the candidate that is taken."""
        draw, typist = self.draw, self.typist
        # A chunk that is no listed word must be put together from several: with chance `compose` that succeeds.
        together = not careless and meant not in self.engine.costs
        if together and draw() < typist.compose:
            return meant
        alone = keys in self.engine.syllables  # only a single syllable is ranked by the word before it
        before = self.before() if alone else ""
        offered = self.offers(keys, before)
        texts = offered[0]
        if not texts:
            return meant
        if careless:
            return self.first(meant, offered)
        if texts[0] == meant:
            place = self.passed(offered, 0, typist.misclick, 1)
            return texts[self.passed(offered, place, typist.misclick_decay) if place else 0]
        if meant in texts:
            glance = typist.glance if len(meant) > 1 else typist.glance_character
            seen = draw() < glance * texts.index(meant) ** -typist.glance_decay
            return meant if seen else self.first(meant, offered)
        if not together and draw() < typist.compose:
            return meant
        if len(meant) == 1 or not syllables or draw() < typist.first:
            return self.first(meant, offered)
        cut = next((n for n in range(len(meant) - 1, 1, -1) if meant[:n] in self.engine.costs), 1)
        head = self.picked(meant[:cut], "".join(syllables[:cut]), careless=False, syllables=syllables[:cut])
        self.last = meant[:cut]
        return head + self.picked(meant[cut:], "".join(syllables[cut:]), careless=False, syllables=syllables[cut:])

    def passed(self, offered: Offers, place: int, chance: float, most: int = PAGE - 1) -> int:
        """Return which candidate is taken: from `place` on, the next one with `chance`, less the more it costs."""
        costs = offered[1]
        while place < min(len(costs) - 1, most) and self.draw() < chance * math.exp(
            (costs[place] - costs[place + 1]) / CLOSE
        ):
            place += 1
        return place

    def first(self, meant: str, offered: Offers) -> str:
        """Return the first candidate, or one of the next few, where the right one is not seen."""
        typed = offered[0][self.passed(offered, 0, self.typist.drift)]
        return meant if min(typed) < "\u3000" and self.draw() >= self.typist.odd else typed
