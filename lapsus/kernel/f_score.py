"""Precision, recall and F1 of counts."""

from __future__ import annotations

from typing import Any


def f1(true: int, predicted: int, correct: int) -> dict[str, Any]:
    """Return F1, precision and recall with their counts; one of nothing is None.

    >>> f1(4, 2, 1)["precision"], f1(0, 2, 0)["recall"]
    (0.5, None)
    """
    return {
        "f1": 2 * correct / (true + predicted) if true + predicted else None,
        "precision": correct / predicted if predicted else None,
        "recall": correct / true if true else None,
        "counts": {"true": true, "predicted": predicted, "correct": correct},
    }
