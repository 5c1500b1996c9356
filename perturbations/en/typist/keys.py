"""Where keys lie: which ones a finger hits instead of the right one, on each layout.

>>> sorted(neighbouring_keys("g"))
['b', 'f', 'h', 't', 'v', 'y']
"""

from __future__ import annotations

from functools import cache

ROWS = ("`1234567890-=", "qwertyuiop[]\\", "asdfghjkl;'", "zxcvbnm,./")
OFFSETS = (-0.5, 1.0, 1.25, 1.75)  # in keys, from the left edge of Q less one
SHIFTED = dict(zip('~!@#$%^&*()_+{}|:"<>?', "`1234567890-=[]\\;',./", strict=True))
KEY_POSITIONS = {key: (OFFSETS[y] + x, y) for y, row in enumerate(ROWS) for x, key in enumerate(row)}
REACH = 1.0  # in keys

# The keys of another layout that differ, as they stand on a QWERTY keyboard.
LAYOUTS = {
    "qwerty": {},
    "azerty": dict(zip("qwazm", "azqw;", strict=True)),
    "qwertz": dict(zip("yz", "zy", strict=True)),
}


def find_key(character: str) -> str:
    """Return the key of a character: what it types without shift.

    >>> find_key("T"), find_key(">")
    ('t', '.')
    """
    return SHIFTED.get(character, character.lower())


@cache
def neighbouring_keys(key: str) -> frozenset[str]:
    """Return the keys that touch a key; none for a character that has no key."""
    if key not in KEY_POSITIONS:
        return frozenset()
    x, y = KEY_POSITIONS[key]
    return frozenset(
        other for other, (u, v) in KEY_POSITIONS.items() if other != key and abs(x - u) <= REACH and abs(y - v) <= 1
    )


def to_qwerty(character: str, layout: str) -> str:
    """Return what a QWERTY keyboard has where another layout has `character`, in the same case.

    >>> to_qwerty("A", "azerty"), to_qwerty("e", "azerty")
    ('Q', 'e')
    """
    qwerty_key = LAYOUTS[layout].get(character.lower(), character)
    return qwerty_key.upper() if character.isupper() else qwerty_key


def from_qwerty(character: str, layout: str) -> str:
    """Return what a layout types where a QWERTY keyboard has `character`.

    >>> from_qwerty("Q", "azerty")
    'A'
    """
    back = {qwerty_key: here for here, qwerty_key in LAYOUTS[layout].items()}
    here = back.get(character.lower(), character)
    return here.upper() if character.isupper() else here
