"""Noise rate: how much of a text human input changed.

>>> import evaluate
>>> metric = evaluate.load("metrics/noise_rate")
>>> noisy = [["花贝提额", "话贝提额"], ["你好", "您好"]]
>>> results = metric.compute(predictions=noisy, references=["花呗提额", "你好"])
>>> results["micro_average"], results["worst_average"], results["corpus_rate"]
(0.3125, 0.5, 0.333...)
"""

import datasets
import evaluate

import lapsus.kernel.metric_module

from .score import noise_rate

_CITATION = """\
@inproceedings{si-etal-2023-readin,
  title = "{READIN}: A {C}hinese Multi-Task Benchmark with Realistic and Diverse Input Noises",
  author = "Si, Chenglei and Zhang, Zhengyan and Chen, Yingfa and Wang, Xiaozhi and Liu, Zhiyuan and Sun, Maosong",
  booktitle = "Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics",
  year = "2023",
}"""

_DESCRIPTION = """\
The edit distance from the clean text to what was typed or recognised, per character of the clean text: on average
over an example's annotators, for its noisiest annotator, for each annotator, and pooled over the corpus.
"""

_KWARGS_DESCRIPTION = noise_rate.__doc__


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class NoiseRate(lapsus.kernel.metric_module.StrictMetric):
    """The columns are checked element by element; `score` does the work."""

    score = staticmethod(noise_rate)

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=[
                datasets.Features({"predictions": datasets.Value("string"), "references": datasets.Value("string")}),
                datasets.Features(
                    {
                        "predictions": datasets.Sequence(datasets.Value("string")),
                        "references": datasets.Value("string"),
                    }
                ),
            ],
        )
