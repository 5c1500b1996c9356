"""Mixed effects: what a condition does to a score, when every example is scored under several.

>>> import evaluate
>>> metric = evaluate.load("metrics/mixed_effects")
>>> results = metric.compute(
...     predictions=[0.8, 0.5, 0.9, 0.5, 0.7, 0.6],
...     conditions=["dialect", "perturbed"] * 3,
...     examples=["a", "a", "b", "b", "c", "c"],
...     baseline="perturbed",
... )
>>> effect = results["coefficients"]["dialect"]
>>> round(effect["estimate"], 3), round(effect["se"], 3), effect["df"]
(0.267, 0.088, 2)
"""

import datasets

import lapsus.metrics.base
import lapsus.metrics.citations

from .score import mixed_effects


class MixedEffects(lapsus.metrics.base.StrictMetric):
    """The regression score = example + condition + noise, with the examples as random intercepts.

    Fitted by restricted maximum likelihood; its errors also hold where conditions differ in variance.
    """

    CITATION = lapsus.metrics.citations.DIALECT
    FEATURES = [
        datasets.Features(
            {"predictions": datasets.Value("float64"), "conditions": datasets.Value("string"), "examples": kind}
        )
        for kind in (datasets.Value("string"), datasets.Value("int64"))
    ]
    EXAMPLE = {
        "predictions": [0.8, 0.5, 0.9, 0.5, 0.7, 0.6],
        "conditions": ["dialect", "perturbed", "dialect", "perturbed", "dialect", "perturbed"],
        "examples": ["a", "a", "b", "b", "c", "c"],
        "baseline": "perturbed",
    }
    _compute = lapsus.metrics.base.to_compute_method(mixed_effects)
