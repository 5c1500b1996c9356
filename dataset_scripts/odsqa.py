"""ODSQA: Chinese questions on passages that were read aloud, in text and as a recogniser heard them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lapsus.dataset_scripts.squad import QuestionBenchmark

if TYPE_CHECKING:
    from lapsus.dataset_scripts.benchmark import Row


class Odsqa(QuestionBenchmark):
    """Questions on spoken passages, in text and spoken, as a commercial recogniser wrote down 20 speakers."""

    NAME = "odsqa"
    TITLE = "ODSQA"
    LANGUAGES = ("zh",)
    ARXIV = ("1808.02280",)
    LICENSE = None
    TASKS = ("question-answering",)
    TASK_IDS = ("extractive-qa",)
    TAGS = ("noise", "speech-recognition", "spoken-question-answering")
    ANNOTATIONS = "crowdsourced"
    WHERE = "https://github.com/Chia-Hsuan-Lee/ODSQA"
    FILES = {"clean": "ODSQA_textq_test-v1.1.json", "speech": "ODSQA_spokenq_test-v1.1.json"}
    ROWS = {"clean": {"test": 1_465}, "speech": {"test": 1_465}}

    def check_question(self, row: Row, where: str) -> Row:
        """Return a question with its padded id; raise unless the answers stand in the recognised passage."""
        for text, start in zip(row["answers"]["text"], row["answers"]["answer_start"], strict=True):
            if start < 0 or not row["context"].startswith(text, start):
                raise ValueError(f"{where} has the answer {text!r} at {start}, where its passage reads otherwise")
        return row | {"id": pad_id(row["id"])}


def pad_id(name: str) -> str:
    """Return an id of the source, article-passage-question, with passage and question in two digits.

    The Hub's viewer computes no statistics of a split whose ids are all of one length or one character longer.

    >>> pad_id("1151-1-12")
    '1151-01-12'
    """
    article, *numbers = name.split("-")
    return "-".join([article, *(number.zfill(2) for number in numbers)])


UNITS = (Odsqa,)
