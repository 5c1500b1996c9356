"""Measure the source tree: imports between packages, files and lines of each, and the calls made for one row.

    python tools/tree.py

The walk is that of one row of a user: what is called in this package while `lapsus run` asks a model about it, with
noise, and while `lapsus report` reads the predictions.
"""

from __future__ import annotations

import ast
import inspect
import io
import json
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDERS = {"lapsus": "", "perturbations": "perturbations", "metrics": "metrics", "dataset_scripts": "dataset_scripts"}
ROW = {"id": "1", "question": "will it rain tomorrow", "answer": "weather"}
MODEL = "def answer(rows):\n    return ['weather' if 'rain' in row['question'] else 'music' for row in rows]\n"
WALKS = {
    "run": "run --rows rows.jsonl --text question --gold answer --labels weather,music --noise filler_eos:1 "
    "--model python:model:answer --name model --no-cache --out out",
    "report": "report out/rows/model/clean.jsonl out/rows/model/filler_eos.1.jsonl --out page",
}


def package_of(module: str) -> str:
    """Return the package of lapsus that a module is in.

    >>> package_of("lapsus.core.messages"), package_of("lapsus")
    ('core', 'lapsus')
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


def walk(task: Callable[[], object]) -> tuple[int, int, int, int]:
    """Return what a task passes: functions and modules of lapsus, pairs of modules, and pairs of functions across them.

    A pair is a caller and what it calls, through other packages too; each counts once. The task runs twice, the first
    time to import what it needs.
    """
    task()
    called: set[tuple[str, str]] = set()
    steps: set[tuple[tuple[str, str], tuple[str, str]]] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        function = function_of(frame)
        if event != "call" or function is None:
            return
        called.add(function)
        caller, above = None, frame.f_back
        while above is not None and caller is None:
            caller, above = function_of(above), above.f_back
        if caller and caller[0] != function[0]:
            steps.add((caller, function))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        task()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    edges = {(caller[0], function[0]) for caller, function in steps}
    return len(called), len({name for name, _ in called}), len(edges), len(steps)


def function_of(frame: FrameType) -> tuple[str, str] | None:
    """Return module and name of the function of lapsus that a frame runs; None of a class body or a comprehension."""
    name, code = str(frame.f_globals.get("__name__", "")), frame.f_code
    is_function = bool(code.co_flags & inspect.CO_NEWLOCALS) and not code.co_filename.startswith("<")
    if name.partition(".")[0] != "lapsus" or not is_function or code.co_name.startswith(("<module", "<list", "<gen")):
        return None
    return name, code.co_qualname


def main() -> None:
    """Print the tables."""
    from lapsus.cli.main import main as lapsus_command

    found = modules()
    counted, arrows = sizes(found), edges(found)
    print("| package | files | lines | imports (modules that do) |\n| --- | ---: | ---: | --- |")
    for package in sorted({name for name, _ in counted}):
        into = ", ".join(f"{other} ({n})" for (one, other), n in sorted(arrows.items()) if one == package)
        print(f"| {package} | {counted[package, 'files']} | {counted[package, 'lines']} | {into or '–'} |")

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.path.insert(0, folder)
        Path("model.py").write_text(MODEL, encoding="utf-8")
        Path("rows.jsonl").write_text(json.dumps(ROW) + "\n", encoding="utf-8")
        lines = []
        for name, words in WALKS.items():
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                numbers = walk(partial(lapsus_command, words.split(), standalone_mode=False))
            lines.append(f"| {name} | {' | '.join(map(str, numbers))} |")
    print("\n| walk of one row | functions | modules | pairs of modules | pairs of functions |")
    print("| --- | ---: | ---: | ---: | ---: |", *lines, sep="\n")


if __name__ == "__main__":
    main()
