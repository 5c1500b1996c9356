"""Classification: how well labels are predicted, whatever share of the examples each has.

>>> import evaluate
>>> metric = evaluate.load("metrics/classification")
>>> results = metric.compute(predictions=["no", "no", "no", "no"], references=["no", "no", "no", "yes"])
>>> results["accuracy"], results["balanced_accuracy"], round(results["macro_f1"], 3)
(0.75, 0.5, 0.429)
"""

import datasets

import lapsus.metrics.base
import lapsus.metrics.citations

from .score import classification


class Classification(lapsus.metrics.base.StrictMetric):
    """Accuracy, with balanced accuracy and macro F1 beside it, in which every label weighs the same.

    Where one label is frequent, noise that makes a model say it more often can raise accuracy; it does not raise these.
    """

    CITATION = lapsus.metrics.citations.READIN
    FEATURES = [
        datasets.Features(dict.fromkeys(("predictions", "references"), kind))
        for kind in (datasets.Value("string"), datasets.Value("int64"))
    ]
    EXAMPLE = {
        "predictions": ["entailment", "neutral", "entailment", "contradiction"],
        "references": ["entailment", "not_entailment", "not_entailment", "not_entailment"],
        "label_map": {"neutral": "not_entailment", "contradiction": "not_entailment"},
    }
    _compute = lapsus.metrics.base.to_compute_method(classification)
