"""Type English as people do: key by key, each with slips of its own, seen and taken back or not.

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
from lapsus.perturbations.streams import GOLDEN, HALF, MASK, STEP, FastStream, scramble, stream_start, stream_starts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from numpy.typing import NDArray

    from lapsus.perturbations.en.typist.model import TypistModel
    from lapsus.perturbations.streams import UInt64Array


# People at a keyboard: how much goes wrong with each, what they let stand, and what they do not bother with.
# Person number n is a pure function of n: annotator 7 is the same in every text and everywhere.


TRAITS = ("haste", "unseen", "small", "open", "blank")
"""How hasty a person is, how much of what goes wrong stays unseen, how often a capital or the last mark is left out,
and a blank typed after the text: each a factor that is 1 on average."""
TEXT_TRAITS = ("haste", "unseen", "small")  # what also differs from one text to the next
HASTE_POWERS = {"fingers": 1.25, "mind": 0.8, "small": 0.8, "open": 0.6, "blank": 0.2}
"""The power of haste with which slips of each source grow: from the people who slip least to those who slip most, wrong
keys become more frequent than wrong words, and the blank at the end hardly so (tools/fit_en_keyboard.py)."""


def draw_uniform(begin: UInt64Array, draw: int) -> NDArray[np.float64]:
    """Return one draw of each stream, as numbers from 0 up to 1."""
    return (scramble(begin + np.array([draw], np.uint64) * GOLDEN) >> HALF).astype(np.float64) / 2**32


def person_factors(
    population: Mapping[str, NDArray[np.float64]], texts: UInt64Array, who: int, rate: float
) -> dict[str, NDArray[np.float64]]:
    """Return by what each source of slips is multiplied in each text, and the odds that one stays, as "unseen".

    Args:
        population: The quantiles of each trait, evenly spaced from 0 to 1; of a text's own as "TRAIT in a text".
        texts: Where the streams of the texts start.
        who: The number of the person who types them, or 0 for another person in each.
        rate: A factor of the haste.
    """
    person = scramble(np.full(len(texts), who, np.uint64) if who else texts ^ GOLDEN)
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


MAX_RATE = 10  # rate
FIRST_KEY = 64  # draws before it belong to the text as a whole
UNKNOWN = SIZE // PARTS[0]  # places below it are of characters that no key types
DRAWS = 64  # kept for each key
PERSON = 0x9E3779B1


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
        """Return what typing `text` changes."""
        return simulate_typing(load_typist_model(), self, [text], np.array([stream_start(rng)], np.uint64))[0]

    def edits_from_keys(self, texts: Sequence[str], seed: int, keys: Sequence[str]) -> list[tuple[Edit, ...]]:
        """Return what typing each text changes."""
        return simulate_typing(load_typist_model(), self, texts, stream_starts(f"{self.name}/{seed}", keys))

    def untouched(self, text: str) -> str:
        """Say what of `text` no slip can happen to, and why; nothing where all of it is typed.

        >>> EnKeyboard().untouched("café 北京")
        'no key of its own: é 北 京'
        """
        place, _ = classify_characters([text])
        unknown = dict.fromkeys(text[at] for at in np.flatnonzero(place < UNKNOWN).tolist())
        return f"no key of its own: {' '.join(unknown)}" if unknown else ""


def simulate_typing(
    model: TypistModel, op: EnKeyboard, texts: Sequence[str], begin: UInt64Array
) -> list[tuple[Edit, ...]]:
    """Return the edits of texts whose random streams start at `begin`.

    Every key has draws of its own, so that all keys of all texts are drawn at once; the few that slip are then written
    one by one.
    """
    if op.who:
        begin = scramble(begin ^ np.uint64(op.who * PERSON & MASK))  # two people slip at different keys of a text
    person = person_factors(model.people, begin, op.who, op.rate)
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
            second = make_slip(model.kinds[number], press)  # fingers prefer what they have typed before
            edit = second if second and leaves_only_words(texts[row], second, model.words) else edit
        if edit is None or edit.text == texts[row][edit.start : edit.end]:
            continue
        if edits_by_text[row] and (
            edit.start < edits_by_text[row][-1].end or edit.start == edits_by_text[row][-1].start
        ):
            continue  # a key has one slip, and a slip of several keys takes theirs
        if notice_draw < _odds_to_share(key_odds * at_a_glance) or leaves_only_words(texts[row], edit, model.words):
            edits_by_text[row].append(edit)
    return [tuple(edits) for edits in edits_by_text]


MAX_WORD_LENGTH = 50  # letters; the list has no word as long


def _odds_to_share(odds: Any) -> Any:
    return 1 - 1 / (1 + odds)


def leaves_only_words(text: str, edit: Edit, words: frozenset[str]) -> bool:
    """Whether the edit leaves nothing but words where it is.

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
