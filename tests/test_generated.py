"""What is generated is fresh."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from generate_texts import TABLES, build_catalogue, render_generated_texts
from paths import ROOT

import lapsus
from lapsus import metrics
from lapsus.hub.metric_space import render_app


def test_generated_texts_are_fresh():
    stale = [path for path, text in render_generated_texts(ROOT).items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run `make generated`"


def test_a_new_metric_is_what_contributing_prints_and_the_rest_is_generated(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    shutil.copytree(ROOT / "metrics", tmp_path / "metrics")
    shutil.copy(ROOT / "README.md", tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "lapsus" / "cli").mkdir(parents=True)
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    section = text.partition("## A metric of lapsus\n")[2].partition("## An operator\n")[0]
    printed = re.findall(r"`(metrics/length_ratio/[\w.]+)`:\n\n```\w+\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert [Path(name).name for name, _ in printed] == ["score.py", "length_ratio.py", "README.md"]
    for name, content in printed:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content, "utf-8")

    monkeypatch.setattr(metrics, "__path__", [str(tmp_path / "metrics")])
    monkeypatch.setattr(metrics, "FOLDER", tmp_path / "metrics")
    for path, text in render_generated_texts(tmp_path).items():
        path.write_text(text, "utf-8")
    written = {path.name: path.read_text("utf-8") for path in (tmp_path / "metrics" / "length_ratio").iterdir()}
    assert "app.py" not in written, "an upload adds it"
    assert "    build_app(length_ratio, LengthRatio.EXAMPLE).launch()\n" in render_app("length_ratio")
    assert written["requirements.txt"].split() == [f"lapsus=={lapsus.__version__}", "datasets", "evaluate"]
    assert "- **references**: what they are measured against.\n" in written["README.md"]
    assert written["README.md"].count("A long wrong answer and a short one") == 1
    functions = (tmp_path / "metrics" / "__init__.py").read_text("utf-8")
    assert "from lapsus.metrics.length_ratio.score import length_ratio\n" in functions
    assert '    "length_ratio",\n' in functions
    assert "[`length_ratio`](https://github.com/lapsus-bench/lapsus/blob/main/metrics/length_ratio/README.md)" in (
        tmp_path / "README.md"
    ).read_text("utf-8")

    import evaluate

    loaded = evaluate.load(str(tmp_path / "metrics" / "length_ratio"))
    assert loaded.compute(predictions=["abc", "d"], references=["ab", "cd"]) == {"length_ratio": 1.0, "examples": 2}
    for name in [name for name in sys.modules if name.startswith("lapsus.metrics.length_ratio")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(metrics, "length_ratio")


def test_the_catalogue_names_the_extras_that_a_unit_needs():
    units = {unit["name"]: unit["needs"] for kind in TABLES for unit in build_catalogue()[kind]}
    assert units["dialect-zh"] == "a download; lapsus[zh]"
    assert units["nature-atis"].endswith("; lapsus[en,papers,augment]")
    assert units["semantic_insert_zh"] == "lapsus[zh]"
    assert units["dialect-en"] == units["dialect-en-demszky"].partition("; ")[2] == units["semantic_insert_pt"] == ""
