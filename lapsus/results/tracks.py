"""What one model did on one track, as the report takes it; made by hand or from files of predictions.

>>> Track("bert", "keyboard.2", [{"id": "t-1", "score": 1}]).family
'keyboard'
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

from lapsus.results.joining import by_id, join
from lapsus.results.predictions import Predictions, few, read, read_beside
from lapsus.results.roles import noisy, of_track

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from lapsus.kernel.rows import Row

NAMES = ("{model}.{track}", "{model}/{track}")  # bert.keyboard.2.csv, or keyboard.2.csv in the folder bert
CLEAN = ("clean", "original")


@dataclass(frozen=True, slots=True)
class Track:
    """The predictions of one model on one track.

    A row holds its `id` and either `score`, a number from 0 to 1, or `prediction` and `gold`. It may hold `cluster`
    (the original that several rows share), `text` with `clean_text` (what the model saw, and what was meant; or
    `noise_rate`), and any column that results shall be broken down by. `missing` are the ids of the data that have no
    prediction, `unknown` the predicted ids that are not in the data.
    """

    model: str
    track: str
    rows: Sequence[Mapping[str, Any]] = field(repr=False)
    dataset: str = ""
    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        """The track's name without the number of its annotator."""
        return re.sub(r"\.\d+$", "", self.track)

    @property
    def annotator(self) -> str:
        """The number of the annotator, or nothing where there is only one."""
        return self.track[len(self.family) + 1 :]


def read_tracks(
    files: Sequence[Path],
    *,
    references: Path | None = None,
    names: str | None = None,
    score: str | None = None,
    prediction: str | None = None,
    gold: str | None = None,
    cluster: str | None = None,
    where: Mapping[str, str] | None = None,
    split: str = "test",
) -> list[Track]:
    """Read the tracks in `files`.

    Columns `model`, `dataset`, `track` and `annotator` say what a row belongs to. A file without them is named by what
    its harness wrote into it, or by its path: `names` is how paths end, as in "{model}/{dataset}/{track}"; without it,
    bert.keyboard.2.csv and bert/keyboard.2.csv are both understood. `score`, `prediction`, `gold` and `cluster` name
    columns. `references` is a file or a folder that `lapsus build` has written: its columns are joined by id.
    `where` keeps the rows with these values, in the references too where they have such rows.
    """
    chosen = {"score": score, "prediction": prediction, "gold": gold, "cluster": cluster}
    data_of = _references(references, split, where)
    tracks: list[Track] = []
    for path in files:
        found = read(path, where=where)
        default = _named_by(found, names)
        for (model, dataset, name), rows in _grouped(found.rows, default):
            part = Predictions(path, rows, found.model, found.task, found.metrics)
            tracks.append(_track(part, data_of(name), chosen, model=model, dataset=dataset, name=name))
    return tracks


def _grouped(rows: list[Row], default: Mapping[str, str]) -> Iterable[tuple[tuple[str, str, str], list[Row]]]:
    """Split rows by the model, dataset and track that their columns name."""

    def belongs(row: Row) -> tuple[str, str, str]:
        model, dataset, track = (
            str(row.get(name) or default.get(name) or "") for name in ("model", "dataset", "track")
        )
        annotator = row.get("annotator")
        return model, dataset, track if annotator is None or track in CLEAN else f"{track}.{annotator}"

    return ((key, list(group)) for key, group in groupby(sorted(rows, key=belongs), key=belongs))


def _named_by(found: Predictions, names: str | None) -> dict[str, str]:
    """Return the model, dataset and track that a file's harness or path names."""
    columns = set(found.columns)
    if names is None and found.task is not None:
        parts = re.fullmatch(r"(?:(?P<dataset>.+)[_./-])?(?P<track>clean|original|[a-z]+\.\d+)", found.task)
        return {"model": found.model or "", **(parts.groupdict() if parts else {"track": found.task})}
    whole = found.path.resolve().with_suffix("").as_posix()
    for pattern in NAMES if names is None else (names,):
        parts = re.search(_as_regex(pattern), whole)
        if parts:
            return parts.groupdict()
    if {"model", "track"} <= columns:
        return {}
    raise ValueError(
        f"{found.path}: names no model and track: its path does not end like {names or ' or '.join(NAMES)};"
        " rename it, give names, or add columns 'model' and 'track'."
    )


def _as_regex(pattern: str) -> str:
    """Turn a pattern of names into a regular expression for the end of a path.

    >>> re.search(_as_regex("{model}.{track}"), "/runs/gpt-4.1.keyboard.2").groupdict()
    {'model': 'gpt-4.1', 'track': 'keyboard.2'}
    """
    fields = {
        "model": r"(?P<model>[^/]+)",
        "dataset": r"(?P<dataset>[^/]+)",
        "track": r"(?P<track>[^/.\d][^/.]*(?:\.\d+)?)",
    }
    parts = re.split(r"\{(\w+)\}", pattern)
    unknown = set(parts[1::2]) - fields.keys()
    if unknown or "track" not in parts[1::2]:
        raise ValueError(
            f"names {pattern!r} is not understood; use {{track}}, {{model}} and {{dataset}}, as in {NAMES[1]!r}."
        )
    return "(?:^|/)" + "".join(fields[part] if i % 2 else re.escape(part) for i, part in enumerate(parts)) + "$"


def _references(
    references: Path | None, split: str, where: Mapping[str, str] | None
) -> Callable[[str], dict[str, Row] | None]:
    """Return what gives the rows of a track's data by id, each file being read once."""
    if references is None or references.is_file():
        rows = None if references is None else by_id(read_beside(references, where))
        return lambda _: rows
    return cache(partial(_published, references, split, where))


def _published(folder: Path, split: str, where: Mapping[str, str] | None, track: str) -> dict[str, Row]:
    """Return the rows of one track of a published folder by id, from its Parquet."""
    files = sorted((folder / track).glob(f"{split}-*.parquet"))
    if not files:
        held = sorted(path.name for path in folder.glob("*/") if any(path.glob("*.parquet")))
        raise FileNotFoundError(f"{folder}: holds no split {split!r} of track {track!r}; it holds {few(held)}.")
    return by_id(Predictions(folder / track, [row for file in files for row in read_beside(file, where).rows]))


def _track(
    found: Predictions,
    data: dict[str, Row] | None,
    chosen: Mapping[str, str | None],
    *,
    model: str,
    dataset: str,
    name: str,
) -> Track:
    """Join one track's predictions to the data and give their columns the names of `Track`."""
    predicted = by_id(found)
    joined = join(found.path, predicted, data)
    rows = [{**(data or {}).get(key, {}), **predicted[key]} for key in joined.ids]
    columns = list(dict.fromkeys(chain.from_iterable(rows)))
    roles = of_track(found, columns, chosen)
    return Track(model, name, [_row(row, roles) for row in rows], dataset, tuple(joined.missing), tuple(joined.unknown))


def _row(row: Row, roles: Mapping[str, str]) -> Row:
    """Give the columns of one row the names of `Track`, and pair every text with its clean form."""
    flat = {**(row["translation"] if isinstance(row.get("translation"), dict) else {}), **row}
    both = [(flat[name], flat[f"clean_{name}"]) for name in noisy(flat)]
    pairs = [pair for pair in both if all(isinstance(text, str) for text in pair)]
    texts = {"text": [text for text, _ in pairs], "clean_text": [clean for _, clean in pairs]}
    return {**row, **(texts if pairs else {}), **{role: row.get(column) for role, column in roles.items()}}
