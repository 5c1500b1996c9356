"""Rows as columns: Arrow arrays where a file allows it, lists of Python values elsewhere.

A column of a frame is a `pyarrow.ChunkedArray` or a list. `read` gives what `rows.read` gives, column by column; a file
that Arrow would read otherwise (mixed types, repeated keys, broken lines) is read row by row instead.

>>> frame = Frame.of_rows([{"id": "a", "score": 1}, {"id": "b"}])
>>> frame.columns, frame.take([1]).rows()
({'id': ['a', 'b'], 'score': [1, None]}, [{'id': 'b', 'score': None}])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from lapsus.kernel import rows as tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from lapsus.kernel.columns import IntArray
    from lapsus.kernel.rows import Row

Column: TypeAlias = Any  # list[Any] | pyarrow.ChunkedArray

NUMBER = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$"
EXACT = 2.0**53  # beyond, a float does not tell two integers apart
BLOCK = 1 << 24


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Columns of the same length, by name."""

    columns: Mapping[str, Column]
    length: int

    @classmethod
    def of_rows(cls, rows: Sequence[Mapping[str, Any]]) -> Frame:
        """Return rows as lists by column; a row without a column has None there."""
        names = dict.fromkeys(chain.from_iterable(rows))
        return cls({name: [row.get(name) for row in rows] for name in names}, len(rows))

    def with_columns(self, columns: Mapping[str, Column]) -> Frame:
        """Return the frame with these columns added or replaced."""
        return Frame({**self.columns, **columns}, self.length)

    def take(self, numbers: Sequence[int] | IntArray) -> Frame:
        """Return the rows with these numbers."""
        chosen = np.asarray(numbers, np.int64)
        return Frame({name: taken(column, chosen) for name, column in self.columns.items()}, len(chosen))

    def rows(self) -> list[Row]:
        """Return the rows as dicts."""
        lists = [values(column) for column in self.columns.values()]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*lists, strict=True)] if lists else []

    @property
    def bytes(self) -> int:
        """The size in memory; about that, for lists."""
        return sum(100 * len(c) if isinstance(c, list) else int(c.nbytes) for c in self.columns.values())


class Rows(Sequence["Mapping[str, Any]"]):
    """The rows of a frame that is loaded when they are wanted, as a sequence of dicts."""

    def __init__(self, load: Callable[[], Frame], length: int) -> None:
        self.load, self.length = load, length

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[Row]:
        return iter(self.load().rows())

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        numbers = range(self.length)[index]
        if isinstance(numbers, range):
            return self.load().take(numbers).rows()
        return self.load().take([numbers]).rows()[0]


def values(column: Column) -> list[Any]:
    """Return a column as Python values."""
    return column if isinstance(column, list) else list(column.to_pylist())


def taken(column: Column, numbers: IntArray) -> Column:
    """Return the elements of a column with these numbers; -1 stands for None."""
    if isinstance(column, list):
        return [None if number < 0 else column[number] for number in numbers.tolist()]
    import pyarrow as pa

    if len(numbers) and numbers.min() < 0:
        return column.take(pa.array(numbers, mask=numbers < 0))
    return column.take(pa.array(numbers))


def read(path: Path) -> Frame:
    """Return the columns of a file, by its ending."""
    kind = tables.format_of(path)
    if kind == "parquet":
        return _read_parquet(path)
    found = None
    if path.suffix.lower() in {".jsonl", ".ndjson"}:
        found = _read_json_lines(path)
    elif kind == "csv":
        found = _read_csv(path)
    return Frame.of_rows(tables.read(path)) if found is None else found


def _read_parquet(path: Path) -> Frame:
    import pyarrow.parquet as pq

    with tables.parquet_errors(path):
        table = pq.read_table(path)
    return Frame({name: _plain(table[name]) for name in table.column_names}, table.num_rows)


def _read_json_lines(path: Path) -> Frame | None:
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
    if table.num_rows != _lines(path) or any(map(_changed, table.columns)):
        return None
    return Frame({name: _plain(table[name]) for name in table.column_names}, table.num_rows)


def _lines(path: Path) -> int:
    """Return the number of lines of a file."""
    number, last = 0, b"\n"
    with path.open("rb") as file:
        while part := file.read(BLOCK):
            number, last = number + part.count(b"\n"), part[-1:]
    return number + (last != b"\n")


def _changed(column: Any) -> bool:
    """Return whether Arrow may have changed values: long integers, dates in lists, keys that an object lacks."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(column.type):
        return bool(pc.any(pc.greater_equal(pc.abs(column), EXACT)).as_py())
    if pa.types.is_list(column.type):
        return _changed(pc.list_flatten(column))
    if pa.types.is_struct(column.type):
        parts = column.drop_null().flatten()
        return any(part.null_count or _changed(part) for part in parts)
    return bool(pa.types.is_temporal(column.type))


def _read_csv(path: Path) -> Frame | None:
    """Read a table without quotes by Arrow; None where it has some, or is broken."""
    import pyarrow as pa
    from pyarrow import csv

    with path.open("rb") as file:
        header = file.readline().decode(errors="replace")
        file.seek(0)
        while part := file.read(BLOCK):
            if b'"' in part or b"\r" in part:
                return None
    parse = csv.ParseOptions(delimiter=tables.separator(header, tables.delimiter_of(path)), quote_char=False)
    try:
        names = csv.open_csv(path, csv.ReadOptions(block_size=BLOCK), parse).schema.names
        if len(set(names)) < len(names):
            return None
        texts = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
        table = csv.read_csv(path, csv.ReadOptions(block_size=BLOCK), parse, texts)
    except (pa.ArrowInvalid, pa.ArrowKeyError):
        return None
    return Frame({name: _typed(name, table[name]) for name in names}, table.num_rows)


def _typed(name: str, column: Any) -> Column:
    """Return the cells of a column as numbers if every cell is one, as `rows.typed` does; an empty cell is None."""
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
            return tables.typed(column.to_pylist()) if _changed(numbers) else numbers
    if pc.all(pc.or_(blank, pc.match_substring_regex(column, tables.NUMBER_OR_LIST.pattern))).as_py():
        return tables.typed(column.to_pylist())
    return texts


def _plain(column: Any) -> Column:
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


def concatenated(frames: Iterable[Frame]) -> Frame:
    """Return the rows of all frames, one after the other."""
    parts = list(frames)
    if len(parts) == 1:
        return parts[0]
    names = dict.fromkeys(chain.from_iterable(part.columns for part in parts))
    columns: dict[str, Column] = {}
    for name in names:
        columns[name] = list(
            chain.from_iterable(values(part.columns.get(name, [None] * part.length)) for part in parts)
        )
    return Frame(columns, sum(part.length for part in parts))
