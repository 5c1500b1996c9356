"""Prediction consistency: how many predictions change when the input is said in other words.

>>> import evaluate
>>> metric = evaluate.load("metrics/prediction_consistency")
>>> results = metric.compute(
...     predictions=["entailment", "neutral", "neutral"],
...     references=["entailment", "entailment", "not_entailment"],
...     original_predictions=["entailment", "entailment", "contradiction"],
...     label_map={"neutral": "not_entailment", "contradiction": "not_entailment"},
... )
>>> results["changed_rate"], results["accuracy"], results["transitions"]["correct_to_wrong"]
(0.333..., 0.666..., 1)
"""

import datasets
import evaluate

import lapsus.kernel.metric_module

from .score import prediction_consistency

_CITATION = """\
@inproceedings{verma-etal-2023-evaluating,
  title = "Evaluating Paraphrastic Robustness in Textual Entailment Models",
  author = "Verma, Dhruv and Lal, Yash Kumar and Sinha, Shreyashee and Van Durme, Benjamin and Poliak, Adam",
  booktitle = "Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics",
  year = "2023",
}"""

_DESCRIPTION = """\
The share of examples on which a model's prediction changes between an original input and a rewriting of it, which
way it changes, and an exact test of whether accuracy moved.
"""

_KWARGS_DESCRIPTION = prediction_consistency.__doc__


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class PredictionConsistency(lapsus.kernel.metric_module.StrictMetric):
    """The columns are checked element by element; `score` does the work."""

    score = staticmethod(prediction_consistency)

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=[
                datasets.Features(dict.fromkeys(("predictions", "references", "original_predictions"), kind))
                for kind in (datasets.Value("string"), datasets.Value("int64"))
            ],
        )
