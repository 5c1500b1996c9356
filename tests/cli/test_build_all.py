"""`lapsus build --all`: what the sources suffice for is built, and what is lacking is said."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from paths import BENCHMARK_FILES

import lapsus.dataset_scripts
from lapsus.cli.main import main

FILES = BENCHMARK_FILES


def build(*words):
    return CliRunner().invoke(main, ["build", *map(str, words)])


def test_what_the_sources_suffice_for_is_built(tmp_path, monkeypatch):
    every = lapsus.dataset_scripts.benchmarks()
    few = {name: every[name] for name in ("noiseqa", "slurp-asr")}
    monkeypatch.setattr(lapsus.dataset_scripts, "benchmarks", lambda: few)
    done = build("--all", "--source", FILES / "noiseqa", "--out", tmp_path / "out", "--allow-partial")
    assert done.exit_code == 0, done.output
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["noiseqa"]
    assert "slurp-asr is not built: " in done.output
    monkeypatch.setattr(lapsus.dataset_scripts, "benchmarks", lambda: {"slurp-asr": every["slurp-asr"]})
    nothing = build("--all", "--source", FILES / "noiseqa", "--out", tmp_path / "none")
    assert nothing.exit_code == 1 and "no dataset has its files in" in nothing.output


def test_files_of_other_datasets_that_are_called_the_same_are_no_obstacle(tmp_path, monkeypatch):
    every = lapsus.dataset_scripts.benchmarks()
    few = {name: every[name] for name in ("disfl-qa", "readin-cspider", "zh-asr-slu")}
    monkeypatch.setattr(lapsus.dataset_scripts, "benchmarks", lambda: few)
    done = build("--all", "--source", FILES, "--out", tmp_path / "out", "--allow-partial")
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(few)
    card = (tmp_path / "out" / "readin-cspider" / "README.md").read_text(encoding="utf-8")
    assert "`cspider/test_clean.json`" in card  # of READIN's folder, not of the public files beside it


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "name one dataset, or give --all"),
        (["rte", "--all"], "name one dataset, or give --all"),
        (["--all"], "--all needs --source"),
        (["--all", "--source", "x", "--push", "org"], "pushes nothing"),
    ],
)
def test_what_does_not_go_together_is_said(words, sentence, tmp_path):
    done = build(*words, "--out", tmp_path / "out")
    assert done.exit_code == 2 and sentence in done.output
