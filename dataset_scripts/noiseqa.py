"""NoiseQA: English questions on Wikipedia paragraphs, typed in a hurry and spoken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from datasets import Features, List, Value, Version

from lapsus.dataset_scripts.benchmark import Benchmark, parse_text
from lapsus.dataset_scripts.readin import iter_squad

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lapsus.dataset_scripts.source import Source

TEXT = Value("string")
FILES = {
    "clean": "xquad-context-en-question-en.json",
    "keyboard": "xquad-keyboard-natural.json",
    "speech": "xquad-asr-natural.json",
}


class NoiseQa(Benchmark):
    """The English questions of XQuAD, retyped without corrections, and read aloud to a speech recogniser."""

    NAME = "noiseqa"
    TITLE = "NoiseQA"
    LANGUAGES = ("en",)
    LICENSE = "cc-by-sa-4.0"  # of its content, which is SQuAD's and XQuAD's; the repository is MIT
    LICENSE_LINK = "https://creativecommons.org/licenses/by-sa/4.0/"
    VERSION = Version("1.0.1")  # the licence and citations of the card
    TASKS = ("question-answering",)
    TASK_IDS = ("extractive-qa",)
    TAGS = ("noise", "keyboard", "speech-recognition")
    ANNOTATIONS = "crowdsourced"
    WHERE = "the folder Natural of https://github.com/noiseQA/NoiseQA"
    ROWS = {config: {"test": 1_190} for config in FILES}

    def columns(self, config: str) -> Features:
        """Return the features of a config."""
        answers = {"text": List(TEXT), "answer_start": List(Value("int32"))}
        clean = {} if config == "clean" else {"clean_question": TEXT}
        return Features({"id": TEXT, "context": TEXT, "question": TEXT, "answers": answers, **clean})

    def rows(self, source: Source, config: str, split: str) -> Iterator[dict[str, Any]]:
        """Yield the questions; those of the noisy files must be those of the clean one."""
        clean_name = source.find_one(FILES["clean"])
        clean = read_questions(source, clean_name)
        if config == "clean":
            yield from clean.values()
            return
        name = source.find_one(FILES[config])
        noisy = read_questions(source, name)
        if noisy.keys() != clean.keys():
            unmatched_id = min(noisy.keys() ^ clean.keys())
            raise ValueError(
                f"question {unmatched_id!r} is in only one of {name} and {clean_name}; get the files again"
            )
        for key, row in clean.items():
            if (noisy[key]["context"], noisy[key]["answers"]) != (row["context"], row["answers"]):
                raise ValueError(f"question {key!r} of {name} has another context or answer than {clean_name}")
            yield {**noisy[key], "clean_question": row["question"]}


def read_questions(source: Source, name: str) -> dict[str, dict[str, Any]]:
    """Return the questions of a file by id."""
    questions: dict[str, dict[str, Any]] = {}
    for row in iter_squad(source, name):
        where = f"{name} question {row['id']!r}"
        if row["id"] in questions:
            raise ValueError(f"{where} is there twice; keep one of them")
        parse_text(row, "question", where)
        questions[row["id"]] = row
    return questions


UNITS = (NoiseQa,)
