"""SLURP: requests to a home assistant, beside what a speech recogniser made of every recording of them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from datasets import ClassLabel, Features, List, Value, Version

from lapsus.dataset_scripts.benchmark import Benchmark, text_in

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
            for number, row in enumerate(source.json_lines(name, "file", "text"), start=1):
                file = text_in(row, "file", f"{name} row {number}")
                if file in heard:
                    raise ValueError(
                        f"{name} row {number} is a second transcript of the recording {file!r}; keep one of them"
                    )
                heard[file] = text_in(row, "text", f"{name} row {number}", empty=True)
        for where, row in _requests(source, split):
            request = {
                "id": str(row["slurp_id"]),
                "text": text_in(row, "sentence", where),
                "scenario": row["scenario"],
                "action": row["action"],
                "entities": _entities(row, where),
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


def _requests(source: Source, split: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the requests of a split, each with where it stands."""
    name = source.find(FILES[split])
    keys = ("slurp_id", "sentence", "scenario", "action", "tokens", "entities", "recordings")
    for number, row in enumerate(source.json_lines(name, *keys), start=1):
        yield f"{name} row {number}", row


def _entities(row: dict[str, Any], where: str) -> list[dict[str, str]]:
    surfaces = [text_in(token, "surface", where) for token in row["tokens"]]
    for place in (place for entity in row["entities"] for place in entity["span"]):
        if type(place) is not int or not 0 <= place < len(surfaces):
            raise ValueError(
                f"{where} has an entity at {place!r}, outside of its {len(surfaces)} tokens; get the file again"
            )
    return [
        {"type": entity["type"], "text": " ".join(surfaces[place] for place in entity["span"])}
        for entity in row["entities"]
    ]


@lru_cache(maxsize=4)
def _labels(source: Source) -> tuple[tuple[str, ...], ...]:
    found: tuple[set[str], ...] = (set(), set(), set())
    for split, file in FILES.items():
        if source.match(file):
            for where, row in _requests(source, split):
                for label in ("scenario", "action"):
                    text_in(row, label, where)
                found[0].add(row["scenario"])
                found[1].add(row["action"])
                found[2].update(text_in(entity, "type", where) for entity in row["entities"])
    return tuple(tuple(sorted(names)) for names in found)


UNITS = (SlurpAsr,)
