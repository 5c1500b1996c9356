"""Ratings made from translations in two dialects, where no people's ratings are at hand.

They are no judgements of people. The order is certain (a copy, a free translation, one whose meaning was changed by
one word, another sentence); the numbers are set by hand. A copy and a free translation are changed alike, so that how
many words a candidate shares with its reference does not give away which was changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from random import Random
from typing import Any

from lapsus.models.nano.ratings import Rated
from lapsus.perturbations.semantic.edits import Language, semantic_edit

COPY, FREE, CHANGED_COPY, CHANGED_FREE, OTHER = 1.0, 0.9, 0.3, 0.2, 0.0


def constructed(rows: Iterable[Mapping[str, Any]], language: Language, seed: int = 0) -> list[Rated]:
    """Return five ratings of each row with `source`, `base` and `dialect`, fewer where no certain edit was found.

    Each row gives one of its two texts as the reference, drawn by the seed; a row without `dialect` (English has one
    text) gives no free translation.
    """
    rows = list(rows)
    return [rated for number, row in enumerate(rows) for rated in _of_row(rows, number, row, language, seed)]


def _of_row(
    rows: list[Mapping[str, Any]], number: int, row: Mapping[str, Any], language: Language, seed: int
) -> Iterator[Rated]:
    rng = Random(f"constructed ratings/{seed}/{row['id']}")
    sides = [row["base"], row.get("dialect") or row["base"]]
    reference, free = sides if rng.random() < 0.5 else sides[::-1]
    other = rows[(number + 1 + int(rng.random() * (len(rows) - 1))) % len(rows)]["base"]
    found = [(reference, COPY), (other, OTHER)]
    if free != reference:
        found.append((free, FREE))
    for text, rating in ((reference, CHANGED_COPY), (free, CHANGED_FREE)):
        edited = semantic_edit(text, language, key=str(row["id"]), seed=seed)
        if edited is not None and (rating == CHANGED_COPY or free != reference):
            found.append((edited.text, rating))
    for candidate, rating in found:
        yield Rated(candidate, reference, row["source"], language, rating)
