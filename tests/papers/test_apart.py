"""`lapsus.papers` stands apart: the rest of lapsus neither imports it nor needs what its extra installs."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import textwrap
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from paths import ROOT

FOLDERS = ("lapsus", "perturbations", "metrics", "dataset_scripts", "hub_cards")
GROUPS = ("lapsus.commands", "lapsus.selectors", "lapsus.text_metrics")
EXTRA = ("torch", "transformers", "tokenizers", "safetensors", "pywubi", "wordllama")
# Modules of the core that need another extra at import: they are adapters of that package.
ADAPTERS = tuple(
    f"lapsus.integrations.{name}" for name in ("inspect", "inspect_users", "trainer", "metric_app", "pytest")
)
CORE = [
    path
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.py"))
    if not path.is_relative_to(ROOT / "lapsus" / "papers")
]
HIDE = f"""
import sys
from importlib.machinery import PathFinder
find_spec = PathFinder.find_spec
def find_no_hidden(name, path=None, target=None):
    is_hidden = name.partition(".")[0] in {EXTRA} or f"{{name}}.".startswith(hidden)
    return None if is_hidden else find_spec(name, path, target)
PathFinder.find_spec = staticmethod(find_no_hidden)
"""


def mentions(source: str) -> list[int]:
    """Return the lines that import lapsus.papers, or name it or a file of it in a string that is no docstring."""
    tree = ast.parse(source)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            names = [node.value]
        else:
            continue
        lines += [node.lineno for name in names if re.search(r"(?:lapsus|^)\.+papers\b|lapsus/papers", name)]
    return lines


def run(program: str, hidden: tuple[str, ...], folder: Path) -> str:
    program = f"hidden = {hidden!r}\n{HIDE}\n{textwrap.dedent(program)}"
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "line",
    [
        "from lapsus.papers import slu",
        "import lapsus.papers.slu as x",
        "def f():\n    from lapsus.papers.nano import Nano",
        "from lapsus import papers",
        "from . import papers",
        "from ..papers.slu import train",
        "x = import_module('lapsus.papers.slu')",
        "path = 'lapsus/papers/slu.py'",
    ],
)
def test_a_planted_import_is_found(line):
    assert mentions(f'"""Text."""\n{line}\n')


def test_docstrings_may_name_papers():
    assert mentions('"""See lapsus.papers."""\ndef f():\n    """As lapsus.papers.slu."""\n') == []


def test_the_core_does_not_import_papers():
    assert len(CORE) > 200
    assert [f"{path}:{line}" for path in CORE for line in mentions(path.read_text("utf-8"))] == []


def test_the_core_works_without_papers_and_without_its_extras(tmp_path):
    names = [
        ".".join(
            (
                "lapsus",
                *path.relative_to(ROOT if path.parts[len(ROOT.parts)] != "lapsus" else ROOT / "lapsus")
                .with_suffix("")
                .parts,
            )
        )
        for path in CORE
        if path.name not in {"__init__.py", "__main__.py", "app.py"}
    ]
    program = f"""
    from importlib import import_module
    import warnings
    for name in {[name for name in names if name not in ADAPTERS]}:
        import_module(name)
    from click.testing import CliRunner
    from lapsus.cli.main import main
    from lapsus.dataset_scripts import benchmarks
    from lapsus.evaluation.text_metrics import open_metric
    from lapsus.perturbations import OPERATORS, apply, perturb

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert open_metric("chrf").score(["a tram"], ["a tram"]) == [100.0]
    assert any("lapsus" in str(each.message) for each in caught), "the plugin was left out with a warning"
    text = "花呗怎么申请分期服款"
    assert apply(text, perturb(OPERATORS["zh_correct"], text)) == "花呗怎么申请分期付款"
    assert "hard" in benchmarks()["nature-atis"].ROWS
    for words in (["list"], ["build", "sample", "--out", "sample"]):
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.output
    assert not any(name.startswith("lapsus.papers") or name.partition(".")[0] in {EXTRA} for name in sys.modules)
    """
    run(program, ("lapsus.papers.",), tmp_path)
    assert (tmp_path / "sample" / "README.md").is_file()


def test_what_papers_add_is_found_by_entry_points_without_the_extra(tmp_path):
    program = """
    from click.testing import CliRunner
    from lapsus.cli.main import main
    from lapsus.dataset_scripts.nature import find_selector_trainer
    from lapsus.evaluation.text_metrics import load_metric_providers

    assert {"metricx", "nano"} <= {*load_metric_providers()}
    assert "train-corrector" in CliRunner().invoke(main, ["--help"]).output
    for ask in (lambda: load_metric_providers()["nano"].open("folder"), lambda: find_selector_trainer().version):
        try:
            ask()
        except ModuleNotFoundError as error:
            print(error)
    with open("texts.txt", "w", encoding="utf-8") as file:
        file.write("花呗怎么还款")
    print(CliRunner().invoke(main, ["train-corrector", "texts.txt", "--out", "corrector"]).output)
    """
    output = run(program, (), tmp_path)
    assert output.count('install it with: pip install "lapsus[papers]"') == 3, output


def test_the_entry_points_are_those_of_the_project():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for group in GROUPS:
        (point,) = (each for each in entry_points(group=group) if each.value.startswith("lapsus.papers."))
        assert declared["entry-points"][group] == {point.name: point.value}
        assert point.load().UNITS
    assert any(name.startswith("pywubi") for name in declared["optional-dependencies"]["papers"])
    others = [name for extra, names in declared["optional-dependencies"].items() if extra != "papers" for name in names]
    assert not any(name.startswith("pywubi") or "papers" in name for name in others)
