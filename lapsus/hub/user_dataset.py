r"""An author's own rows as a dataset folder: clean, one config per annotator, and all annotators of a row together.

An annotator is a simulated one (`noise`) or a person (`people`).

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as home:
...     rows = [{"id": "a", "question": "slow down"}]
...     built = build_rows(rows, Path(home) / "mine", text="question", noise="polite=filler_eos:2")
...     print(dict(built.rows))
{'clean': {'test': 1}, 'polite.1': {'test': 1}, 'polite.2': {'test': 1}, 'polite': {'test': 1}}
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import datasets
from datasets import Features, List, Value

from lapsus.core.executors import LOCAL, Executor
from lapsus.core.files import open_scratch, require_space
from lapsus.core.messages import format_list
from lapsus.core.text import to_text
from lapsus.core.types import StrPath
from lapsus.dataset_scripts import Benchmark, Source, noisy_features, perturb_rows
from lapsus.hub.build import BuildResult, build_dataset
from lapsus.hub.dataset_card import check_license
from lapsus.hub.people import Person, check_people, read_people
from lapsus.hub.row_store import RowStore, store_rows
from lapsus.io.paths import ColumnPath
from lapsus.io.tables import is_hub_id
from lapsus.perturbations import Noise, NoiseTrack
from lapsus.perturbations.conversations import Turns
from lapsus.perturbations.core import Shout
from lapsus.perturbations.noise import explain_no_edits
from lapsus.perturbations.protection import Protection
from lapsus.perturbations.specs import find_languages, parse_noises, split_track_name
from lapsus.reporting.fidelity import TrackFidelity, measure_fidelity

Row = dict[str, Any]

CLEAN = "clean"
USER_TURNS = re.compile(r"\[(role=user|from=human)\](\.(content|value))?$")  # behind a column of messages
TRACK_NAME = re.compile(r"\w[\w-]*")
NAME = re.compile(r"[\w-][\w.-]*")
VERSION = re.compile(r"\d+\.\d+\.\d+")
MANY_ROWS = 20  # of which an operator that fits the language changes some
CHANCE = "finds nothing to change in this text"  # the reason that another text may not have
FEW = 0.02  # share of Chinese letters, or of others
RARE = 0.02  # share of changed rows that is worth a word


@dataclass(frozen=True, slots=True)
class CardTexts:
    """What an author says of a dataset: for its card."""

    title: str = ""
    description: str = ""
    citation: str = ""  # BibTeX
    task: str = ""  # as the Hub names it, such as text-classification
    author: str = ""
    command: str = ""  # which makes the dataset


@dataclass(frozen=True, slots=True)
class Annotator:
    """One annotator of a track: noise, or a person."""

    suffix: str
    writer: NoiseTrack | Person


class OwnRows(Benchmark):
    """Rows of an author, with noise."""

    PROSE = "_own_rows.md"

    STORE: ClassVar[RowStore]
    TURNS: ClassVar[Turns | None]  # where the column holds conversations
    PROTECTION: ClassVar[Protection]
    TAGS_COLUMN: ClassVar[str | None]
    ANSWERS: ClassVar[str | None]
    SEED: ClassVar[int]
    TRACKS: ClassVar[Mapping[str, tuple[Annotator, ...]]]
    SPECS: ClassVar[Mapping[str, str]]  # name of a track -> how it is spelt, or who wrote it
    LIKENESS: ClassVar[Sequence[TrackFidelity]]  # of the tracks of which people wrote some rows
    TEXTS: ClassVar[CardTexts]
    FLAGS: ClassVar[Sequence[str]]  # what was odd before the build
    HAS_NOISE: ClassVar[bool]
    HAS_PEOPLE: ClassVar[bool]

    def __init__(self, *args: Any, source: Source | None = None, **kwargs: Any) -> None:
        super().__init__(*args, source=Source(Path(), {}, hashes=dict(self.STORE.files)), **kwargs)
        self.flags += self.FLAGS

    def _has_split(self, split: str) -> bool:
        return True

    @property
    def text_names(self) -> tuple[str, ...]:
        """What the texts are called beside the columns."""
        return tuple(path.name for path in self.STORE.texts)

    @property
    def flat_features(self) -> Features:
        """The clean columns, with the texts inside them as columns of their own."""
        clean = self.STORE.features
        return Features({**clean, **{path.name: get_feature(clean, path) for path in self.STORE.texts}})

    def columns(self, config: str) -> Features:
        """Return the clean columns, what noise adds, or the texts of all annotators."""
        clean, flat = self.STORE.features, self.flat_features
        if config == CLEAN:
            return clean
        if self._find_annotator(config):
            noisy = noisy_features(Noise(Shout(), **self._noise_settings()), flat)  # any operator adds these columns
            return Features({name: kind for name, kind in noisy.items() if name in clean or name not in flat})
        extra = {name: clean[name] for name in filter(None, (self.TAGS_COLUMN, self.ANSWERS))}
        text_feature = flat[self.text_names[0]] if self.TURNS else Value("string")
        texts = List({"annotator": Value("int64"), "text": text_feature, **extra})
        joined = dict(clean)
        for path in self.STORE.texts:
            joined[path.column] = path.put({path.column: dict(joined[path.column])}, texts) if path.keys else texts
        return Features({**joined, **{f"clean_{name}": flat[name] for name in self.text_names}})

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the rows of a config."""
        if config == CLEAN:
            return iter(self.STORE.splits[split])
        annotator = self._find_annotator(config)
        if annotator is None:
            return self._iter_joined(self.TRACKS[config], split)
        return map(self._nest, self._check_changes(config, split, annotator))

    def _find_annotator(self, config: str) -> Annotator | None:
        """Return the annotator of a config; None for a config with all annotators."""
        annotators = ((f"{name}{each.suffix}", each) for name, track in self.TRACKS.items() for each in track)
        return dict(annotators).get(config)

    def _noise_settings(self) -> dict[str, Any]:
        names = self.text_names
        text = names[0] if len(names) == 1 else names
        columns = {"text": text, "id": "id", "tags": self.TAGS_COLUMN, "answers": self.ANSWERS}
        return {**columns, "turns": self.TURNS, **self.PROTECTION.settings()}

    def _make_noises(self, track: NoiseTrack) -> list[Noise]:
        noises = track.make_noises(seed=self.SEED, **self._noise_settings())
        return [noise.fit_to_features(self.flat_features) for noise in noises]

    def _iter_flat(self, split: str) -> Iterator[Row]:
        """Yield the clean rows, with the texts inside columns as columns of their own."""
        for row in self.STORE.splits[split]:
            yield {**row, **{path.name: path.get(row) for path in self.STORE.texts}}

    def _iter_noisy(self, annotator: Annotator, split: str) -> Iterator[Row]:
        """Yield the rows that an annotator wrote, flat."""
        if isinstance(annotator.writer, Person):
            return annotator.writer.iter_rows(split, self._iter_flat(split), self.text_names)
        return perturb_rows(self._make_noises(annotator.writer), self._iter_flat(split), self.executor)

    def _nest(self, row: Row) -> Row:
        """Return a noisy row with its texts where the columns have them."""
        for path in self.STORE.texts:
            if path.keys:
                row[path.column] = path.put(row, row.pop(path.name))
        return row

    def _check_changes(self, config: str, split: str, annotator: Annotator) -> Iterator[Row]:
        """Yield the rows of an annotator; raise where noise changed none of many, or cannot read the language."""
        n_rows = n_changed = 0
        reason = ""
        for row in self._iter_noisy(annotator, split):
            n_rows += 1
            if any(row[name] != row[f"clean_{name}"] for name in self.text_names):
                n_changed += 1
            elif not reason and isinstance(annotator.writer, NoiseTrack):
                text = to_text(row[self.text_names[0]])
                reason = explain_no_edits(annotator.writer.steps[0].operator, text)
            yield row
        place = f"{config}/{split}"
        if not n_changed and isinstance(annotator.writer, NoiseTrack):
            is_chance = reason.endswith(CHANCE) and n_rows < MANY_ROWS
            if not is_chance:
                raise ValueError(
                    f"{place} changes none of the {n_rows:,} texts ({reason}); choose an operator for these texts"
                )
        if n_changed < RARE * n_rows or not n_changed:
            self.flags.append(f"{place} changes only {n_changed:,} of {n_rows:,} texts ({reason or 'as written'})")

    def _iter_joined(self, track: Sequence[Annotator], split: str) -> Iterator[Row]:
        """Yield each row with the texts of all annotators who wrote it."""
        streams = [self._iter_noisy(annotator, split) for annotator in track]
        heads = [next(stream, None) for stream in streams]
        extra = [name for name in (self.TAGS_COLUMN, self.ANSWERS) if name]
        for clean in self.STORE.splits[split]:
            written = {
                number: head for number, head in enumerate(heads, 1) if head is not None and head["id"] == clean["id"]
            }
            if not written:
                continue
            joined = dict(clean)
            for path in self.STORE.texts:
                texts = [
                    {
                        "annotator": number,
                        "text": row[path.name] if self.TURNS else to_text(row[path.name]),
                        **{name: row[name] for name in extra},
                    }
                    for number, row in written.items()
                ]
                joined[path.column] = path.put(joined, texts)
            yield {**joined, **{f"clean_{path.name}": path.get(clean) for path in self.STORE.texts}}
            for number in written:
                heads[number - 1] = next(streams[number - 1], None)


def get_feature(features: Features, path: ColumnPath) -> Any:
    """Return what a path holds."""
    feature: Any = features[path.column]
    for key in path.keys:
        feature = feature[key]
    return feature


def build_rows(
    rows: Any,
    out: StrPath,
    *,
    text: str | Sequence[str],
    noise: str | Sequence[str] = (),
    people: Mapping[str, Sequence[StrPath]] | None = None,
    id: str | None = None,
    split: str | None = None,
    tags: str | None = None,
    answers: str | None = None,
    turns: Turns | None = None,
    protect: Sequence[str] = (),
    seed: int = 0,
    name: str | None = None,
    license: str | None = None,
    language: str | None = None,
    version: str = "1.0.0",
    human: Mapping[str, Sequence[StrPath]] | None = None,
    card: CardTexts | None = None,
    executor: Executor = LOCAL,
) -> BuildResult:
    """Build the folder `out` from rows of any origin.

    Args:
        rows: A file (JSON lines, JSON, SQuAD's JSON, CSV, TSV, Parquet, Arrow, CoNLL), a folder, a pattern such as
            `data/*.jsonl`, a repo of the Hub, or an object: rows as dicts, a `Dataset` or `DatasetDict`, a data frame.
        out: The folder to write.
        text: The column to perturb, or several: texts, messages, or tokens where `tags` are given. `translation.zh`
            is a text inside a column.
        noise: Noise of one track or of several, each as `[TRACK=]OPERATOR[:ANNOTATORS][@SEVERITY]`, such as
            "keyboard=zh_keyboard:3". Operators joined by `+` are applied in order.
        people: Name of a track -> the files of the people who wrote it, with the columns `id` and `text`.
        id: The column of the id; otherwise `id`, or a hash of the texts where there is none. Noise depends on it, and
            not on the order of rows.
        split: The one split to take; otherwise all.
        tags: The column of BIO tags, one per token.
        answers: The column of SQuAD answers that lie in the text; they stay whole and are moved.
        turns: With messages, the turns of the user to perturb: `all`, the `first` or the `last`.
        protect: What noise leaves as whole words: the values of a COLUMN, or the matches of `regex:PATTERN`.
        seed: The seed of the noise.
        name: The name of the dataset; that of `out` otherwise.
        license: Its licence, as the Hub spells it; without one the card says that none is stated.
        language: Its language, as the Hub spells it, or a column with the language of each row; otherwise zh where
            most letters are Chinese characters, else en.
        version: That of the data, as in 1.0.0; other rows are another version.
        human: Name of a track of noise -> for each of some people a file of what they made of some of the rows, with
            the columns `id` and `text`; the card then says how human the track is.
        card: What the card says besides.
        executor: Where the noise is made.
    """
    out = Path(out)
    name = name or out.absolute().name
    _check_names(name, version, license)
    protection = Protection.parse(protect)
    specs = [noise] if isinstance(noise, str) else list(noise)
    people_files = {track: [Path(path) for path in paths] for track, paths in (people or {}).items()}
    noises = parse_noises(specs)
    _check_tracks(noises, specs, people_files)
    with open_scratch(out) as scratch:
        store = store_rows(
            rows,
            scratch,
            texts=[USER_TURNS.sub("", name) for name in ([text] if isinstance(text, str) else text)],
            id=id,
            tags=tags,
            answers=answers,
            split=split,
            language=language,
        )
        _check_columns(store, tags, answers, protection)
        turns = _check_turns(store, turns, human or people_files)
        flags = _check_languages(noises, store, language)
        persons = read_people(people_files, store, extra=[column for column in (tags, answers) if column])
        flags += check_people(persons, store)
        tracks = {track: tuple(Annotator(each.suffix, each) for each in group) for track, group in noises.items()}
        tracks |= {track: _number_people(group) for track, group in persons.items()}
        facts = {
            "NAME": name,
            "LICENSE": license,
            "LANGUAGES": _find_languages(store, language),
            "VERSION": datasets.Version(version),
            "TURNS": turns,
            "PROTECTION": protection,
            "TAGS_COLUMN": tags,
            "ANSWERS": answers,
            "SEED": seed,
            "FLAGS": tuple(flags),
            "NOISY": {f"clean_{tags}": ()} if tags else {},  # tags have no error rate
            "SPECS": {
                **dict(zip(noises, (split_track_name(spec)[1] for spec in specs), strict=True)),
                **{track: _describe_people(group) for track, group in persons.items()},
            },
            "LIKENESS": _measure_likeness(
                store, noises, human, tags=tags, answers=answers, seed=seed, id=id, settings=protection.settings()
            ),
        }
        benchmark = make_benchmark(store, tracks, card or CardTexts(), facts, str(_describe_source(rows)))
        n_bytes = sum(rows.file.stat().st_size for rows in store.splits.values())
        require_space(out.absolute(), 2 * n_bytes * len(benchmark.ROWS))  # rows as Arrow and as Parquet
        return build_dataset(benchmark, out, executor=executor)


def make_benchmark(
    store: RowStore, tracks: Mapping[str, tuple[Annotator, ...]], card: CardTexts, facts: dict[str, Any], source: str
) -> type[OwnRows]:
    """Return the benchmark of stored rows and their tracks."""
    rows: dict[str, dict[str, int | None]] = {CLEAN: {split: len(stored) for split, stored in store.splits.items()}}
    for track, annotators in tracks.items():
        for annotator in annotators:
            rows[f"{track}{annotator.suffix}"] = _count_rows(store, [annotator])
        rows[track] = _count_rows(store, annotators)
    has_people = any(isinstance(each.writer, Person) for group in tracks.values() for each in group)
    has_noise = any(isinstance(each.writer, NoiseTrack) for group in tracks.values() for each in group)
    kinds = " and ".join(filter(None, ["synthetic noise" * has_noise, "what people wrote of them" * has_people]))
    nested = {f"clean_{path.name}": (path.column, *path.keys) for path in store.texts if path.keys}
    return type(
        "OwnRows",
        (OwnRows,),
        {
            **facts,
            "__doc__": card.description or f"The rows of {source}, with {kinds}.",
            "__module__": __name__,
            "TITLE": card.title or facts["NAME"],
            "SOURCE_DATASETS": (f"extended|{source.partition(':')[0]}" if is_hub_id(source) else "original",),
            "TASKS": (card.task,) if card.task else (),
            "CITATION": card.citation,
            "ANNOTATIONS": "crowdsourced" if has_people else "machine-generated",
            "TAGS": ("noise", *["synthetic"] * has_noise, *["human"] * has_people),
            "ROWS": rows,
            "STORE": store,
            "TRACKS": tracks,
            "NOISY": {**facts["NOISY"], **nested},
            "JOINED": tuple(path.name for path in store.texts) if len(store.texts) > 1 and not nested else (),
            "TEXTS": card,
            "HAS_PEOPLE": has_people,
            "HAS_NOISE": has_noise,
            "OWN": True,
        },
    )


def _count_rows(store: RowStore, annotators: Sequence[Annotator]) -> dict[str, int | None]:
    """Return the rows of each split that any of the annotators wrote."""
    counts: dict[str, int | None] = {}
    for split, rows in store.splits.items():
        if any(isinstance(each.writer, NoiseTrack) for each in annotators):
            counts[split] = len(rows)
        else:
            people = [each.writer for each in annotators if isinstance(each.writer, Person)]
            written = {key for person in people for key in person.rows if key[0] == split}
            if written:
                counts[split] = len(written)
    return counts


def _number_people(people: Sequence[Person]) -> tuple[Annotator, ...]:
    if len(people) == 1:
        return (Annotator("", people[0]),)
    return tuple(Annotator(f".{number}", person) for number, person in enumerate(people, 1))


def _describe_people(people: Sequence[Person]) -> str:
    names = format_list(person.name for person in people)
    return f"{len(people)} people ({names})" if len(people) > 1 else f"one person ({names})"


def _describe_source(rows: Any) -> str:
    return (
        Path(rows).name
        if isinstance(rows, str | os.PathLike) and Path(rows).exists()
        else str(rows if isinstance(rows, str) else "the author")
    )


def _measure_likeness(
    store: RowStore,
    noises: Mapping[str, Sequence[NoiseTrack]],
    human: Mapping[str, Sequence[StrPath]] | None,
    *,
    tags: str | None,
    answers: str | None,
    seed: int,
    id: str | None,
    settings: Mapping[str, Any],
) -> list[TrackFidelity]:
    """Return how human the tracks are of which people wrote some rows."""
    if not human:
        return []
    if len(store.texts) > 1 or store.texts[0].keys:
        raise ValueError("--human compares one column of texts; leave it out where there are several")
    files = {track: [Path(path) for path in paths] for track, paths in human.items()}
    rows = list(chain.from_iterable(store.splits.values()))
    text = store.texts[0].name
    columns: dict[str, Any] = {"text": text, "id": id or "id", "tags": tags, "answers": answers}
    return measure_fidelity(rows, noises, files, **columns, seed=seed, settings=settings)


def _find_languages(store: RowStore, language: str | None) -> tuple[str, ...]:
    if language in store.features and language is not None:
        return store.languages
    return (language or ("zh" if 2 * store.chinese_share > 1 else "en"),)


def _check_names(name: str, version: str, license: str | None) -> None:
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a dataset; give one of letters, digits, - and . with --name")
    if not VERSION.fullmatch(version):
        raise ValueError(f"{version!r} is no version; give three numbers, as in 1.0.0, with --version")
    if license is not None:
        check_license(license)


def _check_tracks(
    noises: Mapping[str, Sequence[NoiseTrack]], specs: Sequence[str], people: Mapping[str, Sequence[Path]]
) -> None:
    """Raise where there is no track, or one cannot be called so on the Hub."""
    if not noises and not people:
        raise ValueError(
            "there is no noise; give one such as keyboard=zh_keyboard:3 with --noise, or people's texts with --people"
        )
    for track, spec in chain(zip(noises, specs, strict=True), ((track, "...") for track in people)):
        if track == CLEAN or not TRACK_NAME.fullmatch(track):
            example = f"noisy={split_track_name(spec)[1]}"
            rule = f"name it with letters, digits and -, and not {CLEAN}"
            raise ValueError(f"{track!r} is no name for a track; {rule}, as in {example}")
    if both := sorted(noises.keys() & people.keys()):
        raise ValueError(f"the track {both[0]!r} has noise and people; give each its own name")


def _check_languages(noises: Mapping[str, Sequence[NoiseTrack]], store: RowStore, language: str | None) -> list[str]:
    """Return which tracks are for another language than the rows; raise where one side is Chinese and the other not."""
    flags = []
    row_languages = {code.split("-")[0] for code in _find_languages(store, language)}
    for track, annotators in noises.items():
        for step in annotators[0].steps:
            codes = find_languages(step.operator)
            foreign = store.chinese_share < FEW if codes == ("zh",) else store.chinese_share > 1 - FEW
            if codes and foreign:
                raise ValueError(
                    f"the track {track!r} would not change these texts as people do: it is {step.operator.name}, "
                    f"which is for {format_list(codes)}, and "
                    f"{store.chinese_share:.0%} of the letters are Chinese; choose an operator for these texts"
                )
            if codes and not row_languages & set(codes):
                flags.append(f"{track} is {step.operator.name}, which is for {format_list(codes)}, not for {language}")
    return flags


def _check_turns(store: RowStore, turns: Turns | None, files: Mapping[str, Any]) -> Turns | None:
    """Return which turns are perturbed; None where the column holds no messages."""
    name = store.texts[0].name
    if name not in store.conversations:
        if turns:
            raise ValueError(f"turns are those of conversations, and {name!r} holds no messages; name another column")
        return None
    if files:
        raise ValueError(f"--human compares texts, --people too, and {name!r} holds messages; leave them out")
    return turns or "all"


def _check_columns(store: RowStore, tags: str | None, answers: str | None, protection: Protection) -> None:
    """Raise where the rows have a column that noise writes, or the tags are no tags."""
    names = [path.name for path in store.texts]
    if len(names) > 1 and (tags or answers):
        raise ValueError(f"tags and answers belong to one column of text, and {format_list(names)} are named; name one")
    if unknown := [name for name in protection.columns if name not in store.features]:
        raise LookupError(f"no column is called {unknown[0]!r}; the rows have {format_list(store.features)}")
    added = {"edits", "operator", *(f"clean_{name}" for name in names), *([f"clean_{tags}"] if tags else [])}
    if conflicts := sorted(added.intersection(store.features)):
        source = next(iter(store.files))
        raise ValueError(f"{source} has a column {format_list(conflicts)}, which noise writes itself; rename it")
