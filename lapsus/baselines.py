"""Small models that train in a second on the sample and really predict: something for the demo to measure.

They are honest, not strong; replace them by your own model's predictions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

NEGATIONS = set("不没无未")
NUMERALS = set("0123456789一二三四五六七八九十")


def _grams(text: str, size: int) -> set[str]:
    return {text[start : start + size] for start in range(len(text) - size + 1)}


@dataclass(frozen=True, slots=True)
class ParaphraseModel:
    """Logistic regression on how much two Chinese questions share, rare characters counting more."""

    rarity: Mapping[str, float]
    unseen: float
    weights: np.ndarray

    @classmethod
    def train(cls, rows: Iterable[Mapping[str, Any]]) -> ParaphraseModel:
        """Fit on rows of sentence1, sentence2, label (1: paraphrase)."""
        from scipy.optimize import minimize

        rows = list(rows)
        sentences = [row[name] for row in rows for name in ("sentence1", "sentence2")]
        seen = Counter(gram for text in sentences for size in (1, 2) for gram in _grams(text, size))
        rarity = {gram: log(len(sentences) / count) for gram, count in seen.items()}
        blank = cls(rarity, log(len(sentences) + 1), np.zeros(0))
        inputs = np.array([blank._features(row) for row in rows])
        signs = np.array([1 if row["label"] == 1 else -1 for row in rows])

        def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
            margins = signs * (inputs @ weights)
            slope = -signs / (1 + np.exp(margins))
            return np.logaddexp(0, -margins).sum() + 0.05 * weights @ weights, inputs.T @ slope + 0.1 * weights

        return cls(rarity, blank.unseen, minimize(loss, np.zeros(inputs.shape[1]), jac=True, method="L-BFGS-B").x)

    def predict(self, rows: Iterable[Mapping[str, Any]]) -> list[int]:
        """Return 1 for each row whose sentences look like paraphrases."""
        return [int(self._features(row) @ self.weights > 0) for row in rows]

    def _features(self, row: Mapping[str, Any]) -> np.ndarray:
        one, two = row["sentence1"], row["sentence2"]
        values = [1.0, abs(len(one) - len(two)) / max(len(one), len(two), 1), one[:1] == two[:1], one[-1:] == two[-1:]]
        for size in (1, 2):
            left, right = _grams(one, size), _grams(two, size)
            values += [
                _share(left & right, left | right),
                self._weight(left & right) / (self._weight(left | right) or 1),
            ]
        differing = set(one) ^ set(two)
        values += [len(differing & NEGATIONS), len(differing & NUMERALS)]
        return np.array(values, dtype=float)

    def _weight(self, grams: set[str]) -> float:
        return sum(self.rarity.get(gram, self.unseen) for gram in sorted(grams))  # sorted: the same sum everywhere


def _share(part: set[str], whole: set[str]) -> float:
    return len(part) / max(len(whole), 1)


@dataclass(frozen=True, slots=True)
class SluModel:
    """Naive Bayes for the intent, a greedy averaged perceptron for the tags."""

    intents: Mapping[Any, Mapping[str, float]]
    weights: Mapping[str, Mapping[Any, float]]
    tags: tuple[Any, ...]

    @classmethod
    def train(cls, rows: Iterable[Mapping[str, Any]], epochs: int = 8) -> SluModel:
        """Fit on rows of tokens, tags, intent."""
        rows = list(rows)
        tags = tuple(sorted({tag for row in rows for tag in row["tags"]}))
        return cls(_train_intents(rows), _train_tags(rows, tags, epochs), tags)

    def predict(self, sentences: Iterable[Sequence[str]]) -> list[dict[str, Any]]:
        """Return {intent, tags} for each list of tokens."""
        return [{"intent": self._intent(tokens), "tags": self._tag(tokens)} for tokens in sentences]

    def _intent(self, tokens: Sequence[str]) -> Any:
        return max(self.intents, key=lambda intent: sum(self.intents[intent].get(token, 0.0) for token in tokens))

    def _tag(self, tokens: Sequence[str]) -> list[Any]:
        tags: list[Any] = []
        for place in range(len(tokens)):
            tags.append(_best(self.weights, _tag_features(tokens, place, tags[-1] if tags else None), self.tags))
        return tags


def _train_intents(rows: Sequence[Mapping[str, Any]]) -> dict[Any, dict[str, float]]:
    """Return how much each word speaks for each intent: the log of its smoothed frequency over that in all rows."""
    words: dict[Any, Counter[str]] = defaultdict(Counter)
    for row in rows:
        words[row["intent"]].update(row["tokens"])
    overall = sum(words.values(), Counter())
    total = sum(overall.values())
    return {
        intent: {
            word: log((counts[word] + 0.1) / (counts.total() + 0.1 * len(overall)) * total / overall[word])
            for word in overall
        }
        for intent, counts in sorted(words.items())
    }


def _train_tags(rows: Sequence[Mapping[str, Any]], tags: tuple[Any, ...], epochs: int) -> dict[str, dict[Any, float]]:
    weights: dict[str, dict[Any, float]] = defaultdict(lambda: defaultdict(float))
    sums: dict[str, dict[Any, float]] = defaultdict(lambda: defaultdict(float))
    step = 0
    for _ in range(epochs):
        for row in rows:
            before: Any = None
            for place, gold in enumerate(row["tags"]):
                step += 1
                features = _tag_features(row["tokens"], place, before)
                guess = _best(weights, features, tags)
                if guess != gold:
                    for feature in features:
                        for tag, change in ((gold, 1.0), (guess, -1.0)):
                            weights[feature][tag] += change
                            sums[feature][tag] += step * change
                before = guess
    return {
        feature: {tag: weight - sums[feature][tag] / step for tag, weight in by_tag.items()}
        for feature, by_tag in weights.items()
    }


def _best(weights: Mapping[str, Mapping[Any, float]], features: Iterable[str], tags: tuple[Any, ...]) -> Any:
    scores = dict.fromkeys(tags, 0.0)
    for feature in features:
        for tag, weight in weights.get(feature, {}).items():
            scores[tag] += weight
    return max(tags, key=scores.__getitem__)


def _tag_features(tokens: Sequence[str], place: int, before: Any) -> list[str]:
    token = tokens[place]
    left = tokens[place - 1] if place else "^"
    right = tokens[place + 1] if place + 1 < len(tokens) else "$"
    return [
        f"word {token}",
        f"left {left}",
        f"right {right}",
        f"two left {tokens[place - 2] if place > 1 else '^'} {left}",
        f"tag {before}",
        f"tag {before} left {left}",
        f"end {token[-3:]}",
        f"digit {token.isdigit()}",
    ]
