"""Annotated chrF: translations of several noisy versions of one source, in any language.

>>> import evaluate
>>> metric = evaluate.load("metrics/annotated_chrf")
>>> hypotheses = [["the cat sat down", "the hat sat down"]]
>>> results = metric.compute(predictions=hypotheses, references=["the cat sat down"])
>>> round(results["micro_average"], 1), round(results["worst_average"], 1)
(84.5, 69.0)
"""

import datasets

import lapsus.metrics.base
import lapsus.metrics.citations

from .score import annotated_chrf


class AnnotatedChrf(lapsus.metrics.base.StrictMetric):
    """chrF (or chrF++) by sacrebleu: the mean over annotators, and with the worst annotator of each sentence.

    It compares characters, so that it needs no tokenizer, and a sentence of a few words is not 0.
    """

    CITATION = lapsus.metrics.citations.CHRF
    FEATURES = datasets.Features(
        {"predictions": datasets.Sequence(datasets.Value("string")), "references": datasets.Value("string")}
    )
    EXAMPLE = {"predictions": [["the cat sat down", "the hat sat down"]], "references": ["the cat sat down"]}
    _compute = lapsus.metrics.base.to_compute_method(annotated_chrf)
