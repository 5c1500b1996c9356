"""Annotated BLEU: translations of several noisy versions of one source.

>>> import evaluate
>>> metric = evaluate.load("metrics/annotated_bleu")
>>> hypotheses = [["the cat sat down", "the hat sat down"]]
>>> results = metric.compute(predictions=hypotheses, references=["the cat sat down"], mode="sentence")
>>> round(results["micro_average"], 1), round(results["worst_average"], 1)
(67.7, 35.4)
"""

import datasets
import evaluate

import lapsus.kernel.metric_module

from .score import annotated_bleu

_CITATION = """\
@inproceedings{si-etal-2023-readin,
  title = "{READIN}: A {C}hinese Multi-Task Benchmark with Realistic and Diverse Input Noises",
  author = "Si, Chenglei and Zhang, Zhengyan and Chen, Yingfa and Wang, Xiaozhi and Liu, Zhiyuan and Sun, Maosong",
  booktitle = "Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics",
  year = "2023",
}"""

_DESCRIPTION = """\
BLEU by sacrebleu, on average over the annotators of a source and for each sentence's worst served annotator: on one
scale, or exactly as READIN's script mixes corpus and sentence BLEU.
"""

_KWARGS_DESCRIPTION = annotated_bleu.__doc__


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class AnnotatedBleu(lapsus.kernel.metric_module.StrictMetric):
    """The columns are checked element by element; `score` does the work."""

    score = staticmethod(annotated_bleu)

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features(
                {"predictions": datasets.Sequence(datasets.Value("string")), "references": datasets.Value("string")}
            ),
        )
