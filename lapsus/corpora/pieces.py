"""A corpus in pieces of about one size: where it lies is named by paths or by addresses that fsspec opens.

A piece is told by its bytes, or by its rows, so that finding the pieces reads no more than the ends of Parquet files.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lapsus.kernel.names import shown
from lapsus.kernel.rows import (
    BYTE_ORDER_MARK,
    FORMATS,
    BrokenFileError,
    arrow_table,
    format_of,
    json_lines,
    parquet_errors,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

READ_AT_ONCE = 16  # ends of Parquet files that are under way
BLOCK = 1024**2  # bytes of a read


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a file: the lines that begin in the bytes [start, stop) of JSON lines, or those rows of Parquet."""

    address: str
    start: int
    stop: int

    def table(self) -> Any:
        """Return its rows as an Arrow table."""
        if format_of(Path(self.address)) == "parquet":
            return self._rows()
        with opened(self.address) as file:
            lines = list(self._lines(file))
        first = 1 if self.start == 0 else 2  # only a file's own first line may begin with a byte order mark
        try:
            return arrow_table(list(json_lines(lines, self.address, first)), self.address)
        except BrokenFileError as error:
            if error.line is None or self.start == 0:
                raise
            first = self._lines_before() + 1
        return arrow_table(list(json_lines(lines, self.address, first)), self.address)

    def _lines(self, file: Any) -> Iterator[bytes]:
        place = max(self.start - 1, 0)
        file.seek(place)
        if self.start:  # the rest of the line that the piece before it holds
            place += len(file.readline())
        while place < self.stop and (line := file.readline()):
            place += len(line)
            yield line

    def _lines_before(self) -> int:
        """Return how many lines begin before the piece; its errors name the line of the file."""
        with opened(self.address) as file:
            place, count = 0, 0
            while block := file.read(min(BLOCK, self.start - 1 - place)):
                count += block.count(b"\n")
                place += len(block)
            return count + 1

    def _rows(self) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        with opened(self.address) as raw, parquet_errors(Path(self.address)), pq.ParquetFile(raw) as file:
            groups: list[int] = []
            place = first = 0
            for number in range(file.num_row_groups):
                rows = file.metadata.row_group(number).num_rows
                if place < self.stop and self.start < place + rows:
                    first = first if groups else place
                    groups.append(number)
                place += rows
            kept = []
            for batch in file.iter_batches(batch_size=10_000, row_groups=groups):
                start, stop = max(self.start - first, 0), self.stop - first
                if start < len(batch):
                    kept.append(batch.slice(start, stop - start))
                first += len(batch)
                if first >= self.stop:
                    break
            return pa.Table.from_batches(kept, file.schema_arrow)


def opened(address: str) -> Any:
    """Open a file for reading."""
    import fsspec

    return fsspec.open(address, "rb").open()


def files_of(source: str) -> list[str]:
    """Return the addresses of the files of a source: a file, a folder, or a pattern with `*`."""
    from fsspec.core import url_to_fs

    fs, path = url_to_fs(source if "://" in source else str(Path(source).absolute()))
    if "*" in path:
        found = [name for name in fs.glob(path) if fs.isfile(name)]
    elif fs.isfile(path):
        found = [path]
    elif fs.isdir(path):
        inside = ((name, name.removeprefix(path).split("/")) for name in fs.find(path))
        found = [
            name
            for name, parts in inside
            if Path(name).suffix.lower() in FORMATS and not any(part.startswith((".", "_")) for part in parts)
        ]
    else:
        found = []
    if not found:
        raise FileNotFoundError(
            f"{source} has no files of JSON lines or Parquet; name a file, a folder, a pattern such as "
            "'rows/*.parquet', or an address such as hf://datasets/ORG/NAME"
        )
    formats = {format_of(Path(name)) for name in found}
    if "csv" in formats:
        raise ValueError(f"{source} is CSV, whose rows may span lines; convert it to Parquet, or leave --engine out")
    if len(formats) > 1:
        names = shown(sorted({Path(name).suffix for name in found}))
        raise ValueError(f"{source} has files of several formats ({names}); name those of one, as in 'rows/*.parquet'")
    return [fs.unstrip_protocol(name) if "://" in source else name for name in sorted(found)]


def pieces_of(files: Sequence[str], size: int) -> list[Piece]:
    """Cut files into pieces of about `size` bytes, of rows as they are in memory."""
    with ThreadPoolExecutor(READ_AT_ONCE) as pool:
        return list(chain.from_iterable(pool.map(lambda address: list(_cut(address, size)), files)))


def _cut(address: str, size: int) -> Iterator[Piece]:
    from fsspec.core import url_to_fs

    if format_of(Path(address)) == "json":
        fs, path = url_to_fs(address)
        whole = int(fs.size(path) or 0)
        with opened(address) as file:
            if file.read(64).removeprefix(BYTE_ORDER_MARK).lstrip()[:1] == b"[":
                raise BrokenFileError(
                    address, "is one JSON list, which has no lines to share out", "give it as JSON lines"
                )
        step = ceil(whole / ceil(whole / size)) if whole else 1
    else:
        whole, held = _parquet_size(address)
        step = ceil(whole / ceil(held / size)) if whole else 1
    for start in range(0, whole, step):
        yield Piece(address, start, min(start + step, whole))


def _parquet_size(address: str) -> tuple[int, int]:
    """Return the number of rows, and of their bytes before compression."""
    import pyarrow.parquet as pq

    with opened(address) as raw, parquet_errors(Path(address)), pq.ParquetFile(raw) as file:
        groups = (file.metadata.row_group(number) for number in range(file.num_row_groups))
        return file.metadata.num_rows, sum(group.total_byte_size for group in groups) or 1


def first_schema(pieces: Sequence[Piece]) -> Any:
    """Return the Arrow schema of the first rows; None where there are none."""
    import pyarrow.parquet as pq

    if not pieces:
        return None
    first = pieces[0]
    if format_of(Path(first.address)) == "parquet":
        with opened(first.address) as raw, parquet_errors(Path(first.address)), pq.ParquetFile(raw) as file:
            return file.schema_arrow
    with opened(first.address) as file:
        rows = json_lines(file, first.address)
        row = next(rows, None)
    return arrow_table([row], first.address).schema if row else None
