"""Typing a Chinese text once, chunk by chunk, and the edits that come of it. It can be compiled (see setup.py)."""

from __future__ import annotations

import math
import re
from bisect import bisect
from functools import lru_cache
from typing import TYPE_CHECKING

from lapsus.core.edits import Edit, trim_edit
from lapsus.perturbations.zh.input_method.pinyin import load_engine
from lapsus.perturbations.zh.typist.candidates import EMBEDDED, PAGE, make_input_method
from lapsus.perturbations.zh.typist.confusable_words import (
    UNLIKELY,
    can_follow,
    commonness,
    draw_option,
    find_likely_followers,
    find_likely_strays,
    find_similar_words,
    is_common,
)
from lapsus.perturbations.zh.typist.habits import Typist
from lapsus.perturbations.zh.typist.keys import abbreviate, apply_slip
from lapsus.perturbations.zh.typist.memory import NOTHING, Memory, find_topic
from lapsus.perturbations.zh.typist.punctuation import Style, has_wide_marks, retype_mark
from lapsus.perturbations.zh.typist.session import PRIME, TypingSession, draw_first, open_draws

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

    from lapsus.perturbations.zh.typist.candidates import Offers
    from lapsus.perturbations.zh.typist.keys import Draw
    from lapsus.perturbations.zh.typist.memory import Topic

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
    """Return whether a text is written prose: long, or with the marks of print.

    >>> is_prose("花呗怎么还款"), is_prose("人才哪里找？"), is_prose("乡村振兴，人才是关键。")
    (False, False, True)
    """
    return len(text) > 40 or PRINT.search(text) is not None


@lru_cache(16)
def classify_text(text: str, *, learned: bool = True) -> tuple[bool, Topic | None]:
    """Return whether a text is prose, and the topic of a question; cached, as it is needed several times in a row."""
    prose = is_prose(text)
    return prose, find_topic(text) if learned and not prose else None


def retype(
    text: str,
    typist: Typist,
    rng: Random,
    engine: str = EMBEDDED,
    ime: int = 0,
    memory: Memory = NOTHING,
    session: TypingSession | None = None,
) -> list[Edit]:
    """Return the edits that typing `text` makes; without a session, it is a session of its own.

    It is typed a second time, and that counts, with chance `retype` if nothing went wrong, `redo` if too much did.
    """
    session = session or TypingSession(int(rng.random() * PRIME), int(rng.random() * PRIME))
    edits = TypingRun(text, typist, rng, engine, ime, memory, session).edits()
    n_wrong = sum(max(edit.end - edit.start, len(edit.text)) for edit in edits)
    if rng.random() < (typist.retype if not edits else typist.redo if n_wrong > MESS * len(text) else 0.0):
        edits = TypingRun(text, typist, rng, engine, ime, memory, session.next_pass(1)).edits()
    return edits


@lru_cache(16)
def make_mastery(memory: Memory, practice: float) -> Callable[[str], float]:
    """Return a function from a word to the chance that it comes out right although a slip was drawn."""

    @lru_cache(1 << 13)
    def measure_mastery(word: str) -> float:
        return 1 - (1 - memory.mastered.get(word, 0.0)) * (1 - practice * commonness(word))

    return measure_mastery


def _find_first_wrong(words: tuple[str, ...], typed: str) -> str:
    """Return the first of the words that does not stand in what was typed for all of them."""
    for word in words:
        if not typed.startswith(word):
            return word
        typed = typed[len(word) :]
    return words[-1]


class TypingRun:
    """Types a text once: `edits()` are what comes out otherwise than it was meant."""

    def __init__(
        self, text: str, typist: Typist, rng: Random, engine: str, ime: int, memory: Memory, session: TypingSession
    ) -> None:
        self.text, self.draw_own, self.memory, self.words = text, rng.random, memory, session.words
        self.draw: Draw = self.draw_own
        prose, self.topic = classify_text(text, learned=memory is not NOTHING)
        block = open_draws(session.block, "")
        self.offers = make_input_method(ime + int(block() * IMES), typist.ranking, engine, memory, self.topic)
        self.last, self.end = "", 0  # the chunk before the current one, and where the current one ends
        self.eaten = -1  # where a digit stands that chose a candidate
        self.repaid, self.stray = REPAID_ASKED if self.topic else REPAID, STRAY if prose else STRAY_ASKED
        self.engine = load_engine()
        self.chosen: dict[str, str] = {}  # what was picked for a word is picked again
        self.style = Style(self.draw_own(), has_wide_marks(text), block() < typist.wide_digits)
        self.mastery = make_mastery(memory, typist.practice)
        self.typist = typist
        # Above 1 more goes wrong than on average, below 1 less.
        mood = 1 + typist.mood * (1 if draw_first(session.words, "") < HALF else -1)
        self.haste = mood * (1 + typist.care * EVENLY * (2 * block() - 1))

    def edits(self) -> list[Edit]:
        """Type the whole text."""
        changes: list[Edit] = []
        for start, target, typed in self.iter_pieces():
            if target != typed:
                changes.append(trim_edit(start, target, typed))
        if 2 < len(self.text) < LONGEST and self.draw_own() < self.typist.stop:
            changes = self.stop_early(changes)
        return changes

    def stop_early(self, edits: list[Edit]) -> list[Edit]:
        """Leave out the end."""
        size = 1
        while size < len(self.text) // 2 and self.draw_own() < self.typist.stop_earlier:
            size += 1
        cut = len(self.text) - size
        remaining = [edit for edit in edits if edit.end < cut]
        if (
            len(remaining) < len(edits) and edits[len(remaining)].start < cut
        ):  # the cut goes through it: all that follows is gone
            cut = edits[len(remaining)].start
        return [*remaining, Edit(cut, len(self.text), "")]

    def iter_pieces(self) -> Iterator[tuple[int, str, str]]:
        """Yield (start, what was meant, what was typed), piece by piece."""
        last = ""
        fading = self.typist.fading / max(len(self.text), 1)
        for match in RUNS.finditer(self.text):
            run, start = match.group(), match.start()
            if not "\u4e00" <= run[0] <= "\u9fff":
                is_last = match.end() == len(self.text)
                eaten = self.eaten == start
                yield (
                    start,
                    run,
                    "" if eaten else retype_mark(run, self.typist, self.draw_own, self.style, last=is_last),
                )
                last = run[-1]
                continue
            for words, syllables in self.iter_chunks(run, start):
                chunk = "".join(words)
                end = start + len(chunk)
                self.last, self.end = last, end
                # A slip that is noticed in time is corrected, so what it would have typed is not worked out.
                if self.draw_own() >= self.typist.fading - fading * start:
                    self.draw = self.choose_draws(chunk)
                    yield start, chunk, self.apply_care(chunk, words, syllables)
                start = end
                last = chunk

    def choose_draws(self, what: str) -> Draw:
        """Return the source of the draws for a word or a chunk: mostly the same as elsewhere in the session."""
        return open_draws(self.words, what) if self.draw_own() < self.typist.alike else self.draw_own

    def draw_once(self, what: str) -> float:
        """Return one draw about words, mostly the same as elsewhere in the session."""
        return draw_first(self.words, what) if self.draw_own() < self.typist.alike else self.draw_own()

    def apply_care(self, target: str, words: tuple[str, ...], syllables: tuple[str, ...]) -> str:
        """Return what is typed for a chunk: with care what is wrong is mended, in haste what is right is at risk."""
        typed = self.type_chunk(target, words, syllables)
        if typed == target:
            return (
                self.type_chunk(target, words, syllables) if self.haste > 1 and self.draw() < self.haste - 1 else typed
            )
        if self.haste < 1 and self.draw() >= self.haste:
            self.eaten = -1
            return target
        return typed

    def iter_chunks(self, run: str, start: int) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Yield the chunks, each typed without a pause: its words, and its syllables."""
        typist = self.typist
        words: tuple[str, ...] = ()
        sounds: tuple[str, ...] = ()
        size = 0
        for text in self.engine.split(run):
            repaid = text == "还" and self.repaid.match(self.text, start)
            syllables = ("huan",) if repaid else self.engine.find_syllables(text)
            start += len(text)
            if words and size + len(text) <= LONGEST_CHUNK and self.draw_once(f"{words[-1]} {text}") < typist.join:
                words, sounds, size = (*words, text), sounds + syllables, size + len(text)
                continue
            if words:
                yield words, sounds
            words, sounds, size = (text,), syllables, len(text)
            if size > 2 and self.draw_once(text) < typist.split * (1 - commonness(text)):
                cut = 2 if size > 3 or text[1:] not in self.engine.costs else 1
                yield (text[:cut],), syllables[:cut]
                words, sounds, size = (text[cut:],), syllables[cut:], size - cut
        yield words, sounds

    def type_chunk(self, target: str, words: tuple[str, ...], syllables: tuple[str, ...]) -> str:
        """Return what is typed for a chunk, with what slips in after it."""
        draw, typist = self.draw, self.typist
        if "" in syllables:  # what has no reading cannot be typed: it is pasted
            return target
        chance = draw()
        size = len(target)
        if self.text[self.end : self.end + 1] in DIGITS_TO_CHOOSE and draw() < typist.chosen:
            return self.choose_by_digit(target, syllables)
        omit = typist.omit if size == 1 else typist.omit_word if size == 2 else 0.0
        if chance < omit:
            fits = (
                size > 1 or can_follow(self.get_previous_word(), self.get_following(), self.topic) or draw() < UNLIKELY
            )
            typed = "" if fits else target
        elif (chance := chance - omit) < typist.omit_character:
            cut = 0 if draw() < 0.35 else size - 1
            typed = target[:cut] + target[cut + 1 :] if size > 1 and is_common(target) else target
        elif target in PARTICLES and draw() < typist.particle:
            typed = PARTICLES[int(draw() ** 2 * len(PARTICLES))]
        elif chance - typist.omit_character < typist.reword:
            free = size == 1 or draw() < FREE
            typed = (
                draw_option(find_likely_followers(self.get_previous_word(), self.get_following(), self.topic), draw)
                if free
                else self.reword(target)
            )
        else:
            typed = self.attempt_chunk(target, words, syllables)
        extra = draw()
        if extra < typist.stray:
            word = self.engine.find_last_word(target[-4:])
            if draw() < typist.filler:
                typed += draw_option(find_likely_strays(self.memory, word, self.get_following(), self.topic), draw)
            else:
                typed += draw_option(find_likely_followers(word, self.get_following(), self.topic), draw)
        elif extra < typist.stray + typist.stray_mark:
            typed += self.stray[int(draw() * len(self.stray))]
        return typed

    def choose_by_digit(self, target: str, syllables: tuple[str, ...]) -> str:
        """Return the candidate for a chunk that the digit behind it chooses, and eat that digit."""
        texts = self.offers("".join(syllables), "")[0]
        place = int(self.text[self.end]) - 1
        if place >= len(texts):
            return target
        self.eaten = self.end
        return texts[place]

    def get_previous_word(self) -> str:
        """Return the word that was meant before."""
        return self.engine.find_last_word(self.last[-4:])

    def get_following(self) -> str:
        """Return the two characters that are meant next."""
        return self.text[self.end : self.end + 2]

    def attempt_chunk(self, target: str, words: tuple[str, ...], syllables: tuple[str, ...]) -> str:
        """Return a chunk with a learned confusion, or else as the keys and the candidate list give it."""
        typed = self.confuse_word(words)
        if typed is None:
            typed = self.type_keys(target, words, syllables)
        if self.draw() < self.typist.start:
            typed = self.make_false_start(target[0], syllables[0]) + typed
        return typed

    def confuse_word(self, words: tuple[str, ...]) -> str | None:
        """Return a chunk with one of its words typed as another out of habit, if one is."""
        confusions = self.memory.confusions
        for n, word in enumerate(words):
            if word in confusions:
                texts, sums = confusions[word]
                if (chance := self.draw()) < sums[-1]:
                    return "".join((*words[:n], texts[bisect(sums, chance)], *words[n + 1 :]))
        return None

    def reword(self, target: str) -> str:
        """Return a chunk with another common word in place of its last, or its first."""
        for start, end in ((0, len(target)), (len(target) - 2, len(target)), (0, 2)):
            before = self.engine.find_last_word(self.last if start == 0 else target[:start])
            if replacement := draw_option(find_similar_words(target[start:end], before, self.topic), self.draw):
                return target[:start] + replacement + target[end:]
        return target

    def type_keys(self, target: str, words: tuple[str, ...], syllables: tuple[str, ...]) -> str:
        """Return what the keys and the candidate list make of a chunk."""
        draw, typist = self.draw, self.typist
        steady = draw()
        for word in words:
            if steady >= self.mastery(word):
                break
        else:  # every word is typed right at this draw, whatever slips
            return target
        target_keys = "".join(syllables)
        short = draw() < (typist.abbreviate if len(syllables) > 1 else typist.initial)
        if short:
            target_keys = abbreviate(syllables, draw)
        keys = self.strike_keys(target_keys, short=short)
        if keys != target_keys:
            typed = keys if draw() < typist.raw else self.pick_candidate(target, keys, careless=True)
        elif short:
            typed = self.pick_candidate(target, keys, careless=False)
        elif target in self.chosen:
            typed = self.chosen[target]
        else:
            typed = self.chosen[target] = self.pick_candidate(target, keys, careless=False, syllables=syllables)
        if typed == target:
            return target
        if draw() < typist.again:
            typed += target
        return target if steady < self.mastery(_find_first_wrong(words, typed)) else typed

    def strike_keys(self, keys: str, *, short: bool) -> str:
        """Return the keys that are hit where others may be meant."""
        draw, typist = self.draw, self.typist
        if draw() < (1 - (typist.slip_short if short else typist.slip)) ** len(keys):
            return keys
        wrong = apply_slip(keys, typist, draw, short=short)
        while wrong and draw() < typist.second:
            wrong = apply_slip(wrong, typist, draw, short=short)
        return wrong

    def make_false_start(self, target: str, syllable: str) -> str:
        """Return the wrong character that a chunk was begun with, if it is wrong."""
        keys = apply_slip(syllable, self.typist, self.draw) if self.draw() < 0.7 else syllable[0]
        typed = self.pick_candidate(target, keys, careless=True)
        return "" if typed == target else typed

    def pick_candidate(  # noqa: PLR0911 - one return per way of choosing
        self, target: str, keys: str, *, careless: bool, syllables: tuple[str, ...] = ()
    ) -> str:
        """Return the candidate that is taken."""
        draw, typist = self.draw, self.typist
        # A chunk that is no listed word must be put together from several: with chance `compose` that succeeds.
        is_composed = not careless and target not in self.engine.costs
        if is_composed and draw() < typist.compose:
            return target
        is_syllable = keys in self.engine.syllables  # only a single syllable is ranked by the word before it
        before = self.get_previous_word() if is_syllable else ""
        offered = self.offers(keys, before)
        texts = offered[0]
        if not texts:
            return target
        if careless:
            return self.pick_first(target, offered)
        if texts[0] == target:
            place = self.skip_candidates(offered, 0, typist.misclick, 1)
            return texts[self.skip_candidates(offered, place, typist.misclick_decay) if place else 0]
        if target in texts:
            glance = typist.glance if len(target) > 1 else typist.glance_character
            seen = draw() < glance * texts.index(target) ** -typist.glance_decay
            return target if seen else self.pick_first(target, offered)
        if not is_composed and draw() < typist.compose:
            return target
        if len(target) == 1 or not syllables or draw() < typist.first:
            return self.pick_first(target, offered)
        cut = next((n for n in range(len(target) - 1, 1, -1) if target[:n] in self.engine.costs), 1)
        head = self.pick_candidate(target[:cut], "".join(syllables[:cut]), careless=False, syllables=syllables[:cut])
        self.last = target[:cut]
        return head + self.pick_candidate(
            target[cut:], "".join(syllables[cut:]), careless=False, syllables=syllables[cut:]
        )

    def skip_candidates(self, offered: Offers, place: int, chance: float, most: int = PAGE - 1) -> int:
        """Return which candidate is taken: from `place` on, the next one with `chance`, less the more it costs."""
        costs = offered[1]
        while place < min(len(costs) - 1, most) and self.draw() < chance * math.exp(
            (costs[place] - costs[place + 1]) / CLOSE
        ):
            place += 1
        return place

    def pick_first(self, target: str, offered: Offers) -> str:
        """Return the first candidate, or one of the next few, where the right one is not seen."""
        typed = offered[0][self.skip_candidates(offered, 0, self.typist.drift)]
        return target if min(typed) < "\u3000" and self.draw() >= self.typist.odd else typed
