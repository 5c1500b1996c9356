"""Read the tracks of a report from files: predictions, joined with references."""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pyarrow as pa

from lapsus.core.conversations import is_messages, list_user_texts
from lapsus.core.messages import format_list
from lapsus.core.track_names import CLEAN, MANIFEST_NAME, TrackName, parse_track_name, parse_track_names
from lapsus.core.types import StrPath, Track
from lapsus.dataset_scripts import benchmarks
from lapsus.evaluation.scorers import JUDGEMENTS, Scorer, ScorerOptions, load_scorer_providers, open_scorers
from lapsus.evaluation.scoring import make_column_scorer, score_tracks
from lapsus.io import inspect_logs, lm_eval_logs
from lapsus.io.encoding import encode_column
from lapsus.io.join import ORIGIN_COLUMNS, ROLES, JoinedTable, extract_ids, find_first, join_references
from lapsus.io.labels import check_shared_vocabulary
from lapsus.io.predictions import PredictionTable, format_quoted, read_predictions, read_references
from lapsus.io.tables import Column, Table, concatenate, is_saved_dataset, take, to_list
from lapsus.perturbations.specs import OPERATORS
from lapsus.reporting.answers import AnswerRules, get_harness_score, is_sheet, prepare_answers
from lapsus.reporting.score_table import (
    FileRows,
    extract_scores,
    find_noisy_columns,
    is_unparsed,
    score_rows,
    score_track,
    share_arrays,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lapsus.core.checks import IntArray

MAX_KEPT_BYTES = 100_000_000  # of files whose rows are kept; the rows of larger ones are read again when wanted
CONFIG_NAME = re.compile(r"[a-z]+(_[a-z]+)*(\.[1-9]\d*)?")  # a track as lapsus spells it, which needs no parsing
PATH_PATTERNS = ("{model}.{track}", "{model}/{track}")  # bert.keyboard.2.csv, or keyboard.2.csv in the folder bert


class Origin(NamedTuple):
    """The model, dataset and track of rows, as files and columns name them."""

    model: str
    dataset: str
    track: str


def read_tracks(
    files: Sequence[StrPath],
    *,
    references: Any = None,
    path_pattern: str | None = None,
    score: str | Scorer | Sequence[str | Scorer] | None = None,
    rubric: StrPath | None = None,
    prediction: str | None = None,
    gold: str | None = None,
    cluster: str | None = None,
    where: Mapping[str, str] | None = None,
    split: str = "test",
    drop_unparsed: bool = False,
    normalize: bool = False,
    lower_is_better: bool | None = None,
    warn: Callable[[str], object] = warnings.warn,
) -> list[Track]:
    """Read the tracks in `files`, or in the logs of harnesses in a folder.

    Columns `model`, `dataset`, `track` and `annotator` say what a row belongs to. A file without them is named by what
    its harness wrote into it, or by its path: `path_pattern` is how paths end, e.g. "{model}/{dataset}/{track}";
    without it, bert.keyboard.2.csv and bert/keyboard.2.csv are both understood. `score`, `prediction`, `gold` and
    `cluster` name columns; `score` may also be scorers (`lapsus list scorers`), the first of which decides the score of
    a row, and `rubric` the file of what a judge is asked. `references` is a folder that `lapsus build` has written, or
    a table of any origin (as `lapsus.io.tables.read_table` takes it): its columns are joined by id, and win over those
    of the predictions.
    `where` keeps the rows with these values, in the references too where they have such rows. An answer that is missing
    is wrong; `drop_unparsed` leaves such rows out instead. `normalize` compares without case, spaces, marks around an
    answer, width and Unicode form. `lower_is_better` says that scores are error rates; without it, their column's name
    does. `warn` is told which files of a folder are skipped.
    """
    rules = AnswerRules(lower_is_better=lower_is_better, normalize=normalize)
    paths = [path for file in map(Path, files) for path in (_find_logs(file, warn) if file.is_dir() else [file])]
    keep_rows = sum(path.stat().st_size for path in paths) <= MAX_KEPT_BYTES
    by_track = _is_built_folder(references)
    read = partial(read_predictions, where=where)
    scorers = find_scorers(score, read, paths, None if rubric is None else Path(rubric))
    score_column = (
        PROVISIONAL if scorers else cast("str | None", score[0] if isinstance(score, list | tuple) else score)
    )
    read = partial(_read_unscored, read, prediction) if scorers else read
    choices = {"score": score_column, "prediction": prediction, "gold": gold, "cluster": cluster}
    data_of = cache(partial(_read_references, references, split, where))
    reader = _TrackReader(read, data_of if by_track else lambda _: data_of(""), choices, drop_unparsed, rules)
    parts = partial(_iter_parts, paths, cache(read) if by_track and keep_rows else read, path_pattern)
    names = _parse_origins([part.origin for _, part in parts()]) if by_track else {}
    pool: dict[bytes, Any] = {}
    tracks = []
    for file, part in parts():
        origin = names.get(part.origin, part.origin)
        content = reader.join(part.select(file), origin.track)
        track = Track(part.origin.model, origin.track, (), origin.dataset)
        scores = score_rows(content.table, track, content.notes)
        load = partial(_identity, content.table) if keep_rows else partial(reader.reload, part, origin.track)
        ids = (tuple(content.missing), tuple(content.unmatched), tuple(content.dropped))
        rows = FileRows(load, share_arrays(scores, pool))
        tracks.append((part.origin, Track(part.origin.model, "", rows, "", *ids, (part.path,))))
    names = names or _parse_origins([origin for origin, _ in tracks])
    named_tracks = [
        replace(track, dataset=names[origin].dataset, track=names[origin].track) for origin, track in tracks
    ]
    if scorers:
        return score_tracks(named_tracks, scorers, warn=warn)
    for key in dict.fromkeys((track.model, track.dataset) for track in named_tracks):
        _check_vocabularies(key[0], [track for track in named_tracks if (track.model, track.dataset) == key])
    return named_tracks


PROVISIONAL = "score"  # the column that is empty until scorers give their scores


def find_scorers(
    score: str | Scorer | Sequence[str | Scorer] | None,
    read: Callable[[Path], PredictionTable],
    paths: Sequence[Path],
    rubric: Path | None = None,
) -> tuple[Scorer, ...]:
    """Return the scorers that are named; none where the one name is that of a column, which wins over a scorer's.

    Beside scorers, the name of a column stands for the scores in it.
    """
    named_scores = score if isinstance(score, list | tuple) else () if score is None else (score,)
    specs = cast("Sequence[str | Scorer]", named_scores)
    known = load_scorer_providers() if specs else {}
    named = [spec for spec in specs if isinstance(spec, str) and (len(specs) > 1 or spec.partition(":")[0] in known)]
    columns = set(read(paths[0]).columns) if named and paths else set()
    if not any(isinstance(spec, Scorer) or (spec in named and spec not in columns) for spec in specs):
        if len(specs) > 1:
            raise ValueError(f"{format_list(map(str, specs))} are all columns; name one, or scorers")
        return ()
    if "score" in columns & set(named):
        raise ValueError("the column score cannot stand beside scorers; give it another name")
    from lapsus.evaluation.models.packaged import find_cache_folder

    chosen = [make_column_scorer(spec) if isinstance(spec, str) and spec in columns else spec for spec in specs]
    return open_scorers(chosen, ScorerOptions(rubric, find_cache_folder() / JUDGEMENTS))


def _read_unscored(read: Callable[[Path], PredictionTable], prediction: str | None, path: Path) -> PredictionTable:
    """Return the rows of a file without scores; a column of predictions that a user names is what scorers read."""
    file = read(path)
    columns = {name: column for name, column in file.table.columns.items() if name != "response" or not prediction}
    table = replace(file.table, columns={**columns, PROVISIONAL: [None] * file.table.length})
    return replace(file, table=table, metrics=())


def _is_built_folder(source: Any) -> bool:
    """Return whether references are a folder that `lapsus build` wrote, with the data of each track."""
    is_folder = isinstance(source, str | os.PathLike) and Path(source).is_dir()
    return is_folder and not is_saved_dataset(Path(source))


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
            f"{folder}: {len(skipped)} of its {len(files)} files are no logs and were skipped"
            f" ({format_quoted(skipped, 3)})."
        )
    return logs


@cache
def list_known_tracks() -> tuple[str, ...]:
    """Return the names of all tracks that lapsus knows: the configs of every benchmark, and the operators."""
    return (*(config for benchmark in benchmarks().values() for config in benchmark.ROWS), *OPERATORS)


def _parse_origins(origins: Sequence[Origin]) -> dict[Origin, TrackName]:
    """Return the dataset and track of each name; one name may state both."""
    track_names: dict[Origin, TrackName] = {}
    for model in dict.fromkeys(origin.model for origin in origins):
        model_origins = [origin for origin in origins if origin.model == model]
        bare_names = [origin.track for origin in model_origins if not origin.dataset]
        parsed = parse_track_names(bare_names, list_known_tracks()) if bare_names else {}
        for origin in model_origins:
            if not origin.dataset:
                track_names[origin] = parsed[origin.track]
            elif CONFIG_NAME.fullmatch(origin.track):
                track_names[origin] = TrackName(origin.dataset, origin.track)
            else:
                known = parse_track_name(origin.track, list_known_tracks())
                track = known.track if known and not known.dataset else origin.track
                track_names[origin] = TrackName(origin.dataset, track)
    return track_names


@dataclass(frozen=True, slots=True)
class _Part:
    """The rows of one file that belong to one model, dataset and track; None stands for all of them."""

    origin: Origin
    path: Path
    rows: IntArray | None

    def select(self, file: PredictionTable) -> PredictionTable:
        """Return the rows of the part."""
        return file if self.rows is None else replace(file, table=file.table.take(self.rows))


def _iter_parts(
    paths: Sequence[Path], read: Callable[[Path], PredictionTable], path_pattern: str | None
) -> Iterator[tuple[PredictionTable, _Part]]:
    """Read files one after the other; yield each part with its file."""
    for path in paths:
        file = read(path)
        for part in _split_file(file, path_pattern):
            yield file, part


def _split_file(file: PredictionTable, path_pattern: str | None) -> Iterable[_Part]:
    """Return what a file holds, split by the model, dataset and track that its columns name."""
    origin_columns = [name for name in ORIGIN_COLUMNS if name in file.columns]
    default = {} if {"model", "track"} <= set(origin_columns) else _origin_from_path(file, path_pattern)
    groups = _group_rows(file.table, origin_columns)
    parts = []
    for origin_values, rows in groups:
        by_column = dict(zip(origin_columns, origin_values, strict=True))
        model, dataset, track = (str(by_column.get(n) or default.get(n) or "") for n in ("model", "dataset", "track"))
        annotator = by_column.get("annotator")
        origin = Origin(model, dataset, track if annotator is None or track in CLEAN else f"{track}.{annotator}")
        parts.append(_Part(origin, file.path, None if len(groups) == 1 else rows))
    return sorted(parts, key=lambda part: part.origin)


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


def _origin_from_path(table: PredictionTable, path_pattern: str | None) -> dict[str, str]:
    """Return the model, dataset and track that a file's harness or path names."""
    columns = set(table.columns)
    if path_pattern is None and table.task is not None:
        known = (value for value in table.arguments.values() if parse_track_name(value, list_known_tracks()))
        track = table.arguments.get("track") or next(known, None)
        origin = {"dataset": table.task, "track": track} if track else {"track": table.task}
        return {"model": table.model or "", **origin}
    path = table.path.resolve().with_suffix("").as_posix()
    for pattern in PATH_PATTERNS if path_pattern is None else (path_pattern,):
        parts = re.search(_to_regex(pattern), path)
        if parts:
            return parts.groupdict()
    if {"model", "track"} <= columns:
        return {}
    patterns = path_pattern or " or ".join(PATH_PATTERNS)
    raise ValueError(
        f"{table.path}: names no model and track: its path does not end like {patterns};"
        " rename it, give --path-pattern, or add columns 'model' and 'track'."
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
            f"the path pattern {pattern!r} is not understood; use {{track}}, {{model}} and {{dataset}}, as in"
            f" {PATH_PATTERNS[1]!r}."
        )
    return "(?:^|/)" + "".join(fields[part] if i % 2 else re.escape(part) for i, part in enumerate(parts)) + "$"


def _read_references(source: Any, split: str, where: Mapping[str, str] | None, track: str) -> PredictionTable | None:
    """Return the data of one track: of a folder that `lapsus build` wrote, or a table for all tracks."""
    if source is None:
        return None
    if not _is_built_folder(source):
        return read_references(source, where, split=split)
    folder = Path(source)
    files = sorted((folder / track).glob(f"{split}-*.parquet"))
    if not files:
        splits = {f"{path.parent.name}/{path.name.rsplit('-', 3)[0]}" for path in folder.glob("*/*.parquet")}
        datasets = {path.parts[-3] for path in folder.glob("*/*/*.parquet")}
        cure = "name the track, or the split, as one of them is" if splits else "give the folder of one dataset"
        content = format_quoted(sorted(splits or datasets))
        raise FileNotFoundError(f"{source}: holds no split {split!r} of track {track!r}; it holds {content}: {cure}.")
    shards = [read_references(file, where) for file in files]
    return replace(shards[0], path=folder, table=concatenate(shard.table for shard in shards))


class _Content(NamedTuple):
    """The rows of a track with the columns of the data, named as `Track` names them."""

    table: Table
    missing: Sequence[str]
    unmatched: Sequence[str]
    dropped: Sequence[str]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _TrackReader:
    """How the rows of a file become those of a track: the references of each track, the columns of each role."""

    read: Callable[[Path], PredictionTable]
    read_references: Callable[[str], PredictionTable | None]
    choices: Mapping[str, str | None]
    drop_unparsed: bool
    rules: AnswerRules

    def reload(self, part: _Part, track: str) -> Table:
        """Return the rows of a track, read from its file again."""
        return self.join(part.select(self.read(part.path)), track).table

    def join(self, file: PredictionTable, track: str) -> _Content:
        """Return the rows of a file with the columns of the data, and those of the roles by their names."""
        references = self.read_references(track)
        prediction = self.choices["prediction"] or find_pipeline_answers(file, references, self.choices)
        choices = {**self.choices, "prediction": prediction}
        answer_columns = filter(None, (prediction, choices["score"]))
        joined = join_references(file, references, gold=choices["gold"], answer_columns=answer_columns)
        roles = find_role_columns(joined, choices)
        table = joined.table.with_columns({**_pair_texts(joined.table), **roles})
        rules = replace(
            self.rules,
            score_name=self.choices["score"] or get_harness_score(file),
            class_names=joined.gold.class_names if joined.gold else None,
            is_sheet=is_sheet(file),
        )
        table, notes = prepare_answers(table, str(file.path), rules)
        roles = {name: table.columns[name] for name in roles if name in table.columns}
        dropped: list[str] = []
        if self.drop_unparsed:
            scores = extract_scores(roles["score"], extract_ids(table, file.path), "") if "score" in roles else None
            predictions, golds = (
                encode_column(roles[name]) if name in roles else None for name in ("prediction", "gold")
            )
            unparsed = is_unparsed(table, predictions, golds, scores)
            dropped = to_list(take(table.columns["id"], np.flatnonzero(unparsed)))
            table = table.take(np.flatnonzero(~unparsed))
        if "score" not in roles:
            without_gold = np.flatnonzero(encode_column(table.columns["gold"]).codes < 0)
            if without_gold.size:
                ids = format_quoted(to_list(take(table.columns["id"], without_gold)), 3)
                problem = f"{without_gold.size} rows have no gold answer (id {ids})"
                raise ValueError(f"{file.path}: {problem}; leave them out, or give the references.")
        return _Content(table, joined.missing, joined.unmatched, dropped, (*file.notes, *notes))


PIPELINE_ANSWERS = ("label", "answer")  # columns beside `score` in what a pipeline of transformers returns


def find_pipeline_answers(
    file: PredictionTable, references: PredictionTable | None, choices: Mapping[str, str | None]
) -> str | None:
    """Return the column of answers that stands beside their confidences, with the gold answers elsewhere.

    >>> rows = [{"id": 1, "label": "yes", "score": 0.98, "gold": "no"}]
    >>> file = PredictionTable(Path("p.csv"), Table.from_rows(rows))
    >>> find_pipeline_answers(file, None, {"score": None, "gold": None})
    'label'
    """
    columns = file.table.columns
    if choices["score"] or "score" not in columns or find_first(ROLES["prediction"], columns):
        return None
    scores = (value for value in to_list(columns["score"]) if isinstance(value, int | float))
    if all(score in {0, 1} for score in scores):
        return None  # marks of right and wrong
    for name in PIPELINE_ANSWERS:
        gold_names = [choices["gold"]] if choices["gold"] else [gold for gold in ROLES["gold"] if gold != name]
        has_gold = find_first(gold_names, columns) or (
            references and find_first([*gold_names, name], references.table.columns)
        )
        if name in columns and has_gold:
            return name
    return None


def find_role_columns(joined: JoinedTable, choices: Mapping[str, str | None]) -> dict[str, Column]:
    """Return the columns of a track's score, prediction, gold and cluster: the chosen ones, else the usual ones."""
    source, columns = joined.source, list(joined.table.columns)
    for role, column in choices.items():
        if column is not None and column not in columns:
            available = format_quoted(columns)
            hint = ", and there is no scorer of that name (lapsus list scorers)" if role == "score" else ""
            raise LookupError(f"{source.path}: has no column {column!r} for the {role}{hint}; it has {available}.")
    names = {role: choices[role] or find_first(ROLES[role], columns) for role in ("prediction", "score", "cluster")}
    if names["score"] is None and len(source.metrics) > 1:
        raise ValueError(f"{source.path}: holds the scores {format_quoted(source.metrics)}; choose one as score.")
    if names["score"] is None and source.metrics:
        names["score"] = source.metrics[0]
    if names["score"] is None and (names["prediction"] is None or joined.gold is None):
        raise ValueError(
            f"{source.path}: has neither a score nor a prediction with its gold answer; it has"
            f" {format_quoted(columns)}: name the columns, or give the references."
        )
    roles = {role: joined.table.columns[name] for role, name in names.items() if name is not None}
    return roles if joined.gold is None else {**roles, "gold": joined.gold.values}


def _identity(table: Table) -> Table:
    return table


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
        row_pairs = [pair for sides in row_pairs for pair in _split_turns(*sides)]
        texts = [pair for pair in row_pairs if all(isinstance(side, str) for side in pair)]
        for number, (name, column) in enumerate(text_columns.items()):
            existing = columns.get(name)
            column.append(
                [pair[number] for pair in texts] if texts else None if existing is None else _get_value(existing, row)
            )
    return text_columns


def _split_turns(text: Any, clean: Any) -> list[tuple[Any, Any]]:
    """Return the texts of a cell and its clean twin: of a conversation those of the user's turns."""
    if not (is_messages(text) and is_messages(clean)):
        return [(text, clean)]
    noisy_texts, clean_texts = list_user_texts(text), list_user_texts(clean)
    return list(zip(noisy_texts, clean_texts, strict=True)) if len(noisy_texts) == len(clean_texts) else []


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
        return any(isinstance(value, str) or is_messages(value) for value in column)
    if pa.types.is_list(column.type) and pa.types.is_struct(column.type.value_type):
        return any(map(is_messages, to_list(column)))
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
        if (columns := score_track(track)).scored_by_equality
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
