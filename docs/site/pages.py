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

from lapsus.cli.catalogue import list_units
from lapsus.dataset_scripts import benchmarks
from lapsus.hub.build import BuildResult
from lapsus.hub.dataset_card import format_table, render_card

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

    from lapsus.dataset_scripts import Benchmark

ROOT = Path(__file__).parents[2]
ROOT_PAGES = {
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


def list_kinds() -> dict[str, list[dict[str, str]]]:
    """Return the units that have pages, by kind."""
    return {kind: list_units(kind) for kind in ("datasets", "metrics", "operators")}


@cache
def build_pages() -> dict[str, tuple[str, str]]:
    """Return the generated pages: their path in the site, the file of the repository they come from, and their text."""
    pages = {page: (source, (ROOT / source).read_text(encoding="utf-8")) for source, page in ROOT_PAGES.items()}
    units = list_kinds()
    for row in units["datasets"]:
        source = f"hub_cards/{row['name']}.md"
        pages[f"units/datasets/{row['name']}.md"] = (source, render_dataset_page(benchmarks()[row["name"]]))
    for row in units["metrics"]:
        source = f"metrics/{row['name']}/README.md"
        pages[f"units/metrics/{row['name']}.md"] = (
            source,
            FRONT_MATTER.sub("", (ROOT / source).read_text(encoding="utf-8")),
        )
    for row in units["operators"]:
        pages[f"units/operators/{row['name']}.md"] = ("", render_operator_page(row))
    pages |= {f"reference/{name.rpartition('.')[2]}.md": ("", render_reference(name)) for name in PUBLIC}
    return pages | {"units/index.md": ("", render_index(units))}


def list_members(package: str) -> list[Any]:
    """Return the public classes and functions of a package."""
    module = import_module(package)
    members = (getattr(module, name) for name in module.__all__)
    return [member for member in members if hasattr(member, "__qualname__")]


def render_reference(package: str) -> str:
    """Return the page of a package: its public classes and functions, but for those on the page of an earlier one."""
    module = import_module(package)
    members = list_members(package)
    earlier = {id(member) for name in PUBLIC[: PUBLIC.index(package)] for member in list_members(name)}
    entries = [f"::: {member.__module__}.{member.__qualname__}\n" for member in members if id(member) not in earlier]
    return "\n".join([f"# `{package}`\n", f"{(module.__doc__ or '').partition(chr(10))[0]}\n", *entries])


def render_dataset_page(benchmark: type[Benchmark]) -> str:
    """Return the card of a complete dataset."""
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


def render_operator_page(row: dict[str, str]) -> str:
    """Return what an operator does, what it needs, and the documentation of its class."""
    from lapsus.perturbations import OPERATORS

    kind = type(OPERATORS[row["name"]])
    needs = f"It needs `pip install '{row['needs']}'`.\n\n" if row["needs"] else ""
    use = f"```console\n$ lapsus perturb --noise {row['name']} --text text --id id in.jsonl out.jsonl\n```"
    return f"# {row['name']}\n\n{row['summary']}.\n\n{needs}{use}\n\n::: {kind.__module__}.{kind.__qualname__}\n"


def render_index(units: dict[str, list[dict[str, str]]]) -> str:
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
            target.write_text(fence_examples(path.read_text(encoding="utf-8")), encoding="utf-8")
    for folder in (package / "metrics", *(package / "metrics").iterdir()):  # functions have the names of their folders
        if folder.is_dir():
            (folder / "__init__.py").write_text("")


def fence_examples(source: str) -> str:
    """Return the source of a module with the examples of its docstrings between fences, to be shown as code."""
    return EXAMPLE.sub(r"\1```pycon\n\g<0>\1```\n\n", source)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Name every unit in the navigation."""
    nav = cast("list[dict[str, Any]]", config.nav)
    units = next(part["Units"] for part in nav if "Units" in part)
    for kind, rows in list_kinds().items():
        units.append({kind.capitalize(): [{row["name"]: f"units/{kind}/{row['name']}.md"} for row in rows]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for page, (_, text) in build_pages().items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point the links of a page to pages of the site, or to the repository."""
    here = page.file.src_uri
    source = build_pages()[here][0] if here in build_pages() else f"docs/{here}"
    if not source:
        return markdown
    repository = str(config.repo_url).rstrip("/") + "/blob/main/"
    page_by_source = {origin: path for path, (origin, _) in build_pages().items() if origin}

    def replace_link(match: re.Match[str]) -> str:
        target = match[2].removeprefix(repository).replace("/raw/main/", "/blob/main/").removeprefix(repository)
        is_in_repository = target != match[2]
        if not is_in_repository and re.match(r"[a-z]+:|#|/", target):
            return match[0]
        path, _, anchor = target.partition("#")
        path = path if is_in_repository else posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        site_page = page_by_source.get(path) or path.removeprefix("docs/")
        if (path in page_by_source or path.startswith("docs/")) and files.get_file_from_path(site_page):
            link = posixpath.relpath(site_page, posixpath.dirname(here) or ".")
        else:
            link = repository + path
        return f"{match[1]}{link}{anchor and '#' + anchor}{match[3]}"

    parts = FENCE.split(markdown)
    return "".join(part if number % 2 else LINK.sub(replace_link, part) for number, part in enumerate(parts))
