"""Rows as columns: Arrow arrays where a file allows it, lists of Python values elsewhere.

A column of a frame is a `pyarrow.ChunkedArray` or a list. `read_table` gives what `read_lines.read` gives, column by column; a file
that Arrow would read otherwise (mixed types, repeated keys, broken lines) is read row by row instead.

>>> frame = Table.from_rows([{"id": "a", "score": 1}, {"id": "b"}])
>>> frame.columns, frame.take([1]).to_rows()
({'id': ['a', 'b'], 'score': [1, None]}, [{'id': 'b', 'score': None}])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from lapsus.io import readers as readers

if TYPE_CHECKING:
    from collections.abc import Callable

    from lapsus.core.checks import IntArray
    from lapsus.io.readers import Row

Column: TypeAlias = Any  # list[Any] | pyarrow.ChunkedArray

NUMBER = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$"
EXACT = 2.0**53  # beyond, a float does not tell two integers apart
BLOCK = 1 << 24


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of the same length, by name."""

    columns: Mapping[str, Column]
    length: int

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, Any]]) -> Table:
        """Return rows as lists by column; a row without a column has None there."""
        names = dict.fromkeys(chain.from_iterable(rows))
        return cls({name: [row.get(name) for row in rows] for name in names}, len(rows))

    def with_columns(self, columns: Mapping[str, Column]) -> Table:
        """Return the frame with these columns added or replaced."""
        return Table({**self.columns, **columns}, self.length)

    def take(self, indices: Sequence[int] | IntArray) -> Table:
        """Return the rows with these numbers."""
        index_array = np.asarray(indices, np.int64)
        return Table({name: take(column, index_array) for name, column in self.columns.items()}, len(index_array))

    def to_rows(self) -> list[Row]:
        """Return the rows as dicts."""
        lists = [to_list(column) for column in self.columns.values()]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*lists, strict=True)] if lists else []

    @property
    def nbytes(self) -> int:
        """The size in memory; about that, for lists."""
        return sum(100 * len(c) if isinstance(c, list) else int(c.nbytes) for c in self.columns.values())


class LazyRows(Sequence["Mapping[str, Any]"]):
    """The rows of a frame that is loaded when they are wanted, as a sequence of dicts."""

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


def read_table(path: Path) -> Table:
    """Return the columns of a file, by its ending."""
    file_format = readers.detect_format(path)
    if file_format == "parquet":
        return _read_parquet(path)
    table = None
    if path.suffix.lower() in {".jsonl", ".ndjson"}:
        table = _read_json_lines(path)
    elif file_format == "csv":
        table = _read_csv(path)
    return Table.from_rows(readers.read_rows(path)) if table is None else table


def _read_parquet(path: Path) -> Table:
    import pyarrow.parquet as pq

    with readers.translate_parquet_errors(path):
        table = pq.read_table(path)
    return Table({name: _simplify(table[name]) for name in table.column_names}, table.num_rows)


def _read_json_lines(path: Path) -> Table | None:
    """Read JSON lines by Arrow; None where that would not give the same as Python's reader."""
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
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    if table.num_rows != _count_lines(path) or any(map(_is_lossy, table.columns)):
        return None
    return Table({name: _simplify(table[name]) for name in table.column_names}, table.num_rows)


def _count_lines(path: Path) -> int:
    """Return the number of lines of a file."""
    number, last = 0, b"\n"
    with path.open("rb") as file:
        while part := file.read(BLOCK):
            number, last = number + part.count(b"\n"), part[-1:]
    return number + (last != b"\n")


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
        header = file.readline().decode(errors="replace")
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
    except (pa.ArrowInvalid, pa.ArrowKeyError):
        return None
    return Table({name: _infer_numbers(name, table[name]) for name in names}, table.num_rows)


def _infer_numbers(name: str, column: Any) -> Column:
    """Return the cells of a column as numbers if every cell is one, as `read_lines.typed` does; an empty cell is None."""
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
    if any(test(inner) for test in plain) or pa.types.is_null(kind):
        return column
    return column if pa.types.is_list(kind) or pa.types.is_struct(kind) else column.to_pylist()


def concatenate(tables: Iterable[Table]) -> Table:
    """Return the rows of all frames, one after the other."""
    parts = list(tables)
    if len(parts) == 1:
        return parts[0]
    names = dict.fromkeys(chain.from_iterable(part.columns for part in parts))
    columns: dict[str, Column] = {}
    for name in names:
        columns[name] = list(
            chain.from_iterable(to_list(part.columns.get(name, [None] * part.length)) for part in parts)
        )
    return Table(columns, sum(part.length for part in parts))
