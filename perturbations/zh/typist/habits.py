"""The habits of a person at a keyboard, and those of READIN's annotators."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ANNOTATORS = Path(__file__).parents[1] / "data" / "zh_keyboard.json"
SPREAD = 2.0  # nats
PEOPLE = 10_000  # that can be asked for
OFTEN = 2.5  # logits: of people who leave off the end of a text, there are some who do so in one of four


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
    mood: float  # how far the rate of slips in one session is above or below the average: a share
    care: float  # the same from block to block: a standard deviation, as a share
    alike: float  # chance that a word is typed as elsewhere in the session
    retype: float  # of typing a text again, faster, when nothing went wrong
    redo: float  # of typing a text again, with more care, when too much went wrong
    marks: tuple[float, float, float, float]  # of a mark left out, another mark, a blank left out, a comma for it
    quotes: tuple[float, float]  # of quotation marks swapped, left out
    digit: float  # of a slip, per digit
    wide_digits: float  # of an input method that types digits of full width, for a block
    chosen: float  # of a digit that chooses a candidate for the chunk before it
    ranking: float  # how far a person's input method is from the engine: a standard deviation, of `SPREAD` nats


@cache
def load_annotators() -> Mapping[int, Mapping[str, Typist]]:
    """Return the fitted habits of each person, for questions and for prose."""
    rows = json.loads(ANNOTATORS.read_text(encoding="utf-8"))
    return {number: {kind: _parse_typist(habits) for kind, habits in row.items()} for number, row in enumerate(rows, 1)}


@lru_cache(64)
def load_habits(who: int) -> Mapping[str, Typist]:
    """Return the habits of one of the annotators, or of somebody drawn around them.

    >>> load_habits(4)["prose"].slip == load_habits(5)["prose"].slip
    False
    """
    people = load_annotators()
    if who in people:
        return people[who]
    return {kind: _draw_typist([row[kind] for row in people.values()], who) for kind in people[1]}


def _draw_typist(people: Sequence[Typist], who: int) -> Typist:
    """Return somebody whose habits differ from those of people as theirs differ from each other, in logits."""
    habits: dict[str, Any] = {}
    for name in (field.name for field in fields(Typist)):
        values = [getattr(person, name) for person in people]
        if isinstance(values[0], tuple):
            habits[name] = tuple(
                _draw_near(column, f"{who}{name}{n}") for n, column in enumerate(zip(*values, strict=True))
            )
        else:
            habits[name] = _draw_near(values, f"{who}{name}", OFTEN if name == "stop" else 0.0)
    return Typist(**habits)


def _draw_near(values: Sequence[float], about: str, least: float = 0.0) -> float:
    """Return a probability around some, by a number that is fixed for what it is about and normal over such."""
    logits = [math.log(value / (1 - value)) for value in (min(max(share, 1e-4), 0.9999) for share in values)]
    normal = (sum(crc32(about.encode()).to_bytes(4, "big")) - 510) / 147.8
    return 1 / (1 + math.exp(-mean(logits) - max(stdev(logits), least) * normal))


def _parse_typist(habits: Mapping[str, Any]) -> Typist:
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in habits.items()}
    return Typist(**values)
