"""Read tables by columns: Arrow arrays where a source allows it, lists of Python values elsewhere.

`read_table` is the way in for tables of any origin: files, folders of `datasets`, repos of the Hub, and objects in
memory. What it reads from a file, `readers.read_rows` reads row by row; a file that Arrow would read otherwise (mixed
types, repeated keys, broken lines) is read by rows here too.

>>> table = read_table([{"id": "a", "score": 1}, {"id": "b"}])
>>> table.columns, table.take([1]).to_rows()
({'id': ['a', 'b'], 'score': [1, None]}, [{'id': 'b', 'score': None}])
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from lapsus.core.messages import format_list
from lapsus.io import readers
from lapsus.io.json_columns import is_json_list, list_column, measure_depth

if TYPE_CHECKING:
    from collections.abc import Callable

    from lapsus.core.checks import IntArray
    from lapsus.io.readers import Row

Column: TypeAlias = Any  # list[Any] | pyarrow.ChunkedArray

NUMBER = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$"
EXACT = 2.0**53  # beyond, a float does not tell two integers apart
BLOCK = 1 << 24
SPAN = 1 << 11  # bytes; a line within them cannot nest deeper than MAX_DEPTH
MAX_DEPTH = SPAN // 2  # of a line that Arrow reads: its reader recurses, and ends the process at some thousands
OPEN, CLOSE = b"{}"
SAVED_DATASET_FILES = ("dataset_dict.json", "state.json")  # in folders that `save_to_disk` wrote
HUB_ID = re.compile(r"[\w-][\w.-]*/[\w.-]+(:[\w.-]+)?")  # ORG/NAME, or ORG/NAME:CONFIG


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of the same length, by name; `classes` are the names of the columns that hold the numbers of classes."""

    columns: Mapping[str, Column]
    length: int
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, Any]]) -> Table:
        """Return rows as lists by column; a row without a column has None there."""
        names = dict.fromkeys(chain.from_iterable(rows))
        return cls({name: [replace_surrogates(row.get(name)) for row in rows] for name in names}, len(rows))

    @classmethod
    def from_arrow(cls, table: Any) -> Table:
        """Return the columns of an Arrow table; it may note the names of classes as `datasets` does."""
        columns = {name: _simplify(table[name]) for name in table.column_names}
        return cls(columns, table.num_rows, readers.find_class_names(table.schema))

    def with_columns(self, columns: Mapping[str, Column]) -> Table:
        """Return the table with these columns added or replaced."""
        return replace(self, columns={**self.columns, **columns})

    def with_class_names(self) -> Table:
        """Return the table with the names of classes for their numbers, and None for -1, which is no class."""
        columns = {name: _name_classes(to_list(self.columns[name]), names) for name, names in self.classes.items()}
        return replace(self.with_columns(columns), classes={}) if columns else self

    def take(self, indices: Sequence[int] | IntArray) -> Table:
        """Return the rows with these numbers."""
        index_array = np.asarray(indices, np.int64)
        columns = {name: take(column, index_array) for name, column in self.columns.items()}
        return Table(columns, len(index_array), self.classes)

    def to_rows(self) -> list[Row]:
        """Return the rows as dicts."""
        lists = [to_list(column) for column in self.columns.values()]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*lists, strict=True)] if lists else []

    @property
    def nbytes(self) -> int:
        """The size in memory; about that, for lists."""
        return sum(100 * len(c) if isinstance(c, list) else int(c.nbytes) for c in self.columns.values())


class LazyRows(Sequence["Mapping[str, Any]"]):
    """The rows of a table that is loaded when they are wanted, as a sequence of dicts."""

    def __init__(self, load: Callable[[], Table], length: int) -> None:
        self.load, self.length = load, length

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[Row]:
        return iter(self.load().to_rows())

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        numbers = range(self.length)[index]
        if isinstance(numbers, range):
            return self.load().take(numbers).to_rows()
        return self.load().take([numbers]).to_rows()[0]


HALVES = re.compile("[\ud800-\udfff]")  # of letters beyond U+FFFF: no text that is written holds one alone


def replace_surrogates(value: Any) -> Any:
    r"""Return a value with U+FFFD for each half of a letter, as an answer has that was cut within an emoji.

    >>> replace_surrogates(["no\ud83d", 1]) == ["no\ufffd", 1]
    True
    """
    if isinstance(value, str):
        return value if value.isascii() else HALVES.sub("\ufffd", value)
    if isinstance(value, list):
        return [replace_surrogates(each) for each in value]
    if isinstance(value, dict):
        return {name: replace_surrogates(each) for name, each in value.items()}
    return value


def to_list(column: Column) -> list[Any]:
    """Return a column as Python values."""
    return column if isinstance(column, list) else list(column.to_pylist())


def take(column: Column, indices: IntArray) -> Column:
    """Return the elements of a column with these numbers; -1 stands for None."""
    if isinstance(column, list):
        return [None if number < 0 else column[number] for number in indices.tolist()]
    import pyarrow as pa

    if len(indices) and indices.min() < 0:
        return column.take(pa.array(indices, mask=indices < 0))
    return column.take(pa.array(indices))


def _name_classes(numbers: Any, names: Sequence[str]) -> Any:
    """Replace class numbers, in lists of any depth, by class names, and -1 (no class) by None.

    >>> _name_classes([1, [0, -1]], ["no", "yes"])
    ['yes', ['no', None]]
    """
    if isinstance(numbers, list):
        return [_name_classes(number, names) for number in numbers]
    return names[numbers] if isinstance(numbers, int) and 0 <= numbers < len(names) else None


def read_table(source: Any, *, split: str | None = None) -> Table:
    """Return the columns of a table of any origin.

    Args:
        source: A file (JSON lines, JSON, CSV, TSV, Parquet, Arrow or Feather, by its ending), a folder that
            `save_to_disk` of `datasets` wrote, a repo of the Hub (ORG/NAME, or ORG/NAME:CONFIG), or an object: rows
            as dicts, a `datasets.Dataset` or `DatasetDict`, a data frame of pandas, an Arrow table.
        split: The split of a folder, a repo or a `DatasetDict` that has several.
    """
    if isinstance(source, Table):
        return source
    if isinstance(source, str | os.PathLike):
        return _read_path(os.fspath(source), split)
    library = type(source).__module__.partition(".")[0]
    if library == "datasets":
        return _from_dataset(source, split)
    if library == "pandas":
        return _from_pandas(source)
    return Table.from_arrow(source) if library == "pyarrow" else _from_iterable(source)


def _read_path(source: str, split: str | None) -> Table:
    path = Path(source)
    if path.is_file():
        return _read_file(path)
    if path.is_dir() or is_hub_id(source):
        return _from_dataset(open_dataset(source, split), split)
    raise FileNotFoundError(f"{source}: no such file; give the path of a file of rows.")


def is_saved_dataset(folder: Path) -> bool:
    """Return whether `save_to_disk` of `datasets` wrote a folder."""
    return any((folder / name).is_file() for name in SAVED_DATASET_FILES)


def is_hub_id(source: str) -> bool:
    """Return whether a text can be a repo of the Hub, and no file has its name.

    >>> is_hub_id("org/name"), is_hub_id("org/name:config"), is_hub_id("data/rows.csv"), is_hub_id("rows")
    (True, True, False, False)
    """
    path = Path(source)
    return not path.exists() and bool(HUB_ID.fullmatch(source)) and path.suffix.lower() not in readers.SUFFIXES


def open_dataset(source: str, split: str | None = None) -> Any:
    """Return a dataset of `datasets`: a folder that `save_to_disk` wrote, or a repo, ORG/NAME or ORG/NAME:CONFIG."""
    folder = Path(source)
    if folder.is_dir() and not is_saved_dataset(folder):
        raise IsADirectoryError(f"{folder}: is a folder; name the files in it.")
    import datasets

    if folder.is_dir():
        return _select_split(datasets.load_from_disk(source), source, split)
    repo, _, config = source.partition(":")
    try:
        dataset = datasets.load_dataset(repo, config or None, split=split)
    except (datasets.exceptions.DatasetNotFoundError, ConnectionError) as error:
        problem = f"{source}: no such file, and no dataset of the Hub ({readers.strip_error_message(error)})"
        raise FileNotFoundError(f"{problem}; give the path of a file of rows.") from None
    return _select_split(dataset, source, split)


def _select_split(dataset: Any, name: str, split: str | None) -> Any:
    """Return one split of a dataset that has several."""
    if not isinstance(dataset, Mapping):
        return dataset
    if split is None and len(dataset) == 1:
        (split,) = dataset
    if split not in dataset:
        splits = format_list(map(repr, dataset))
        problem = f"has the splits {splits}" if split is None else f"has no split {split!r}; it has {splits}"
        raise LookupError(f"{name}: {problem}: name one of them.")
    return dataset[split]


def _from_iterable(rows: Any) -> Table:
    rows = list(rows) if isinstance(rows, Iterable) else [rows]
    if not all(isinstance(row, Mapping) for row in rows):
        raise TypeError(f"{type(rows[0]).__name__} is no row; give a path, rows as dicts, a dataset or a data frame.")
    return Table.from_rows(rows)


def _read_file(path: Path) -> Table:
    """Return the columns of a file, by its ending."""
    suffix = path.suffix.lower()
    if suffix not in readers.SUFFIXES:
        raise ValueError(f"{path}: unsupported file type {path.suffix!r}; use one of {', '.join(readers.SUFFIXES)}.")
    if suffix in readers.COLUMNAR:
        return Table.from_arrow(readers.read_arrow(path))
    table = None
    if suffix in {".jsonl", ".ndjson"}:
        table = _read_json_lines(path)
    elif suffix in {".csv", ".tsv"}:
        table = _read_csv(path)
    return Table.from_rows(readers.read_rows(path)) if table is None else table


def _from_dataset(dataset: Any, split: str | None) -> Table:
    """Return the columns of a dataset of `datasets`, of one split where it has several."""
    dataset = _select_split(dataset, "the dataset", split)
    if not hasattr(dataset, "with_format") or not hasattr(dataset, "num_rows"):  # one that is streamed
        return Table.from_rows(list(dataset))
    table = dataset.with_format("arrow")[:]
    return Table.from_arrow(table.cast(dataset.features.arrow_schema))


def _from_pandas(frame: Any) -> Table:
    """Return the columns of a data frame; a column that mixes types becomes a list, with None for what is missing."""
    import pyarrow as pa

    columns: dict[str, Column] = {}
    for name in frame.columns:
        try:
            columns[str(name)] = _simplify(pa.chunked_array([pa.Array.from_pandas(frame[name])]))
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            values = frame[name].astype(object)
            columns[str(name)] = values.where(frame[name].notna(), None).tolist()
    return Table(columns, len(frame))


def _read_json_lines(path: Path) -> Table | None:
    """Read JSON lines by Arrow; None where that would not give the same as Python's reader."""
    n_lines = _count_shallow_lines(path)
    if n_lines is None:
        return None
    import pyarrow as pa
    from pyarrow import json

    block = json.ReadOptions(block_size=BLOCK)
    try:
        table = json.read_json(path, block)
        dates = [field.name for field in table.schema if pa.types.is_temporal(field.type)]
        if dates:  # a text that looks like a date is a text
            texts = json.ParseOptions(explicit_schema=pa.schema([(name, pa.string()) for name in dates]))
            table = json.read_json(path, block, texts)
        table.validate(full=True)  # text that is not UTF-8
        str(table.schema)  # the same in names
        is_lossy = table.num_rows != n_lines or any(map(_is_lossy, table.columns))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, RecursionError, UnicodeDecodeError):
        return None
    if is_lossy:
        return None
    return Table({name: _simplify(table[name]) for name in table.column_names}, table.num_rows)


def _count_shallow_lines(path: Path) -> int | None:
    """Return the number of lines; None where one may nest too deep for Arrow, or where a value may span lines.

    A quick look suffices: it jumps from line to line, over several short ones at once. Between a line that ends with }
    and one that begins with {, no value is open, so whatever lies between two such places is no deeper than its
    opening brackets are many.
    """
    number, rest = 0, b""
    is_first = True
    with path.open("rb") as file:
        while part := file.read(BLOCK):
            number += part.count(b"\n")
            start = part.find(b"\n") + 1
            rest += part[:start] if start else part
            if not start:
                continue
            if is_first:
                rest, is_first = rest.removeprefix(readers.BYTE_ORDER_MARK), False
            if not _is_shallow(rest, 0, len(rest)):
                return None
            while stop := part.rfind(b"\n", start, start + SPAN) + 1 or part.find(b"\n", start + SPAN) + 1:
                is_plain = stop - start <= SPAN and part[start] == OPEN and part[stop - 2] == CLOSE
                if not is_plain and not _is_shallow(part, start, stop):
                    return None
                start = stop
            rest = part[start:]
    if not rest:
        return number
    if is_first:
        rest = rest.removeprefix(readers.BYTE_ORDER_MARK)
    return number + 1 if _is_shallow(rest + b"\n", 0, len(rest) + 1) else None


def _is_shallow(text: bytes, start: int, stop: int) -> bool:
    """Return whether lines begin with { and end with }, and do not nest too deep."""
    end = stop - 2 if text[stop - 2 : stop - 1] != b"\r" else stop - 3
    if text[start] != OPEN or text[end] != CLOSE:
        return False
    if stop - start <= SPAN or text.count(b"[", start, stop) + text.count(b"{", start, stop) <= MAX_DEPTH:
        return True
    return measure_depth(text[start:stop]) <= MAX_DEPTH


def _is_lossy(column: Any) -> bool:
    """Return whether Arrow may have changed values: long integers, dates in lists, keys that an object lacks."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(column.type):
        return bool(pc.any(pc.greater_equal(pc.abs(column), EXACT)).as_py())
    if pa.types.is_list(column.type):
        return _is_lossy(pc.list_flatten(column))
    if pa.types.is_struct(column.type):
        parts = column.drop_null().flatten()
        return any(part.null_count or _is_lossy(part) for part in parts)
    return bool(pa.types.is_temporal(column.type))


def _read_csv(path: Path) -> Table | None:
    """Read a table without quotes by Arrow; None where it has some, or is broken."""
    import pyarrow as pa
    from pyarrow import csv

    with path.open("rb") as file:
        first = file.readline()
        if readers.is_utf_16(first):
            return None
        header = first.decode(errors="replace")
        file.seek(0)
        while part := file.read(BLOCK):
            if b'"' in part or b"\r" in part:
                return None
    parse = csv.ParseOptions(delimiter=readers.find_separator(header, readers.detect_delimiter(path)), quote_char=False)
    try:
        names = csv.open_csv(path, csv.ReadOptions(block_size=BLOCK), parse).schema.names
        if len(set(names)) < len(names):
            return None
        texts = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
        table = csv.read_csv(path, csv.ReadOptions(block_size=BLOCK), parse, texts)
    except (pa.ArrowInvalid, pa.ArrowKeyError, UnicodeDecodeError):
        return None
    return Table({name: _infer_numbers(name, table[name]) for name in names}, table.num_rows)


def _infer_numbers(name: str, column: Any) -> Column:
    """Return cells as numbers if every cell is one, as `readers.infer_types` does; an empty cell is None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    blank = pc.equal(column, "")
    texts = pc.if_else(blank, None, column)
    if name == "id":
        return column  # an id stays as it is
    if pc.all(pc.or_(blank, pc.match_substring_regex(column, NUMBER))).as_py():
        try:
            return pc.cast(texts, pa.int64())
        except pa.ArrowInvalid:
            numbers = pc.cast(texts, pa.float64())
            return readers.infer_types(column.to_pylist()) if _is_lossy(numbers) else numbers
    if pc.all(pc.or_(blank, pc.match_substring_regex(column, readers.NUMBER_OR_LIST.pattern))).as_py():
        return readers.infer_types(column.to_pylist())
    return texts


def _simplify(column: Any) -> Column:
    """Return a column of text, numbers, booleans or lists of them as it is, and any other as Python values."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return column.cast(pa.string())
    plain = (pa.types.is_string, pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
    inner = kind.value_type if pa.types.is_list(kind) else kind
    if kind != inner and isinstance(inner, pa.BaseExtensionType) and is_json_list(kind):
        return list_column(column)
    if any(test(inner) for test in plain) or pa.types.is_null(kind):
        return column
    return column if pa.types.is_list(kind) or pa.types.is_struct(kind) else column.to_pylist()


def concatenate(tables: Iterable[Table]) -> Table:
    """Return the rows of all tables, one after the other."""
    parts = list(tables)
    if len(parts) == 1:
        return parts[0]
    names = dict.fromkeys(chain.from_iterable(part.columns for part in parts))
    columns: dict[str, Column] = {}
    for name in names:
        columns[name] = list(
            chain.from_iterable(to_list(part.columns.get(name, [None] * part.length)) for part in parts)
        )
    return Table(columns, sum(part.length for part in parts), parts[0].classes if parts else {})
