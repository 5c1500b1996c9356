"""Rows on tracks: a dataset folder, a repo of the Hub, a file of rows, or rows in memory.

>>> task = own_task(["text"], "label")
>>> Data.of_rows("mine", task, [{"id": "a", "text": "rain?", "label": "weather"}]).tracks["clean"][0]["text"]
'rain?'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from lapsus.kernel.names import shown
from lapsus.kernel.progress_bars import quiet_datasets
from lapsus.results.predictions import read
from lapsus.results.tracks import CLEAN
from lapsus.running.tasks import Task, own_task

Row = dict[str, Any]
ORIGINAL = "original_"  # columns that hold a pair before it was rewritten


@dataclass(frozen=True, slots=True)
class Data:
    """The rows of each track, the clean one first, with labels by name; `task` knows these names."""

    name: str
    task: Task
    tracks: Mapping[str, Sequence[Row]] = field(repr=False)
    said: tuple[str, ...] = ()  # what a user should know about how the rows were read

    @classmethod
    def of_rows(cls, name: str, task: Task, rows: Iterable[Mapping[str, Any]], key: str = "id") -> Data:
        """Return rows without noise as the track `clean`; rows without ids are numbered."""
        features = getattr(rows, "features", None)
        held = [dict(row) for row in rows]
        if not held:
            raise ValueError(f"{name} holds no rows; give at least one")
        said = ()
        numbered = not any(key in row for row in held)
        if numbered and key != "id":
            raise LookupError(f"{name} has no column {key!r} for the id; it has {shown(held[0])}")
        if numbered:
            said = (f"{name} has no column 'id': its rows are known by their number, from 0",)
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
        names = _label_names(features) if features is not None else {}
        bound = task.bound(names)
        track = CLEAN[0]
        return cls(name, bound, {track: [_named(row, names) for row in held]}, said)

    @classmethod
    def of_file(cls, path: Path, task: Task, key: str = "id") -> Data:
        """Return the rows of a file: JSON lines, JSON, CSV or Parquet."""
        return cls.of_rows(path.stem, task, read(path).rows, key)

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
    """Return the tracks of a dataset: a folder that `lapsus build` wrote, or ORG/NAME on the Hub."""
    from datasets import get_dataset_config_names

    with quiet_datasets():
        configs = get_dataset_config_names(place)
        reader = _Reader(place, task, split, databases)
        kept = task.clean == ORIGINAL and any(
            fnmatchcase(config, pattern) for config in configs for pattern in task.tracks
        )
        if task.name.startswith("dialect"):
            return reader.dialect(configs[0], patterns)
        if task.clean not in configs and not kept:
            raise LookupError(
                f"{place} has no config {task.clean!r} that the task {task.name} reads; it has {shown(configs, 40)}: "
                "choose the task that fits the data (lapsus tasks)"
            )
        noisy = [
            name for name in configs if name != task.clean and any(fnmatchcase(name, each) for each in task.tracks)
        ]
        if kept:
            return reader.rewritten(noisy, patterns)
        return reader.paired(noisy, patterns)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the configs of one dataset as tracks of one task."""

    place: str
    task: Task
    split: str | None
    databases: Path | None

    @property
    def name(self) -> str:
        return self.task.dataset or Path(self.place).name

    def load(self, config: str) -> tuple[list[Row], dict[str, tuple[str, ...]]]:
        """Return the rows of a config, labels by name, and these names."""
        from datasets import get_dataset_split_names, load_dataset

        split = self.split
        splits = get_dataset_split_names(self.place, config)
        if split is None:
            split = next((name for name in ("test", "validation", "dev") if name in splits), splits[0])
        if split not in splits:
            raise LookupError(f"{self.place} has no split {split!r} in {config!r}; it has {shown(splits)}")
        loaded = load_dataset(self.place, config, split=split)
        names = _label_names(loaded.features)
        return [_shaped(_named(row, names)) for row in loaded], _shaped_names(names)

    def paired(self, noisy: Sequence[str], patterns: Sequence[str]) -> Data:
        """Return a clean config and noisy ones; a config that holds all annotators together is their tracks."""
        rows, names = self.load(self.task.clean)
        clean = CLEAN[0] if self.task.clean.startswith("rte") else self.task.clean
        together = [name for name in noisy if not any(name.startswith(f"{other}.") for other in noisy)]
        tracks: dict[str, Sequence[Row]] = {clean: rows}
        held = dict.fromkeys(noisy)
        for pattern in self.task.tracks:  # `speech.*` where the dataset has all recordings in `speech`
            family = pattern.removesuffix(".*")
            if family != pattern and family not in held and family in self._configs():
                held[family] = None
        wanted = list(held)
        spread = {name for name in wanted if name not in together or name not in noisy}
        if not spread:
            wanted = matching(wanted, patterns, clean) if wanted or patterns else []
        for config in wanted:
            found, own = self.load(config)
            names = {column: _merged(names.get(column, ()), own.get(column, ())) for column in {*names, *own}}
            tracks |= _annotators(config, found, self.task.inputs)
        return self._made(tracks, names).chosen(patterns) if len(tracks) > 1 else self._made(tracks, names)

    def _configs(self) -> list[str]:
        from datasets import get_dataset_config_names

        names: list[str] = get_dataset_config_names(self.place)
        return names

    def rewritten(self, noisy: Sequence[str], patterns: Sequence[str]) -> Data:
        """Return pairs before and after they were rewritten, which the same rows hold."""
        rows, names = self.load(noisy[0])
        before = [{**row, **{name: row[f"{ORIGINAL}{name}"] for name in self.task.inputs}} for row in rows]
        after = [{**row, **{f"clean_{name}": row[f"{ORIGINAL}{name}"] for name in self.task.inputs}} for row in rows]
        return self._made({"original": before, "rewritten": after}, names).chosen(patterns)

    def dialect(self, config: str, patterns: Sequence[str]) -> Data:
        """Return each sentence in the dialect and with another meaning, as two tracks."""
        rows, names = self.load(config)
        tracks = {side: [{**row, "candidate": row[side]} for row in rows] for side in ("dialect", "perturbed")}
        return self._made(tracks, names).chosen(patterns)

    def _made(self, tracks: Mapping[str, Sequence[Row]], names: Mapping[str, Sequence[str]]) -> Data:
        if "schema" in self.task.context:
            tracks = self._with_schemas(tracks)
        for track, rows in tracks.items():
            for row in rows[:1]:
                self.task.fit(row, f"{self.place}, track {track}")
        return Data(self.name, self.task.bound(names), tracks)

    def _with_schemas(self, tracks: Mapping[str, Sequence[Row]]) -> dict[str, Sequence[Row]]:
        """Give each question the tables of its database, and the database where there is a folder of them."""
        from lapsus.running.queries import create_tables

        if "schemas" not in self._configs():
            raise LookupError(
                f"{self.place} has no config 'schemas' with the tables of the databases; build it with tables.json"
            )
        schemas = {row["id"]: create_tables(row) for row in self.load("schemas")[0]}
        made: dict[str, Sequence[Row]] = {}
        for track, rows in tracks.items():
            made[track] = [{**row, "schema": schemas[row["db_id"]], **self._database(row["db_id"])} for row in rows]
        return made

    def _database(self, name: str) -> dict[str, str]:
        if self.databases is None:
            return {}
        path = self.databases / name / f"{name}.sqlite"
        if not path.is_file():
            raise FileNotFoundError(f"there is no database {path}; --databases is the folder with NAME/NAME.sqlite")
        return {"database": str(path)}


def _annotators(config: str, rows: Sequence[Row], inputs: Sequence[str]) -> dict[str, list[Row]]:
    """Return a config as a track, or as one per annotator where its rows hold what all of them wrote."""
    lists = [name for name in inputs if rows and isinstance(rows[0].get(name), list) and _is_annotated(rows[0][name])]
    if not lists:
        return {config: list(rows)}
    most = max(len(row[lists[0]]) for row in rows)
    tracks: dict[str, list[Row]] = {}
    for place in range(most):
        tracks[f"{config}.{place + 1}"] = [
            {**row, **{name: row[name][place]["text"] for name in lists}} for row in rows if len(row[lists[0]]) > place
        ]
    return tracks


def _is_annotated(value: Sequence[Any]) -> bool:
    return bool(value) and isinstance(value[0], Mapping) and "text" in value[0]


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


def _shaped_names(names: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    found = dict(names)
    if "entities.type" in found:
        found["slots"] = found["entities.type"]
    if "frame.slot" in found:
        found["slots"], found["intent"] = found["frame.slot"], found["frame.act"]
    return found


def safe(name: str) -> str:
    """Return a name that can be a folder's.

    >>> safe("HuggingFaceTB/SmolLM2-135M")
    'HuggingFaceTB-SmolLM2-135M'
    """
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "model"


__all__ = ["Data", "matching", "open_dataset", "own_task", "safe"]
