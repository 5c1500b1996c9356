"""Type English as people do: key by key, with slips that the typist notices and corrects, or not.

Person number n is a pure function of n: annotator 7 is the same in every text and on every machine. People differ in
haste, in how many slips they notice, and in how often they omit capitals and the last mark.

>>> from lapsus.perturbations import apply, perturb
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

from lapsus.core.edits import Edit
from lapsus.perturbations.en.typist.keys import LAYOUTS
from lapsus.perturbations.en.typist.model import PARTS, SIZE, classify_characters, find_source, load_typist_model
from lapsus.perturbations.en.typist.slips import KeyPress, make_slip
from lapsus.perturbations.streams import GOLDEN, HALF, STEP, FastStream, scramble, stream_start, stream_starts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from numpy.typing import NDArray

    from lapsus.perturbations.en.typist.model import TypistModel
    from lapsus.perturbations.streams import UInt64Array

TRAITS = ("haste", "unseen", "small", "open", "blank")
"""Haste, the share of slips that stay unnoticed, and how often a capital or the last mark is omitted or a blank typed
after the text: factors that are 1 on average."""
TEXT_TRAITS = ("haste", "unseen", "small")  # those that also differ from text to text
HASTE_POWERS = {"fingers": 1.25, "mind": 0.8, "small": 0.8, "open": 0.6, "blank": 0.2}
"""The power of haste with which slips of each source grow: in the hastiest people, wrong keys grow more frequent than
wrong words, and the blank at the end hardly does (tools/fit_en_keyboard.py)."""


MAX_RATE = 10
FIRST_KEY = 64  # the draws before it belong to the text as a whole
DRAWS = 64  # reserved for each key
UNKNOWN = SIZE // PARTS[0]  # places below it are of characters that no key types
PERSON = 0x9E3779B1
MAX_WORD_LENGTH = 50  # letters; no word of the list is as long


@dataclass(frozen=True, slots=True)
class EnKeyboard:
    """A person copying a text on a keyboard.

    Args:
        who: The person's number, from 1; 0 is another person in every text.
        corrects: Whether the person corrects the slips that they notice; otherwise all slips stay.
        rate: The rate of slips: 1 is that of people, less is more care.
        layout: "qwerty", "azerty" or "qwertz", which decides which keys are neighbours.

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
        if not 0 <= self.rate <= MAX_RATE:
            raise ValueError(f"rate is {self.rate!r}; give a number from 0 to {MAX_RATE}, where 1 is what people do")
        if self.layout not in LAYOUTS:
            raise ValueError(f"layout is {self.layout!r}; choose one of {', '.join(LAYOUTS)}")

    @classmethod
    def annotator(cls, number: int, *, corrects: bool = True, rate: float = 1.0) -> EnKeyboard:
        """Return one person of the fitted population, the same in all texts."""
        if number == 0:
            raise ValueError("annotator 0 is nobody; people are numbered from 1")
        return cls(number, corrects, rate)

    def edits(self, text: str, rng: Random) -> tuple[Edit, ...]:
        """Return the edits that typing `text` makes."""
        return simulate_typing(load_typist_model(), self, [text], np.array([stream_start(rng)], np.uint64))[0]

    def edits_from_keys(self, texts: Sequence[str], seed: int, keys: Sequence[str]) -> list[tuple[Edit, ...]]:
        """Return the edits that typing each text makes."""
        return simulate_typing(load_typist_model(), self, texts, stream_starts(f"{self.name}/{seed}", keys))

    def edits_by_people(
        self, texts: Sequence[str], seed: int, keys: Sequence[str], people: Sequence[int]
    ) -> list[tuple[Edit, ...]]:
        """Return the edits that typing each text makes, where `who` is 0 by a person for each text."""
        begin = stream_starts(f"{self.name}/{seed}", keys)
        return simulate_typing(load_typist_model(), self, texts, begin, None if self.who else people)

    def untouched(self, text: str) -> str:
        """Return which characters of `text` cannot have slips, and why; nothing where there are none.

        >>> EnKeyboard().untouched("café 北京")
        'no key of its own: é 北 京'
        """
        place, _ = classify_characters([text])
        unknown = dict.fromkeys(text[at] for at in np.flatnonzero(place < UNKNOWN).tolist())
        return f"no key of its own: {' '.join(unknown)}" if unknown else ""


def simulate_typing(
    model: TypistModel,
    op: EnKeyboard,
    texts: Sequence[str],
    begin: UInt64Array,
    people: Sequence[int] | None = None,
) -> list[tuple[Edit, ...]]:
    """Return the edits of texts whose random streams start at `begin`, typed by `people` or by the person of `op`.

    Every key has its own draws, so that the keys of all texts are drawn at once; only the slips are made one by one.
    """
    who = np.array([op.who] * len(texts) if people is None else people, np.uint64)
    own_begin = scramble(begin ^ (who * np.uint64(PERSON)))  # another person slips at other keys of a text
    begin = np.where(who > 0, own_begin, begin)
    person = person_factors(model.people, begin, who, op.rate)
    place, bounds = classify_characters(texts)
    text = np.repeat(np.arange(len(texts)), np.diff(bounds))
    at = np.arange(len(place)) - bounds[text]
    key = begin[text] + (at.astype(np.uint64) * np.uint64(DRAWS) + np.uint64(FIRST_KEY)) * GOLDEN
    chance = np.zeros(len(place))
    for source, rates in model.source_rates.items():
        chance += rates[place] * person[source][text]
    draws = (scramble(key) >> HALF) / 2**32
    hit = np.flatnonzero(draws < chance)
    factor = np.stack([person[find_source(kind)] for kind in model.kinds], axis=1)[text[hit]]
    cumulative = (model.slip_rates[place[hit]] * factor).cumsum(axis=1)
    kind = (cumulative <= (draws[hit] / chance[hit] * cumulative[:, -1])[:, None]).sum(axis=1)
    if op.corrects:
        keep_odds = model.uncorrected_odds[place[hit], kind] * person["unseen"][text[hit]]
        notice_draws = (scramble(key[hit] + GOLDEN) >> HALF) / 2**32
    else:
        keep_odds, notice_draws = np.full(len(hit), np.inf), np.zeros(len(hit))
    uncorrected = notice_draws < _odds_to_share(keep_odds * model.shares["unseen in a word"])
    habit, at_a_glance = model.shares["habit"], model.shares["unseen in no word"]
    edits_by_text: list[list[Edit]] = [[] for _ in texts]
    columns = (column[uncorrected].tolist() for column in (text[hit], at[hit], kind, key[hit], notice_draws, keep_odds))
    for row, position, number, stream, notice_draw, key_odds in zip(*columns, strict=True):
        press = KeyPress(texts[row], position, model, FastStream(stream + 2 * STEP).random, op.layout)
        edit = make_slip(model.kinds[number], press)
        if edit and press.draw() < habit and not leaves_only_words(texts[row], edit, model.words):
            second = make_slip(model.kinds[number], press)  # fingers prefer words that they have typed before
            edit = second if second and leaves_only_words(texts[row], second, model.words) else edit
        if edit is None or edit.text == texts[row][edit.start : edit.end]:
            continue
        if edits_by_text[row] and (
            edit.start < edits_by_text[row][-1].end or edit.start == edits_by_text[row][-1].start
        ):
            continue  # one slip for each key
        if notice_draw < _odds_to_share(key_odds * at_a_glance) or leaves_only_words(texts[row], edit, model.words):
            edits_by_text[row].append(edit)
    return [tuple(edits) for edits in edits_by_text]


def draw_uniform(begin: UInt64Array, draw: int) -> NDArray[np.float64]:
    """Return one draw of each stream, in [0, 1)."""
    return (scramble(begin + np.array([draw], np.uint64) * GOLDEN) >> HALF).astype(np.float64) / 2**32


def person_factors(
    population: Mapping[str, NDArray[np.float64]], texts: UInt64Array, who: UInt64Array, rate: float
) -> dict[str, NDArray[np.float64]]:
    """Return the factor of each source of slips in each text, and the factor of the odds that a slip stays, "unseen".

    Args:
        population: The quantiles of each trait, evenly spaced from 0 to 1; those of a text's part as "TRAIT in a text".
        texts: The starts of the texts' streams.
        who: The number of the person of each text, or 0 for one who types no other text.
        rate: A factor of the haste.
    """
    person = scramble(np.where(who > 0, who, texts ^ GOLDEN))
    factors = {
        trait: _interpolate(population[trait], draw_uniform(person, draw)) for draw, trait in enumerate(TRAITS, 1)
    }
    for draw, trait in enumerate(TEXT_TRAITS, 1):
        factors[trait] *= _interpolate(population[f"{trait} in a text"], draw_uniform(texts, draw))
    haste = factors.pop("haste") * rate
    return {"unseen": factors["unseen"]} | {
        source: factors.get(source, 1.0) * haste**power for source, power in HASTE_POWERS.items()
    }


def _interpolate(quantiles: NDArray[np.float64], share: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.interp(share * (len(quantiles) - 1), np.arange(len(quantiles)), quantiles)


def _odds_to_share(odds: Any) -> Any:
    return 1 - 1 / (1 + odds)


def leaves_only_words(text: str, edit: Edit, words: frozenset[str]) -> bool:
    """Return whether the edit leaves only known words where it is.

    >>> words = frozenset({"the", "a", "cat", "at"})
    >>> leaves_only_words("the cat", Edit(4, 5, ""), words), leaves_only_words("the cat", Edit(0, 1, ""), words)
    (True, False)
    """
    start, end = edit.start, edit.end
    first, last = start - MAX_WORD_LENGTH, end + MAX_WORD_LENGTH
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


UNITS = (EnKeyboard(),)
