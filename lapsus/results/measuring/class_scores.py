"""Balanced accuracy and macro-F1, which show where a model prefers one class.

A model that predicts "different" more often gains accuracy where most pairs differ, but finds fewer equal pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lapsus.results.coding import NONE, hashed
from lapsus.results.measuring.records import ClassScores
from lapsus.results.track_columns import NO_ANSWER

if TYPE_CHECKING:
    from lapsus.results.measuring.runs import Mask, Run

MOST_CLASSES = 100


def class_scores(run: Run, examples: Mask) -> ClassScores:
    """Score these examples by class; None where the right answers are not classes.

    They are classes if there are at least two of them, each right for two examples or more on average, and every
    answer is right or wrong. A macro-F1 averages over the classes that occur as right answers or as predictions; a
    missing answer is wrong, and no class.

    >>> from lapsus.results.measuring.runs import runs_of
    >>> from lapsus.results.tracks import Track
    >>> rows = [{"id": n, "gold": gold, "prediction": "a"} for n, gold in enumerate("aaab")]
    >>> [run] = runs_of([Track("bert", "clean", rows)])
    >>> class_scores(run, run.scored)
    ClassScores(balanced_accuracy=0.5, macro_f1=0.428...)
    """
    if run.golds is None or run.predictions is None or not examples.any() or run.golds.distinct > examples.sum() / 2:
        return ClassScores()
    scores, golds, said = (part[examples] for part in (run.scores, run.golds.codes, run.predictions.codes))
    if not np.isin(scores, (0.0, 1.0)).all() or (golds == NONE).any() or (said == NONE).any():
        return ClassScores()
    # A prediction that was scored as right is of the right class, whatever its wording.
    said = np.where(scores == 1, golds, said)
    classes, of_gold = np.unique(golds, return_inverse=True)
    if not 2 <= len(classes) <= MOST_CLASSES or len(golds) < 2 * len(classes):
        return ClassScores()
    frequency = np.bincount(of_gold)
    right = np.bincount(of_gold, scores)
    place = np.searchsorted(classes, said).clip(max=len(classes) - 1)
    known = classes[place] == said
    predicted = np.bincount(place[known], minlength=len(classes))
    others = len(np.setdiff1d(said[~known], hashed([NO_ANSWER])))
    f1 = 2 * right / (frequency + predicted)
    return ClassScores(float((right / frequency).mean()), float(f1.sum() / (len(classes) + others)))


def mean_class_scores(found: Sequence[ClassScores]) -> ClassScores:
    """Return the mean over annotators; None where one of them has no classes."""

    def mean(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if known and len(known) == len(values) else None

    return ClassScores(mean([each.balanced_accuracy for each in found]), mean([each.macro_f1 for each in found]))
