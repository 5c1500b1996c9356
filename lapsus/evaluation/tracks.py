"""Rows on tracks: a dataset folder, a repo of the Hub, a file of rows, or rows in memory.

>>> from lapsus.evaluation.tasks import make_task
>>> task = make_task(["text"], "label")
>>> TrackSet.from_rows("mine", task, [{"id": "a", "text": "rain?", "label": "weather"}]).tracks["clean"][0]["text"]
'rain?'
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from hashlib import blake2b
from pathlib import Path
from typing import Any

from lapsus.core.conversations import holds_messages, is_messages, parse_messages
from lapsus.core.messages import format_list
from lapsus.core.terminal import hide_datasets_bars
from lapsus.core.text import to_label, to_text
from lapsus.core.track_names import CLEAN, DIALECTS
from lapsus.core.types import Row, StrPath
from lapsus.dataset_scripts import benchmarks
from lapsus.evaluation.answer_types import FrameAnswer, SimilarityAnswer, SqlAnswer
from lapsus.evaluation.rewording import Rewriter, is_reworded, list_sources, make_reworded_tracks
from lapsus.evaluation.sql_execution import find_database
from lapsus.evaluation.tasks import Task
from lapsus.io.readers import read_class_names, read_rows
from lapsus.io.tables import is_hub_id, open_dataset, read_table
from lapsus.perturbations import Noise
from lapsus.perturbations.conversations import Turns
from lapsus.perturbations.noise import apply_in_turn
from lapsus.perturbations.protection import Protection
from lapsus.perturbations.specs import check_effect, parse_noises

LabelNames = Mapping[str, Sequence[str]]  # the names of the labels, by column
ORIGINAL = "original_"  # columns that hold a pair before it was rewritten
HUB_ID = re.compile(r"[\w-][\w.-]*/[\w.-]+")  # ORG/NAME
DIALECT = "dialect"  # the column with a sentence in the dialect


@dataclass(frozen=True, slots=True)
class TrackSet:
    """The rows of each track, the clean one first, with labels by name; `task` knows these names."""

    name: str
    task: Task
    tracks: Mapping[str, Sequence[Row]] = field(repr=False)
    notes: tuple[str, ...] = ()  # what a user should know about how the rows were read
    seed: int | None = None  # of the noise that was put on the rows, where they came without

    @classmethod
    def from_rows(cls, name: str, task: Task, rows: Iterable[Row], key: str = "id") -> TrackSet:
        """Return rows without noise as the track `clean`; rows without ids are numbered."""
        return cls.from_tracks(name, task, {CLEAN[0]: rows}, key)

    @classmethod
    def from_file(cls, path: StrPath, task: Task, key: str = "id", split: str | None = None) -> TrackSet:
        """Return the rows of a file, of a folder that `save_to_disk` of `datasets` wrote, or of ORG/NAME on the Hub."""
        path = Path(path)
        if not path.is_file():
            if not path.is_dir() and not is_hub_id(str(path)):
                raise FileNotFoundError(f"{path}: no such file; give the path of a file of rows")
            return cls.from_rows(path.name, task, open_dataset(str(path), split), key)
        if split is not None:
            raise ValueError(f"{path} is a file, which has no split {split!r}; leave the split out")
        names = read_class_names(path)
        return cls.from_rows(path.stem, task, (_name_labels(row, names) for row in read_rows(path)), key)

    @classmethod
    def from_tracks(cls, name: str, task: Task, tracks: Mapping[str, Iterable[Row]], key: str = "id") -> TrackSet:
        """Return the rows of each track, the clean one first; rows without ids are numbered."""
        parts: dict[str, list[dict[str, Any]]] = {}
        names: dict[str, tuple[str, ...]] = {}
        notes: list[str] = []
        for track, rows in tracks.items():
            features = getattr(rows, "features", None)
            if features is None and hasattr(rows, "columns"):  # a data frame, or a table of Arrow
                rows = read_table(rows).with_class_names().to_rows()  # noqa: PLW2901
            own_names = _find_label_names(features) if features is not None else {}
            names = _merge_label_names(names, own_names)
            where = name if len(tracks) == 1 else f"{name}, track {track}"
            parts[track] = [read_conversations(_name_labels(row, own_names), task.inputs) for row in rows]
            notes += _set_ids(where, parts[track], key)
            _check_rows(where, task, parts[track])
        labelled_task = task.with_label_names(names)
        all_rows = [row for rows in parts.values() for row in rows]
        return cls(
            name,
            replace(labelled_task, answer_type=labelled_task.answer_type.with_observed_labels(all_rows)),
            parts,
            tuple(notes),
        )

    @property
    def identity(self) -> str:
        """The name of the data, and a hash of the rows of all tracks."""
        return f"{self.name} at {self.hash_tracks(self.tracks)}"

    def hash_tracks(self, tracks: Iterable[str], *extra: Any) -> str:
        """Return a hash of the rows of some tracks, and of other values."""
        digest = blake2b(digest_size=16)
        for value in (*([name, list(self.tracks[name])] for name in tracks), *extra):
            digest.update(json.dumps(value, sort_keys=True, default=str).encode())
        return digest.hexdigest()

    def limit(self, limit: int | None) -> TrackSet:
        """Return the data with the first so many examples of the clean track, on every track."""
        if limit is None:
            return self
        first = {row["id"] for row in next(iter(self.tracks.values()))[:limit]}
        return replace(
            self, tracks={name: [row for row in rows if row["id"] in first] for name, rows in self.tracks.items()}
        )

    def select(self, patterns: Sequence[str]) -> TrackSet:
        """Return the data with the tracks that a pattern names, and the clean one, always."""
        clean, *noisy = self.tracks
        selected = match_tracks(noisy, patterns, clean)
        return replace(self, tracks={name: self.tracks[name] for name in (clean, *selected)})


def match_tracks(names: Sequence[str], patterns: Sequence[str], clean: str) -> list[str]:
    """Return the names that a pattern fits; a pattern that fits none is an error.

    >>> match_tracks(["keyboard.1", "speech.1"], ["clean", "keyboard.*"], "clean")
    ['keyboard.1']
    """
    if not patterns:
        return list(names)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in (clean, *names)):
            raise LookupError(f"no track fits {pattern!r}; there are {format_list([clean, *names], 40)}")
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]


def load_tracks(
    source: StrPath,
    task: Task,
    patterns: Sequence[str] = (),
    *,
    split: str | None = None,
    databases: StrPath | None = None,
) -> TrackSet:
    """Return the tracks of a dataset: a folder that `lapsus build` wrote, or ORG/NAME on the Hub.

    A task whose clean twin is in the same rows (`original_` columns) has the tracks `original` and `rewritten`; one
    about dialects, `dialect` and `perturbed`. Of any other, each config is a track, and a config that holds what all
    annotators wrote is one for each of them.
    """
    from datasets import get_dataset_config_names

    source = os.fspath(source)
    if not Path(source).exists() and not HUB_ID.fullmatch(source):
        builds = task.dataset in benchmarks()
        hint = f"run `lapsus build {task.dataset} --out {source}`, or give" if builds else "give a dataset folder or"
        raise FileNotFoundError(f"there is no folder {source}; {hint} ORG/NAME on the Hub")
    folder = None if databases is None else Path(databases)
    if isinstance(task.answer_type, SqlAnswer):
        task = replace(task, answer_type=replace(task.answer_type, databases=folder))
    with hide_datasets_bars():
        reader = _DatasetReader(source, get_dataset_config_names(source), task, split, folder)
        if task.clean == ORIGINAL:
            return reader.read_rewritten().select(patterns)
        if task.clean == DIALECT:
            return reader.read_dialects().select(patterns)
        return reader.read_clean_and_noisy(patterns).select(patterns)


@dataclass(frozen=True, slots=True)
class _DatasetReader:
    """Reads the configs of one dataset as tracks of one task."""

    source: str
    configs: Sequence[str]
    task: Task
    split: str | None
    databases: Path | None

    def read_clean_and_noisy(self, patterns: Sequence[str]) -> TrackSet:
        """Return a clean config and noisy ones; those that no pattern fits are not loaded."""
        clean = self.task.clean
        noisy = [name for name in self.configs if name != clean and _matches_any(name, self.task.tracks)]
        for pattern in patterns:  # before anything is loaded
            if not any(_may_contain(name, [pattern]) for name in (clean, *CLEAN, *noisy)):
                raise LookupError(f"no track fits {pattern!r}; {self.source} has {format_list([clean, *noisy], 40)}")
        rows, names = self.load(clean) if clean in self.configs or not noisy else self.derive_clean(noisy[0])
        tracks: dict[str, Sequence[Row]] = {clean if clean in CLEAN else CLEAN[0]: rows}
        for config in noisy:
            if not patterns or _may_contain(config, patterns):
                noisy_rows, own_names = self.load(config)
                names = _merge_label_names(names, own_names)
                tracks |= _split_annotators(config, noisy_rows, self.task.inputs)
        return self.finish(tracks, names)

    def derive_clean(self, config: str) -> tuple[list[Row], dict[str, tuple[str, ...]]]:
        """Return the rows of a noisy config as they were meant, of a dataset that holds them nowhere else."""
        rows, names = self.load(config)
        inputs = self.task.inputs
        missing = [f"clean_{name}" for name in inputs if rows and f"clean_{name}" not in rows[0]]
        if missing:
            raise LookupError(
                f"{self.source} has neither a config {self.task.clean!r} nor a column {missing[0]!r} in {config!r}, so "
                "the drop cannot be measured; choose the task that fits the data (lapsus tasks)"
            )
        added_columns = {"edits", "operator", *(f"clean_{name}" for name in inputs)}
        clean_rows = ({**row, **{name: row[f"clean_{name}"] for name in inputs}} for row in rows)
        return [{name: value for name, value in row.items() if name not in added_columns} for row in clean_rows], names

    def read_rewritten(self) -> TrackSet:
        """Return pairs before and after they were rewritten."""
        rows, names = self.load(self.task.tracks[0])
        twins = [{name: row.get(f"{ORIGINAL}{name}") for name in self.task.inputs} for row in rows]
        before = [{**row, **twin} for row, twin in zip(rows, twins, strict=True)]
        after = [
            {**row, **{f"clean_{name}": text for name, text in twin.items()}}
            for row, twin in zip(rows, twins, strict=True)
        ]
        return self.finish({"original": before, "rewritten": after}, names)

    def read_dialects(self) -> TrackSet:
        """Return each sentence in the dialect, with another meaning, and in the dialect with the other one's tag.

        A sentence without an edit that surely changes its meaning is left out, and one that both dialects share.
        """
        answer_type = self.task.answer_type
        if not isinstance(answer_type, SimilarityAnswer):
            raise TypeError(
                f"the task {self.task.name} is about dialects, and its answer type is {type(answer_type).__name__}"
            )
        all_rows, names = self.load("dialect" if "dialect" in self.configs else self.configs[0])
        for name in ("base", *DIALECTS[:2]):
            if all_rows and name not in all_rows[0]:
                raise LookupError(f"{self.source} has no column {name!r}, which the task {self.task.name} reads")
        rows = [row for row in all_rows if row["perturbed"] is not None and row["dialect"] != row["base"]]
        n_same = sum(row["dialect"] == row["base"] for row in all_rows)
        base_tag, other_tag = answer_type.tags
        sides = (("dialect", other_tag), ("perturbed", base_tag), ("dialect", base_tag))
        tracks = {
            track: [{**row, "candidate": row[side], "tag": tag} for row in rows]
            for track, (side, tag) in zip(DIALECTS, sides, strict=True)
        }
        n_left_out = len(all_rows) - len(rows)
        n_unchanged = n_left_out - n_same
        reasons = (
            f"{n_unchanged} have no edit that surely changes their meaning, {n_same} are the same in both dialects"
        )
        notes = (f"{n_left_out} of {len(all_rows)} sentences are left out: {reasons}",) if n_left_out else ()
        return replace(self.finish(tracks, names), notes=notes)

    def load(self, config: str) -> tuple[list[Row], dict[str, tuple[str, ...]]]:
        """Return the rows of a config, labels by name, and these names."""
        from datasets import get_dataset_split_names, load_dataset

        if config not in self.configs:
            raise LookupError(
                f"{self.source} has no config {config!r}, which the task {self.task.name} reads; it has "
                f"{format_list(self.configs, 40)}: choose the task that fits the data (lapsus tasks)"
            )
        splits = get_dataset_split_names(self.source, config)
        usual = (name for name in ("test", "validation", "dev") if name in splits)
        split = self.split or next(usual, splits[0])
        if split not in splits:
            raise LookupError(f"{self.source} has no split {split!r} in {config!r}; it has {format_list(splits)}")
        loaded = load_dataset(self.source, config, split=split)
        names = _find_label_names(loaded.features)
        rows: list[Row] = [_flatten_nested(_name_labels(row, names)) for row in loaded]
        return rows, _flatten_label_names(names, rows)

    def finish(self, tracks: Mapping[str, Sequence[Row]], names: Mapping[str, Sequence[str]]) -> TrackSet:
        """Return the data, checked to be those of the task."""
        if "schema" in self.task.context:
            tracks = self.add_schemas(tracks)
        for track, rows in tracks.items():
            if rows:
                _check_gold(f"{self.source}, track {track}", self.task, rows)
                self.check_complete(rows[0], track)
                check_unique_ids(rows, f"{self.source}, track {track},")
                for row in rows:
                    self.task.check_row(row, f"{self.source}, track {track},")
        return TrackSet(self.task.name, self.task.with_label_names(names), tracks)  # one dataset may have several tasks

    def check_complete(self, row: Row, track: str) -> None:
        """Refuse the rows of a benchmark that was built without the file that its context comes from."""
        missing = [name for name in self.task.context if name not in row]
        benchmark = benchmarks().get(self.task.dataset) if missing else None
        if benchmark is not None and benchmark.WHERE and all(name in row for name in self.task.inputs):
            raise LookupError(
                f"{self.source}, track {track}, has no column {missing[0]!r}, which the task {self.task.name} reads; "
                f"build {benchmark.NAME} again with all of its files: from {benchmark.WHERE}"
            )

    def add_schemas(self, tracks: Mapping[str, Sequence[Row]]) -> dict[str, Sequence[Row]]:
        """Give each question the tables of its database, and the database where there is a folder of them."""
        from lapsus.evaluation.sql import format_schema

        if "schemas" not in self.configs:
            raise LookupError(f"{self.source} has no config 'schemas' with the tables of the databases; build it again")
        schemas = {row["id"]: format_schema(row) for row in self.load("schemas")[0]}
        return {
            track: [{**row, "schema": schemas[row["db_id"]], **self.find_database(row["db_id"])} for row in rows]
            for track, rows in tracks.items()
        }

    def find_database(self, name: str) -> dict[str, str]:
        """Return where a database is, or nothing without a folder of them."""
        if self.databases is None:
            return {}
        return {"database": str(find_database(self.databases, str(name)))}


def check_unique_ids(rows: Sequence[Row], where: str) -> None:
    """Refuse rows of which two have the same id: one of them would be left out."""
    ids: set[str] = set()
    for row in rows:
        if str(row["id"]) in ids:
            raise ValueError(f"{where} has the id {row['id']!r} a second time; keep one of them")
        ids.add(str(row["id"]))


def _set_ids(name: str, rows: Sequence[dict[str, Any]], key: str) -> list[str]:
    """Set the `id` of each row, as text, from the column `key`, or number the rows; return what a user should know."""
    if not rows:
        raise ValueError(f"{name} holds no rows; give at least one")
    numbered = not any(key in row for row in rows)
    if numbered and key != "id":
        raise LookupError(f"{name} has no column {key!r} for the id, but {format_list(rows[0])}; name one with --id")
    for number, row in enumerate(rows):
        row_id = number if numbered else row.get(key)
        if row_id is None:
            raise ValueError(f"{name}, row {number} has no {key!r}; give every row the id of its example")
        row["id"] = to_label(row_id) if isinstance(row_id, float) else str(row_id)
    check_unique_ids(rows, name)
    note = f"{name} has no column 'id': its rows are known by their number, from 0, on which their noise depends"
    return [note] if numbered else []


def _check_rows(name: str, task: Task, rows: Sequence[Row]) -> None:
    """Refuse rows without a column of the task, without a text, or without a gold answer."""
    _check_gold(name, task, rows)
    for number, row in enumerate(rows):
        task.check_row(row, f"{name}, row {number}")
        missing = [column for column in task.columns if row[column] is None]
        if missing:
            raise ValueError(f"{name}, row {number} has no {missing[0]!r} (it is empty); leave the row out")


def _check_gold(name: str, task: Task, rows: Sequence[Row]) -> None:
    """Refuse rows whose gold answer is empty: every prediction would be wrong.

    >>> from lapsus.evaluation.tasks import make_task
    >>> _check_gold("mine", make_task(["text"], "label"), [{"label": "yes"}, {"label": None}, {"label": ""}])
    Traceback (most recent call last):
    ...
    ValueError: mine, row 1 has no gold answer in 'label' (2 of 3 rows have none); leave these rows out
    """
    answer_type = task.answer_type
    if isinstance(answer_type, FrameAnswer) and not answer_type.with_intent:
        return
    for column in answer_type.gold_columns[:1]:
        empty = [number for number, row in enumerate(rows) if column in row and _is_empty(row[column])]
        if empty:
            count = f"{len(empty)} of {len(rows)} rows have none"
            raise ValueError(f"{name}, row {empty[0]} has no gold answer in {column!r} ({count}); leave these rows out")


def _is_empty(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())  # noqa: PLR0124 - NaN


def _matches_any(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _may_contain(config: str, patterns: Sequence[str]) -> bool:
    """Tell whether a config is, or may hold, a track that a pattern names: `speech` may hold `speech.2`.

    >>> _may_contain("speech", ["speech.2"]), _may_contain("speech", ["keyboard.*"])
    (True, False)
    """
    return any(_matches_any(config, [pattern, re.sub(r"\.[\d*?]+$", "", pattern)]) for pattern in patterns)


def _split_annotators(config: str, rows: Sequence[Row], inputs: Sequence[str]) -> dict[str, list[Row]]:
    """Return a config as a track, or as one per annotator where its rows hold what all of them wrote.

    A row that an annotator did not write is missing on that track.

    >>> rows = [{"text": [{"annotator": 1, "text": "a"}, {"annotator": 3, "text": "c"}]}]
    >>> _split_annotators("speech", rows, ["text"])
    {'speech.1': [{'text': 'a'}], 'speech.3': [{'text': 'c'}]}
    """
    lists = [name for name in inputs if any(_is_annotated(row.get(name)) for row in rows)]
    if not lists:
        return {config: list(rows)}
    tracks: dict[str, list[Row]] = {}
    for row in rows:
        texts_by_column = {name: _index_by_annotator(row[name], f"{config}, row {row.get('id')!r},") for name in lists}
        for annotator in set.intersection(*map(set, texts_by_column.values())):
            own_texts = {name: texts[annotator] for name, texts in texts_by_column.items()}
            tracks.setdefault(f"{config}.{annotator}", []).append({**row, **own_texts})
    return {name: tracks[name] for name in sorted(tracks, key=lambda name: (len(name), name))}  # 10 stands behind 9


def _index_by_annotator(texts: Sequence[Mapping[str, Any]] | None, where: str) -> dict[Any, str]:
    """Return the texts of a row by their annotator, or by their place where none is named."""
    by_annotator: dict[Any, str] = {}
    for place, entry in enumerate(texts or (), 1):
        annotator = place if entry.get("annotator") is None else entry["annotator"]
        if annotator in by_annotator:
            raise ValueError(f"{where} has two texts of annotator {annotator!r}; keep one of them")
        if entry["text"] is not None:
            by_annotator[annotator] = entry["text"]
    return by_annotator


def _is_annotated(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping) and "text" in value[0]


def read_conversations(row: dict[str, Any], inputs: Sequence[str]) -> dict[str, Any]:
    """Return a row whose conversations are read where they stand as JSON, as in CSV."""
    texts = {name: row[name] for name in inputs if isinstance(row.get(name), str)}
    lists = {name: text for name, text in texts.items() if text.lstrip()[:1] == "["}
    return {**row, **{name: parse_messages(text) for name, text in lists.items() if holds_messages(text)}}


def _merge_label_names(first: LabelNames, second: LabelNames) -> dict[str, tuple[str, ...]]:
    return {
        column: tuple(dict.fromkeys((*first.get(column, ()), *second.get(column, ()))))
        for column in dict.fromkeys((*first, *second))
    }


def _find_label_names(features: Any) -> dict[str, tuple[str, ...]]:
    """Return the names of the labels, by column; of a list of structures by its inner columns too."""
    label_names: dict[str, tuple[str, ...]] = {}
    for column, feature in features.items():
        inner = getattr(feature, "feature", feature)
        if hasattr(inner, "names"):
            label_names[column] = tuple(inner.names)
        elif isinstance(inner, Mapping):
            label_names |= {
                f"{column}.{name}": tuple(each.names) for name, each in inner.items() if hasattr(each, "names")
            }
    return label_names


def _name_labels(row: Row, names: LabelNames) -> dict[str, Any]:
    """Return a row with the names of its labels in the place of their numbers."""

    def replace_numbers(column: str, value: Any) -> Any:
        if isinstance(value, list):
            return [replace_numbers(column, each) for each in value]
        if isinstance(value, Mapping):
            return {key: replace_numbers(f"{column}.{key}", each) for key, each in value.items()}
        labels = names.get(column)
        return labels[value] if labels and isinstance(value, int) and value >= 0 else value

    return {column: replace_numbers(column, value) for column, value in row.items()}


def _flatten_nested(row: dict[str, Any]) -> dict[str, Any]:
    """Bring what some benchmarks nest into columns: translations, scenarios and actions, frames."""
    if isinstance(row.get("translation"), Mapping):
        row |= row["translation"]
    if "scenario" in row and "action" in row:
        row["intent"] = f"{row['scenario']}_{row['action']}"
    if "entities" in row and "intent" in row:
        row["slots"] = [[each["type"], each["text"]] for each in row["entities"]]
    if "frame" in row:
        row["intent"] = _find_act(row["frame"])
        row["slots"] = [[each["slot"], each["value"]] for each in row["frame"]]
    return row


def _find_act(frame: Sequence[Mapping[str, Any]]) -> str:
    """Return the act of a frame: of several the first that is no mere information."""
    acts = [each["act"] for each in frame]
    return next((act for act in acts if act != "inform"), "inform")


def _flatten_label_names(names: Mapping[str, tuple[str, ...]], rows: Sequence[Row]) -> dict[str, tuple[str, ...]]:
    """Return the names of the labels, also of those columns that were brought out of others."""
    label_names = dict(names)
    if "intent" not in label_names and rows and "intent" in rows[0]:
        label_names["intent"] = tuple(sorted({row["intent"] for row in rows}))
    if "entities.type" in label_names:
        label_names["slots"] = label_names["entities.type"]
    if "frame.slot" in label_names:
        label_names["slots"] = label_names["frame.slot"]
    return label_names


# Noise on the rows of any task: new tracks beside the clean one, keyed by id, with slots kept.

BATCH = 1000


def add_noise(
    data: TrackSet,
    specs: Sequence[str],
    *,
    seed: int = 0,
    turns: Turns | None = None,
    protect: Sequence[str] = (),
    rewriter: Rewriter | None = None,
) -> TrackSet:
    """Return the data with a track for each annotator of each `[TRACK=]OPERATOR[:ANNOTATORS][@SEVERITY]` spec.

    Of conversations `turns` says which turns of the user get noise. `protect` is what noise leaves as whole words: the
    values of a COLUMN, the matches of `regex:PATTERN`, or the `gold` answers. `reworded[:N]` needs a `rewriter`.

    >>> from lapsus.evaluation.tasks import make_task
    >>> rows = [{"id": "a", "text": "slow down", "label": "drive"}]
    >>> data = add_noise(TrackSet.from_rows("mine", make_task(["text"], "label"), rows), ["filler_eos:2"])
    >>> [(name, rows[0]["text"]) for name, rows in data.tracks.items()]
    [('clean', 'slow down'), ('filler_eos.1', 'slow down pretty please'), ('filler_eos.2', 'slow down right away')]
    """
    clean = next(iter(data.tracks.values()))
    golds = data.task.answer_type.gold_columns
    protection = Protection.parse(protect, golds)
    bare: dict[str, Any] = {"seed": seed, "id": "id", "turns": turns}
    settings = {**bare, **protection.settings()}
    texts = [to_text(row[name]) for row in clean for name in data.task.inputs]
    noisy_tracks: dict[str, Sequence[Row]] = {}
    notes: list[str] = []
    parsed = iter(parse_noises(spec for spec in specs if not is_reworded(spec)).items())
    for spec in specs:
        if reworded := is_reworded(spec):
            values = () if data.task.answer_type.choices else golds  # the names of labels are no values
            sources = list_sources(clean, data.task.inputs, values, protection, turns)
            family, noise_tracks, extra_notes = make_reworded_tracks(rewriter, spec, sources, data.name)
            notes += extra_notes
        else:
            family, noise_tracks = next(parsed)
        for track in noise_tracks:
            name = f"{family}{track.suffix}"
            if name in data.tracks or name in noisy_tracks:
                raise ValueError(f"two tracks are called {name!r}; give each noise once, or name it, as TRACK=OPERATOR")
            noisy_tracks[name] = list(perturb_rows(data, clean, track.make_noises(**(bare if reworded else settings))))
            changed = count_changed(noisy_tracks[name], data.task.inputs)
            notes += check_effect(family, spec, changed, texts)
    tracks = {**data.tracks, **noisy_tracks}
    seed_of_noise = seed if noisy_tracks else data.seed
    return replace(data, tracks=tracks, notes=(*data.notes, *dict.fromkeys(notes)), seed=seed_of_noise)


def count_changed(rows: Sequence[Row], inputs: Sequence[str]) -> int:
    """Return how many rows have a text that differs from its clean one.

    >>> count_changed([{"text": "a", "clean_text": "a"}, {"text": "b", "clean_text": "a"}], ["text"])
    1
    """
    return sum(any(row[name] != row.get(f"clean_{name}", row[name]) for name in inputs) for row in rows)


def describe_changes(data: TrackSet) -> str | None:
    """Return the share of texts that each noisy track changed; None where no track says what its clean texts are."""
    inputs = data.task.inputs
    shares = [
        f"{name} {count_changed(rows, inputs) / len(rows):.0%}".replace("%", " %")
        for name, rows in data.tracks.items()
        if rows and any(f"clean_{column}" in rows[0] for column in inputs)
    ]
    return f"rows with a changed text: {', '.join(shares)}" if shares else None


def perturb_rows(data: TrackSet, rows: Sequence[Row], noises: Sequence[Noise]) -> Iterator[Row]:
    """Yield the rows with noise in the columns that a user wrote."""
    inputs = data.task.inputs
    conversations = any(not isinstance(row[inputs[0]], str) and is_messages(row[inputs[0]]) for row in rows)
    tokens = isinstance(rows[0][inputs[0]], list) and not conversations
    if noises[0].turns and not conversations:
        raise ValueError(f"turns are those of conversations, and {inputs[0]!r} holds no messages; leave them out")
    if tokens and "tags" not in rows[0]:
        raise LookupError(
            f"column {inputs[0]!r} of {data.name} holds tokens, but there is no column 'tags' to keep beside them; "
            "join the tokens into a text, or give tags"
        )
    column, tags = inputs[0] if len(inputs) == 1 else inputs, "tags" if tokens else None
    noises = [replace(noise, text=column, tags=tags) for noise in noises]
    columns = dict.fromkeys((*inputs, "id", *(["tags"] if tokens else []), *noises[0].protect_columns))
    if missing := [name for name in columns if name not in rows[0]]:
        raise LookupError(f"{data.name} has no column {missing[0]!r}, but {format_list(rows[0])}; name another")
    for start in range(0, len(rows), BATCH):
        chunk = rows[start : start + BATCH]
        batch: dict[str, list[Any]] = {name: [row[name] for row in chunk] for name in columns}
        perturbed = apply_in_turn(noises, batch)
        for place, row in enumerate(chunk):
            yield {**row, **{name: values[place] for name, values in perturbed.items()}}
