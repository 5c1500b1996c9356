"""Scores of translations of several noisy versions of one source: of corpora, and of single sentences.

A score such as BLEU or chrF is a function of counts, which add up from sentences to a corpus.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from lapsus import stats
from lapsus.core import checks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class CountBasedScore(Protocol):
    """A score from 0 to 100 as a function of counts."""

    def count_sentence(self, hypothesis: str, reference: str) -> Sequence[int]:
        """Return the counts of one sentence."""
        ...

    def score(self, counts: checks.IntArray) -> float:
        """Return the score of summed counts: one sentence's or a corpus's."""
        ...

    def score_many(self, counts: checks.IntArray) -> checks.FloatArray:
        """Return the scores of many corpora; the last axis holds the counts."""
        ...

    def signature(self) -> str:
        """Return what the score was computed by."""
        ...


def score_annotated(
    predictions: Iterable[Iterable[str | None]],
    references: Iterable[str],
    scorer: CountBasedScore,
    *,
    corpus: bool,
    clusters: Iterable[Any] | None,
    level: float,
) -> dict[str, Any]:
    """Return the score on average over annotators, and with the worst annotator of each sentence.

    Args:
        predictions: for each example the list of its hypotheses, one per annotator; None where one is missing.
        references: the reference translations.
        scorer: the score.
        corpus: whether an annotator's score is that of the corpus; else it is the mean of the sentences' scores.
        clusters: the original of each sentence; sentences with the same original form a cluster.
        level: of the intervals.
    """
    stats.check_level(level)
    gold = checks.check_texts("references", references)
    rows = checks.check_list("predictions", predictions)
    checks.check_same_length(predictions=rows, references=gold)
    flat, width = checks.flatten_rows("predictions", rows)
    checks.check_texts("predictions", ["" if text is None else text for text in flat])
    missing = np.array([text is None for text in flat]).reshape(-1, width)
    checks.check_annotated("predictions", missing)
    cluster_ids = checks.number_clusters(clusters, predictions=rows)

    empty_counts = [0] * len(scorer.count_sentence("", ""))
    counts = np.array(
        [
            empty_counts if text is None else scorer.count_sentence(text, gold[index // width])
            for index, text in enumerate(flat)
        ],
        np.int64,
    )
    by_sentence = np.array([scorer.score(row) for row in counts]).reshape(-1, width)
    by_sentence[missing] = np.nan
    present = ~missing
    if corpus:
        counts = counts.reshape(-1, width, counts.shape[1])
        annotators = [scorer.score(counts[:, j].sum(axis=0)) if present[:, j].any() else None for j in range(width)]
        average = float(np.mean([score for score in annotators if score is not None]))
        leave_one_out = _leave_one_out(scorer, counts[:, present.any(axis=0)], cluster_ids)
        interval = stats.jackknife_interval(average / 100, leave_one_out / 100, level)
    else:
        annotators = [
            float(by_sentence[present[:, j], j].mean()) if present[:, j].any() else None for j in range(width)
        ]
        means = np.nanmean(by_sentence, axis=1)
        average = float(means.mean())
        interval = _sentence_interval(means, cluster_ids, level)
    worst = np.nanmin(by_sentence, axis=1)
    return {
        "micro_average": average,
        "micro_average_ci": _to_percent(interval),
        "worst_average": float(worst.mean()),
        "worst_average_ci": _to_percent(_sentence_interval(worst, cluster_ids, level)),
        "annotator_averages": annotators,
        "signature": scorer.signature(),
        "examples": len(gold),
    }


def _sentence_interval(scores: checks.FloatArray, cluster_ids: checks.IntArray, level: float) -> stats.Interval | None:
    """Return the interval of a mean of sentence scores, as fractions."""
    return stats.clustered_rate_interval(stats.sum_by_cluster_number(scores.clip(0, 100) / 100, cluster_ids), level)


def _to_percent(interval: stats.Interval | None) -> stats.Interval | None:
    return None if interval is None else [100 * end for end in interval]


def _leave_one_out(scorer: CountBasedScore, counts: checks.IntArray, cluster_ids: checks.IntArray) -> checks.FloatArray:
    """Return the mean of the annotators' corpus scores without each cluster; counts are sentences x annotators x n."""
    n_clusters = int(cluster_ids.max()) + 1
    cluster_counts = np.zeros((n_clusters, *counts.shape[1:]), np.int64)
    np.add.at(cluster_counts, cluster_ids, counts)
    scores: checks.FloatArray = scorer.score_many(counts.sum(axis=0) - cluster_counts).mean(axis=1)
    return scores
