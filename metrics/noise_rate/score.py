"""How much of a text human input changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cpdist

from lapsus import columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def noise_rate(
    predictions: Iterable[str] | Iterable[Iterable[str | None]],
    references: Iterable[str],
    *,
    empty_reference: str = "raise",
) -> dict[str, Any]:
    """Return the edit distance to the clean text per character of it: on average, at worst, by annotator, pooled.

    Args:
        predictions: the noisy texts, or for each example the list of them, one per annotator; None if missing.
        references: the clean texts. Code points are compared; nothing is stripped or normalised.
        empty_reference: an empty clean text has no rate: "raise", or "skip" and count it.

    Returns:
        micro_average: the mean over examples of the mean rate of their annotators.
        worst_average: the mean over examples of the highest rate among their annotators.
        annotator_averages: the mean rate of each annotator, None for one without texts.
        corpus_rate: all edits divided by all clean characters: what other libraries call character error rate.
        examples: how many were scored.
        skipped: how many had an empty clean text.

    Example:
        >>> result = noise_rate([["花贝提额", "话贝提额"], ["你好", "您好"]], ["花呗提额", "你好"])
        >>> result["micro_average"], result["worst_average"], result["annotator_averages"]
        (0.3125, 0.5, [0.125, 0.5])
    """
    columns.one_of("empty_reference", empty_reference, ("raise", "skip"))
    clean = columns.texts("references", references)
    noisy = columns.listed("predictions", predictions)
    columns.same_length(predictions=noisy, references=clean)
    lengths = np.fromiter(map(len, clean), np.int64, len(clean))
    skipped = 0
    if (empty := lengths == 0).any():
        if empty_reference == "raise":
            raise ValueError(f"references[{empty.argmax()}] is empty: leave it out, or use empty_reference='skip'.")
        skipped = int(empty.sum())
        clean, noisy = ([text for text, drop in zip(side, empty, strict=True) if not drop] for side in (clean, noisy))
        lengths = lengths[~empty]
        if not clean:
            raise ValueError("references are all empty: there is nothing to score.")
    distances = _distances(noisy, clean)
    rates = distances / lengths[:, None]
    present = ~np.isnan(distances)
    return {
        "micro_average": float(np.nanmean(rates, axis=1).mean()),
        "worst_average": float(np.nanmax(rates, axis=1).mean()),
        "annotator_averages": [
            float(rates[here, annotator].mean()) if here.any() else None for annotator, here in enumerate(present.T)
        ],
        "corpus_rate": float(np.nansum(distances) / (present * lengths[:, None]).sum()),
        "examples": len(clean),
        "skipped": skipped,
    }


def _distances(noisy: Sequence[Any], clean: Sequence[str]) -> columns.FloatArray:
    """Return examples x annotators, with NaN where an annotator is missing."""
    if all(kind is str for kind in set(map(type, noisy))):
        return cpdist(noisy, clean, scorer=Levenshtein.distance, dtype=np.float64, workers=-1)[:, None]
    flat, width = columns.flattened("predictions", noisy)
    missing = np.fromiter((text is None for text in flat), np.bool_, len(flat)).reshape(-1, width)
    columns.refuse_unannotated("predictions", missing)
    repeated = [text for text in clean for _ in range(width)]
    present = [text if noise is None else noise for noise, text in zip(flat, repeated, strict=True)]
    columns.texts("predictions", present)
    table = cpdist(present, repeated, scorer=Levenshtein.distance, dtype=np.float64, workers=-1).reshape(-1, width)
    table[missing] = np.nan
    return table
