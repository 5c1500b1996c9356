"""`lapsus list` and the offer of `lapsus run`: what there is, told apart, in 100 columns."""

from __future__ import annotations

import json
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from lapsus.cli.catalogue import WIDTH, filter_units, format_units
from lapsus.cli.list import select_kinds
from lapsus.cli.main import main


def shown(*words):
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("words", [("list",), ("list", "tasks"), ("list", "operators"), ("tasks",), ("run",)])
def test_what_is_listed_fits_a_hundred_columns(words):
    assert max(map(len, shown(*words).splitlines())) <= WIDTH


@pytest.mark.parametrize("kind", ["datasets", "metrics", "operators", "scorers", "tasks", "text-metrics"])
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
    assert result.output.strip() == "Error: no match for 'qwerty' among the operators; lapsus list operators lists all"


def every_command(group=main, words="lapsus"):
    """Yield the words and the command of everything that can be called."""
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if isinstance(command, click.Group):
            yield from every_command(command, f"{words} {name}")
        yield f"{words} {name}", command


@pytest.mark.parametrize(("words", "command"), list(every_command()))
def test_help_has_an_example_and_fits_80_columns(words, command):
    help_text = CliRunner().invoke(main, [*words.split()[1:], "--help"], terminal_width=80).output
    example = help_text.partition("Example:\n")[2]
    assert example.startswith(f"    {words} ") and max(map(len, help_text.splitlines())) <= 80
    assert command.get_short_help_str(1000) and (command.help or "").partition("\n\n")[0].count("\n") == 0


def test_the_help_of_a_group_has_the_whole_summary_of_every_command():
    for words, command in every_command():
        group, _, name = words.removeprefix("lapsus ").rpartition(" ")
        help_text = CliRunner().invoke(main, [*group.split(), "--help"], terminal_width=80).output
        assert f"{name} {command.get_short_help_str(1000)}" in " ".join(help_text.split())


def test_every_option_of_every_command_has_help():
    for words, command in every_command():
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.help, f"{words} {option.opts[0]}"


@pytest.mark.parametrize("words", [["--help"], ["list"], ["tasks"]])
def test_what_is_listed_is_not_imported(words):
    program = (
        "import sys\nfrom click.testing import CliRunner\nfrom lapsus.cli.main import main\n"
        f"assert CliRunner().invoke(main, {words}).exit_code == 0\n"
        "print(sorted({'datasets', 'evaluate', 'matplotlib', 'pandas', 'pyarrow', 'scipy', 'torch'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
