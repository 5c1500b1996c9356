"""Slips on a keyboard: letters left out, doubled, swapped, or hit beside."""

from __future__ import annotations

import re
from bisect import bisect
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lapsus.perturbations.zh.typist.habits import Typist

    Draw = Callable[[], float]

ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
ACCENTS = (("zh", "z"), ("ch", "c"), ("sh", "s"), ("z", "zh"), ("c", "ch"), ("s", "sh"), ("n", "l"), ("l", "n"))
NASAL = re.compile("(?<=[aeiou])n(g?)")
INITIAL = re.compile("[bpmfdtlkjqxrzcsyw]|(?<![zcs])h|(?<![aeiou])n|(?<!n)g|(?<=n)g(?=[aeiou])")  # of syllables
KIN = ("bp", "dt", "gk", "jqx", "zcs", "zj", "cq", "sx", "hf", "hk", "nl", "mn", "lr", "yw")  # consonants made alike


def _find_neighbours() -> dict[str, str]:
    neighbours = {}
    for r, row in enumerate(ROWS):
        for i, key in enumerate(row):
            around = [row[j] for j in (i - 1, i + 1) if 0 <= j < len(row)]
            if r > 0:
                around += [ROWS[r - 1][j] for j in (i, i + 1) if j < len(ROWS[r - 1])]
            if r + 1 < len(ROWS):
                around += [ROWS[r + 1][j] for j in (i - 1, i) if 0 <= j < len(ROWS[r + 1])]
            neighbours[key] = "".join(around)
    return neighbours


NEIGHBOURS = _find_neighbours()  # the keys that touch each key


def abbreviate(syllables: Sequence[str], draw: Draw) -> str:
    """Return a chunk by initials: all of them, or those of the last syllables alone."""
    full = 0 if draw() < 0.6 else int(draw() * len(syllables))
    both = draw() < 0.2  # letters of zh, ch and sh
    initials = (s[:2] if both and s[1:2] == "h" else s[0] for s in syllables[full:])
    return "".join(syllables[:full]) + "".join(initials)


def apply_slip(keys: str, typist: Typist, draw: Draw, *, short: bool = False) -> str:
    """Return `keys` with one slip."""
    if not keys.isalpha():
        return keys
    at = int(draw() * len(keys))
    if keys[at] not in "aeiouvng" and draw() < typist.slip_initial:
        at = int(draw() * len(keys))
    slip = _SLIPS[bisect(_cumulate_shares(typist, short=short), draw())]
    return slip(keys, at, draw)


def _miss_key(keys: str, at: int, draw: Draw) -> str:  # noqa: ARG001 - slips are called alike
    return keys[:at] + keys[at + 1 :]


def _hit_neighbour(keys: str, at: int, draw: Draw) -> str:
    around = NEIGHBOURS[keys[at]]
    return keys[:at] + around[int(draw() * len(around))] + keys[at + 1 :]


def _double_key(keys: str, at: int, draw: Draw) -> str:
    around = NEIGHBOURS[keys[at]]
    return keys[:at] + around[int(draw() * len(around))] + keys[at:]


def _swap_keys(keys: str, at: int, draw: Draw) -> str:  # noqa: ARG001 - slips are called alike
    at = max(0, min(at, len(keys) - 2))
    return keys[:at] + keys[at : at + 2][::-1] + keys[at + 2 :]


def _change_nasal(keys: str, at: int, draw: Draw) -> str:
    match = NASAL.search(keys)
    if match is None:
        return _change_accent(keys, at, draw)
    return keys[: match.start()] + ("n" if match[1] else "ng") + keys[match.end() :]


def _change_accent(keys: str, at: int, draw: Draw) -> str:
    first = int(draw() * len(ACCENTS))
    for right, wrong in ACCENTS[first:] + ACCENTS[:first]:
        if right in keys:
            return keys.replace(right, wrong, 1)
    return _miss_key(keys, at, draw)


def _draw_initial(keys: str, draw: Draw) -> int:
    """Return the place of the first letter of one of the syllables."""
    places = [match.start() for match in INITIAL.finditer(keys)] or [0]
    return places[int(draw() * len(places))]


def _hit_initial_neighbour(keys: str, at: int, draw: Draw) -> str:  # noqa: ARG001 - slips are called alike
    return _hit_neighbour(keys, _draw_initial(keys, draw), draw)


def _change_to_kin(keys: str, at: int, draw: Draw) -> str:
    at = _draw_initial(keys, draw)
    choices = "".join(kin for kin in KIN if keys[at] in kin).replace(keys[at], "")
    return (
        keys[:at] + choices[int(draw() * len(choices))] + keys[at + 1 :] if choices else _hit_neighbour(keys, at, draw)
    )


_SLIPS = (
    _miss_key,
    _hit_neighbour,
    _double_key,
    _swap_keys,
    _change_nasal,
    _change_accent,
    _hit_initial_neighbour,
    _change_to_kin,
)


@lru_cache(64)
def _cumulate_shares(typist: Typist, *, short: bool) -> Sequence[float]:
    """Return the shares of the kinds of slips, added up."""
    weights = (
        typist.miss, typist.neighbour, typist.double, typist.swap_short if short else typist.swap,
        typist.nasal, typist.accent, typist.neighbour_initial, typist.kin,
    )  # fmt: skip
    return [total / sum(weights) for total in accumulate(weights)][:-1]
