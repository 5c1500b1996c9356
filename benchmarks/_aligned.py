"""Where the characters of a text are in what became of it."""

from __future__ import annotations

from rapidfuzz.distance import Levenshtein


def places(clean: str, noisy: str) -> list[int]:
    """Return for each character of a text, and for its end, where what stands for it begins.

    >>> places("她来啦", "他来了吧")
    [0, 1, 2, 4]
    """
    place = [0] * (len(clean) + 1)
    for op in Levenshtein.opcodes(clean, noisy):
        for at in range(op.src_start, op.src_end):
            place[at] = op.dest_start + min(at - op.src_start, op.dest_end - op.dest_start)
        place[op.src_end] = op.dest_end
    return place
