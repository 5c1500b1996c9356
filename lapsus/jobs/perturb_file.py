"""Perturb a whole file or dataset, as `lapsus perturb` does: streamed, resumable, the same for any number of workers.

The source is split into chunks of a fixed number of rows. Each chunk becomes a part in the folder `<target>.partial`,
beside the target; when all parts are there, they are joined and moved into place. An interrupted run continues with the
missing parts.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO, TextIOWrapper
from itertools import islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lapsus.core.conversations import holds_messages, parse_messages
from lapsus.core.files import stage_file
from lapsus.core.terminal import defer_interrupts
from lapsus.core.types import StrPath
from lapsus.io.json_columns import json_list_type, list_rows, make_array
from lapsus.io.readers import (
    BYTE_ORDER_MARK,
    COLUMNAR,
    SUFFIXES,
    Row,
    check_objects,
    decode_lines,
    detect_delimiter,
    detect_format,
    parse_csv,
    parse_json_lines,
    read_arrow,
    read_json,
    to_arrow,
    translate_arrow_errors,
)
from lapsus.io.tables import is_saved_dataset, open_dataset
from lapsus.jobs.partitions import REASON_COLUMN, Summary, check_columns, hash_keys, prepare_noises
from lapsus.perturbations.answers import check_answers_move, is_answers_column
from lapsus.perturbations.arrow import fit_to_schema, list_input_columns, perturb_schema
from lapsus.perturbations.conversations import Turns
from lapsus.perturbations.noise import Noise, apply_in_turn, list_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

CHUNK = 500  # rows of a part; fixed, since a resumed run must cut the same parts
ROW_GROUP = 5_000  # rows of a row group of Parquet, independent of the parts


class RowSource(NamedTuple):
    """Where rows come from."""

    columns: list[str]
    iter_chunks: Callable[[], Iterator[Any]]  # raw chunks, cheap to make; a worker decodes them
    decode: Callable[[Any], list[Row]]
    schema: Any  # the Arrow schema, or None where the format has no types
    rows: int | None
    identity: list[Any]  # changes when the content may have changed


@dataclass(frozen=True, slots=True)
class PartJob:
    """The input that a worker needs for one part."""

    noises: tuple[Noise, ...]  # applied in this order
    decode: Callable[[Any], list[Row]]
    encode: Callable[[list[Row], Path], None]
    token_columns: tuple[str, ...]  # columns of tokens that a text format holds as one cell


def perturb_file(
    source: StrPath,
    target: StrPath,
    noise: Noise | str | Sequence[Noise],
    *,
    split: str | None = None,
    config: str | None = None,
    workers: int = 1,
    overwrite: bool = False,
    progress: bool = True,
    **settings: Any,
) -> Summary:
    """Perturb `source` into `target`.

    Args:
        source: A file of JSON lines, CSV, Parquet or Arrow, a folder that `save_to_disk` wrote or `load_dataset` reads,
            or a dataset's id on the Hub.
        target: The file to write; its suffix gives the format.
        noise: The noise of each row, or the name of an operator. Several are applied in order, each to the outcome of
            those before; they differ in their operators and seeds only.
        split: The split of a dataset.
        config: The config of a dataset.
        workers: The number of processes; the output is the same for any number.
        overwrite: Whether to replace `target` where it exists.
        progress: Whether to show a progress bar.
        **settings: Fields of `Noise` (text, id, seed, tags and the others) that complete or change `noise`.

    Each row gains what `Noise` records, and the column `unchanged`: why it has no edits. A row that cannot be
    perturbed, as with tags of another length, stays unchanged, with that reason. If the source is already noisy, the
    noise is composed: the clean columns stay, edits and operators are of both noises. No two rows may have the same id.
    """
    noises = prepare_noises(noise, settings)
    noise = noises[0]
    source, target = os.fspath(source), Path(target)
    if Path(source).exists() and Path(source).resolve() == target.resolve():
        raise ValueError(f"{target} is both source and target; write to another file")
    if "://" in str(source):
        raise ValueError(
            f"{source} is an address, which --executor ray reads (perturb_corpus); download it, or use that"
        )
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; name a file")
    if workers < 1:
        raise ValueError(f"workers is {workers}; give 1 or more")
    if target.exists() and not overwrite:
        raise FileExistsError(f"{target} exists; name another file, or replace it with --overwrite (overwrite=True)")
    reader = _open_source(source, split=split, config=config)
    is_noisy = check_columns(source, reader.columns, noise)
    reader, turns = _read_messages(reader, noise)
    noises = tuple(fit_to_schema(replace(each, turns=turns), reader.schema) for each in noises)
    noise = noises[0]
    schema = None if detect_format(target) == "json" else perturb_schema(_read_schema(reader), noise)
    token_columns = (*noise.columns, noise.tags, *(noise.clean_columns() if is_noisy else ())) if noise.tags else ()
    job = PartJob(
        noises, reader.decode, _Encoder(detect_format(target), schema, detect_delimiter(target)), token_columns
    )
    folder = target.with_name(f"{target.name}.partial")
    _prepare_folder(
        folder,
        [
            *((repr(each), each.released) for each in noises),
            CHUNK,
            detect_format(target),
            str(schema),
            *reader.identity,
        ],
    )
    try:
        counts = _make_parts(reader, job, folder, workers=workers, progress=progress)
    except BaseException:
        if not any(folder.glob("*.counts")):  # no earlier part to reuse
            shutil.rmtree(folder)
        raise
    if duplicate_key := _find_duplicate_key(reader, job, folder):
        shutil.rmtree(folder)
        raise ValueError(f"{source}: duplicate id {duplicate_key!r} in column {noise.id!r}; ids must be unique")
    _join_parts(folder, target, schema)
    shutil.rmtree(folder)
    changed = counts.pop("", 0)
    return Summary(target, changed + sum(counts.values()), changed, dict(counts))


def _read_messages(reader: RowSource, noise: Noise) -> tuple[RowSource, Turns | None]:
    """Return a source whose messages are read where they stand as JSON, as in CSV, and the turns to perturb."""
    column = noise.columns[0]
    first_rows = next((reader.decode(raw) for raw in reader.iter_chunks()), [])
    if not any(holds_messages(row.get(column)) for row in first_rows):
        if noise.turns and first_rows:
            raise ValueError(f"turns are those of conversations, and {column!r} holds no messages; name another column")
        return reader, noise.turns
    columns = (column, f"clean_{column}")
    if reader.schema is not None:
        for name in columns:
            place = reader.schema.get_field_index(name)
            if place >= 0 and reader.schema.field(place).type == "string":
                schema = reader.schema.set(place, reader.schema.field(place).with_type(json_list_type()))
                reader = reader._replace(schema=schema)
    return reader._replace(decode=partial(_decode_messages, reader.decode, columns)), noise.turns or "all"


def _decode_messages(decode: Callable[[Any], list[Row]], columns: Sequence[str], raw: Any) -> list[Row]:
    """Return rows with messages for their JSON."""
    return [
        {
            name: parse_messages(cell) if name in columns and isinstance(cell, str) and holds_messages(cell) else cell
            for name, cell in row.items()
        }
        for row in decode(raw)
    ]


def _prepare_folder(folder: Path, job_identity: list[Any]) -> None:
    """Keep the parts of an earlier run of the same job; delete those of another job."""
    job_file = folder / "job.json"
    job_json = json.dumps(job_identity, default=str)
    if not job_file.exists() or job_file.read_text(encoding="utf-8") != job_json:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        job_file.write_text(job_json, encoding="utf-8")


def _make_parts(reader: RowSource, job: PartJob, folder: Path, *, workers: int, progress: bool) -> Counter[str]:
    """Make the missing parts; only a few chunks are in memory at once."""
    from tqdm import tqdm

    counts: Counter[str] = Counter()
    chunks = ((folder / f"{number:08}", raw) for number, raw in enumerate(reader.iter_chunks()))
    with tqdm(total=reader.rows, unit=" rows", disable=None if progress else True) as bar:

        def add_counts(part_counts: Counter[str]) -> None:
            counts.update(part_counts)
            bar.update(sum(part_counts.values()))

        if workers == 1:
            for path, raw in chunks:
                add_counts(_make_part(job, path, raw))
            return counts
        with ProcessPoolExecutor(workers, get_context("spawn"), initializer=_end_with_parent) as pool:
            running: set[Future[Counter[str]]] = set()
            try:
                while True:
                    next_chunks = list(islice(chunks, 2 * workers - len(running)))
                    with defer_interrupts():
                        running |= {pool.submit(_make_part, job, path, raw) for path, raw in next_chunks}
                    if not running:
                        return counts
                    finished, running = wait(running, return_when=FIRST_COMPLETED)
                    for future in finished:
                        add_counts(future.result())
            except BrokenProcessPool as error:
                raise ChildProcessError(
                    "a worker was killed, perhaps for lack of memory; run the same again to go on"
                ) from error
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise


def _end_with_parent() -> None:
    """End this worker when its parent ends, however that happens: SIGTERM and SIGKILL leave it no time to say so."""
    if (parent := parent_process()) is None:
        return

    def wait_for_parent() -> None:
        parent.join()
        os._exit(1)  # the part under way is incomplete: the next run makes it again

    Thread(target=wait_for_parent, daemon=True).start()


def _make_part(job: PartJob, path: Path, raw: Any) -> Counter[str]:
    """Make one part, unless it exists; return the numbers of rows by why they are unchanged ("" for changed ones)."""
    counts_file = path.with_suffix(".counts")
    if counts_file.exists():
        return Counter(json.loads(counts_file.read_text(encoding="utf-8")))
    rows = job.decode(raw)
    noise, *_ = job.noises
    names = list(rows[0]) if rows else []
    structures = {noise.answers, "edits"}
    batch = {
        name: [
            _parse_cell(row.get(name), tokens=name in job.token_columns, structure=name in structures) for row in rows
        ]
        for name in list_input_columns(noise, names)
    }
    other_answers = {
        name: [_parse_json_cell(row.get(name)) for row in rows]
        for name in names
        if name not in batch and is_answers_column(name)
    }
    check_answers_move({**other_answers, **batch}, noise.columns, list_columns(noise))
    noisy = apply_in_turn(job.noises, batch)
    noisy_rows = [
        row
        | {
            name: _restore_token_form(row.get(name), values[i]) if name in job.token_columns else values[i]
            for name, values in noisy.items()
        }
        for i, row in enumerate(rows)
    ]
    for name in noise.clean_columns().values() if job.token_columns else ():
        for row, old in zip(noisy_rows, rows, strict=True):
            row[f"clean_{name}"] = old.get(f"clean_{name}", old.get(name))
    job.encode(noisy_rows, path)
    if noise.id:
        np.save(path.with_suffix(".keys.npy"), hash_keys(batch[noise.id]))
    counts = Counter(reason or "" for reason in noisy[REASON_COLUMN])
    with stage_file(counts_file) as file:  # written last and atomically: its existence means that the part is complete
        file.write(json.dumps(counts).encode())
    return counts


def _find_duplicate_key(reader: RowSource, job: PartJob, folder: Path) -> str | None:
    """Return a key that several rows of any parts share; None where all keys are distinct."""
    name = job.noises[0].id
    hashes = [np.load(path) for path in sorted(folder.glob("*.keys.npy"))]
    if not name or not hashes:
        return None
    unique_hashes, counts = np.unique(np.concatenate(hashes), return_counts=True)
    if not (repeated_hashes := unique_hashes[counts > 1]).size:
        return None
    seen_keys: set[str] = set()
    for raw in reader.iter_chunks():  # read the keys again: two keys may share a hash, and the error names the key
        keys = [str(row[name]) for row in job.decode(raw) if row.get(name) is not None]
        for key in np.array(keys, dtype=object)[np.isin(hash_keys(keys), repeated_hashes)]:
            if key in seen_keys:
                return str(key)
            seen_keys.add(key)
    return None


def _parse_cell(value: Any, *, tokens: bool, structure: bool) -> Any:
    """Return a cell, with tokens and structures parsed where it is text: CSV has tokens with spaces, lists as JSON."""
    if not isinstance(value, str):
        return value
    return value.split() if tokens else json.loads(value) if structure else value


def _parse_json_cell(value: Any) -> Any:
    """Return a cell's structure; None where it is a text that is no JSON."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return None


def _restore_token_form(old: Any, new: Any) -> Any:
    """Return tokens in the form of the source: a text where that has a text."""
    return " ".join(new) if isinstance(old, str) and isinstance(new, list) else new


def _join_parts(folder: Path, target: Path, schema: Any) -> None:
    """Join the parts in order, and move the file into place."""
    parts = sorted(folder.glob("[0-9]" * 8))
    with stage_file(target) as out:
        if detect_format(target) == "parquet":
            import pyarrow.parquet as pq

            with pq.ParquetWriter(out, schema) as writer:
                for rows in _regroup_rows(pq.read_table(path) for path in parts):
                    writer.write_table(rows)
            return
        if detect_format(target) == "csv":
            header = TextIOWrapper(out, encoding="utf-8", newline="")
            csv.writer(header, delimiter=detect_delimiter(target), lineterminator="\n").writerow(schema.names)
            header.detach()
        for path in parts:
            with path.open("rb") as part:
                shutil.copyfileobj(part, out)


def _regroup_rows(tables: Iterable[Any]) -> Iterator[Any]:
    """Yield tables as row groups of one size, so that the file does not depend on the size of the parts."""
    import pyarrow as pa

    buffer: Any = None
    for table in tables:
        buffer = table if buffer is None else pa.concat_tables([buffer, table])
        while len(buffer) >= ROW_GROUP:
            yield buffer.slice(0, ROW_GROUP).combine_chunks()
            buffer = buffer.slice(ROW_GROUP)
    if buffer is not None and len(buffer):
        yield buffer.combine_chunks()


@dataclass(frozen=True, slots=True)
class _Encoder:
    """Writes rows as one part."""

    format: str
    schema: Any
    delimiter: str

    def __call__(self, rows: list[Row], path: Path) -> None:
        if self.format == "parquet":
            import pyarrow as pa
            import pyarrow.parquet as pq

            columns = [make_array([row.get(field.name) for row in rows], field.type) for field in self.schema]
            pq.write_table(pa.Table.from_arrays(columns, schema=self.schema), path)
            return
        with path.open("w", encoding="utf-8", newline="", errors="backslashreplace") as file:
            if self.format == "json":
                file.writelines(f"{json.dumps(row, ensure_ascii=False, default=str)}\n" for row in rows)
            else:
                writer = csv.DictWriter(file, self.schema.names, delimiter=self.delimiter, lineterminator="\n")
                writer.writerows({name: _format_cell(value) for name, value in row.items()} for row in rows)


def _format_cell(value: Any) -> Any:
    """Write lists and structures as JSON."""
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, list | dict) else value


def _read_schema(reader: RowSource) -> Any:
    """Return the Arrow schema of the source; where its format has no types, that of all its rows."""
    import pyarrow as pa

    schema = reader.schema
    if schema is None:
        for raw in reader.iter_chunks():
            chunk_schema = to_arrow(reader.decode(raw), "the source").schema
            schema = (
                chunk_schema
                if schema is None
                else pa.unify_schemas([schema, chunk_schema], promote_options="permissive")
            )
    return schema


def _open_source(source: str | Path, *, split: str | None, config: str | None) -> RowSource:
    """Return the `RowSource` of a file, folder or dataset id."""
    path = Path(source)
    if path.is_file():
        stat = path.stat()
        identity = [str(path.resolve()), stat.st_size, stat.st_mtime_ns]
        openers = {"json": _open_json, "csv": _open_csv, "parquet": _open_parquet, "arrow": _open_arrow}
        return openers[COLUMNAR.get(path.suffix.lower()) or detect_format(path)](path, identity)
    if path.suffix.lower() in SUFFIXES and not path.is_dir():
        raise FileNotFoundError(f"there is no file {path}; check its name")
    if path.is_dir() and is_saved_dataset(path):
        return _read_dataset(open_dataset(str(path), split))
    return _open_dataset(str(path.resolve() if path.is_dir() else source), split, config)


def _open_json(path: Path, identity: list[Any]) -> RowSource:
    if _is_json_list(path):
        rows = check_objects(read_json(path), path)
        return RowSource(list(rows[0]) if rows else [], lambda: _split_into_chunks(rows), list, None, None, identity)

    def iter_chunks() -> Iterator[tuple[int, bytes]]:
        with path.open("rb") as file:
            for number, lines in enumerate(_split_into_chunks(file)):
                yield number * CHUNK + 1, b"".join(lines)

    decode = partial(_decode_json, path)
    first_rows = decode(next(iter_chunks(), (1, b"")))
    return RowSource(list(first_rows[0]) if first_rows else [], iter_chunks, decode, None, None, identity)


def _is_json_list(path: Path) -> bool:
    """Return whether a file is a JSON list of rows, by its first character; otherwise it is JSON lines."""
    with path.open("rb") as file:
        start = next((line for line in file if line.removeprefix(BYTE_ORDER_MARK).strip()), b"")
    return start.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"[")


def _decode_json(path: Path, numbered_lines: tuple[int, bytes]) -> list[Row]:
    """Read lines, with the number of the first one."""
    first_number, lines = numbered_lines
    return list(parse_json_lines(BytesIO(lines), path, first_number))


def _open_csv(path: Path, identity: list[Any]) -> RowSource:
    def iter_rows() -> Iterator[tuple[int, list[str]]]:
        with path.open("rb") as file:
            yield from parse_csv(decode_lines(file, path), path, detect_delimiter(path))

    def iter_chunks() -> Iterator[list[Row]]:
        numbered_rows = iter_rows()
        _, header = next(numbered_rows)
        return _split_into_chunks(dict(zip(header, row, strict=True)) for _, row in numbered_rows)

    import pyarrow as pa

    _, columns = next(iter_rows())
    return RowSource(columns, iter_chunks, list, pa.schema([(name, pa.string()) for name in columns]), None, identity)


def _open_parquet(path: Path, identity: list[Any]) -> RowSource:
    import pyarrow.parquet as pq

    def iter_chunks() -> Iterator[Any]:
        with pq.ParquetFile(path) as file:
            yield from map(_serialise_arrow, file.iter_batches(batch_size=CHUNK))

    with translate_arrow_errors(path), pq.ParquetFile(path) as file:
        schema, rows = file.schema_arrow, file.metadata.num_rows
    return RowSource(schema.names, iter_chunks, _decode_arrow, schema, rows, identity)


def _open_arrow(path: Path, identity: list[Any]) -> RowSource:
    table = read_arrow(path)

    def iter_chunks() -> Iterator[Any]:
        return map(_serialise_arrow, (table.slice(start, CHUNK) for start in range(0, table.num_rows, CHUNK)))

    return RowSource(table.column_names, iter_chunks, _decode_arrow, table.schema, table.num_rows, identity)


def _serialise_arrow(rows: Any) -> bytes:
    """Return the bytes of these Arrow rows; pickling a slice would include the whole table."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write(rows)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _decode_arrow(content: bytes) -> list[Row]:
    import pyarrow as pa

    return list_rows(pa.ipc.open_stream(content).read_all())


def _open_dataset(name: str, split: str | None, config: str | None) -> RowSource:
    from datasets import get_dataset_split_names, load_dataset

    if split is None:
        names = get_dataset_split_names(name, config)
        if len(names) > 1:
            raise ValueError(f"{name} has the splits {', '.join(names)}; name one")
        split = names[0]
    return _read_dataset(load_dataset(name, config, split=split))


def _read_dataset(data: Any) -> RowSource:
    def iter_chunks() -> Iterator[Any]:
        for start in range(0, len(data), CHUNK):
            yield _serialise_arrow(data.with_format("arrow")[start : start + CHUNK])

    identity = [data._fingerprint]  # noqa: SLF001 - `datasets` has no public name for it
    return RowSource(data.column_names, iter_chunks, _decode_arrow, data.features.arrow_schema, len(data), identity)


def _split_into_chunks(rows: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield rows in chunks."""
    rows = iter(rows)
    while chunk := list(islice(rows, CHUNK)):
        yield chunk
