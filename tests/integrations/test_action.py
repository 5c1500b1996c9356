"""The steps of action.yml, run as a runner of GitHub runs them."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from paths import ROOT

pytestmark = pytest.mark.skipif(not shutil.which("bash"), reason="the steps are of bash")

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
MODEL = """
def solid(rows):
    return ["weather" if row["question"].startswith("W") else "music" for row in rows]

def brittle(rows):
    answers = {f"Will it rain in town {i} tomorrow morning?": "weather" for i in range(200)}
    return [answers.get(row["question"], "music") for row in rows]
"""


def fill(text, inputs, outputs):
    """Replace the expressions of a text; one of another kind is an error."""

    def evaluate(expression):
        for part in expression.group(1).split("||"):
            kind, _, name = part.strip().partition(".")
            values = {
                "inputs": inputs,
                "github": {"action_path": str(ROOT)},
                "steps": {f"gate.outputs.{key}": value for key, value in outputs.items()},
            }
            if value := values[kind][name]:
                return value
        return ""

    return re.sub(r"\$\{\{(.*?)\}\}", evaluate, text)


def run_action(folder: Path, steps=ACTION["runs"]["steps"], **given):
    """Run steps until one fails; return its exit code, the outputs, the summary and all that was printed."""
    inputs = {name: value["default"] for name, value in ACTION["inputs"].items()}
    assert set(given) <= set(inputs), "an input that the action does not have"
    inputs |= given
    files = {"GITHUB_STEP_SUMMARY": folder / "step_summary", "GITHUB_OUTPUT": folder / "step_output"}
    for file in files.values():
        file.write_text("", encoding="utf-8")
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    runner = os.environ | {name: str(file) for name, file in files.items()} | {"PATH": path}
    runner |= {"PIP_DRY_RUN": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0"}  # 0: not isolated, so no network
    script, printed, code = folder / "step.sh", "", 0
    for step in steps:
        assert step["shell"] == "bash" and "${{" not in step["run"], "inputs are values, not parts of a script"
        script.write_text(step["run"], encoding="utf-8")
        env = runner | {name: fill(value, inputs, {}) for name, value in step.get("env", {}).items()}
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
        printed, code = printed + done.stdout + done.stderr, done.returncode
        if code:
            break
    values = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text(encoding="utf-8").splitlines())
    outputs = {name: fill(each["value"], inputs, values) for name, each in ACTION["outputs"].items() if values}
    return code, outputs, files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8"), printed


@pytest.fixture
def project(tmp_path):
    """A checkout of a user: rows and a model."""
    (tmp_path / "mymodel.py").write_text(MODEL, encoding="utf-8")
    with (tmp_path / "my questions.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["question", "answer"])
        for i in range(200):
            row = (f"Will it rain in town {i} tomorrow morning?", "weather"), (f"Please play song {i} again.", "music")
            table.writerow(row[i % 2])
    return tmp_path


COLUMNS = {"rows": "my questions.csv", "text": "question", "gold": "answer"}


@pytest.mark.slow
def test_a_model_that_noise_ruins_fails(project):
    code, outputs, summary, printed = run_action(
        project, **COLUMNS, model="python:mymodel:brittle", options="--noise=typed\n\n--limit=150\n"
    )
    assert code == 3, printed
    assert "Would install lapsus" in printed
    assert "fails: my questions/mymodel.brittle on typed: drop.low > 0 and drop.high >= 2 holds" in printed
    assert "| my questions/mymodel.brittle | typed |" in summary and "failed: costs" in summary
    assert summary == (project / outputs["summary"]).read_text(encoding="utf-8")
    suite = ET.parse(project / outputs["junit"]).getroot()  # noqa: S314 # of our own
    assert [suite.get(name) for name in ("tests", "failures")] == ["2", "2"], "the cell, and the condition"
    assert (project / outputs["report"] / "index.html").is_file()


@pytest.mark.slow
def test_a_robust_model_passes_and_a_condition_of_the_user_decides(project):
    settings = 'rows = "my questions.csv"\nmodel = ["python:mymodel:solid"]\ntext = "question"\ngold = "answer"\n'
    (project / "lapsus.toml").write_text(settings + 'noise = ["typed"]\n', encoding="utf-8")
    code, _, summary, printed = run_action(project, margin="5")
    assert code == 0 and "passed" in summary, printed
    decide = ACTION["runs"]["steps"][-1:]
    code, _, summary, printed = run_action(project, decide, margin="5", **{"fail-if": "typed.average < 101"})
    assert code == 3 and "typed.average &lt; 101 holds" in summary, printed


def test_a_wrong_input_is_one_sentence_and_nothing_in_it_is_run(project):
    words = "$(touch run); `touch run`"
    code, outputs, summary, printed = run_action(project, **COLUMNS | {"text": words}, model="python:mymodel:solid")
    assert (code, outputs, summary) == (1, {}, "") and "Traceback" not in printed
    assert words in printed and not (project / "run").exists()
