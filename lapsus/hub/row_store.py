"""The checked rows of an author, kept in files of batches while a dataset is made of them.

`store_rows` reads a source once, from beginning to end: memory does not grow with the rows.
"""

from __future__ import annotations

import hashlib
import json
import pickle
from array import array
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from datasets import ClassLabel, Features, List, Value

from lapsus.core.conversations import holds_messages, is_messages, parse_messages
from lapsus.core.messages import format_list
from lapsus.core.text import to_text
from lapsus.io.paths import ColumnPath, parse_path
from lapsus.io.streams import BATCH_ROWS, RowStream, open_streams

if TYPE_CHECKING:
    from lapsus.core.types import Row

SPLIT_COLUMN = "split"  # of rows in one file
DEFAULT_SPLIT = "test"
MAX_SPLITS = 30  # the viewer shows no more
MAX_CLASSES = 10  # whole numbers below it may be the numbers of classes
ID_LETTERS = 16  # of a hash
MAX_LETTERS = 500_000  # that tell the language


@dataclass(frozen=True, slots=True)
class SplitRows:
    """The rows of a split, again and again; of equal ids from content, all but the first are numbered."""

    file: Path
    length: int
    columns: tuple[str, ...]
    repeated_ids: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[dict[str, Any]]:
        seen: Counter[str] = Counter()
        for stored in _iter_stored(self.file):
            row = {name: stored.get(name) for name in self.columns}
            if row["id"] in self.repeated_ids:
                seen[row["id"]] += 1
                if seen[row["id"]] > 1:
                    row["id"] = f"{row['id']}-{seen[row['id']]}"
            yield row


def _iter_stored(file: Path) -> Iterator[dict[str, Any]]:
    with file.open("rb") as batches:
        while batches.peek(1):
            yield from pickle.load(batches)  # noqa: S301 - written by this process


@dataclass(frozen=True, slots=True)
class RowStore:
    """The rows of all splits, what their columns hold, and what they were read from."""

    splits: Mapping[str, SplitRows]
    features: Features
    texts: tuple[ColumnPath, ...]
    files: Mapping[str, str]  # name -> sha256
    has_content_ids: bool
    chinese_share: float  # of the letters
    languages: tuple[str, ...] = ()  # of the column of languages
    conversations: frozenset[str] = frozenset()  # columns of messages


@dataclass(slots=True)
class _SplitWriter:
    """Writes the rows of one split and notes what must be known of all of them."""

    file: Path
    stream: IO[bytes]
    batch: list[dict[str, Any]] = field(default_factory=list)
    id_hashes: array[int] = field(default_factory=lambda: array("q"))

    def add(self, row: dict[str, Any]) -> None:
        self.id_hashes.append(hash(row["id"]))
        self.batch.append(row)
        if len(self.batch) == BATCH_ROWS:
            self.flush()

    def flush(self) -> None:
        if self.batch:
            pickle.dump(self.batch, self.stream, pickle.HIGHEST_PROTOCOL)
            self.batch = []

    def find_repeated_ids(self) -> frozenset[str]:
        hashes = np.sort(np.frombuffer(self.id_hashes, dtype=np.int64))
        repeated = {*hashes[1:][hashes[1:] == hashes[:-1]].tolist()}
        if not repeated:
            return frozenset()
        counts = Counter(row["id"] for row in _iter_stored(self.file) if hash(row["id"]) in repeated)
        return frozenset(name for name, count in counts.items() if count > 1)


class _Reader:
    """Reads the rows of a source into a store."""

    def __init__(
        self,
        folder: Path,
        texts: Sequence[str],
        id: str | None,
        tags: str | None,
        answers: str | None,
        language: str | None,
    ) -> None:
        self.folder, self.text_names, self.id, self.language = folder, texts, id, language
        self.required, self.has_tokens = [name for name in (tags, answers) if name], tags is not None
        self.paths: tuple[ColumnPath, ...] = ()
        self.columns: dict[str, None] = {}
        self.writers: dict[str, _SplitWriter] = {}
        self.schema: Any = None
        self.numbers: dict[str, _WholeNumbers] = {}
        self.letters = [0, 0]  # Chinese ones, all
        self.languages: dict[str, None] = {}
        self.content_ids = False
        self.conversations: dict[str, None] = {}  # columns of messages

    def read(self, streams: Mapping[str, RowStream], stack: ExitStack) -> None:
        """Read every stream into the files of its splits."""
        for split, stream in streams.items():
            by_column = split == "" and len(streams) == 1
            batch: list[dict[str, Any]] = []
            for number, row in enumerate(stream.read(), 1):
                if number == 1:
                    self.start(stream, row, has_split=by_column)
                    by_column = by_column and SPLIT_COLUMN in row and SPLIT_COLUMN not in self.text_names
                checked = self.check(f"{stream.name} row {number}", row)
                target = split or DEFAULT_SPLIT
                if by_column:
                    target = self.pop_split(f"{stream.name} row {number}", checked)
                self.get_writer(target, stack).add(checked)
                batch.append(checked)
                if len(batch) == BATCH_ROWS:
                    self.note(stream, batch)
                    batch = []
            self.note(stream, batch)
            if not any(len(writer.id_hashes) for writer in self.writers.values()):
                raise ValueError(f"{stream.name} has no rows; give it some")

    def start(self, stream: RowStream, row: Row, *, has_split: bool) -> None:
        """Find the columns of texts and ids in the first row."""
        columns = stream.schema.names if stream.schema else [*row]
        self.paths = tuple(parse_path(name, columns) for name in self.text_names)
        if len({path.name for path in self.paths}) < len(self.paths):
            raise ValueError(f"the texts {format_list(self.text_names)} would be called the same; name each once")
        if self.id is None:
            self.content_ids = "id" not in columns
        elif self.id != "id" and "id" in columns:
            raise ValueError(f"{stream.name} has a column 'id' beside --id {self.id}; rename it, or give --id id")

    def check(self, where: str, row: Row) -> dict[str, Any]:
        """Return a row with its id first; raise where it has no texts or no id."""
        name = self.id or "id"
        required = [path.column for path in self.paths] + self.required + ([] if self.content_ids else [name])
        if missing := [column for column in dict.fromkeys(required) if row.get(column) is None]:
            raise ValueError(f"{where} has no {format_list(missing)}; its columns are {format_list(row)}")
        if name != "id" and "id" in row:
            raise ValueError(f"{where} has a column 'id' beside --id {name}; rename it, or give --id id")
        texts = [path.get(row) for path in self.paths]
        for path, value in zip(self.paths, texts, strict=True):
            if not self.has_tokens and not path.keys and holds_messages(value):
                row = {**row, path.column: parse_messages(value)}
            else:
                _check_text(where, path, value, tokens=self.has_tokens)
        self.conversations |= {name: None for name, value in row.items() if is_messages(value)}
        row_id = make_content_id(texts) if self.content_ids else str(row[name])
        if self.letters[1] < MAX_LETTERS:
            self.count_letters(texts)
        if self.language and isinstance(row.get(self.language), str):
            self.languages[row[self.language]] = None
        return {"id": row_id} | {column: value for column, value in row.items() if column != name}

    def count_letters(self, texts: Sequence[Any]) -> None:
        letters = [letter for text in texts for letter in to_text(text) if letter.isalpha()]
        self.letters[0] += sum("\u4e00" <= letter <= "\u9fff" for letter in letters)
        self.letters[1] += len(letters)

    def pop_split(self, where: str, row: dict[str, Any]) -> str:
        """Return the split that a row names, without the column, which would say the same in every row of a split."""
        split = row.pop(SPLIT_COLUMN, None)
        if not isinstance(split, str) or not split.strip():
            raise ValueError(f"{where} has {split!r} as its split; name the split of every row, or rename the column")
        return split.strip()

    def get_writer(self, split: str, stack: ExitStack) -> _SplitWriter:
        if split not in self.writers:
            if len(self.writers) == MAX_SPLITS:
                raise ValueError(f"the column {SPLIT_COLUMN!r} names more than {MAX_SPLITS} splits; rename the column")
            file = self.folder / f"{len(self.writers)}.rows"
            self.writers[split] = _SplitWriter(file, stack.enter_context(file.open("wb")))
        return self.writers[split]

    def note(self, stream: RowStream, batch: Sequence[dict[str, Any]]) -> None:
        """Note the types of a batch of rows."""
        if not batch:
            return
        self.columns |= dict.fromkeys(name for row in batch for name in row)
        schema = stream.schema or infer_schema(batch, stream.name, self.conversations)
        if self.schema is None or self.schema is not schema:
            self.schema = schema if self.schema is None else unify_schemas(self.schema, schema, stream.name)
        for name in self.columns:
            numbers = self.numbers.setdefault(name, _WholeNumbers())
            if not numbers.has_others:
                for row in batch:
                    numbers.add(row.get(name))

    def make_features(self) -> Features:
        """Return what the columns hold: as the source says, and two neighbouring whole numbers as classes.

        The Hub's viewer has no histogram of two neighbouring numbers, and then no statistics of the whole split
        (huggingface/dataset-viewer#3440).
        """
        known = [field for field in self.schema if field.name not in self.conversations]
        features = Features.from_arrow_schema(pa.schema(known, self.schema.metadata))
        columns: dict[str, Any] = {"id": Value("string")}
        for name in self.columns:
            if name == "id":
                continue
            if name in self.conversations:
                columns[name] = List(make_json_feature())
                continue
            feature = features[name]
            numbers = self.numbers[name]
            if isinstance(feature, Value) and "int" in feature.dtype and numbers.are_neighbours():
                feature = ClassLabel(names=[str(number) for number in range(max(numbers.values) + 1)])
            columns[name] = feature
        return Features(columns)


def make_json_feature() -> Any:
    """Return the feature of one message: JSON, so that each comes back as it was."""
    import datasets

    if not hasattr(datasets, "Json"):
        raise ImportError("messages become JSON columns, which this version lacks; upgrade: pip install -U datasets")
    return datasets.Json()


@dataclass(slots=True)
class _WholeNumbers:
    """The few whole numbers of a column; a column of others is none."""

    values: set[int] = field(default_factory=set)
    has_others: bool = False

    def add(self, value: Any) -> None:
        if isinstance(value, int) and not isinstance(value, bool):
            self.values.add(value)
        self.has_others = len(self.values) > 2 or not (value is None or isinstance(value, int))

    def are_neighbours(self) -> bool:
        low, high = min(self.values, default=-1), max(self.values, default=MAX_CLASSES)
        return not self.has_others and len(self.values) == 2 and 0 <= low == high - 1 < MAX_CLASSES


def store_rows(
    source: Any,
    folder: Path,
    *,
    texts: Sequence[str],
    id: str | None = None,
    tags: str | None = None,
    answers: str | None = None,
    split: str | None = None,
    language: str | None = None,
) -> RowStore:
    """Read the rows of a source into `folder`; raise where a row lacks what is needed.

    Args:
        source: As `lapsus.io.streams.open_streams` takes it.
        folder: Where the rows are kept.
        texts: The columns of texts, or paths such as `translation.zh`.
        id: The column of the id; otherwise `id`, or the content of the texts where there is none.
        tags: The column of tags, where the texts are tokens.
        answers: The column of answers.
        split: The one split to take.
        language: The column of languages.
    """
    streams = open_streams(source, split)
    reader = _Reader(folder, texts, id, tags, answers, language)
    with ExitStack() as stack:
        reader.read(streams, stack)
        for writer in reader.writers.values():
            writer.flush()
    name = next(iter(streams.values())).name
    features = reader.make_features()
    splits = {}
    for split_name, writer in reader.writers.items():
        repeated = writer.find_repeated_ids()
        if repeated and not reader.content_ids:
            raise ValueError(_describe_repeated_id(name, writer.file, min(repeated)))
        splits[split_name] = SplitRows(writer.file, len(writer.id_hashes), tuple(features), repeated)
    if split is not None and split not in splits:
        raise LookupError(f"{source}: has no split {split!r}; it has {format_list(map(repr, splits))}")
    if split is not None:
        splits = {split: splits[split]}
    if empty := [column for column, kind in features.items() if getattr(kind, "dtype", "") == "null"]:
        raise ValueError(f"the column {format_list(empty)} of {name} is empty in every row; leave it out")
    share = reader.letters[0] / max(1, reader.letters[1])
    return RowStore(
        splits,
        features,
        reader.paths,
        hash_sources(source, streams, splits),
        reader.content_ids,
        share,
        tuple(reader.languages),
        frozenset(reader.conversations),
    )


def _describe_repeated_id(name: str, file: Path, repeated_id: str) -> str:
    first, second = [number for number, row in enumerate(_iter_stored(file), 1) if row["id"] == repeated_id][:2]
    return f"{name} row {second} has the id {repeated_id!r} of row {first}; ids must be unique"


def _check_text(where: str, path: ColumnPath, value: Any, *, tokens: bool) -> None:
    name = ".".join((path.column, *path.keys))
    if tokens:
        if not (isinstance(value, list) and value and all(isinstance(token, str) for token in value)):
            raise ValueError(f"{where} has {value!r} as its {name}, which are no tokens; give a list of words")
    elif not (isinstance(value, str) and value.strip()):
        hint = "give --tags for tokens, or mend the row" if isinstance(value, list) else "mend the row"
        raise ValueError(f"{where} has {value!r} as its {name}, which is no text; {hint}")


def make_content_id(texts: Sequence[Any]) -> str:
    """Return the id of a row that has none: the beginning of a hash of its texts.

    >>> make_content_id(["slow down"])
    'e174d595ce91ca56'
    """
    return hashlib.sha256(json.dumps(list(texts), ensure_ascii=False).encode()).hexdigest()[:ID_LETTERS]


def infer_schema(rows: Sequence[Mapping[str, Any]], name: str, others: Container[str]) -> Any:
    """Return Arrow's types of the columns of rows but for `others`."""
    columns = dict.fromkeys(column for row in rows for column in row if column not in others)
    try:
        return pa.schema([(column, pa.array([row.get(column) for row in rows]).type) for column in columns])
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise _mixed_types(name, error) from error


def unify_schemas(first: Any, second: Any, name: str) -> Any:
    """Return the types that hold the values of both."""
    try:
        return pa.unify_schemas([first, second], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise _mixed_types(name, error) from error


def _mixed_types(name: str, error: BaseException) -> ValueError:
    reason = " ".join(str(error).split())
    return ValueError(f"the rows of {name} have columns of mixed types ({reason}); give each column one type")


def hash_sources(source: Any, streams: Mapping[str, RowStream], splits: Mapping[str, SplitRows]) -> dict[str, str]:
    """Return the sha256 of each file that was read, or of the rows where they come from no file."""
    hashes = {}
    for path in dict.fromkeys(path for stream in streams.values() for path in stream.files):
        with path.open("rb") as file:
            hashes[path.name if path.name not in hashes else str(path)] = hashlib.file_digest(
                file, "sha256"
            ).hexdigest()
    if hashes:
        return hashes
    name = str(source) if isinstance(source, str | Path) else "the author's rows"
    for split, rows in splits.items():
        digest = hashlib.sha256()
        for row in rows:
            digest.update(json.dumps(row, ensure_ascii=False, sort_keys=True, default=str).encode())
        hashes[f"{name} ({split})"] = digest.hexdigest()
    return hashes
