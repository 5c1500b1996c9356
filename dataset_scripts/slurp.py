"""SLURP: requests to a home assistant, beside what a speech recogniser made of every recording of them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from datasets import ClassLabel, Features, List, Value, Version

from lapsus.dataset_scripts.benchmark import TEXT, Benchmark, Row, parse_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lapsus.dataset_scripts.source import Source

FILES = {"train": "train.jsonl", "validation": "devel.jsonl", "test": "test.jsonl"}
TRANSCRIPTS = "multi_slurp_hermit_predictions.jsonl"


class SlurpAsr(Benchmark):
    """Intents and entities of requests, from the gold text and from real transcripts of several speakers each."""

    NAME = "slurp-asr"
    VERSION = Version("1.0.2")  # pages of the citation
    TITLE = "SLURP with real transcripts"
    LANGUAGES = ("en",)
    ARXIV = ("2011.13205",)
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
        scenarios, actions, entities = _collect_labels(self.source) if self.source else ((), (), ())
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

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the requests of a split; a request without any transcript is not in `speech`."""
        transcripts: dict[str, str] = {}
        if config == "speech":
            name = source.find_one(TRANSCRIPTS)
            for number, row in enumerate(source.read_json_lines(name, "file", "text"), start=1):
                file = parse_text(row, "file", f"{name} row {number}")
                if file in transcripts:
                    raise ValueError(
                        f"{name} row {number} is a second transcript of the recording {file!r}; keep one of them"
                    )
                transcripts[file] = parse_text(row, "text", f"{name} row {number}", empty=True)
        for where, row in _iter_requests(source, split):
            request = {
                "id": str(row["slurp_id"]),
                "text": parse_text(row, "sentence", where),
                "scenario": row["scenario"],
                "action": row["action"],
                "entities": _parse_entities(row, where),
            }
            if config == "speech":
                files = [recording["file"] for recording in row["recordings"] if recording["file"] in transcripts]
                if not files:
                    continue
                request["clean_text"] = request["text"]
                request["text"] = [
                    {"recording": file, "headset": "-headset" in file, "text": transcripts[file]} for file in files
                ]
            yield request


def _iter_requests(source: Source, split: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the requests of a split, each with where it stands."""
    name = source.find_one(FILES[split])
    keys = ("slurp_id", "sentence", "scenario", "action", "tokens", "entities", "recordings")
    for number, row in enumerate(source.read_json_lines(name, *keys), start=1):
        yield f"{name} row {number}", row


def _parse_entities(row: dict[str, Any], where: str) -> list[dict[str, str]]:
    surfaces = [parse_text(token, "surface", where) for token in row["tokens"]]
    for index in (index for entity in row["entities"] for index in entity["span"]):
        if type(index) is not int or not 0 <= index < len(surfaces):
            raise ValueError(
                f"{where} has an entity at {index!r}, outside of its {len(surfaces)} tokens; get the file again"
            )
    return [
        {"type": entity["type"], "text": " ".join(surfaces[index] for index in entity["span"])}
        for entity in row["entities"]
    ]


@lru_cache(maxsize=4)
def _collect_labels(source: Source) -> tuple[tuple[str, ...], ...]:
    labels: tuple[set[str], ...] = (set(), set(), set())
    for split, file in FILES.items():
        if source.match(file):
            for where, row in _iter_requests(source, split):
                for label in ("scenario", "action"):
                    parse_text(row, label, where)
                labels[0].add(row["scenario"])
                labels[1].add(row["action"])
                labels[2].update(parse_text(entity, "type", where) for entity in row["entities"])
    return tuple(tuple(sorted(names)) for names in labels)


UNITS = (SlurpAsr,)
