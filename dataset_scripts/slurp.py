"""SLURP: requests to a home assistant, beside what a speech recogniser made of every recording of them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from datasets import ClassLabel, Features, List, Value, Version

from lapsus.dataset_scripts.benchmark import Benchmark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lapsus.dataset_scripts.source import Source

TEXT = Value("string")
FILES = {"train": "train.jsonl", "validation": "devel.jsonl", "test": "test.jsonl"}
TRANSCRIPTS = "multi_slurp_hermit_predictions.jsonl"


class SlurpAsr(Benchmark):
    """Intents and entities of requests, from the gold text and from real transcripts of several speakers each."""

    NAME = "slurp-asr"
    VERSION = Version("1.0.2")  # pages of the citation
    TITLE = "SLURP with real transcripts"
    LANGUAGES = ("en",)
    LICENSE = "cc-by-4.0"
    LICENSE_LINK = "https://github.com/pswietojanski/slurp"
    TASKS = ("text-classification", "token-classification")
    TASK_IDS = ("intent-classification",)
    TAGS = ("spoken-language-understanding", "speech-recognition", "slot-filling")
    ANNOTATIONS = "crowdsourced"
    WHERE = (
        "https://github.com/pswietojanski/slurp (dataset/slurp/*.jsonl) with the transcripts of its baseline "
        f"({TRANSCRIPTS}) beside them"
    )
    ROWS = {"clean": {"train": 11_514, "validation": 2_033, "test": 2_974}, "speech": {"test": 2_974}}

    def columns(self, config: str) -> Features:
        """Return the features of a config; labels are those of the source, in alphabetical order."""
        scenarios, actions, entities = _labels(self.source) if self.source else ((), (), ())
        transcripts = List({"recording": TEXT, "headset": Value("bool"), "text": TEXT})
        noisy = {"text": transcripts, "clean_text": TEXT} if config == "speech" else {"text": TEXT}
        return Features(
            {
                "id": TEXT,
                **noisy,
                "scenario": ClassLabel(names=list(scenarios)),
                "action": ClassLabel(names=list(actions)),
                "entities": List({"type": ClassLabel(names=list(entities)), "text": TEXT}),
            }
        )

    def rows(self, source: Source, config: str, split: str) -> Iterator[dict[str, Any]]:
        """Yield the requests of a split; a request without any transcript is not in `speech`."""
        heard: dict[str, str] = {}
        if config == "speech":
            name = source.find(TRANSCRIPTS)
            for row in source.json_lines(name, "file", "text"):
                if heard.setdefault(row["file"], row["text"]) != row["text"]:
                    raise ValueError(f"{name} has two transcripts of the recording {row['file']!r}; keep one of them")
        for row in _requests(source, split):
            request = {
                "id": str(row["slurp_id"]),
                "text": row["sentence"],
                "scenario": row["scenario"],
                "action": row["action"],
                "entities": _entities(row),
            }
            if config == "speech":
                files = [recording["file"] for recording in row["recordings"] if recording["file"] in heard]
                if not files:
                    continue
                request["clean_text"] = request["text"]
                request["text"] = [
                    {"recording": file, "headset": "-headset" in file, "text": heard[file]} for file in files
                ]
            yield request


def _requests(source: Source, split: str) -> Iterator[dict[str, Any]]:
    name = source.find(FILES[split])
    yield from source.json_lines(name, "slurp_id", "sentence", "scenario", "action", "tokens", "entities", "recordings")


def _entities(row: dict[str, Any]) -> list[dict[str, str]]:
    surfaces = [token["surface"] for token in row["tokens"]]
    if any(not 0 <= place < len(surfaces) for entity in row["entities"] for place in entity["span"]):
        raise ValueError(f"request {row['slurp_id']} of SLURP has an entity outside of its tokens; get the file again")
    return [
        {"type": entity["type"], "text": " ".join(surfaces[place] for place in entity["span"])}
        for entity in row["entities"]
    ]


@lru_cache(maxsize=4)
def _labels(source: Source) -> tuple[tuple[str, ...], ...]:
    found: tuple[set[str], ...] = (set(), set(), set())
    for split, file in FILES.items():
        if source.match(file):
            for row in _requests(source, split):
                found[0].add(row["scenario"])
                found[1].add(row["action"])
                found[2].update(entity["type"] for entity in row["entities"])
    return tuple(tuple(sorted(names)) for names in found)


UNITS = (SlurpAsr,)
