"""Answers to questions, where the right ones are a list: they are scored by the F1 of the metric `answer_f1`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.kernel.frames import values
from lapsus.metrics.answer_f1.score import best_match, right_answers, rules_for

if TYPE_CHECKING:
    from lapsus.kernel.columns import FloatArray
    from lapsus.kernel.frames import Column


def passage_scores(said: Column, gold: Column) -> FloatArray | None:
    """Return the F1 of each answer, by the rules of the language of the right ones; None where these are no lists.

    >>> passage_scores(["in Paris", None], [{"text": ["Paris", "Lutetia"]}, {"text": ["1889"]}])
    array([0.66666667, 0.        ])
    >>> passage_scores(["yes"], ["yes"]) is None
    True
    """
    golds = values(gold)
    if not _lists(next((each for each in golds if each is not None), None)):
        return None
    answers = values(said)
    if not all(answer is None or isinstance(answer, str) for answer in answers):
        return None
    right = [right_answers([] if each is None else each) for each in golds]
    rules = rules_for(right)
    return np.array([best_match(a, g, rules)[1] if a else 0.0 for a, g in zip(answers, right, strict=True)])


def _lists(gold: Any) -> bool:
    """Return whether a right answer is SQuAD's `{"text": [...]}`, or a list of texts."""
    held = gold.get("text") if isinstance(gold, Mapping) else gold
    return isinstance(held, list) and all(isinstance(text, str) for text in held)
