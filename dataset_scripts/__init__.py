"""One builder module per benchmark family; the benchmarks are collected from the modules of this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lapsus.core.imports import make_lazy_getattr
from lapsus.core.plugins import load_units

if TYPE_CHECKING:
    from lapsus.dataset_scripts.benchmark import EDITS, Benchmark, parse_label
    from lapsus.dataset_scripts.simulated import noisy_features, perturb_rows
    from lapsus.dataset_scripts.source import Source, open_source

__all__ = ["EDITS", "Benchmark", "Source", "benchmarks", "noisy_features", "open_source", "parse_label", "perturb_rows"]

__getattr__ = make_lazy_getattr(
    __name__,
    {
        "EDITS": "lapsus.dataset_scripts.benchmark",
        "Benchmark": "lapsus.dataset_scripts.benchmark",
        "Source": "lapsus.dataset_scripts.source",
        "parse_label": "lapsus.dataset_scripts.benchmark",
        "noisy_features": "lapsus.dataset_scripts.simulated",
        "perturb_rows": "lapsus.dataset_scripts.simulated",
        "open_source": "lapsus.dataset_scripts.source",
    },
)


def benchmarks() -> dict[str, type[Benchmark]]:
    """Return every benchmark by the name of its repo.

    >>> "sample" in benchmarks()
    True
    """
    return dict(sorted(load_units("lapsus.dataset_scripts", "lapsus.benchmarks", lambda unit: unit.NAME).items()))
