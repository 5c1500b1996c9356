"""The habits of a person at a keyboard, and those of READIN's annotators."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

ANNOTATORS = Path(__file__).parents[1] / "data" / "zh_keyboard.json"
SPREAD = 2.0  # nats


@dataclass(frozen=True, slots=True, eq=False)
class Typist:
    """The habits of one person at one input method; probabilities, unless said otherwise.

    Compared by identity, so that it is a cheap key of caches.
    """

    join: float  # of typing the next word together with this one
    split: float  # of typing a word in two pieces
    abbreviate: float  # of typing a chunk by initials, in whole or at its end
    initial: float  # of typing a single character by its first letter
    slip: float  # of a slip, per letter
    slip_short: float  # of a slip, per letter, where a chunk is abbreviated
    second: float  # of one more slip in the same chunk
    slip_initial: float  # of drawing the place of a slip again where it fell on a consonant other than n and g
    miss: float  # kinds of slips, by weight: a letter left out
    neighbour: float  # the key beside it
    double: float  # the key beside it as well
    swap: float  # two letters in the wrong order
    swap_short: float  # the same where a chunk is abbreviated
    nasal: float  # n for ng and back
    accent: float  # z for zh, l for n and their like
    neighbour_initial: float  # the key beside a syllable's first letter
    kin: float  # a consonant like a syllable's first one: t for d, x for q
    glance: float  # of picking the right word when it is not offered first
    glance_character: float  # of picking the right character likewise
    glance_decay: float  # how much less with each further place: a power of the place
    compose: float  # of putting an unknown word together as it should be
    first: float  # of taking the first word for an unknown one; else it is put together piece by piece
    misclick: float  # of taking the second candidate, if it costs about as much, although the first is right
    misclick_decay: float  # of going one place further
    drift: float  # of taking a candidate one place further, when the right one is not there
    odd: float  # of taking a candidate although it holds a letter
    start: float  # of a false start: a wrong first character, left there when the chunk is typed anew
    again: float  # of typing a whole chunk again after a wrong word
    raw: float  # of a wrong chunk's letters left standing
    practice: float  # of getting the commonest words right where they would have gone wrong; less, the rarer they are
    omit: float  # of leaving out a short word
    omit_word: float  # of leaving out a longer one
    omit_character: float  # of leaving out a character of a longer word
    reword: float  # of putting another word that begins or ends alike
    particle: float  # of another final particle: 么 for 吗
    stray: float  # of a character too many, after any chunk
    filler: float  # of that character being one that fits everywhere, such as 的
    stray_mark: float  # of a mark too many, after any chunk
    stop: float  # of stopping before the end
    stop_earlier: float  # of stopping yet another character earlier
    close: float  # of leaving out the last mark
    fading: float  # of noticing and correcting a wrong chunk: at the start of a text, less towards its end
    mood: float  # how much more goes wrong in one text than on average, or less in another: a share
    retype: float  # of typing a text again, faster, when nothing went wrong
    redo: float  # of typing a text again, with more care, when too much went wrong
    marks: tuple[float, float, float, float]  # of a mark left out, another mark, a blank left out, a comma for it
    quotes: tuple[float, float]  # of quotation marks swapped, left out
    ranking: float  # how far a person's input method is from the engine: a standard deviation, of `SPREAD` nats


HURRIED = ("slip", "slip_short", "omit", "omit_word", "omit_character", "stray", "stray_mark", "start", "again")


@lru_cache(64)
def hurried(typist: Typist, haste: float) -> Typist:
    """Return the habits in a text with which more goes wrong than on average, or less where `haste` is below 1."""
    return replace(typist, **{habit: haste * getattr(typist, habit) for habit in HURRIED})


@cache
def annotators() -> Mapping[int, Mapping[str, Typist]]:
    """Return the fitted habits of each person, for questions and for prose."""
    rows = json.loads(ANNOTATORS.read_text(encoding="utf-8"))
    return {number: {kind: _typist(habits) for kind, habits in row.items()} for number, row in enumerate(rows, 1)}


def _typist(habits: Mapping[str, Any]) -> Typist:
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in habits.items()}
    return Typist(**values)
