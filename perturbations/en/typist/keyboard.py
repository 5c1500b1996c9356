"""Type English as people do: key by key, each with slips of its own, seen and taken back or not.

>>> from lapsus.perturbations.core import apply, perturb
>>> text = "Let me know if you have any problems."
>>> op = EnKeyboard.annotator(2, corrects=False)
>>> apply(text, perturb(op, text, seed=1, key="row-4"))
'Let me know if you have any problems.'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.perturbations.core import Edit
from lapsus.perturbations.en.typist.keys import LAYOUTS
from lapsus.perturbations.en.typist.model import load, source_of
from lapsus.perturbations.en.typist.people import factors
from lapsus.perturbations.en.typist.places import PARTS, SIZE, places
from lapsus.perturbations.en.typist.slips import Press, slip
from lapsus.perturbations.hashed_draws import GOLDEN, HALF, mixed, start_of, starts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from lapsus.perturbations.en.typist.model import Model
    from lapsus.perturbations.hashed_draws import Words

LARGEST = 10  # rate
FIRST_KEY = 64  # draws before it belong to the text as a whole
UNKNOWN = SIZE // PARTS[0]  # places below it are of characters that no key types
DRAWS = 64  # kept for each key
MASK = 2**64 - 1
PERSON = 0x9E3779B1
STEPS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))  # of splitmix64


@dataclass(frozen=True, slots=True)
class EnKeyboard:
    """A person copying a text on a keyboard.

    Args:
        who: The person's number, from 1; 0 is somebody else in every text.
        corrects: Whether what the person sees is taken back. If not, what was typed stays.
        rate: How much goes wrong: 1 is what people do, less is more care.
        layout: "qwerty", "azerty" or "qwertz": which keys lie side by side.

    >>> EnKeyboard.annotator(7, corrects=False).who
    7
    """

    who: int = 0
    corrects: bool = True
    rate: float = 1.0
    layout: str = "qwerty"
    name: str = "en_keyboard"
    version: str = "1"

    def __post_init__(self) -> None:
        if isinstance(self.who, bool) or not isinstance(self.who, int) or not 0 <= self.who < 2**32:
            raise ValueError(f"who is {self.who!r}; give a person's number from 1, or 0 for another one in every text")
        if not 0 <= self.rate <= LARGEST:
            raise ValueError(f"rate is {self.rate!r}; give a number from 0 to {LARGEST}, where 1 is what people do")
        if self.layout not in LAYOUTS:
            raise ValueError(f"layout is {self.layout!r}; choose one of {', '.join(LAYOUTS)}")

    @classmethod
    def annotator(cls, number: int, *, corrects: bool = True, rate: float = 1.0) -> EnKeyboard:
        """Return one person of the fitted population, the same in all texts."""
        if number == 0:
            raise ValueError("annotator 0 is nobody; people are numbered from 1")
        return cls(number, corrects, rate)

    def edits(self, text: str, rng: Random) -> tuple[Edit, ...]:
        """Return what typing `text` changes."""
        return typed(load(), self, [text], np.array([start_of(rng)], np.uint64))[0]

    def edits_keyed(self, texts: Sequence[str], seed: int, keys: Sequence[str]) -> list[tuple[Edit, ...]]:
        """Return what typing each text changes."""
        return typed(load(), self, texts, starts(f"{self.name}/{seed}", keys))

    def untouched(self, text: str) -> str:
        """Say what of `text` no slip can happen to, and why; nothing where all of it is typed.

        >>> EnKeyboard().untouched("café 北京")
        'no key of its own: é 北 京'
        """
        place, _ = places([text])
        unknown = dict.fromkeys(text[at] for at in np.flatnonzero(place < UNKNOWN).tolist())
        return f"no key of its own: {' '.join(unknown)}" if unknown else ""


def typed(model: Model, op: EnKeyboard, texts: Sequence[str], begin: Words) -> list[tuple[Edit, ...]]:
    """Return the edits of texts whose random streams start at `begin`.

    Every key has draws of its own, so that all keys of all texts are drawn at once; the few that slip are then written
    one by one.
    """
    if op.who:
        begin = mixed(begin ^ np.uint64(op.who * PERSON & MASK))  # two people slip at different keys of a text
    person = factors(model.people, begin, op.who, op.rate)
    place, bounds = places(texts)
    text = np.repeat(np.arange(len(texts)), np.diff(bounds))
    at = np.arange(len(place)) - bounds[text]
    key = begin[text] + (at.astype(np.uint64) * np.uint64(DRAWS) + np.uint64(FIRST_KEY)) * GOLDEN
    chance = np.zeros(len(place))
    for source, made in model.of_source.items():
        chance += made[place] * person[source][text]
    drawn = (mixed(key) >> HALF) / 2**32
    hit = np.flatnonzero(drawn < chance)
    factor = np.stack([person[source_of(kind)] for kind in model.kinds], axis=1)[text[hit]]
    upto = (model.made[place[hit]] * factor).cumsum(axis=1)
    kind = (upto <= (drawn[hit] / chance[hit] * upto[:, -1])[:, None]).sum(axis=1)
    if op.corrects:
        odds = model.stays[place[hit], kind] * person["unseen"][text[hit]]
        seen = (mixed(key[hit] + GOLDEN) >> HALF) / 2**32
    else:
        odds, seen = np.full(len(hit), np.inf), np.zeros(len(hit))
    left = seen < _share(odds * model.shares["unseen in a word"])
    habit, at_a_glance = model.shares["habit"], model.shares["unseen in no word"]
    found: list[list[Edit]] = [[] for _ in texts]
    columns = (column[left].tolist() for column in (text[hit], at[hit], kind, key[hit], seen, odds))
    for row, where, number, stream, glance, odd in zip(*columns, strict=True):
        press = Press(texts[row], where, model, Draws(stream + 2 * int(GOLDEN)).next, op.layout)
        edit = slip(model.kinds[number], press)
        if edit and press.draw() < habit and not looks_right(texts[row], edit, model.words):
            second = slip(model.kinds[number], press)  # fingers prefer what they have typed before
            edit = second if second and looks_right(texts[row], second, model.words) else edit
        if edit is None or edit.text == texts[row][edit.start : edit.end]:
            continue
        if found[row] and (edit.start < found[row][-1].end or edit.start == found[row][-1].start):
            continue  # a key has one slip, and a slip of several keys takes theirs
        if glance < _share(odd * at_a_glance) or looks_right(texts[row], edit, model.words):
            found[row].append(edit)
    return [tuple(edits) for edits in found]


LONGEST = 50  # letters; the list has no word as long


def _share(odds: Any) -> Any:
    return 1 - 1 / (1 + odds)


def looks_right(text: str, edit: Edit, words: frozenset[str]) -> bool:
    """Whether the edit leaves nothing but words where it is.

    >>> words = frozenset({"the", "a", "cat", "at"})
    >>> looks_right("the cat", Edit(4, 5, ""), words), looks_right("the cat", Edit(0, 1, ""), words)
    (True, False)
    """
    start, end = edit.start, edit.end
    first, last = start - LONGEST, end + LONGEST
    while start and text[start - 1].isalpha():
        start -= 1
        if start == first and text[start : edit.start].isascii():
            return False  # no word is that long, and a text may be one stretch of letters
    while end < len(text) and text[end].isalpha():
        end += 1
        if end == last and text[edit.end : end].isascii():
            return False
    now = text[start : edit.start] + edit.text + text[edit.end : end]
    return all(word in words for word in re.findall(r"[a-z]+", now.lower()))


class Draws:
    """The further draws of one key press: the stream of `hashed_draws`, number by number."""

    __slots__ = ("word",)

    def __init__(self, word: int) -> None:
        """Begin at a 64-bit word."""
        self.word = word

    def next(self) -> float:
        """Return the next number from 0 up to 1."""
        self.word = word = (self.word + int(GOLDEN)) & MASK
        for shift, factor in STEPS:
            word = ((word ^ (word >> shift)) * factor) & MASK
        return ((word ^ (word >> 31)) >> 32) / 2**32


UNITS = (EnKeyboard(),)
