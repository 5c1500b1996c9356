"""The fitted typist: the rates of slips by place, and what is typed instead.

A place is a number made of (class, situation, length, doubled): the key, where in its word it is, how long the word is,
and whether the same character follows. Slips depend on nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lapsus.perturbations.streams import WeightedOptions, encode_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lapsus.perturbations.streams import Int64Array


DATA = Path(__file__).parents[1] / "data"
FITTED = DATA / "en_keyboard.json"
WORDS = DATA / "words.txt"
SLIP_SOURCES = {
    **dict.fromkeys(("other", "next", "omit", "swap", "space", "cut_word", "add_word"), "mind"),
    "lower": "small",
    "open": "open",
    "after_end": "blank",
}
"""The source of each kind of slip; of all others it is the fingers."""
MAX_CHANCE = 0.5  # of one kind of slip at one key
Floats = NDArray[np.float64]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
MARKS = " .,'-?!"
CLOSING = ".?!"  # these are other classes at the end of a text
CLASSES = ("unknown", *LETTERS, *LETTERS.upper(), "digit", *MARKS, "symbol", *(f"final {mark}" for mark in CLOSING))
SITUATIONS = ("first of text", "first", "second", "inside", "last", "alone", "last of text", "no letter")
LENGTHS = ("no word", "1 to 3", "4 to 6", "7 or more")
PARTS = (len(CLASSES), len(SITUATIONS), len(LENGTHS), 2)
SIZE = prod(PARTS)

_CLASS_OF = np.zeros(0x2020, np.int64)  # what no key of a US keyboard types is unknown, and has no slips
_CLASS_OF[0x21:0x7F] = CLASSES.index("symbol")
for _number, _name in enumerate(CLASSES):
    if len(_name) == 1:
        _CLASS_OF[ord(_name)] = _number
for _digit in "0123456789":
    _CLASS_OF[ord(_digit)] = CLASSES.index("digit")
_CLASS_OF[ord("’")] = CLASSES.index("'")
_FINAL = np.zeros(len(CLASSES), np.int64)
for _mark in CLOSING:
    _FINAL[CLASSES.index(_mark)] = CLASSES.index(f"final {_mark}")
_LAST_LETTER = CLASSES.index("digit")


@dataclass(frozen=True, slots=True, eq=False)
class TypistModel:
    """The fitted typist.

    Args:
        kinds: The kinds of slips, in the order of drawing.
        slip_rates: The chance of each kind at each place.
        uncorrected_odds: The odds that a slip stays although the person corrects.
        source_rates: The chance at each place of all kinds of one source.
        outputs: What each kind of slip types, by the class of the character.
        shares: Single numbers, by name.
        people: The quantiles of each trait's factor in the population.
        words: The known words, which look right at a glance.
    """

    kinds: tuple[str, ...]
    slip_rates: Floats
    uncorrected_odds: Floats
    source_rates: Mapping[str, Floats]
    outputs: Mapping[str, Mapping[str, WeightedOptions]]
    shares: Mapping[str, float]
    people: Mapping[str, Floats]
    words: frozenset[str]

    @classmethod
    def from_fit(cls, fitted: Mapping[str, Any]) -> TypistModel:
        """Return the model of a fitted table."""
        kinds = tuple(fitted["slips"])
        slips, uncorrected = (_compute_chances(fitted[part], kinds) for part in ("slips", "left"))
        uncorrected_share = np.clip(
            np.divide(uncorrected, slips, out=np.zeros_like(uncorrected), where=slips > 0), 0, 0.999
        )
        sources = np.array([find_source(kind) for kind in kinds])
        return cls(
            kinds,
            slips,
            uncorrected_share / (1 - uncorrected_share),
            {source: slips[:, sources == source].sum(axis=1) for source in sorted(set(sources.tolist()))},
            {
                kind: {name: WeightedOptions.from_weights(weights) for name, weights in by_class.items()}
                for kind, by_class in fitted["written"].items()
            },
            fitted["shares"],
            {trait: np.array(quantiles) for trait, quantiles in fitted["people"].items()},
            frozenset(WORDS.read_text(encoding="utf-8").split()),
        )


@cache
def load_typist_model() -> TypistModel:
    """Return what `tools/fit_en_keyboard.py` fitted to the logs of 1,160 typists (Dhakal et al. 2018)."""
    return TypistModel.from_fit(json.loads(FITTED.read_text(encoding="utf-8")))


def find_source(kind: str) -> str:
    """Return the source of a kind of slip.

    >>> find_source("beside"), find_source("lower")
    ('fingers', 'small')
    """
    return SLIP_SOURCES.get(kind, "fingers")


def _compute_chances(rates: Mapping[str, Any], kinds: tuple[str, ...]) -> Floats:
    """Return the chance of each kind at each place: a product over the parts of the place."""
    chances = np.zeros((SIZE, len(kinds)))
    for number, kind in enumerate(kinds):
        rate = rates[kind]
        parts = np.full(PARTS, rate["rate"])
        for axis, part_factors in enumerate(rate["parts"]):
            parts *= np.array(part_factors).reshape([-1 if axis == other else 1 for other in range(len(PARTS))])
        chances[:, number] = parts.reshape(-1)
        for place, factor in rate["cells"].items():
            chances[int(place), number] *= factor
    chances[: chances.shape[0] // PARTS[0]] = 0  # the unknown class
    return np.minimum(chances, MAX_CHANCE)


def classify_characters(texts: Sequence[str]) -> tuple[NDArray[np.int64], Int64Array]:
    """Return the places of the characters of all texts in one array, and where each text begins and ends in it.

    >>> places, _ = classify_characters(["I see."])
    >>> classes, situations, lengths, doubled = np.unravel_index(places, PARTS)
    >>> [(CLASSES[a], SITUATIONS[b]) for a, b in zip(classes[:3], situations[:3])], doubled.tolist()
    ([('I', 'first of text'), (' ', 'no letter'), ('s', 'first')], [0, 0, 0, 1, 0, 0])
    """
    points, bounds = encode_texts(texts)
    size = len(points)
    if not size:
        return np.zeros(0, np.int64), bounds
    kind = _CLASS_OF[np.minimum(points, len(_CLASS_OF) - 1)]
    begins, ends = np.zeros(size, bool), np.zeros(size, bool)
    filled = bounds[:-1] < bounds[1:]
    begins[bounds[:-1][filled]] = True
    ends[bounds[1:][filled] - 1] = True
    letter = (kind > 0) & (kind <= _LAST_LETTER)
    after = np.append(False, letter[:-1]) & ~begins  # a letter stands before
    before = np.append(letter[1:], False) & ~ends
    first = letter & ~after
    second = letter & np.append(False, first[:-1]) & ~begins
    situation = np.full(size, 3)
    situation[second] = 2
    situation[after & ~before] = 4
    situation[~after & before] = 1
    situation[~after & ~before] = 5
    situation[ends] = 6
    situation[begins] = 0
    situation[~letter] = 7
    same = np.append(points[1:] == points[:-1], False) & ~ends
    kind = np.where(ends & (_FINAL[kind] > 0), _FINAL[kind], kind)
    word = np.cumsum(letter & ~after)  # the number of the last word that began
    length = np.where(letter, np.bincount(word[letter], minlength=size + 1)[word], 0)
    return np.ravel_multi_index((kind, situation, np.searchsorted((1, 4, 7), length, "right"), same), PARTS), bounds
