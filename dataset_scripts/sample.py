"""The embedded sample: four small hand-written sets with the configs and columns of the real benchmarks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from datasets import ClassLabel, Features, List, Value, Version

from lapsus.dataset_scripts.benchmark import TEXT, Benchmark, Row
from lapsus.dataset_scripts.simulated import TRACKS, make_track_operator, noisy_features, perturb_rows
from lapsus.perturbations import OPERATORS, Noise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lapsus.dataset_scripts.source import Source

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

# Configs with all annotators of a row together, made from the test rows of `clean`; those made from `original`.
JOINED_CONFIGS = ("keyboard", "speech")
FILLER_CONFIGS = ("filler_bos", "filler_eos")


class Sample(Benchmark):
    """Customer questions, commands, entailments and dialect pairs that the project wrote itself."""

    NAME = "sample"
    VERSION = Version("1.5.0")  # speech tracks by zh_speech 5
    TITLE = "lapsus sample"
    LANGUAGES = ("zh", "en")
    LICENSE = "apache-2.0"
    TASKS = ("text-classification", "token-classification", "sentence-similarity")
    TASK_IDS = ("semantic-similarity-classification", "natural-language-inference", "intent-classification")
    ROWS = {
        "clean": {"train": 120, "validation": 30, "test": 90},
        **{track: {"test": 90} for track in (*TRACKS, *JOINED_CONFIGS)},
        "original": {"train": 120, "validation": 30, "test": 70},
        **{track: {"test": 70} for track in FILLER_CONFIGS},
        "entailment": {"test": 80},
        "premise": {"test": 27},
        "hypothesis": {"test": 35},
        "both": {"test": 18},
        "dialect": {"exemplars": 10, "dev": 10, "test": 40},
    }

    @classmethod
    def get_bundled_folder(cls) -> Path:
        """Return the folder inside the package."""
        return Path(__file__).with_name("sample_data")

    def columns(self, config: str) -> Features:
        """Return the features of a config."""
        if config in TRACKS:
            return noisy_features(self.make_chinese_noise(config), PARAPHRASE)
        if config in JOINED_CONFIGS:
            annotated = List({"annotator": Value("int8"), "text": TEXT})
            noisy = dict.fromkeys(("sentence1", "sentence2"), annotated)
            return Features({**PARAPHRASE, **noisy, "clean_sentence1": TEXT, "clean_sentence2": TEXT})
        if config in FILLER_CONFIGS:
            return noisy_features(self.make_english_noise(config), SLU)
        return {"clean": PARAPHRASE, "original": SLU, "dialect": DIALECT}.get(config, ENTAILMENT)

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the rows of a split."""
        if config in TRACKS:
            yield from perturb_rows(self.make_chinese_noise(config), self.rows(source, "clean", split))
        elif config in JOINED_CONFIGS:
            yield from self.iter_joined(source, config, split)
        elif config in FILLER_CONFIGS:
            yield from perturb_rows(self.make_english_noise(config), self.rows(source, "original", split))
        else:
            file = {"clean": "paraphrase", "original": "slu", "dialect": "dialect"}.get(config, "entailment")
            for line in source.read_lines(f"{file}.jsonl"):
                row = json.loads(line)
                in_config = config not in REWRITES or row["rewritten"] == config
                if row.pop("split") == split and in_config:
                    yield row

    def iter_joined(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield each row with the sentences of all annotators of a track."""
        tracks = [self.rows(source, f"{config}.{annotator}", split) for annotator in (1, 2, 3)]
        for annotator_rows in zip(*tracks, strict=True):
            row = {name: annotator_rows[0][name] for name in ("id", "label", "clean_sentence1", "clean_sentence2")}
            for name in ("sentence1", "sentence2"):
                row[name] = [{"annotator": number, "text": each[name]} for number, each in enumerate(annotator_rows, 1)]
            yield row

    @staticmethod
    def make_chinese_noise(track: str) -> Noise:
        """Return the noise of a track over the Chinese questions."""
        operator, seed = make_track_operator(track)
        return Noise(operator, text=("sentence1", "sentence2"), id="id", seed=seed)

    @staticmethod
    def make_english_noise(track: str) -> Noise:
        """Return the noise of a track over the English commands."""
        return Noise(OPERATORS[track], text="tokens", tags="tags", id="id")


UNITS = (Sample,)
