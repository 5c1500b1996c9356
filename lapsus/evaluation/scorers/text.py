"""Scorers of texts that need no model: equality, containment, numbers, word F1, choices and JSON."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
from math import isclose
from typing import Any

from lapsus.core.checks import shorten_repr
from lapsus.core.messages import format_list
from lapsus.evaluation.answer_types import MAX_LABELS
from lapsus.evaluation.parsing import LEAD, WRAPPING, find_json_object, is_shallow, match_label, strip_wrapping
from lapsus.evaluation.scorers import Answer, AnswerScore, FunctionScorer, Rate, Scorer, ScorerOptions, ScorerProvider
from lapsus.evaluation.scorers.words import SMALL_NUMBERS, split_answer
from lapsus.metrics.answer_f1.score import choose_rules, match_best

NUMBER = re.compile(
    r"(?<![\w.,])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?!\d)(?:[eE][-+]?\d{1,3}\b)?|(?<![\w.])[-+]?\.\d+"
)
NUMBER_LEAD = re.compile(rf"{LEAD.pattern}|####|\\boxed\{{", re.IGNORECASE)
CHOICE_START = re.compile(r"\W*\(?([A-Z])(?:[).:,\]]|\W*\Z)")  # "B) Paris", "(B)", "B. Paris", "B"
CHOICE = re.compile(r"(?<!\w)\(([A-Z])\)|(?<![\w'])([A-Z])(?![\w'])")
FENCE = re.compile(r"\A```\w*\s*(.*?)\s*```\Z", re.DOTALL)


def rate_exact(answer: Answer) -> float:
    """Return whether an answer equals a gold one, but for case, blanks, and marks and quotes around it."""
    return float(_normalise(answer.text) in {_normalise(gold) for gold in answer.golds})


def _normalise(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", strip_wrapping(text) or text).casefold().split())


def rate_containment(answer: Answer) -> float:
    """Return whether the words of a gold answer stand in an answer, in a row and as whole words."""
    words = f" {' '.join(split_answer(answer.text))} "
    return float(any(f" {' '.join(split_answer(gold))} " in words for gold in answer.golds if split_answer(gold)))


def rate_number(answer: Answer) -> float | AnswerScore:
    """Return whether the number of an answer is a gold one.

    It is the number behind "the answer is", else the last one.
    """
    golds = [read_number(gold) for gold in answer.golds]
    if None in golds:
        gold = answer.golds[golds.index(None)]
        raise ValueError(
            f"row {answer.row.get('id')!r} has the gold answer {shorten_repr(gold)}, which holds no number; "
            "take --score contains or f1"
        )
    number = read_number(answer.text)
    if number is None:
        return AnswerScore(0.0, "the answer holds no number")
    return float(any(isclose(number, gold, rel_tol=1e-9, abs_tol=1e-12) for gold in golds if gold is not None))


def read_number(text: str) -> float | None:
    """Return the number that a text means; None where it holds none.

    >>> read_number("3 of the 1,200 are red. The answer is 3."), read_number("So it is −4.50 €"), read_number("seven")
    (3.0, -4.5, 7.0)
    """
    text = text.replace("\N{MINUS SIGN}", "-")
    lead = None
    for lead in NUMBER_LEAD.finditer(text):  # noqa: B007 - the last one
        pass
    behind = NUMBER.search(text, lead.end()) if lead else None
    numbers = NUMBER.findall(text)
    if behind or numbers:
        return float((behind[0] if behind else numbers[-1]).replace(",", ""))
    words = [word for word in split_answer(text) if word in SMALL_NUMBERS.values()]
    return float(words[-1]) if words else None


def prepare_f1(answers: Sequence[Answer]) -> Rate:
    """Return SQuAD's word F1, or CMRC2018's where the gold answers are mostly Chinese."""
    return partial(_rate_f1, choose_rules([list(answer.golds) for answer in answers if answer.golds]))


def _rate_f1(rules: str, answer: Answer) -> float:
    text = answer.text
    return match_best(text, list(answer.golds), rules)[1] if text else 0.0


def prepare_choice(answers: Sequence[Answer]) -> Rate:
    """Return whether an answer names the gold one of the labels that the run has."""
    labels = tuple(sorted({gold for answer in answers for gold in answer.golds}))
    if len(labels) > MAX_LABELS:
        raise ValueError(
            f"the gold answers are {len(labels)} different ones, and choice reads one of at most {MAX_LABELS} labels; "
            "take --score contains or f1"
        )
    return partial(_rate_choice, labels)


def _rate_choice(labels: tuple[str, ...], answer: Answer) -> float | AnswerScore:
    choice = read_choice(answer.text, labels)
    if choice is None:
        return AnswerScore(0.0, f"the answer names none of {format_list(labels)}, or several")
    return float(choice in answer.golds)


def read_choice(text: str, labels: Sequence[str]) -> str | None:
    """Return the label that an answer names; single letters as exams have them are no words of the sentence.

    >>> read_choice("A good question. The answer is (B).", "ABCD")
    'B'
    >>> read_choice("I think it is music.", ["music", "weather"])
    'music'
    """
    if not all(len(label) == 1 and label.isascii() and label.isupper() for label in labels):
        return match_label(text, {label: label for label in labels})
    leads = [text[lead.end() :] for lead in LEAD.finditer(text)]
    for start in (*reversed(leads), text):
        if (match := CHOICE_START.match(start.lstrip("*_ "))) and match[1] in labels:
            return match[1]
    bare = text.strip(WRAPPING)
    if bare.upper() in labels:
        return bare.upper()
    letters = {marked or letter for marked, letter in CHOICE.findall(text) if marked or letter not in {"A", "I"}}
    letters &= set(labels)
    return letters.pop() if len(letters) == 1 else None


def rate_json(answer: Answer) -> float | AnswerScore:
    """Return whether an answer is the gold JSON by value: the order of keys, case and blanks of texts do not count."""
    value = answer.prediction if not isinstance(answer.prediction, str) else read_json_answer(answer.text)
    if value is None:
        return AnswerScore(0.0, "the answer holds no JSON")
    golds = (
        answer.gold if isinstance(answer.gold, list) and all(isinstance(g, str) for g in answer.gold) else [answer.gold]
    )
    parsed = [(_load_json(gold) if isinstance(gold, str) else gold) for gold in golds]
    if None in parsed:
        raise ValueError(
            f"row {answer.row.get('id')!r} has the gold answer {shorten_repr(answer.gold)}, which is no JSON; "
            "take --score exact or f1"
        )
    return float(any(_to_comparable(value) == _to_comparable(gold) for gold in parsed))


def read_json_answer(text: str) -> Any | None:
    """Return the JSON value that a text is, or the first object in it.

    >>> read_json_answer('[1, 2]'), read_json_answer('Sure: {"a": 1}'), read_json_answer("none")
    ([1, 2], {'a': 1}, None)
    """
    text = text.strip()
    fence = FENCE.match(text)
    value = _load_json(fence[1] if fence else text)
    value = find_json_object(text) if value is None else value
    return value if is_shallow(value) else None


def _load_json(text: str) -> Any | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if is_shallow(value) else None


def _to_comparable(value: Any) -> Any:
    """Return a JSON value such that equal values compare equal: 1 is 1.0, and true is not 1.

    >>> _to_comparable({"a": 1, "b": ["X "]}) == _to_comparable({"b": ["x"], "a": 1.0})
    True
    >>> _to_comparable(True) == _to_comparable(1)
    False
    """
    if isinstance(value, dict):
        return {key: _to_comparable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_to_comparable(each) for each in value]
    if isinstance(value, str):
        return " ".join(value.split()).casefold()
    return ("boolean", value) if isinstance(value, bool) else value


def _open(name: str, rate: Rate | None, prepare: Callable[..., Rate] | None, _: str, __: ScorerOptions) -> Scorer:
    return FunctionScorer(name, rate, prepare)


UNITS = tuple(
    ScorerProvider(name, name, summary, partial(_open, name, rate, prepare))
    for name, summary, rate, prepare in (
        ("exact", "equal to a gold answer, but for case, blanks and marks around it", rate_exact, None),
        ("contains", "the words of a gold answer stand in the answer", rate_containment, None),
        ("number", "the number of the answer, behind “the answer is” or the last one", rate_number, None),
        ("f1", "F1 of the words, by the rules of SQuAD or CMRC2018", None, prepare_f1),
        ("choice", "the one label, or letter, that the answer names", None, prepare_choice),
        ("json", "JSON that is equal by value", rate_json, None),
    )
)
