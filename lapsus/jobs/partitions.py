"""What the jobs over files share: checks of noises and columns, the partitions of a corpus, the summary.

A source is a path or an address that fsspec opens. A partition is a range of bytes or of rows, so that splitting a
corpus reads no more than the ends of Parquet files.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lapsus.core.messages import format_list
from lapsus.io.readers import (
    BYTE_ORDER_MARK,
    FORMATS,
    FileFormatError,
    detect_format,
    parse_json_lines,
    to_arrow,
    translate_arrow_errors,
)
from lapsus.perturbations.noise import Noise, list_columns
from lapsus.perturbations.specs import OPERATORS
from lapsus.perturbations.streams import stream_starts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


REASON_COLUMN = "unchanged"  # holds why a row has no edits
N_READ_THREADS = 16  # for the ends of Parquet files
BLOCK = 1024**2  # bytes of a read


@dataclass(frozen=True, slots=True)
class Summary:
    """The outcome of a job."""

    target: Path | str  # or the address of a folder
    rows: int
    changed: int
    unchanged: dict[str, int]  # by reason

    def __str__(self) -> str:
        reasons = "".join(f"; {count} unchanged: {reason}" for reason, count in sorted(self.unchanged.items()))
        return f"wrote {self.rows} rows to {self.target}, {self.changed} of them changed{reasons}"


def prepare_noises(noise: Noise | str | Sequence[Noise], settings: Mapping[str, Any]) -> tuple[Noise, ...]:
    """Return the noises of a job, which keep a row that cannot be perturbed; raise unless they can be composed."""
    base_noises = (
        [Noise(OPERATORS[noise])] if isinstance(noise, str) else [noise] if isinstance(noise, Noise) else [*noise]
    )
    noises = tuple(replace(each, **settings, on_error="keep", reason_column=REASON_COLUMN) for each in base_noises)
    _check_same_operator(noises)
    return noises


def _check_same_operator(noises: Sequence[Noise]) -> None:
    """Raise unless there are noises, and the others differ from the first in operator and seed only."""
    if not noises:
        raise ValueError("no noise is given; give at least one operator")
    first = noises[0]
    for each in noises[1:]:
        if replace(each, op=first.op, seed=first.seed) != first:
            raise ValueError(
                "the noises differ in more than operator and seed; perturb the outcome of one by the other"
            )


def check_columns(source: str | Path, columns: list[str], noise: Noise) -> bool:
    """Raise if the source lacks columns `noise` reads or has ones it writes; return whether it is noisy already."""
    if not columns:
        raise ValueError(f"{source}: holds no rows; give a file with at least one")
    for name in list_columns(noise):
        if name not in columns:
            raise LookupError(f"no column is called {name!r}; {source} has {', '.join(columns)}")
    if {*noise.clean_columns(), "edits", "operator"} <= {*columns} and noise.is_noisy(columns):
        return True
    for name in (*noise.clean_columns(), "edits", "operator", REASON_COLUMN):
        if name in columns:
            raise ValueError(
                f"{source} already has the column {name!r}, as perturbed files do; "
                "perturb the clean file, or rename the column"
            )
    return False


def hash_keys(keys: Sequence[Any]) -> Any:
    """Return a 64-bit hash of each key that is not None."""
    return stream_starts("keys", [str(key) for key in keys if key is not None])


@dataclass(frozen=True, slots=True)
class Partition:
    """A part of a file: the lines that begin in the bytes [start, stop) of JSON lines, or those rows of Parquet."""

    address: str
    start: int
    stop: int

    def read_table(self) -> Any:
        """Return the rows as an Arrow table."""
        if detect_format(Path(self.address)) == "parquet":
            return self._read_row_groups()
        with open_binary(self.address) as file:
            lines = list(self._iter_lines(file))
        first_line = 1 if self.start == 0 else 2  # only a file's own first line may begin with a byte order mark
        try:
            return to_arrow(list(parse_json_lines(lines, self.address, first_line)), self.address)
        except FileFormatError as error:
            if error.line is None or self.start == 0:
                raise
            first_line = self._count_lines_before() + 1
        return to_arrow(list(parse_json_lines(lines, self.address, first_line)), self.address)

    def _iter_lines(self, file: Any) -> Iterator[bytes]:
        offset = max(self.start - 1, 0)
        file.seek(offset)
        if self.start:  # the rest of a line of the partition before
            offset += len(file.readline())
        while offset < self.stop and (line := file.readline()):
            offset += len(line)
            yield line

    def _count_lines_before(self) -> int:
        """Return the number of lines that begin before the partition, for errors that name the line of the file."""
        with open_binary(self.address) as file:
            offset, count = 0, 0
            while block := file.read(min(BLOCK, self.start - 1 - offset)):
                count += block.count(b"\n")
                offset += len(block)
            return count + 1

    def _read_row_groups(self) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        with (
            open_binary(self.address) as raw,
            translate_arrow_errors(Path(self.address)),
            pq.ParquetFile(raw) as file,
        ):
            groups: list[int] = []
            offset = first_row = 0
            for number in range(file.num_row_groups):
                rows = file.metadata.row_group(number).num_rows
                if offset < self.stop and self.start < offset + rows:
                    first_row = first_row if groups else offset
                    groups.append(number)
                offset += rows
            batches = []
            for batch in file.iter_batches(batch_size=10_000, row_groups=groups):
                start, stop = max(self.start - first_row, 0), self.stop - first_row
                if start < len(batch):
                    batches.append(batch.slice(start, stop - start))
                first_row += len(batch)
                if first_row >= self.stop:
                    break
            return pa.Table.from_batches(batches, file.schema_arrow)


def open_binary(address: str) -> Any:
    """Open a file for reading."""
    import fsspec

    return fsspec.open(address, "rb").open()


def list_files(source: str) -> list[str]:
    """Return the addresses of the files of a source: a file, a folder, or a pattern with `*`."""
    from fsspec.core import url_to_fs

    fs, path = url_to_fs(source if "://" in source else str(Path(source).absolute()))
    if "*" in path:
        paths = [name for name in fs.glob(path) if fs.isfile(name)]
    elif fs.isfile(path):
        paths = [path]
    elif fs.isdir(path):
        candidates = ((name, name.removeprefix(path).split("/")) for name in fs.find(path))
        paths = [
            name
            for name, parts in candidates
            if Path(name).suffix.lower() in FORMATS and not any(part.startswith((".", "_")) for part in parts)
        ]
    else:
        paths = []
    if not paths:
        raise FileNotFoundError(
            f"{source} has no files of JSON lines or Parquet; name a file, a folder, a pattern such as "
            "'rows/*.parquet', or an address such as hf://datasets/ORG/NAME"
        )
    formats = {detect_format(Path(name)) for name in paths}
    if "csv" in formats:
        raise ValueError(
            f"{source} is CSV, whose rows may span lines; convert it to Parquet, or leave --executor ray out"
        )
    if len(formats) > 1:
        names = format_list(sorted({Path(name).suffix for name in paths}))
        raise ValueError(f"{source} has files of several formats ({names}); name those of one, as in 'rows/*.parquet'")
    return [fs.unstrip_protocol(name) if "://" in source else name for name in sorted(paths)]


def split_files(files: Sequence[str], size: int) -> list[Partition]:
    """Split files into partitions of about `size` bytes, as the rows take them in memory."""
    with ThreadPoolExecutor(N_READ_THREADS) as pool:
        return list(chain.from_iterable(pool.map(lambda address: list(_split_file(address, size)), files)))


def _split_file(address: str, size: int) -> Iterator[Partition]:
    from fsspec.core import url_to_fs

    if detect_format(Path(address)) == "json":
        fs, path = url_to_fs(address)
        total = int(fs.size(path) or 0)
        with open_binary(address) as file:
            if file.read(64).removeprefix(BYTE_ORDER_MARK).lstrip()[:1] == b"[":
                raise FileFormatError(
                    address, "is one JSON list, which has no lines to split at", "give it as JSON lines"
                )
        step = ceil(total / ceil(total / size)) if total else 1
    else:
        total, n_bytes = _measure_parquet(address)
        step = ceil(total / ceil(n_bytes / size)) if total else 1
    for start in range(0, total, step):
        yield Partition(address, start, min(start + step, total))


def _measure_parquet(address: str) -> tuple[int, int]:
    """Return the number of rows, and their size in bytes before compression."""
    import pyarrow.parquet as pq

    with open_binary(address) as raw, translate_arrow_errors(Path(address)), pq.ParquetFile(raw) as file:
        groups = (file.metadata.row_group(number) for number in range(file.num_row_groups))
        return file.metadata.num_rows, sum(group.total_byte_size for group in groups) or 1


def read_first_schema(partitions: Sequence[Partition]) -> Any:
    """Return the Arrow schema of the first rows; None where there are none."""
    import pyarrow.parquet as pq

    if not partitions:
        return None
    first = partitions[0]
    if detect_format(Path(first.address)) == "parquet":
        with (
            open_binary(first.address) as raw,
            translate_arrow_errors(Path(first.address)),
            pq.ParquetFile(raw) as file,
        ):
            return file.schema_arrow
    with open_binary(first.address) as file:
        rows = parse_json_lines(file, first.address)
        row = next(rows, None)
    return to_arrow([row], first.address).schema if row else None
