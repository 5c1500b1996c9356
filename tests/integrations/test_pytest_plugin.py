"""The plug-in fails, skips and passes in a test run of its own."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import entry_points

import pytest
from paths import ROOT

PLUGIN = "lapsus.integrations.pytest"
TESTS = """
def make_rows(size):
    text = "please play the {} song for my brother in the kitchen"
    return [{"id": str(i), "text": text.format(i), "gold": "ab"[i % 2]} for i in range(size)]

GOLD = {row["text"]: row["gold"] for row in make_rows(300)}

def solid(rows):
    return ["ab"[int(row["id"]) % 2] for row in rows]

def brittle(rows):
    return [GOLD.get(row["text"], "a") for row in rows]

def test_solid(assert_robust):
    assert_robust(solid, make_rows(300), margin=0.05)

def test_brittle(assert_robust):
    assert_robust(brittle, make_rows(300), noise="typed", margin=0.02)

def test_few(assert_robust):
    assert_robust(solid, make_rows(20), margin=0.02)

def test_no_noise(assert_robust):
    assert_robust(solid, make_rows(60), noise="typed=en_keyboard@0.0000001", margin=0.2)

def test_no_margin(assert_robust):
    assert_robust(solid, make_rows(60), margin=0)
"""


@pytest.mark.slow
def test_the_outcomes_of_tests(tmp_path):
    (tmp_path / "test_models.py").write_text(TESTS)
    is_installed = any(point.value == PLUGIN for point in entry_points(group="pytest11"))  # pytest loads it then
    plugin = [] if is_installed else ["-p", PLUGIN]
    words = ["-m", "pytest", *plugin, "-p", "no:cacheprovider", "-rA", "-q", "test_models.py"]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=tmp_path, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith(("PASSED", "FAILED", "SKIPPED"))]
    text = "\n".join(lines)
    assert done.returncode == 1 and len(lines) == 5, done.stdout
    assert "PASSED test_models.py::test_solid" in text
    assert all(f"FAILED test_models.py::{name}" in text for name in ("test_brittle", "test_no_noise", "test_no_margin"))
    assert "inconclusive: rows/solid on typed: a drop of 0.0" in text
    assert "not robust: rows/brittle on typed: a drop of " in done.stdout
    assert "not robust: rows/solid on typed: noise changed no text on typed" in done.stdout
    assert "ValueError: The margin is 0" in done.stdout


def test_a_run_of_pytest_that_does_not_use_it_loads_nothing_heavy():
    code = "import sys, lapsus.integrations.pytest; print({'numpy', 'pyarrow', 'scipy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_entry_point_names_the_module():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"lapsus": "lapsus.integrations.pytest"}
