"""Pages of the site that are made from other files: the README, the cards and the catalogue; a hook of mkdocs.

Links are written as they work in the repository. Here they lead to the page of that file, or to the repository.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from datasets import DatasetInfo, SplitDict, SplitInfo
from datasets.info import DatasetInfosDict
from mkdocs.structure.files import File, Files

from lapsus.cli.list import build_catalogue
from lapsus.dataset_scripts import benchmarks
from lapsus.hub.dataset_card import render_card, format_table
from lapsus.hub.build import BuildResult

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

    from lapsus.dataset_scripts import Benchmark

ROOT = Path(__file__).parents[2]
WHOLE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
PUBLIC = ("lapsus", "lapsus.metrics", "lapsus.perturbations", "lapsus.dataset_scripts", "lapsus.evaluation")
EXAMPLE = re.compile(r'^( +)?>>> (?:(?!^ *r?""")[^\n]+\n)+\n?', re.MULTILINE)
LINK = re.compile(r"(?<!`)(\]\()([^)\s]+)(\))")
FENCE = re.compile(r"(^ *```.*?^ *```|`[^`\n]+`)", re.DOTALL | re.MULTILINE)
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


@cache
def pages() -> dict[str, tuple[str, str]]:
    """Return the generated pages: their path in the site, the file of the repository they come from, and their text."""
    made = {page: (source, (ROOT / source).read_text(encoding="utf-8")) for source, page in WHOLE.items()}
    units = build_catalogue()
    for row in units["datasets"]:
        source = f"hub_cards/{row['name']}.md"
        made[f"units/datasets/{row['name']}.md"] = (source, dataset_page(benchmarks()[row["name"]]))
    for row in units["metrics"]:
        source = f"metrics/{row['name']}/README.md"
        made[f"units/metrics/{row['name']}.md"] = (
            source,
            FRONT_MATTER.sub("", (ROOT / source).read_text(encoding="utf-8")),
        )
    for row in units["operators"]:
        made[f"units/operators/{row['name']}.md"] = ("", operator_page(row))
    made |= {f"reference/{name.rpartition('.')[2]}.md": ("", reference(name)) for name in PUBLIC}
    return made | {"units/index.md": ("", index(units))}


def reference(package: str) -> str:
    """Return the page of a package: the documentation of its public classes and functions."""
    home = import_module(package)
    found = {name: getattr(home, name) for name in home.__all__}
    shown = [f"::: {each.__module__}.{each.__qualname__}\n" for each in found.values() if hasattr(each, "__qualname__")]
    return "\n".join([f"# `{package}`\n", f"{(home.__doc__ or '').partition(chr(10))[0]}\n", *shown])


def dataset_page(benchmark: type[Benchmark]) -> str:
    """Return the card of a dataset as it is when every official row was there."""
    infos = DatasetInfosDict(
        {
            config: DatasetInfo(
                features=benchmark(config_name=config).info.features,
                splits=SplitDict({split: SplitInfo(split, num_examples=rows or 0) for split, rows in splits.items()}),
            )
            for config, splits in benchmark.ROWS.items()
        }
    )
    rows = {config: {split: n or 0 for split, n in splits.items()} for config, splits in benchmark.ROWS.items()}
    text = render_card(benchmark, infos, BuildResult(Path(benchmark.NAME), rows=rows, row_count_mismatches={}))
    return FRONT_MATTER.sub("", text).replace("| 0 | – |", "| those of the source | – |")


def operator_page(row: dict[str, str]) -> str:
    """Return what an operator does, what it needs, and the documentation of its class."""
    from lapsus.perturbations import OPERATORS

    kind = type(OPERATORS[row["name"]])
    needs = f"It needs `pip install '{row['needs']}'`.\n\n" if row["needs"] else ""
    use = f"```console\n$ lapsus perturb --noise {row['name']} --text text --id id in.jsonl out.jsonl\n```"
    return f"# {row['name']}\n\n{row['summary']}.\n\n{needs}{use}\n\n::: {kind.__module__}.{kind.__qualname__}\n"


def index(units: dict[str, list[dict[str, str]]]) -> str:
    """Return the tables of all units."""
    parts = ["# Units\n\nWhat `lapsus list` shows.\n"]
    for kind, rows in units.items():
        cells = ([f"[`{row['name']}`]({kind}/{row['name']}.md)", row["summary"], row["needs"]] for row in rows)
        parts.append(f"## {kind.capitalize()}\n\n{format_table(['name', 'what it does', 'needs'], cells)}\n")
    return "\n".join(parts)


def on_startup(**_: Any) -> None:
    """Lay the package out as it is installed, for the reference to read."""
    package = ROOT / "build" / "reference" / "lapsus"
    shutil.rmtree(package, ignore_errors=True)
    for folder in ("lapsus", "dataset_scripts", "metrics", "perturbations"):
        for path in (ROOT / folder).rglob("*.py"):
            target = package / path.relative_to(ROOT / folder if folder == "lapsus" else ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(fenced(path.read_text(encoding="utf-8")), encoding="utf-8")
    for folder in (package / "metrics", *(package / "metrics").iterdir()):  # functions have the names of their folders
        if folder.is_dir():
            (folder / "__init__.py").write_text("")


def fenced(source: str) -> str:
    """Return the source of a module with the examples of its docstrings between fences, to be shown as code."""
    return EXAMPLE.sub(r"\1```pycon\n\g<0>\1```\n\n", source)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Name every unit in the navigation."""
    nav = cast("list[dict[str, Any]]", config.nav)
    units = next(part["Units"] for part in nav if "Units" in part)
    for kind, rows in build_catalogue().items():
        units.append({kind.capitalize(): [{row["name"]: f"units/{kind}/{row['name']}.md"} for row in rows]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for page, (_, text) in pages().items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead the links of a page to pages of the site, or to the repository."""
    here = page.file.src_uri
    source = pages()[here][0] if here in pages() else f"docs/{here}"
    if not source:
        return markdown
    repository = str(config.repo_url).rstrip("/") + "/blob/main/"
    homes = {origin: made for made, (origin, _) in pages().items() if origin}

    def lead(match: re.Match[str]) -> str:
        target = match[2].removeprefix(repository).replace("/raw/main/", "/blob/main/").removeprefix(repository)
        inside = target != match[2]
        if not inside and re.match(r"[a-z]+:|#|/", target):
            return match[0]
        path, _, anchor = target.partition("#")
        path = path if inside else posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        made = homes.get(path) or path.removeprefix("docs/")
        if (path in homes or path.startswith("docs/")) and files.get_file_from_path(made):
            found = posixpath.relpath(made, posixpath.dirname(here) or ".")
        else:
            found = repository + path
        return f"{match[1]}{found}{anchor and '#' + anchor}{match[3]}"

    parts = FENCE.split(markdown)
    return "".join(part if number % 2 else LINK.sub(lead, part) for number, part in enumerate(parts))
