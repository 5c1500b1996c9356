"""Rated translations in the form of WMT's direct assessments: a CSV file of lp, src, mt, ref, raw.

`lp` is the pair of languages (`en-zh`), `src` the source, `mt` the translation that was rated, `ref` a reference, `raw`
the rating from 0 to 100. Where a file has `score` in its place (z-scores by rater, as COMET's training files), these
are taken as they are.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lapsus.kernel.atomic import staged_file
from lapsus.kernel.names import shown
from lapsus.kernel.rows import read
from lapsus.models.tagged_inputs import INPUTS, tag

COLUMNS = ("lp", "src", "mt", "ref", "raw")


@dataclass(frozen=True, slots=True)
class Rated:
    """A translation with its source, a reference, its language and a rating: from 0 to 1, or a z-score."""

    candidate: str
    reference: str
    source: str
    language: str
    rating: float


def read_ratings(path: Path) -> list[Rated]:
    """Read rated translations."""
    rows = read(path)
    if not rows:
        raise ValueError(f"{path} has no rows; give rated translations")
    column = "raw" if "raw" in rows[0] else "score"
    lacking = [name for name in ("lp", "src", "mt", "ref", column) if name not in rows[0]]
    if lacking:
        raise LookupError(f"{path} has no column {lacking[0]!r} (it has {shown(rows[0])}); give {', '.join(COLUMNS)}")
    return [_rated(row, column, f"{path}, row {number}") for number, row in enumerate(rows, 1)]


def _rated(row: dict[str, Any], column: str, where: str) -> Rated:
    _, dash, language = str(row["lp"]).partition("-")
    if not dash or not language:
        raise ValueError(f"{where} has the lp {row['lp']!r}; write both languages, as in en-zh")
    rating = row[column]
    if isinstance(rating, bool) or not isinstance(rating, int | float):
        raise TypeError(f"{where} has the {column} {rating!r}; give a number")
    if column == "raw" and not 0 <= rating <= 100:
        raise ValueError(f"{where} has the raw rating {rating}; give 0 to 100, or z-scores in a column score")
    candidate, reference, source = ("" if row[name] is None else str(row[name]) for name in ("mt", "ref", "src"))
    return Rated(candidate, reference, source, language, rating / 100 if column == "raw" else float(rating))


def write_ratings(path: Path, rated: Iterable[Rated], source: str = "en") -> None:
    """Write ratings from 0 to 1 as WMT's from 0 to 100."""
    text = io.StringIO(newline="")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(COLUMNS)
    for each in rated:
        raw = round(100 * each.rating, 4)
        lines.writerow([f"{source}-{each.language}", each.source, each.candidate, each.reference, raw])
    with staged_file(path) as file:
        file.write(text.getvalue().encode())


def examples(rated: Sequence[Rated], form: str) -> list[tuple[str, float]]:
    """Return the input of each translation, with the tag of its language in general, and its rating."""
    return [
        (
            INPUTS[form].format(
                candidate=each.candidate, reference=each.reference, source=each.source, tag=tag(each.language)
            ),
            each.rating,
        )
        for each in rated
    ]
