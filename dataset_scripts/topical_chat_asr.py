"""Topical-Chat ASR: written chats of two people, read aloud, as two recognisers wrote them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from datasets import Features, List, Value

from lapsus.dataset_scripts.benchmark import TEXT, Benchmark, Row, parse_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lapsus.dataset_scripts.source import Source

FILES = {"test_freq": "test_freq_audio.json", "test_rare": "test_rare_audio.json"}
TEXTS = {"clean": "message", "speech.1": "message_asr_A", "speech.2": "message_asr_B"}
ROWS: dict[str, int | None] = dict.fromkeys(FILES)  # how many turns were read aloud is not published


class TopicalChatAsr(Benchmark):
    """Turns of chats on articles and facts, as written and as two recognisers heard them read aloud."""

    NAME = "topical-chat-asr"
    TITLE = "Topical-Chat ASR"
    LANGUAGES = ("en",)
    LICENSE = "cdla-sharing-1.0"
    LICENSE_LINK = "https://cdla.dev/sharing-1-0/"
    TASKS = ("text-generation",)
    TAGS = ("noise", "speech-recognition", "dialogue")
    ARXIV = ("2008.07683",)
    WHERE = "https://github.com/alexa/Topical-Chat (the folder TopicalChatASR/actual)"
    ROWS = dict.fromkeys(TEXTS, ROWS)

    def columns(self, config: str) -> Features:
        """Return the features of a config."""
        clean = {} if config == "clean" else {"clean_text": TEXT}
        return Features(
            {
                "id": TEXT,
                "text": TEXT,
                **clean,
                "dialogue": TEXT,
                "turn": Value("int32"),
                "speaker": TEXT,
                "context": List({"speaker": TEXT, "text": TEXT}),
                "sentiment": TEXT,
            }
        )

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the turns of a split, each with the turns before it in the same form."""
        name = source.find_one(FILES[split])
        for dialogue, chat in source.read_json(name).items():
            context: list[dict[str, str]] = []
            for number, turn in enumerate(chat["content"]):
                where = f"{name} dialogue {dialogue} turn {number}"
                clean = parse_text(turn, "message", where).strip()
                text = clean if config == "clean" else parse_text(turn, TEXTS[config], where, empty=True).strip()
                speaker = parse_text(turn, "agent", where)
                yield {
                    "id": f"{dialogue}/{number:03}",
                    "text": text,
                    **({} if config == "clean" else {"clean_text": clean}),
                    "dialogue": dialogue,
                    "turn": number,
                    "speaker": speaker,
                    "context": list(context),
                    "sentiment": parse_text(turn, "sentiment", where, empty=True),
                }
                context.append({"speaker": speaker, "text": text})


UNITS = (TopicalChatAsr,)
