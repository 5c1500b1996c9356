"""Win rate: how often one score beats another.

>>> import evaluate
>>> metric = evaluate.load("metrics/win_rate")
>>> results = metric.compute(predictions=[0.9, 0.8, 0.7, 0.7], references=[0.1, 0.2, 0.7, 0.3])
>>> results["win_rate"], results["ties"], results["p_value"], results["significant"]
(0.75, 1, 0.125, False)
"""

import datasets

import lapsus.metrics.base
import lapsus.metrics.citations

from .score import win_rate


class WinRate(lapsus.metrics.base.StrictMetric):
    """How often a score is strictly above another, tested against a fair coin.

    As of the same sentence in another dialect against one with another meaning; corrected for the number of
    comparisons.
    """

    CITATION = lapsus.metrics.citations.DIALECT
    FEATURES = datasets.Features(dict.fromkeys(("predictions", "references"), datasets.Value("float64")))
    EXAMPLE = {"predictions": [0.9, 0.8, 0.7, 0.7], "references": [0.1, 0.2, 0.7, 0.3], "comparisons": 5}
    _compute = lapsus.metrics.base.to_compute_method(win_rate)
