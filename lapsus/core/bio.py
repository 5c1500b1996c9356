"""Slots, which are runs of tokens with one label, read from BIO, IOBES or BILOU tags.

A tag is `O`, or a part and a label: `B-city` begins, `I-city` continues. IOBES also marks the end (`E`) and the single
token (`S`), which BILOU calls `L` and `U`. A token opens a slot if its part says so, or if the token before it is in
no slot that it can continue, as conlleval reads tags:

>>> extract_slots(["B-city", "I-city", "O", "I-date", "B-date"])
[Slot(start=0, end=2, label='city'), Slot(start=3, end=4, label='date'), Slot(start=4, end=5, label='date')]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from lapsus.core.checks import IntArray

INSIDE, OPENS, CLOSES = 1, 2, 4  # bit flags: what a part says of its token
PREFIX_FLAGS = {
    "O": 0,
    "I": INSIDE,
    "B": INSIDE + OPENS,
    "E": INSIDE + CLOSES,
    "L": INSIDE + CLOSES,
    "S": INSIDE + OPENS + CLOSES,
    "U": INSIDE + OPENS + CLOSES,
}
SCHEMES = {"IOB2": "OBI", "IOBES": "OBIES", "BILOU": "OBILU"}  # the parts that each scheme allows


class Slot(NamedTuple):
    """A slot: the index of its first token, the index after its last token, and its label."""

    start: int
    end: int
    label: str


class SlotArrays(NamedTuple):
    """Many slots: the first token of each, its last token, and the number of its label."""

    first: IntArray
    last: IntArray
    label: IntArray


def parse_tag(tag: str, allowed: Iterable[str] = PREFIX_FLAGS) -> tuple[int, str]:
    """Return the flags of a tag's part, and its label; a part without a label gets `_`, as in seqeval.

    >>> parse_tag("B-city"), parse_tag("O"), parse_tag("I")
    ((3, 'city'), (0, ''), (1, '_'))
    """
    part, dash, label = tag[:1], tag[1:2], tag[2:]
    if part not in allowed or dash not in {"", "-"} or (part == "O" and dash):
        raise ValueError(f"{tag!r} is not a tag: write O, or one of {' '.join(allowed)} and a label, as in B-city.")
    return PREFIX_FLAGS[part], "" if part == "O" else label or "_"


def opens_slot(part: Any, label: Any, part_before: Any, label_before: Any) -> Any:
    """Return whether a token opens a slot, given the token before it: of one token, or of arrays of them."""
    ended = (part_before & (INSIDE | CLOSES)) != INSIDE
    return ((part & INSIDE) > 0) & (((part & OPENS) > 0) | ended | (label != label_before))


def extract_slots(tags: Iterable[str]) -> list[Slot]:
    """Return the slots of one sentence."""
    slots: list[Slot] = []
    previous = PREFIX_FLAGS["O"], ""
    for index, tag in enumerate(tags):
        part, label = parse_tag(tag)
        if opens_slot(part, label, *previous):
            slots.append(Slot(index, index + 1, label))
        elif part & INSIDE:
            slots[-1] = slots[-1]._replace(end=index + 1)
        previous = part, label
    return slots


def extract_slots_batch(
    parts: NDArray[np.int8], labels: IntArray, starts: IntArray, scheme: str | None = None
) -> SlotArrays:
    """Return the slots of many sentences, whose tags stand one after the other and start at `starts`.

    A scheme is strict: a slot has to be opened by its first tag, and in IOBES and BILOU closed by its last.
    """
    part_before, label_before = np.zeros_like(parts), np.zeros_like(labels)
    part_before[1:], label_before[1:] = parts[:-1], labels[:-1]
    part_before[starts] = PREFIX_FLAGS["O"]
    opened = opens_slot(parts, labels, part_before, label_before)
    inside = (parts & INSIDE) > 0
    closed = inside.copy()
    closed[:-1] &= opened[1:] | ~inside[1:]  # a token that opens a slot closes the slot before it
    first, last = np.flatnonzero(opened), np.flatnonzero(closed)
    if scheme is not None:
        is_complete = (parts[first] & OPENS) > 0
        if scheme != "IOB2":
            is_complete &= (parts[last] & CLOSES) > 0
        first, last = first[is_complete], last[is_complete]
    return SlotArrays(first, last, labels[first])
