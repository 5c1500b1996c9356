"""Random streams that start at a hash of a key, and draws by weight.

A draw depends on the operator's name, the seed and the key alone. Draws for many texts are made at once: cheaper than a
seeded `Random` for each. `HashedStream` is the same stream for one text. The texts of one session, and those of one
block of a hundred rows, also share a stream. Sessions and blocks follow from the keys, which stand in the noisy rows.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import accumulate
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

CodePoints = NDArray[np.uint32]
Int64Array = NDArray[np.int64]
UInt64Array = NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # splitmix64: a counter sent through a mixer is a random stream
MIXERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
HALF = np.uint64(32)
STEP, MASK = int(GOLDEN), 2**64 - 1
STEPS = tuple(zip((30, 27), map(int, MIXERS), strict=True))  # of `scramble`, as plain integers
ENDING_NUMBER = re.compile(r"[0-9]+$")


def scramble(words: UInt64Array) -> UInt64Array:
    """Return 64-bit words scrambled, so that similar words become unrelated ones."""
    for shift, factor in zip((30, 27), MIXERS, strict=True):
        words = (words ^ (words >> np.uint64(shift))) * factor
    return words ^ (words >> np.uint64(31))


def encode_texts(texts: Sequence[str]) -> tuple[CodePoints, Int64Array]:
    """Return the code points of all texts in one array, and where each text begins and ends in it."""
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    return points, np.fromiter(accumulate(map(len, texts), initial=0), np.int64, len(texts) + 1)


def stream_starts(name: str, keys: Sequence[str]) -> UInt64Array:
    """Return the start of each key's random stream: a hash, the same in every batch and on every machine."""
    points, bounds = encode_texts(keys)
    offsets = np.arange(len(points)) - np.repeat(bounds[:-1], np.diff(bounds))
    summed = np.zeros(len(points) + 1, np.uint64)
    scramble(points.astype(np.uint64) + (offsets.astype(np.uint64) + np.uint64(1)) * GOLDEN).cumsum(out=summed[1:])
    begin = np.uint64(int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little"))
    return scramble(np.diff(summed[bounds]) + begin)


def draw_indices(name: str, keys: Sequence[str], options: int) -> list[int]:
    """Return for each key a number below `options`, all equally likely.

    >>> draw_indices("filler_bos/0", ["u1", "u2", "u3"], 8)
    [4, 2, 6]
    """
    indices: list[int] = ((stream_starts(name, keys) >> HALF) * np.uint64(options) >> HALF).tolist()
    return indices


class HashedStream(Random):
    """The stream of one text, whose `random()` gives the same numbers as draws for a whole batch.

    Draw 0 is the start itself; draw n is the start plus n times `GOLDEN`, scrambled. The upper 32 bits are the number.

    >>> from lapsus.perturbations.core import pick
    >>> [pick(HashedStream(start), range(8)) for start in stream_starts("filler_bos/0", ["u1", "u2", "u3"]).tolist()]
    [4, 2, 6]
    """

    def seed(self, a: object = None, version: int = 2) -> None:
        """Start at the 64-bit word `a`."""
        if not isinstance(a, int):
            raise TypeError(f"a hashed stream starts at {a!r}; give a number of `stream_starts`")
        self.start = a
        self.n_drawn = 0

    def random(self) -> float:
        """Return the next number in [0, 1)."""
        word = np.array([self.start], np.uint64)
        if self.n_drawn:
            word = scramble(word + np.array([self.n_drawn], np.uint64) * GOLDEN)  # as an array: it may wrap around
        self.n_drawn += 1
        return int(word[0] >> HALF) / 2**32


def stream_start(rng: Random) -> int:
    """Return the start of the draws of one text: that of a hashed stream, or one draw from any other."""
    return rng.start if isinstance(rng, HashedStream) else int(rng.random() * 2**53)


class FastStream:
    """The draws of a hashed stream after its first, on plain integers: for many short streams.

    >>> hashed, fast = HashedStream(7), FastStream(7)
    >>> _ = hashed.random()
    >>> [hashed.random(), hashed.random()] == [fast.random(), fast.random()]
    True
    """

    __slots__ = ("word",)

    def __init__(self, start: int) -> None:
        """Start at a 64-bit word."""
        self.word = start

    def random(self) -> float:
        """Return the next number in [0, 1)."""
        self.word = word = (self.word + STEP) & MASK
        for shift, factor in STEPS:
            word = ((word ^ (word >> shift)) * factor) & MASK
        return ((word ^ (word >> 31)) >> 32) / 2**32


class SharedStarts(NamedTuple):
    """The starts of the draws that a text shares with those of its session, and with those of its block."""

    session: int
    block: int


class SessionStream(HashedStream):
    """The stream of one text, with the starts of the draws that it shares."""

    shared_starts: SharedStarts


def find_block(key: str) -> str:
    """Return the block of a row: its key without the last two digits; a key that ends in no number is its own block.

    >>> find_block("test-01234"), find_block("1299"), find_block("7"), find_block("a")
    ('test-12', '12', '0', 'a')
    """
    number = ENDING_NUMBER.search(key)
    return key[: number.start()] + (number.group()[:-2].lstrip("0") or "0") if number else key


def session_starts(name: str, sessions: Sequence[str]) -> list[SharedStarts]:
    """Return the starts of the shared draws of each text, the same in every batch and on every machine."""
    own_starts = stream_starts(f"{name}/sitting", sessions).tolist()
    block_starts = stream_starts(f"{name}/block", list(map(find_block, sessions))).tolist()
    return list(map(SharedStarts, own_starts, block_starts))


def open_session_stream(name: str, key: str) -> SessionStream:
    """Return the stream of a text that is a session of its own."""
    stream = SessionStream(int(stream_starts(name, [key])[0]))
    (stream.shared_starts,) = session_starts(name, [key])
    return stream


class WeightedOptions(NamedTuple):
    """Texts to draw from, and the sums of their weights up to each."""

    texts: tuple[str, ...]
    cumulative: tuple[float, ...]

    @classmethod
    def from_weights(cls, weights: Mapping[str, float]) -> WeightedOptions:
        """Return the options of a table of weights."""
        return cls(tuple(weights), tuple(accumulate(weights.values())))

    def pick(self, share: float) -> str:
        """Return the option at a share from 0 to 1.

        >>> WeightedOptions.from_weights({"a": 1, "b": 3}).pick(0.5)
        'b'
        """
        return self.texts[pick_index(self.cumulative, share)]


def pick_index(cumulative: Sequence[float], share: float) -> int:
    """Return the index at a share from 0 to 1 of the sums of weights up to each index.

    >>> pick_index([1.0, 4.0], 0.5), pick_index([1.0, 4.0], 1.0)
    (1, 1)
    """
    return min(bisect(cumulative, share * cumulative[-1]), len(cumulative) - 1)


def draw_index(weights: Iterable[float], share: float) -> int:
    """Return the index at a share from 0 to 1 of these weights."""
    return pick_index(list(accumulate(weights)), share)
