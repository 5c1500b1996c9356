"""Questions on passages, in the form of SQuAD: their files, and benchmarks with one file per track."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from datasets import Features, List, Value

from lapsus.dataset_scripts.benchmark import TEXT, Benchmark, Row, parse_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lapsus.dataset_scripts.source import Source

MANY_MISPLACED = 5  # answers of a file; some of CMRC's are elsewhere than stated
ANSWERS = {"text": List(TEXT), "answer_start": List(Value("int32"))}


class QuestionBenchmark(Benchmark):
    """Questions on passages, with one SQuAD file of the clean questions and one of each track."""

    FILES: ClassVar[Mapping[str, str]]  # config -> file, of `clean` first

    def columns(self, config: str) -> Features:
        """Return the features of a config."""
        clean = {} if config == "clean" else {"clean_question": TEXT}
        return Features({"id": TEXT, "context": TEXT, "question": TEXT, "answers": ANSWERS, **clean})

    def rows(self, source: Source, config: str, split: str) -> Iterator[Row]:
        """Yield the questions; a noisy one must have the same passage and answers as its clean twin."""
        clean_name = source.find_one(self.FILES["clean"])
        clean = self.read_questions(source, clean_name)
        if config == "clean":
            yield from clean.values()
            return
        name = source.find_one(self.FILES[config])
        noisy = self.read_questions(source, name)
        if noisy.keys() != clean.keys():
            unmatched_id = min(noisy.keys() ^ clean.keys())
            raise ValueError(
                f"question {unmatched_id!r} is in only one of {name} and {clean_name}; get the files again"
            )
        for key, row in clean.items():
            if (noisy[key]["context"], noisy[key]["answers"]) != (row["context"], row["answers"]):
                raise ValueError(f"question {key!r} of {name} has another context or answer than {clean_name}")
            yield {**noisy[key], "clean_question": row["question"]}

    def read_questions(self, source: Source, name: str) -> dict[str, Row]:
        """Return the questions of a file by id."""
        questions: dict[str, Row] = {}
        for row in iter_squad(source, name):
            where = f"{name} question {row['id']!r}"
            question = self.check_question(row, where)
            if question["id"] in questions:
                raise ValueError(f"{where} is there twice; keep one of them")
            parse_text(question, "question", where)
            questions[question["id"]] = question
        return questions

    def check_question(self, row: Row, where: str) -> Row:
        """Return a question as it is published; raise where it cannot be."""
        return row


def iter_squad(source: Source, name: str, *, unanswerable: bool = False) -> Iterator[Row]:
    """Yield the questions of a SQuAD-style file, or of one object per line with the same keys.

    A question may be empty, as a recogniser hears some; without an answer it is refused unless `unanswerable`.
    """
    try:
        is_json_lines = "question" in json.loads(next(source.read_lines(name)))
    except json.JSONDecodeError:
        is_json_lines = False
    if is_json_lines:
        questions = list(source.read_json_lines(name, "id", "context", "question", "answers"))
    else:
        content = source.read_json(name)
        if not isinstance(content, dict) or "data" not in content:
            raise ValueError(f"{name} is no SQuAD-style file (an object with `data`); name the original file")
        questions = [
            {**question, "context": paragraph["context"]}
            for article in content["data"]
            for paragraph in article["paragraphs"]
            for question in paragraph["qas"]
        ]
    n_answers = n_misplaced = 0
    for question in questions:
        where = f"{name} question {question['id']!r}"
        if not isinstance(question["id"], str | int) or question["id"] == "":
            raise ValueError(f"{where} has an id that is no text; mend the question")
        context = parse_text(question, "context", where).rstrip("\r\n")
        answers = read_answers(question, where)
        if not (answers["text"] or unanswerable):
            raise ValueError(f"{where} has no answer; mend the question")
        for text, start in zip(answers["text"], answers["answer_start"], strict=True):
            n_answers += start >= 0
            n_misplaced += start >= 0 and question["context"][start : start + len(text)] != text
        question_text = strip_line_end(question, "question", where)
        yield {"id": str(question["id"]), "context": context, "question": question_text, "answers": answers}
    if n_misplaced >= MANY_MISPLACED and 2 * n_misplaced > n_answers:
        raise ValueError(
            f"{n_misplaced:,} of the {n_answers:,} answers of {name} are not at their place in the paragraph; "
            "they may be those of other rows: get the file again"
        )


def read_answers(question: Mapping[str, Any], where: str) -> dict[str, list[Any]]:
    """Return the answers of a question as SQuAD lists them, each within the paragraph.

    Whether one answer is at its stated position is not checked: 200 of CMRC's are not.
    """
    answers = question["answers"]
    if isinstance(answers, list):
        answers = {key: [answer[key] for answer in answers] for key in ("text", "answer_start")}
    texts, starts = answers["text"], answers["answer_start"]
    if len(texts) != len(starts):
        raise ValueError(f"{where} has {len(texts)} answers at {len(starts)} places; mend the question")
    for text, start in zip(texts, starts, strict=True):
        if not isinstance(text, str) or not text.strip() or type(start) is not int:
            raise ValueError(f"{where} has the answer {text!r} at {start!r}; give a text and a number")
        if not -1 <= start < len(question["context"]):
            raise ValueError(f"{where} has an answer at {start}, outside of its paragraph; mend the question")
    return {"text": texts, "answer_start": starts}


def strip_line_end(row: Mapping[str, Any], field: str, where: str) -> str:
    """Return a text of a row without the line end that some files have in their strings."""
    return parse_text(row, field, where, empty=True).rstrip("\r\n")
