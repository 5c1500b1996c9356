"""Random draws for many texts at once: cheaper than seeding one stream for each.

A hash of the example's key starts its stream (splitmix64), so that a draw depends on nothing but name, seed and key.
`HashedStream` is the same stream for one example, as a `Random`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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


def scramble(words: UInt64Array) -> UInt64Array:
    """Scramble 64-bit words so that near ones come out far apart."""
    for shift, factor in zip((30, 27), MIXERS, strict=True):
        words = (words ^ (words >> np.uint64(shift))) * factor
    return words ^ (words >> np.uint64(31))


def encode_texts(texts: Sequence[str]) -> tuple[CodePoints, Int64Array]:
    """Return the code points of all texts in a row, and the bounds of the texts."""
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    return points, np.fromiter(accumulate(map(len, texts), initial=0), np.int64, len(texts) + 1)


def stream_starts(name: str, keys: Sequence[str]) -> UInt64Array:
    """Return one hash per key: where its random stream starts, the same in every batch and on every machine."""
    points, bounds = encode_texts(keys)
    offsets = np.arange(len(points)) - np.repeat(bounds[:-1], np.diff(bounds))
    summed = np.zeros(len(points) + 1, np.uint64)
    scramble(points.astype(np.uint64) + (offsets.astype(np.uint64) + np.uint64(1)) * GOLDEN).cumsum(out=summed[1:])
    begin = np.uint64(int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little"))
    return scramble(np.diff(summed[bounds]) + begin)


def draw_indices(name: str, keys: Sequence[str], options: int) -> list[int]:
    """Return, for each key, one of `options` numbers, each as likely.

    >>> draw_indices("filler_bos/0", ["u1", "u2", "u3"], 8)
    [4, 2, 6]
    """
    indices: list[int] = ((stream_starts(name, keys) >> HALF) * np.uint64(options) >> HALF).tolist()
    return indices


class HashedStream(Random):
    """The stream of one example whose operator draws for all at once: `random()` gives the draws of the batch.

    Draw 0 is the start itself, draw n is the start moved by n times `GOLDEN` and mixed; of each, the upper half counts.

    >>> from lapsus.perturbations.core import pick
    >>> [pick(HashedStream(start), range(8)) for start in stream_starts("filler_bos/0", ["u1", "u2", "u3"]).tolist()]
    [4, 2, 6]
    """

    def seed(self, a: object = None, version: int = 2) -> None:
        """Begin at the 64-bit word `a`."""
        if not isinstance(a, int):
            raise TypeError(f"a hashed stream starts at {a!r}; give the number that `starts` returns")
        self.start = a
        self.n_drawn = 0

    def random(self) -> float:
        """Return the next number from 0 up to 1."""
        word = np.array([self.start], np.uint64)
        if self.n_drawn:
            word = scramble(word + np.array([self.n_drawn], np.uint64) * GOLDEN)  # as an array: it may wrap around
        self.n_drawn += 1
        return int(word[0] >> HALF) / 2**32


def stream_start(rng: Random) -> int:
    """Return where the draws of one text start: a hashed stream's own start, or one draw of any other stream."""
    return rng.start if isinstance(rng, HashedStream) else int(rng.random() * 2**53)


# Texts that one person enters together: the columns of a row are one sitting, a hundred rows in a row are a block.
# A row whose id ends in a number belongs to the block of that number's hundreds, any other row is a block of its own. So
# the row's id, which stands in every noisy row, records both.


NUMBER = re.compile(r"[0-9]+$")


class SharedStarts(NamedTuple):
    """Where the draws start that texts share: those of one sitting, and those of one block."""

    session: int
    block: int


class SessionStream(HashedStream):
    """The stream of one text, and where the draws start that it shares with others."""

    shared_starts: SharedStarts


def find_block(key: str) -> str:
    """Return the block that a row belongs to, from the row's key: the key without its last two digits.

    >>> find_block("test-01234"), find_block("1299"), find_block("7"), find_block("a")
    ('test-12', '12', '0', 'a')
    """
    number = NUMBER.search(key)
    return key[: number.start()] + (number.group()[:-2].lstrip("0") or "0") if number else key


def session_starts(name: str, sessions: Sequence[str]) -> list[SharedStarts]:
    """Return where the shared draws of each text start, the same in every batch and on every machine."""
    own_starts = stream_starts(f"{name}/sitting", sessions).tolist()
    block_starts = stream_starts(f"{name}/block", list(map(find_block, sessions))).tolist()
    return list(map(SharedStarts, own_starts, block_starts))


def open_session_stream(name: str, key: str) -> SessionStream:
    """Return the stream of a text that is entered in a sitting of its own."""
    stream = SessionStream(int(stream_starts(name, [key])[0]))
    (stream.shared_starts,) = session_starts(name, [key])
    return stream
