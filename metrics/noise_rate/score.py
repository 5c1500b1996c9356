"""How much of a text human input changed, in characters or in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.kernel import columns, statistics
from lapsus.kernel.error_rates import ErrorRates, edit_distances
from lapsus.kernel.words import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    Split = Callable[[str], list[str]]

PIECE = 2048
SPLIT: dict[str, Split | None] = {"character": None, "word": str.split, "token": words}


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
        clusters: what each text was made from: texts that share an original count as one finding.
        confidence_level: of the intervals.

    Returns:
        micro_average: the mean over examples of the mean rate of their annotators.
        worst_average: the mean over examples of the highest rate among their annotators.
        annotator_averages: the mean rate of each annotator, None for one without texts.
        corpus_rate: all edits divided by all clean characters (or words, or tokens): what other libraries call
            character or word error rate.
        micro_average_ci, worst_average_ci, corpus_rate_ci: score intervals at the effective number of originals; where
            a rate is above 1, originals are resampled.
        examples: how many were scored.
        skipped: how many had an empty clean text.

    Example:
        >>> result = noise_rate([["花贝提额", "话贝提额"], ["你好", "您好"]], ["花呗提额", "你好"])
        >>> result["micro_average"], result["worst_average"], result["annotator_averages"]
        (0.3125, 0.5, [0.125, 0.5])
    """
    columns.one_of("unit", unit, tuple(SPLIT))
    columns.one_of("empty_reference", empty_reference, ("raise", "skip"))
    clean = columns.listed("references", references)
    noisy = columns.listed("predictions", predictions)
    columns.same_length(predictions=noisy, references=clean)
    statistics.check_level(confidence_level)
    originals = None
    if clusters is not None:
        originals, _ = columns.numbered("clusters", clusters)
        columns.same_length(predictions=noisy, clusters=originals)
    found = _compared(noisy, clean, SPLIT[unit])
    scored = found.lengths > 0
    skipped = len(clean) - int(scored.sum())
    if skipped and empty_reference == "raise":
        raise ValueError(f"references[{scored.argmin()}] is empty: leave it out, or use empty_reference='skip'.")
    if skipped == len(clean):
        raise ValueError("references are all empty: there is nothing to score.")
    if skipped:
        found = found.only(scored)
        originals = None if originals is None else originals[scored]
    means, worsts = found.means, found.worsts
    own = None if originals is None else np.unique(originals, return_inverse=True)[1]
    parts = {
        name: _by_original(own, sums, sizes)
        for name, sums, sizes in (
            ("micro_average", means, np.ones(len(means))),
            ("worst_average", worsts, np.ones(len(worsts))),
            ("corpus_rate", found.edits.sum(axis=0), found.present.sum(axis=0) * found.lengths),
        )
    }
    bounded = bool(worsts.max() <= 1)
    return {
        **{
            f"{name}_ci": statistics.ratio_interval(part, confidence_level, bounded=bounded, n_resamples=2000)
            for name, part in parts.items()
        },
        "micro_average": float(means.mean()),
        "worst_average": float(worsts.mean()),
        "annotator_averages": found.of_annotators(),
        "corpus_rate": found.of_corpus(),
        "examples": len(found.lengths),
        "skipped": skipped,
    }


def _by_original(own: columns.IntArray | None, sums: NDArray[Any], sizes: NDArray[Any]) -> statistics.Clustered:
    """Return the sums over the texts of each original, by its number; without numbers each text is its own."""
    if own is None:
        return statistics.Clustered(sums, sizes)
    return statistics.Clustered(np.bincount(own, sums), np.bincount(own, sizes))


def _compared(noisy: Sequence[Any], clean: Sequence[str], split: Split | None) -> ErrorRates:
    if isinstance(noisy[0], str):
        distances, lengths = _distances("predictions", noisy, clean, split)
        return ErrorRates(distances[None], np.ones((1, len(clean)), np.bool_), lengths)
    flat, width = columns.flattened("predictions", noisy)
    missing = np.fromiter((text is None for text in flat), np.bool_, len(flat)).reshape(-1, width)
    columns.refuse_unannotated("predictions", missing)
    sides = []
    for annotator in range(width):
        own = [text if noise is None else noise for noise, text in zip(flat[annotator::width], clean, strict=True)]
        distances, lengths = _distances(f"predictions of annotator {annotator}", own, clean, split)
        sides.append(distances)
    return ErrorRates(np.stack(sides), ~missing.T, lengths)


def _distances(
    name: str, noisy: Sequence[str], clean: Sequence[str], split: Split | None
) -> tuple[columns.IntArray, columns.IntArray]:
    """Return each pair's distance and the length of its clean text.

    It goes piece by piece, so that a text is still in the processor's cache when it is compared after being checked.
    """
    distances, lengths = np.empty((2, len(clean)), np.int64)
    for start in range(0, len(clean), PIECE):
        piece = slice(start, start + PIECE)
        lengths[piece] = columns.text_lengths("references", clean[piece], start)
        texts = columns.texts(name, noisy[piece], start)
        if split is None:
            distances[piece] = edit_distances(texts, clean[piece], longest=int(lengths[piece].max()))
        else:
            right = list(map(split, clean[piece]))
            lengths[piece] = list(map(len, right))
            distances[piece] = edit_distances(list(map(split, texts)), right)
    return distances, lengths
