"""Models of lapsus.papers that are trained here, from a fixed seed, on the training splits (lapsus[models])."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from heads import Rows, rows_of

from lapsus.evaluation.benchmark_tasks import find_task
from lapsus.evaluation.tracks import load_tracks
from lapsus.papers import pair_model, slu


@cache
def _commands(dataset: str) -> slu.SluModel:
    from datasets import load_dataset

    def split(name: str) -> Rows:
        rows = load_dataset(str(Path(os.environ["DATA"]) / dataset), "original", split=name)
        tags = rows.features["tags"].feature.names
        intents = rows.features["intent"].names
        return [
            {"tokens": row["tokens"], "tags": [tags[tag] for tag in row["tags"]], "intent": intents[row["intent"]]}
            for row in rows
        ]

    return slu.train(split("train"), split("validation"))


def atis(rows: Rows) -> list[dict[str, Any]]:
    """Frames of ATIS."""
    return _commands("nature-atis").predict([row["tokens"] for row in rows])


def snips(rows: Rows) -> list[dict[str, Any]]:
    """Frames of SNIPS."""
    return _commands("nature-snips").predict([row["tokens"] for row in rows])


def _tagged(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the characters of an utterance with tags where its slots stand; a slot that is not in it has none."""
    text, tags = row["text"], ["O"] * len(row["text"])
    for slot, value in sorted(row["slots"], key=lambda each: -len(each[1])):
        start = text.find(value)
        if value and start >= 0 and set(tags[start : start + len(value)]) == {"O"}:
            tags[start : start + len(value)] = [f"B-{slot}", *[f"I-{slot}"] * (len(value) - 1)]
    return {"tokens": list(text), "tags": tags, "intent": row["intent"]}


@cache
def _navigation() -> slu.SluModel:
    found = load_tracks(str(Path(os.environ["DATA"]) / "zh-asr-slu"), find_task("zh-asr-slu"), ["clean"], split="train")
    rows = [_tagged(row) for row in found.tracks["clean"] if row["text"]]
    return slu.train(rows[400:], rows[:400], epochs=6)


def zh_asr_slu(rows: Rows) -> list[dict[str, Any]]:
    """Frames of spoken requests to a navigation system, by characters."""
    from lapsus.core.bio import extract_slots

    frames = _navigation().predict([list(row["text"]) for row in rows])
    return [
        {
            "intent": frame["intent"],
            "slots": [[slot.label, row["text"][slot.start : slot.end]] for slot in extract_slots(frame["tags"])],
        }
        for row, frame in zip(rows, frames, strict=True)
    ]


@cache
def _questions() -> pair_model.PairModel:
    def pairs(split: str) -> list[tuple[str, str, str]]:
        return [(row["sentence1"], row["sentence2"], row["label"]) for row in rows_of("readin-afqmc", "clean", split)]

    return pair_model.train(pairs("train"), pairs("validation"), epochs=4)


def afqmc(rows: Rows) -> list[str]:
    """Paraphrases of AFQMC, by characters."""
    return _questions().predict([(row["sentence1"], row["sentence2"]) for row in rows])


@cache
def _entailments() -> pair_model.PairModel:
    pairs = [
        (row["premise"], row["hypothesis"], row["label"])
        for name in ("rte1", "rte2", "rte3")
        for row in rows_of("rte", name, "validation")
    ]
    return pair_model.train(pairs[300:], pairs[:300], tokenize=pair_model.split_words, epochs=8)


def rte(rows: Rows) -> list[str]:
    """Entailments of RTE, by words."""
    return _entailments().predict([(row["premise"], row["hypothesis"]) for row in rows])
