"""What stays the same while a person types: the outcome of a word in one session, care and input method in a block.

It can be compiled (see setup.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

if TYPE_CHECKING:
    from lapsus.perturbations.streams import SharedStarts
    from lapsus.perturbations.zh.typist.keys import Draw

PRIME = 2**31 - 1
STEP, SCRAMBLE = 48271, 1566083941  # of Lehmer's generator, and of a hash; their products with a state have 62 bits


class TypingSession(NamedTuple):
    """Where the draws start that texts typed together share."""

    words: int  # below PRIME: of what becomes of a word
    block: int  # below PRIME: of care and of the input method

    @classmethod
    def for_person(cls, shared: SharedStarts, person: int = 0) -> TypingSession:
        """Return the session of one of several people who type the same rows."""
        return cls((shared.session * 4096 + 64 * person) % PRIME, (shared.block * 4096 + person) % PRIME)

    def next_pass(self, times: int) -> TypingSession:
        """Return the session in which a text is typed once more."""
        return TypingSession((self.words + times) % PRIME, self.block)


def open_draws(start: int, about: str) -> Draw:
    """Return the draws about a word in a session, which are the same wherever the word is.

    >>> draw, same, other = open_draws(5, "还款"), open_draws(5, "还款"), open_draws(5, "还")
    >>> draw() == same(), draw() == other()
    (True, False)
    """
    state = _hash_state(start, about)

    def draw() -> float:
        nonlocal state
        state = state * STEP % PRIME
        return state / PRIME

    return draw


def draw_first(start: int, about: str) -> float:
    """Return the first of the draws about something.

    >>> draw_first(5, "还款") == open_draws(5, "还款")()
    True
    """
    return _hash_state(start, about) * STEP % PRIME / PRIME


def _hash_state(start: int, about: str) -> int:
    state = (crc32(about.encode("utf-8", "surrogatepass")) + start) % PRIME * SCRAMBLE % PRIME
    state = (state ^ state >> 15) % PRIME * SCRAMBLE % PRIME
    return (state ^ state >> 15) % PRIME or 1
