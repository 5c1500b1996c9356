"""Edits: what noise does to a text, as values that are recorded and replayed.

>>> apply("slow down", [Edit(9, 9, "!")])
'slow down!'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

Span: TypeAlias = tuple[int, int]
PLACE = ("turn", "part")  # of an edit in a conversation


class Edit(NamedTuple):
    """Replace `source[start:end]` with `text`."""

    start: int
    end: int
    text: str


def apply(text: str, edits: Iterable[Edit | tuple[int, int, str] | Mapping[str, Any]]) -> str:
    """Replay `edits` on `text`; they may be as a noisy row records them.

    >>> apply("hello", [Edit(0, 1, "j"), Edit(5, 5, "!")])
    'jello!'
    >>> apply("hello", [{"start": 0, "end": 1, "text": "j"}])
    'jello'
    """
    parts: list[str] = []
    cursor = 0
    for edit in edits:
        start, end, new = edit if isinstance(edit, tuple) else parse_edit(edit)
        if not cursor <= start <= end <= len(text):
            raise ValueError(
                f"edit {(start, end, new)} overlaps its neighbour or leaves the text of {len(text)} characters; "
                "edits must be sorted and within the text"
            )
        parts += text[cursor:start], new
        cursor = end
    parts.append(text[cursor:])
    return "".join(parts)


def parse_edit(edit: Mapping[str, Any] | Sequence[Any]) -> Edit:
    """Return an edit that a noisy row records, as `Noise` writes it; that of a conversation also names its turn.

    >>> parse_edit({"start": 9, "end": 9, "text": "!"})
    Edit(start=9, end=9, text='!')
    """
    if isinstance(edit, Mapping):
        edit = {name: value for name, value in edit.items() if name not in PLACE}
        return Edit(**edit)
    return Edit(*edit)


def parse_edits(edits: Sequence[Any] | None) -> tuple[Edit, ...]:
    """Return the edits that a noisy row records; none where it records nothing.

    >>> parse_edits([{"start": 9, "end": 9, "text": "!"}]), parse_edits(None)
    ((Edit(start=9, end=9, text='!'),), ())
    """
    return tuple(map(parse_edit, edits or ()))


def trim_edit(start: int, old: str, new: str) -> Edit:
    """Return the edit that replaces `old` at `start` by `new`, without the characters that both begin or end with.

    >>> trim_edit(3, "abcd", "axd")
    Edit(start=4, end=6, text='x')
    """
    head, tail = common_affixes(old, new)
    return Edit(start + head, start + len(old) - tail, new[head : len(new) - tail])


def common_affixes(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Return the length of the longest common start of two sequences, and of the longest common end behind it.

    >>> common_affixes("banana", "bana")
    (4, 0)
    """
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


def overlaps(start: int, end: int, spans: Iterable[Span]) -> bool:
    """Return whether the characters from `start` to `end` share any with one of `spans`.

    >>> overlaps(2, 5, [(5, 9)]), overlaps(2, 6, [(5, 9)])
    (False, True)
    """
    return any(start < right and left < end for left, right in spans)
