"""The commands, as a person meets them."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import lapsus
from lapsus.cli.main import main


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def commands():
    return main.list_commands(None)


@pytest.mark.parametrize("command", commands())
def test_help_shows_an_example(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"Example:\n    lapsus {command}" in result.output


def test_list_names_every_unit_with_a_summary():
    units = json.loads(run("list", "--json").output)
    assert set(units) == {"datasets", "metrics", "operators", "tasks", "scorers", "text-metrics", "input-methods"}
    for rows in units.values():
        assert all(row["name"] and row["summary"] for row in rows)
        assert rows == sorted(rows, key=lambda row: row["name"])


def test_build_says_what_it_wrote(tmp_path):
    result = run("build", "sample", "--out", tmp_path / "sample")
    assert result.exit_code == 0, result.output
    assert f"configs to {tmp_path / 'sample'}" in result.output


ROWS = """{"id": "a", "text": "花呗怎么不能提额了"}\n{"id": "b", "text": ""}\n"""


def test_perturb_then_score(tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(ROWS, encoding="utf-8")
    words = [
        "perturb",
        "--noise",
        "zh_homophone",
        "--set",
        "rate=1",
        "--text",
        "text",
        "--id",
        "id",
        source,
        target,
    ]
    result = run(*words)
    assert result.output == f"wrote 2 rows to {target}, 1 of them changed; 1 unchanged: the text is empty\n"
    columns = ["predictions=text", "references=clean_text", "empty_reference=skip"]
    result = run(
        "score", "noise_rate", "--predictions", target, *(word for column in columns for word in ("--option", column))
    )
    assert json.loads(result.output)["micro_average"] == pytest.approx(
        4 / 9
    )  # the other five have no homophone of their tone


def test_report_over_files(tmp_path):
    for track, scores in {"clean": (1, 1), "keyboard.1": (1, 0)}.items():
        rows = [{"id": str(number), "score": score} for number, score in enumerate(scores)]
        (tmp_path / f"mine.{track}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = run("report", *sorted(tmp_path.glob("*.jsonl")), "--out", tmp_path / "report")
    assert result.output == f"wrote {tmp_path / 'report' / 'index.html'}\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["build", "sampel", "--out", "x"], "there is no dataset 'sampel'; did you mean sample?"),
        (["build", "sample", "--out", "/"], "exists and is no earlier build of sample; name another --out"),
        (["build", "sample", "--out", "x", "--source", "/nowhere"], "there is no source at /nowhere"),
        (["perturb", "--noise", "zh_hom", "--text", "c", "in.csv", "out.csv"], "there is no operator 'zh_hom'"),
        (
            ["perturb", "--noise", "zh_homophone", "--set", "rat=1", "--text", "c", "in.csv", "out.csv"],
            "no setting of zh_homophone 'rat'; did you mean rate?",
        ),
        (
            ["perturb", "--noise", "zh_homophone", "--set", "rate=often", "--text", "c", "in.csv", "out.csv"],
            "rate is 'often'; write a number such as 0.15",
        ),
        (["perturb", "--noise", "zh_homophone", "--text", "c", "in.csv", "out.csv"], "in.csv"),
        (["score", "noise_rat", "--predictions", "in.csv"], "noise_rate"),
        (
            ["report", "in.csv", "--out", "x", "--where", "speaker=1", "--where", "speaker=2"],
            "'speaker' is given twice, as '1' and '2'; give each name once",
        ),
        (
            [
                "perturb",
                "--noise",
                "zh_homophone",
                "--set",
                "rate=1",
                "--set",
                "rate=0",
                "--text",
                "c",
                "in.csv",
                "x",
            ],
            "'rate' is given twice, as '1' and '0'; give each name once",
        ),
        (["report", "in.csv", "--out", "x", "--where", "=1"], "'=1' is no assignment; write NAME=VALUE"),
        (["report", "in.csv", "--out", "x"], "in.csv"),
    ],
)
def test_a_mistake_costs_one_sentence(words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*words)
    assert result.exit_code == 1
    assert sentence in result.output.splitlines()[-1]
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == []


def test_a_report_as_json_is_its_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for track in ("clean", "k"):
        (tmp_path / f"bert.{track}.jsonl").write_text('{"id": "a", "score": 1}\n{"id": "b", "score": 0}\n')
    words = ["report", "bert.clean.jsonl", "bert.k.jsonl", "--out", "out", "--json"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0 and "wrote out" in result.stderr
    assert json.loads(result.stdout) == json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("value", "coloured"), [("1", False), ("", True)])
def test_no_color_is_heeded(value, coloured):
    result = CliRunner(env={"NO_COLOR": value}).invoke(main, ["list", "metrics"], color=True)
    assert ("\x1b[" in result.stdout) == coloured


def test_a_reader_that_ends_early_is_no_error(tmp_path):
    (tmp_path / "quiet.py").write_text("def answer(rows):\n    return ['a'] * len(rows)\n")
    rows = "".join(f'{{"id": {number}, "text": "rain", "label": "a"}}\n' for number in range(3))
    (tmp_path / "mine.jsonl").write_text(rows)
    run = "run --rows mine.jsonl --text text --gold label --model python:quiet:answer --out out"
    for words in ("list operators", run):
        command = [sys.executable, "-m", "lapsus", *words.split()]
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as made:
            made.stdout.close()
            assert "Broken pipe" not in made.stderr.read()
    assert len(list(tmp_path.glob("out/*/*/*.jsonl"))) == 1


def test_a_broken_pipe_elsewhere_is_an_error(monkeypatch):
    def broken(_kind):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("lapsus.cli.list.select_kinds", broken)
    assert "Broken pipe" in CliRunner().invoke(main, ["list"]).output


def test_debug_shows_the_traceback():
    assert isinstance(run("--debug", "build", "sampel", "--out", "x").exception, LookupError)


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["perturb", "--noise", "speako", "--text", "a", "--id", "a", "--id", "b", "in.csv", "x.csv"], "--id"),
        (["run", "sample-intent", "--seed=0", "--model", "python:a:b", "--out", "o", "--seed", "1"], "--seed"),
        (["report", "in.csv", "--out", "x", "--out", "x"], "--out"),
        (
            ["make", "in.csv", "--text", "a", "--noise", "speako", "--out", "x", "--license", "a", "--license", "b"],
            "--license",
        ),
        (["collect", "paraphrases", "judge", "sheet.csv", "--judge", "ida", "--judge", "ben"], "--judge"),
    ],
)
def test_an_option_that_takes_one_value_is_given_once(words, option):
    result = run(*words)
    assert result.exit_code == 2 and f"Error: {option} takes one value, but is given 2 times" in result.output
    assert f"Usage: main {' '.join(word for word in words[:3] if word.isalpha())}".split()[2] in result.output


def test_the_address_of_a_cluster_needs_its_executor(tmp_path):
    result = run("perturb", "--noise", "speako", "--text", "c", "--ray-address", "auto", "in.csv", str(tmp_path / "x"))
    assert result.exit_code == 2 and "--ray-address names a Ray cluster; add --executor ray" in result.output


def test_a_repeatable_option_and_a_flag_may_be_given_twice(tmp_path):
    (tmp_path / "in.jsonl").write_text(ROWS, encoding="utf-8")
    words = ["--noise", "zh_homophone:2", "--seed", "0", "--seed", "1", "--text", "text", "--overwrite", "--overwrite"]
    assert run("perturb", *words, tmp_path / "in.jsonl", tmp_path / "out.jsonl").exit_code == 0
    assert len(list(tmp_path.glob("out.*"))) == 4


def test_an_unknown_command_is_named_with_its_neighbours():
    result = run("pertrub")
    assert result.exit_code == 2 and "there is no command 'pertrub'; did you mean perturb?" in result.output


def test_a_command_module_imports_lapsus_at_its_top():
    """But for `lapsus tasks`, whose list does not wait for what a task is made of."""
    inside = set()
    for path in (Path(lapsus.__file__).parent / "cli").glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
        imports = (node for function in functions for node in ast.walk(function))
        if any(isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lapsus") for node in imports):
            inside.add(path.stem)
    assert inside == {"tasks"}
