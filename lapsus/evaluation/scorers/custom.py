"""Any Python function as a scorer: `python:MODULE:FUNCTION`."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from traceback import extract_tb
from typing import Any

from lapsus.evaluation.models.function import import_function
from lapsus.evaluation.scorers import Answer, AnswerScore, FunctionScorer, Scorer, ScorerOptions, ScorerProvider

TAKES = "a scorer takes a prediction, the list of gold answers and the row, and returns a number from 0 to 1, or None"


def open_function(rest: str, _: ScorerOptions) -> Scorer:
    """Return `MODULE:FUNCTION` as a scorer; it may say with an attribute `reference` that it needs no gold answers."""
    function = import_function(rest)
    name = f"python:{rest}"
    try:
        signature(function).bind(*range(3))
    except TypeError as error:
        raise TypeError(f"{name} takes {signature(function)}, but {TAKES}") from error
    except ValueError:  # some functions of C do not tell theirs
        pass

    def rate(answer: Answer) -> AnswerScore:
        return _call(function, name, answer)

    return FunctionScorer(name, rate, reference=getattr(function, "reference", "gold"))


def _call(function: Callable[..., Any], name: str, answer: Answer) -> AnswerScore:
    try:
        value = function(answer.prediction, list(answer.golds), dict(answer.row))
    except Exception as error:
        last = extract_tb(error.__traceback__)[-1]
        raise ValueError(
            f"{name} raised {type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno}); {TAKES}"
        ) from error
    if value is None:
        return AnswerScore(None, f"{name} gave no score")
    try:
        return AnswerScore(float(value))
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} returned {value!r} for row {answer.row.get('id')!r}; {TAKES}") from error


UNITS = (
    ScorerProvider("python", "python:MODULE:FUNCTION", "a function (prediction, gold answers, row)", open_function),
)
