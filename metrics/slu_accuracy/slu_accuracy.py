"""SLU accuracy: whether an utterance was understood, its intent, its slots, and both.

>>> import evaluate
>>> metric = evaluate.load("metrics/slu_accuracy")
>>> truth = {"intent": "play", "tags": ["O", "B-artist", "I-artist"]}
>>> guess = {"intent": "play", "tags": ["O", "B-artist", "O"]}
>>> results = metric.compute(predictions=[truth, guess], references=[truth, truth])
>>> results["intent_accuracy"], results["slot_f1"], results["e2e_accuracy"]
(1.0, 0.5, 0.5)
"""

import datasets
import evaluate

import lapsus.kernel.metric_module

from .score import slu_accuracy

_CITATION = """\
@inproceedings{alfonso-hermelo-etal-2021-nature,
  title = "{NATURE}: Natural Auxiliary Text Utterances for Realistic Spoken Language Evaluation",
  author = "Alfonso-Hermelo, David and Rashid, Ahmad and Ghaddar, Abbas and Langlais, Philippe and
            Rezagholizadeh, Mehdi",
  booktitle = "Proceedings of the NeurIPS Track on Datasets and Benchmarks",
  year = "2021",
}"""

_DESCRIPTION = """\
Intent accuracy, slot F1 over spans as conlleval counts them, and end-to-end accuracy: the share of utterances whose
intent and tags are all right.
"""

_KWARGS_DESCRIPTION = slu_accuracy.__doc__


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class SluAccuracy(lapsus.kernel.metric_module.StrictMetric):
    """The columns are checked element by element; `score` does the work."""

    score = staticmethod(slu_accuracy)

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features(
                {
                    name: {"intent": datasets.Value("string"), "tags": datasets.Sequence(datasets.Value("string"))}
                    for name in ("predictions", "references")
                }
            ),
        )
