"""How long the benchmarks take to build from the real files, and how much memory a large source takes.

    python benchmarks/build_datasets.py PATH
    python benchmarks/build_datasets.py --rows 2000000

NATURE's config `hard` is left out: it trains a model. Each build is a process of its own, whose peak memory is what
the system counted for it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path

SOURCES = {
    "readin-afqmc": "readin",
    "readin-cmrc2018": "cmrc2018",
    "readin-cspider": "cspider",
    "readin-wmt2021": "readin",
    "readin-afqmc-sim": "afqmc",
    "readin-cmrc2018-sim": "cmrc2018",
    "readin-cspider-sim": "cspider",
    "readin-wmt2021-sim": "wmt21",
    "rte": "rte",
    "nature-atis": "nature_slu/atis",
    "nature-snips": "nature_slu/snips",
    "nature-nlued": "nlued",
    "dialect-zh": "frmt",
    "dialect-pt": "frmt",
    "dialect-en": None,
    "dialect-en-demszky": "demszky",
    "slurp-asr": "slurp",
    "noiseqa": "noiseqa",
    "zh-asr-slu": "zh_asr_slu",
    "zh-asr": "zh_asr_pairs",
    "disfl-qa": "disfl_qa",
    "odsqa": "odsqa",
    "aalto-typing": "aalto_typing",
}


class Peak(threading.Thread):
    """Sample the process's own memory; mapped files are left out, since the system can reclaim them."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.done, self.kilobytes = threading.Event(), 0
        self.start()

    def run(self) -> None:
        """Sample every twentieth of a second."""
        while not self.done.wait(0.05):
            found = re.search(r"RssAnon:\s+(\d+)", Path("/proc/self/status").read_text())
            self.kilobytes = max(self.kilobytes, int(found[1]) if found else 0)

    def stop(self) -> int:
        """Return the peak in megabytes."""
        self.done.set()
        return self.kilobytes // 1024


def build(name: str, source: str | None, only: str, skip: str) -> None:
    """Build one benchmark and print its rows, seconds and peak memory as JSON."""
    from lapsus.dataset_scripts import benchmarks
    from lapsus.hub.build import build_dataset

    anonymous = Peak()
    start, worked = time.perf_counter(), time.process_time()
    benchmark = benchmarks()[name]
    chosen = {config for config in benchmark.ROWS if config != skip and only in {"", config}}
    benchmark.ROWS = {config: splits for config, splits in benchmark.ROWS.items() if config in chosen}
    with tempfile.TemporaryDirectory() as out:
        built = build_dataset(benchmark, Path(out) / name, source=Path(source) if source else None, allow_partial=True)
    print(
        json.dumps(
            {
                "rows": sum(sum(splits.values()) for splits in built.rows.values()),
                "seconds": round(time.perf_counter() - start, 1),
                "processor": round(time.process_time() - worked, 1),
                "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
                "own": anonymous.stop(),
            }
        )
    )


def measured(name: str, source: Path | None, *flags: str) -> dict[str, float]:
    """Run `build` in a process of its own."""
    command = [sys.executable, __file__, "--build", name, *flags, *([str(source)] if source else [])]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    measures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measures


COLUMNS = ("seconds", "processor", "megabytes", "own")  # on a busy machine, speed is rows per processor second


def line(name: str, found: Mapping[str, float]) -> str:
    """Return a line of the table."""
    speed = found["rows"] / max(found["processor"], 0.1)
    return f"| {name} | {found['rows']:,} | {' | '.join(str(found[column]) for column in COLUMNS)} | {speed:,.0f} |"


def header(first: str) -> str:
    """Return the header of the table."""
    return (
        f"| {first} | rows | seconds | processor seconds | peak MB | of it own MB | rows per processor second |\n"
        "| --- | --- | --- | --- | --- | --- | --- |"
    )


def synthetic(rows: int) -> None:
    """Build AFQMC from training files of growing size and print the peak memory of each."""
    print(header("training file"))
    with tempfile.TemporaryDirectory() as folder:
        for number in (1000, rows // 4, rows):
            source = Path(folder) / str(number)
            source.mkdir()
            for name, count in (("train", number), ("dev", 10), ("test_clean", 10)):
                with (source / f"{name}.json").open("w", encoding="utf-8") as file:
                    for row in range(count):
                        texts = {"sentence1": f"第{row}个包裹什么时候到", "sentence2": f"{row}号快递几点送来"}
                        pair = texts | {"label": "1"}
                        file.write(json.dumps(pair, ensure_ascii=False) + "\n")
            size = (source / "train.json").stat().st_size // 2**20
            print(line(f"{size} MB", measured("readin-afqmc", source, "--only", "clean")), flush=True)


def real(data: Path) -> None:
    """Build every benchmark from the real files and print a table."""
    print(header("dataset"))
    total = dict.fromkeys(("rows", *COLUMNS), 0.0)
    for name, folder in SOURCES.items():
        found = measured(name, data / folder if folder else None, "--skip", "hard")
        print(line(name, found), flush=True)
        total = {
            key: max(value, found[key]) if key in {"megabytes", "own"} else round(value + found[key], 1)
            for key, value in total.items()
        }
    print(line("all", total | {"rows": int(total["rows"])}))
    print(f"\nload average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", help="folder with the real files")
    parser.add_argument("--rows", type=int, help="rows of a synthetic source to build instead")
    parser.add_argument("--build", help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", help=argparse.SUPPRESS)
    parser.add_argument("--skip", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.build:
        build(given.build, given.data, given.only, given.skip)
    elif given.rows:
        synthetic(given.rows)
    elif given.data:
        real(Path(given.data))
    else:
        parser.error("name the folder with the real files, or a number of --rows")
