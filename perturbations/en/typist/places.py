"""What a character is and where it stands, as one number: slips depend on nothing else.

A place is (class, situation, length, doubled): which key, where in its word, how long the word is, and whether the
same character follows.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from lapsus.perturbations.hashed_draws import codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lapsus.perturbations.hashed_draws import Places

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


def places(texts: Sequence[str]) -> tuple[NDArray[np.int64], Places]:
    """Return the place of every character of all texts in a row, and the bounds of the texts.

    >>> found, _ = places(["I see."])
    >>> classes, situations, lengths, doubled = np.unravel_index(found, PARTS)
    >>> [(CLASSES[a], SITUATIONS[b]) for a, b in zip(classes[:3], situations[:3])], doubled.tolist()
    ([('I', 'first of text'), (' ', 'no letter'), ('s', 'first')], [0, 0, 0, 1, 0, 0])
    """
    points, bounds = codes(texts)
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
