"""Noise over noise: two lists of edits, made one after the other, as one list of edits of the clean text.

>>> composed("play jazz", [Edit(0, 0, "so ")], [Edit(12, 12, "!"), Edit(1, 2, "ooo")])
(Edit(start=0, end=0, text='sooo '), Edit(start=9, end=9, text='!'))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from lapsus.perturbations.core import Edit, apply, read_edit, trimmed


class _Stretch(NamedTuple):
    """A stretch of the text between both noises: what the first noise wrote, or what the second one replaces."""

    start: int
    end: int
    second: bool  # of equal stretches, what the first noise wrote comes first
    edit: Edit


def composed(clean: str, first: Iterable[Edit], second: Iterable[Edit]) -> tuple[Edit, ...]:
    """Return the edits of `clean` that do what `first` does to it, and then `second` to the outcome.

    Edits that do not touch each other stay as they are, but for their place; those that do become one edit.
    """
    first = tuple(Edit(*edit) for edit in first)
    between = apply(clean, first)
    grown, stretches = 0, [_Stretch(edit.start, edit.end, True, edit) for edit in second]
    for edit in first:
        start = edit.start + grown
        stretches.append(_Stretch(start, start + len(edit.text), False, edit))
        grown += len(edit.text) - (edit.end - edit.start)
    found, shift = list[Edit](), 0  # from a place in the text between to its place in the clean text
    for group in _touching(sorted(stretches, key=lambda each: each[:3])):
        start, end = group[0].start, max(each.end for each in group)
        left = start + shift
        shift += sum(each.edit.end - each.edit.start - (each.end - each.start) for each in group if not each.second)
        changes = [Edit(each.start - start, each.end - start, each.edit.text) for each in group if each.second]
        text = apply(between[start:end], changes)
        edit = Edit(left, end + shift, text)
        if len(group) > 1:
            edit = trimmed(left, clean[left : end + shift], text)
        if clean[edit.start : edit.end] != edit.text:
            found.append(edit)
    return tuple(found)


def _touching(stretches: Iterable[_Stretch]) -> list[list[_Stretch]]:
    """Group sorted stretches that overlap; those that only meet at a border stay apart."""
    groups: list[list[_Stretch]] = []
    end = 0
    for each in stretches:
        if groups and each.start < end:
            groups[-1].append(each)
            end = max(end, each.end)
        else:
            groups.append([each])
            end = each.end
    return groups


def recorded(edits: Sequence[Any] | None) -> tuple[Edit, ...]:
    """Read the edits that a noisy row records, as `Noise` writes them.

    >>> recorded([{"start": 9, "end": 9, "text": "!"}])
    (Edit(start=9, end=9, text='!'),)
    """
    return tuple(map(read_edit, edits or ()))
