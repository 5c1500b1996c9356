"""Perturb a corpus into a folder of Parquet shards, on one machine or on many.

The sources are cut into pieces of about one size, whatever does the work, so the shards have the same bytes for any
number of machines. A piece is one task: it reads its rows, perturbs them, writes the shard and then a note of it. Rows
never travel between machines. Shards and notes lie in the folder `<target>.partial`; when all are there, the shards
move into place. An interrupted run continues with the shards that have no note.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.corpora.pieces import Piece, files_of, first_schema, pieces_of
from lapsus.corpora.preparing import REASON, Summary, check_columns, given_noises, hashed
from lapsus.kernel.atomic import followed, staged_file
from lapsus.kernel.engines import HERE, Engine, OnRay
from lapsus.perturbations.arrow_tables import noisy_schema, noisy_table, with_tag_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lapsus.perturbations.noise import Noise

SHARD_BYTES = 8 * 1000**2  # of rows before they are perturbed
ROW_GROUP = 5_000
RANGES = 64  # of hashes of keys; each shard notes where its own begin
KEYS_AT_ONCE = 2**24  # hashes that one task compares
MOST_SUSPECTS = 100
OURS = re.compile(r"\d{5,}-of-\d{5,}\.parquet")


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder at a path or an address, which every machine can write."""

    address: str

    @property
    def _fs(self) -> tuple[Any, str]:
        from fsspec.core import url_to_fs

        return url_to_fs(self.address)  # type: ignore[no-any-return]

    def write(self, name: str, content: bytes) -> None:
        """Write a file that is there whole or not at all."""
        fs, path = self._fs
        if "://" not in self.address:
            with staged_file(Path(path) / name) as file:
                file.write(content)
            return
        fs.makedirs(f"{path}/{name}".rpartition("/")[0], exist_ok=True)
        fs.pipe_file(f"{path}/{name}", content)  # object stores show a file when all of it has come

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        fs, path = self._fs
        return bytes(fs.cat_file(f"{path}/{name}"))

    def read_ranges(self, ranges: Mapping[str, tuple[int, int]]) -> list[bytes]:
        """Return the bytes [start, stop) of several files."""
        fs, path = self._fs
        starts, stops = ([each[end] for each in ranges.values()] for end in (0, 1))
        found = fs.cat_ranges([f"{path}/{name}" for name in ranges], starts, stops, on_error="raise")
        return [bytes(part) for part in found]

    def read_all(self, inside: str) -> dict[str, bytes]:
        """Return the content of each file of a folder in it, by name."""
        fs, path = self._fs
        if not fs.isdir(f"{path}/{inside}"):
            return {}
        names = [name for name in fs.find(f"{path}/{inside}") if not name.endswith(".partial")]
        found = fs.cat(names) if names else {}
        return {name.rpartition("/")[2]: bytes(content) for name, content in found.items()}

    def has(self, name: str) -> bool:
        """Tell whether there is such a file."""
        fs, path = self._fs
        fs.invalidate_cache()
        return bool(fs.exists(f"{path}/{name}"))

    def files(self) -> list[str] | None:
        """Return the names of all files in it; None where it is no folder."""
        fs, path = self._fs
        fs.invalidate_cache()
        if fs.isfile(path):
            raise FileExistsError(f"{self.address} is a file, and shards go into a folder; name another")
        return [name.removeprefix(path).strip("/") for name in fs.find(path)] if fs.isdir(path) else None

    def delete(self) -> None:
        """Delete it with all that is in it."""
        fs, path = self._fs
        if fs.isdir(path):
            fs.rm(path, recursive=True)

    def move(self, inside: str, target: Folder) -> None:
        """Make a folder in it the folder `target`; on a disk in one step."""
        fs, path = self._fs
        _, other = target._fs
        if "://" not in self.address:
            Path(path, inside).rename(other)
            return
        fs.mv(f"{path}/{inside}", other, recursive=True)


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker needs to make any shard."""

    noises: tuple[Noise, ...]
    staging: Folder
    shards: int

    def shard(self, number: int) -> str:
        """Return the name of a shard."""
        return f"shards/{number:05}-of-{self.shards:05}.parquet"


@dataclass(frozen=True, slots=True)
class Note:
    """What is known of a shard that is done."""

    counts: Mapping[str, int]  # rows by why they are unchanged; "" for the changed ones
    schema: str  # of its source rows
    bounds: tuple[int, ...]  # where each range of its sorted hashes begins, and the end

    def arrow_schema(self) -> Any:
        """Return the schema of the source rows."""
        import pyarrow as pa

        return pa.ipc.read_schema(pa.py_buffer(b64decode(self.schema)))


def perturb_corpus(
    source: str | Path,
    target: str | Path,
    noise: Noise | str | Sequence[Noise],
    *,
    engine: Engine = HERE,
    shard_bytes: int = SHARD_BYTES,
    overwrite: bool = False,
    progress: bool = True,
    **settings: Any,
) -> Summary:
    """Perturb `source` into shards of Parquet in the folder `target`.

    Args:
        source: A file, a folder or a pattern of files of JSON lines or Parquet: paths, or addresses such as
            s3://BUCKET/rows and hf://datasets/ORG/NAME.
        target: The folder to write: a path, or an address such as s3://BUCKET/noisy.
        noise: What to do to each row, or the name of an operator. Of several, each is put on what the ones before made.
        engine: Where the work is done, as `lapsus.kernel.engines.engine("ray")` gives it.
        shard_bytes: About how much of the source one shard holds. It decides how much memory a worker takes.
        overwrite: Whether to replace the shards of an earlier run.
        progress: Whether to show a progress bar.
        **settings: Fields of `Noise` (column, key, seed, tags and the others) that complete or change `noise`.

    Rows become what `perturb_file` makes of them.
    """
    noises = given_noises(noise, settings)
    place = _placed(str(target).rstrip("/"))
    work = Folder(f"{place.address}.partial")
    _check_place(str(source), place, engine, overwrite=overwrite)
    if shard_bytes < 1:
        raise ValueError(f"shard_bytes is {shard_bytes}; give 1 or more")
    files = files_of(str(source))
    pieces = pieces_of(files, shard_bytes)
    schema = first_schema(pieces)
    check_columns(source, [] if schema is None else schema.names, noises[0])
    job = Job(tuple(with_tag_names(each, schema) for each in noises), work, len(pieces))
    notes = _notes_of_same_job(job, pieces, files)
    try:
        _make_shards(job, pieces, notes, engine, progress=progress)
    except BaseException:
        if not notes:
            work.delete()
        raise
    if twice := _key_of_two_rows(job, pieces, notes, engine):
        work.delete()
        raise ValueError(
            f"{source}: the key {twice!r} is in more than one row of {noises[0].key!r}; give every row a key of its own"
        )
    _unify(job, notes, engine)
    place.delete()
    work.move("shards", place)
    work.delete()
    counts: Counter[str] = sum((Counter(note.counts) for note in notes.values()), Counter())
    changed = counts.pop("", 0)
    return Summary(str(target), changed + counts.total(), changed, dict(counts))


def _placed(address: str) -> Folder:
    return Folder(address if "://" in address else str(followed(Path(address))))


def _check_place(source: str, target: Folder, engine: Engine, *, overwrite: bool) -> None:
    """Raise where the shards could not go, or where what is there would be lost."""
    suffix = Path(target.address).suffix.lower()
    if suffix in {".json", ".jsonl", ".ndjson", ".csv", ".tsv"}:
        raise ValueError(f"{target.address} names one file, and shards of Parquet go into a folder; name a folder")
    if target.address.startswith("hf://"):
        raise ValueError(
            f"{target.address} would get a commit for each shard; write to a folder, and publish it with lapsus push"
        )
    if isinstance(engine, OnRay) and any(place.startswith("memory://") for place in (source, target.address)):
        raise ValueError("memory:// is the memory of one process, which workers do not see; name a folder or a store")
    there = target.files()
    if there and not all(OURS.fullmatch(name) for name in there):
        raise FileExistsError(f"{target.address} has files that are no shards; name another folder")
    if there and not overwrite:
        raise FileExistsError(
            f"{target.address} has shards already; name another folder, or replace them with --overwrite "
            "(overwrite=True)"
        )


def _notes_of_same_job(job: Job, pieces: Sequence[Piece], files: Sequence[str]) -> dict[int, Note]:
    """Return what an earlier run of the same job has done; delete what another job left."""
    from fsspec.core import url_to_fs

    states = [(address, fs.ukey(path)) for address in files for fs, path in [url_to_fs(address)]]
    told = [[(repr(each), each.released) for each in job.noises], ROW_GROUP, [repr(each) for each in pieces], states]
    wanted = sha256(json.dumps(told, default=str).encode()).hexdigest().encode()
    if job.staging.has("job") and job.staging.read("job") == wanted:
        found = job.staging.read_all("notes")
        return {int(name): Note(**json.loads(note)) for name, note in found.items()}
    job.staging.delete()
    job.staging.write("job", wanted)
    return {}


def _make_shards(job: Job, pieces: Sequence[Piece], notes: dict[int, Note], engine: Engine, *, progress: bool) -> None:
    """Make the shards that have no note, and add their notes."""
    from tqdm import tqdm

    rows = sum(sum(note.counts.values()) for note in notes.values())
    todo = [(number, piece) for number, piece in enumerate(pieces) if number not in notes]
    with tqdm(total=len(pieces), initial=len(notes), unit=" shards", disable=None if progress else True) as bar:
        for (number, _), note in engine.map(partial(_made, job), todo):
            if not job.staging.has(job.shard(number)):
                raise FileNotFoundError(
                    f"a worker wrote {job.shard(number)} where this machine does not see it; name a folder that all "
                    "machines share, or an address such as s3://BUCKET/noisy"
                )
            notes[number] = note
            rows += sum(note.counts.values())
            bar.set_postfix_str(f"{rows:,} rows", refresh=False)
            bar.update()


def _made(job: Job, numbered: tuple[int, Piece]) -> Note:
    """Make one shard."""
    import pyarrow as pa

    number, piece = numbered
    first = job.noises[0]
    table = piece.table()
    absent = [name for name in (*first.columns, first.key, first.tags, first.answers) if name]
    for name in absent:  # JSON lines may leave out what they do not have
        if name not in table.column_names:
            table = table.append_column(name, pa.nulls(len(table)))
    clean = table.schema.remove_metadata()
    try:
        table = _noisy(job.noises, table)
    except ValueError as error:
        raise ValueError(f"{piece.address}: {error}") from error
    job.staging.write(job.shard(number), _parquet(table))
    bounds = (0,) * (RANGES + 1)
    if first.key:
        keys = np.sort(hashed(table.column(first.key).to_pylist())).astype("<u8")
        edges = np.arange(1, RANGES, dtype=np.uint64) << np.uint64(64 - RANGES.bit_length() + 1)
        bounds = (0, *map(int, np.searchsorted(keys, edges)), len(keys))
        job.staging.write(f"keys/{number:05}", keys.tobytes())
    reasons = Counter(reason or "" for reason in table.column(REASON).to_pylist())
    note = Note(dict(reasons), b64encode(clean.serialize().to_pybytes()).decode(), bounds)
    job.staging.write(f"notes/{number:05}", json.dumps({name: getattr(note, name) for name in Note.__slots__}).encode())
    return note  # what was written last: its note says that a shard is complete


def _noisy(noises: Sequence[Noise], table: Any) -> Any:
    """Perturb a table a part at a time, as Python's objects take more memory than Arrow's."""
    import pyarrow as pa

    if not len(table):
        return noisy_table(noises, table)
    return pa.concat_tables(
        [noisy_table(noises, table.slice(start, ROW_GROUP)) for start in range(0, len(table), ROW_GROUP)]
    )


def _parquet(table: Any) -> bytes:
    import pyarrow.parquet as pq

    sink = BytesIO()
    pq.write_table(table, sink, row_group_size=ROW_GROUP)
    return sink.getvalue()


def _unify(job: Job, notes: Mapping[int, Note], engine: Engine) -> None:
    """Write the shards again whose source rows lack a column that others have, or have it in a narrower type."""
    import pyarrow as pa

    schemas = [notes[number].arrow_schema() for number in sorted(notes)]
    try:
        whole = pa.unify_schemas(schemas, promote_options="permissive")
    except (pa.ArrowTypeError, pa.ArrowInvalid) as error:
        raise ValueError(f"the files mix types in a column ({' '.join(str(error).split())}); give it one") from error
    first = job.noises[0]
    schema = noisy_schema(whole, first)
    other = [
        number for number, found in zip(sorted(notes), schemas, strict=True) if noisy_schema(found, first) != schema
    ]
    for _ in engine.map(partial(_widened, job, schema), other):
        pass


def _widened(job: Job, schema: Any, number: int) -> None:
    """Write one shard again in a wider schema."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(BytesIO(job.staging.read(job.shard(number))))
    columns = [
        pa.array(table.column(field.name).to_pylist(), field.type)
        if field.name in table.column_names
        else pa.nulls(len(table), field.type)
        for field in schema
    ]
    job.staging.write(job.shard(number), _parquet(pa.Table.from_arrays(columns, schema=schema)))


def _key_of_two_rows(job: Job, pieces: Sequence[Piece], notes: Mapping[int, Note], engine: Engine) -> str | None:
    """Return a key that several rows share; None where all keys are distinct."""
    total = sum(note.bounds[-1] for note in notes.values())
    if not total:
        return None
    step = max(1, RANGES * KEYS_AT_ONCE // total)
    tasks = [
        {
            f"keys/{number:05}": (8 * note.bounds[first], 8 * note.bounds[min(first + step, RANGES)])
            for number, note in notes.items()
        }
        for first in range(0, RANGES, step)
    ]
    suspects = [each for _, found in engine.map(partial(_repeated, job), tasks) for each in found][:MOST_SUSPECTS]
    if not suspects:
        return None
    seen: set[str] = set()
    suspected = engine.map(partial(_keys_with, job, suspects), pieces)
    for _, keys in suspected:  # the keys themselves: two may share a hash, and the error names one
        for key in keys:
            if key in seen:
                return key
            seen.add(key)
    return None


def _repeated(job: Job, ranges: Mapping[str, tuple[int, int]]) -> list[int]:
    """Return hashes that occur more than once."""
    parts = [np.frombuffer(part, "<u8") for part in job.staging.read_ranges(ranges)]
    hashes = np.sort(np.concatenate(parts))
    return sorted({int(each) for each in hashes[1:][hashes[1:] == hashes[:-1]][:MOST_SUSPECTS]})


def _keys_with(job: Job, suspects: Sequence[int], piece: Piece) -> list[str]:
    """Return the keys of a piece that have one of these hashes."""
    table = piece.table()
    name = job.noises[0].key
    if name not in table.column_names:
        return []
    keys = [str(key) for key in table.column(name).to_pylist() if key is not None]
    return [keys[place] for place in np.flatnonzero(np.isin(hashed(keys), np.array(suspects, np.uint64)))]
