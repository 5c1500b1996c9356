"""Balanced accuracy and macro F1 of classes given as numbers, and their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lapsus.kernel.statistics.ratios import Ratios, mean_of_ratios, ratios

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lapsus.kernel.columns import IntArray
    from lapsus.kernel.statistics import Interval


class ClassRatios(NamedTuple):
    """The recalls of the true classes of one annotator's rows, and the F1 of all classes."""

    recalls: Ratios
    f1: Ratios


class ClassRates(NamedTuple):
    """The mean recall and the mean F1, each with its interval."""

    balanced_accuracy: float
    balanced_accuracy_ci: Interval | None
    macro_f1: float
    macro_f1_ci: Interval | None


def class_ratios(truth: IntArray, guess: IntArray, originals: IntArray | None = None) -> ClassRatios:
    """Return the recalls and the F1 of the classes of rows.

    Args:
        truth: the number of each row's true class, from 0 on.
        guess: the number of the predicted class; -1 for an answer that is no class.
        originals: the number of what each row was made from; None where each is its own.
    """
    own = np.arange(len(truth)) if originals is None else originals
    shared = originals is not None and int((np.bincount(originals) > 0).sum()) < len(truth)
    right = np.asarray(truth == guess, float)
    other = (truth != guess) & (guess >= 0)
    recalls = ratios(truth, own, right, np.ones(len(truth)), shared=shared)
    f1 = ratios(  # 2 right / (true + predicted): a right row counts on both sides, a wrong one in two classes
        np.concatenate([truth, guess[other]]),
        np.concatenate([own, own[other]]),
        np.concatenate([2 * right, np.zeros(int(other.sum()))]),
        np.concatenate([1 + right, np.ones(int(other.sum()))]),
        shared=shared,
    )
    return ClassRatios(recalls, f1)


def class_rates(annotators: Sequence[ClassRatios], level: float) -> ClassRates:
    """Return the rates on average over annotators, whose originals have the same numbers.

    >>> rates = class_rates([class_ratios(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]))], 0.95)
    >>> rates.balanced_accuracy, rates.macro_f1, [round(end, 2) for end in rates.balanced_accuracy_ci]
    (0.75, 0.733..., [0.21, 1.0])
    """
    recalls = mean_of_ratios([each.recalls for each in annotators], level)
    return ClassRates(*recalls, *mean_of_ratios([each.f1 for each in annotators], level))
