"""Character error rates of noisy tracks, added up batch by batch for the card."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True)
class TrackRates:
    """How noisy one column of one track is."""

    place: str  # "config/split"
    column: str
    micro_average: float  # mean over rows of the mean over annotators of distance / length
    worst_average: float | None  # the same with the worst annotator of each row, where there are several
    corpus_rate: float  # all edits / all clean characters; a row without clean text has no rate


class ErrorRates:
    """Sums of the edit distances between the clean and noisy texts of one split.

    A column `clean_X` is the clean side of `X`, or of the path that `noisy` names for it; an empty path leaves it out.
    """

    def __init__(self, place: str, features: Mapping[str, Any], noisy: Mapping[str, tuple[str, ...]]) -> None:
        self.place = place
        self.columns: dict[str, tuple[str, ...]] = {}
        for clean in features:
            path = noisy.get(clean, (clean.removeprefix("clean_"),))
            if clean.startswith("clean_") and clean != "clean_tags" and path and path[0] in features:
                self.columns[clean] = path
        self.reads = {name for clean, path in self.columns.items() for name in (clean, path[0])}
        self.sums = {clean: np.zeros(5) for clean in self.columns}  # rows, mean, worst, edits, characters
        self.annotators = dict.fromkeys(self.columns, 1)

    def add(self, batch: Mapping[str, list[Any]]) -> dict[str, tuple[list[str], list[str]]]:
        """Add a batch; return the clean and the first noisy text of each row, per clean column."""
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import cpdist

        texts = {}
        for name, path in self.columns.items():
            clean = [_text(value) for value in batch[name]]
            noisy = [_annotations(value, path[1:]) for value in batch[path[0]]]
            texts[name] = clean, [each[0] if each else "" for each in noisy]
            lengths = np.array([len(each) for each in noisy])
            self.annotators[name] = max(self.annotators[name], int(lengths.max(initial=1)))
            row_of = np.repeat(np.arange(len(clean)), lengths)
            flat_clean = [clean[row] for row in row_of]
            distances = cpdist(flat_clean, [text for each in noisy for text in each], scorer=Levenshtein.distance)
            sizes = np.array([len(text) for text in flat_clean])
            usable = sizes > 0
            rates = distances[usable] / sizes[usable]
            annotated = np.bincount(row_of[usable], minlength=len(clean))
            means = np.bincount(row_of[usable], rates, minlength=len(clean)) / np.maximum(annotated, 1)
            worst = np.zeros(len(clean))
            np.maximum.at(worst, row_of[usable], rates)
            self.sums[name] += [
                np.count_nonzero(annotated),
                means.sum(),
                worst.sum(),
                int(distances[usable].sum()),
                int(sizes.sum()),
            ]
        return texts

    def result(self) -> Iterator[TrackRates]:
        """Yield one line of the card's table per noisy column."""
        for name, (rows, mean, worst, edits, characters) in self.sums.items():
            if rows:
                several = self.annotators[name] > 1
                yield TrackRates(
                    self.place,
                    ".".join(self.columns[name]),
                    mean / rows,
                    worst / rows if several else None,
                    edits / characters,
                )


def _text(value: str | list[str] | None) -> str:
    return value if isinstance(value, str) else " ".join(value or ())


def _annotations(value: Any, path: tuple[str, ...]) -> list[str]:
    """Return the noisy texts of a cell: one, or one per annotator."""
    for step in path:
        value = value[step]
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [annotation["text"] for annotation in value]
    return [_text(value)]
