"""Join the rows of several files by their id.

>>> join("p.csv", ["a", "b"], {"b": {}, "c": {}}, "data.csv")
Join(ids=['b'], missing=['c'], unknown=['a'])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lapsus.io.predictions import format_quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from lapsus.io.predictions import PredictionFile
    from lapsus.io.readers import Row


class Join(NamedTuple):
    """The ids that predictions and data share, those of the data without a prediction, and those not in the data."""

    ids: list[str]
    missing: list[str]
    unknown: list[str]


def join(
    file: object, predicted: Iterable[str], data: Collection[str] | None, reference_name: object = "the data"
) -> Join:
    """Join the ids in `file` to those of the data (`reference_name` is its name in errors); without data, all are joined."""
    ids = dict.fromkeys(predicted)
    if data is None:
        return Join(list(ids), [], [])
    shared = [key for key in ids if key in data]
    if not shared:
        raise ValueError(
            f"{file}: none of its ids is in {reference_name} ({format_quoted(ids, 3)} against {format_quoted(data, 3)});"
            " are they of another dataset or split?"
        )
    return Join(shared, [key for key in data if key not in ids], [key for key in ids if key not in data])


def index_by_id(file: PredictionFile) -> dict[str, Row]:
    """Return the rows of `file` by their id; raise where an id is missing or occurs twice.

    >>> from pathlib import Path
    >>> from lapsus.io.predictions import PredictionFile
    >>> index_by_id(PredictionFile(Path("p.csv"), [{"id": "a", "score": 1}]))
    {'a': {'id': 'a', 'score': 1}}
    """
    rows: dict[str, Row] = {}
    for number, row in enumerate(file.rows, 1):
        key = row.get("id")
        if key is None:
            raise ValueError(f"{file.path}, row {number}: has no 'id'; the columns are {format_quoted(file.columns)}.")
        if key in rows:
            differing = [name for name in ("filter", "epoch", "split", "track") if row.get(name) != rows[key].get(name)]
            cure = f"keep one with where, as in {differing[0]}={row[differing[0]]}" if differing else "keep one of them"
            raise ValueError(f"{file.path}, row {number}: id {key!r} occurs a second time; {cure}.")
        rows[key] = row
    return rows
