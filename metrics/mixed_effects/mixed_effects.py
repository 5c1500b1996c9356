"""Mixed effects: what a condition does to a score, when every example is scored under several.

>>> import evaluate
>>> metric = evaluate.load("metrics/mixed_effects")
>>> results = metric.compute(
...     predictions=[0.8, 0.5, 0.9, 0.5, 0.7, 0.6],
...     conditions=["dialect", "perturbed"] * 3,
...     examples=["a", "a", "b", "b", "c", "c"],
...     baseline="perturbed",
... )
>>> effect = results["coefficients"]["dialect"]
>>> round(effect["estimate"], 3), round(effect["se"], 3), effect["df"]
(0.267, 0.067, 4)
"""

import datasets
import evaluate

import lapsus.kernel.metric_module

from .score import mixed_effects

_CITATION = """\
@inproceedings{sun-etal-2023-dialect,
  title = "Dialect-robust Evaluation of Generated Text",
  author = "Sun, Jiao and Sellam, Thibault and Clark, Elizabeth and Vu, Tu and Dozat, Timothy and Garrette, Dan and
            Siddhant, Aditya and Eisenstein, Jacob and Gehrmann, Sebastian",
  booktitle = "Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics",
  year = "2023",
}"""

_DESCRIPTION = """\
The regression score = example + condition + noise, with the examples as random intercepts, fitted by restricted
maximum likelihood; and beside it the paired differences, which need no equal variances.
"""

_KWARGS_DESCRIPTION = mixed_effects.__doc__


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class MixedEffects(lapsus.kernel.metric_module.StrictMetric):
    """The columns are checked element by element; `score` does the work."""

    score = staticmethod(mixed_effects)

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=[
                datasets.Features(
                    {
                        "predictions": datasets.Value("float64"),
                        "conditions": datasets.Value("string"),
                        "examples": kind,
                    }
                )
                for kind in (datasets.Value("string"), datasets.Value("int64"))
            ],
        )
