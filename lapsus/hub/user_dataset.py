r"""An author's own rows as a dataset folder: clean, one config per annotator, and all annotators of a row together.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as home:
...     file = Path(home) / "mine.jsonl"
...     _ = file.write_text('{"id": "a", "question": "slow down"}\n')
...     built = build_rows(file, Path(home) / "mine", text="question", noise="polite=filler_eos:2")
...     print(dict(built.rows))
{'clean': {'test': 1}, 'polite.1': {'test': 1}, 'polite.2': {'test': 1}, 'polite': {'test': 1}}
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import datasets
from datasets import Features, List, Value

from lapsus.core.conversations import holds_messages, is_messages, parse_messages
from lapsus.core.executors import LOCAL, Executor
from lapsus.core.messages import format_list
from lapsus.core.text import is_mostly_chinese, to_text
from lapsus.dataset_scripts import Benchmark, Source, noisy_features, perturb_rows
from lapsus.hub.build import BuildResult, build_dataset
from lapsus.hub.dataset_card import check_license
from lapsus.io import readers as files
from lapsus.io.tables import open_dataset
from lapsus.perturbations import Noise, NoiseTrack
from lapsus.perturbations.conversations import Turns
from lapsus.perturbations.protection import Protection
from lapsus.perturbations.specs import parse_noises, split_track_name
from lapsus.reporting.fidelity import TrackFidelity, measure_fidelity

Row = dict[str, Any]

CLEAN = "clean"
SPLIT = "test"
TRACK_NAME = re.compile(r"\w[\w-]*")
NAME = re.compile(r"[\w-][\w.-]*")
VERSION = re.compile(r"\d+\.\d+\.\d+")


class OwnRows(Benchmark):
    """Rows of an author, with synthetic noise."""

    PROSE = "_own_rows.md"
    ANNOTATIONS = "machine-generated"
    TAGS = ("noise", "synthetic")

    DATA: ClassVar[Sequence[Row]]  # each has an `id`
    FEATURES: ClassVar[Features]
    TEXT: ClassVar[str]
    TURNS: ClassVar[Turns | None]
    PROTECTION: ClassVar[Protection]
    TAGS_COLUMN: ClassVar[str | None]
    ANSWERS: ClassVar[str | None]
    SEED: ClassVar[int]
    TRACKS: ClassVar[Mapping[str, tuple[NoiseTrack, ...]]]  # name of a track -> its annotators
    SPECS: ClassVar[Mapping[str, str]]  # name of a track -> how it is spelt
    LIKENESS: ClassVar[Sequence[TrackFidelity]]  # of the tracks of which people wrote some rows

    def columns(self, config: str) -> Features:
        """Return the clean columns, what noise adds, or the texts of all annotators."""
        if config == CLEAN:
            return self.FEATURES
        track = self._find_track(config)
        if track:
            return noisy_features(self._make_noises(track)[0], self.FEATURES)
        extra_features = {name: self.FEATURES[name] for name in filter(None, (self.TAGS_COLUMN, self.ANSWERS))}
        text_feature = self.FEATURES[self.TEXT] if self.TURNS else Value("string")
        texts = List({"annotator": Value("int64"), "text": text_feature, **extra_features})
        return Features({**self.FEATURES, self.TEXT: texts, f"clean_{self.TEXT}": self.FEATURES[self.TEXT]})

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the rows of a config."""
        for name in source.list_names():
            source.read(name)  # reading the file records its checksum, for the card
        if config == CLEAN:
            return iter(self.DATA)
        track = self._find_track(config)
        if track:
            return perturb_rows(self._make_noises(track), self.DATA, self.executor)
        return self._iter_joined(self.TRACKS[config])

    def _find_track(self, config: str) -> NoiseTrack | None:
        """Return the annotator of a config; None for a config with all annotators."""
        annotators = ((f"{name}{track.suffix}", track) for name, tracks in self.TRACKS.items() for track in tracks)
        return dict(annotators).get(config)

    def _make_noises(self, track: NoiseTrack) -> tuple[Noise, ...]:
        columns = {"text": self.TEXT, "id": "id", "tags": self.TAGS_COLUMN, "answers": self.ANSWERS}
        return track.make_noises(seed=self.SEED, **columns, turns=self.TURNS, **self.PROTECTION.settings())

    def _iter_joined(self, tracks: Sequence[NoiseTrack]) -> Iterator[Row]:
        """Yield each row with the texts of all annotators."""
        noisy_tracks = (perturb_rows(self._make_noises(track), self.DATA, self.executor) for track in tracks)
        for clean, *noisy in zip(self.DATA, *noisy_tracks, strict=True):
            texts = [
                {
                    "annotator": number,
                    "text": row[self.TEXT] if self.TURNS else to_text(row[self.TEXT]),
                    **{name: row[name] for name in filter(None, (self.TAGS_COLUMN, self.ANSWERS))},
                }
                for number, row in enumerate(noisy, 1)
            ]
            yield {**clean, self.TEXT: texts, f"clean_{self.TEXT}": clean[self.TEXT]}


def build_rows(
    rows: str | Path,
    out: str | Path,
    *,
    text: str,
    noise: str | Sequence[str],
    id: str = "id",
    tags: str | None = None,
    answers: str | None = None,
    turns: Turns | None = None,
    protect: Sequence[str] = (),
    seed: int = 0,
    name: str | None = None,
    license: str | None = None,
    language: str | None = None,
    version: str = "1.0.0",
    human: Mapping[str, Sequence[str | Path]] | None = None,
    executor: Executor = LOCAL,
) -> BuildResult:
    """Build the folder `out` from a file of rows.

    Args:
        rows: JSON lines, JSON, CSV, TSV, Parquet or Arrow, or a folder that `save_to_disk` of `datasets` wrote.
        out: The folder to write.
        text: The column to perturb: texts, messages, or tokens where `tags` are given.
        noise: Noise of one track or of several, each as `[TRACK=]OPERATOR[:ANNOTATORS][@SEVERITY]`, such as
            "keyboard=zh_keyboard:3". Operators joined by `+` are applied in order.
        id: The column of the id. Noise depends on it, and not on the order of rows.
        tags: The column of BIO tags, one per token.
        answers: The column of SQuAD answers that lie in the text; they stay whole and are moved.
        turns: With messages, the turns of the user to perturb: `all`, the `first` or the `last`.
        protect: What noise leaves as whole words: the values of a COLUMN, or the matches of `regex:PATTERN`.
        seed: The seed of the noise.
        name: The name of the dataset; that of `out` otherwise.
        license: Its licence, as the Hub spells it; without one the card says that none is stated.
        language: Its language, as the Hub spells it; otherwise zh where most letters are Chinese characters, else en.
        version: That of the data, as in 1.0.0; other rows are another version.
        human: Name of a track -> for each of some people a file of what they made of some of the rows, with the
            columns `id` and `text`; the card then says how human the track is.
        executor: Where the noise is made.
    """
    rows, out = Path(rows), Path(out)
    benchmark = make_benchmark(
        rows,
        text=text,
        noise=[noise] if isinstance(noise, str) else noise,
        id=id,
        tags=tags,
        answers=answers,
        turns=turns,
        protection=Protection.parse(protect),
        seed=seed,
        name=name or out.absolute().name,
        license=license,
        language=language,
        version=version,
        human={track: [Path(path) for path in paths] for track, paths in (human or {}).items()},
    )
    return build_dataset(benchmark, out, source=rows, executor=executor)


def make_benchmark(
    rows: Path,
    *,
    text: str,
    noise: Sequence[str],
    id: str,
    tags: str | None,
    answers: str | None,
    turns: Turns | None,
    protection: Protection,
    seed: int,
    name: str,
    license: str | None,
    language: str | None,
    version: str,
    human: Mapping[str, Sequence[Path]],
) -> type[OwnRows]:
    """Return the benchmark of a file of rows and its tracks; raise if either is wrong."""
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a dataset; give one of letters, digits, - and . with --name")
    if not VERSION.fullmatch(version):
        raise ValueError(f"{version!r} is no version; give three numbers, as in 1.0.0, with --version")
    if license is not None:
        check_license(license)
    if not noise:
        raise ValueError("there is no noise; give one such as keyboard=zh_keyboard:3 with --noise")
    tracks = parse_noises(noise)
    specs = dict(zip(tracks, (split_track_name(spec)[1] for spec in noise), strict=True))
    for track, spec in specs.items():
        _check_track_name(track, spec)
    data, features = _read_checked_rows(rows, text, id, tags, answers)
    turns = _check_turns(data, text, turns, human)
    if unknown := [name for name in protection.columns if name not in features]:
        raise LookupError(f"no column is called {unknown[0]!r}; {rows} has {format_list(features)}")
    configs = [CLEAN]
    for track, track_annotators in tracks.items():
        configs += [f"{track}{annotator.suffix}" for annotator in track_annotators if annotator.suffix] + [track]
    columns = {"text": text, "id": id, "tags": tags, "answers": answers}
    facts = {
        "__doc__": f"The rows of {rows.name}, and the same with synthetic noise.",
        "__module__": __name__,
        "NAME": name,
        "TITLE": name,
        "LANGUAGES": (language or ("zh" if is_mostly_chinese(to_text(row[text]) for row in data) else "en"),),
        "LICENSE": license,
        "VERSION": datasets.Version(version),
        "ROWS": {config: {SPLIT: len(data)} for config in configs},
        "DATA": data,
        "FEATURES": features,
        "TEXT": text,
        "TURNS": turns,
        "PROTECTION": protection,
        "TAGS_COLUMN": tags,
        "ANSWERS": answers,
        "SEED": seed,
        "TRACKS": tracks,
        "NOISY": {f"clean_{tags}": ()} if tags else {},  # tags have no error rate
        "SPECS": specs,
        "LIKENESS": measure_fidelity(data, tracks, human, **columns, seed=seed, settings=protection.settings()),
    }
    return type("OwnRows", (OwnRows,), facts)


def _check_track_name(track: str, spec: str) -> None:
    """Raise where a track cannot be called so on the Hub."""
    if track == CLEAN or not TRACK_NAME.fullmatch(track):
        raise ValueError(
            f"{track!r} is no name for a track; name it with letters, digits and -, and not {CLEAN}, as in noisy={spec}"
        )


def _read_checked_rows(
    file: Path, text: str, id: str, tags: str | None, answers: str | None
) -> tuple[list[Row], Features]:
    """Return the checked rows, each with its `id` first and then every column of the file, and their features."""
    raw_rows, known_features = _read_rows(file)
    if not raw_rows:
        raise ValueError(f"{file} has no rows; give it some")
    columns = [name for name in dict.fromkeys(chain.from_iterable(raw_rows)) if name != id]
    required = [name for name in (text, id, tags, answers) if name]
    if "id" in columns:
        raise ValueError(f"{file} has a column 'id' beside --id {id}; rename it, or give --id id")
    _check_column_names(file, columns, text, tags)
    row_numbers: dict[str, int] = {}
    rows: list[Row] = []
    for number, row in enumerate(raw_rows, 1):
        where = f"{file} row {number}"
        missing = [name for name in required if row.get(name) is None]
        if missing:
            raise ValueError(f"{where} has no {format_list(missing)}; its columns are {format_list(row)}")
        row[text] = _check_input(row[text], f"{where} has {row[text]!r} as its {text}", tokens=tags is not None)
        name = str(row[id])
        if name in row_numbers:
            raise ValueError(f"{where} has the id {name!r} of row {row_numbers[name]}; ids must be unique")
        row_numbers[name] = number
        rows.append({"id": name} | {column: row.get(column) for column in columns})
    try:
        features = _find_features(rows)
    except (TypeError, ValueError, ArithmeticError) as error:
        raise ValueError(
            f"the rows of {file} have columns of mixed types ({error}); give each column one type"
        ) from error
    perturbed = {"id", text, tags, answers}
    features.update({name: each for name, each in known_features.items() if name in columns and name not in perturbed})
    empty = [name for name, kind in features.items() if getattr(kind, "dtype", "") == "null"]
    if empty:
        raise ValueError(f"the column {format_list(empty)} of {file} is empty in every row; leave it out")
    return rows, features


def _check_input(value: Any, where: str, *, tokens: bool) -> Any:
    """Return a text, tokens or messages; messages in the place of a text are parsed."""
    if tokens:
        if not (isinstance(value, list) and value and all(isinstance(token, str) for token in value)):
            raise ValueError(f"{where}, which are no tokens; give a list of words")
        return value
    if holds_messages(value):
        return parse_messages(value)
    if not (isinstance(value, str) and value.strip()):
        raise ValueError(f"{where}, which is no text; mend the row")
    return value


def _check_turns(
    rows: Sequence[Row], text: str, turns: Turns | None, human: Mapping[str, Sequence[Path]]
) -> Turns | None:
    """Return which turns are perturbed; None where the column holds no messages."""
    if not any(is_messages(row[text]) for row in rows):
        if turns:
            raise ValueError(f"turns are those of conversations, and {text!r} holds no messages; name another column")
        return None
    if human:
        raise ValueError(f"--human compares texts, and {text!r} holds messages; leave it out")
    return turns or "all"


def _find_features(rows: Sequence[Row]) -> Features:
    """Return the features of rows; messages are lists of JSON, so that each comes back as it was."""
    conversations = {name for name in rows[0] if any(is_messages(row[name]) for row in rows)}
    if conversations and not hasattr(datasets, "Json"):
        raise ImportError("messages become JSON columns, which this version lacks; upgrade: pip install -U datasets")
    others = [{name: cell for name, cell in row.items() if name not in conversations} for row in rows]
    found = datasets.Dataset.from_list(others).features
    return Features({name: List(datasets.Json()) if name in conversations else found[name] for name in rows[0]})


def _read_rows(file: Path) -> tuple[list[Row], Mapping[str, Any]]:
    """Return the rows of a file, or of a folder that `save_to_disk` wrote, and the features that it states itself."""
    if file.is_dir():
        if splits := sorted(path.parent for path in file.glob("*/state.json")):
            raise LookupError(f"{file} has {len(splits)} splits; give the folder of one, such as {splits[0]}")
        dataset = open_dataset(str(file))
        return dataset.with_format("arrow")[:].to_pylist(), dataset.features
    if file.suffix.lower() in files.COLUMNAR:
        table = files.read_arrow(file)
        return table.to_pylist(), Features.from_arrow_schema(table.schema)
    return files.read_rows(file), {}


def _check_column_names(file: Path, columns: Sequence[str], text: str, tags: str | None) -> None:
    added = {"edits", "operator", f"clean_{text}", *([f"clean_{tags}"] if tags else [])}
    if conflicts := sorted(added.intersection(columns)):
        raise ValueError(f"{file} has a column {format_list(conflicts)}, which noise writes itself; rename it")
