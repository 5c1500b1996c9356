"""A few configs of a benchmark, built from the small files of the tests."""

from __future__ import annotations

from pathlib import Path

from paths import BENCHMARK_FILES

from lapsus.dataset_scripts import benchmarks
from lapsus.hub.build import build_dataset

SOURCES = {
    "readin-afqmc-sim": "readin",
    "readin-wmt2021-sim": "readin",
    "readin-cspider-sim": "cspider",
    "nature-snips": "nature_slu",
}


def build_some(name: str, out: Path) -> Path:
    """Build a few configs of a benchmark."""
    benchmark = benchmarks()[name]
    wanted = ("clean", "original", "keyboard.1", "speech.2", "auto.3", "schemas", "filler_eos", "speako")
    rows = {config: splits for config, splits in benchmark.ROWS.items() if config in wanted}
    few = type(benchmark.__name__, (benchmark,), {"ROWS": rows, "__module__": benchmark.__module__})
    build_dataset(few, out, source=BENCHMARK_FILES / SOURCES[name], allow_partial=True)
    return out
