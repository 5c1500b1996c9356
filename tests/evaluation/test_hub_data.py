"""`lapsus run` on a repo of the Hub: ORG/NAME through load_dataset, against the double."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

MODEL = "def answer(rows):\n    return ['play_music' for row in rows]\n"


@pytest.fixture(scope="module")
def pushed(client, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pushed") / "sample"
    done = client("command", "build", "sample", "--out", str(folder), "--push", "org")
    assert done["exit"] == 0, done
    return folder


@pytest.mark.slow
def test_a_repo_of_the_hub_gives_what_its_folder_gives(client, pushed, tmp_path, monkeypatch):
    (tmp_path / "always_music.py").write_text(MODEL)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    files = []
    for place, out in (("org/sample", "hub"), (str(pushed), "folder")):
        words = ["run", "sample-intent", "--data", place, "--model", "python:always_music:answer"]
        done = client("command", *words, "--out", str(tmp_path / out))
        assert done["exit"] == 0, done
        found = sorted((tmp_path / out).rglob("*.jsonl"))
        files.append({file.name: file.read_bytes() for file in found})
    assert list(files[0]) == ["filler_bos.jsonl", "filler_eos.jsonl", "original.jsonl"]
    assert files[0] == files[1]
    rows = [json.loads(line) for line in files[0]["original.jsonl"].splitlines()]
    assert len(rows) == 70 and 0 < sum(row["score"] for row in rows) < 70


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "place", "said"),
    [
        ("sample-intent", "org/nowhere", "org/nowhere"),
        ("noiseqa", "org/sample", "choose the task that fits the data"),
    ],
)
@pytest.mark.usefixtures("pushed")
def test_what_is_not_there_is_one_sentence(client, tmp_path, task, place, said, monkeypatch):
    (tmp_path / "always_music.py").write_text(MODEL)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    words = ["run", task, "--data", place, "--model", "python:always_music:answer", "--out", str(tmp_path / "out")]
    done = client("command", *words)
    assert done["exit"] == 1 and said in done["error"] and "Traceback" not in done["error"], done
    assert len(done["error"].strip().splitlines()[-1]) < 400


@pytest.mark.slow
@pytest.mark.usefixtures("pushed")
def test_a_run_offline_reads_a_folder(client, pushed, tmp_path, monkeypatch):
    (tmp_path / "always_music.py").write_text(MODEL)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    words = ["run", "sample-intent", "--data", str(pushed), "--model", "python:always_music:answer"]
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # whoever asks the net fails
    done = client("command", *words, "--out", str(tmp_path / "out"))
    assert done["exit"] == 0 and Path(tmp_path / "out").is_dir(), done
