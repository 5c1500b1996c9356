"""The script of READIN's tables: each kind of system is trained and asked, and the tables say what was answered."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from paths import ROOT

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from datasets import ClassLabel, Dataset, Features, Value  # noqa: E402 - torch first
from tiny_models import bert, tokenizer  # noqa: E402 - likewise
from transformers import BertForSequenceClassification  # noqa: E402 - likewise

SCRIPT = ROOT / "benchmarks" / "systems" / "readin.py"
ASKED = ("怎么还款", "如何还钱", "怎么退款", "花呗是什么", "如何提额", "为什么扣钱")
PAIRS = [(a, b, int(a[-1] != b[-1])) for a in ASKED for b in ASKED if a != b]
FEATURES = Features(
    {
        "id": Value("string"),
        "sentence1": Value("string"),
        "sentence2": Value("string"),
        "label": ClassLabel(names=["paraphrase", "different"]),
    }
)
RECIPE = """
title = "tiny"
data = "pairs"
columns = ["sentence1", "sentence2"]
tracks = ["clean", "keyboard.1", "keyboard.2"]
rows = 100
own_noise = {{ homophones = "zh_homophone@0.9" }}
published = {{ "theirs" = [78.92, 42.75, 15.17] }}

[[system]]
name = "bags"
label = "bags"
training = {{ size = 8, epochs = 30, rate = 2e-2, batch_size = 8 }}

[[system]]
name = "corrected"
label = "corrected"
corrected = true
training = {{ size = 8, epochs = 30, rate = 2e-2, batch_size = 8 }}

[[system]]
name = "pinyin"
label = "Pinyin"
model = "convolutions"
tokens = "pinyin"
noisy = "zh_homophone@0.5"
training = {{ size = 8, epochs = 2 }}

[[system]]
name = "encoder"
label = "encoder"
model = "encoder"
training = {{ epochs = 1 }}

[[system]]
name = "checkpoint"
label = "checkpoint"
model = "hf:{checkpoint}"
training = {{ epochs = 1 }}
"""


def built(folder):
    splits = {"clean": ("train", "validation", "test"), "keyboard.1": ("test",), "keyboard.2": ("test",)}
    lines = ["---", "configs:"]
    for config, names in splits.items():
        lines += [f"- config_name: {config}", "  data_files:"]
        for name in names:
            lines += [f"  - split: {name}", f"    path: {config}/{name}.parquet"]
            (folder / config).mkdir(parents=True, exist_ok=True)
            rows = [
                {"id": str(n), "sentence1": a.replace("款", "宽").replace("钱", "前") if config == "keyboard.1" else a, "sentence2": b,
                 "label": label}
                for n, (a, b, label) in enumerate(PAIRS)
            ]  # fmt: skip
            Dataset.from_list(rows, features=FEATURES).to_parquet(folder / config / f"{name}.parquet")
    (folder / "README.md").write_text("\n".join([*lines, "---", ""]), encoding="utf-8")


def test_slips_are_put_right_before_a_system_with_correction_is_asked(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    import readin

    built(tmp_path / "pairs")
    (tmp_path / "tiny.toml").write_text(RECIPE.format(checkpoint="nowhere"), encoding="utf-8")
    told = readin.Recipe.read(tmp_path / "tiny.toml"), tmp_path / "pairs", tmp_path / "work"
    typed, right, kept = readin.tracks_of(*told), readin.corrected_tracks(*told), readin.corrected_tracks(*told)
    first = {name: [row["sentence1"] for row in rows] for name, rows in right.items()}
    assert first["keyboard.1"] == first["clean"] != [row["sentence1"] for row in typed["keyboard.1"]]
    assert right["clean"] == typed["clean"] and kept == right


@pytest.mark.slow
def test_every_kind_of_system_runs_from_its_recipe_to_the_table(tmp_path):
    built(tmp_path / "data" / "pairs")
    bert(BertForSequenceClassification, tokenizer(ASKED, pair="letters", length=64), tmp_path / "checkpoint")
    recipe, other = tmp_path / "tiny.toml", tmp_path / "again.toml"
    recipe.write_text(RECIPE.format(checkpoint=tmp_path / "checkpoint"), encoding="utf-8")
    other.write_text('of = "tiny"\nmeasure = "macro-F1"\ntitle = "F1"\n', encoding="utf-8")

    def told(*words, code=0):
        command = [sys.executable, str(SCRIPT), *words, "--work", str(tmp_path / "work")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr[-2000:]
        return done.stderr if code else done.stdout

    run = ("run", str(recipe), "--data", str(tmp_path / "data"), "--seeds", "2")
    here = told(*run)
    assert "encoder seed 1" in here and "checkpoint" not in here
    named = told(*run, "--system", "checkpoint", "--system", "bags")
    assert "checkpoint seed 1" in named and "bags" not in named  # what was run is not run again
    answers = {
        name: json.loads((tmp_path / "work" / "tiny" / name / "0.json").read_text())["answers"]
        for name in ("bags", "corrected", "pinyin", "encoder", "checkpoint")
    }
    for tracks in answers.values():
        assert set(tracks) == {"clean", "keyboard.1", "keyboard.2", "homophones"}
        assert all(len(rows) == len(PAIRS) for rows in tracks.values())
        assert {guess for rows in tracks.values() for _, guess in rows.values()} <= {"paraphrase", "different"}
    assert answers["bags"]["clean"] == answers["corrected"]["clean"]
    assert answers["corrected"]["keyboard.1"] == answers["bags"]["clean"]
    right = [gold == guess for gold, guess in (answers["bags"]["clean"][str(n)] for n in range(1, len(PAIRS), 2))]
    kept = tmp_path / "work" / "tiny" / "bags" / "0.json"
    kept.write_text(kept.read_text().replace("by zh_homophone@", "by zh_homophone@0."), encoding="utf-8")
    assert "0.json was answered with other noise than zh_homophone@0.9 by zh_homophone@" in told(*run, code=2)
    table = told("table", str(recipe))
    assert all(right) and "| bags | balanced | 100.0 ± 0.0 |" in table
    assert "| theirs | 78.92 | 42.75 | 15.17 |" in table
    assert "| bags | 2 | 100.0 [" in told("table", str(other))
