"""CATSLU navigation: Mandarin requests to a car as they were said and as they were recognised, with their meaning."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from datasets import ClassLabel, Features, List, Version

from lapsus.dataset_scripts.benchmark import TEXT, Benchmark, Row, parse_label, parse_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lapsus.dataset_scripts.source import Source

FILES = {"train": "train.json", "validation": "development.json"}
ACTS = ("inform", "deny")
SLOTS = (
    "poi名称",
    "poi修饰",
    "poi目标",
    "起点名称",
    "起点修饰",
    "起点目标",
    "终点名称",
    "终点修饰",
    "终点目标",
    "途经点名称",
    "请求类型",
    "出行方式",
    "路线偏好",
    "对象",
    "操作",
    "序列号",
    "页码",
    "value",
)
MARKER = re.compile(r"\((unknown|side|dialect|robot|noise)\)")  # marks for speech that is not transcribed


class ZhAsrSlu(Benchmark):
    """Semantic frames of spoken requests, from the manual transcript and from the recogniser's best guess."""

    NAME = "zh-asr-slu"
    TITLE = "Mandarin navigation requests with real transcripts"
    LANGUAGES = ("zh",)
    LICENSE = None
    VERSION = Version("1.0.1")  # pages of the citation
    TASKS = ("text-classification", "text-generation")
    TAGS = ("spoken-language-understanding", "speech-recognition", "catslu")
    WHERE = "the navigation (map) domain of the CATSLU challenge, https://sites.google.com/view/catslu"
    ROWS = {config: {"train": 4_006, "validation": 736} for config in ("clean", "speech")}

    def columns(self, config: str) -> Features:
        """Return the features of a config."""
        frame = {"act": ClassLabel(names=list(ACTS)), "slot": ClassLabel(names=list(SLOTS)), "value": TEXT}
        clean = {} if config == "clean" else {"clean_text": TEXT}
        return Features({"id": TEXT, "text": TEXT, **clean, "frame": List(frame)})

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the utterances that were transcribed in full; the id is dialogue and turn."""
        name = source.find_one(FILES[split])
        for dialogue, turns in enumerate(source.read_json(name)):
            for turn in turns:
                where = f"{name} dialogue {dialogue} turn {turn.get('utt_id')}"
                transcript, recognition = (
                    parse_text(turn, "manual_transcript", where),
                    parse_text(turn, "asr_1best", where, empty=True),
                )
                if MARKER.search(transcript):
                    continue
                row = {
                    "id": f"{dialogue}-{turn['utt_id']}",
                    "text": transcript,
                    "frame": [
                        {
                            "act": parse_label(dict(zip(ACTS, ACTS, strict=True)), act, where),
                            "slot": parse_label(dict(zip(SLOTS, SLOTS, strict=True)), slot, where),
                            "value": parse_text({"value": value}, "value", where, empty=True),
                        }
                        for act, slot, value in turn["semantic"]
                    ],
                }
                if config == "speech":
                    row |= {"clean_text": transcript, "text": "" if recognition == "null" else recognition}
                yield row


UNITS = (ZhAsrSlu,)
