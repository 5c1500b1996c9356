"""How well labels are predicted, whatever share of the examples each label has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.kernel import columns, statistics
from lapsus.kernel.class_rates import class_rates, class_ratios

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
        clusters: what each example was made from: examples that share an original count as one finding.
        confidence_level: of the intervals.

    Returns:
        accuracy: the share of right predictions.
        balanced_accuracy: the mean of the recalls of the gold labels: of a classifier that always says one label, 1
            divided by their number.
        macro_f1: the mean F1 of the labels that are gold or predicted.
        accuracy_ci: Wilson's interval of accuracy, at the effective number of originals.
        balanced_accuracy_ci, macro_f1_ci: their intervals, from those of each label's recall and F1.
        labels: for each label f1, precision, recall and counts (true, predicted, correct); a rate with nothing to
            divide by is None, and counts as 0 in `macro_f1` where the label is only predicted or never predicted.
        examples: how many there are.

    Example:
        >>> result = classification(["no", "no", "no", "yes"], ["no", "no", "yes", "yes"])
        >>> result["accuracy"], result["balanced_accuracy"], round(result["macro_f1"], 4)
        (0.75, 0.75, 0.7333)
    """
    statistics.check_level(confidence_level)
    guessed, gold = columns.listed("predictions", predictions), columns.listed("references", references)
    guess, truth = columns.labels(label_map, predictions=guessed, references=gold)
    numbers, place = np.unique(np.concatenate([truth, guess]), return_inverse=True)
    truth, guess = np.split(place, 2)
    named = dict(zip(place.tolist(), [*_plain(gold), *_plain(guessed)], strict=True))
    true, predicted, correct = (
        np.bincount(found, minlength=len(numbers)) for found in (truth, guess, truth[truth == guess])
    )
    originals = np.arange(len(truth))
    if clusters is not None:
        originals, _ = columns.numbered("clusters", clusters)
        columns.same_length(predictions=guess, clusters=originals)
    right = statistics.of_numbers((truth == guess).astype(float), originals)
    rates = class_rates([class_ratios(truth, guess, originals)], confidence_level)
    mapped = label_map or {}
    labels = {
        str(mapped.get(named[number], named[number])): _rates(*counts)
        for number, counts in enumerate(zip(true.tolist(), predicted.tolist(), correct.tolist(), strict=True))
    }
    return {
        "accuracy": float(correct.sum() / len(truth)),
        "accuracy_ci": statistics.clustered_rate(right, confidence_level),
        **rates._asdict(),
        "labels": dict(sorted(labels.items())),
        "examples": len(truth),
    }


def _plain(labels: Any) -> list[Any]:
    return list(labels.tolist() if isinstance(labels, np.ndarray) else labels)


def _rates(true: int, predicted: int, correct: int) -> dict[str, Any]:
    return {
        "f1": 2 * correct / (true + predicted),
        "precision": correct / predicted if predicted else None,
        "recall": correct / true if true else None,
        "counts": {"true": true, "predicted": predicted, "correct": correct},
    }
