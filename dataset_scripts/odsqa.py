"""ODSQA: Chinese questions on passages that were read aloud, in text and as a recogniser heard them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from datasets import Features, List, Value

from lapsus.dataset_scripts.benchmark import Benchmark, parse_text
from lapsus.dataset_scripts.readin import iter_squad

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lapsus.dataset_scripts.source import Source

TEXT = Value("string")
FILES = {"clean": "ODSQA_textq_test-v1.1.json", "speech": "ODSQA_spokenq_test-v1.1.json"}


class Odsqa(Benchmark):
    """Questions on spoken passages, in text and spoken, as a commercial recogniser wrote down 20 speakers."""

    NAME = "odsqa"
    TITLE = "ODSQA"
    LANGUAGES = ("zh",)
    LICENSE = None
    TASKS = ("question-answering",)
    TASK_IDS = ("extractive-qa",)
    TAGS = ("noise", "speech-recognition", "spoken-question-answering")
    ANNOTATIONS = "crowdsourced"
    WHERE = "https://github.com/Chia-Hsuan-Lee/ODSQA"
    ROWS = {config: {"test": 1_465} for config in FILES}

    def columns(self, config: str) -> Features:
        """Return the features of a config."""
        answers = {"text": List(TEXT), "answer_start": List(Value("int32"))}
        clean = {} if config == "clean" else {"clean_question": TEXT}
        return Features({"id": TEXT, "context": TEXT, "question": TEXT, "answers": answers, **clean})

    def rows(self, source: Source, config: str, split: str) -> Iterator[dict[str, Any]]:
        """Yield the questions; those of both files must be on the same passages, with the same answers."""
        clean_name = source.find_one(FILES["clean"])
        clean = self.read_questions(source, clean_name)
        if config == "clean":
            yield from clean.values()
            return
        name = source.find_one(FILES[config])
        spoken = self.read_questions(source, name)
        if spoken.keys() != clean.keys():
            unmatched_id = min(spoken.keys() ^ clean.keys())
            raise ValueError(
                f"question {unmatched_id!r} is in only one of {name} and {clean_name}; get the files again"
            )
        for key, row in clean.items():
            if (spoken[key]["context"], spoken[key]["answers"]) != (row["context"], row["answers"]):
                raise ValueError(f"question {key!r} of {name} has another context or answer than {clean_name}")
            yield {**spoken[key], "clean_question": row["question"]}

    def read_questions(self, source: Source, name: str) -> dict[str, dict[str, Any]]:
        """Return the questions of a file by id; raise unless the answers stand in the recognised passage."""
        questions: dict[str, dict[str, Any]] = {}
        for row in iter_squad(source, name):
            where = f"{name} question {row['id']!r}"
            row["id"] = pad_id(row["id"])
            if row["id"] in questions:
                raise ValueError(f"{where} is there twice; keep one of them")
            parse_text(row, "question", where)
            for text, start in zip(row["answers"]["text"], row["answers"]["answer_start"], strict=True):
                if start < 0 or not row["context"].startswith(text, start):
                    raise ValueError(f"{where} has the answer {text!r} at {start}, where its passage reads otherwise")
            questions[row["id"]] = row
        return questions


def pad_id(name: str) -> str:
    """Return an id of the source, article-passage-question, with passage and question in two digits.

    The Hub's viewer computes no statistics of a split whose ids are all of one length or one character longer.

    >>> pad_id("1151-1-12")
    '1151-01-12'
    """
    article, *numbers = name.split("-")
    return "-".join([article, *(number.zfill(2) for number in numbers)])


UNITS = (Odsqa,)
