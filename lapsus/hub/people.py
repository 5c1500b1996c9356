"""What people wrote of an author's rows: files of JSON lines with `id` and `text`, as tracks of a dataset.

A line holds the id of a row and what the person made of its text, under `text` or the name of the column; for pairs
both columns. It may hold `annotator`, where several people share a file, `split`, where two splits have the same ids,
and anything else: how the text was entered is for `lapsus fit`, and is not published.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lapsus.core.edits import Edit
from lapsus.core.messages import format_list
from lapsus.core.text import to_text
from lapsus.dataset_scripts.human_tracks import HumanTrackChecks
from lapsus.hub.row_store import RowStore
from lapsus.io.streams import open_streams
from lapsus.metrics.human_likeness.score import diff_texts

Key = tuple[str, str]  # split and id


@dataclass(frozen=True, slots=True)
class Person:
    """The texts of one person: the columns that they changed, by split and id."""

    name: str
    rows: Mapping[Key, Mapping[str, Any]] = field(repr=False)

    def count(self, split: str) -> int:
        """Return the number of rows of a split that the person wrote."""
        return sum(name == split for name, _ in self.rows)

    def iter_rows(
        self, split: str, rows: Iterable[Mapping[str, Any]], texts: Sequence[str]
    ) -> Iterator[dict[str, Any]]:
        """Yield the rows that the person wrote, with clean twins, derived edits and the person's name as operator."""
        for row in rows:
            written = self.rows.get((split, row["id"]))
            if written is None:
                continue
            edits = {name: derive_edits(to_text(row[name]), to_text(written[name])) for name in texts}
            clean = {f"clean_{name}": row[name] for name in written}
            yield {**row, **written, **clean, "edits": edits, "operator": f"person: {self.name}"}


def derive_edits(clean: str, noisy: str) -> list[dict[str, Any]]:
    """Return the shortest edits that lead from a clean text to a noisy one.

    >>> derive_edits("slow down", "slow dawn")
    [{'start': 6, 'end': 7, 'text': 'a'}]
    """
    return [Edit(start, start + len(old), new)._asdict() for start, old, new in diff_texts(clean, noisy)]


def read_people(
    tracks: Mapping[str, Sequence[Path]], store: RowStore, *, extra: Sequence[str] = ()
) -> dict[str, tuple[Person, ...]]:
    """Return the people of each track; `extra` are columns that move with the text, such as tags.

    Raises ValueError with file and row where a file does not fit the rows.
    """
    ids: dict[str, list[str]] = {}
    for split, rows in store.splits.items():
        for row in rows:
            ids.setdefault(row["id"], []).append(split)
    people: dict[str, tuple[Person, ...]] = {}
    for track, files in tracks.items():
        by_person: dict[str, dict[Key, dict[str, Any]]] = {}
        for file in files:
            own = _read_file(file, ids, [path.name for path in store.texts], extra)
            if shared := sorted(own.keys() & by_person.keys()):
                raise ValueError(f"{file} has texts of {shared[0]!r}, as another file has; give each person one file")
            by_person |= own
        people[track] = tuple(Person(name, rows) for name, rows in by_person.items())
    return people


def _read_file(
    file: Path, ids: Mapping[str, list[str]], texts: Sequence[str], extra: Sequence[str]
) -> dict[str, dict[Key, dict[str, Any]]]:
    """Return the rows of a file by person."""
    people: dict[str, dict[Key, dict[str, Any]]] = {}
    for stream in open_streams(file).values():
        for number, row in enumerate(stream.read(), 1):
            where = f"{file} row {number}"
            if row.get("id") is None:
                raise ValueError(f"{where} has no id; its columns are {format_list(row)}")
            key = _find_row(where, row, ids)
            person = str(row.get("annotator") if row.get("annotator") is not None else file.stem)
            written = {name: _get_text(where, row, name, is_only=len(texts) == 1) for name in texts}
            for name in extra:
                if row.get(name) is None:
                    raise ValueError(f"{where} has no {name}, which moves with the text; give it as it is there")
                written[name] = row[name]
            rows = people.setdefault(person, {})
            if key in rows:
                raise ValueError(f"{where} has the id {key[1]!r} a second time; keep one of both texts")
            rows[key] = written
    if not people:
        raise ValueError(f"{file} has no rows; give it some")
    return people


def _find_row(where: str, row: Mapping[str, Any], ids: Mapping[str, list[str]]) -> Key:
    name = str(row["id"])
    splits = ids.get(name, [])
    if row.get("split") in splits:
        return str(row["split"]), name
    if not splits:
        raise ValueError(f"{where} has the id {name!r}, which is in none of the rows; leave it out")
    if len(splits) > 1:
        raise ValueError(f"{where} has the id {name!r} of the splits {format_list(splits)}; name its `split`")
    return splits[0], name


def _get_text(where: str, row: Mapping[str, Any], name: str, *, is_only: bool) -> Any:
    value = row.get(name)
    if value is None and is_only:
        value = row.get("text")
    if value is None:
        raise ValueError(f"{where} has no {name}; its columns are {format_list(row)}")
    if not (isinstance(value, str) and value.strip()) and not (isinstance(value, list) and value):
        raise ValueError(f"{where} has {value!r} as its {name}, which is no text; leave the row out, or mend it")
    return value


def check_people(people: Mapping[str, Sequence[Person]], store: RowStore) -> list[str]:
    """Return what is odd in the texts of people; raise where they are not what they should be."""
    flags = []
    texts = [path.name for path in store.texts]
    for track, persons in people.items():
        for split, rows in store.splits.items():
            checks = HumanTrackChecks(f"{track}/{split}")
            for row in rows:
                clean = {path.name: path.get(row) for path in store.texts}
                checks.add(
                    row["id"],
                    "\n".join(to_text(clean[name]) for name in texts),
                    {
                        person.name: "\n".join(to_text(written[name]) for name in texts)
                        for person in persons
                        if (written := person.rows.get((split, row["id"])))
                    },
                )
            flags += checks.finish()
    return flags
