"""The examples of CONTRIBUTING.md, exactly as printed: files written into an empty folder, then the commands."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from paths import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^## (An? .+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"`([\w./]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECTIONS = dict(SECTION.findall(TEXT))
UNITS = {  # the section, and how a command shows what it adds
    "A dataset": ("lapsus list", "lamp-commands"),
    "A metric": ("lapsus list", "first_word_rate"),
    "An operator for a new language": ("lapsus list operators --language de", "de_umlauts"),
    "A task": ("lapsus tasks lamp", "Request: "),
    "A model adapter": (),
    "A scorer": ("lapsus list scorers", "stance"),
}


def test_every_section_with_commands_is_run():
    assert {title for title, text in SECTIONS.items() if COMMANDS.search(text)} == set(UNITS)


@pytest.fixture(scope="module", params=UNITS)
def printed(request, tmp_path_factory):
    """Do what a section says, and return its title, the folder and what each command printed."""
    folder = tmp_path_factory.mktemp("empty")
    section = SECTIONS[request.param]
    for name, content in FILE.findall(section):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
    site = folder / ".site"
    settings = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")])),
        "PIP_TARGET": str(site),
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads the negation of its option: no isolation
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(folder / ".hf"),
    }
    outputs = {}
    (commands,) = COMMANDS.findall(section)
    for line in commands.splitlines():
        command = line.removeprefix("$ ")
        words = shlex.split(command)
        done = subprocess.run(
            [shutil.which(words[0], path=settings["PATH"]), *words[1:]],
            cwd=folder,
            env=os.environ | settings,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stderr[-2000:]}"
        outputs[command] = done.stdout
    return request.param, folder, outputs


def read_rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_example_is_listed(printed):
    title, _, outputs = printed
    if UNITS[title]:
        command, name = UNITS[title]
        assert re.search(rf"^ *{name}", outputs[command], re.MULTILINE)


def test_the_last_command_uses_the_unit(printed):
    title, folder, outputs = printed
    *_, last = outputs.values()
    if title == "A dataset":
        assert pq.read_table(folder / "built" / "keyboard.1").column("text").to_pylist()[0] == "swicth the lamp on"
        card = (folder / "built" / "README.md").read_text(encoding="utf-8")
        assert "Commands to a lamp, as they were meant and as one person typed them." in card
        assert "| `keyboard.1/test` | `text` |" in card
    elif title == "A metric":
        assert json.loads(last)["first_word_rate"] == 0.5
    elif title == "A task":
        files = {path.stem: read_rows(path) for path in folder.glob("out/lamp/*/*.jsonl")}
        assert set(files) == {"clean", "filler_eos.1", "filler_eos.2"}
        assert [row["score"] for row in files["clean"]] == [1.0, 1.0, 0.0]
        assert [row["gold"] for row in files["filler_eos.2"]] == ["on", "colour", "off"]
    elif title == "A model adapter":
        (clean,) = folder.glob("out/*/words/clean.jsonl")
        assert [row["prediction"] for row in read_rows(clean)] == ["weather", "music"]
        assert len(list(clean.parent.glob("en_keyboard.*.jsonl"))) == 2
        assert json.loads((clean.parent / "run.json").read_text("utf-8"))["model_identity"].startswith("lookup:")
    elif title == "A scorer":
        assert json.loads(last)["stance"] == 1.0
    else:
        rows = read_rows(folder / "noisy.jsonl")
        assert [row["clean_text"] for row in rows] == ["schöne Grüße aus Köln", "das Licht über der Tür"]
        assert rows[0]["text"] == "schoene Gruesse aus Koeln"
        assert all(len(row["text"]) == len(row["clean_text"]) + len(row["edits"]) for row in rows)
