"""Entity F1: which entities were understood, wherever their words stand.

>>> import evaluate
>>> metric = evaluate.load("metrics/entity_f1")
>>> truth = [{"type": "person", "filler": "mary ann"}, {"type": "date", "filler": "today"}]
>>> heard = [{"type": "person", "filler": "mary and"}, {"type": "date", "filler": "today"}]
>>> results = metric.compute(predictions=[heard], references=[truth])
>>> results["entity_f1"], results["word_f1"], round(results["slu_f1"], 3)
(0.5, 0.8, 0.865)
"""

import datasets

import lapsus.metrics.base
import lapsus.metrics.citations

from .score import entity_f1


class EntityF1(lapsus.metrics.base.StrictMetric):
    """F1 over entities that are right in type and filler, and SLURP's SLU-F1 beside it.

    SLU-F1 forgives a misheard filler as far as it is like the true one, by words and by characters.
    """

    CITATION = lapsus.metrics.citations.SLURP
    FEATURES = datasets.Features(
        {
            side: [{"type": datasets.Value("string"), "filler": datasets.Value("string")}]
            for side in ("predictions", "references")
        }
    )
    EXAMPLE = {
        "predictions": [[{"type": "person", "filler": "mary and"}, {"type": "date", "filler": "today"}], []],
        "references": [
            [{"type": "person", "filler": "mary ann"}, {"type": "date", "filler": "today"}],
            [{"type": "place_name", "filler": "york"}],
        ],
    }
    _compute = lapsus.metrics.base.to_compute_method(entity_f1)
