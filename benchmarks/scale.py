"""What many rows and many machines cost: ratios of one run, in CPU seconds, so that a busy machine changes them little.

    python benchmarks/scale.py ray [--operator zh_homophone] [--rows 250000 500000 1000000] [--texts FILE]
    python benchmarks/scale.py workers [--operator zh_keyboard] [--rows 1000000]

`ray` perturbs the same Parquet file by `Noise.map` in one process and by `perturb_corpus` on a Ray cluster of one CPU,
compares the rows, and shows how much memory a worker took. `workers` perturbs it by `perturb_file` with one worker and
with two; the time of the slower process is what two idle cores would take. FILE holds a text per line; without it, the
texts are those of tests/frozen_texts.txt.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lapsus.core.executors import open_executor
from lapsus.jobs.perturb_corpus import perturb_corpus
from lapsus.jobs.perturb_file import perturb_file
from lapsus.perturbations import OPERATORS, Noise

TICKS = os.sysconf("SC_CLK_TCK")
KNOWN = Path(__file__).parents[1] / "tests" / "frozen_texts.txt"


def source(folder: Path, texts: list[str], rows: int) -> Path:
    """Write the rows, each with a number behind its text, so that all are distinct."""
    path = folder / f"{rows}.parquet"
    with pq.ParquetWriter(path, pa.schema([("id", pa.string()), ("text", pa.string())])) as writer:
        for start in range(0, rows, 100_000):
            numbers = range(start, min(start + 100_000, rows))
            made = {"id": [str(n) for n in numbers], "text": [f"{texts[n % len(texts)]}第{n}次" for n in numbers]}
            writer.write_table(pa.table(made))
    return path


def family(root: int) -> Iterator[int]:
    """Yield a process and all that it started."""
    yield root
    for task in Path(f"/proc/{root}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield from family(int(child))


def used(process: int) -> float:
    """Return the CPU seconds of a process and of the children that it has waited for."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS


def peak(process: int) -> int:
    """Return the most memory that a process had, in MB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM")), 0)


def digest(tables: Iterator[pa.Table]) -> str:
    """Return a hash of rows, whatever the batches that they come in."""
    found = hashlib.sha256()
    for table in tables:
        for row in table.select(["id", "text", "clean_text", "edits", "operator"]).to_pylist():
            found.update(json.dumps(row, ensure_ascii=False, sort_keys=True).encode())
    return found.hexdigest()[:16]


def batches(files: list[Path]) -> Iterator[pa.Table]:
    """Yield the rows of Parquet files."""
    for path in files:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches():
                yield pa.Table.from_batches([batch])


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a function makes, and the seconds by the clock."""
    start = time.perf_counter()
    return work(), time.perf_counter() - start


def by_map(noise: Noise, path: Path, folder: Path) -> tuple[float, float, str]:
    """Perturb by `Noise.map`; return CPU seconds, seconds by the clock, and the digest of the rows."""
    from datasets import Dataset, disable_progress_bars

    disable_progress_bars()
    before = used(os.getpid())

    def work() -> Any:
        rows = Dataset.from_parquet(str(path), cache_dir=str(folder / "cache"))
        return noise.map(rows, cache_file_name=str(folder / "map.arrow"), load_from_cache_file=False)

    made, clock = timed(work)
    cpu = used(os.getpid()) - before
    return cpu, clock, digest(pa.Table.from_batches([batch]) for batch in made.data.table.to_batches())


def by_ray(noise: Noise, path: Path, folder: Path) -> tuple[float, float, str, int]:
    """Perturb on a cluster of one CPU; return also the most memory that a worker had."""
    before = sum(map(used, family(os.getpid())))
    with open_executor("ray", cpus=1) as cluster:
        ready = sum(map(used, family(os.getpid())))
        _, clock = timed(lambda: perturb_corpus(path, folder / "shards", noise, executor=cluster, progress=False))
        everybody = list(family(os.getpid()))
        cpu = sum(map(used, everybody)) - before
        workers = [each for each in everybody if b"ray::" in Path(f"/proc/{each}/cmdline").read_bytes()]
        most = max(map(peak, workers))
    print(f"  of it, until the cluster was up: {ready - before:.1f} CPU seconds")
    return cpu, clock, digest(batches(sorted((folder / "shards").iterdir()))), most


def ray(name: str, texts: list[str], sizes: list[int]) -> None:
    """Compare `perturb_corpus` on Ray with `Noise.map`, for growing numbers of rows."""
    noise = Noise(OPERATORS[name], text="text", id="id", seed=1)
    noise({"text": texts[:10], "id": list("0123456789")})  # tables are loaded once
    for rows in sizes:
        with tempfile.TemporaryDirectory() as home:
            folder = Path(home)
            path = source(folder, texts, rows)
            cpu, clock, wanted = by_map(noise, path, folder)
            theirs, their_clock, found, most = by_ray(noise, path, folder)
            size = sum(file.stat().st_size for file in (folder / "shards").iterdir())
            print(
                f"{name}, {rows:,} rows: Dataset.map {cpu:.1f} CPU s ({clock:.1f} by the clock), "
                f"ray {theirs:.1f} ({their_clock:.1f}), ratio {theirs / cpu:.2f}; rows equal: {wanted == found}; "
                f"most memory of a worker {most} MB; shards {size / rows:.0f} bytes a row",
                flush=True,
            )


def workers(name: str, texts: list[str], sizes: list[int]) -> None:
    """Compare two workers of `perturb_file` with one."""
    noise = Noise(OPERATORS[name], text="text", id="id", seed=1)
    for rows in sizes:
        with tempfile.TemporaryDirectory() as home:
            folder = Path(home)
            path = source(folder, texts, rows)
            busiest = {}
            for number in (1, 2):
                target = folder / f"{number}.parquet"
                with watching() as seen:
                    _, clock = timed(partial(perturb_file, path, target, noise, workers=number, progress=False))
                busiest[number] = max(seen.values())
                print(
                    f"{name}, {rows:,} rows, workers: {number}; busiest process {busiest[number]:.1f} "
                    f"CPU s, all {sum(seen.values()):.1f}, {clock:.1f} by the clock",
                    flush=True,
                )
            same = (folder / "1.parquet").read_bytes() == (folder / "2.parquet").read_bytes()
            print(f"two beside one: {busiest[1] / busiest[2]:.2f} x; bytes equal: {same}", flush=True)


@contextmanager
def watching() -> Iterator[dict[int, float]]:
    """Yield a dict that will hold the CPU seconds that this process and each of its children took in the block."""
    seen: dict[int, float] = {}
    done = Event()

    def look() -> None:
        while not done.wait(0.2):
            with suppress(OSError):  # a thread or a child has ended meanwhile
                for child in list(family(os.getpid()))[1:]:
                    seen[child] = used(child)

    thread = Thread(target=look)
    before = os.times()
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join()
        after = os.times()
        seen[os.getpid()] = after.user + after.system - before.user - before.system


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["ray", "workers"])
    parser.add_argument("--operator")
    parser.add_argument("--rows", type=int, nargs="+")
    parser.add_argument("--texts", type=Path, default=KNOWN)
    given = parser.parse_args()
    lines = [line for line in given.texts.read_text(encoding="utf-8").splitlines() if line.strip()]
    if given.part == "ray":
        ray(given.operator or "zh_homophone", lines, given.rows or [250_000, 500_000, 1_000_000])
    else:
        workers(given.operator or "zh_keyboard", lines, given.rows or [1_000_000])
