"""The documentation builds without a warning, and every page of docs/ is in its navigation."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from importlib.util import find_spec

import pytest
from paths import ROOT


def test_every_page_is_in_the_navigation():
    written = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    assert {page for page in written if f"{page}\n" not in nav} == set()


SESSIONS = [
    (page.name, block)
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    if ">>>" in block
]


@pytest.mark.parametrize(("page", "session"), SESSIONS, ids=[page for page, _ in SESSIONS])
def test_a_session_in_the_documentation_prints_what_it_says(page, session):
    told = doctest.DocTestParser().get_doctest(session, {}, page, page, 0)
    assert doctest.DocTestRunner().run(told).failed == 0


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("mkdocs"), reason="mkdocs is not installed")
def test_it_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path]
    told = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=told, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stdout + done.stderr
    assert "How often" in (tmp_path / "units" / "metrics" / "win_rate" / "index.html").read_text(encoding="utf-8")
    assert "perturb_batch" in (tmp_path / "reference" / "perturbations" / "index.html").read_text(encoding="utf-8")
    for page in ("units/datasets/rte", "units/operators/zh_keyboard", "contributing", "errata", "statistics"):
        assert (tmp_path / page / "index.html").exists()
