"""Balanced accuracy and macro-F1, which show where a model prefers one class.

A model that predicts "different" more often gains accuracy where most pairs differ, but finds fewer equal pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lapsus.results.measuring.records import ClassScores
from lapsus.results.measuring.runs import NO_ANSWER
from lapsus.results.predictions import label

MOST_CLASSES = 100


def class_scores(
    rows: Mapping[str, Mapping[str, Any]], scores: Mapping[str, float], keys: Iterable[str]
) -> ClassScores:
    """Score the rows with these ids by class; None where the right answers are not classes.

    They are classes if there are at least two of them, each right for two examples or more on average, and every
    answer is right or wrong. A macro-F1 averages over the classes that occur as right answers or as predictions; a
    missing answer is wrong, and no class.

    >>> rows = {"1": {"gold": "a", "prediction": "a"}, "2": {"gold": "a", "prediction": "a"},
    ...         "3": {"gold": "a", "prediction": "a"}, "4": {"gold": "b", "prediction": "a"}}
    >>> class_scores(rows, {"1": 1.0, "2": 1.0, "3": 1.0, "4": 0.0}, rows)
    ClassScores(balanced_accuracy=0.5, macro_f1=0.428...)
    """
    cases = [(rows[key].get("gold"), rows[key].get("prediction"), scores[key]) for key in keys]
    if any(gold is None or said is None or score not in {0.0, 1.0} for gold, said, score in cases):
        return ClassScores()
    golds = Counter(label(gold) for gold, _, _ in cases)
    if not 2 <= len(golds) <= MOST_CLASSES or len(cases) < 2 * len(golds):
        return ClassScores()
    right = Counter(label(gold) for gold, _, score in cases if score)
    # A prediction that was scored as right is of the right class, whatever its wording.
    said = Counter(label(gold if score else answer) for gold, answer, score in cases)
    recalls = [right[gold] / number for gold, number in golds.items()]
    every = golds.keys() | said.keys() - {NO_ANSWER}
    f1 = [2 * right[each] / (golds[each] + said[each]) for each in sorted(every)]
    return ClassScores(sum(recalls) / len(recalls), sum(f1) / len(f1))


def mean_class_scores(found: Sequence[ClassScores]) -> ClassScores:
    """Return the mean over annotators; None where one of them has no classes."""

    def mean(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if known and len(known) == len(values) else None

    return ClassScores(mean([each.balanced_accuracy for each in found]), mean([each.macro_f1 for each in found]))
