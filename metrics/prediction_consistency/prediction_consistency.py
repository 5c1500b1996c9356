"""Prediction consistency: how many predictions change when the input is said in other words.

>>> import evaluate
>>> metric = evaluate.load("metrics/prediction_consistency")
>>> results = metric.compute(
...     predictions=["entailment", "neutral", "neutral"],
...     references=["entailment", "entailment", "not_entailment"],
...     original_predictions=["entailment", "entailment", "contradiction"],
...     label_map={"neutral": "not_entailment", "contradiction": "not_entailment"},
... )
>>> round(results["changed_rate"], 3), round(results["accuracy"], 3), results["transitions"]["correct_to_wrong"]
(0.333, 0.667, 1)
"""

import datasets

import lapsus.metrics.base
import lapsus.metrics.citations

from .score import prediction_consistency


class PredictionConsistency(lapsus.metrics.base.StrictMetric):
    """The share of examples on which a prediction changes between an original input and a rewriting of it.

    Beside it, which way predictions change, and a test of whether accuracy moved.
    """

    CITATION = lapsus.metrics.citations.PARTE
    FEATURES = [
        datasets.Features(dict.fromkeys(("predictions", "references", "original_predictions"), kind))
        for kind in (datasets.Value("string"), datasets.Value("int64"))
    ]
    EXAMPLE = {
        "predictions": ["entailment", "neutral", "neutral"],
        "references": ["entailment", "entailment", "not_entailment"],
        "original_predictions": ["entailment", "entailment", "contradiction"],
        "label_map": {"neutral": "not_entailment", "contradiction": "not_entailment"},
    }
    _compute = lapsus.metrics.base.to_compute_method(prediction_consistency)
