"""A fixed run of every answer type: request keys, files and manifests stay as `fixed_run.json` holds them.

The file was written by the code before the packages were renamed; the names of columns alone were changed in it, and the manifests got the prompt and the repeats. Cached
responses are found by their request keys, so these never change.
"""

from __future__ import annotations

import json
from hashlib import sha256

import pytest
from paths import TESTS

from lapsus.evaluation.benchmark_tasks import find_task
from lapsus.evaluation.cache import make_request_key
from lapsus.evaluation.models import open_model
from lapsus.evaluation.models.function import FunctionModel
from lapsus.evaluation.runner import Evaluation
from lapsus.evaluation.tasks import make_task
from lapsus.evaluation.tracks import TrackSet, add_noise

FIXED = json.loads((TESTS / "fixed_run.json").read_text(encoding="utf-8"))
NOISE = ("filler_eos:2", "zh_homophone@0.3")
FRAMES = [
    {
        "id": "a",
        "tokens": ["play", "new", "wave", "now"],
        "tags": ["O", "B-genre", "I-genre", "O"],
        "intent": "PlayMusic",
    },
    {
        "id": "b",
        "tokens": ["will", "it", "rain", "in", "Rome"],
        "tags": ["O", "O", "O", "O", "B-city"],
        "intent": "GetWeather",
    },
    {"id": "c", "tokens": ["play", "some", "jazz"], "tags": ["O", "O", "B-genre"], "intent": "PlayMusic"},
]
PASSAGES = [
    {
        "id": "p1",
        "context": "Rome is the capital of Italy.",
        "question": "What is the capital of Italy?",
        "answers": {"text": ["Rome"], "answer_start": [0]},
    },
    {
        "id": "p2",
        "context": "巴黎是法国的首都。",
        "question": "法国的首都是哪里？",
        "answers": {"text": ["巴黎"], "answer_start": [0]},
    },
]
CASES = {
    "label": (
        "readin-afqmc",
        None,
        [
            {"id": 1, "sentence1": "花呗怎么还款", "sentence2": "怎么还花呗", "label": "paraphrase"},
            {"id": 2, "sentence1": "借呗利息多少", "sentence2": "花呗额度", "label": "different"},
            {"id": 3, "sentence1": "手机号换了", "sentence2": "换手机号", "label": "paraphrase"},
        ],
        {},
    ),
    "frame": ("nature-snips", None, FRAMES, {}),
    "slots": ("nature-snips-slots", None, FRAMES, {}),
    "intent": ("sample-intent", None, FRAMES, {}),
    "span_en": ("noiseqa", None, PASSAGES[:1], {}),
    "span_zh": ("readin-cmrc2018", None, PASSAGES[1:], {}),
    "translation": ("readin-wmt2021", None, [{"id": "t", "zh": "今天下雨。", "en": "It rains today."}], {}),
    "query": (
        "readin-cspider",
        None,
        [
            {
                "id": "q",
                "question": "歌手的名字是什么",
                "schema": "singer(name, age)",
                "query": "SELECT name FROM singer",
            }
        ],
        {},
    ),
    "meaning": (
        "dialect-en",
        None,
        [{"id": "s", "base": "the tram", "candidate": "the streetcar", "tag": "en-IN"}],
        {},
    ),
    "own_labels": (
        None,
        (["text"], "label", ["music", "weather"]),
        [{"id": "x", "text": "rain today", "label": "weather"}, {"id": "y", "text": "a song", "label": "music"}],
        {"0": "music"},
    ),
    "own_text": (
        None,
        (["text", "more"], "answer", []),
        [
            {"id": "x", "text": "two and two", "more": "is", "answer": 4, "edits": None},
            {"id": "y", "text": "one", "more": "", "answer": 1.0},
        ],
        {},
    ),
}
ANSWERS = (
    "paraphrase",
    "相同",
    0,
    1,
    None,
    "LABEL_1",
    '{"intent": "PlayMusic", "slots": {"genre": "new wave"}}',
    "Rome",
    "巴黎",
    "It rains.",
    "SELECT name FROM singer",
    85,
    "music",
    "weather",
    "4",
    {"intent": "GetWeather", "slots": [["city", "Rome"]]},
    {"tags": ["O", "O", "B-genre"]},
    "<think>no",
)


def answer(rows):
    """Answer by the hash of what is visible."""
    digests = (sha256(json.dumps(row, sort_keys=True, ensure_ascii=False).encode()).digest() for row in rows)
    return [ANSWERS[digest[0] % len(ANSWERS)] for digest in digests]


def load(name):
    """Return the tracks of a case, and its label map."""
    task_name, own, rows, label_map = CASES[name]
    task = (
        find_task(task_name)
        if own is None
        else make_task(own[0], own[1], labels=own[2], prompt="{text}" if own[2] else None, name=name)
    )
    return add_noise(TrackSet.from_rows("fixed", task, rows), NOISE, seed=0), label_map


def run_case(name, out):
    """Return what a run writes."""
    data, label_map = load(name)
    Evaluation(data, FunctionModel(answer, "m", "1"), out, label_map=label_map).execute()
    (manifest,) = (json.loads(path.read_bytes()) for path in out.rglob("run.json"))
    files = {path.stem: list(map(json.loads, path.read_bytes().splitlines())) for path in out.rglob("*.jsonl")}
    return {name: value for name, value in manifest.items() if name != "lapsus"}, files


@pytest.mark.parametrize("name", CASES)
def test_a_fixed_run_writes_what_it_always_wrote(name, tmp_path):
    manifest, files = run_case(name, tmp_path)
    assert manifest == FIXED[name]["manifest"]
    assert files == FIXED[name]["tracks"]
    for track, rows in files.items():
        columns = [list(row) for row in rows]
        assert columns == [list(row) for row in FIXED[name]["tracks"][track]], "the columns keep their order"


@pytest.mark.parametrize("name", CASES)
def test_the_keys_of_models_behind_an_address_stay(name):
    data, _ = load(name)
    row = data.tracks["clean"][0]
    models = [open_model("http://localhost:1/v1#m", options) for options in ({}, {"chat_template": False})]
    keys = [
        make_request_key(model.identity, data.task.identity, model.build_prompt(data.task, row)) for model in models
    ]
    assert keys == FIXED[name]["endpoint_keys"]
