"""Annotated BLEU: translations of several noisy versions of one source.

>>> import evaluate
>>> metric = evaluate.load("metrics/annotated_bleu")
>>> hypotheses = [["the cat sat down", "the hat sat down"]]
>>> results = metric.compute(predictions=hypotheses, references=["the cat sat down"], mode="sentence")
>>> round(results["micro_average"], 1), round(results["worst_average"], 1)
(67.7, 35.4)
"""

import datasets

import lapsus.metrics.base
import lapsus.metrics.citations

from .score import annotated_bleu


class AnnotatedBleu(lapsus.metrics.base.StrictMetric):
    """BLEU by sacrebleu: the mean over the annotators of a source, and with the worst annotator of each sentence.

    Either on one scale, or exactly as READIN's script mixes corpus and sentence BLEU.
    """

    CITATION = lapsus.metrics.citations.READIN
    FEATURES = datasets.Features(
        {"predictions": datasets.Sequence(datasets.Value("string")), "references": datasets.Value("string")}
    )
    EXAMPLE = {
        "predictions": [["the cat sat down", "the hat sat down"]],
        "references": ["the cat sat down"],
        "mode": "sentence",
    }
    _compute = lapsus.metrics.base.to_compute_method(annotated_bleu)
