"""BLEU of translations of several noisy versions of one source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sacrebleu.metrics import BLEU

from lapsus.kernel import columns, statistics
from lapsus.kernel.words import mostly_chinese

if TYPE_CHECKING:
    from collections.abc import Iterable

WORD_TOKENIZERS = ("13a", "intl", "ja-mecab", "ko-mecab")  # made for text with spaces, or for another language


def annotated_bleu(
    predictions: Iterable[Iterable[str | None]],
    references: Iterable[str],
    *,
    mode: str = "paper",
    tokenize: str = "13a",
    clusters: Iterable[Any] | None = None,
    confidence_level: float = 0.95,
) -> dict[str, Any]:
    """Return BLEU (0 to 100) on average over annotators, and for each sentence's worst served annotator.

    Args:
        predictions: for each example the list of its hypotheses, one per annotator; None where one is missing.
        references: the reference translations.
        mode: "paper" is what READIN's script does: the average is that of each annotator's corpus BLEU, the worst is
            sentence BLEU without effective order, in which a sentence under four tokens scores 0. "sentence" takes
            sentence BLEU with effective order on both sides, so that the two can be compared.
        tokenize: sacrebleu's tokenizer; "zh" for Chinese output.
        clusters: what each sentence was made from: sentences that share an original count as one finding.
        confidence_level: of the intervals.

    Returns:
        micro_average: BLEU on average over annotators.
        worst_average: the mean over sentences of the lowest sentence BLEU among their annotators.
        annotator_averages: each annotator's BLEU (of the corpus in "paper" mode), None for one without hypotheses.
        micro_average_ci, worst_average_ci: score intervals at the effective number of originals; of corpus BLEU, by
            leaving out each original in turn.
        signature: sacrebleu's, to report with the numbers.
        examples: how many were scored.

    Example:
        >>> result = annotated_bleu([["the cat sat down", "the hat sat down"]], ["the cat sat down"], mode="sentence")
        >>> round(result["micro_average"], 1), round(result["worst_average"], 1)
        (67.7, 35.4)
    """
    columns.one_of("mode", mode, ("paper", "sentence"))
    columns.one_of("tokenize", tokenize, tuple(BLEU.TOKENIZERS))
    statistics.check_level(confidence_level)
    truth = columns.texts("references", references)
    rows = columns.listed("predictions", predictions)
    columns.same_length(predictions=rows, references=truth)
    flat, width = columns.flattened("predictions", rows)
    columns.texts("predictions", ["" if text is None else text for text in flat])
    missing = np.array([text is None for text in flat]).reshape(-1, width)
    columns.refuse_unannotated("predictions", missing)
    if tokenize in WORD_TOKENIZERS and mostly_chinese(truth):
        raise ValueError(
            f"The references are Chinese and tokenize is {tokenize!r}, which is not made for it: use 'zh'."
        )

    originals = np.arange(len(truth))
    if clusters is not None:
        originals, _ = columns.numbered("clusters", clusters)
        columns.same_length(predictions=rows, clusters=originals)

    bleu = BLEU(tokenize=tokenize, effective_order=mode == "sentence")
    counter = BLEU(tokenize=tokenize, effective_order=True)
    counts = np.zeros((len(flat), 2 * bleu.max_ngram_order + 2), np.int64)
    for place, text in enumerate(flat):
        if text is not None:
            found = counter.sentence_score(text, [truth[place // width]])
            counts[place] = [*found.counts, *found.totals, found.sys_len, found.ref_len]
    by_sentence = np.array([_bleu(bleu, row) for row in counts]).reshape(-1, width)
    by_sentence[missing] = np.nan
    here = ~missing
    if mode == "paper":
        counts = counts.reshape(-1, width, counts.shape[1])
        annotators = [_bleu(bleu, counts[:, j].sum(axis=0)) if here[:, j].any() else None for j in range(width)]
        average = float(np.mean([score for score in annotators if score is not None]))
        interval = statistics.jackknife_rate(average / 100, _without_each(counts, originals) / 100, confidence_level)
    else:
        annotators = [float(by_sentence[here[:, j], j].mean()) if here[:, j].any() else None for j in range(width)]
        means = np.nanmean(by_sentence, axis=1)
        average = float(means.mean())
        interval = _of_sentences(means, originals, confidence_level)
    worst = np.nanmin(by_sentence, axis=1)
    return {
        "micro_average": average,
        "micro_average_ci": None if interval is None else [100 * end for end in interval],
        "worst_average": float(worst.mean()),
        "worst_average_ci": None
        if (ends := _of_sentences(worst, originals, confidence_level)) is None
        else [100 * end for end in ends],
        "annotator_averages": annotators,
        "signature": _signature(bleu),
        "examples": len(truth),
    }


def _bleu(bleu: BLEU, counts: columns.IntArray) -> float:
    """Return BLEU of summed n-gram counts: one sentence's or a corpus's."""
    order = bleu.max_ngram_order
    return float(
        BLEU.compute_bleu(
            correct=counts[:order].tolist(),
            total=counts[order : 2 * order].tolist(),
            sys_len=int(counts[-2]),
            ref_len=int(counts[-1]),
            smooth_method=bleu.smooth_method,
            smooth_value=bleu.smooth_value,
            effective_order=bleu.effective_order,
            max_ngram_order=order,
        ).score
    )


def _of_sentences(scores: columns.FloatArray, originals: columns.IntArray, level: float) -> statistics.Interval | None:
    """Return the interval of a mean of sentence scores, as fractions."""
    return statistics.clustered_rate(statistics.of_numbers(scores.clip(0, 100) / 100, originals), level)


def _without_each(counts: columns.IntArray, originals: columns.IntArray) -> columns.FloatArray:
    """Return the mean of the annotators' corpus BLEU without each original; counts are sentences x annotators x n."""
    number = int(originals.max()) + 1
    own = np.zeros((number, *counts.shape[1:]), np.int64)
    np.add.at(own, originals, counts)
    own = own[np.bincount(originals, minlength=number) > 0]
    annotators = counts.sum(axis=(0, 2)) > 0
    scores: columns.FloatArray = corpus_bleu((counts.sum(axis=0) - own)[:, annotators]).mean(axis=1)
    return scores


def corpus_bleu(counts: columns.IntArray) -> columns.FloatArray:
    """Return BLEU, smoothed as sacrebleu does by default, of many corpora at once.

    The last axis holds the matches and the totals of 1- to 4-grams, then the lengths of hypotheses and references.

    >>> corpus_bleu(np.array([[4, 3, 2, 0, 4, 3, 2, 1, 4, 4]]))  # a 4-gram that does not match counts as half of one
    array([84.08...])
    """
    matches, totals = counts[..., :4].astype(float), counts[..., 4:8].astype(float)
    missed = matches == 0
    matches = np.where(missed, 0.5 ** np.cumsum(missed, axis=-1), matches)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.exp(np.log(matches / totals).mean(axis=-1))
        brevity = np.exp(np.minimum(0, 1 - counts[..., 9] / counts[..., 8]))
    nothing = (totals == 0).any(axis=-1) | missed.all(axis=-1) | (counts[..., 8] == 0)
    return np.where(nothing, 0.0, 100 * brevity * precision)


def _signature(bleu: BLEU) -> str:
    bleu.corpus_score(["a"], [["a"]])  # sacrebleu states the number of references only after it has scored
    return str(bleu.get_signature())
