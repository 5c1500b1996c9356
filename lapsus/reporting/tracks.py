"""Read the tracks of a report from files: predictions, joined with references."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lapsus.core.messages import format_list
from lapsus.core.track_names import CLEAN, MANIFEST_NAME, TrackName, parse_track_names
from lapsus.core.track_names import parse_track_name as split_name
from lapsus.core.types import Track
from lapsus.io import inspect_logs, lm_eval_logs
from lapsus.io.encoding import encode_column
from lapsus.io.join import index_by_id, join
from lapsus.io.labels import check_shared_vocabulary, map_to_gold_labels
from lapsus.io.predictions import (
    PredictionFile,
    PredictionTable,
    format_quoted,
    read_prediction_table,
    read_reference_table,
)
from lapsus.io.tables import Column, Table, concatenate, take, to_list
from lapsus.reporting.columns import (
    FileRows,
    extract_columns,
    extract_ids,
    extract_scores,
    find_noisy_columns,
    find_track_columns,
    get_columns,
    ids_to_text,
    is_unparsed,
    join_names,
    share_arrays,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from lapsus.core.checks import IntArray
    from lapsus.io.readers import Row

MAX_KEPT_BYTES = (
    100_000_000  # bytes of files, at most, whose rows are kept; the rows of more are read again when wanted
)
PATH_PATTERNS = ("{model}.{track}", "{model}/{track}")  # bert.keyboard.2.csv, or keyboard.2.csv in the folder bert


class Origin(NamedTuple):
    """The model, dataset and track of rows, as files and columns name them."""

    model: str
    dataset: str
    track: str


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
    role_columns = {"score": score, "prediction": prediction, "gold": gold, "cluster": cluster}
    data_of = _open_references(references, split, where)
    paths = [path for file in files for path in (_find_logs(file, warn) if file.is_dir() else [file])]
    parts = [part for path in paths for part in _split_file(path, where, names)]
    track_names = _parse_origins([part.origin for part in parts])
    keep_rows = sum(path.stat().st_size for path in paths) <= MAX_KEPT_BYTES
    pool: dict[bytes, Any] = {}
    tracks = [
        _read_track(
            part,
            partial(data_of, track_names[part.origin].track),
            role_columns,
            track_names[part.origin],
            drop_unparsed,
            keep_rows,
            pool,
        )
        for part in parts
    ]
    for key in dict.fromkeys((track.model, track.dataset) for track in tracks):
        _check_vocabularies(key[0], [track for track in tracks if (track.model, track.dataset) == key])
    return tracks


def _find_logs(folder: Path, warn: Callable[[str], object]) -> list[Path]:
    """Return the logs of harnesses in a folder, and what `lapsus run` wrote; other files are skipped, and counted."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST_NAME)
    logs = [
        path
        for path in files
        if inspect_logs.is_inspect_log(path)
        or lm_eval_logs.is_samples_file(path)
        or (path.suffix == ".jsonl" and path.with_name(MANIFEST_NAME).is_file())
    ]
    if not logs:
        raise ValueError(
            f"{folder}: holds no predictions of lapsus run and no log of inspect or lm-evaluation-harness among its "
            f"{len(files)} files; name the files."
        )
    if skipped := [path.name for path in files if path not in logs]:
        warn(
            f"{folder}: {len(skipped)} of its {len(files)} files are no logs and were skipped ({format_quoted(skipped, 3)})."
        )
    return logs


def _parse_origins(origins: Sequence[Origin]) -> dict[Origin, TrackName]:
    """Return the dataset and track of each name; one name may state both."""
    track_names: dict[Origin, TrackName] = {}
    for model in dict.fromkeys(origin.model for origin in origins):
        model_origins = [origin for origin in origins if origin.model == model]
        parsed = parse_track_names([origin.track for origin in model_origins if not origin.dataset])
        for origin in model_origins:
            known = split_name(origin.track)
            track = known.track if known and not known.dataset else origin.track
            track_names[origin] = TrackName(origin.dataset, track) if origin.dataset else parsed[origin.track]
    return track_names


@dataclass(frozen=True, slots=True)
class _Part:
    """The rows of one file that belong to one model, dataset and track; `load` reads them, by columns."""

    origin: Origin
    load: Callable[[], PredictionTable]


def _split_file(path: Path, where: Mapping[str, str] | None, names: str | None) -> Iterable[_Part]:
    """Return what a file holds, split by the model, dataset and track that its columns name."""
    read = partial(read_prediction_table, path, where=where)
    table = read()
    default = _origin_from_path(table, names)
    origin_columns = [name for name in ("model", "dataset", "track", "annotator") if name in table.frame.columns]
    groups = _group_rows(table.frame, origin_columns)
    parts = []
    for origin_values, rows in groups:
        by_column = dict(zip(origin_columns, origin_values, strict=True))
        model, dataset, track = (str(by_column.get(n) or default.get(n) or "") for n in ("model", "dataset", "track"))
        annotator = by_column.get("annotator")
        origin = Origin(model, dataset, track if annotator is None or track in CLEAN else f"{track}.{annotator}")
        parts.append(_Part(origin, read if len(groups) == 1 else partial(_select_rows, read, rows)))
    return sorted(parts, key=lambda part: part.origin)


def _select_rows(read: Callable[[], PredictionTable], rows: IntArray) -> PredictionTable:
    table = read()
    return replace(table, frame=table.frame.take(rows))


def _group_rows(frame: Table, names: Sequence[str]) -> list[tuple[tuple[str | None, ...], IntArray]]:
    """Return the distinct values of these columns together, and the rows that have them."""
    if not names:
        return [((), np.arange(frame.length))]
    columns = [encode_column(frame.columns[name]) for name in names]
    combinations, inverse = np.unique(np.stack([each.codes for each in columns]), axis=1, return_inverse=True)
    rows = np.split(np.argsort(inverse, kind="stable"), np.cumsum(np.bincount(inverse))[:-1])
    return [
        (tuple(None if code < 0 else each.words[code] for each, code in zip(columns, codes, strict=True)), indices)
        for codes, indices in zip(combinations.T.tolist(), rows, strict=True)
    ]


def _origin_from_path(table: PredictionTable, names: str | None) -> dict[str, str]:
    """Return the model, dataset and track that a file's harness or path names."""
    columns = set(table.columns)
    if names is None and table.task is not None:
        origin = {"dataset": table.task, "track": table.track} if table.track else {"track": table.task}
        return {"model": table.model or "", **origin}
    path = table.path.resolve().with_suffix("").as_posix()
    for pattern in PATH_PATTERNS if names is None else (names,):
        parts = re.search(_to_regex(pattern), path)
        if parts:
            return parts.groupdict()
    if {"model", "track"} <= columns:
        return {}
    raise ValueError(
        f"{table.path}: names no model and track: its path does not end like {names or ' or '.join(PATH_PATTERNS)};"
        " rename it, give names, or add columns 'model' and 'track'."
    )


def _to_regex(pattern: str) -> str:
    """Turn a pattern of names into a regular expression for the end of a path.

    >>> re.search(_to_regex("{model}.{track}"), "/runs/gpt-4.1.keyboard.2").groupdict()
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
            f"names {pattern!r} is not understood; use {{track}}, {{model}} and {{dataset}}, as in {PATH_PATTERNS[1]!r}."
        )
    return "(?:^|/)" + "".join(fields[part] if i % 2 else re.escape(part) for i, part in enumerate(parts)) + "$"


def _open_references(
    references: Path | None, split: str, where: Mapping[str, str] | None
) -> Callable[[str], ReferenceData | None]:
    """Return a function that gives the data of a track; each file is read once."""
    if references is None or references.is_file():
        data = None if references is None else _make_reference_data([read_reference_table(references, where)])
        return lambda _: data
    return cache(partial(_read_built_track, references, split, where))


class ReferenceData(NamedTuple):
    """The data of a track's examples: the ids of its rows, and the class names of the columns of class numbers."""

    path: Path
    ids: Any  # pyarrow.StringArray
    frame: Table
    classes: Mapping[str, tuple[str, ...]]


def _make_reference_data(files: Sequence[PredictionTable]) -> ReferenceData:
    frame = concatenate(file.frame for file in files)
    return ReferenceData(files[0].path, extract_table_ids(replace(files[0], frame=frame)), frame, files[0].classes)


def _read_built_track(folder: Path, split: str, where: Mapping[str, str] | None, track: str) -> ReferenceData:
    """Return the data of one track of a published folder, from its Parquet."""
    files = sorted((folder / track).glob(f"{split}-*.parquet"))
    if not files:
        splits = {f"{path.parent.name}/{path.name.rsplit('-', 3)[0]}" for path in folder.glob("*/*.parquet")}
        datasets = {path.parts[-3] for path in folder.glob("*/*/*.parquet")}
        cure = "name the track, or the split, as one of them is" if splits else "give the folder of one dataset"
        raise FileNotFoundError(
            f"{folder}: holds no split {split!r} of track {track!r}; it holds {format_quoted(sorted(splits or datasets))}: {cure}."
        )
    return _make_reference_data([read_reference_table(file, where) for file in files])


class _JoinedTrack(NamedTuple):
    """The rows of a track with the columns of the data, named as `Track` names them."""

    frame: Table
    missing: list[str]
    unknown: list[str]
    dropped: list[str]


def _read_track(
    part: _Part,
    data_of: Callable[[], ReferenceData | None],
    role_columns: Mapping[str, str | None],
    track_name: TrackName,
    drop_unparsed: bool,
    keep_rows: bool,
    pool: dict[bytes, Any],
) -> Track:
    """Read one track; its rows are kept, or else read again when they are wanted."""
    table = part.load()
    result = _join_references(table, data_of(), role_columns, drop_unparsed)
    columns = share_arrays(
        extract_columns(result.frame, join_names(track_name.dataset, part.origin.model, track_name.track)), pool
    )
    load = (
        partial(_identity, result.frame) if keep_rows else partial(_reload, part, data_of, role_columns, drop_unparsed)
    )
    return Track(
        part.origin.model,
        track_name.track,
        FileRows(load, columns),
        track_name.dataset,
        tuple(result.missing),
        tuple(result.unknown),
        tuple(result.dropped),
        (table.path,),
    )


def _identity(frame: Table) -> Table:
    return frame


def _reload(
    part: _Part,
    data_of: Callable[[], ReferenceData | None],
    role_columns: Mapping[str, str | None],
    drop_unparsed: bool,
) -> Table:
    return _join_references(part.load(), data_of(), role_columns, drop_unparsed).frame


def _join_references(
    table: PredictionTable, data: ReferenceData | None, role_columns: Mapping[str, str | None], drop_unparsed: bool
) -> _JoinedTrack:
    """Join one track's predictions to the data and give their columns the names of `Track`."""
    ids = extract_table_ids(table)
    frame = table.frame.with_columns({"id": pa.chunked_array([ids])})
    missing: list[str] = []
    unknown: list[str] = []
    if data is not None:
        frame, missing, unknown = _add_data_columns(table, frame, ids, data)
    roles = find_track_columns(table, list(frame.columns), role_columns)
    classes = {**({} if data is None else data.classes), **table.classes}
    frame = frame.with_columns({**_pair_texts(frame), **{role: frame.columns[name] for role, name in roles.items()}})
    predictions = encode_column(frame.columns["prediction"]) if "prediction" in frame.columns else None
    golds = encode_column(frame.columns["gold"]) if "gold" in frame.columns else None
    if "score" not in roles and predictions is not None and golds is not None:
        names = classes.get(roles["gold"])
        mapped = predictions.rename(lambda words: map_to_gold_labels(words, golds.words, names))
        if list(mapped.words) != list(predictions.words):
            frame, predictions = frame.with_columns({"prediction": mapped.to_column()}), mapped
    dropped: list[str] = []
    if drop_unparsed:
        scores = (
            extract_scores(frame.columns["score"], extract_ids(frame, ""), "") if "score" in frame.columns else None
        )
        unparsed = is_unparsed(frame, predictions, golds, scores)
        keys = frame.columns["id"]
        dropped = take(keys, np.flatnonzero(unparsed)).to_pylist()
        frame = frame.take(np.flatnonzero(~unparsed))
    if "score" not in roles:
        without_gold = np.flatnonzero(encode_column(frame.columns["gold"]).codes < 0)
        if without_gold.size:
            raise ValueError(
                f"{table.path}: {without_gold.size} rows have no right answer (id"
                f" {format_quoted(to_list(take(frame.columns['id'], without_gold)), 3)}); leave them out, or give the references."
            )
    return _JoinedTrack(frame, missing, unknown, dropped)


def extract_table_ids(table: PredictionTable) -> Any:
    """Return the ids of a file's rows as text; raise where one is missing or occurs twice."""
    try:
        return extract_ids(table.frame, "")
    except ValueError:
        index_by_id(PredictionFile(table.path, [{**row, "id": key} for row, key in _pair_rows_with_ids(table.frame)]))
        raise


def _pair_rows_with_ids(frame: Table) -> Iterable[tuple[Row, str | None]]:
    rows = frame.to_rows()
    keys = ids_to_text(frame.columns["id"]).to_pylist() if "id" in frame.columns else [None] * len(rows)
    return zip(rows, keys, strict=True)


def _add_data_columns(
    table: PredictionTable, frame: Table, ids: Any, data: ReferenceData
) -> tuple[Table, list[str], list[str]]:
    """Return the predicted rows that the data know, with the columns of the data beside them."""
    if ids.equals(data.ids):
        rows, known_rows, missing, unknown = np.arange(len(ids)), frame, [], []
    else:
        rows = np.asarray(pc.fill_null(pc.index_in(ids, value_set=data.ids), -1), np.int64)
        unknown = ids.filter(pa.array(rows < 0)).to_pylist()
        is_missing = np.ones(len(data.ids), bool)
        is_missing[rows[rows >= 0]] = False
        missing = data.ids.filter(pa.array(is_missing)).to_pylist()
        if len(unknown) == len(ids):
            join(table.path, ids.to_pylist(), data.ids.to_pylist())
        known_rows, rows = frame.take(np.flatnonzero(rows >= 0)), rows[rows >= 0]
    columns = {name: take(column, rows) for name, column in data.frame.columns.items() if name != "id"}
    for name, column in known_rows.columns.items():
        columns[name] = _fill_missing(column, columns[name]) if name in columns else column
    return Table(columns, known_rows.length), missing, unknown


def _fill_missing(column: Column, fallback: Column) -> Column:
    """Return a column with what the other one holds where it has nothing."""
    if not isinstance(column, list) and not column.null_count:
        return column
    pairs = zip(to_list(column), to_list(fallback), strict=True)
    return [default if value is None else value for value, default in pairs]


def _pair_texts(frame: Table) -> dict[str, Column]:
    """Return `text` and `clean_text`, the texts of each row that have a clean form; empty where no column has one."""
    columns = _flatten_translation(frame)
    pairs = [(columns[name], columns[f"clean_{name}"]) for name in find_noisy_columns(columns)]
    pairs = [pair for pair in pairs if any(map(_has_texts, pair))]
    if not pairs:
        return {}
    if all(
        not isinstance(side, list) and pa.types.is_string(side.type) and not side.null_count
        for pair in pairs
        for side in pair
    ):
        return {
            name: _interleave(sides)
            for name, sides in zip(("text", "clean_text"), zip(*pairs, strict=True), strict=True)
        }
    lists = [(to_list(text), to_list(clean)) for text, clean in pairs]
    text_columns: dict[str, list[Any]] = {"text": [], "clean_text": []}
    for row in range(frame.length):
        row_pairs = [(text[row], clean[row]) for text, clean in lists]
        texts = [pair for pair in row_pairs if all(isinstance(side, str) for side in pair)]
        for number, (name, column) in enumerate(text_columns.items()):
            existing = columns.get(name)
            column.append(
                [pair[number] for pair in texts] if texts else None if existing is None else _get_value(existing, row)
            )
    return text_columns


def _flatten_translation(frame: Table) -> dict[str, Column]:
    """Return the columns, with those inside a column `translation` beside them."""
    nested: dict[str, Column] = {}
    pairs = frame.columns.get("translation")
    if pairs is not None:
        rows = [row if isinstance(row, dict) else {} for row in to_list(pairs)]
        nested = dict(Table.from_rows(rows).columns)
    return {**nested, **frame.columns}


def _has_texts(column: Column) -> bool:
    if isinstance(column, list):
        return any(isinstance(value, str) for value in column)
    return bool(pa.types.is_string(column.type))


def _interleave(sides: Sequence[Column]) -> Column:
    """Return one list per row, with its text of each side."""
    length, number = len(sides[0]), len(sides)
    texts = pa.concat_arrays([part for side in sides for part in side.chunks] or [pa.array([], pa.string())])
    if number > 1:
        texts = texts.take(pa.array(np.arange(length * number).reshape(number, length).T.ravel()))
    return pa.chunked_array(
        [pa.ListArray.from_arrays(pa.array(np.arange(0, length * number + 1, number), pa.int32()), texts)]
    )


def _get_value(column: Column, row: int) -> Any:
    return column[row] if isinstance(column, list) else column[row].as_py()


def _check_vocabularies(model: str, tracks: Sequence[Track]) -> None:
    """Raise if a model, or one of its files, never says any of the right answers, although these repeat."""
    comparable = [
        (track, columns.predictions, columns.golds, ~columns.unparsed)
        for track in tracks
        if (columns := get_columns(track)).scored_by_equality
        and columns.predictions is not None
        and columns.golds is not None
    ]
    never_correct = [
        (track, Counter(predictions.count_values(answered)))
        for track, predictions, golds, answered in comparable
        if not (predictions.codes == golds.codes)[answered].any()
    ]
    if not never_correct:
        return
    gold_counts = Counter[str]()
    for _, _, golds, answered in comparable:
        gold_counts.update(golds.count_values(answered))
    if len(never_correct) == len(comparable):
        check_shared_vocabulary(
            model, sum((words for _, words in never_correct), Counter()), gold_counts, max_occurrences=len(tracks)
        )
    for track, words in never_correct:
        if len(words) > 1:  # a model may say one class only, and that never be right
            check_shared_vocabulary(format_list(map(str, track.files)), words, gold_counts, max_occurrences=len(tracks))
