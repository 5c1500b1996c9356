"""Noise over noise: two lists of edits, made one after the other, as one list of edits of the clean text.

>>> compose_edits("play jazz", [Edit(0, 0, "so ")], [Edit(12, 12, "!"), Edit(1, 2, "ooo")])
(Edit(start=0, end=0, text='sooo '), Edit(start=9, end=9, text='!'))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from lapsus.core.edits import Edit, apply, parse_edit, trim_edit


class _Stretch(NamedTuple):
    """A stretch of the text between both noises: what the first noise wrote, or what the second one replaces."""

    start: int
    end: int
    second: bool  # of equal stretches, what the first noise wrote comes first
    edit: Edit


def compose_edits(clean: str, first: Iterable[Edit], second: Iterable[Edit]) -> tuple[Edit, ...]:
    """Return the edits of `clean` that do what `first` does to it, and then `second` to the outcome.

    Edits that do not touch each other stay as they are, but for their place; those that do become one edit.
    """
    first = tuple(Edit(*edit) for edit in first)
    intermediate = apply(clean, first)
    growth, stretches = 0, [_Stretch(edit.start, edit.end, True, edit) for edit in second]
    for edit in first:
        start = edit.start + growth
        stretches.append(_Stretch(start, start + len(edit.text), False, edit))
        growth += len(edit.text) - (edit.end - edit.start)
    edits, shift = list[Edit](), 0  # from a place in the text between to its place in the clean text
    for group in _group_overlapping(sorted(stretches, key=lambda stretch: stretch[:3])):
        start, end = group[0].start, max(stretch.end for stretch in group)
        left = start + shift
        shift += sum(
            stretch.edit.end - stretch.edit.start - (stretch.end - stretch.start)
            for stretch in group
            if not stretch.second
        )
        changes = [
            Edit(stretch.start - start, stretch.end - start, stretch.edit.text) for stretch in group if stretch.second
        ]
        text = apply(intermediate[start:end], changes)
        edit = Edit(left, end + shift, text)
        if len(group) > 1:
            edit = trim_edit(left, clean[left : end + shift], text)
        if clean[edit.start : edit.end] != edit.text:
            edits.append(edit)
    return tuple(edits)


def _group_overlapping(stretches: Iterable[_Stretch]) -> list[list[_Stretch]]:
    """Group sorted stretches that overlap; those that only meet at a border stay apart."""
    groups: list[list[_Stretch]] = []
    end = 0
    for stretch in stretches:
        if groups and stretch.start < end:
            groups[-1].append(stretch)
            end = max(end, stretch.end)
        else:
            groups.append([stretch])
            end = stretch.end
    return groups


def parse_edits(edits: Sequence[Any] | None) -> tuple[Edit, ...]:
    """Read the edits that a noisy row records, as `Noise` writes them.

    >>> parse_edits([{"start": 9, "end": 9, "text": "!"}])
    (Edit(start=9, end=9, text='!'),)
    """
    return tuple(map(parse_edit, edits or ()))
