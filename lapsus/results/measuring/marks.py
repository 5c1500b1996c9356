"""The insertions, deletions and replacements in a text: the recorded edits, or else an alignment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rapidfuzz.distance import Levenshtein

from lapsus.perturbations import Edit, apply


def edits_between(clean: str, noisy: str, recorded: Any = None) -> tuple[Edit, ...]:
    """Return edits that turn the clean text into the noisy one: the recorded ones if they do so, else the fewest.

    `recorded` is the column `edits` of a row, a list or a list for each of several columns.

    >>> edits_between("abc", "axc", [{"start": 0, "end": 2, "text": "ax"}])
    (Edit(start=0, end=2, text='ax'),)
    >>> edits_between("abc", "axc")
    (Edit(start=1, end=2, text='x'),)
    """
    for edits in _lists(recorded):
        try:
            if apply(clean, edits) == noisy:
                return edits
        except ValueError:
            continue  # the edits belong to another column
    return tuple(
        Edit(code.src_start, code.src_end, noisy[code.dest_start : code.dest_end])
        for code in Levenshtein.opcodes(clean, noisy)
        if code.tag != "equal"
    )


def _lists(recorded: Any) -> Iterable[tuple[Edit, ...]]:
    for edits in recorded.values() if isinstance(recorded, Mapping) else [recorded]:
        if isinstance(edits, Sequence) and not isinstance(edits, str):
            try:
                yield tuple(Edit(*((e["start"], e["end"], e["text"]) if isinstance(e, Mapping) else e)) for e in edits)
            except (KeyError, TypeError):
                continue  # the column holds no edits


def parts(clean: str, edits: Iterable[Edit]) -> list[tuple[str, str]]:
    """Return the text in stretches, each as old and new, which are the same where nothing was edited.

    >>> parts("cat", [Edit(0, 1, "b"), Edit(3, 3, "s")])
    [('c', 'b'), ('at', 'at'), ('', 's')]
    """
    found: list[tuple[str, str]] = []
    cursor = 0
    for start, end, new in edits:
        if cursor < start:
            kept = clean[cursor:start]
            found.append((kept, kept))
        if start < end or new:
            found.append((clean[start:end], new))
        cursor = end
    if cursor < len(clean):
        found.append((clean[cursor:], clean[cursor:]))
    return found
