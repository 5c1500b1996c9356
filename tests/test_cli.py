"""The commands, as a person meets them."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from lapsus.cli import main


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def commands():
    return sorted(main.commands)


@pytest.mark.parametrize("command", commands())
def test_help_shows_an_example(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"Example:\n    lapsus {command}" in result.output


def test_list_names_every_unit_with_a_summary():
    units = json.loads(run("list", "--json").output)
    assert set(units) == {"datasets", "metrics", "operators"}
    for rows in units.values():
        assert all(row["name"] and row["summary"] for row in rows)
        assert rows == sorted(rows, key=lambda row: row["name"])


def test_build_says_what_it_wrote(tmp_path):
    result = run("build", "sample", "--out", tmp_path / "sample")
    assert result.exit_code == 0, result.output
    assert f"configs to {tmp_path / 'sample'}" in result.output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["build", "sampel", "--out", "x"], "there is no dataset 'sampel'; did you mean sample?"),
        (["build", "sample", "--out", "/"], "exists and was not written by lapsus"),
        (["build", "sample", "--out", "x", "--source", "/nowhere"], "there is no source at /nowhere"),
    ],
)
def test_a_mistake_costs_one_sentence(words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*words)
    assert result.exit_code == 1
    assert sentence in result.output.splitlines()[-1]
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == []


def test_debug_shows_the_traceback():
    assert isinstance(run("--debug", "build", "sampel", "--out", "x").exception, LookupError)
