"""Tracks, the input of a report: the predictions of one model on one track, from code or from files.

>>> Track("bert", "keyboard.2", [{"id": "t-1", "score": 1}]).family
'keyboard'
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain, groupby
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from lapsus.results import inspect_logs, lm_eval_logs
from lapsus.results.classes import named, refuse_disjoint
from lapsus.results.joining import by_id, join
from lapsus.results.predictions import Predictions, few, read, read_beside
from lapsus.results.roles import noisy, of_track
from lapsus.results.track_names import CLEAN, Place, split_all
from lapsus.results.track_names import split as split_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from lapsus.kernel.rows import Row

NAMES = ("{model}.{track}", "{model}/{track}")  # bert.keyboard.2.csv, or keyboard.2.csv in the folder bert


class Origin(NamedTuple):
    """The model, dataset and track of rows, as files and columns name them."""

    model: str
    dataset: str
    track: str


@dataclass(frozen=True, slots=True)
class Track:
    """The predictions of one model on one track.

    A row holds its `id` and either `score`, a number from 0 to 1, or `prediction` and `gold`. It may hold `cluster`
    (the original that several rows share), `text` with `clean_text` (what the model saw, and what was meant; or
    `noise_rate`), and any column that results shall be broken down by. `missing` are the ids of the data that have no
    prediction, `unknown` the predicted ids that are not in the data, `dropped` those without an answer that were left
    out on request.
    """

    model: str
    track: str
    rows: Sequence[Mapping[str, Any]] = field(repr=False)
    dataset: str = ""
    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        """The track's name without the number of its annotator."""
        return re.sub(r"\.\d+$", "", self.track)

    @property
    def unparsed(self) -> int:
        """The number of rows without an answer; each counts as wrong."""
        return sum(map(is_unparsed, self.rows))

    @property
    def annotator(self) -> str:
        """The number of the annotator, or nothing where there is only one."""
        return self.track[len(self.family) + 1 :]


def is_unparsed(row: Mapping[str, Any]) -> bool:
    """Return whether a row lacks the answer it should hold: None, a blank, or NaN, which pandas writes for None.

    A row that was scored has an answer, unless its column `unparsed` says otherwise.

    >>> is_unparsed({"prediction": None, "gold": "yes"}), is_unparsed({"score": 0.5})
    (True, False)
    """
    if row.get("score"):
        return False
    if row.get("unparsed") is not None and str(row["unparsed"]).casefold() == "true":
        return True
    if "prediction" not in row or row.get("score") is not None:
        return False
    said = row["prediction"]
    blank = isinstance(said, str) and not said.strip() and said != row.get("gold")
    return said is None or blank or (isinstance(said, float) and isnan(said))


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
    drop_unparsed: bool = False,
    warn: Callable[[str], object] = warnings.warn,
) -> list[Track]:
    """Read the tracks in `files`, or in the logs of harnesses in a folder.

    Columns `model`, `dataset`, `track` and `annotator` say what a row belongs to. A file without them is named by what
    its harness wrote into it, or by its path: `names` is how paths end, as in "{model}/{dataset}/{track}"; without it,
    bert.keyboard.2.csv and bert/keyboard.2.csv are both understood. `score`, `prediction`, `gold` and `cluster` name
    columns. `references` is a file or a folder that `lapsus build` has written: its columns are joined by id.
    `where` keeps the rows with these values, in the references too where they have such rows. An answer that is missing
    is wrong; `drop_unparsed` leaves such rows out instead. `warn` is told which files of a folder are skipped.
    """
    chosen = {"score": score, "prediction": prediction, "gold": gold, "cluster": cluster}
    data_of = _references(references, split, where)
    parts = [
        (replace(found, rows=rows), origin)
        for path in chain.from_iterable(_logs_in(path, warn) if path.is_dir() else [path] for path in files)
        for found in [read(path, where=where)]
        for origin, rows in _grouped(found.rows, _named_by(found, names))
    ]
    places = _places([origin for _, origin in parts])
    tracks = [
        _track(part, data_of(places[origin].track), chosen, origin.model, places[origin], drop_unparsed)
        for part, origin in parts
    ]
    for who in dict.fromkeys((track.model, track.dataset) for track in tracks):
        mine = [track for track in tracks if (track.model, track.dataset) == who]
        graded = [row for track in mine for row in track.rows if "score" not in row and not is_unparsed(row)]
        said, golds = ([row[role] for row in graded] for role in ("prediction", "gold"))
        refuse_disjoint(who[0], said, golds, times=len(mine))
    return tracks


def _logs_in(folder: Path, warn: Callable[[str], object]) -> list[Path]:
    """Return the logs of harnesses in a folder; other files are skipped, and counted."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    logs = [path for path in files if inspect_logs.looks_like_one(path) or lm_eval_logs.looks_like_one(path)]
    if not logs:
        raise ValueError(
            f"{folder}: holds no log of inspect or lm-evaluation-harness among its {len(files)} files; name the files."
        )
    if skipped := [path.name for path in files if path not in logs]:
        warn(f"{folder}: {len(skipped)} of its {len(files)} files are no logs and were skipped ({few(skipped, 3)}).")
    return logs


def _places(named: Sequence[Origin]) -> dict[Origin, Place]:
    """Return the dataset and track of each name; one name may state both."""
    found: dict[Origin, Place] = {}
    for model in dict.fromkeys(origin.model for origin in named):
        mine = [origin for origin in named if origin.model == model]
        together = split_all([origin.track for origin in mine if not origin.dataset])
        for origin in mine:
            known = split_name(origin.track)
            alone = known.track if known and not known.dataset else origin.track
            found[origin] = Place(origin.dataset, alone) if origin.dataset else together[origin.track]
    return found


def _grouped(rows: list[Row], default: Mapping[str, str]) -> Iterable[tuple[Origin, list[Row]]]:
    """Split rows by the model, dataset and track that their columns name."""

    def origin(row: Row) -> Origin:
        model, dataset, track = (
            str(row.get(name) or default.get(name) or "") for name in ("model", "dataset", "track")
        )
        annotator = row.get("annotator")
        return Origin(model, dataset, track if annotator is None or track in CLEAN else f"{track}.{annotator}")

    return ((key, list(group)) for key, group in groupby(sorted(rows, key=origin), key=origin))


def _named_by(found: Predictions, names: str | None) -> dict[str, str]:
    """Return the model, dataset and track that a file's harness or path names."""
    columns = set(found.columns)
    if names is None and found.task is not None:
        told = {"dataset": found.task, "track": found.track} if found.track else {"track": found.task}
        return {"model": found.model or "", **told}
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


def _references(references: Path | None, split: str, where: Mapping[str, str] | None) -> Callable[[str], Data | None]:
    """Return a function that gives the data of a track; each file is read once."""
    if references is None or references.is_file():
        data = None if references is None else _data([read_beside(references, where)])
        return lambda _: data
    return cache(partial(_published, references, split, where))


class Data(NamedTuple):
    """The data of a track's examples: rows by id, and the class names of the columns that hold class numbers."""

    rows: dict[str, Row]
    classes: Mapping[str, tuple[str, ...]]


def _data(files: Sequence[Predictions]) -> Data:
    rows = [row for file in files for row in file.rows]
    return Data(by_id(replace(files[0], rows=rows)), files[0].classes)


def _published(folder: Path, split: str, where: Mapping[str, str] | None, track: str) -> Data:
    """Return the data of one track of a published folder, from its Parquet."""
    files = sorted((folder / track).glob(f"{split}-*.parquet"))
    if not files:
        held = sorted(path.name for path in folder.glob("*/") if any(path.glob("*.parquet")))
        raise FileNotFoundError(f"{folder}: holds no split {split!r} of track {track!r}; it holds {few(held)}.")
    return _data([read_beside(file, where) for file in files])


def _track(
    found: Predictions,
    data: Data | None,
    chosen: Mapping[str, str | None],
    model: str,
    place: Place,
    drop_unparsed: bool,
) -> Track:
    """Join one track's predictions to the data and give their columns the names of `Track`."""
    predicted = by_id(found)
    known = {} if data is None else data.rows
    joined = join(found.path, predicted, None if data is None else known)
    rows = [{**known.get(key, {}), **predicted[key]} for key in joined.ids]
    columns = list(dict.fromkeys(chain.from_iterable(rows)))
    roles = of_track(found, columns, chosen)
    classes = {**({} if data is None else data.classes), **found.classes}
    rows = [_row(row, roles) for row in rows]
    if "score" not in roles:
        rows = named(rows, classes.get(roles["gold"]))
    unparsed = [row["id"] for row in rows if is_unparsed(row)]
    if drop_unparsed:
        rows = [row for row in rows if not is_unparsed(row)]
    lacking = [row["id"] for row in rows if "score" not in roles and row["gold"] is None]
    if lacking:
        raise ValueError(
            f"{found.path}: {len(lacking)} rows have no right answer (id {few(lacking, 3)}); leave them out, or give"
            " the references."
        )
    dropped = tuple(unparsed) if drop_unparsed else ()
    return Track(model, place.track, rows, place.dataset, tuple(joined.missing), tuple(joined.unknown), dropped)


def _row(row: Row, roles: Mapping[str, str]) -> Row:
    """Give the columns of one row the names of `Track`, and pair every text with its clean form."""
    flat = {**(row["translation"] if isinstance(row.get("translation"), dict) else {}), **row}
    both = [(flat[name], flat[f"clean_{name}"]) for name in noisy(flat)]
    pairs = [pair for pair in both if all(isinstance(text, str) for text in pair)]
    texts = {"text": [text for text, _ in pairs], "clean_text": [clean for _, clean in pairs]}
    return {**row, **(texts if pairs else {}), **{role: row.get(column) for role, column in roles.items()}}
