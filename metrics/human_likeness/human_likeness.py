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
import evaluate

import lapsus.kernel.metric_module

from .score import human_likeness

_CITATION = """\
@inproceedings{si-etal-2023-readin,
  title = "{READIN}: A {C}hinese Multi-Task Benchmark with Realistic and Diverse Input Noises",
  author = "Si, Chenglei and Zhang, Zhengyan and Chen, Yingfa and Wang, Xiaozhi and Liu, Zhiyuan and Sun, Maosong",
  booktitle = "Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics",
  year = "2023",
}"""

_DESCRIPTION = """\
How human synthetic noise is: how much of which kinds of edits it makes beside the humans', and the AUC of a
cross-validated classifier that tells it from theirs, beside the AUC of each human against the other humans.
"""

_KWARGS_DESCRIPTION = human_likeness.__doc__


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class HumanLikeness(lapsus.kernel.metric_module.StrictMetric):
    """The columns are checked element by element; `score` does the work."""

    score = staticmethod(human_likeness)

    def _info(self) -> evaluate.MetricInfo:
        one, several = datasets.Value("string"), datasets.Sequence(datasets.Value("string"))
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=[
                datasets.Features({"predictions": made, "references": datasets.Value("string"), "human": written})
                for made in (one, several)
                for written in (one, several)
            ],
        )
