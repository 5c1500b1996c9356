"""chrF of translations of several noisy versions of one source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sacrebleu.metrics import CHRF

from lapsus.core import checks
from lapsus.stats.translation import score_annotated

if TYPE_CHECKING:
    from collections.abc import Iterable


def annotated_chrf(
    predictions: Iterable[Iterable[str | None]],
    references: Iterable[str],
    *,
    mode: str = "sentence",
    word_order: int = 0,
    clusters: Iterable[Any] | None = None,
    confidence_level: float = 0.95,
) -> dict[str, Any]:
    """Return chrF (0 to 100): the mean over annotators, and with the worst annotator of each sentence.

    Args:
        predictions: for each example the list of its hypotheses, one per annotator; None where one is missing.
        references: the reference translations, in any language: characters need no tokenizer.
        mode: "sentence" takes the chrF of sentences on both sides, so that the two can be compared; "corpus" takes the
            average of each annotator's chrF of the corpus, as it is usually reported.
        word_order: 0 for chrF; 2 for chrF++, which counts words and pairs of words too.
        clusters: the original of each sentence; sentences with the same original form one cluster.
        confidence_level: of the intervals.

    Returns:
        micro_average: chrF on average over annotators.
        worst_average: the mean over sentences of the lowest sentence chrF among their annotators.
        annotator_averages: each annotator's chrF (of the corpus in "corpus" mode), None for one without hypotheses.
        micro_average_ci, worst_average_ci: score intervals at the effective number of clusters; of corpus chrF, by
            leaving out each cluster in turn.
        signature: sacrebleu's, to report with the numbers.
        examples: how many were scored.

    Example:
        >>> result = annotated_chrf([["the cat sat down", "the hat sat down"]], ["the cat sat down"])
        >>> round(result["micro_average"], 1), round(result["worst_average"], 1)
        (84.5, 69.0)
    """
    checks.check_choice("mode", mode, ("sentence", "corpus"))
    scorer = _Chrf(checks.check_integer("word_order", word_order))
    return score_annotated(
        predictions, references, scorer, corpus=mode == "corpus", clusters=clusters, level=confidence_level
    )


class _Chrf(CHRF):  # type: ignore[misc]  # sacrebleu is not followed
    """sacrebleu's chrF, whose counts are kept: n-grams of hypothesis and reference and the common ones, by length."""

    def __init__(self, word_order: int) -> None:
        super().__init__(word_order=word_order)

    def count_sentence(self, hypothesis: str, reference: str) -> list[int]:
        """Return the counts of one sentence."""
        counts: list[int] = self._compute_segment_statistics(hypothesis, self._extract_reference_info([reference]))
        return counts

    def score(self, counts: checks.IntArray) -> float:
        """Return chrF of summed counts: one sentence's or a corpus's."""
        return float(self._compute_f_score(counts.tolist()))

    def score_many(self, counts: checks.IntArray) -> checks.FloatArray:
        """Return chrF of many corpora."""
        scores: checks.FloatArray = np.apply_along_axis(self.score, -1, counts)
        return scores

    def signature(self) -> str:
        """Return sacrebleu's, which it states only after it has scored."""
        self.corpus_score(["a"], [["a"]])
        return str(self.get_signature())
