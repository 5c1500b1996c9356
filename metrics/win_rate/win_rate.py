"""Win rate: how often one score beats another.

>>> import evaluate
>>> metric = evaluate.load("metrics/win_rate")
>>> results = metric.compute(predictions=[0.9, 0.8, 0.7, 0.7], references=[0.1, 0.2, 0.7, 0.3])
>>> results["win_rate"], results["ties"], results["p_value"], results["significant"]
(0.75, 1, 0.3125, False)
"""

import datasets
import evaluate

import lapsus.kernel.metric_module

from .score import win_rate

_CITATION = """\
@inproceedings{sun-etal-2023-dialect,
  title = "Dialect-robust Evaluation of Generated Text",
  author = "Sun, Jiao and Sellam, Thibault and Clark, Elizabeth and Vu, Tu and Dozat, Timothy and Garrette, Dan and
            Siddhant, Aditya and Eisenstein, Jacob and Gehrmann, Sebastian",
  booktitle = "Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics",
  year = "2023",
}"""

_DESCRIPTION = """\
How often a score (of the same sentence in another dialect) is strictly above another (of a sentence with another
meaning), tested against a fair coin and corrected for the number of comparisons.
"""

_KWARGS_DESCRIPTION = win_rate.__doc__


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class WinRate(lapsus.kernel.metric_module.StrictMetric):
    """The columns are checked element by element; `score` does the work."""

    score = staticmethod(win_rate)

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features(dict.fromkeys(("predictions", "references"), datasets.Value("float64"))),
        )
