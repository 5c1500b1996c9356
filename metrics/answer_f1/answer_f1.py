"""Answer F1: whether a question was answered by the right passage.

>>> import evaluate
>>> metric = evaluate.load("metrics/answer_f1")
>>> answers = [["Paris"], ["the year 1889", "1889"]]
>>> results = metric.compute(predictions=["in Paris, France", "1889"], references=answers)
>>> results["exact_match"], results["f1"], results["rules"]
(0.5, 0.75, 'squad')
"""

import datasets

import lapsus.metrics.base
import lapsus.metrics.citations

from .score import answer_f1


class AnswerF1(lapsus.metrics.base.StrictMetric):
    """Exact match and F1 of answers to questions, as SQuAD's script computes them, or for Chinese CMRC2018's."""

    CITATION = f"{lapsus.metrics.citations.SQUAD}\n\n{lapsus.metrics.citations.CMRC2018}"
    FEATURES = [
        datasets.Features({"predictions": datasets.Value("string"), "references": answers})
        for answers in (
            datasets.Sequence(datasets.Value("string")),
            datasets.Value("string"),
            {"text": datasets.Sequence(datasets.Value("string"))},
        )
    ]
    EXAMPLE = {
        "predictions": ["in Paris, France", "1889"],
        "references": [["Paris"], ["the year 1889", "1889"]],
    }
    _compute = lapsus.metrics.base.to_compute_method(answer_f1)
