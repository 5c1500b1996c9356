"""What was fitted to typing logs, ready for use: how often which slip happens where, and what is written then."""

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


# What a character is and where it stands, as one number: slips depend on nothing else.
# A place is (class, situation, length, doubled): which key, where in its word, how long the word is, and whether the
# same character follows.


LETTERS = "abcdefghijklmnopqrstuvwxyz"
MARKS = " .,'-?!"
CLOSING = ".?!"  # these are other classes at the end of a text
CLASSES = ("unknown", *LETTERS, *LETTERS.upper(), "digit", *MARKS, "symbol", *(f"final {mark}" for mark in CLOSING))
SITUATIONS = ("first of text", "first", "second", "inside", "last", "alone", "last of text", "no letter")
LENGTHS = ("no word", "1 to 3", "4 to 6", "7 or more")
PARTS = (len(CLASSES), len(SITUATIONS), len(LENGTHS), 2)
SIZE = prod(PARTS)

_CLASS_OF = np.zeros(0x2020, np.int64)  # whatever no key of a US keyboard types is unknown: nothing happens there
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


def classify_characters(texts: Sequence[str]) -> tuple[NDArray[np.int64], Int64Array]:
    """Return the place of every character of all texts in a row, and the bounds of the texts.

    >>> found, _ = classify_characters(["I see."])
    >>> classes, situations, lengths, doubled = np.unravel_index(found, PARTS)
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


DATA = Path(__file__).parents[1] / "data"
FITTED = DATA / "en_keyboard.json"
WORDS = DATA / "words.txt"
SLIP_SOURCES = {
    **dict.fromkeys(("other", "next", "omit", "swap", "space", "cut_word", "add_word"), "mind"),
    "lower": "small",
    "open": "open",
    "after_end": "blank",
}
"""Where a kind of slip comes from; all others from the fingers."""
MAX_CHANCE = 0.5  # chance of one kind of slip at one key
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TypistModel:
    """The fitted typist.

    Args:
        kinds: The kinds of slips, in the order in which they are drawn.
        slip_rates: The chance of each kind at each place.
        uncorrected_odds: The odds that such a slip is not taken back by somebody who can.
        source_rates: The chance at each place of all kinds that come from one source.
        outputs: What is written by a kind of slip, by the class of the character.
        shares: Single numbers, by name.
        people: For each trait, the quantiles of its factor in the population.
        words: What looks right at a glance.
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
        """Return the model that a fit wrote down."""
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
    """Return what `tools/fit_en_keyboard.py` found in the logs of 1,160 typists (Dhakal et al. 2018)."""
    return TypistModel.from_fit(json.loads(FITTED.read_text(encoding="utf-8")))


def find_source(kind: str) -> str:
    """Return what a kind of slip comes from.

    >>> find_source("beside"), find_source("lower")
    ('fingers', 'small')
    """
    return SLIP_SOURCES.get(kind, "fingers")


def _compute_chances(rates: Mapping[str, Any], kinds: tuple[str, ...]) -> Floats:
    """Return the chance of each kind at each place: a product of what the parts of a place contribute."""
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
