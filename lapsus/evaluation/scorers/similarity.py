"""How alike an answer and a gold one mean, by any text metric: `similarity:minilm`, `similarity:cosine:PATH`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lapsus.evaluation.scorers import Answer, AnswerScore, Reference, ScorerOptions, ScorerProvider
from lapsus.evaluation.text_metrics import TextMetric, open_metric

PERCENT = ("bleu", "chrf")  # metrics whose numbers go to 100
ROUNDING = 1e-3


@dataclass(frozen=True, slots=True)
class SimilarityScorer:
    """The greatest similarity of an answer and a gold one; a negative cosine is 0."""

    name: str
    metric: TextMetric
    scale: float = 1.0
    reference: Reference = "gold"

    def fit(self, answers: Sequence[Answer]) -> SimilarityScorer:
        """Return the scorer itself."""
        return self

    def score(self, answers: Sequence[Answer]) -> list[AnswerScore]:
        """Return the score of each answer; the metric reads all pairs at once."""
        pairs = [(answer.text, gold) for answer in answers for gold in answer.golds]
        if not pairs:
            return [AnswerScore(None, "there is no gold answer") for _ in answers]
        values = iter(self.metric.score([text for text, _ in pairs], [gold for _, gold in pairs]))
        best = [max((next(values) for _ in answer.golds), default=0.0) * self.scale for answer in answers]
        highest = max(best)
        if highest > 1 + ROUNDING:
            raise ValueError(f"{self.name} gave {highest:g}, and a score is a number from 0 to 1; take another metric")
        return [AnswerScore(min(1.0, max(0.0, value))) for value in best]


def open_similarity(rest: str, _: ScorerOptions) -> SimilarityScorer:
    """Return the scorer for a word of `lapsus list text-metrics`."""
    metric = open_metric(rest)
    missing = [need for need in metric.required if need != "references"]
    if missing:
        raise ValueError(f"similarity:{rest} reads {missing[0]}, which answers have not; take another metric")
    return SimilarityScorer(f"similarity:{rest}", metric, 0.01 if rest in PERCENT else 1.0)


UNITS = (
    ScorerProvider(
        "similarity",
        "similarity:MODEL",
        "similarity by a text metric, such as minilm, use or cosine:PATH",
        open_similarity,
    ),
)
