"""Where keys lie: which ones a finger hits instead of the right one, on each layout.

>>> sorted(beside("g"))
['b', 'f', 'h', 't', 'v', 'y']
"""

from __future__ import annotations

from functools import cache

ROWS = ("`1234567890-=", "qwertyuiop[]\\", "asdfghjkl;'", "zxcvbnm,./")
OFFSETS = (-0.5, 1.0, 1.25, 1.75)  # in keys, from the left edge of Q less one
SHIFTED = dict(zip('~!@#$%^&*()_+{}|:"<>?', "`1234567890-=[]\\;',./", strict=True))
PLACES = {key: (OFFSETS[y] + x, y) for y, row in enumerate(ROWS) for x, key in enumerate(row)}
REACH = 1.0  # in keys

# The keys of another layout that differ, as they stand on a QWERTY keyboard.
LAYOUTS = {
    "qwerty": {},
    "azerty": dict(zip("qwazm", "azqw;", strict=True)),
    "qwertz": dict(zip("yz", "zy", strict=True)),
}


def key(character: str) -> str:
    """Return the key of a character: what it types without shift.

    >>> key("T"), key(">")
    ('t', '.')
    """
    return SHIFTED.get(character, character.lower())


@cache
def beside(one: str) -> frozenset[str]:
    """Return the keys that touch a key; none for a character that has no key."""
    if one not in PLACES:
        return frozenset()
    x, y = PLACES[one]
    return frozenset(
        other for other, (u, v) in PLACES.items() if other != one and abs(x - u) <= REACH and abs(y - v) <= 1
    )


def on_qwerty(character: str, layout: str) -> str:
    """Return what a QWERTY keyboard has where another layout has `character`, in the same case.

    >>> on_qwerty("A", "azerty"), on_qwerty("e", "azerty")
    ('Q', 'e')
    """
    there = LAYOUTS[layout].get(character.lower(), character)
    return there.upper() if character.isupper() else there


def from_qwerty(character: str, layout: str) -> str:
    """Return what a layout types where a QWERTY keyboard has `character`.

    >>> from_qwerty("Q", "azerty")
    'A'
    """
    back = {there: here for here, there in LAYOUTS[layout].items()}
    here = back.get(character.lower(), character)
    return here.upper() if character.isupper() else here
