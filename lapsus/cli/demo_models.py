"""Small models for the demo: they train on the sample in a second, and their predictions are real.

They are weak baselines; replace them by your own model's predictions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from math import log, sqrt
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


def split_characters(text: str) -> Sequence[str]:
    """Cut a text into its characters."""
    return text


def split_syllables(text: str) -> Sequence[str]:
    """Cut a text into its syllables, so that homophones become equal.

    >>> split_syllables("花呗") == split_syllables("花贝")
    True
    """
    from pypinyin import lazy_pinyin

    syllables: list[str] = lazy_pinyin(text)
    return syllables


@dataclass(frozen=True, slots=True)
class QuestionSearch:
    """Find the most similar question: cosine over n-grams of one and two units, weighted by rarity."""

    tokenize: Callable[[str], Sequence[str]]
    rarity: Mapping[Sequence[str], float]
    unseen: float

    @classmethod
    def train(cls, tokenize: Callable[[str], Sequence[str]], texts: Sequence[str]) -> QuestionSearch:
        """Learn from `texts` which units are rare; `tokenize` cuts a text into units."""
        document_counts = Counter(ngram for text in texts for ngram in set(_ngrams(tokenize(text))))
        rarity = {ngram: log((len(texts) + 1) / (count + 0.5)) for ngram, count in document_counts.items()}
        return cls(tokenize, rarity, log(2 * (len(texts) + 1)))

    def predict(self, queries: Iterable[str], entries: Sequence[str]) -> list[int]:
        """Return for each query the index of the most similar of `entries`; the first wins a tie.

        >>> QuestionSearch.train(split_characters, ["怎么退款"]).predict(["退款要多久"], ["怎么改地址", "怎么退款"])
        [1]
        """
        vectors = [self._build_vector(entry) for entry in entries]
        nearest = []
        for query in queries:
            query_vector = self._build_vector(query)
            similarities = [
                sum(weight * entry.get(ngram, 0.0) for ngram, weight in query_vector.items()) for entry in vectors
            ]
            nearest.append(max(range(len(entries)), key=similarities.__getitem__))
        return nearest

    def _build_vector(self, text: str) -> dict[Sequence[str], float]:
        counts = Counter(_ngrams(self.tokenize(text)))  # keeps the order of the text, so that sums round alike
        weights = {ngram: count * self.rarity.get(ngram, self.unseen) for ngram, count in counts.items()}
        length = sqrt(sum(weight * weight for weight in weights.values())) or 1.0
        return {ngram: weight / length for ngram, weight in weights.items()}


def _ngrams(units: Sequence[str]) -> list[Sequence[str]]:
    return [tuple(units[start : start + size]) for size in (1, 2) for start in range(len(units) - size + 1)]


@dataclass(frozen=True, slots=True)
class CommandModel:
    """Naive Bayes for the intent, a greedy averaged perceptron for the tags."""

    intents: Mapping[Any, Mapping[str, float]]
    weights: Mapping[str, Mapping[Any, float]]
    tags: tuple[Any, ...]

    @classmethod
    def train(cls, rows: Iterable[Mapping[str, Any]], epochs: int = 8) -> CommandModel:
        """Fit on rows of tokens, tags, intent."""
        rows = list(rows)
        tags = tuple(sorted({tag for row in rows for tag in row["tags"]}))
        return cls(_train_intents(rows), _train_tags(rows, tags, epochs), tags)

    def predict(self, sentences: Iterable[Sequence[str]]) -> list[dict[str, Any]]:
        """Return {intent, tags} for each list of tokens."""
        return [{"intent": self._predict_intent(tokens), "tags": self._predict_tags(tokens)} for tokens in sentences]

    def _predict_intent(self, tokens: Sequence[str]) -> Any:
        return max(self.intents, key=lambda intent: sum(self.intents[intent].get(token, 0.0) for token in tokens))

    def _predict_tags(self, tokens: Sequence[str]) -> list[Any]:
        tags: list[Any] = []
        for position in range(len(tokens)):
            tags.append(_best_tag(self.weights, _tag_features(tokens, position, tags[-1] if tags else None), self.tags))
        return tags


def _train_intents(rows: Sequence[Mapping[str, Any]]) -> dict[Any, dict[str, float]]:
    """Return the weight of each word for each intent: log(smoothed frequency in the intent / frequency in all rows)."""
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
            previous_tag: Any = None
            for position, gold in enumerate(row["tags"]):
                step += 1
                features = _tag_features(row["tokens"], position, previous_tag)
                prediction = _best_tag(weights, features, tags)
                if prediction != gold:
                    for feature in features:
                        for tag, change in ((gold, 1.0), (prediction, -1.0)):
                            weights[feature][tag] += change
                            sums[feature][tag] += step * change
                previous_tag = prediction
    return {
        feature: {tag: weight - sums[feature][tag] / step for tag, weight in by_tag.items()}
        for feature, by_tag in weights.items()
    }


def _best_tag(weights: Mapping[str, Mapping[Any, float]], features: Iterable[str], tags: tuple[Any, ...]) -> Any:
    scores = dict.fromkeys(tags, 0.0)
    for feature in features:
        for tag, weight in weights.get(feature, {}).items():
            scores[tag] += weight
    return max(tags, key=scores.__getitem__)


def _tag_features(tokens: Sequence[str], position: int, previous_tag: Any) -> list[str]:
    token = tokens[position]
    left = tokens[position - 1] if position else "^"
    right = tokens[position + 1] if position + 1 < len(tokens) else "$"
    return [
        f"word {token}",
        f"left {left}",
        f"right {right}",
        f"two left {tokens[position - 2] if position > 1 else '^'} {left}",
        f"tag {previous_tag}",
        f"tag {previous_tag} left {left}",
        f"end {token[-3:]}",
        f"digit {token.isdigit()}",
    ]
