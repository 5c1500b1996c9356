"""What stands on a sentence encoder: an intent, a paraphrase, an entailment, a paragraph, a likeness of meaning.

`DATA` in the environment is a folder with datasets of `lapsus build`; heads learn from their training or validation
splits, never from a test split. Vectors are kept for the length of a run, so that a text is encoded once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from datasets import ClassLabel, load_dataset

Rows = list[dict[str, Any]]
Vectors = np.ndarray[Any, np.dtype[Any]]


@cache
def rows_of(dataset: str, config: str, split: str) -> Rows:
    """Return the rows of a built dataset, with the names of their labels."""
    loaded = load_dataset(str(Path(os.environ["DATA"]) / dataset), config, split=split)
    names = {column: feature.names for column, feature in loaded.features.items() if isinstance(feature, ClassLabel)}
    return [{**row, **{column: names[column][row[column]] for column in names}} for row in loaded]


def text_of(row: dict[str, Any]) -> str:
    """Return the words of a row: its text, or its tokens."""
    return str(row["text"]) if "text" in row else " ".join(row["tokens"])


def intent_of(row: dict[str, Any]) -> str:
    """Return the intent of a row; SLURP's is its scenario and action."""
    return str(row["intent"]) if "intent" in row else f"{row['scenario']}_{row['action']}"


@dataclass(frozen=True)
class Encoder:
    """Vectors of length 1 for texts; each text is encoded once."""

    encode: Callable[[list[str]], Any]
    known: dict[str, Vectors] = field(default_factory=dict)

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return a vector per text."""
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            made = np.asarray(self.encode(new), dtype=np.float32)
            made /= np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-9)
            self.known.update(zip(new, made, strict=True))
        return np.stack([self.known[text] for text in texts])

    def alike(self, rows: Rows, first: str, second: str) -> Vectors:
        """Return the cosine of two columns."""
        cosines: Vectors = (self([row[first] for row in rows]) * self([row[second] for row in rows])).sum(1)
        return cosines


def regression(vectors: Vectors, labels: Sequence[str]) -> Any:
    """Return a logistic regression; its outcome depends on nothing but the data."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=2000, C=10.0).fit(vectors, labels)


def intents(encoder: Encoder, dataset: str, config: str, split: str, most: int) -> Callable[[Rows], list[str]]:
    """Return a classifier of intents, fitted on the first `most` rows."""
    rows = rows_of(dataset, config, split)[:most]
    fitted = regression(encoder([text_of(row) for row in rows]), [intent_of(row) for row in rows])
    return lambda asked: [str(each) for each in fitted.predict(encoder([text_of(row) for row in asked]))]


def paraphrases(encoder: Encoder, most: int) -> Callable[[Rows], list[str]]:
    """Return a threshold on the likeness of two questions: the best one on validation pairs of AFQMC."""
    rows = rows_of("readin-afqmc", "clean", "validation")[:most]
    alike = encoder.alike(rows, "sentence1", "sentence2")
    gold = np.array([row["label"] == "paraphrase" for row in rows])
    candidates = np.quantile(alike, np.linspace(0.02, 0.98, 97))
    balanced = [((alike[gold] >= each).mean() + (alike[~gold] < each).mean()) / 2 for each in candidates]
    limit = candidates[int(np.argmax(balanced))]
    return lambda asked: [
        "paraphrase" if each else "different" for each in encoder.alike(asked, "sentence1", "sentence2") >= limit
    ]


def entailments(encoder: Encoder) -> Callable[[Rows], list[str]]:
    """Return a classifier of what two vectors have in common, fitted on the development pairs of RTE 1 to 3."""

    def features(rows: Rows) -> Vectors:
        premise, hypothesis = (encoder([row[side] for row in rows]) for side in ("premise", "hypothesis"))
        both = premise * hypothesis
        return np.concatenate([both, abs(premise - hypothesis), 10 * both.sum(1, keepdims=True)], axis=1)

    rows = [row for name in ("rte1", "rte2", "rte3") for row in rows_of("rte", name, "validation")]
    fitted = regression(features(rows), [row["label"] for row in rows])
    return lambda asked: [str(each) for each in fitted.predict(features(asked))]


def paragraphs(encoder: Encoder) -> Callable[[Rows], list[str]]:
    """Return a search over NoiseQA's paragraphs: the one that holds the sentence most like the question."""
    found = list(dict.fromkeys(row["context"] for row in rows_of("noiseqa", "clean", "test")))
    sentences = [(place, each) for place, text in enumerate(found) for each in text.replace("? ", ". ").split(". ")]
    index = encoder([each for _, each in sentences])
    return lambda asked: [
        found[sentences[int(best)][0]] for best in (encoder([row["question"] for row in asked]) @ index.T).argmax(1)
    ]


def meanings(encoder: Encoder) -> Callable[[Rows], list[float]]:
    """Return the likeness of a sentence with its base, from 0 to 100."""
    return lambda asked: [float(min(100.0, max(0.0, 100 * each))) for each in encoder.alike(asked, "base", "candidate")]
