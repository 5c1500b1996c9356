"""Perturb a corpus into a folder of Parquet shards, on one machine or on many.

The sources are split into partitions of about one size, independent of the machines, so the shards have the same bytes
for any number of machines. A partition is one task: it reads its rows, perturbs them, and writes the shard and then a
manifest. Rows never travel between machines. Shards and manifests lie in the folder `<target>.partial`; when all are
there, the shards move into place. An interrupted run continues with the shards that have no manifest.
"""

from __future__ import annotations

import json
import os
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

from lapsus.core.executors import LOCAL, Executor, RayExecutor
from lapsus.core.files import resolve_link, stage_file
from lapsus.core.types import StrPath
from lapsus.io.json_columns import list_column, make_array
from lapsus.jobs.partitions import (
    REASON_COLUMN,
    Partition,
    Summary,
    check_columns,
    hash_keys,
    list_files,
    prepare_noises,
    read_first_schema,
    split_files,
)
from lapsus.perturbations.arrow import fit_to_schema, perturb_schema, perturb_table
from lapsus.perturbations.noise import list_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lapsus.perturbations.noise import Noise

SHARD_BYTES = 8 * 1000**2  # of rows before they are perturbed
ROW_GROUP = 5_000
RANGES = 64  # of hashes of keys; a manifest has the bounds of each
KEYS_AT_ONCE = 2**24  # hashes that one task compares
MAX_SUSPECTS = 100
SHARD_NAME = re.compile(r"\d{5,}-of-\d{5,}\.parquet")


@dataclass(frozen=True, slots=True)
class RemoteFolder:
    """A folder at a path or an address, to which every machine can write."""

    address: str

    @property
    def _fs(self) -> tuple[Any, str]:
        from fsspec.core import url_to_fs

        return url_to_fs(self.address)  # type: ignore[no-any-return]

    def write(self, name: str, content: bytes) -> None:
        """Write a file that is complete or absent at any moment."""
        fs, path = self._fs
        if "://" not in self.address:
            with stage_file(Path(path) / name) as file:
                file.write(content)
            return
        fs.makedirs(f"{path}/{name}".rpartition("/")[0], exist_ok=True)
        fs.pipe_file(f"{path}/{name}", content)  # object stores show a file when it is complete

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        fs, path = self._fs
        return bytes(fs.cat_file(f"{path}/{name}"))

    def read_ranges(self, ranges: Mapping[str, tuple[int, int]]) -> list[bytes]:
        """Return the bytes [start, stop) of several files."""
        fs, path = self._fs
        starts, stops = ([each[end] for each in ranges.values()] for end in (0, 1))
        contents = fs.cat_ranges([f"{path}/{name}" for name in ranges], starts, stops, on_error="raise")
        return [bytes(part) for part in contents]

    def read_all(self, folder: str) -> dict[str, bytes]:
        """Return the content of each file of a subfolder, by name."""
        fs, path = self._fs
        if not fs.isdir(f"{path}/{folder}"):
            return {}
        names = [name for name in fs.find(f"{path}/{folder}") if not name.endswith(".partial")]
        contents = fs.cat(names) if names else {}
        return {name.rpartition("/")[2]: bytes(content) for name, content in contents.items()}

    def exists(self, name: str) -> bool:
        """Return whether there is such a file."""
        fs, path = self._fs
        fs.invalidate_cache()
        return bool(fs.exists(f"{path}/{name}"))

    def list_files(self) -> list[str] | None:
        """Return the relative paths of all files; None where there is no folder."""
        fs, path = self._fs
        fs.invalidate_cache()
        if fs.isfile(path):
            raise FileExistsError(f"{self.address} is a file, and shards go into a folder; name another")
        return [name.removeprefix(path).strip("/") for name in fs.find(path)] if fs.isdir(path) else None

    def delete(self) -> None:
        """Delete the folder with all its files."""
        fs, path = self._fs
        if fs.isdir(path):
            fs.rm(path, recursive=True)

    def move(self, folder: str, target: RemoteFolder) -> None:
        """Move a subfolder to the folder `target`; on a disk in one step."""
        fs, path = self._fs
        _, target_path = target._fs
        if "://" not in self.address:
            Path(path, folder).rename(target_path)
            return
        fs.mv(f"{path}/{folder}", target_path, recursive=True)


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker needs to make any shard."""

    noises: tuple[Noise, ...]
    staging: RemoteFolder
    n_shards: int

    def format_shard_name(self, number: int) -> str:
        """Return the name of a shard."""
        return f"shards/{number:05}-of-{self.n_shards:05}.parquet"


@dataclass(frozen=True, slots=True)
class ShardManifest:
    """What is known of a complete shard."""

    counts: Mapping[str, int]  # of rows by the reason why they are unchanged; "" for the changed ones
    schema: str  # of the source rows
    bounds: tuple[int, ...]  # where each range of the sorted hashes begins, and the end

    def decode_schema(self) -> Any:
        """Return the schema of the source rows."""
        import pyarrow as pa

        return pa.ipc.read_schema(pa.py_buffer(b64decode(self.schema)))


def perturb_corpus(
    source: StrPath,
    target: StrPath,
    noise: Noise | str | Sequence[Noise],
    *,
    executor: Executor = LOCAL,
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
        noise: The noise of each row, or the name of an operator. Several are applied in order, each to the outcome of
            those before.
        executor: Where the work is done, such as `lapsus.core.executors.open_executor("ray")`.
        shard_bytes: About how many bytes of the source one shard holds, which decides how much memory a worker takes.
        overwrite: Whether to replace the shards of an earlier run.
        progress: Whether to show a progress bar.
        **settings: Fields of `Noise` (text, id, seed, tags and the others) that complete or change `noise`.

    Rows become what `perturb_file` makes of them.
    """
    source, target = os.fspath(source), os.fspath(target)
    noises = prepare_noises(noise, settings)
    folder = _open_folder(target.rstrip("/"))
    staging = RemoteFolder(f"{folder.address}.partial")
    _check_target(source, folder, executor, overwrite=overwrite)
    if shard_bytes < 1:
        raise ValueError(f"shard_bytes is {shard_bytes}; give 1 or more")
    files = list_files(source)
    partitions = split_files(files, shard_bytes)
    schema = read_first_schema(partitions)
    check_columns(source, [] if schema is None else schema.names, noises[0])
    job = Job(tuple(fit_to_schema(each, schema) for each in noises), staging, len(partitions))
    manifests = _load_manifests(job, partitions, files)
    try:
        _make_shards(job, partitions, manifests, executor, progress=progress)
    except BaseException:
        if not manifests:
            staging.delete()
        raise
    if duplicate_key := _find_duplicate_key(job, partitions, manifests, executor):
        staging.delete()
        raise ValueError(f"{source}: duplicate id {duplicate_key!r} in column {noises[0].id!r}; ids must be unique")
    _unify_schemas(job, manifests, executor)
    folder.delete()
    staging.move("shards", folder)
    staging.delete()
    counts: Counter[str] = sum((Counter(manifest.counts) for manifest in manifests.values()), Counter())
    changed = counts.pop("", 0)
    return Summary(str(target), changed + counts.total(), changed, dict(counts))


def _open_folder(address: str) -> RemoteFolder:
    return RemoteFolder(address if "://" in address else str(resolve_link(Path(address))))


def _check_target(source: str, target: RemoteFolder, executor: Executor, *, overwrite: bool) -> None:
    """Raise where shards cannot be written, or where files would be lost."""
    suffix = Path(target.address).suffix.lower()
    if suffix in {".json", ".jsonl", ".ndjson", ".csv", ".tsv"}:
        raise ValueError(f"{target.address} names one file, and shards of Parquet go into a folder; name a folder")
    if target.address.startswith("hf://"):
        raise ValueError(
            f"{target.address} would get a commit for each shard; write to a folder, and publish it with lapsus push"
        )
    if isinstance(executor, RayExecutor) and any(
        address.startswith("memory://") for address in (source, target.address)
    ):
        raise ValueError("memory:// is the memory of one process, which workers do not see; name a folder or a store")
    existing = target.list_files()
    if existing and not all(SHARD_NAME.fullmatch(name) for name in existing):
        raise FileExistsError(f"{target.address} has files that are no shards; name another folder")
    if existing and not overwrite:
        raise FileExistsError(
            f"{target.address} has shards already; name another folder, or replace them with --overwrite "
            "(overwrite=True)"
        )


def _load_manifests(job: Job, partitions: Sequence[Partition], files: Sequence[str]) -> dict[int, ShardManifest]:
    """Return the manifests of an earlier run of the same job; delete the files of another job."""
    from fsspec.core import url_to_fs

    states = [(address, fs.ukey(path)) for address in files for fs, path in [url_to_fs(address)]]
    identity = [
        [(repr(each), each.released) for each in job.noises],
        ROW_GROUP,
        [repr(each) for each in partitions],
        states,
    ]
    digest = sha256(json.dumps(identity, default=str).encode()).hexdigest().encode()
    if job.staging.exists("job") and job.staging.read("job") == digest:
        contents = job.staging.read_all("notes")
        manifests = {int(name): ShardManifest(**json.loads(content)) for name, content in contents.items()}
        files_left = {*(job.staging.list_files() or ())}  # a run that stopped while it moved the shards left only notes
        return {
            number: manifest for number, manifest in manifests.items() if job.format_shard_name(number) in files_left
        }
    job.staging.delete()
    job.staging.write("job", digest)
    return {}


def _make_shards(
    job: Job,
    partitions: Sequence[Partition],
    manifests: dict[int, ShardManifest],
    executor: Executor,
    *,
    progress: bool,
) -> None:
    """Make the shards that have no manifest, and add their manifests."""
    from tqdm import tqdm

    rows = sum(sum(manifest.counts.values()) for manifest in manifests.values())
    todo = [(number, partition) for number, partition in enumerate(partitions) if number not in manifests]
    with tqdm(total=len(partitions), initial=len(manifests), unit=" shards", disable=None if progress else True) as bar:
        for (number, _), manifest in executor.map(partial(_make_shard, job), todo):
            if not job.staging.exists(job.format_shard_name(number)):
                raise FileNotFoundError(
                    f"this machine does not see {job.format_shard_name(number)}, which a worker wrote; name a folder "
                    "that all machines share, or an address such as s3://BUCKET/noisy"
                )
            manifests[number] = manifest
            rows += sum(manifest.counts.values())
            bar.set_postfix_str(f"{rows:,} rows", refresh=False)
            bar.update()


def _make_shard(job: Job, numbered_partition: tuple[int, Partition]) -> ShardManifest:
    """Make one shard."""
    import pyarrow as pa

    number, partition = numbered_partition
    first_noise = job.noises[0]
    table = partition.read_table()
    for name in list_columns(first_noise):  # JSON lines may leave out what they do not have
        if name not in table.column_names:
            table = table.append_column(name, pa.nulls(len(table)))
    clean_schema = table.schema.remove_metadata()
    try:
        table = _perturb_in_parts(job.noises, table)
    except ValueError as error:
        raise ValueError(f"{partition.address}: {error}") from error
    job.staging.write(job.format_shard_name(number), _encode_parquet(table))
    bounds = (0,) * (RANGES + 1)
    if first_noise.id:
        keys = np.sort(hash_keys(table.column(first_noise.id).to_pylist())).astype("<u8")
        edges = np.arange(1, RANGES, dtype=np.uint64) << np.uint64(64 - RANGES.bit_length() + 1)
        bounds = (0, *map(int, np.searchsorted(keys, edges)), len(keys))
        job.staging.write(f"keys/{number:05}", keys.tobytes())
    reasons = Counter(reason or "" for reason in table.column(REASON_COLUMN).to_pylist())
    manifest = ShardManifest(dict(reasons), b64encode(clean_schema.serialize().to_pybytes()).decode(), bounds)
    job.staging.write(
        f"notes/{number:05}", json.dumps({name: getattr(manifest, name) for name in ShardManifest.__slots__}).encode()
    )
    return manifest  # written last: its existence means that the shard is complete


def _perturb_in_parts(noises: Sequence[Noise], table: Any) -> Any:
    """Perturb a table in parts, since Python's objects take more memory than Arrow's."""
    import pyarrow as pa

    if not len(table):
        return perturb_table(noises, table)
    return pa.concat_tables(
        [perturb_table(noises, table.slice(start, ROW_GROUP)) for start in range(0, len(table), ROW_GROUP)]
    )


def _encode_parquet(table: Any) -> bytes:
    import pyarrow.parquet as pq

    sink = BytesIO()
    pq.write_table(table, sink, row_group_size=ROW_GROUP)
    return sink.getvalue()


def _unify_schemas(job: Job, manifests: Mapping[int, ShardManifest], executor: Executor) -> None:
    """Write the shards again whose source rows lack a column that other rows have, or have it in a narrower type."""
    import pyarrow as pa

    schemas = [manifests[number].decode_schema() for number in sorted(manifests)]
    try:
        clean_schema = pa.unify_schemas(schemas, promote_options="permissive")
    except (pa.ArrowTypeError, pa.ArrowInvalid) as error:
        raise ValueError(f"the files mix types in a column ({' '.join(str(error).split())}); give it one") from error
    first_noise = job.noises[0]
    schema = perturb_schema(clean_schema, first_noise)
    outdated = [
        number
        for number, shard_schema in zip(sorted(manifests), schemas, strict=True)
        if perturb_schema(shard_schema, first_noise) != schema
    ]
    for _ in executor.map(partial(_rewrite_shard, job, schema), outdated):
        pass


def _rewrite_shard(job: Job, schema: Any, number: int) -> None:
    """Write one shard again in a wider schema."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(BytesIO(job.staging.read(job.format_shard_name(number))))
    columns = [
        make_array(list_column(table.column(field.name)), field.type)
        if field.name in table.column_names
        else pa.nulls(len(table), field.type)
        for field in schema
    ]
    job.staging.write(job.format_shard_name(number), _encode_parquet(pa.Table.from_arrays(columns, schema=schema)))


def _find_duplicate_key(
    job: Job, partitions: Sequence[Partition], manifests: Mapping[int, ShardManifest], executor: Executor
) -> str | None:
    """Return a key that several rows share; None where all keys are distinct."""
    total = sum(manifest.bounds[-1] for manifest in manifests.values())
    if not total:
        return None
    step = max(1, RANGES * KEYS_AT_ONCE // total)
    tasks = [
        {
            f"keys/{number:05}": (
                8 * manifest.bounds[first_range],
                8 * manifest.bounds[min(first_range + step, RANGES)],
            )
            for number, manifest in manifests.items()
        }
        for first_range in range(0, RANGES, step)
    ]
    repeated_hashes = [
        key_hash for _, hashes in executor.map(partial(_find_repeated_hashes, job), tasks) for key_hash in hashes
    ][:MAX_SUSPECTS]
    if not repeated_hashes:
        return None
    seen_keys: set[str] = set()
    key_lists = executor.map(partial(_find_keys_with_hashes, job, repeated_hashes), partitions)
    for _, keys in key_lists:  # two keys may share a hash, and the error names the key
        for key in keys:
            if key in seen_keys:
                return key
            seen_keys.add(key)
    return None


def _find_repeated_hashes(job: Job, ranges: Mapping[str, tuple[int, int]]) -> list[int]:
    """Return hashes that occur more than once."""
    parts = [np.frombuffer(part, "<u8") for part in job.staging.read_ranges(ranges)]
    hashes = np.sort(np.concatenate(parts))
    return sorted({int(each) for each in hashes[1:][hashes[1:] == hashes[:-1]][:MAX_SUSPECTS]})


def _find_keys_with_hashes(job: Job, hashes: Sequence[int], partition: Partition) -> list[str]:
    """Return the keys of a partition that have one of these hashes."""
    table = partition.read_table()
    name = job.noises[0].id
    if name not in table.column_names:
        return []
    keys = [str(key) for key in table.column(name).to_pylist() if key is not None]
    return [keys[index] for index in np.flatnonzero(np.isin(hash_keys(keys), np.array(hashes, np.uint64)))]
