"""Measure the source tree: imports between packages, files and lines of each, and the calls made for one sentence.

    python tools/tree.py

The sentence is the first of READIN's AFQMC in tests/benchmarks_files. Its walk is what is called in this package while
a folder is built from it, and while a report is made of predictions for it: how many functions, in how many modules,
and how often a call goes from one module to another.
"""

from __future__ import annotations

import ast
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import lapsus

ROOT = Path(__file__).parents[1]
FOLDERS = {"lapsus": "", "perturbations": "perturbations", "metrics": "metrics", "dataset_scripts": "dataset_scripts"}


def package_of(module: str) -> str:
    """Return the package of lapsus that a module is in.

    >>> package_of("lapsus.core.messages"), package_of("lapsus")
    ('kernel', 'lapsus')
    """
    return module.split(".")[1] if "." in module else "lapsus"


def modules() -> dict[str, Path]:
    """Return every module of the package by its dotted name."""
    found = {}
    for folder, inside in FOLDERS.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            name = ".".join(part for part in ("lapsus", inside, *parts) if part and part != "__init__")
            found[name] = path
    return found


def sizes(found: dict[str, Path]) -> Counter[tuple[str, str]]:
    """Return the number of files and of lines of each package."""
    counted: Counter[tuple[str, str]] = Counter()
    for name, path in found.items():
        counted[package_of(name), "files"] += 1
        counted[package_of(name), "lines"] += len(path.read_text(encoding="utf-8").splitlines())
    return counted


def edges(found: dict[str, Path]) -> Counter[tuple[str, str]]:
    """Return how many modules of one package import another package, by both names."""
    pairs = set()
    for name, path in found.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.ImportFrom):
                whole = [f"{node.module}.{alias.name}" for alias in node.names]
                names = whole if node.module == "lapsus" else [node.module or ""]
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            pairs |= {(name, package_of(one)) for one in names if one.partition(".")[0] == "lapsus"}
    return Counter((package_of(name), other) for name, other in pairs if package_of(name) != other)


def walk(task: Callable[[str], object]) -> tuple[int, int, int]:
    """Return the functions and modules of lapsus that a task calls, and the calls from one module to another.

    A call counts once for each pair of functions. The task runs twice, the first time to import what it needs.
    """
    task("first")
    called: set[tuple[str, str]] = set()
    switches: set[tuple[str, str, str, str]] = set()

    def seen(frame: FrameType, event: str, _: Any) -> None:
        name = str(frame.f_globals.get("__name__", ""))
        if event != "call" or name.partition(".")[0] != "lapsus":
            return
        called.add((name, frame.f_code.co_qualname))
        caller = frame.f_back
        while caller and str(caller.f_globals.get("__name__", "")).partition(".")[0] != "lapsus":
            caller = caller.f_back
        if caller and caller.f_globals["__name__"] != name:
            switches.add((caller.f_globals["__name__"], caller.f_code.co_qualname, name, frame.f_code.co_qualname))

    sys.setprofile(seen)
    try:
        task("second")
    finally:
        sys.setprofile(None)
    return len(called), len({name for name, _ in called}), len(switches)


def main() -> None:
    """Print the tables that docs/design.md holds."""
    from lapsus.dataset_scripts import benchmarks

    found = modules()
    counted, arrows = sizes(found), edges(found)
    print("| package | files | lines | imports (modules that do) |\n| --- | ---: | ---: | --- |")
    for package in sorted({name for name, _ in counted}):
        into = ", ".join(f"{other} ({n})" for (one, other), n in sorted(arrows.items()) if one == package)
        print(f"| {package} | {counted[package, 'files']} | {counted[package, 'lines']} | {into or '–'} |")

    source = ROOT / "tests" / "benchmarks_files" / "readin"
    with tempfile.TemporaryDirectory() as folder:
        home, readin = Path(folder), benchmarks()["readin-afqmc"]
        build = walk(lambda out: lapsus.build_dataset(readin, home / out, source=source, allow_partial=True))
        from datasets import load_dataset

        for track in ("clean", "keyboard.1"):
            rows = load_dataset(str(home / "second"), track, split="test", cache_dir=folder).select(range(1))
            rows = rows.map(lambda row: {"prediction": row["label"]}).select_columns(["id", "prediction", "label"])
            rows.to_json(home / f"bert.{track}.jsonl")
        files = sorted(home.glob("bert.*.jsonl"))
        report = walk(lambda out: lapsus.report(lapsus.read_tracks(files), home / f"report-{out}"))
    print("\n| walk of one sentence | functions | modules | switches between modules |\n| --- | ---: | ---: | ---: |")
    for name, (functions, homes, switches) in {"build": build, "report": report}.items():
        print(f"| {name} | {functions} | {homes} | {switches} |")


if __name__ == "__main__":
    main()
