"""How much of a text human input changed, in characters or in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus import stats
from lapsus.core import checks
from lapsus.core.text import split_words
from lapsus.stats.noise_rates import EditCounts, compute_edit_distances

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Split = Callable[[str], list[str]]

PIECE = 2048
SPLITTERS: dict[str, Split | None] = {"character": None, "word": str.split, "token": split_words}


def noise_rate(
    predictions: Iterable[str] | Iterable[Iterable[str | None]],
    references: Iterable[str],
    *,
    unit: str = "character",
    empty_reference: str = "raise",
    clusters: Iterable[Any] | None = None,
    confidence_level: float = 0.95,
) -> dict[str, Any]:
    """Return the edit distance to the clean text per character or word of it: on average, at worst, pooled.

    Args:
        predictions: the noisy texts, or for each example the list of them, one per annotator; None if missing.
        references: the clean texts. Nothing is stripped or normalised.
        unit: what is inserted, deleted or replaced: a "character" (code point), spaces too; a "word" between spaces,
            for the word error rate; or a "token", which is a character of Chinese or Japanese and a word of other
            scripts, for the tokenised character error rate of recognisers, in which spaces do not count.
        empty_reference: an empty clean text has no rate: "raise", or "skip" and count it.
        clusters: the original of each text; texts with the same original form one cluster.
        confidence_level: of the intervals.

    Returns:
        micro_average: the mean over examples of the mean rate of their annotators.
        worst_average: the mean over examples of the highest rate among their annotators.
        annotator_averages: the mean rate of each annotator, None for one without texts.
        corpus_rate: all edits divided by all clean characters (or words, or tokens): what other libraries call
            character or word error rate.
        micro_average_ci, worst_average_ci, corpus_rate_ci: score intervals at the effective number of clusters; where
            a rate is above 1, originals are resampled.
        examples: how many were scored.
        skipped: how many had an empty clean text.

    Example:
        >>> result = noise_rate([["花贝提额", "话贝提额"], ["你好", "您好"]], ["花呗提额", "你好"])
        >>> result["micro_average"], result["worst_average"], result["annotator_averages"]
        (0.3125, 0.5, [0.125, 0.5])
    """
    checks.check_choice("unit", unit, tuple(SPLITTERS))
    checks.check_choice("empty_reference", empty_reference, ("raise", "skip"))
    clean = checks.check_list("references", references)
    noisy = checks.check_list("predictions", predictions)
    checks.check_same_length(predictions=noisy, references=clean)
    stats.check_level(confidence_level)
    cluster_ids = checks.number_clusters(clusters, predictions=noisy)
    counts = _count_unit_edits(noisy, clean, SPLITTERS[unit])
    has_rate = counts.lengths > 0
    skipped = len(clean) - int(has_rate.sum())
    if skipped and empty_reference == "raise":
        raise ValueError(f"references[{has_rate.argmin()}] is empty: leave it out, or use empty_reference='skip'.")
    if skipped == len(clean):
        raise ValueError("references are all empty: there is nothing to score.")
    if skipped:
        counts = counts.select(has_rate)
        cluster_ids = np.unique(cluster_ids[has_rate], return_inverse=True)[1]
    means, worsts = counts.mean_by_example, counts.worst_by_example
    parts = {
        name: stats.ClusterSums(np.bincount(cluster_ids, sums), np.bincount(cluster_ids, sizes))
        for name, sums, sizes in (
            ("micro_average", means, np.ones(len(means))),
            ("worst_average", worsts, np.ones(len(worsts))),
            ("corpus_rate", counts.edits.sum(axis=0), counts.present.sum(axis=0) * counts.lengths),
        )
    }
    bounded = bool(worsts.max() <= 1)
    return {
        **{
            f"{name}_ci": stats.ratio_interval(part, confidence_level, bounded=bounded, n_resamples=2000)
            for name, part in parts.items()
        },
        "micro_average": float(means.mean()),
        "worst_average": float(worsts.mean()),
        "annotator_averages": counts.mean_by_annotator(),
        "corpus_rate": counts.corpus_rate(),
        "examples": len(counts.lengths),
        "skipped": skipped,
    }


def _count_unit_edits(noisy: Sequence[Any], clean: Sequence[str], split: Split | None) -> EditCounts:
    if isinstance(noisy[0], str):
        distances, lengths = _compute_distances("predictions", noisy, clean, split)
        return EditCounts(distances[None], np.ones((1, len(clean)), np.bool_), lengths)
    flat, width = checks.flatten_rows("predictions", noisy)
    missing = np.fromiter((text is None for text in flat), np.bool_, len(flat)).reshape(-1, width)
    checks.check_annotated("predictions", missing)
    sides = []
    for annotator in range(width):
        annotator_texts = [
            text if noise is None else noise for noise, text in zip(flat[annotator::width], clean, strict=True)
        ]
        distances, lengths = _compute_distances(f"predictions of annotator {annotator}", annotator_texts, clean, split)
        sides.append(distances)
    return EditCounts(np.stack(sides), ~missing.T, lengths)


def _compute_distances(
    name: str, noisy: Sequence[str], clean: Sequence[str], split: Split | None
) -> tuple[checks.IntArray, checks.IntArray]:
    """Return each pair's distance and the length of its clean text.

    It goes piece by piece, so that a text is still in the processor's cache when it is compared after being checked.
    """
    distances, lengths = np.empty((2, len(clean)), np.int64)
    for start in range(0, len(clean), PIECE):
        piece = slice(start, start + PIECE)
        lengths[piece] = checks.check_text_lengths("references", clean[piece], start)
        texts = checks.check_texts(name, noisy[piece], start)
        if split is None:
            distances[piece] = compute_edit_distances(texts, clean[piece], cap=int(lengths[piece].max()))
        else:
            clean_words = list(map(split, clean[piece]))
            lengths[piece] = list(map(len, clean_words))
            distances[piece] = compute_edit_distances(list(map(split, texts)), clean_words)
    return distances, lengths
