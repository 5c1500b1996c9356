"""How well labels are predicted, whatever share of the examples each label has."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus import stats
from lapsus.core import checks
from lapsus.io.answers import describe_rewriting
from lapsus.stats.classification import compute_class_rates, compute_class_ratios, compute_f1

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def classification(
    predictions: Iterable[str] | Iterable[int],
    references: Iterable[str] | Iterable[int],
    *,
    label_map: Mapping[Any, Any] | None = None,
    clusters: Iterable[Any] | None = None,
    confidence_level: float = 0.95,
) -> dict[str, Any]:
    """Return accuracy, and beside it balanced accuracy and macro F1, in which every label weighs the same.

    Args:
        predictions: the predicted labels.
        references: the gold labels.
        label_map: labels to be read as others before anything is compared, as in
            `{"contradiction": "not_entailment", "neutral": "not_entailment"}`.
        clusters: the original of each example; examples with the same original form one cluster.
        confidence_level: of the intervals.

    Returns:
        accuracy: the share of right predictions.
        balanced_accuracy: the mean of the recalls of the gold labels: of a classifier that always says one label, 1
            divided by their number.
        macro_f1: the mean F1 of the labels that are gold or predicted.
        accuracy_ci: Wilson's interval of accuracy, at the effective number of clusters.
        balanced_accuracy_ci, macro_f1_ci: their intervals, from those of each label's recall and F1.
        labels: for each label f1, precision, recall and counts (true, predicted, correct); a rate with nothing to
            divide by is None, and counts as 0 in `macro_f1` where the label is only predicted or never predicted.
        examples: how many there are.

    Example:
        >>> result = classification(["no", "no", "no", "yes"], ["no", "no", "yes", "yes"])
        >>> result["accuracy"], result["balanced_accuracy"], round(result["macro_f1"], 4)
        (0.75, 0.75, 0.7333)
    """
    stats.check_level(confidence_level)
    predicted_labels, gold_labels = (
        checks.check_list("predictions", predictions),
        checks.check_list("references", references),
    )
    guess, truth = checks.encode_labels(label_map, predictions=predicted_labels, references=gold_labels)
    numbers, place = np.unique(np.concatenate([truth, guess]), return_inverse=True)
    truth, guess = np.split(place, 2)
    label_by_code = dict(zip(place.tolist(), [*_to_list(gold_labels), *_to_list(predicted_labels)], strict=True))
    true, predicted, correct = (
        np.bincount(codes, minlength=len(numbers)) for codes in (truth, guess, truth[truth == guess])
    )
    cluster_ids = checks.number_clusters(clusters, predictions=guess)
    right = stats.sum_by_cluster_number((truth == guess).astype(float), cluster_ids)
    rates = compute_class_rates([compute_class_ratios(truth, guess, cluster_ids)], confidence_level)
    mapped = label_map or {}
    names = {code: mapped.get(label, label) for code, label in label_by_code.items()}
    is_wrong = truth != guess
    wrong = zip(*(map(names.__getitem__, codes[is_wrong].tolist()) for codes in (guess, truth)), strict=True)
    if message := describe_rewriting(wrong, len(truth)):
        warnings.warn(message, stacklevel=2)
    labels = {
        str(names[number]): compute_f1(*counts)
        for number, counts in enumerate(zip(true.tolist(), predicted.tolist(), correct.tolist(), strict=True))
    }
    return {
        "accuracy": float(correct.sum() / len(truth)),
        "accuracy_ci": stats.clustered_rate_interval(right, confidence_level),
        **rates._asdict(),
        "labels": dict(sorted(labels.items())),
        "examples": len(truth),
    }


def _to_list(labels: Any) -> list[Any]:
    return list(labels.tolist() if isinstance(labels, np.ndarray) else labels)
