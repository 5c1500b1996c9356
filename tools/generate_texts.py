"""Generated texts: tables of the README, files of the metrics' Spaces, imports of metrics, and the catalogue of units.

`make generated` rewrites them in a checkout; `python tools/generate_texts.py --check` lists the stale ones.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from lapsus import dataset_scripts, metrics
from lapsus.cli.catalogue import GROUPS, Unit, describe_units, make_unit
from lapsus.cli.check import list_check_keys
from lapsus.cli.main import COMMANDS, load_plugin_commands, main
from lapsus.cli.settings import build_settings_schema
from lapsus.core.plugins import iter_plugin_units
from lapsus.evaluation.benchmark_tasks import load_tasks
from lapsus.evaluation.scorers import load_scorer_providers
from lapsus.evaluation.text_metrics import load_metric_providers
from lapsus.hub.dataset_card import format_table
from lapsus.hub.metric_space import render_metric_card, render_requirements
from lapsus.perturbations import OPERATORS
from lapsus.reporting.schema import build_schema

UNITS = re.compile(r"(<!-- units: .*? -->\n).*(<!-- /units -->)", re.DOTALL)
FUNCTIONS = re.compile(r"(# functions: .*?\n).*(# /functions\n)", re.DOTALL)
FILES = "https://github.com/lapsus-bench/lapsus/blob/main/"  # absolute, for the package index
TABLES = ("datasets", "metrics", "operators")  # of the README
LINKS = {"datasets": FILES + "hub_cards/{}.md", "metrics": FILES + "metrics/{}/README.md"}


def render_generated_texts(root: Path) -> dict[Path, str]:
    """Return every generated text by its path in the checkout at `root`."""
    readme, functions = root / "README.md", root / "metrics" / "__init__.py"
    spaces = {
        root / "metrics" / name / file: make(name)
        for name in metrics.list_metrics()
        for file, make in (
            ("README.md", render_metric_card),
            ("requirements.txt", render_requirements),
        )
    }
    return {
        readme: _replace_between(UNITS, readme, render_unit_tables()),
        functions: _replace_between(FUNCTIONS, functions, render_imports(metrics.list_metrics())),
        root / "docs" / "report.schema.json": json.dumps(build_schema(), indent=1) + "\n",
        root / "docs" / "lapsus.schema.json": json.dumps(build_settings_schema(list_check_keys()), indent=1) + "\n",
        root / "lapsus" / "cli" / "catalogue.json": json.dumps(build_catalogue(), ensure_ascii=False, indent=1) + "\n",
        **spaces,
    }


def _replace_between(marks: re.Pattern[str], path: Path, text: str) -> str:
    """Return the file's content with the text between its marks replaced."""
    return marks.sub(lambda match: f"{match[1]}{text}{match[2]}", path.read_text(encoding="utf-8"))


def render_imports(names: Iterable[str]) -> str:
    """Return the import of each metric's function, and their `__all__`, so that type checkers see them.

    >>> print(render_imports(["win_rate"]), end="")
    from lapsus.metrics.win_rate.score import win_rate
    <BLANKLINE>
    __all__ = [
        "win_rate",
    ]
    """
    imports = "".join(f"from lapsus.metrics.{name}.score import {name}\n" for name in names)
    public = "".join(f'    "{name}",\n' for name in names)
    return f"{imports}\n__all__ = [\n{public}]\n"


def build_catalogue() -> dict[str, list[Unit]]:
    """Return the units of lapsus by kind, in the order of their names, and its commands.

    Of a numbered family of operators the first is listed. Units of other packages are left out.
    """
    units: dict[str, Iterable[Any]] = {
        "datasets": dataset_scripts.benchmarks().values(),
        "metrics": metrics.load_metrics().values(),
        "operators": OPERATORS.values(),
        "tasks": load_tasks().values(),
        "scorers": load_scorer_providers().values(),
        "text-metrics": load_metric_providers().values(),
    }
    catalogue: dict[str, list[Unit]] = {}
    for kind, group in GROUPS.items():
        others = [unit for _, unit in iter_plugin_units(group, own=False)]
        datasets = {unit["name"]: unit for unit in catalogue.get("datasets", ())}
        described = describe_units(kind, (unit for unit in units[kind] if unit not in others), datasets)
        catalogue[kind] = sorted(described, key=lambda unit: unit["name"])
    return {**catalogue, "commands": list_commands()}


def list_commands() -> list[Unit]:
    """Return the commands of lapsus, each with the first sentence of its help."""
    own = {*COMMANDS, *load_plugin_commands()} - load_plugin_commands(own=False).keys()
    commands = {name: main.get_command(click.Context(main), name) for name in sorted(own)}
    return [make_unit(name, command.get_short_help_str(1000)) for name, command in commands.items() if command]


def render_unit_tables() -> str:
    """Return a table of datasets, of metrics and of operators."""
    parts = []
    catalogue = build_catalogue()
    for kind in TABLES:
        rows, link = catalogue[kind], LINKS.get(kind)
        cells = (
            [
                f"[`{row['name']}`]({link.format(row['name'])})" if link else f"`{row['name']}`",
                row["summary"],
                row["needs"],
            ]
            for row in rows
        )
        parts.append(f"## {kind.capitalize()}\n\n{format_table(['name', 'what it does', 'needs'], cells)}\n")
    return "\n" + "\n".join(parts) + "\n"


def write_stale_texts() -> int:
    """Write the stale texts; with --check, list them and fail."""
    check = "--check" in sys.argv[1:]
    stale = {path: text for path, text in render_generated_texts(Path.cwd()).items() if not _is_fresh(path, text)}
    for path, text in stale.items():
        print(f"{path.name} of {path.parent.name} is stale; run `make generated`" if check else f"wrote {path}")
        if not check:
            path.write_text(text, encoding="utf-8")
    return int(check and bool(stale))


def _is_fresh(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(write_stale_texts())
