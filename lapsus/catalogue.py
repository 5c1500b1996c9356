"""What there is: every dataset, metric and operator, found by looking at the folders."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lapsus.dataset_scripts._benchmark import Benchmark


def catalogue() -> dict[str, list[dict[str, str]]]:
    """Return name, summary and needs of every unit, by kind."""
    import lapsus.metrics
    from lapsus.dataset_scripts import benchmarks
    from lapsus.perturbations import OPERATORS

    datasets = [_unit(name, unit, build_needs(unit)) for name, unit in benchmarks().items()]
    metrics = [_unit(name, getattr(lapsus.metrics, name)) for name in lapsus.metrics.names()]
    operators = [_unit(name, OPERATORS[name]) for name in sorted(OPERATORS)]
    return {"datasets": datasets, "metrics": metrics, "operators": operators}


def _unit(name: str, unit: Any, needs: str = "") -> dict[str, str]:
    """Describe a unit by the first line of its docstring."""
    summary = (getattr(unit, "__doc__", None) or "").strip().splitlines()[0].rstrip(".")
    return {"name": name, "summary": summary, "needs": needs or getattr(unit, "needs", "")}


def build_needs(benchmark: type[Benchmark]) -> str:
    """Say what a build needs: nothing, a download, or files that a person must fetch."""
    if benchmark.home():
        return ""
    return "a download" if benchmark.URL else f"--source: {benchmark.WHERE}"


def find_benchmark(name: str) -> type[Benchmark]:
    """Return a benchmark by name, or say which names are near."""
    from lapsus.dataset_scripts import benchmarks

    known = benchmarks()
    if name not in known:
        raise LookupError(unknown("dataset", name, known))
    return known[name]


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """Say that a name is unknown, and which are near.

    >>> unknown("metric", "win_rat", ["win_rate", "noise_rate"])
    "there is no metric 'win_rat'; did you mean win_rate? (known: noise_rate, win_rate)"
    """
    known = sorted(known)
    near = get_close_matches(name, known, n=2)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return f"there is no {kind} {name!r}; {hint}(known: {', '.join(known)})"
