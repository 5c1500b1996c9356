"""`lapsus check`: its commands do the same in single steps, it asks nothing before its plan, and mistakes are sentences."""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from pathlib import Path

import click
import jsonschema
import pytest
from click.testing import CliRunner

import lapsus
from lapsus.cli.check import check, list_check_keys
from lapsus.cli.main import main
from lapsus.cli.settings import build_settings_schema, read_settings
from lapsus.evaluation.tasks import make_task

TEXTS = ["Will it rain tomorrow in London?", "play a song by the beatles", "What is the weather in Rome", "put on jazz"]
MODEL = """
CALLS = []
def answer(rows):
    CALLS.append(len(rows))
    return ["weather" if "rain" in row["q"] or "weather" in row["q"] else "music" for row in rows]
def fail(rows):
    return [1 / 0]
"""


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def write(path, head, rows, **settings):
    path.write_text("\n".join([head, *rows]) + "\n", **({"encoding": "utf-8"} | settings))
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quiz.py").write_text(MODEL)
    rows = [f"{n};{TEXTS[n % 4]};{['weather', 'music'][n % 2]}" for n in range(16)]
    write(tmp_path / "mine.csv", "id;q;a", rows, encoding="utf-8-sig", newline="\r\n")  # as a spreadsheet saves it
    yield tmp_path
    sys.modules.pop("quiz", None)


WORDS = ("check", "mine.csv", "--model", "python:quiz:answer", "--text", "q", "--gold", "a")


def list_files(folder):
    kept = (path for path in folder.rglob("*") if path.is_file() and path.suffix in {".jsonl", ".json", ".csv"})
    return {str(path.relative_to(folder)): path.read_bytes() for path in kept}


def expand(words):
    return [str(path) for word in words for path in (sorted(Path().glob(word)) if "*" in word else [word])]


@pytest.mark.parametrize(
    "options",
    [
        [
            "--noise",
            "typed",
            "--noise",
            "filler_eos:2",
            "--seed",
            "3",
            "--limit",
            "9",
            "--protect",
            "regex:London",
            "--margin",
            "4.5",
            "--repeats",
            "2",
        ],
        [],
    ],
)
def test_the_printed_commands_do_the_same(folder, options):
    done = run(*WORDS, *(options or ["--noise", "fillers", "--score", "contains", "--name", "mine"]))
    assert done.exit_code == 0, done.output
    commands = [
        shlex.split(line) for line in done.output.splitlines() if line.startswith(("lapsus run", "lapsus report"))
    ]
    assert [words[1] for words in commands] == ["run", "report"]
    first = list_files(folder / "check")
    assert len(first) > 8
    (folder / "check").rename(folder / "before")
    for words in commands:
        step = run(*expand(words[1:]))
        assert step.exit_code == 0, step.output
    assert list_files(folder / "check") == first


def test_a_function_and_rows_in_memory(folder):
    rows = [{"id": str(n), "q": TEXTS[n % 4], "a": ["weather", "music"][n % 2]} for n in range(12)]

    def model(rows):
        return ["weather" if "rain" in row["q"] or "weather" in row["q"] else "music" for row in rows]

    lines = []
    page = lapsus.check(rows, model, text="q", gold="a", noise=["fillers"], out="one", echo=lines.append)
    calls = "\n".join(line.strip() for line in lines if line.startswith("  ") and "lapsus." in line)
    exec(calls.replace("'one", "'two"), {"lapsus": lapsus, "rows": rows, "model": model})  # noqa: S102 - what it prints
    numbers = [json.loads((folder / name / "report" / "report.json").read_text()) for name in ("one", "two")]
    assert numbers[0]["summary"] == numbers[1]["summary"]
    assert page.numbers.summary[0].averages.micro_average.value == 1
    assert list_files(folder / "one" / "rows") == list_files(folder / "two" / "rows")


def test_nothing_is_asked_before_the_plan(folder):
    import quiz

    done = run(*WORDS, "--noise", "fillers", "--dry-run", "--price", "1,2")
    assert quiz.CALLS == []
    assert not (folder / "check").exists()
    assert "fillers: 3 draws, filler_eos 2; 100 % of the texts change" in done.output
    assert done.output.count("\n  > ") == 3
    assert re.search(r"\n64 rows, (\d+) distinct requests, \1 not cached\n", done.output)
    assert "16 examples show only drops from about" in done.output


@pytest.mark.parametrize(
    ("rows", "words", "sentence"),
    [
        (["1,a b,x", "1,c d,y"], [], "has the id '1' a second time"),
        (["1,will it rain,x", "2,will it rain,x"], [], "every gold answer in 'a' is 'x'"),
        (["1,5,x", "2,7.5,y"], [], "the column 'q' holds numbers ('5')"),
        (["1,какая завтра погода,x", "2,включи песню,y"], [], "unknown (100 % of their letters are Cyrillic"),
        (["1,wird es morgen regnen,x", "2,spiele ein Lied,y"], [], "name it with --language"),
        (["1,wird es regnen,x", "2,spiele ein Lied,y"], ["--language", "de"], "no preset is for German"),
        (["1,will it rain,x", "2,play a song,y"], ["--noise", "reworded"], "reworded needs a model that rewrites"),
        (["1,will it rain,x", "2,play a song,y"], ["--margin", "0"], "--margin is 0"),
        (["1,will it rain,x", "2,play a song,y"], ["--noise", "typd"], "did you mean typed?"),
        (["1,花呗怎么提额,x", "2,借呗可以还款吗,y"], ["--noise", "fillers"], "take typed or dictated"),
        (["1,will it rain,x", "2,play a song,"], [], "has no gold answer in 'a'"),
        (["1,will it rain,x", "2,play a song,y"], ["--gold", "aa"], "there is no column 'aa'; did you mean a?"),
        (["1,will it rain,x", "2,play a song,y"], ["--model", "python:nothing:answer"], "there is no module 'nothing'"),
        (
            ["1,will it rain,x", "2,play a song,y"],
            ["--model", "python:quiz:fail"],
            "quiz.fail raised ZeroDivisionError",
        ),
    ],
)
def test_a_mistake_costs_one_sentence(folder, rows, words, sentence):
    import quiz

    write(folder / "own.csv", "id,q,a", rows)
    given = {"--model": "python:quiz:answer", "--text": "q", "--gold": "a"}
    given |= dict(zip(words[::2], words[1::2], strict=True))
    done = run("check", "own.csv", *(word for pair in given.items() for word in pair))
    assert done.exit_code == 1
    assert sentence in done.output.splitlines()[-1]
    assert "Traceback" not in done.output
    assert quiz.CALLS == []


@pytest.mark.parametrize(
    ("golds", "summary"),
    [
        (["weather", "music"], "2 labels, in 'a': music, weather"),
        (["12", "30", "7", "9.5", "1", "44", "2", "8"], "numbers, in 'a'"),
        (["Paris", "Rome", "Oslo", "Bern", "Riga", "Kyiv", "Lima", "Cairo"], "(--score contains)"),
        ([f"The train number {n} to the north is late" for n in range(8)], "(--score f1)"),
    ],
)
def test_answers_are_scored_as_they_look(folder, golds, summary):
    rows = [{"id": str(n), "q": TEXTS[n % 4], "a": golds[n % len(golds)]} for n in range(8)]
    (folder / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run(*[word.replace("mine.csv", "own.jsonl") for word in WORDS], "--noise", "fillers", "--dry-run")
    assert summary in done.output.splitlines()[1], done.output


def test_several_gold_answers_and_none(folder):
    rows = [{"id": str(n), "q": TEXTS[n % 4], "a": [f"city {n}", f"town {n}"]} for n in range(8)]
    (folder / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ("check", "own.jsonl", "--model", "python:quiz:answer", "--text", "q", "--noise", "fillers", "--dry-run")
    done = run(*words, "--gold", "a")
    assert "--answers a --score contains --score f1" in done.output, done.output
    assert "--gold" not in done.output.splitlines()[-1]
    assert "--score consistency --repeats 3" in run(*words).output


@pytest.mark.usefixtures("folder")
def test_labels_and_scorers_of_the_user_stay():
    done = run(*WORDS, "--noise", "fillers", "--dry-run", "--labels", "weather,music", "--score", "choice")
    assert "--labels weather,music" in done.output and "--score choice" in done.output
    assert "leave one out" in run(*WORDS, "--answers", "a").output


def test_the_language_of_messages_is_that_of_the_user(folder):
    rows = [{"id": n, "q": json.dumps([{"role": "user", "content": "花呗怎么提额"}])} for n in range(3)]
    (folder / "chat.csv").write_text(
        "id,q\n" + "".join(f'{row["id"]},"{row["q"].replace(chr(34), chr(34) * 2)}"\n' for row in rows)
    )
    done = run("check", "chat.csv", "--model", "python:quiz:answer", "--text", "q", "--dry-run", "--noise", "typed")
    assert "typed=zh_keyboard:3" in done.output, done.output


@pytest.mark.usefixtures("folder")
def test_labels_keep_the_order_of_the_data():
    from datasets import ClassLabel, Dataset, Features, Value

    features = Features({"id": Value("string"), "q": Value("string"), "a": ClassLabel(names=["weather", "music"])})
    rows = {"id": [str(n) for n in range(8)], "q": TEXTS * 2, "a": [0, 1] * 4}
    data = Dataset.from_dict(rows, features=features)

    def model(rows):  # answers with the number of the class
        return [0 if "rain" in row["q"] or "weather" in row["q"] else 1 for row in rows]

    page = lapsus.check(data, model, text="q", gold="a", noise=["fillers"], out="named", echo=lambda _: None)
    assert page.numbers.summary[0].averages.micro_average.value == 1


@pytest.mark.parametrize(
    ("rows", "options", "sentence"),
    [
        (["play a song"], {}, "the rows are \\['play a song'\\]; give a list of dicts"),
        ({"q": TEXTS}, {}, "give a list of dicts"),
        (None, {}, "the rows are None"),
        ([], {}, "holds no rows"),
        ([{"q": "play a song", "a": "x"}], {"limit": 0}, "limit is 0"),
        ([{"q": "play a song", "a": "x"}], {"bogus": 1}, "no option 'bogus'"),
        ([{"q": "play a song", "a": {"b": 1}}], {}, "add --score json"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_mistake_in_python_is_one_sentence(rows, options, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        lapsus.check(rows, len, text="q", gold="a", noise="fillers", echo=lambda _: None, **options)


@pytest.mark.usefixtures("folder")
def test_the_page_opens_only_where_somebody_looks(monkeypatch):
    pages = []
    monkeypatch.setattr("webbrowser.open", pages.append)
    words = (*WORDS, "--noise", "fillers", "--limit", "2")
    run(*words)
    monkeypatch.setattr("lapsus.cli.check.is_interactive", lambda: True)
    run(*words, "--no-open")
    assert pages == []
    assert run(*words).exit_code == 0
    assert pages == [Path("check/report/index.html").absolute().as_uri()]


@pytest.mark.usefixtures("folder")
def test_two_models_are_two_runs_and_one_page():
    (Path("quiz.py")).write_text(MODEL + "def music(rows):\n    return ['music'] * len(rows)\n")
    done = run(*WORDS, "--model", "python:quiz:music", "--noise", "fillers")
    assert done.exit_code == 0, done.output
    assert sum(line.startswith("lapsus run") for line in done.output.splitlines()) == 2
    summary = json.loads(Path("check/report/report.json").read_text())["summary"]
    assert re.search(r"\nquiz.answer, fillers: undecided.*; a drop of 0.0 points \[.*\]\n", done.output)
    assert re.search(r"\nquiz.music, fillers: \w+", done.output)
    assert {row["model"] for row in summary} == {"quiz.answer", "quiz.music"}
    assert "two models are called 'quiz.answer'" in run(*WORDS, "--model", "python:quiz:answer").output


# Settings as a file.


def test_a_file_does_what_its_command_line_does(folder):
    options = (
        "--noise",
        "fillers",
        "--limit",
        "8",
        "--max-failures",
        "0.2",
        "--price",
        "0.5",
        "--margin",
        "3.5",
        "--dry-run",
    )
    saved = run(*WORDS, *options, "--save", "lapsus.toml")
    assert saved.exit_code == 0, saved.output
    again = run("check", "--dry-run")
    assert [line for line in again.output.splitlines() if line != "settings: lapsus.toml"] == [
        line for line in saved.output.splitlines() if not line.startswith("saved")
    ]
    assert "--limit 8 --max-failures 0.2 --noise fillers=filler_eos:3" in again.output
    assert "--limit 4" in run("check", "--limit", "4", "--dry-run").output
    table = (folder / "lapsus.toml").read_text()
    assert "margin = 3.5\n" in table
    (folder / "pyproject.toml").write_text(f"[project]\nname = 'mine'\n[tool.lapsus]\n{table}")
    (folder / "lapsus.toml").rename(folder / "night.toml")
    for words in (["check", "--dry-run"], ["check", "night.toml", "--dry-run"]):
        assert run(*words).output.splitlines()[1:] == again.output.splitlines()[1:]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('modell = "a"', "there is no key 'modell'; did you mean model?"),
        ('limit = "12"', "limit is '12'; give an integer"),
        ("limit = true", "limit is True; give an integer"),
        ("text = [1]", "text is 1; give a string"),
        ("limit = 0", "0 is not in the range"),
        ('rows = "a', "is no TOML"),
    ],
)
def test_a_wrong_file_costs_one_sentence(folder, text, sentence):
    (folder / "lapsus.toml").write_text(text)
    done = run("check")
    assert done.exit_code in {1, 2} and sentence in done.output.splitlines()[-1]
    assert run("check", "--help").exit_code == 0


def test_every_option_of_a_check_is_a_key_of_a_file():
    names = {
        max(option.opts, key=len).removeprefix("--") for option in check.params if isinstance(option, click.Option)
    }
    assert {*list_check_keys()} == names - {"dry-run", "save", "no-open"} | {"rows"}


EXAMPLES = {"string": ("a", 1), "integer": (3, 0.5), "number": (0.5, "a"), "boolean": (True, 1)}


@pytest.mark.parametrize("name", list_check_keys())
def test_schema_and_reader_agree(name, tmp_path):
    keys = list_check_keys()
    schema, (good, bad) = build_settings_schema(keys), EXAMPLES[keys[name].type]
    good = keys[name].choices[0] if keys[name].choices else good
    path = tmp_path / "lapsus.toml"
    for value in (good, [good], bad, [bad]):
        path.write_text(f"{name} = {json.dumps(value)}\n")
        try:
            read_settings(path, keys)
            is_read = True
        except ValueError:
            is_read = False
        assert is_read == jsonschema.Draft7Validator(schema).is_valid(tomllib.loads(path.read_text())), value


def test_the_documentation_shows_a_file_that_works(tmp_path):
    from paths import ROOT

    page = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
    path = tmp_path / "lapsus.toml"
    path.write_text(page.split("```toml\n")[1].split("```")[0])
    assert read_settings(path, list_check_keys())["max_failures"] == 0.1


def test_a_task_of_a_check_is_one_of_make_task():
    from lapsus.evaluation.check_plan import plan_check

    rows = [{"id": str(n), "q": TEXTS[n % 4], "a": "ab"[n % 2]} for n in range(8)]
    plan = plan_check(rows, "q", "a", noise=["fillers"])
    settings = {name: plan.settings[name] for name in ("gold", "labels", "prompt")}
    assert plan.data.task == make_task(["q"], name="rows", **settings)
