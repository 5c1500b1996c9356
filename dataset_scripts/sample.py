"""The embedded sample: four small hand-written sets with the configs and columns of the real benchmarks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from datasets import ClassLabel, Features, List, Value

from lapsus.dataset_scripts._benchmark import Benchmark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lapsus.dataset_scripts._source import Source

TEXT = Value("string")
PARAPHRASE = Features(
    {"id": TEXT, "sentence1": TEXT, "sentence2": TEXT, "label": ClassLabel(names=["different", "paraphrase"])}
)
INTENTS = (
    "add_to_list",
    "book_table",
    "control_lights",
    "find_route",
    "get_weather",
    "play_music",
    "send_message",
    "set_alarm",
)
SLOTS = (
    "artist",
    "color",
    "cuisine",
    "date",
    "genre",
    "item",
    "list_name",
    "message",
    "party_size",
    "person",
    "place",
    "room",
    "time",
    "track",
)
TAGS = List(ClassLabel(names=["O", *(f"{prefix}-{slot}" for slot in SLOTS for prefix in "BI")]))
SLU = Features({"id": TEXT, "tokens": List(TEXT), "tags": TAGS, "intent": ClassLabel(names=list(INTENTS))})
REWRITES = ["premise", "hypothesis", "both"]
ENTAILMENT = Features(
    {
        "id": TEXT,
        "premise": TEXT,
        "hypothesis": TEXT,
        "original_premise": TEXT,
        "original_hypothesis": TEXT,
        "label": ClassLabel(names=["not_entailed", "entailed"]),
        "rewritten": ClassLabel(names=REWRITES),
        "task": ClassLabel(names=["IE", "IR", "QA", "SUM"]),
        "original_id": TEXT,
    }
)
DIALECT = Features(
    {
        "id": TEXT,
        "source": TEXT,
        "base": TEXT,
        "dialect": TEXT,
        "perturbed": TEXT,
        "perturbation": ClassLabel(names=["replace", "insert", "delete"]),
        "bucket": ClassLabel(names=["lexical", "entity", "random"]),
    }
)


class Sample(Benchmark):
    """Customer questions, commands, entailments and dialect pairs that the project wrote itself."""

    NAME = "sample"
    TITLE = "lapsus sample"
    LANGUAGES = ("zh", "en")
    LICENSE = "apache-2.0"
    TASKS = ("text-classification", "token-classification", "sentence-similarity")
    TASK_IDS = ("semantic-similarity-classification", "natural-language-inference", "intent-classification")
    ROWS = {
        "clean": {"train": 120, "validation": 30, "test": 90},
        "original": {"train": 120, "validation": 30, "test": 70},
        "entailment": {"test": 80},
        "premise": {"test": 27},
        "hypothesis": {"test": 35},
        "both": {"test": 18},
        "dialect": {"exemplars": 10, "dev": 10, "test": 40},
    }

    @classmethod
    def home(cls) -> Path:
        """Return the folder inside the package."""
        return Path(__file__).with_name("sample_data")

    def columns(self, config: str) -> Features:
        """Return the features of a config."""
        return {"clean": PARAPHRASE, "original": SLU, "dialect": DIALECT}.get(config, ENTAILMENT)

    def rows(self, source: Source, config: str, split: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a split."""
        file = {"clean": "paraphrase", "original": "slu", "dialect": "dialect"}.get(config, "entailment")
        for line in source.lines(f"{file}.jsonl"):
            row = json.loads(line)
            if row.pop("split") == split and config in {
                "clean",
                "original",
                "entailment",
                "dialect",
                row.get("rewritten"),
            }:
                yield row
