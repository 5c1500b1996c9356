"""A map from characters to texts in the binary form that `tokenizers.normalizers.Precompiled` reads.

The form is sentencepiece's: the size of a double-array trie in bytes, the trie, and the texts, each ended by a zero. A
unit of the trie has a label in its lowest byte, at bit 8 whether a value follows, from bit 10 the distance (by
exclusive or) to its children; a unit with bit 31 holds a value, which is where a text begins.

>>> from tokenizers.normalizers import Precompiled
>>> Precompiled(build_charsmap({"花": "hua", "é": "e"})).normalize_str("花é!")
'huae!'
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

BLOCK = 256  # the children of a node stand in a block of their own, each at its byte
HAS_VALUE, IS_VALUE = 1 << 8, 1 << 31


def build_charsmap(texts: Mapping[str, str]) -> bytes:
    """Return the map; each key is one character.

    Raises:
        ValueError: A key is not one character, or a text holds a zero.
    """
    offsets, pool = _pool_texts(texts)
    prefixes = sorted({key.encode()[:length] for key in texts for length in range(len(key.encode()))})
    bases = {prefix: number * BLOCK for number, prefix in enumerate(prefixes)}  # the root is the empty prefix
    units = [0] * (BLOCK * (len(bases) + 1))
    free = _iter_free_units(len(bases))
    for prefix, base in bases.items():
        if prefix:
            at = bases[prefix[:-1]] ^ prefix[-1]
            units[at] = _pack_unit(prefix[-1], at ^ base)
    for key, offset in offsets.items():
        key_bytes = key.encode()
        at, value = bases[key_bytes[:-1]] ^ key_bytes[-1], next(free)
        units[at] = _pack_unit(key_bytes[-1], at ^ value) | HAS_VALUE
        units[value] = IS_VALUE | offset
    units[0] = _pack_unit(0, 0)
    trie = struct.pack(f"<{len(units)}I", *units)
    return struct.pack("<I", len(trie)) + trie + pool


def _pack_unit(label: int, distance: int) -> int:
    """Return a unit with its children, or its value, at a distance."""
    if distance < 1 << 21:
        return label | distance << 10
    raise ValueError("too many characters for one map; leave some out")


def _pool_texts(texts: Mapping[str, str]) -> tuple[dict[str, int], bytes]:
    """Return where the text of each key begins, and all texts."""
    pool, starts, offsets = bytearray(), {}, {}
    for key, text in texts.items():
        if len(key) != 1 or "\0" in key + text:
            raise ValueError(
                f"{key!r} to {text!r} cannot stand in the map: a key is one character, and no zero is allowed"
            )
        if text not in starts:
            starts[text] = len(pool)
            pool += text.encode() + b"\0"
        offsets[key] = starts[text]
    return offsets, bytes(pool)


def _iter_free_units(blocks: int) -> Iterator[int]:
    """Yield units that no child takes and no block begins with: behind the root, all labels are above 127."""
    for block in range(1, blocks + 1):
        yield from range(block * BLOCK + 1, block * BLOCK + 128)
