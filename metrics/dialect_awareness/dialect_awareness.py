"""Dialect awareness: whether a metric scores a text higher when told the right dialect.

>>> import evaluate
>>> metric = evaluate.load("metrics/dialect_awareness")
>>> results = metric.compute(predictions=[0.8, 0.7, 0.7], references=[0.6, 0.7, 0.9])
>>> results["awareness_rate"], results["wins"], results["ties"]
(0.666..., 1, 1)
"""

import datasets
import evaluate

import lapsus.kernel.metric_module

from .score import dialect_awareness

_CITATION = """\
@inproceedings{sun-etal-2023-dialect,
  title = "Dialect-robust Evaluation of Generated Text",
  author = "Sun, Jiao and Sellam, Thibault and Clark, Elizabeth and Vu, Tu and Dozat, Timothy and Garrette, Dan and
            Siddhant, Aditya and Eisenstein, Jacob and Gehrmann, Sebastian",
  booktitle = "Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics",
  year = "2023",
}"""

_DESCRIPTION = """\
The share of texts that a metric scores at least as high with the tag of their own dialect as with another's. Ties
are shown, since a metric that ignores the tag ties everywhere.
"""

_KWARGS_DESCRIPTION = dialect_awareness.__doc__


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class DialectAwareness(lapsus.kernel.metric_module.StrictMetric):
    """The columns are checked element by element; `score` does the work."""

    score = staticmethod(dialect_awareness)

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features(dict.fromkeys(("predictions", "references"), datasets.Value("float64"))),
        )
