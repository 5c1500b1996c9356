"""Dialect awareness: whether a metric scores a text higher when told the right dialect.

>>> import evaluate
>>> metric = evaluate.load("metrics/dialect_awareness")
>>> results = metric.compute(predictions=[0.8, 0.7, 0.7], references=[0.6, 0.7, 0.9])
>>> round(results["awareness_rate"], 3), results["wins"], results["ties"]
(0.667, 1, 1)
"""

import datasets

import lapsus.metrics.base
import lapsus.metrics.citations

from .score import dialect_awareness


class DialectAwareness(lapsus.metrics.base.StrictMetric):
    """The share of texts that a metric scores at least as high with the tag of their own dialect as with another's.

    Ties are shown, since a metric that ignores the tag ties everywhere.
    """

    CITATION = lapsus.metrics.citations.DIALECT
    FEATURES = datasets.Features(dict.fromkeys(("predictions", "references"), datasets.Value("float64")))
    EXAMPLE = {"predictions": [0.8, 0.7, 0.7], "references": [0.6, 0.7, 0.9]}
    _compute = lapsus.metrics.base.to_compute_method(dialect_awareness)
