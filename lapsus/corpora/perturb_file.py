"""Perturb a whole file or dataset, as `lapsus perturb` does: streamed, resumable, the same for any number of workers.

The source is cut into chunks of a fixed number of rows. Each chunk becomes a part beside the target, in the folder
`<target>.partial`; when all are there, they are joined and moved into place. An interrupted run continues with
the parts that are missing.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from io import BytesIO, TextIOWrapper
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lapsus.corpora.preparing import REASON, Summary, check_columns, given_noises, hashed
from lapsus.kernel.atomic import staged_file
from lapsus.kernel.interrupts import later_interrupts
from lapsus.kernel.rows import (
    BYTE_ORDER_MARK,
    FORMATS,
    Row,
    arrow_table,
    cells,
    decoded,
    delimiter_of,
    document,
    format_of,
    json_lines,
    objects,
    parquet_errors,
)
from lapsus.perturbations.arrow_tables import noisy_schema, read_names, with_tag_names
from lapsus.perturbations.noise import Noise, in_turn, is_answers, refuse_unmoved_answers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

CHUNK = 500  # rows of a part; fixed, since a resumed run must cut the same parts
ROW_GROUP = 5_000  # rows of a row group of Parquet, independent of the parts


class Source(NamedTuple):
    """Where rows come from."""

    columns: list[str]
    chunks: Callable[[], Iterator[Any]]  # raw chunks, cheap to make; a worker decodes them
    decode: Callable[[Any], list[Row]]
    schema: Any  # the Arrow schema, or None where the format has no types
    rows: int | None
    identity: list[Any]  # changes when the content may have changed


@dataclass(frozen=True, slots=True)
class Part:
    """The input that a worker needs for one part."""

    noises: tuple[Noise, ...]  # applied in this order
    decode: Callable[[Any], list[Row]]
    encode: Callable[[list[Row], Path], None]
    words: tuple[str, ...]  # columns of tokens that a text format holds as one cell


def perturb_file(
    source: str | Path,
    target: str | Path,
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
        source: A file of JSON lines, CSV or Parquet, a folder that `load_dataset` reads, or a dataset's id on the Hub.
        target: The file to write; its suffix says the format.
        noise: What to do to each row, or the name of an operator. Of several, each is put on what the ones before
            made; they differ in their operators and seeds only.
        split: The split of a dataset.
        config: The configuration of a dataset.
        workers: How many processes. Their number changes the time and nothing else.
        overwrite: Whether to replace `target` where it exists.
        progress: Whether to show a progress bar.
        **settings: Fields of `Noise` (column, key, seed, tags and the others) that complete or change `noise`.

    Each row gains what `Noise` records, and the column `unchanged`: why it has no edits. A row that cannot be
    perturbed, as with tags of another length, is kept unchanged with that reason. A source that is perturbed already
    is perturbed further: its clean columns stay, and its edits and operators are added to. No two rows may have the
    same key.
    """
    noises = given_noises(noise, settings)
    noise = noises[0]
    target = Path(target)
    if Path(source).exists() and Path(source).resolve() == target.resolve():
        raise ValueError(f"{target} is both source and target; write to another file")
    if "://" in str(source):
        raise ValueError(f"{source} is an address, which --engine ray reads (perturb_corpus); download it, or use that")
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; name a file")
    if workers < 1:
        raise ValueError(f"workers is {workers}; give 1 or more")
    if target.exists() and not overwrite:
        raise FileExistsError(f"{target} exists; name another file, or replace it with --overwrite (overwrite=True)")
    reader = _open(source, split=split, config=config)
    noisy = check_columns(source, reader.columns, noise)
    noises = tuple(with_tag_names(each, reader.schema) for each in noises)
    schema = None if format_of(target) == "json" else noisy_schema(_schema_of(reader), noise)
    words = (*noise.columns, noise.tags, *(noise.clean_names() if noisy else ())) if noise.tags else ()
    part = Part(noises, reader.decode, _Encoder(format_of(target), schema, delimiter_of(target)), words)
    folder = target.with_name(f"{target.name}.partial")
    _start(
        folder,
        [*((repr(each), each.released) for each in noises), CHUNK, format_of(target), str(schema), *reader.identity],
    )
    try:
        counts = _make_parts(reader, part, folder, workers=workers, progress=progress)
    except BaseException:
        if not any(folder.glob("*.counts")):  # no earlier part to reuse
            shutil.rmtree(folder)
        raise
    if twice := _key_of_two_rows(reader, part, folder):
        shutil.rmtree(folder)
        raise ValueError(
            f"{source}: the key {twice!r} is in more than one row of {noise.key!r}; give every row a key of its own"
        )
    _join(folder, target, schema)
    shutil.rmtree(folder)
    changed = counts.pop("", 0)
    return Summary(target, changed + sum(counts.values()), changed, dict(counts))


def _start(folder: Path, job: list[Any]) -> None:
    """Keep the parts of an earlier run of the same job; delete those of another job."""
    note = folder / "job.json"
    wanted = json.dumps(job, default=str)
    if not note.exists() or note.read_text(encoding="utf-8") != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        note.write_text(wanted, encoding="utf-8")


def _make_parts(reader: Source, part: Part, folder: Path, *, workers: int, progress: bool) -> Counter[str]:
    """Make the parts that are missing; only a few chunks are in memory at once."""
    from tqdm import tqdm

    counts: Counter[str] = Counter()
    chunks = ((folder / f"{number:08}", raw) for number, raw in enumerate(reader.chunks()))
    with tqdm(total=reader.rows, unit=" rows", disable=None if progress else True) as bar:

        def done(found: Counter[str]) -> None:
            counts.update(found)
            bar.update(sum(found.values()))

        if workers == 1:
            for path, raw in chunks:
                done(_made(part, path, raw))
            return counts
        with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
            running: set[Future[Counter[str]]] = set()
            try:
                while True:
                    fresh = list(islice(chunks, 2 * workers - len(running)))
                    with later_interrupts():
                        running |= {pool.submit(_made, part, path, raw) for path, raw in fresh}
                    if not running:
                        return counts
                    finished, running = wait(running, return_when=FIRST_COMPLETED)
                    for future in finished:
                        done(future.result())
            except BrokenProcessPool as error:
                raise ChildProcessError(
                    "a worker was stopped from outside, perhaps for want of memory; run the same again to go on"
                ) from error
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise


def _made(part: Part, path: Path, raw: Any) -> Counter[str]:
    """Make one part, unless it is there; return how many rows are unchanged, by reason ("" for the changed ones)."""
    tally = path.with_suffix(".counts")
    if tally.exists():
        return Counter(json.loads(tally.read_text(encoding="utf-8")))
    rows = part.decode(raw)
    noise, *_ = part.noises
    names = list(rows[0]) if rows else []
    structures = {noise.answers, "edits"}
    batch = {
        name: [_read(row.get(name), tokens=name in part.words, structure=name in structures) for row in rows]
        for name in read_names(noise, names)
    }
    others = {name: [_json(row.get(name)) for row in rows] for name in names if name not in batch and is_answers(name)}
    refuse_unmoved_answers(noise, {**others, **batch})
    noisy = in_turn(part.noises, batch)
    written = [
        row
        | {name: _like(row.get(name), values[i]) if name in part.words else values[i] for name, values in noisy.items()}
        for i, row in enumerate(rows)
    ]
    for name in noise.clean_names().values() if part.words else ():
        for row, old in zip(written, rows, strict=True):
            row[f"clean_{name}"] = old.get(f"clean_{name}", old.get(name))
    part.encode(written, path)
    if noise.key:
        np.save(path.with_suffix(".keys.npy"), hashed(batch[noise.key]))
    counts = Counter(reason or "" for reason in noisy[REASON])
    with staged_file(tally) as file:  # written last and atomically: its existence means that the part is complete
        file.write(json.dumps(counts).encode())
    return counts


def _key_of_two_rows(reader: Source, part: Part, folder: Path) -> str | None:
    """Return a key that several rows of any parts share; None where all keys are distinct."""
    name = part.noises[0].key
    hashes = [np.load(path) for path in sorted(folder.glob("*.keys.npy"))]
    if not name or not hashes:
        return None
    seen, counts = np.unique(np.concatenate(hashes), return_counts=True)
    if not (suspects := seen[counts > 1]).size:
        return None
    found: set[str] = set()
    for raw in reader.chunks():  # read the keys again: two keys may share a hash, and the error names the key
        keys = [str(row[name]) for row in part.decode(raw) if row.get(name) is not None]
        for key in np.array(keys, dtype=object)[np.isin(hashed(keys), suspects)]:
            if key in found:
                return str(key)
            found.add(key)
    return None


def _read(value: Any, *, tokens: bool, structure: bool) -> Any:
    """Return a cell's tokens, which CSV holds with spaces between them, or its structure, which CSV holds as JSON."""
    if not isinstance(value, str):
        return value
    return value.split() if tokens else json.loads(value) if structure else value


def _json(value: Any) -> Any:
    """Return a cell's structure; None where it is a text that is no JSON."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return None


def _like(old: Any, new: Any) -> Any:
    """Return tokens in the form in which they were read."""
    return " ".join(new) if isinstance(old, str) and isinstance(new, list) else new


def _join(folder: Path, target: Path, schema: Any) -> None:
    """Join the parts, in order, and move the whole into place."""
    parts = sorted(folder.glob("[0-9]" * 8))
    with staged_file(target) as out:
        if format_of(target) == "parquet":
            import pyarrow.parquet as pq

            with pq.ParquetWriter(out, schema) as writer:
                for rows in _regrouped(pq.read_table(path) for path in parts):
                    writer.write_table(rows)
            return
        if format_of(target) == "csv":
            header = TextIOWrapper(out, encoding="utf-8", newline="")
            csv.writer(header, delimiter=delimiter_of(target), lineterminator="\n").writerow(schema.names)
            header.detach()
        for path in parts:
            with path.open("rb") as part:
                shutil.copyfileobj(part, out)


def _regrouped(tables: Iterable[Any]) -> Iterator[Any]:
    """Cut tables into row groups of one size, so that the file does not depend on the size of the parts."""
    import pyarrow as pa

    held: Any = None
    for table in tables:
        held = table if held is None else pa.concat_tables([held, table])
        while len(held) >= ROW_GROUP:
            yield held.slice(0, ROW_GROUP).combine_chunks()
            held = held.slice(ROW_GROUP)
    if held is not None and len(held):
        yield held.combine_chunks()


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

            pq.write_table(pa.Table.from_pylist(rows, schema=self.schema), path)
            return
        with path.open("w", encoding="utf-8", newline="", errors="backslashreplace") as file:
            if self.format == "json":
                file.writelines(f"{json.dumps(row, ensure_ascii=False, default=str)}\n" for row in rows)
            else:
                writer = csv.DictWriter(file, self.schema.names, delimiter=self.delimiter, lineterminator="\n")
                writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)


def _cell(value: Any) -> Any:
    """Write lists and structures as JSON."""
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, list | dict) else value


def _schema_of(reader: Source) -> Any:
    """Return the Arrow schema of the source; where its format has no types, that of all its rows."""
    import pyarrow as pa

    schema = reader.schema
    if schema is None:
        for raw in reader.chunks():
            found = arrow_table(reader.decode(raw), "the source").schema
            schema = found if schema is None else pa.unify_schemas([schema, found], promote_options="permissive")
    return schema


def _open(source: str | Path, *, split: str | None, config: str | None) -> Source:
    """Return the `Source` of a file, folder or dataset id."""
    path = Path(source)
    if path.is_file():
        stat = path.stat()
        identity = [str(path.resolve()), stat.st_size, stat.st_mtime_ns]
        return {"json": _json_source, "csv": _csv_source, "parquet": _parquet_source}[format_of(path)](path, identity)
    if path.suffix.lower() in FORMATS:
        raise FileNotFoundError(f"there is no file {path}; check its name")
    return _dataset_source(str(path.resolve() if path.is_dir() else source), split, config)


def _json_source(path: Path, identity: list[Any]) -> Source:
    if _is_list(path):
        rows = objects(document(path), path)
        return Source(list(rows[0]) if rows else [], lambda: _batched(rows), list, None, None, identity)

    def chunks() -> Iterator[tuple[int, bytes]]:
        with path.open("rb") as file:
            for number, lines in enumerate(_batched(file)):
                yield number * CHUNK + 1, b"".join(lines)

    decode = partial(_decode_json, path)
    first = decode(next(chunks(), (1, b"")))
    return Source(list(first[0]) if first else [], chunks, decode, None, None, identity)


def _is_list(path: Path) -> bool:
    """Tell a JSON list of rows from JSON lines, by its first character."""
    with path.open("rb") as file:
        start = next((line for line in file if line.removeprefix(BYTE_ORDER_MARK).strip()), b"")
    return start.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"[")


def _decode_json(path: Path, numbered: tuple[int, bytes]) -> list[Row]:
    """Read lines, with the number of the first one."""
    first, lines = numbered
    return list(json_lines(BytesIO(lines), path, first))


def _csv_source(path: Path, identity: list[Any]) -> Source:
    def rows() -> Iterator[tuple[int, list[str]]]:
        with path.open("rb") as file:
            yield from cells(decoded(file, path), path, delimiter_of(path))

    def chunks() -> Iterator[list[Row]]:
        table = rows()
        _, header = next(table)
        return _batched(dict(zip(header, row, strict=True)) for _, row in table)

    import pyarrow as pa

    _, columns = next(rows())
    return Source(columns, chunks, list, pa.schema([(name, pa.string()) for name in columns]), None, identity)


def _parquet_source(path: Path, identity: list[Any]) -> Source:
    import pyarrow.parquet as pq

    def chunks() -> Iterator[Any]:
        with pq.ParquetFile(path) as file:
            yield from map(_packed, file.iter_batches(batch_size=CHUNK))

    with parquet_errors(path), pq.ParquetFile(path) as file:
        schema, rows = file.schema_arrow, file.metadata.num_rows
    return Source(schema.names, chunks, _decode_arrow, schema, rows, identity)


def _packed(rows: Any) -> bytes:
    """Return the bytes of these Arrow rows; pickling a slice would include the whole table."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write(rows)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def _decode_arrow(packed: bytes) -> list[Row]:
    import pyarrow as pa

    rows: list[Row] = pa.ipc.open_stream(packed).read_all().to_pylist()
    return rows


def _dataset_source(name: str, split: str | None, config: str | None) -> Source:
    from datasets import get_dataset_split_names, load_dataset

    if split is None:
        names = get_dataset_split_names(name, config)
        if len(names) > 1:
            raise ValueError(f"{name} has the splits {', '.join(names)}; name one")
        split = names[0]
    data = load_dataset(name, config, split=split)

    def chunks() -> Iterator[Any]:
        for start in range(0, len(data), CHUNK):
            yield _packed(data.with_format("arrow")[start : start + CHUNK])

    return Source(data.column_names, chunks, _decode_arrow, data.features.arrow_schema, len(data), [data._fingerprint])  # noqa: SLF001 - datasets offers no public name for it


def _batched(rows: Iterable[Any]) -> Iterator[list[Any]]:
    """Cut `rows` into chunks."""
    rows = iter(rows)
    while chunk := list(islice(rows, CHUNK)):
        yield chunk
