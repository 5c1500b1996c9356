"""F1, precision and recall of counts; balanced accuracy and macro F1 of classes, with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lapsus.stats.intervals import ClassRatiosEstimate, average_ratios, estimate_ratios

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lapsus.core.checks import IntArray
    from lapsus.stats import Interval


def compute_f1(true: int, predicted: int, correct: int) -> dict[str, Any]:
    """Return F1, precision and recall with their counts; None where the denominator is 0.

    >>> compute_f1(4, 2, 1)["precision"], compute_f1(0, 2, 0)["recall"]
    (0.5, None)
    """
    return {
        "f1": 2 * correct / (true + predicted) if true + predicted else None,
        "precision": correct / predicted if predicted else None,
        "recall": correct / true if true else None,
        "counts": {"true": true, "predicted": predicted, "correct": correct},
    }


class ClassRatios(NamedTuple):
    """The recalls of the true classes of one annotator's rows, and the F1 of all classes."""

    recalls: ClassRatiosEstimate
    f1: ClassRatiosEstimate


class ClassRates(NamedTuple):
    """The mean recall and the mean F1, each with its interval."""

    balanced_accuracy: float
    balanced_accuracy_ci: Interval | None
    macro_f1: float
    macro_f1_ci: Interval | None


def compute_class_ratios(gold: IntArray, predicted: IntArray, clusters: IntArray | None = None) -> ClassRatios:
    """Return the recalls and the F1 of the classes of rows.

    Args:
        gold: the number of each row's true class, from 0 on.
        predicted: the number of the predicted class; -1 for a prediction that is no class.
        clusters: the number of each row's cluster; None where each row is its own.
    """
    cluster_ids = np.arange(len(gold)) if clusters is None else clusters
    shared = clusters is not None and int((np.bincount(clusters) > 0).sum()) < len(gold)
    is_correct = np.asarray(gold == predicted, float)
    is_wrong_class = (gold != predicted) & (predicted >= 0)
    recalls = estimate_ratios(gold, cluster_ids, is_correct, np.ones(len(gold)), shared=shared)
    f1 = estimate_ratios(  # 2 right / (true + predicted): a right row counts on both sides, a wrong one in two classes
        np.concatenate([gold, predicted[is_wrong_class]]),
        np.concatenate([cluster_ids, cluster_ids[is_wrong_class]]),
        np.concatenate([2 * is_correct, np.zeros(int(is_wrong_class.sum()))]),
        np.concatenate([1 + is_correct, np.ones(int(is_wrong_class.sum()))]),
        shared=shared,
    )
    return ClassRatios(recalls, f1)


def compute_class_rates(annotators: Sequence[ClassRatios], level: float) -> ClassRates:
    """Return the rates on average over annotators, whose clusters have the same numbers.

    >>> rates = compute_class_rates([compute_class_ratios(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]))], 0.95)
    >>> rates.balanced_accuracy, rates.macro_f1, [round(end, 2) for end in rates.balanced_accuracy_ci]
    (0.75, 0.733..., [0.14, 0.98])
    """
    recalls = average_ratios([annotator.recalls for annotator in annotators], level)
    return ClassRates(*recalls, *average_ratios([annotator.f1 for annotator in annotators], level))
