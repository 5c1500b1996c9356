"""Balanced accuracy and macro F1 of classes given as numbers, and their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lapsus.kernel.statistics.ratios import Parts, mean_of_ratios

if TYPE_CHECKING:
    from lapsus.kernel.columns import FloatArray, IntArray
    from lapsus.kernel.statistics import Interval


class ClassRates(NamedTuple):
    """The mean recall of the true classes, and the mean F1 of all, each with its interval."""

    balanced_accuracy: float
    balanced_accuracy_ci: Interval | None
    macro_f1: float
    macro_f1_ci: Interval | None


def class_rates(
    truth: IntArray, guess: IntArray, originals: IntArray, level: float, annotators: IntArray | None = None
) -> ClassRates:
    """Return the rates of one annotator's rows, or their mean over the annotators of the rows.

    Args:
        truth: the number of each row's true class, from 0 on.
        guess: the number of the predicted class.
        originals: the number of what each row was made from.
        level: of the intervals.
        annotators: the number of each row's annotator.

    >>> rates = class_rates(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]), np.arange(4), 0.95)
    >>> rates.balanced_accuracy, rates.macro_f1, [round(end, 2) for end in rates.balanced_accuracy_ci]
    (0.75, 0.733..., [0.21, 1.0])
    """
    number = int(max(truth.max(), guess.max())) + 1
    annotator = np.zeros(len(truth), np.int64) if annotators is None else annotators
    shared = len(np.unique(originals)) < len(truth)
    right = np.asarray(truth == guess, float)
    ones = np.ones(len(truth))
    true, said = annotator * number + truth, annotator * number + guess
    recalls = _mean(Parts(true, originals, right, ones), number, level, shared=shared)
    both = Parts(
        np.concatenate([true, said]),
        np.concatenate([originals, originals]),
        np.concatenate([right, right]),  # F1 is 2 right / (true + predicted)
        np.concatenate([ones, ones]),
    )
    return ClassRates(*recalls, *_mean(both, number, level, shared=shared))


def _mean(parts: Parts, number: int, level: float, *, shared: bool) -> tuple[float, Interval | None]:
    """Return the mean over annotators of the mean over the classes that each of them has."""
    present, ratios = np.unique(parts.ratios, return_inverse=True)
    annotator = present // number
    weights: FloatArray = 1 / np.bincount(annotator)[annotator] / len(np.unique(annotator))
    return mean_of_ratios(Parts(ratios, parts.clusters, parts.values, parts.sizes), weights, level, shared=shared)
