"""Human likeness: whether synthetic noise could pass for what people type and say.

>>> import evaluate
>>> metric = evaluate.load("metrics/human_likeness")
>>> clean = ["花呗怎么不能提额了", "借呗额度为什么没有了", "怎么申请开通花呗", "今天几点自动扣款"]
>>> human = [["花呗怎么不能贴了"], ["借呗额度为什么没有了"], ["怎么申请开通画呗"], ["今天几点自动口款"]]
>>> synthetic = [["哗呗怎么不能提额了"], *([text] for text in clean[1:])]
>>> results = metric.compute(predictions=synthetic, references=clean, human=human)
>>> results["human"]["unchanged"], results["synthetic"]["kinds"]["homophone"]
(0.25, 1.0)
"""

import datasets

import lapsus.metrics.base
import lapsus.metrics.citations

from .score import human_likeness

ONE, SEVERAL = datasets.Value("string"), datasets.Sequence(datasets.Value("string"))


class HumanLikeness(lapsus.metrics.base.StrictMetric):
    """How human synthetic noise is: how much of which kinds of edits it makes beside the humans', and who can tell.

    The AUC of a cross-validated classifier that tells it from theirs stands beside the AUC of each human against the
    other humans.
    """

    CITATION = lapsus.metrics.citations.READIN
    FEATURES = [
        datasets.Features({"predictions": prediction_type, "references": ONE, "human": human_type})
        for prediction_type in (ONE, SEVERAL)
        for human_type in (ONE, SEVERAL)
    ]
    EXAMPLE = {
        "predictions": [["哗呗怎么不能提额了"], ["借呗额度为什么没有了"], ["怎么申请开通花呗"], ["今天几点自动扣款"]],
        "references": ["花呗怎么不能提额了", "借呗额度为什么没有了", "怎么申请开通花呗", "今天几点自动扣款"],
        "human": [["花呗怎么不能贴了"], ["借呗额度为什么没有了"], ["怎么申请开通画呗"], ["今天几点自动口款"]],
    }
    _compute = lapsus.metrics.base.to_compute_method(human_likeness)
