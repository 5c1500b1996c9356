"""The examples of docs/training.md run as they are printed, on tiny models that are made here."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from paths import ROOT

pytest.importorskip("transformers")  # of the extra models

import tiny_models

PAGE = (ROOT / "docs" / "training.md").read_text("utf-8")
EXAMPLES = dict(
    re.findall(r"^## ([^\n]+)\n(?:(?!^## ).)*?```python\n(from datasets.*?)```", PAGE, re.DOTALL | re.MULTILINE)
)
KINDS = {
    "A classifier": "classifier",
    "A tagger": "tagger",
    "An encoder-decoder": "seq2seq",
    "A causal model": "causal",
    "TRL: fine-tuning on conversations": "causal",
    "sentence-transformers: a text and its noisy twin": "encoder",
}
NEEDS = {
    "TRL: fine-tuning on conversations": "trl",
    "sentence-transformers: a text and its noisy twin": "sentence_transformers",
}
ROWS = [
    {"id": f"u{number}", "text": text, "label": label, "target": label, "tokens": text.split(), "tags": tags,
     "messages": [{"role": "user", "content": text}, {"role": "assistant", "content": label}]}
    for number, (text, label, tags) in enumerate([
        ("please play something by nina simone", "music", ["O", "O", "O", "O", "B-artist", "I-artist"]),
        ("will it rain in oslo tomorrow morning", "weather", ["O", "O", "O", "O", "B-city", "O", "O"]),
        ("turn the music up in the kitchen", "music", ["O"] * 7),
        ("is it going to be sunny in rome today", "weather", ["O"] * 7 + ["B-city", "O"]),
    ] * 2)
]  # fmt: skip


def make_model(kind, folder):
    words = tiny_models.tokenizer(
        [row["text"] for row in ROWS] + ["music weather user assistant"], chat=tiny_models.CHAT if kind == "causal" else None
    )  # fmt: skip
    if kind == "classifier":
        tiny_models.classifier(words, folder, ["music", "weather"])
    elif kind == "tagger":
        tags = ["O", "B-artist", "I-artist", "B-city", "I-city"]
        tiny_models.tagger(words, folder, tags, [(row["tokens"], row["tags"]) for row in ROWS[:4]])
    elif kind == "encoder":
        from transformers import BertModel

        tiny_models.bert(BertModel, words, folder)
    else:
        getattr(tiny_models, kind)(words, folder)


def test_every_example_of_the_page_is_run():
    assert set(EXAMPLES) == set(KINDS)


@pytest.mark.slow
@pytest.mark.parametrize("title", KINDS)
def test_the_example_trains(title, tmp_path):
    if title in NEEDS:
        pytest.importorskip(NEEDS[title])
    make_model(KINDS[title], tmp_path / "model")
    for name in ("train", "test"):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    code = re.sub(r"^MODEL = .*$", 'MODEL = "model"', EXAMPLES[title], count=1, flags=re.MULTILINE)
    code = code.replace('SFTConfig("out",', 'SFTConfig("out", bf16=False, use_cpu=True, per_device_train_batch_size=4,')
    code = code.replace("from datasets", "import torch; torch.set_num_threads(1)\nfrom datasets", 1)
    code += "\nimport json\nprint('LOG', json.dumps([transform.epoch, trainer.state.log_history]))\n"
    env = os.environ | {
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(tmp_path / "home"),
        "CUDA_VISIBLE_DEVICES": "",
        "WANDB_MODE": "disabled",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("LOG ")]
    epoch, log = json.loads(line.removeprefix("LOG "))
    assert epoch > 0, "the epochs were counted"
    assert log[-1]["train_loss"] > 0
    if title not in NEEDS:
        measured = [entry for entry in log if "eval_noise_clean" in entry]
        assert [entry["epoch"] for entry in measured] == [1, 2, 3]
        assert any(name.endswith("_worst_low") for name in measured[-1])
