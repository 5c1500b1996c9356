"""SLU accuracy: whether an utterance was understood, its intent, its slots, and both.

>>> import evaluate
>>> metric = evaluate.load("metrics/slu_accuracy")
>>> truth = {"intent": "play", "tags": ["O", "B-artist", "I-artist"]}
>>> guess = {"intent": "play", "tags": ["O", "B-artist", "O"]}
>>> results = metric.compute(predictions=[truth, guess], references=[truth, truth])
>>> results["intent_accuracy"], results["slot_f1"], results["e2e_accuracy"]
(1.0, 0.5, 0.5)
"""

import datasets

import lapsus.metrics.base
import lapsus.metrics.citations

from .score import slu_accuracy


class SluAccuracy(lapsus.metrics.base.StrictMetric):
    """Intent accuracy, slot F1 over spans as conlleval counts them, and end-to-end accuracy.

    End to end, an utterance is right if its intent and all its tags are.
    """

    CITATION = lapsus.metrics.citations.NATURE
    FEATURES = datasets.Features(
        {
            side: {"intent": datasets.Value("string"), "tags": datasets.Sequence(datasets.Value("string"))}
            for side in ("predictions", "references")
        }
    )
    EXAMPLE = {
        "predictions": [
            {"intent": "play", "tags": ["O", "B-artist", "I-artist"]},
            {"intent": "play", "tags": ["O", "B-artist", "O"]},
        ],
        "references": [
            {"intent": "play", "tags": ["O", "B-artist", "I-artist"]},
            {"intent": "play", "tags": ["O", "B-artist", "I-artist"]},
        ],
    }
    _compute = lapsus.metrics.base.to_compute_method(slu_accuracy)
