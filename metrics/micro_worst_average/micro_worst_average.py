"""Micro and worst average: a score for the average annotator, and for each example's worst served.

>>> import evaluate
>>> metric = evaluate.load("metrics/micro_worst_average")
>>> results = metric.compute(predictions=[[1, 1, 0], [1, 1, 1]], clean_scores=[1, 1])
>>> results["micro_average"], results["worst_average"], results["worst_drop"]
(0.8333333333333333, 0.5, 0.5)
"""

import datasets

import lapsus.metrics.base
import lapsus.metrics.citations

from .score import micro_worst_average


class MicroWorstAverage(lapsus.metrics.base.StrictMetric):
    """The mean score over the annotators of an example, and the score of the annotator whom the model serves worst.

    Each is averaged over the examples, with intervals from resampling the examples and the drop from the clean score.
    """

    CITATION = lapsus.metrics.citations.READIN
    FEATURES = datasets.Features({"predictions": datasets.Sequence(datasets.Value("float64"))})
    EXAMPLE = {
        "predictions": [[1, 1, 0], [1, 1, 1], [0, None, 1]],
        "clean_scores": [1, 1, 1],
        "groups": ["positive", "negative", "positive"],
    }
    _compute = lapsus.metrics.base.to_compute_method(micro_worst_average)
