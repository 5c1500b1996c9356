"""Tracks, the input of a report: the predictions of one model on one track, from code or from files.

>>> Track("bert", "keyboard.2", [{"id": "t-1", "score": 1}]).family
'keyboard'
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lapsus.kernel.frames import Column, Frame, Rows, concatenated, taken, values
from lapsus.kernel.names import shown
from lapsus.results import inspect_logs, lm_eval_logs
from lapsus.results.classes import in_words, refuse_disjoint
from lapsus.results.coding import coded
from lapsus.results.joining import by_id, join
from lapsus.results.predictions import PredictedColumns, Predictions, columns_beside, few, read_columns
from lapsus.results.roles import noisy, of_track
from lapsus.results.track_columns import Columns, columns_of, ids_of, is_unparsed, pooled, scores_of, texts_of_ids
from lapsus.results.track_names import CLEAN, RUN_NOTE, Place, split_all
from lapsus.results.track_names import split as split_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from lapsus.kernel.columns import IntArray
    from lapsus.kernel.rows import Row

MOST_KEPT = 100_000_000  # bytes of files, at most, whose rows are kept; the rows of more are read again when wanted
NAMES = ("{model}.{track}", "{model}/{track}")  # bert.keyboard.2.csv, or keyboard.2.csv in the folder bert


class Origin(NamedTuple):
    """The model, dataset and track of rows, as files and columns name them."""

    model: str
    dataset: str
    track: str


@dataclass(frozen=True)
class Track:
    """The predictions of one model on one track.

    A row holds its `id` and either `score`, a number from 0 to 1, or `prediction` and `gold`. It may hold `cluster`
    (the original that several rows share), `text` with `clean_text` (what the model saw, and what was meant; or
    `noise_rate`), and any column that results shall be broken down by. `missing` are the ids of the data that have no
    prediction, `unknown` the predicted ids that are not in the data, `dropped` those without an answer that were left
    out on request. `files` are what the rows were read from.
    """

    model: str
    track: str
    rows: Sequence[Mapping[str, Any]] = field(repr=False)
    dataset: str = ""
    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()

    @property
    def family(self) -> str:
        """The track's name without the number of its annotator."""
        return re.sub(r"\.\d+$", "", self.track)

    @cached_property
    def columns(self) -> Columns:
        """The rows as arrays; an answer that is missing is wrong."""
        if isinstance(self.rows, FileRows):
            return self.rows.columns
        return columns_of(Frame.of_rows(self.rows), place_of(self))

    @property
    def unparsed(self) -> int:
        """The number of rows without an answer; each counts as wrong."""
        return int(self.columns.unparsed.sum())

    @property
    def annotator(self) -> str:
        """The number of the annotator, or nothing where there is only one."""
        return self.track[len(self.family) + 1 :]

    def chosen(self, numbers: Sequence[int]) -> list[Mapping[str, Any]]:
        """Return the rows with these numbers."""
        if isinstance(self.rows, FileRows):
            return list(self.rows.load().take(numbers).rows())
        return [self.rows[number] for number in numbers]

    def values_of(self, names: Sequence[str], numbers: IntArray) -> list[list[Any]]:
        """Return columns of the rows with these numbers; None where they lack one."""
        if isinstance(self.rows, FileRows):
            held = self.rows.load().columns
            return [values(taken(held[name], numbers)) if name in held else [None] * len(numbers) for name in names]
        rows = [self.rows[number] for number in numbers.tolist()]
        return [[row.get(name) for row in rows] for name in names]


class FileRows(Rows):
    """The rows of a track in a file, read again when they are wanted, and their columns as arrays."""

    def __init__(self, load: Callable[[], Frame], columns: Columns) -> None:
        super().__init__(load, len(columns.scores))
        self.columns = columns


def place_of(track: Track) -> str:
    """Return the name of a track for an error."""
    return _place(track.dataset, track.model, track.track)


def _place(*names: str) -> str:
    return " / ".join(filter(None, names))


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
    paths = [path for file in files for path in (_logs_in(file, warn) if file.is_dir() else [file])]
    parts = [part for path in paths for part in _parts(path, where, names)]
    places = _places([part.origin for part in parts])
    kept = sum(path.stat().st_size for path in paths) <= MOST_KEPT
    pool: dict[bytes, Any] = {}
    tracks = [
        _track(
            part, partial(data_of, places[part.origin].track), chosen, places[part.origin], drop_unparsed, kept, pool
        )
        for part in parts
    ]
    for who in dict.fromkeys((track.model, track.dataset) for track in tracks):
        _refuse_disjoint(who[0], [track for track in tracks if (track.model, track.dataset) == who])
    return tracks


def _logs_in(folder: Path, warn: Callable[[str], object]) -> list[Path]:
    """Return the logs of harnesses in a folder, and what `lapsus run` wrote; other files are skipped, and counted."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != RUN_NOTE)
    logs = [
        path
        for path in files
        if inspect_logs.looks_like_one(path)
        or lm_eval_logs.looks_like_one(path)
        or (path.suffix == ".jsonl" and path.with_name(RUN_NOTE).is_file())
    ]
    if not logs:
        raise ValueError(
            f"{folder}: holds no predictions of lapsus run and no log of inspect or lm-evaluation-harness among its "
            f"{len(files)} files; name the files."
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


@dataclass(frozen=True, slots=True)
class _Part:
    """The rows of one file that belong to one model, dataset and track; `load` reads them, by columns."""

    origin: Origin
    load: Callable[[], PredictedColumns]


def _parts(path: Path, where: Mapping[str, str] | None, names: str | None) -> Iterable[_Part]:
    """Return what a file holds, split by the model, dataset and track that its columns name."""
    read = partial(read_columns, path, where=where)
    found = read()
    default = _named_by(found, names)
    told = [name for name in ("model", "dataset", "track", "annotator") if name in found.frame.columns]
    groups = _groups(found.frame, told)
    parts = []
    for told_values, rows in groups:
        named = dict(zip(told, told_values, strict=True))
        model, dataset, track = (str(named.get(n) or default.get(n) or "") for n in ("model", "dataset", "track"))
        annotator = named.get("annotator")
        origin = Origin(model, dataset, track if annotator is None or track in CLEAN else f"{track}.{annotator}")
        parts.append(_Part(origin, read if len(groups) == 1 else partial(_rows_of, read, rows)))
    return sorted(parts, key=lambda part: part.origin)


def _rows_of(read: Callable[[], PredictedColumns], rows: IntArray) -> PredictedColumns:
    found = read()
    return replace(found, frame=found.frame.take(rows))


def _groups(frame: Frame, names: Sequence[str]) -> list[tuple[tuple[str | None, ...], IntArray]]:
    """Return the distinct values of these columns together, and the rows that have them."""
    if not names:
        return [((), np.arange(frame.length))]
    columns = [coded(frame.columns[name]) for name in names]
    together, inverse = np.unique(np.stack([each.codes for each in columns]), axis=1, return_inverse=True)
    rows = np.split(np.argsort(inverse, kind="stable"), np.cumsum(np.bincount(inverse))[:-1])
    return [
        (tuple(None if code < 0 else each.words[code] for each, code in zip(columns, codes, strict=True)), mine)
        for codes, mine in zip(together.T.tolist(), rows, strict=True)
    ]


def _named_by(found: PredictedColumns, names: str | None) -> dict[str, str]:
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
        data = None if references is None else _data([columns_beside(references, where)])
        return lambda _: data
    return cache(partial(_published, references, split, where))


class Data(NamedTuple):
    """The data of a track's examples: the ids of its rows, and the class names of the columns of class numbers."""

    path: Path
    ids: Any  # pyarrow.StringArray
    frame: Frame
    classes: Mapping[str, tuple[str, ...]]


def _data(files: Sequence[PredictedColumns]) -> Data:
    frame = concatenated(file.frame for file in files)
    return Data(files[0].path, ids_in(replace(files[0], frame=frame)), frame, files[0].classes)


def _published(folder: Path, split: str, where: Mapping[str, str] | None, track: str) -> Data:
    """Return the data of one track of a published folder, from its Parquet."""
    files = sorted((folder / track).glob(f"{split}-*.parquet"))
    if not files:
        held = {f"{path.parent.name}/{path.name.rsplit('-', 3)[0]}" for path in folder.glob("*/*.parquet")}
        inside = {path.parts[-3] for path in folder.glob("*/*/*.parquet")}
        cure = "name the track, or the split, as one of them is" if held else "give the folder of one dataset"
        raise FileNotFoundError(
            f"{folder}: holds no split {split!r} of track {track!r}; it holds {few(sorted(held or inside))}: {cure}."
        )
    return _data([columns_beside(file, where) for file in files])


class _Joined(NamedTuple):
    """The rows of a track with the columns of the data, named as `Track` names them."""

    frame: Frame
    missing: list[str]
    unknown: list[str]
    dropped: list[str]


def _track(
    part: _Part,
    data_of: Callable[[], Data | None],
    chosen: Mapping[str, str | None],
    place: Place,
    drop_unparsed: bool,
    kept: bool,
    pool: dict[bytes, Any],
) -> Track:
    """Read one track; its rows are kept, or else read again when they are wanted."""
    found = part.load()
    made = _joined(found, data_of(), chosen, drop_unparsed)
    columns = pooled(columns_of(made.frame, _place(place.dataset, part.origin.model, place.track)), pool)
    load = partial(_same, made.frame) if kept else partial(_again, part, data_of, chosen, drop_unparsed)
    return Track(
        part.origin.model,
        place.track,
        FileRows(load, columns),
        place.dataset,
        tuple(made.missing),
        tuple(made.unknown),
        tuple(made.dropped),
        (found.path,),
    )


def _same(frame: Frame) -> Frame:
    return frame


def _again(
    part: _Part, data_of: Callable[[], Data | None], chosen: Mapping[str, str | None], drop_unparsed: bool
) -> Frame:
    return _joined(part.load(), data_of(), chosen, drop_unparsed).frame


def _joined(
    found: PredictedColumns, data: Data | None, chosen: Mapping[str, str | None], drop_unparsed: bool
) -> _Joined:
    """Join one track's predictions to the data and give their columns the names of `Track`."""
    ids = ids_in(found)
    frame = found.frame.with_columns({"id": pa.chunked_array([ids])})
    missing: list[str] = []
    unknown: list[str] = []
    if data is not None:
        frame, missing, unknown = _with_data(found, frame, ids, data)
    roles = of_track(found, list(frame.columns), chosen)
    classes = {**({} if data is None else data.classes), **found.classes}
    frame = frame.with_columns({**_paired_texts(frame), **{role: frame.columns[name] for role, name in roles.items()}})
    said = coded(frame.columns["prediction"]) if "prediction" in frame.columns else None
    gold = coded(frame.columns["gold"]) if "gold" in frame.columns else None
    if "score" not in roles and said is not None and gold is not None:
        names = classes.get(roles["gold"])
        named = said.renamed(lambda words: in_words(words, gold.words, names))
        if list(named.words) != list(said.words):
            frame, said = frame.with_columns({"prediction": named.column()}), named
    dropped: list[str] = []
    if drop_unparsed:
        scores = scores_of(frame.columns["score"], ids_of(frame, ""), "") if "score" in frame.columns else None
        empty = is_unparsed(frame, said, gold, scores)
        keys = frame.columns["id"]
        dropped = taken(keys, np.flatnonzero(empty)).to_pylist()
        frame = frame.take(np.flatnonzero(~empty))
    if "score" not in roles:
        lacking = np.flatnonzero(coded(frame.columns["gold"]).codes < 0)
        if lacking.size:
            raise ValueError(
                f"{found.path}: {lacking.size} rows have no right answer (id"
                f" {few(values(taken(frame.columns['id'], lacking)), 3)}); leave them out, or give the references."
            )
    return _Joined(frame, missing, unknown, dropped)


def ids_in(found: PredictedColumns) -> Any:
    """Return the ids of a file's rows as text; raise where one is missing or occurs twice."""
    try:
        return ids_of(found.frame, "")
    except ValueError:
        by_id(Predictions(found.path, [{**row, "id": key} for row, key in _keyed(found.frame)]))
        raise


def _keyed(frame: Frame) -> Iterable[tuple[Row, str | None]]:
    rows = frame.rows()
    keys = texts_of_ids(frame.columns["id"]).to_pylist() if "id" in frame.columns else [None] * len(rows)
    return zip(rows, keys, strict=True)


def _with_data(found: PredictedColumns, frame: Frame, ids: Any, data: Data) -> tuple[Frame, list[str], list[str]]:
    """Return the predicted rows that the data know, with the columns of the data beside them."""
    if ids.equals(data.ids):
        rows, known, missing, unknown = np.arange(len(ids)), frame, [], []
    else:
        rows = np.asarray(pc.fill_null(pc.index_in(ids, value_set=data.ids), -1), np.int64)
        unknown = ids.filter(pa.array(rows < 0)).to_pylist()
        lacking = np.ones(len(data.ids), bool)
        lacking[rows[rows >= 0]] = False
        missing = data.ids.filter(pa.array(lacking)).to_pylist()
        if len(unknown) == len(ids):
            join(found.path, ids.to_pylist(), data.ids.to_pylist())
        known, rows = frame.take(np.flatnonzero(rows >= 0)), rows[rows >= 0]
    beside = {name: taken(column, rows) for name, column in data.frame.columns.items() if name != "id"}
    for name, column in known.columns.items():
        beside[name] = _filled(column, beside[name]) if name in beside else column
    return Frame(beside, known.length), missing, unknown


def _filled(column: Column, other: Column) -> Column:
    """Return a column with what the other one holds where it has nothing."""
    if not isinstance(column, list) and not column.null_count:
        return column
    pairs = zip(values(column), values(other), strict=True)
    return [its if mine is None else mine for mine, its in pairs]


def _paired_texts(frame: Frame) -> dict[str, Column]:
    """Return `text` and `clean_text`, the texts of each row that have a clean form; empty where no column has one."""
    columns = _flat(frame)
    pairs = [(columns[name], columns[f"clean_{name}"]) for name in noisy(columns)]
    pairs = [pair for pair in pairs if any(map(_holds_texts, pair))]
    if not pairs:
        return {}
    if all(
        not isinstance(side, list) and pa.types.is_string(side.type) and not side.null_count
        for pair in pairs
        for side in pair
    ):
        return {
            name: _interleaved(sides)
            for name, sides in zip(("text", "clean_text"), zip(*pairs, strict=True), strict=True)
        }
    lists = [(values(text), values(clean)) for text, clean in pairs]
    both: dict[str, list[Any]] = {"text": [], "clean_text": []}
    for row in range(frame.length):
        found = [(text[row], clean[row]) for text, clean in lists]
        texts = [pair for pair in found if all(isinstance(side, str) for side in pair)]
        for number, (name, column) in enumerate(both.items()):
            own = columns.get(name)
            column.append([pair[number] for pair in texts] if texts else None if own is None else _at(own, row))
    return both


def _flat(frame: Frame) -> dict[str, Column]:
    """Return the columns, with those inside a column `translation` beside them."""
    inside: dict[str, Column] = {}
    pairs = frame.columns.get("translation")
    if pairs is not None:
        rows = [row if isinstance(row, dict) else {} for row in values(pairs)]
        inside = dict(Frame.of_rows(rows).columns)
    return {**inside, **frame.columns}


def _holds_texts(column: Column) -> bool:
    if isinstance(column, list):
        return any(isinstance(value, str) for value in column)
    return bool(pa.types.is_string(column.type))


def _interleaved(sides: Sequence[Column]) -> Column:
    """Return one list per row, with its text of each side."""
    length, number = len(sides[0]), len(sides)
    texts = pa.concat_arrays([part for side in sides for part in side.chunks] or [pa.array([], pa.string())])
    if number > 1:
        texts = texts.take(pa.array(np.arange(length * number).reshape(number, length).T.ravel()))
    return pa.chunked_array(
        [pa.ListArray.from_arrays(pa.array(np.arange(0, length * number + 1, number), pa.int32()), texts)]
    )


def _at(column: Column, row: int) -> Any:
    return column[row] if isinstance(column, list) else column[row].as_py()


def _refuse_disjoint(model: str, mine: Sequence[Track]) -> None:
    """Raise if a model, or one of its files, never says any of the right answers, although these repeat."""
    graded = [
        (track, columns.predictions, columns.golds, ~columns.unparsed)
        for track in mine
        if (columns := track.columns).graded and columns.predictions is not None and columns.golds is not None
    ]
    silent = [
        (track, Counter(said.counts(answered)))
        for track, said, golds, answered in graded
        if not (said.codes == golds.codes)[answered].any()
    ]
    if not silent:
        return
    right = Counter[str]()
    for _, _, golds, answered in graded:
        right.update(golds.counts(answered))
    if len(silent) == len(graded):
        refuse_disjoint(model, sum((words for _, words in silent), Counter()), right, times=len(mine))
    for track, words in silent:
        if len(words) > 1:  # a model may say one class only, and that never be right
            refuse_disjoint(shown(map(str, track.files)), words, right, times=len(mine))
