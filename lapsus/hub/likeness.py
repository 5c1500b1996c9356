"""How human the noise of a dataset is, told on those of its rows that people wrote too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lapsus.dataset_scripts import noisy_rows
from lapsus.kernel import rows as files
from lapsus.kernel.names import shown, unknown
from lapsus.kernel.words import as_text
from lapsus.perturbations import NoiseTrack

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Likeness:
    """The result of `human_likeness` for one track."""

    track: str
    people: tuple[str, ...]  # the files, one per person
    result: Mapping[str, Any]

    @property
    def cells(self) -> list[str]:
        """The cells of the card's table: the track, then what was made beside what people made."""
        made, people = self.result["synthetic"], self.result["human"]
        pairs = (("micro_average", ".1%"), ("worst_average", ".1%"), ("unchanged", ".0%"), ("edits_per_text", ".2f"))
        return [
            f"`{self.track}`",
            f"{self.result['examples']:,}",
            _number(self.result["auc"]),
            ", ".join(map(_number, self.result["human_aucs"])),
            *(f"{made[name]:{form}} / {people[name]:{form}}" for name, form in pairs),
        ]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def likeness_of(
    rows: Sequence[Row],
    tracks: Mapping[str, Sequence[NoiseTrack]],
    human: Mapping[str, Sequence[Path]],
    *,
    text: str,
    key: str,
    tags: str | None,
    answers: str | None,
) -> list[Likeness]:
    """Compare the noise of tracks with what people made of the same rows.

    Args:
        rows: The clean rows, each with an `id`.
        tracks: The annotators of each track.
        human: Name of a track -> a file for each person, with the columns `key` and `text`; of the rows that all
            people of a track wrote.
        text: The column of texts or tokens.
        key: The column of the id in the files.
        tags: The column of tags, where `text` holds tokens.
        answers: The column of answers that lie in the text.
    """
    found = []
    for track, paths in human.items():
        if track not in tracks:
            raise LookupError(unknown("track", track, tracks))
        people = [_texts(path, text, key) for path in paths]
        known = {row["id"] for row in rows}
        for path, texts in zip(paths, people, strict=True):
            if strange := next((name for name in texts if name not in known), None):
                raise ValueError(f"{path} has the id {strange!r}, which is in none of the rows; leave it out")
        chosen = [row for row in rows if all(row["id"] in texts for texts in people)]
        if not chosen:
            raise ValueError(f"no row is in all of {shown(map(str, paths))}; give files of the same rows")
        made = [
            [as_text(row[text]) for row in noisy_rows(noises, chosen)]
            for noises in (one.noises(column=text, key="id", tags=tags, answers=answers) for one in tracks[track])
        ]
        found.append(Likeness(track, tuple(path.name for path in paths), _compared(made, chosen, people, text)))
    return found


def _compared(
    made: Sequence[Sequence[str]], rows: Sequence[Row], people: Sequence[Mapping[str, str]], text: str
) -> dict[str, Any]:
    from lapsus.metrics.human_likeness.score import human_likeness

    written = [[texts[row["id"]] for texts in people] for row in rows]
    return human_likeness(
        [list(each) for each in zip(*made, strict=True)], [as_text(row[text]) for row in rows], written
    )


def _texts(path: Path, text: str, key: str) -> dict[str, str]:
    """Return what one person wrote, by id."""
    texts: dict[str, str] = {}
    for number, row in enumerate(files.read(path), 1):
        where = f"{path} row {number}"
        absent = [name for name in (key, text) if row.get(name) is None]
        if absent:
            raise ValueError(f"{where} has no {shown(absent)}; its columns are {shown(row)}")
        name = str(row[key])
        if name in texts:
            raise ValueError(f"{where} has the id {name!r} a second time; give a file for each person")
        texts[name] = as_text(row[text])
    return texts
