"""Noise rate: how much of a text human input changed.

>>> import evaluate
>>> metric = evaluate.load("metrics/noise_rate")
>>> noisy = [["花贝提额", "话贝提额"], ["你好", "您好"]]
>>> results = metric.compute(predictions=noisy, references=["花呗提额", "你好"])
>>> results["micro_average"], results["worst_average"], round(results["corpus_rate"], 3)
(0.3125, 0.5, 0.333)
"""

import datasets

import lapsus.metrics.base
import lapsus.metrics.citations

from .score import noise_rate


class NoiseRate(lapsus.metrics.base.StrictMetric):
    """The edit distance from the clean text to what was typed or recognised, per character or word of the clean text.

    On average over an example's annotators, for its noisiest annotator, for each annotator, and pooled over the corpus.
    """

    CITATION = lapsus.metrics.citations.READIN
    FEATURES = [
        datasets.Features({"predictions": noisy, "references": datasets.Value("string")})
        for noisy in (datasets.Value("string"), datasets.Sequence(datasets.Value("string")))
    ]
    EXAMPLE = {"predictions": [["花贝提额", "话贝提额"], ["你好", "您好"]], "references": ["花呗提额", "你好"]}
    _compute = lapsus.metrics.base.to_compute_method(noise_rate)
