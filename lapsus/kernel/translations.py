"""Scores of translations of several noisy versions of one source: of corpora, and of single sentences.

A score such as BLEU or chrF is a function of counts, which add up from sentences to a corpus.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from lapsus.kernel import columns, statistics

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Counted(Protocol):
    """A score from 0 to 100 as a function of counts."""

    def counts(self, hypothesis: str, reference: str) -> Sequence[int]:
        """Return the counts of one sentence."""
        ...

    def score(self, counts: columns.IntArray) -> float:
        """Return the score of summed counts: one sentence's or a corpus's."""
        ...

    def scores(self, counts: columns.IntArray) -> columns.FloatArray:
        """Return the scores of many corpora; the last axis holds the counts."""
        ...

    def signature(self) -> str:
        """Return what the score was computed by."""
        ...


def annotated(
    predictions: Iterable[Iterable[str | None]],
    references: Iterable[str],
    counted: Counted,
    *,
    corpus: bool,
    clusters: Iterable[Any] | None,
    level: float,
) -> dict[str, Any]:
    """Return the score on average over annotators, and for each sentence's worst served annotator.

    Args:
        predictions: for each example the list of its hypotheses, one per annotator; None where one is missing.
        references: the reference translations.
        counted: the score.
        corpus: whether an annotator's score is that of the corpus; else it is the mean of the sentences' scores.
        clusters: what each sentence was made from.
        level: of the intervals.
    """
    statistics.check_level(level)
    truth = columns.texts("references", references)
    rows = columns.listed("predictions", predictions)
    columns.same_length(predictions=rows, references=truth)
    flat, width = columns.flattened("predictions", rows)
    columns.texts("predictions", ["" if text is None else text for text in flat])
    missing = np.array([text is None for text in flat]).reshape(-1, width)
    columns.refuse_unannotated("predictions", missing)
    originals = np.arange(len(truth))
    if clusters is not None:
        originals, _ = columns.numbered("clusters", clusters)
        columns.same_length(predictions=rows, clusters=originals)

    nothing = [0] * len(counted.counts("", ""))
    counts = np.array(
        [nothing if text is None else counted.counts(text, truth[place // width]) for place, text in enumerate(flat)],
        np.int64,
    )
    by_sentence = np.array([counted.score(row) for row in counts]).reshape(-1, width)
    by_sentence[missing] = np.nan
    here = ~missing
    if corpus:
        counts = counts.reshape(-1, width, counts.shape[1])
        annotators = [counted.score(counts[:, j].sum(axis=0)) if here[:, j].any() else None for j in range(width)]
        average = float(np.mean([score for score in annotators if score is not None]))
        without = _without_each(counted, counts[:, here.any(axis=0)], originals)
        interval = statistics.jackknife_rate(average / 100, without / 100, level)
    else:
        annotators = [float(by_sentence[here[:, j], j].mean()) if here[:, j].any() else None for j in range(width)]
        means = np.nanmean(by_sentence, axis=1)
        average = float(means.mean())
        interval = _of_sentences(means, originals, level)
    worst = np.nanmin(by_sentence, axis=1)
    return {
        "micro_average": average,
        "micro_average_ci": _percent(interval),
        "worst_average": float(worst.mean()),
        "worst_average_ci": _percent(_of_sentences(worst, originals, level)),
        "annotator_averages": annotators,
        "signature": counted.signature(),
        "examples": len(truth),
    }


def _of_sentences(scores: columns.FloatArray, originals: columns.IntArray, level: float) -> statistics.Interval | None:
    """Return the interval of a mean of sentence scores, as fractions."""
    return statistics.clustered_rate(statistics.of_numbers(scores.clip(0, 100) / 100, originals), level)


def _percent(interval: statistics.Interval | None) -> statistics.Interval | None:
    return None if interval is None else [100 * end for end in interval]


def _without_each(counted: Counted, counts: columns.IntArray, originals: columns.IntArray) -> columns.FloatArray:
    """Return the mean of the annotators' corpus scores without each original; counts are sentences x annotators x n."""
    number = int(originals.max()) + 1
    own = np.zeros((number, *counts.shape[1:]), np.int64)
    np.add.at(own, originals, counts)
    own = own[np.bincount(originals, minlength=number) > 0]
    scores: columns.FloatArray = counted.scores(counts.sum(axis=0) - own).mean(axis=1)
    return scores
