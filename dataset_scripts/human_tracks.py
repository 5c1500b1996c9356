"""Checks of what people wrote: whether the texts belong to their rows, and whether they are their own.

Every benchmark's noisy rows without recorded edits go through `HumanTrackChecks`, and so do the files of people that
`lapsus make` takes. A file may be wrong as a whole (rows rotated, another language, a copy) or in some rows
(exchanged ones).

>>> checks = HumanTrackChecks("keyboard/test")
>>> for number, text in enumerate(["slow down", "play jazz", "call mom", "stop it", "wake up", "be quick"]):
...     checks.add(str(number), text, {1: text})
>>> checks.finish()
Traceback (most recent call last):
...
ValueError: keyboard/test: annotator 1 changed none of the 6 texts; give what was typed, not the clean texts
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from lapsus.core.messages import format_list
from lapsus.core.text import to_text
from lapsus.stats.noise_rates import compute_edit_distances

OUTLIER_RATE = 0.5  # error rate from which a row is held against others
FAR = 0.9  # share of the distance to the next row's clean text at which a text belongs to neither
MIN_LENGTH = 4  # characters; shorter texts are like others by chance
MIN_ROWS = 5  # fewer rows may be equal by chance
MAX_OUTLIERS = 2000  # that are held against each other
NAMED_OUTLIERS = 3
BATCH = 1000
EQUAL_SHARE = 0.95  # of changed texts that two people have in common, from which one is a copy


class OutlierRow(NamedTuple):
    """A row whose noisy text is far from its clean one."""

    id: str
    clean: str
    noisy: str
    rate: float
    number: int = 0  # of the row


@dataclass(slots=True)
class _Annotator:
    """What one person wrote, as sums over rows."""

    rows: int = 0
    changed: int = 0
    characters: int = 0
    own_distance: int = 0
    next_distance: int = 0  # to the clean text of the row before
    hashes: array[int] = field(default_factory=lambda: array("q"))  # of changed texts, 0 for others
    outliers: list[OutlierRow] = field(default_factory=list)


class HumanTrackChecks:
    """Takes the rows of a track one after the other, and says at the end what is wrong with it."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.annotators: dict[Hashable, _Annotator] = {}
        self.length = 0
        self.last_clean = ""
        self.batch: list[tuple[Hashable, int, str, str, str, str]] = []  # the last is the clean text before

    def add(self, id: str, clean: str, noisy: Mapping[Hashable, str]) -> None:
        """Add a row with what each annotator made of it; a text that is missing or was not heard is left out."""
        if not clean:
            return
        for name, text in noisy.items():
            annotator = self.annotators.setdefault(name, _Annotator())
            if not text:
                continue
            annotator.rows += 1
            annotator.changed += text != clean
            annotator.hashes.extend([0] * (self.length - len(annotator.hashes)))
            annotator.hashes.append(hash(text) if text != clean else 0)
            self.batch.append((name, self.length, id, clean, text, self.last_clean))
        self.length += 1
        self.last_clean = clean
        if len(self.batch) >= BATCH:
            self._measure()

    def _measure(self) -> None:
        if not self.batch:
            return
        names, numbers, ids, clean, noisy, other = zip(*self.batch, strict=True)
        own = compute_edit_distances(noisy, clean).tolist()
        next_row = compute_edit_distances(noisy, other).tolist()
        self.batch = []
        for name, number, row_id, text, written, distance, other_text, other_distance in zip(
            names, numbers, ids, clean, noisy, own, other, next_row, strict=True
        ):
            annotator = self.annotators[name]
            if other_text and other_text != text:
                annotator.own_distance += distance
                annotator.next_distance += other_distance
            if distance > OUTLIER_RATE * len(text):
                annotator.outliers.append(OutlierRow(row_id, text, written, distance / len(text), number))

    def finish(self) -> list[str]:
        """Return what is odd, each a sentence; raise ValueError where the texts are not what they should be."""
        self._measure()
        flags = []
        for name, annotator in self.annotators.items():
            who = self._name(name)
            self._check_track(who, annotator)
            self._check_places(who, annotator.outliers[:MAX_OUTLIERS])
            if annotator.outliers:
                rows = sorted(annotator.outliers, key=lambda row: -row.rate)
                named = format_list((f"{row.id} ({row.rate:.0%})" for row in rows[:NAMED_OUTLIERS]), NAMED_OUTLIERS)
                flags.append(
                    f"{who} differs by more than half in {len(rows):,} of {annotator.rows:,} rows, such as {named}"
                )
        for first, second in combinations(self.annotators, 2):
            self._check_equal(first, second)
        return flags

    def _name(self, name: Hashable) -> str:
        return f"{self.place}: annotator {name}" if name != "" else self.place

    def _check_track(self, who: str, annotator: _Annotator) -> None:
        """Raise where a track as a whole is a copy of the clean texts, or no version of them."""
        if annotator.rows >= MIN_ROWS and not annotator.changed:
            raise ValueError(
                f"{who} changed none of the {annotator.rows:,} texts; give what was typed, not the clean texts"
            )
        if annotator.rows >= MIN_ROWS and annotator.own_distance >= FAR * annotator.next_distance > 0:
            raise ValueError(
                f"{who} is as far from its own clean texts as from those of other rows; "
                "its rows are in another place or its texts in another language: align the files"
            )

    def _check_places(self, who: str, rows: Sequence[OutlierRow]) -> None:
        """Raise where rows have the texts of each other, or several in a row those of their neighbours."""
        moved = find_moved_rows(rows)
        for row, target in moved.items():
            if moved.get(target) == row:
                raise ValueError(
                    f"{who} has the texts of rows {rows[row].id!r} and {rows[target].id!r} exchanged: "
                    "each reads like the other's clean text; align the files"
                )
            if target in moved and _shift(rows, row, target) == _shift(rows, target, moved[target]):
                raise ValueError(
                    f"{who} has the texts of several rows moved: row {rows[row].id!r} reads like the clean text of "
                    f"{rows[target].id!r}, and {rows[target].id!r} like that of {rows[moved[target]].id!r}; "
                    "align the files"
                )

    def _check_equal(self, first: Hashable, second: Hashable) -> None:
        """Raise where two annotators changed the same texts in the same way."""
        left, right = (np.frombuffer(self.annotators[name].hashes, np.int64) for name in (first, second))
        length = min(len(left), len(right))
        if not length:
            return
        changed = (left[:length] != 0) | (right[:length] != 0)
        equal = int(((left[:length] == right[:length]) & changed).sum())
        if equal >= MIN_ROWS and equal >= EQUAL_SHARE * int(changed.sum()):
            raise ValueError(
                f"{self.place}: annotators {first} and {second} wrote the same in {equal:,} of {int(changed.sum()):,} "
                "changed texts; give each person's own file"
            )


def _shift(rows: Sequence[OutlierRow], row: int, target: int) -> int:
    return rows[target].number - rows[row].number


def find_moved_rows(rows: Sequence[OutlierRow]) -> dict[int, int]:
    """Return rows whose noisy text is twice as near to the clean text of one other of these rows, with that row.

    People do type a neighbour's text now and then, so that one such row is no mistake of a file; short texts are alike
    by chance.

    >>> first, second = OutlierRow("1", "借呗额度", "花贝还款", 1), OutlierRow("5", "花呗还款", "借被额度", 1)
    >>> find_moved_rows([first, second, OutlierRow("7", "余额", "借呗额度", 1)])
    {0: 1, 1: 0, 2: 0}
    """
    clean = [row.clean for row in rows]
    lengths = np.array([len(text) for text in clean])
    moved = {}
    for index, row in enumerate(rows):
        rates = compute_edit_distances([row.noisy] * len(clean), clean) / lengths
        rates[(lengths < MIN_LENGTH) | (np.arange(len(rows)) == index)] = np.inf
        best = int(rates.argmin())
        limit = min(OUTLIER_RATE, row.rate / 2)
        if rates[best] <= limit and (rates == rates[best]).sum() == 1:
            moved[index] = best
    return moved


def list_annotations(value: Any) -> dict[Hashable, str]:
    """Return the texts of a noisy cell by annotator; "" is the only one, or the first one where they have no number.

    >>> list_annotations([{"annotator": 2, "text": "a"}]), list_annotations("b"), list_annotations(["c", "d"])
    ({2: 'a'}, {'': 'b'}, {'': 'c d'})
    """
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        if "annotator" not in value[0]:
            return {"": to_text(value[0]["text"] or "")}
        return {entry["annotator"]: to_text(entry["text"] or "") for entry in value}
    return {"": to_text(value or "")}


def join_texts(parts: Iterable[dict[Hashable, str]]) -> dict[Hashable, str]:
    r"""Return what each annotator wrote in several columns, as one text.

    >>> join_texts([{1: "a", 2: "b"}, {1: "c"}])
    {1: 'a\nc'}
    """
    columns = list(parts)
    shared = [name for name in columns[0] if all(name in column for column in columns)] if columns else []
    return {name: "\n".join(column[name] for column in columns) for name in shared}
