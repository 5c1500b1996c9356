"""How well labels are predicted, whatever share of the examples each label has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.kernel import columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def classification(
    predictions: Iterable[str] | Iterable[int],
    references: Iterable[str] | Iterable[int],
    *,
    label_map: Mapping[Any, Any] | None = None,
) -> dict[str, Any]:
    """Return accuracy, and beside it balanced accuracy and macro F1, in which every label weighs the same.

    Args:
        predictions: the predicted labels.
        references: the gold labels.
        label_map: labels to be read as others before anything is compared, as in
            `{"contradiction": "not_entailment", "neutral": "not_entailment"}`.

    Returns:
        accuracy: the share of right predictions.
        balanced_accuracy: the mean of the recalls of the gold labels: of a classifier that always says one label, 1
            divided by their number.
        macro_f1: the mean F1 of the labels that are gold or predicted.
        labels: for each of these f1, precision, recall and counts (true, predicted, correct); a rate with nothing to
            divide by is None, and counts as 0 in `macro_f1` where the label is only predicted or never predicted.
        examples: how many there are.

    Example:
        >>> result = classification(["no", "no", "no", "yes"], ["no", "no", "yes", "yes"])
        >>> result["accuracy"], result["balanced_accuracy"], round(result["macro_f1"], 4)
        (0.75, 0.75, 0.7333)
    """
    guessed, gold = columns.listed("predictions", predictions), columns.listed("references", references)
    guess, truth = columns.labels(label_map, predictions=guessed, references=gold)
    numbers, place = np.unique(np.concatenate([truth, guess]), return_inverse=True)
    truth, guess = np.split(place, 2)
    named = dict(zip(place.tolist(), [*_plain(gold), *_plain(guessed)], strict=True))
    true, predicted, correct = (
        np.bincount(found, minlength=len(numbers)) for found in (truth, guess, truth[truth == guess])
    )
    occurs = true > 0
    mapped = label_map or {}
    labels = {
        str(mapped.get(named[number], named[number])): _rates(*counts)
        for number, counts in enumerate(zip(true.tolist(), predicted.tolist(), correct.tolist(), strict=True))
    }
    return {
        "accuracy": float(correct.sum() / len(truth)),
        "balanced_accuracy": float((correct[occurs] / true[occurs]).mean()),
        "macro_f1": float((2 * correct / (true + predicted)).mean()),
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
