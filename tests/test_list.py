"""`lapsus list` and the offer of `lapsus run`: what there is, told apart, in 100 columns."""

from __future__ import annotations

import json

import click
import pytest
from click.testing import CliRunner

from lapsus.cli.list import WIDTH, filter_units, format_units, select_kinds
from lapsus.cli.main import main


def shown(*words):
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("words", [("list",), ("list", "tasks"), ("list", "operators"), ("tasks",), ("run",)])
def test_what_is_listed_fits_a_hundred_columns(words):
    assert max(map(len, shown(*words).splitlines())) <= WIDTH


@pytest.mark.parametrize("kind", ["datasets", "metrics", "operators", "tasks"])
def test_descriptions_tell_units_apart(kind):
    rows = select_kinds(kind)[kind]
    summaries = [row["summary"] for row in rows]
    assert sorted(summaries) == sorted(set(summaries)) and all(summaries)
    assert all(row["name"] in "\n".join(format_units(rows)) for row in rows), "nothing is cut"


def test_units_are_found_by_word_and_language():
    names = [row["name"] for row in json.loads(shown("list", "operators", "synonym", "--json"))["operators"]]
    assert names and all(
        "synonym" in row["name"] for row in select_kinds("operators")["operators"] if row["name"] in names[1:]
    )
    chinese = [row["name"] for row in json.loads(shown("list", "operators", "--language", "zh", "--json"))["operators"]]
    assert "zh_keyboard" in chinese and "semantic_delete_zh" in chinese and "speako" not in chinese
    tasks = [row["name"] for row in json.loads(shown("list", "tasks", "--language", "pt", "--json"))["tasks"]]
    assert tasks == ["dialect-pt", "dialect-pt-translation"]
    assert filter_units(select_kinds("metrics")["metrics"], [], "zh") == select_kinds("metrics")["metrics"], (
        "a metric is for any"
    )


def test_what_fits_nothing_is_said_with_the_cure():
    result = CliRunner().invoke(main, ["list", "operators", "qwerty"])
    assert result.exit_code == 1
    assert result.output.strip() == "Error: nothing among the operators fits 'qwerty'; lapsus list operators shows all"


def test_every_option_of_every_command_has_help():
    for name, command in main.commands.items():
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.help, f"lapsus {name} {option.opts[0]}"
