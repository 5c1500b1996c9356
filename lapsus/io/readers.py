"""Rows of a file as dicts: JSON lines, JSON, CSV, TSV, Parquet, Arrow and Feather.

`read_rows` takes a whole file. Its parts work on lines of bytes or text, so that they also read a file that is cut into
chunks (`parse_json_lines`) or is a member of an archive (`decode_lines`, `parse_json`, `parse_csv`). UTF-8 is expected,
with or without a byte order mark; an error names the file, the line and the column. `tables.read_table` reads the same
files by columns.

>>> list(parse_json_lines([b'{"id": 1}', b"", b'{"id": 2}'], "p.jsonl"))
[{'id': 1}, {'id': 2}]
"""

from __future__ import annotations

import csv
import json
import re
from bisect import bisect_left
from collections import Counter
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from lapsus.core.messages import format_list
from lapsus.io.json_columns import encode_json_lists, has_messages, list_rows, measure_depth

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

Row: TypeAlias = dict[str, Any]

FORMATS = {
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
}
COLUMNAR = {".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow"}
SUFFIXES = (*FORMATS, *(suffix for suffix in COLUMNAR if suffix not in FORMATS))  # of all files that hold a table
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NUMBER_OR_LIST = re.compile(
    r"[\[{]|-?\d+(\.\d+)?([eE][-+]?\d+)?$", re.ASCII
)  # numbers as JSON writes them: 007 and 1_000 stay text
BLANKS = re.compile(r"[ \t\n\r]*")
CLOSING = {"Expecting value": "]", "Expecting property name enclosed in double quotes": "}"}
ONE_OBJECT = "every line is one JSON object"


class FileFormatError(ValueError):
    """What is wrong with a file, where, and the cure.

    >>> str(FileFormatError("p.csv", "is not UTF-8", "save the file as UTF-8", line=3))
    'p.csv, line 3: is not UTF-8; save the file as UTF-8'
    """

    def __init__(
        self, file: object, problem: str, hint: str, *, line: int | None = None, column: int | None = None
    ) -> None:
        self.file, self.line, self.column, self.problem, self.hint = str(file), line, column, problem, hint
        location = (("line", line), ("column", column))
        super().__init__(
            f"{file}{''.join(f', {name} {n}' for name, n in location if n is not None)}: {problem}; {hint}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how a worker's error is made again in the process that waits for it."""
        return partial(type(self), line=self.line, column=self.column), (self.file, self.problem, self.hint)


def read_rows(path: Path) -> list[Row]:
    r"""Return the rows of a file, by its ending; a JSON file holds a list of objects, or one object per line.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "p.csv"
    ...     _ = path.write_text("id,score\n007,1\n")
    ...     read_rows(path)
    [{'id': '007', 'score': 1}]
    """
    if path.suffix.lower() in COLUMNAR:
        rows: list[Row] = list_rows(read_arrow(path))
        return rows
    if detect_format(path) == "csv":
        return _read_csv(path)
    return check_objects(read_json(path), path) if path.suffix.lower() == ".json" else list(_read_json_lines(path))


def detect_format(path: Path) -> str:
    """Return the format of a file by its ending: json, csv (also for tsv) or parquet."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise ValueError(f"{path.name} has no known format; name it {', '.join(f'*{known}' for known in FORMATS)}")
    return FORMATS[suffix]


def detect_delimiter(path: Path) -> str:
    """Return the delimiter of a CSV or TSV file, by its ending."""
    return "\t" if path.suffix.lower() == ".tsv" else ","


def find_separator(header: str, delimiter: str = ",") -> str:
    r"""Return what separates the cells of a table: a tab or semicolons for commas, where its header says so.

    Spreadsheets write semicolons where the comma is for decimals.

    >>> find_separator("a;b"), find_separator("a;b,c"), find_separator("a, b\tc"), find_separator("a;b", "\t")
    (';', ',', '\t', '\t')
    """
    if delimiter != ",":
        return delimiter
    if "\t" in header:
        return "\t"
    return ";" if header.count(";") > header.count(",") else ","


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; concatenated objects, as in READIN's files, become a list."""
    with path.open("rb") as file:
        text = "".join(decode_lines(file, path))
    try:
        return parse_json(text, path)
    except FileFormatError as error:
        if not error.problem.startswith("Extra data") or text.lstrip().startswith("["):
            raise
    return list(_read_json_lines(path))


def check_objects(value: Any, file: object) -> list[Row]:
    """Return the rows of a JSON document; raise if it is not a list of objects."""
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise FileFormatError(file, "holds no list of objects", "give rows, each a JSON object")
    return value


def parse_json_lines(lines: Iterable[bytes], file: object, first: int = 1) -> Iterator[Row]:
    """Yield the objects of lines of JSON, skipping empty lines; `first` is the number of the first line in its file."""
    for number, line in enumerate(decode_lines(lines, file, first), first):
        if line.strip():
            row = parse_json(line.rstrip("\r\n"), file, line=number, hint=ONE_OBJECT)
            if not isinstance(row, dict):
                raise FileFormatError(file, f"holds {line.strip()[:40]!r}", ONE_OBJECT, line=number)
            yield row


def decode_lines(lines: Iterable[bytes], file: object, first: int = 1) -> Iterator[str]:
    """Yield lines as text with their ends, without the byte order mark of line 1."""
    for number, line in enumerate(lines, first):
        if number == 1 and is_utf_16(line):
            raise FileFormatError(file, "is UTF-16", "save the file as UTF-8")
        try:
            yield (line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line).decode("utf-8")
        except UnicodeDecodeError as error:
            problem = f"is not UTF-8 (byte {error.start + 1})"
            raise FileFormatError(file, problem, "save the file as UTF-8", line=number) from None


def is_utf_16(start: bytes) -> bool:
    """Return whether a file starts as UTF-16: with its byte order mark, or with half of a letter.

    >>> is_utf_16("id".encode("utf-16")), is_utf_16("id".encode("utf-16-le")), is_utf_16("id".encode("utf-8-sig"))
    (True, True, False)
    """
    return start.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0\0" in {start[:4:2], start[1:4:2]}


def parse_json(text: str, file: object, *, line: int | None = None, hint: str = "mend the file") -> Any:
    """Parse JSON, refusing an object that has a key twice; `line` is the number of the text's line, for the error.

    >>> parse_json('{"a": 1, "a": 2}', "p.json")
    Traceback (most recent call last):
    lapsus.io.readers.FileFormatError: p.json: has the key 'a' twice in one object; mend the file
    """
    try:
        return json.loads(text, object_pairs_hook=_reject_repeated_keys)
    except json.JSONDecodeError as error:
        problem, position = _describe_json_error(error)
        column = position - text.rfind("\n", 0, position)
        line_number = 1 + text.count("\n", 0, position) if line is None else line
        raise FileFormatError(file, problem, hint, line=line_number, column=column) from None
    except RecursionError:
        raise FileFormatError(file, "is nested too deeply", hint, line=line) from None
    except ValueError as error:  # a repeated key, or a number with thousands of digits
        raise FileFormatError(file, str(error).partition(";")[0], hint, line=line) from None


def _reject_repeated_keys(pairs: list[tuple[str, Any]]) -> Row:
    """Make a dict of keys and values; raise on a repeated key, of which `json` would keep the last."""
    row = dict(pairs)
    if len(row) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise ValueError(f"has the key {next(key for key in row if counts[key] > 1)!r} twice in one object")
    return row


def _describe_json_error(error: json.JSONDecodeError) -> tuple[str, int]:
    """Return the fault and its place, worded the same on every Python: 3.13 reports a comma before } differently."""
    text, position = error.doc, error.pos
    if error.msg.startswith("Illegal trailing comma"):  # 3.13 points at the comma
        position = BLANKS.match(text, position + 1).end()  # type: ignore[union-attr] # it matches anywhere
    elif CLOSING.get(error.msg) != text[position : position + 1] or not text[:position].rstrip().endswith(","):
        return error.msg, position
    return f"has a comma before the closing {text[position]}", position


def parse_csv(lines: Iterable[str], file: object, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    r"""Yield the rows of a table, first its header, each with the number of the line it ends in.

    Every row has as many cells as the header, which names no column twice; lines without any text are no rows.
    A line ends in `\n`, `\r\n` or `\r`. What separates the cells is told by `find_separator`.

    >>> list(parse_csv(["a;b\n", "\n", "1;2\n"], "p.csv", ","))
    [(1, ['a', 'b']), (3, ['1', '2'])]
    """
    split = _split_at_returns(lines)
    first = next(split, "")
    table = csv.reader(chain(filter(None, [first]), split), delimiter=find_separator(first, delimiter), strict=True)
    try:
        header = next(table, [])
        if len(set(header)) < len(header):
            duplicates = format_list(repr(name) for name, count in Counter(header).items() if count > 1)
            problem = f"names a column twice ({duplicates})"
            raise FileFormatError(file, problem, "give every column its own name", line=table.line_num)
        yield table.line_num, header
        for row in table:
            if len(row) != len(header):
                if not any(row):
                    continue
                problem = f"has {len(row)} cells where the header names {len(header)}"
                raise FileFormatError(file, problem, "quote cells that contain the separator", line=table.line_num)
            yield table.line_num, row
    except csv.Error as error:
        raise FileFormatError(file, str(error), "are its quotes closed?", line=table.line_num) from None


def _split_at_returns(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines, cut also at each lone carriage return: the line end of old spreadsheets."""
    for line in lines:
        if "\r" in line[:-2]:
            yield from filter(None, re.split(r"(?<=\r)(?!\n)", line))
        else:
            yield line


MAX_DEPTH = 500  # of lists in a cell; a deeper one stays text on every Python


def infer_types(column: Sequence[str]) -> list[Any]:
    """Return the cells of a column as numbers or JSON lists if every cell is one; an empty cell is None.

    >>> infer_types(["1", "", "0.5"]), infer_types(["1", "007"])
    ([1, None, 0.5], ['1', '007'])
    """
    if all(NUMBER_OR_LIST.match(cell) for cell in column if cell):
        with suppress(ValueError, RecursionError):
            if all(
                cell.count("[") + cell.count("{") <= MAX_DEPTH or measure_depth(cell.encode()) <= MAX_DEPTH
                for cell in column
            ):
                return [json.loads(cell) if cell else None for cell in column]
    return [cell or None for cell in column]


def _read_json_lines(path: Path) -> Iterator[Row]:
    with path.open("rb") as file:
        yield from parse_json_lines(file, path)


def _read_csv(path: Path) -> list[Row]:
    """Read a table and give each column a type; `id` stays text, so that 007 keeps its zeros."""
    with path.open("rb") as file:
        (_, header), *table = parse_csv(decode_lines(file, path), path, detect_delimiter(path))
    columns = [
        column if name == "id" else infer_types(column)
        for name, column in zip(header, zip(*(row for _, row in table), strict=True), strict=False)
    ]
    return [dict(zip(header, row, strict=True)) for row in zip(*columns, strict=True)]


def read_arrow(path: Path) -> Any:
    """Return the table of a Parquet, Arrow or Feather file, as pyarrow has it."""
    import pyarrow as pa

    with translate_arrow_errors(path):
        if COLUMNAR[path.suffix.lower()] == "parquet":
            from pyarrow import parquet

            return parquet.read_table(path)
        from pyarrow import feather

        try:
            return feather.read_table(path)
        except pa.ArrowInvalid:
            with path.open("rb") as file:
                return pa.ipc.open_stream(file).read_all()  # as `datasets` writes


def to_arrow(rows: Sequence[Row], file: object) -> Any:
    """Return rows as an Arrow table with every column that any of them has; messages become JSON.

    >>> to_arrow([{"id": 1}, {"id": 2, "n": 0.5}], "p.jsonl").column_names
    ['id', 'n']
    """
    import pyarrow as pa

    from lapsus.core.checks import shorten_repr

    columns = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row.get(name) for row in rows]
        try:
            columns[name] = encode_json_lists(values) if has_messages(values) else pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
            index = _find_mixed_type(values)
            row = shorten_repr({key: rows[index][key] for key in ("id", name) if key in rows[index]})
            problem = f"the column {name!r} mixes types ({strip_error_message(error)}), first in the row {row}"
            raise FileFormatError(file, problem, "give it one type") from None
    return pa.table(columns)


def _find_mixed_type(values: Sequence[Any]) -> int:
    """Return the place of the first value that Arrow cannot hold beside those before it."""
    import pyarrow as pa

    def can_convert(stop: int) -> bool:
        try:
            pa.array(values[:stop])
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            return False
        return True

    return bisect_left(range(1, len(values)), True, key=lambda stop: not can_convert(stop))


def read_class_names(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the columns of a file that hold the numbers of classes, with the names of the classes.

    >>> from pathlib import Path
    >>> read_class_names(Path("p.csv"))
    {}
    """
    if path.suffix.lower() != ".parquet":
        return find_class_names(read_arrow(path).schema) if path.suffix.lower() in COLUMNAR else {}
    import pyarrow.parquet as pq

    with translate_arrow_errors(path):
        return find_class_names(pq.read_schema(path))


def find_class_names(schema: Any) -> dict[str, tuple[str, ...]]:
    """Return the columns of class numbers in a schema of Arrow, as `datasets` notes them there."""
    features = json.loads((schema.metadata or {}).get(b"huggingface", b"{}")).get("info", {}).get("features", {})
    names = {column: _class_names_of(feature) for column, feature in features.items() if column in schema.names}
    return {column: tuple(classes) for column, classes in names.items() if classes is not None}


def _class_names_of(feature: Any) -> list[str] | None:
    """Return the classes of a feature of `datasets`, or of the elements of a list."""
    if isinstance(feature, list) and len(feature) == 1:
        return _class_names_of(feature[0])
    if not isinstance(feature, dict):
        return None
    names = feature.get("names")
    if feature.get("_type") == "ClassLabel" and isinstance(names, list):
        return names
    return _class_names_of(feature.get("feature")) if feature.get("_type") in {"List", "Sequence"} else None


@contextmanager
def translate_arrow_errors(path: Path) -> Iterator[None]:
    """Turn an error of a file that is not Parquet or Arrow, or is truncated, into one sentence."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowInvalid as error:
        name = "Parquet" if path.suffix.lower() == ".parquet" else "Arrow"
        raise FileFormatError(path, f"is no {name} file ({strip_error_message(error)})", "write it again") from None


def strip_error_message(error: BaseException) -> str:
    """Return the first line of an error's message, without its full stop."""
    return str(error).partition("\n")[0].rstrip(".")
