"""Rows on tracks: a dataset folder, a repo of the Hub, a file of rows, or rows in memory.

>>> from lapsus.running.tasks import own_task
>>> task = own_task(["text"], "label")
>>> Data.of_rows("mine", task, [{"id": "a", "text": "rain?", "label": "weather"}]).tracks["clean"][0]["text"]
'rain?'
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from hashlib import blake2b
from pathlib import Path
from typing import Any

from lapsus.dataset_scripts import benchmarks
from lapsus.kernel.names import shown
from lapsus.kernel.progress_bars import quiet_datasets
from lapsus.results.predictions import read
from lapsus.results.track_names import CLEAN, DIALECTS
from lapsus.running.kinds import Frame, Similarity
from lapsus.running.tasks import Task

Row = dict[str, Any]
ORIGINAL = "original_"  # columns that hold a pair before it was rewritten
HUB_ID = re.compile(r"[\w-][\w.-]*/[\w.-]+")  # ORG/NAME
DIALECT = "dialect"  # the column with a sentence in the dialect


@dataclass(frozen=True, slots=True)
class Data:
    """The rows of each track, the clean one first, with labels by name; `task` knows these names."""

    name: str
    task: Task
    tracks: Mapping[str, Sequence[Row]] = field(repr=False)
    said: tuple[str, ...] = ()  # what a user should know about how the rows were read
    seed: int | None = None  # of the noise that was put on the rows, where they came without

    @classmethod
    def of_rows(cls, name: str, task: Task, rows: Iterable[Mapping[str, Any]], key: str = "id") -> Data:
        """Return rows without noise as the track `clean`; rows without ids are numbered."""
        features = getattr(rows, "features", None)
        names = _label_names(features) if features is not None else {}
        held = [_named(row, names) for row in rows]
        if not held:
            raise ValueError(f"{name} holds no rows; give at least one")
        said: tuple[str, ...] = ()
        numbered = not any(key in row for row in held)
        if numbered and key != "id":
            raise LookupError(f"{name} has no column {key!r} for the id, but {shown(held[0])}; name one with --key")
        if numbered:
            said = (f"{name} has no column 'id': its rows are known by their number, from 0",)
        _refuse_unanswered(name, task, held)
        seen: set[str] = set()
        for number, row in enumerate(held):
            where = f"{name}, row {number}"
            given = number if numbered else row.get(key)
            if given is None:
                raise ValueError(f"{where} has no {key!r}; give every row the id of its example")
            row["id"] = str(given)
            if row["id"] in seen:
                raise ValueError(f"{where} has the id {row['id']!r} a second time; keep one of them")
            seen.add(row["id"])
            task.fit(row, where)
            missing = [column for column in task.columns if row[column] is None]
            if missing:
                raise ValueError(f"{where} has no {missing[0]!r} (it is empty); leave the row out")
        bound = task.bound(names)
        return cls(name, replace(bound, kind=bound.kind.seeing(held)), {CLEAN[0]: held}, said)

    @classmethod
    def of_file(cls, path: Path, task: Task, key: str = "id") -> Data:
        """Return the rows of a file: JSON lines, JSON, CSV or Parquet."""
        return cls.of_rows(path.stem, task, read(path).rows, key)

    @property
    def identity(self) -> str:
        """The name of the data, and a hash of the rows of all tracks."""
        return f"{self.name} at {self.digest(self.tracks)}"

    def digest(self, tracks: Iterable[str], *more: Any) -> str:
        """Return a hash of the rows of some tracks, and of other values."""
        digest = blake2b(digest_size=16)
        for each in (*([name, list(self.tracks[name])] for name in tracks), *more):
            digest.update(json.dumps(each, sort_keys=True, default=str).encode())
        return digest.hexdigest()

    def limited(self, limit: int | None) -> Data:
        """Return the data with the first so many examples of the clean track, on every track."""
        if limit is None:
            return self
        first = {row["id"] for row in next(iter(self.tracks.values()))[:limit]}
        return replace(
            self, tracks={name: [row for row in rows if row["id"] in first] for name, rows in self.tracks.items()}
        )

    def chosen(self, patterns: Sequence[str]) -> Data:
        """Return the data with the tracks that a pattern names, and the clean one, always."""
        clean, *noisy = self.tracks
        kept = matching(noisy, patterns, clean)
        return replace(self, tracks={name: self.tracks[name] for name in (clean, *kept)})


def matching(names: Sequence[str], patterns: Sequence[str], clean: str) -> list[str]:
    """Return the names that a pattern fits; a pattern that fits none is an error.

    >>> matching(["keyboard.1", "speech.1"], ["clean", "keyboard.*"], "clean")
    ['keyboard.1']
    """
    if not patterns:
        return list(names)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in (clean, *names)):
            raise LookupError(f"no track fits {pattern!r}; there are {shown([clean, *names], 40)}")
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]


def open_dataset(
    place: str, task: Task, patterns: Sequence[str] = (), *, split: str | None = None, databases: Path | None = None
) -> Data:
    """Return the tracks of a dataset: a folder that `lapsus build` wrote, or ORG/NAME on the Hub.

    A task whose clean twin is in the same rows (`original_` columns) has the tracks `original` and `rewritten`; one
    about dialects, `dialect` and `perturbed`. Of any other, each config is a track, and a config that holds what all
    annotators wrote is one for each of them.
    """
    from datasets import get_dataset_config_names

    if not Path(place).exists() and not HUB_ID.fullmatch(place):
        raise FileNotFoundError(
            f"there is no folder {place}; `lapsus build {task.dataset} --out {place}` makes it, "
            "or give ORG/NAME on the Hub"
        )
    with quiet_datasets():
        reader = _Reader(place, get_dataset_config_names(place), task, split, databases)
        if task.clean == ORIGINAL:
            return reader.rewritten().chosen(patterns)
        if task.clean == DIALECT:
            return reader.dialect().chosen(patterns)
        return reader.paired(patterns).chosen(patterns)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the configs of one dataset as tracks of one task."""

    place: str
    configs: Sequence[str]
    task: Task
    split: str | None
    databases: Path | None

    def paired(self, patterns: Sequence[str]) -> Data:
        """Return a clean config and noisy ones; those that no pattern fits are not loaded."""
        clean = self.task.clean
        noisy = [name for name in self.configs if name != clean and _fits(name, self.task.tracks)]
        for pattern in patterns:  # before anything is loaded
            if not any(_may_hold(name, [pattern]) for name in (clean, *CLEAN, *noisy)):
                raise LookupError(f"no track fits {pattern!r}; {self.place} has {shown([clean, *noisy], 40)}")
        rows, names = self.load(clean) if clean in self.configs or not noisy else self.clean_twins(noisy[0])
        tracks: dict[str, Sequence[Row]] = {clean if clean in CLEAN else CLEAN[0]: rows}
        for config in noisy:
            if not patterns or _may_hold(config, patterns):
                found, own = self.load(config)
                names = {column: _merged(names.get(column, ()), own.get(column, ())) for column in {*names, *own}}
                tracks |= _annotators(config, found, self.task.inputs)
        return self.made(tracks, names)

    def clean_twins(self, config: str) -> tuple[list[Row], dict[str, tuple[str, ...]]]:
        """Return the rows of a noisy config as they were meant, of a dataset that holds them nowhere else."""
        rows, names = self.load(config)
        inputs = self.task.inputs
        lacking = [f"clean_{name}" for name in inputs if rows and f"clean_{name}" not in rows[0]]
        if lacking:
            raise LookupError(
                f"{self.place} has neither a config {self.task.clean!r} nor a column {lacking[0]!r} in {config!r}, so "
                "what noise costs cannot be told; choose the task that fits the data (lapsus tasks)"
            )
        made = {"edits", "operator", *(f"clean_{name}" for name in inputs)}
        meant = ({**row, **{name: row[f"clean_{name}"] for name in inputs}} for row in rows)
        return [{name: value for name, value in row.items() if name not in made} for row in meant], names

    def rewritten(self) -> Data:
        """Return pairs before and after they were rewritten."""
        rows, names = self.load(self.task.tracks[0])
        twins = [{name: row.get(f"{ORIGINAL}{name}") for name in self.task.inputs} for row in rows]
        before = [{**row, **twin} for row, twin in zip(rows, twins, strict=True)]
        after = [
            {**row, **{f"clean_{name}": text for name, text in twin.items()}}
            for row, twin in zip(rows, twins, strict=True)
        ]
        return self.made({"original": before, "rewritten": after}, names)

    def dialect(self) -> Data:
        """Return each sentence in the dialect, with another meaning, and in the dialect with the other one's tag.

        A sentence without an edit that surely changes its meaning is left out, and one that both dialects share.
        """
        kind = self.task.kind
        if not isinstance(kind, Similarity):
            raise TypeError(f"{self.task.name} reads dialects, but its kind is {type(kind).__name__}; give Similarity")
        found, names = self.load("dialect" if "dialect" in self.configs else self.configs[0])
        for name in ("base", *DIALECTS[:2]):
            if found and name not in found[0]:
                raise LookupError(f"{self.place} has no column {name!r}, which the task {self.task.name} reads")
        rows = [row for row in found if row["perturbed"] is not None and row["dialect"] != row["base"]]
        same = sum(row["dialect"] == row["base"] for row in found)
        base, other = kind.tags
        sides = (("dialect", other), ("perturbed", base), ("dialect", base))
        tracks = {
            track: [{**row, "candidate": row[side], "tag": tag} for row in rows]
            for track, (side, tag) in zip(DIALECTS, sides, strict=True)
        }
        left = len(found) - len(rows)
        why = f"{left - same} have no edit that surely changes their meaning, {same} are the same in both dialects"
        said = (f"{left} of {len(found)} sentences are left out: {why}",) if left else ()
        return replace(self.made(tracks, names), said=said)

    def load(self, config: str) -> tuple[list[Row], dict[str, tuple[str, ...]]]:
        """Return the rows of a config, labels by name, and these names."""
        from datasets import get_dataset_split_names, load_dataset

        if config not in self.configs:
            raise LookupError(
                f"{self.place} has no config {config!r}, which the task {self.task.name} reads; it has "
                f"{shown(self.configs, 40)}: choose the task that fits the data (lapsus tasks)"
            )
        splits = get_dataset_split_names(self.place, config)
        usual = (name for name in ("test", "validation", "dev") if name in splits)
        split = self.split or next(usual, splits[0])
        if split not in splits:
            raise LookupError(f"{self.place} has no split {split!r} in {config!r}; it has {shown(splits)}")
        loaded = load_dataset(self.place, config, split=split)
        names = _label_names(loaded.features)
        rows = [_shaped(_named(row, names)) for row in loaded]
        return rows, _shaped_names(names, rows)

    def made(self, tracks: Mapping[str, Sequence[Row]], names: Mapping[str, Sequence[str]]) -> Data:
        """Return the data, once its columns are seen to be those of the task."""
        if "schema" in self.task.context:
            tracks = self.with_schemas(tracks)
        for track, rows in tracks.items():
            if rows:
                _refuse_unanswered(f"{self.place}, track {track}", self.task, rows)
                self.whole(rows[0], track)
                self.task.fit(rows[0], f"{self.place}, track {track},")
        return Data(self.task.name, self.task.bound(names), tracks)  # one dataset may have several tasks

    def whole(self, row: Row, track: str) -> None:
        """Refuse the rows of a benchmark that was built without the file that its context comes from."""
        lacking = [name for name in self.task.context if name not in row]
        benchmark = benchmarks().get(self.task.dataset) if lacking else None
        if benchmark is not None and benchmark.WHERE and all(name in row for name in self.task.inputs):
            raise LookupError(
                f"{self.place}, track {track}, has no column {lacking[0]!r}, which the task {self.task.name} reads; "
                f"build {benchmark.NAME} again with all of its files: from {benchmark.WHERE}"
            )

    def with_schemas(self, tracks: Mapping[str, Sequence[Row]]) -> dict[str, Sequence[Row]]:
        """Give each question the tables of its database, and the database where there is a folder of them."""
        from lapsus.running.queries import create_tables

        if "schemas" not in self.configs:
            raise LookupError(f"{self.place} has no config 'schemas' with the tables of the databases; build it again")
        schemas = {row["id"]: create_tables(row) for row in self.load("schemas")[0]}
        return {
            track: [{**row, "schema": schemas[row["db_id"]], **self.database(row["db_id"])} for row in rows]
            for track, rows in tracks.items()
        }

    def database(self, name: str) -> dict[str, str]:
        """Return where a database is, or nothing without a folder of them."""
        if self.databases is None:
            return {}
        path = self.databases / name / f"{name}.sqlite"
        if not path.is_file():
            raise FileNotFoundError(f"there is no database {path}; --databases is the folder with NAME/NAME.sqlite")
        return {"database": str(path)}


def _refuse_unanswered(name: str, task: Task, rows: Sequence[Row]) -> None:
    """Refuse rows whose right answer is empty: whatever a model says there, it would be wrong.

    >>> from lapsus.running.tasks import own_task
    >>> _refuse_unanswered("mine", own_task(["text"], "label"), [{"label": "yes"}, {"label": None}, {"label": ""}])
    Traceback (most recent call last):
    ...
    ValueError: mine, row 1 has no right answer in 'label' (2 of 3 rows have none); leave these rows out
    """
    kind = task.kind
    if isinstance(kind, Frame) and not kind.with_intent:
        return
    for column in kind.gold_columns[:1]:
        empty = [number for number, row in enumerate(rows) if column in row and _is_empty(row[column])]
        if empty:
            few = f"{len(empty)} of {len(rows)} rows have none"
            raise ValueError(f"{name}, row {empty[0]} has no right answer in {column!r} ({few}); leave these rows out")


def _is_empty(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())  # noqa: PLR0124 - NaN


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _may_hold(config: str, patterns: Sequence[str]) -> bool:
    """Tell whether a config is, or may hold, a track that a pattern names: `speech` may hold `speech.2`.

    >>> _may_hold("speech", ["speech.2"]), _may_hold("speech", ["keyboard.*"])
    (True, False)
    """
    return any(_fits(config, [pattern, re.sub(r"\.[\d*?]+$", "", pattern)]) for pattern in patterns)


def _annotators(config: str, rows: Sequence[Row], inputs: Sequence[str]) -> dict[str, list[Row]]:
    """Return a config as a track, or as one per annotator where its rows hold what all of them wrote.

    A row that an annotator did not write is missing on that track.

    >>> rows = [{"text": [{"annotator": 1, "text": "a"}, {"annotator": 3, "text": "c"}]}]
    >>> _annotators("speech", rows, ["text"])
    {'speech.1': [{'text': 'a'}], 'speech.3': [{'text': 'c'}]}
    """
    lists = [name for name in inputs if any(_is_annotated(row.get(name)) for row in rows)]
    if not lists:
        return {config: list(rows)}
    tracks: dict[str, list[Row]] = {}
    for row in rows:
        written = {name: _by_annotator(row[name], f"{config}, row {row.get('id')!r},") for name in lists}
        for who in set.intersection(*map(set, written.values())):
            own = {name: texts[who] for name, texts in written.items()}
            tracks.setdefault(f"{config}.{who}", []).append({**row, **own})
    return {name: tracks[name] for name in sorted(tracks, key=lambda name: (len(name), name))}  # 10 stands behind 9


def _by_annotator(texts: Sequence[Mapping[str, Any]] | None, where: str) -> dict[Any, str]:
    """Return the texts of a row by their annotator, or by their place where none is named."""
    found: dict[Any, str] = {}
    for place, each in enumerate(texts or (), 1):
        who = place if each.get("annotator") is None else each["annotator"]
        if who in found:
            raise ValueError(f"{where} has two texts of annotator {who!r}; keep one of them")
        if each["text"] is not None:
            found[who] = each["text"]
    return found


def _is_annotated(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping) and "text" in value[0]


def _merged(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _label_names(features: Any) -> dict[str, tuple[str, ...]]:
    """Return the names of the labels, by column; of a list of structures by its inner columns too."""
    found: dict[str, tuple[str, ...]] = {}
    for column, feature in features.items():
        inner = getattr(feature, "feature", feature)
        if hasattr(inner, "names"):
            found[column] = tuple(inner.names)
        elif isinstance(inner, Mapping):
            found |= {f"{column}.{name}": tuple(each.names) for name, each in inner.items() if hasattr(each, "names")}
    return found


def _named(row: Mapping[str, Any], names: Mapping[str, Sequence[str]]) -> Row:
    """Return a row with the names of its labels in the place of their numbers."""

    def name(column: str, value: Any) -> Any:
        if isinstance(value, list):
            return [name(column, each) for each in value]
        if isinstance(value, Mapping):
            return {key: name(f"{column}.{key}", each) for key, each in value.items()}
        known = names.get(column)
        return known[value] if known and isinstance(value, int) and value >= 0 else value

    return {column: name(column, value) for column, value in row.items()}


def _shaped(row: Row) -> Row:
    """Bring what some benchmarks nest into columns: translations, scenarios and actions, frames."""
    if isinstance(row.get("translation"), Mapping):
        row |= row["translation"]
    if "scenario" in row and "action" in row:
        row["intent"] = f"{row['scenario']}_{row['action']}"
        row["slots"] = [[each["type"], each["text"]] for each in row["entities"]]
    if "frame" in row:
        row["intent"] = _act(row["frame"])
        row["slots"] = [[each["slot"], each["value"]] for each in row["frame"]]
    return row


def _act(frame: Sequence[Mapping[str, Any]]) -> str:
    """Return the act of a frame: of several the first that is no mere information."""
    acts = [each["act"] for each in frame]
    return next((act for act in acts if act != "inform"), "inform")


def _shaped_names(names: Mapping[str, tuple[str, ...]], rows: Sequence[Row]) -> dict[str, tuple[str, ...]]:
    """Return the names of the labels, also of those columns that were brought out of others."""
    found = dict(names)
    if "intent" not in found and rows and "intent" in rows[0]:
        found["intent"] = tuple(sorted({row["intent"] for row in rows}))
    if "entities.type" in found:
        found["slots"] = found["entities.type"]
    if "frame.slot" in found:
        found["slots"] = found["frame.slot"]
    return found


def safe(name: str) -> str:
    """Return a name that can be a folder's.

    >>> safe("HuggingFaceTB/SmolLM2-135M")
    'HuggingFaceTB-SmolLM2-135M'
    """
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "model"
