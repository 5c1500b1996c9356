"""Micro and worst average: a score for the average annotator, and for each example's worst served.

>>> import evaluate
>>> metric = evaluate.load("metrics/micro_worst_average")
>>> results = metric.compute(predictions=[[1, 1, 0], [1, 1, 1]], clean_scores=[1, 1])
>>> results["micro_average"], results["worst_average"], results["worst_drop"]
(0.8333333333333333, 0.5, 0.5)
"""

import datasets
import evaluate

import lapsus.kernel.metric_module

from .score import micro_worst_average

_CITATION = """\
@inproceedings{si-etal-2023-readin,
  title = "{READIN}: A {C}hinese Multi-Task Benchmark with Realistic and Diverse Input Noises",
  author = "Si, Chenglei and Zhang, Zhengyan and Chen, Yingfa and Wang, Xiaozhi and Liu, Zhiyuan and Sun, Maosong",
  booktitle = "Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics",
  year = "2023",
}"""

_DESCRIPTION = """\
The mean score over the annotators of an example, and the score of the annotator whom the model serves worst, each
averaged over the examples, with intervals from resampling the examples and the drop from the clean score.
"""

_KWARGS_DESCRIPTION = micro_worst_average.__doc__


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class MicroWorstAverage(lapsus.kernel.metric_module.StrictMetric):
    """The columns are checked element by element; `score` does the work."""

    score = staticmethod(micro_worst_average)

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features({"predictions": datasets.Sequence(datasets.Value("float64"))}),
        )
