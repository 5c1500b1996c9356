"""Random draws for many texts at once: cheaper than seeding one stream for each.

A hash of the example's key starts its stream (splitmix64), so that a draw depends on nothing but name, seed and key.
`HashedStream` is the same stream for one example, as a `Random`.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import accumulate
from random import Random

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint32]
Places = NDArray[np.int64]
Words = NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # splitmix64: a counter sent through a mixer is a random stream
MIXERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
HALF = np.uint64(32)


def mixed(words: Words) -> Words:
    """Scramble 64-bit words so that near ones come out far apart."""
    for shift, factor in zip((30, 27), MIXERS, strict=True):
        words = (words ^ (words >> np.uint64(shift))) * factor
    return words ^ (words >> np.uint64(31))


def codes(texts: Sequence[str]) -> tuple[Codes, Places]:
    """Return the code points of all texts in a row, and the bounds of the texts."""
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    return points, np.fromiter(accumulate(map(len, texts), initial=0), np.int64, len(texts) + 1)


def starts(name: str, keys: Sequence[str]) -> Words:
    """Return one hash per key: where its random stream starts, the same in every batch and on every machine."""
    points, bounds = codes(keys)
    places = np.arange(len(points)) - np.repeat(bounds[:-1], np.diff(bounds))
    summed = np.zeros(len(points) + 1, np.uint64)
    mixed(points.astype(np.uint64) + (places.astype(np.uint64) + np.uint64(1)) * GOLDEN).cumsum(out=summed[1:])
    begin = np.uint64(int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little"))
    return mixed(np.diff(summed[bounds]) + begin)


def picks(name: str, keys: Sequence[str], options: int) -> list[int]:
    """Return, for each key, one of `options` numbers, each as likely.

    >>> picks("filler_bos/0", ["u1", "u2", "u3"], 8)
    [4, 2, 6]
    """
    chosen: list[int] = ((starts(name, keys) >> HALF) * np.uint64(options) >> HALF).tolist()
    return chosen


class HashedStream(Random):
    """The stream of one example whose operator draws for all at once: `random()` gives the draws of the batch.

    Draw 0 is the start itself, draw n is the start moved by n times `GOLDEN` and mixed; of each, the upper half counts.

    >>> from lapsus.perturbations.core import pick
    >>> [pick(HashedStream(start), range(8)) for start in starts("filler_bos/0", ["u1", "u2", "u3"]).tolist()]
    [4, 2, 6]
    """

    def seed(self, a: object = None, version: int = 2) -> None:
        """Begin at the 64-bit word `a`."""
        if not isinstance(a, int):
            raise TypeError(f"a hashed stream starts at {a!r}; give the number that `starts` returns")
        self.start = a
        self.drawn = 0

    def random(self) -> float:
        """Return the next number from 0 up to 1."""
        word = np.array([self.start], np.uint64)
        if self.drawn:
            word = mixed(word + np.array([self.drawn], np.uint64) * GOLDEN)  # as an array: it may wrap around
        self.drawn += 1
        return int(word[0] >> HALF) / 2**32


def start_of(rng: Random) -> int:
    """Return where the draws of one text start: a hashed stream's own start, or one draw of any other stream."""
    return rng.start if isinstance(rng, HashedStream) else int(rng.random() * 2**53)
