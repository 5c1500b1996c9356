"""A package of somebody else: its operator, metric and benchmark are found beside ours; a broken one only warns."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

PROJECT = """
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "1.2"

[project.entry-points."lapsus.operators"]
{name} = "{name}.operators"
[project.entry-points."lapsus.metrics"]
{name} = "{name}.metrics"
[project.entry-points."lapsus.benchmarks"]
{name} = "{name}.benchmarks"

[tool.setuptools]
packages = ["{name}"]
"""
OPERATORS = '''
from dataclasses import dataclass

from lapsus.perturbations import Edit


@dataclass(frozen=True, slots=True)
class Hush:
    """End with dots."""

    dots: int = 3
    name: str = "hush"
    version: str = "1"

    def edits(self, text, rng):
        return (Edit(len(text), len(text), "." * self.dots),)


UNITS = (Hush(),)
'''
METRICS = '''
def dot_rate(predictions: "Iterable[str]", references: "Iterable[str]"):
    """Return how many predictions end with a dot where the reference does not."""
    pairs = list(zip(predictions, references, strict=True))
    return {"dot_rate": sum(new.endswith(".") and not old.endswith(".") for new, old in pairs) / len(pairs)}


UNITS = (dot_rate,)
'''
BENCHMARKS = '''
from datasets import Features, Value

from lapsus.dataset_scripts import Benchmark


class Hushes(Benchmark):
    """Two sentences."""

    NAME = "hushes"
    TITLE = "Two sentences"
    LANGUAGES = ("en",)
    LICENSE = "cc0-1.0"
    WHERE = "the next room"
    ROWS = {"clean": {"test": 2}}

    def columns(self, config):
        return Features({"id": Value("string"), "text": Value("string")})

    def rows(self, source, config, split):
        for number, line in enumerate(source.read_lines("lines.txt")):
            yield {"id": str(number), "text": line}


UNITS = (Hushes,)
'''


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build and install two packages, one of which cannot be imported, and return where they are."""
    folder = tmp_path_factory.mktemp("foreign")
    modules = {"operators": OPERATORS, "metrics": METRICS, "benchmarks": BENCHMARKS}
    for name, contents in {
        "hushpack": modules,
        "brokenpack": dict.fromkeys(modules, "import nowhere_at_all\n"),
    }.items():
        (folder / name / name).mkdir(parents=True)
        (folder / name / "pyproject.toml").write_text(PROJECT.format(name=name), encoding="utf-8")
        for module, content in {"__init__": "", **contents}.items():
            (folder / name / name / f"{module}.py").write_text(content, encoding="utf-8")
    command = [
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--no-build-isolation",
        "--disable-pip-version-check",
        "--target",
    ]
    packages = [str(folder / name) for name in ("hushpack", "brokenpack")]
    subprocess.run([sys.executable, "-m", "pip", *command, str(folder / "site"), *packages], check=True)
    return folder / "site"


def run(site, *arguments, cwd=None):
    """Run Python with the packages, and return what it prints and what it warns of."""
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))}
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_every_kind_of_unit_is_listed_and_the_broken_package_is_told(site):
    listed, warned = run(site, "-m", "lapsus", "list", "--json")
    units = {kind: {row["name"]: row["summary"] for row in rows} for kind, rows in json.loads(listed).items()}
    assert units["operators"]["hush"] == "End with dots"
    assert units["metrics"]["dot_rate"].startswith("Return how many predictions end with a dot")
    assert units["datasets"]["hushes"] == "Two sentences"
    assert {"zh_keyboard", "speako"} <= units["operators"].keys()
    told = "the units of brokenpack 1.2 are left out (ModuleNotFoundError: No module named 'nowhere_at_all')"
    assert told in warned
    assert "Traceback" not in warned


def test_perturb_score_and_build_find_them(site, tmp_path):
    rows = [{"id": str(number), "text": text} for number, text in enumerate(["go home", "stay."])]
    (tmp_path / "in.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    (tmp_path / "lines.txt").write_text("go home\nstay\n", encoding="utf-8")
    perturb = "perturb --noise hush --set dots=2 --text text --id id in.jsonl out.jsonl"
    run(site, "-m", "lapsus", *perturb.split(), cwd=tmp_path)
    noisy = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["text"] for row in noisy] == ["go home..", "stay..."]
    assert noisy[0]["operator"] == "Hush(dots=2, name='hush', version='1') seed=0"
    scored, _ = run(site, "-m", "lapsus", *["score", "dot_rate", "--predictions", "out.jsonl"], cwd=tmp_path)
    assert json.loads(scored)["dot_rate"] == 0.5
    built, _ = run(site, "-m", "lapsus", *["build", "hushes", "--source", ".", "--out", "built"], cwd=tmp_path)
    assert built.startswith("wrote 2 rows in 1 config to")


def test_the_laws_run_over_the_operator_with_one_call(site):
    code = "from lapsus.perturbations import OPERATORS; from lapsus.perturbations.laws import check"
    run(site, "-c", f"{code}; check(OPERATORS['hush'])")
