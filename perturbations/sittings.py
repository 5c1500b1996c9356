"""Texts that one person enters together: the columns of a row are one sitting, a hundred rows in a row are a block.

A row whose id ends in a number belongs to the block of that number's hundreds, any other row is a block of its own. So
the row's id, which stands in every noisy row, records both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lapsus.perturbations.hashed_draws import HashedStream, starts

NUMBER = re.compile(r"[0-9]+$")


class Together(NamedTuple):
    """Where the draws start that texts share: those of one sitting, and those of one block."""

    sitting: int
    block: int


class SeatedStream(HashedStream):
    """The stream of one text, and where the draws start that it shares with others."""

    together: Together


def block_of(key: str) -> str:
    """Return the block that a row belongs to, from the row's key: the key without its last two digits.

    >>> block_of("test-01234"), block_of("1299"), block_of("7"), block_of("a")
    ('test-12', '12', '0', 'a')
    """
    number = NUMBER.search(key)
    return key[: number.start()] + (number.group()[:-2].lstrip("0") or "0") if number else key


def sitting_starts(name: str, sittings: Sequence[str]) -> list[Together]:
    """Return where the shared draws of each text start, the same in every batch and on every machine."""
    each = starts(f"{name}/sitting", sittings).tolist()
    blocks = starts(f"{name}/block", list(map(block_of, sittings))).tolist()
    return list(map(Together, each, blocks))


def seated_stream(name: str, key: str) -> SeatedStream:
    """Return the stream of a text that is entered in a sitting of its own."""
    stream = SeatedStream(int(starts(name, [key])[0]))
    (stream.together,) = sitting_starts(name, [key])
    return stream
