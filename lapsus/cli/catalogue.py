"""The catalogue: name, summary, needs and language of each unit and command, by kind.

Units of lapsus are read from `catalogue.json`, which `make generated` writes, so that nothing has to be imported; units
of other packages are loaded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from operator import itemgetter
from pathlib import Path
from textwrap import wrap
from typing import Any

from lapsus.core.plugins import index_units, iter_plugin_units
from lapsus.perturbations.specs import find_languages

FILE = Path(__file__).with_name("catalogue.json")
GROUPS = {  # kind of unit -> entry point
    "datasets": "lapsus.benchmarks",
    "metrics": "lapsus.metrics",
    "operators": "lapsus.operators",
    "scorers": "lapsus.scorers",
    "tasks": "lapsus.tasks",
    "text-metrics": "lapsus.text_metrics",
}
WIDTH = 100
NUMBERED = re.compile(r"\.[1-9]")  # a later member of a family of operators, whose first is listed

Unit = dict[str, str]  # name, summary, needs, language


@cache
def read_catalogue() -> dict[str, list[Unit]]:
    """Return the units of lapsus itself, and its commands, by kind; each kind in the order of names."""
    catalogue: dict[str, list[Unit]] = json.loads(FILE.read_text(encoding="utf-8"))
    return catalogue


def list_units(kind: str) -> list[Unit]:
    """Return the units of a kind, those of other packages too, in the order of their names."""
    located = [("lapsus", unit) for unit in read_catalogue()[kind]]
    plugins = list(iter_plugin_units(GROUPS[kind], own=False))
    if plugins:
        datasets = {unit["name"]: unit for unit in (list_units("datasets") if kind == "tasks" else ())}
        located += [(module, unit) for module, plugin in plugins for unit in describe_units(kind, [plugin], datasets)]
    return sorted(index_units(located, itemgetter("name")).values(), key=itemgetter("name"))


def describe_units(kind: str, units: Iterable[Any], datasets: Mapping[str, Unit]) -> list[Unit]:
    """Return the description of each unit; `datasets` are those that tasks are about."""
    if kind == "tasks":
        return [_describe_task(task, datasets) for task in units]
    if kind in {"scorers", "text-metrics"}:
        return [make_unit(provider.usage, provider.summary) for provider in units]
    if kind == "datasets":
        return [_describe_unit(unit.NAME, unit, describe_requirements(unit)) for unit in units]
    if kind == "metrics":
        return [_describe_unit(unit.__name__, unit) for unit in units]
    return [_describe_unit(unit.name, unit) for unit in units if not NUMBERED.search(unit.name)]


def make_unit(name: str, summary: str, needs: str = "", language: str = "") -> Unit:
    """Return a unit of the catalogue."""
    return {"name": name, "summary": summary, "needs": needs, "language": language}


def _describe_unit(name: str, unit: Any, needs: str = "") -> Unit:
    """Describe a unit by its `summary`, else by the first line of its docstring."""
    description = getattr(unit, "summary", None) or getattr(unit, "__doc__", None) or "no docstring"
    summary = next(iter(description.strip().splitlines()), "").rstrip(".")
    return make_unit(name, summary, needs or getattr(unit, "needs", ""), ", ".join(find_languages(unit)))


def _describe_task(task: Any, datasets: Mapping[str, Unit]) -> Unit:
    """Describe a task by its summary and what its dataset holds."""
    dataset = datasets.get(task.dataset)
    about = f". {dataset['summary']}" if dataset else ""
    origin = "" if task.name == task.dataset or not task.dataset else f" [{task.dataset}]"
    summary = f"{task.summary[:1].upper()}{task.summary[1:]}{about}{origin}"
    return make_unit(task.name, summary, language=dataset["language"] if dataset else "")


def describe_requirements(benchmark: Any) -> str:
    """Return what a build needs: nothing, a download, or files to fetch by hand; and extras of lapsus."""
    files = "a download" if benchmark.URL else f"--source: {benchmark.WHERE}"
    return "; ".join(filter(None, ("" if benchmark.get_bundled_folder() else files, benchmark.EXTRAS)))


def filter_units(units: Iterable[Unit], words: Iterable[str], language: str | None) -> list[Unit]:
    """Return the units whose name or summary holds every word, and that are for a language.

    >>> filter_units([{"name": "zh_speech", "summary": "Dictate", "language": "zh"}], ["dict"], "zh")[0]["name"]
    'zh_speech'
    """
    terms = [word.casefold() for word in words]
    return [
        unit
        for unit in units
        if all(word in f"{unit['name']} {unit['summary']}".casefold() for word in terms)
        and (language is None or not unit.get("language") or language in unit["language"].split(", "))
    ]


def format_units(units: Sequence[Unit]) -> list[str]:
    r"""Return units as lines of at most 100 columns: the name, then what it does and what it needs, wrapped.

    >>> print(*format_units([{"name": "speako", "summary": "Replace one word", "needs": "lapsus[en]"}]), sep="\n")
      speako  Replace one word [needs lapsus[en]]
    """
    width = max((len(unit["name"]) for unit in units), default=0)
    lines = []
    for unit in units:
        needs = f" [needs {unit['needs']}]" if unit["needs"] else ""
        start = f"  {unit['name']:<{width}}  "
        lines += wrap(
            f"{unit['summary']}{needs}",
            WIDTH,
            initial_indent=start,
            subsequent_indent=" " * len(start),
            break_on_hyphens=False,
        )
    return lines
