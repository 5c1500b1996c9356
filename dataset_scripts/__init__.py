"""One builder module per benchmark family; the benchmarks are collected from the modules of this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lapsus.kernel.lazy import lazy
from lapsus.kernel.units import units

if TYPE_CHECKING:
    from lapsus.dataset_scripts.benchmark import EDITS, Benchmark, label_of
    from lapsus.dataset_scripts.simulated import noisy_columns, noisy_rows
    from lapsus.dataset_scripts.source import Source, open_source

__all__ = ["EDITS", "Benchmark", "Source", "benchmarks", "label_of", "noisy_columns", "noisy_rows", "open_source"]

__getattr__ = lazy(
    __name__,
    {
        "EDITS": "lapsus.dataset_scripts.benchmark",
        "Benchmark": "lapsus.dataset_scripts.benchmark",
        "Source": "lapsus.dataset_scripts.source",
        "label_of": "lapsus.dataset_scripts.benchmark",
        "noisy_columns": "lapsus.dataset_scripts.simulated",
        "noisy_rows": "lapsus.dataset_scripts.simulated",
        "open_source": "lapsus.dataset_scripts.source",
    },
)


def benchmarks() -> dict[str, type[Benchmark]]:
    """Return every benchmark by the name of its repo.

    >>> "sample" in benchmarks()
    True
    """
    return dict(sorted(units("lapsus.dataset_scripts", "lapsus.benchmarks", lambda unit: unit.NAME).items()))
