"""BLEU of translations of several noisy versions of one source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sacrebleu.metrics import BLEU

from lapsus.core import checks
from lapsus.core.text import is_mostly_chinese
from lapsus.stats.translation import score_annotated

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
    """Return BLEU (0 to 100): the mean over annotators, and with the worst annotator of each sentence.

    Args:
        predictions: for each example the list of its hypotheses, one per annotator; None where one is missing.
        references: the reference translations.
        mode: "paper" is what READIN's script does: the average is that of each annotator's corpus BLEU, the worst is
            sentence BLEU without effective order, in which a sentence under four tokens scores 0. "sentence" takes
            sentence BLEU with effective order on both sides, so that the two can be compared.
        tokenize: sacrebleu's tokenizer; "zh" for Chinese output.
        clusters: the original of each sentence; sentences with the same original form one cluster.
        confidence_level: of the intervals.

    Returns:
        micro_average: BLEU on average over annotators.
        worst_average: the mean over sentences of the lowest sentence BLEU among their annotators.
        annotator_averages: each annotator's BLEU (of the corpus in "paper" mode), None for one without hypotheses.
        micro_average_ci, worst_average_ci: score intervals at the effective number of clusters; of corpus BLEU, by
            leaving out each cluster in turn.
        signature: sacrebleu's, to report with the numbers.
        examples: how many were scored.

    Example:
        >>> result = annotated_bleu([["the cat sat down", "the hat sat down"]], ["the cat sat down"], mode="sentence")
        >>> round(result["micro_average"], 1), round(result["worst_average"], 1)
        (67.7, 35.4)
    """
    checks.check_choice("mode", mode, ("paper", "sentence"))
    checks.check_choice("tokenize", tokenize, tuple(BLEU.TOKENIZERS))
    gold = checks.check_texts("references", references)
    if tokenize in WORD_TOKENIZERS and is_mostly_chinese(gold):
        raise ValueError(
            f"The references are Chinese and tokenize is {tokenize!r}, which is not made for it: use 'zh'."
        )
    scorer = _Bleu(tokenize, effective_order=mode == "sentence")
    return score_annotated(predictions, gold, scorer, corpus=mode == "paper", clusters=clusters, level=confidence_level)


class _Bleu:
    """BLEU from the matches and the totals of 1- to 4-grams, then the lengths of hypotheses and references."""

    def __init__(self, tokenize: str, *, effective_order: bool) -> None:
        self.bleu = BLEU(tokenize=tokenize, effective_order=effective_order)
        self.counter = BLEU(tokenize=tokenize, effective_order=True)

    def count_sentence(self, hypothesis: str, reference: str) -> list[int]:
        """Return the counts of one sentence."""
        sentence_bleu = self.counter.sentence_score(hypothesis, [reference])
        return [*sentence_bleu.counts, *sentence_bleu.totals, sentence_bleu.sys_len, sentence_bleu.ref_len]

    def score(self, counts: checks.IntArray) -> float:
        """Return BLEU of summed counts: one sentence's or a corpus's."""
        order = self.bleu.max_ngram_order
        return float(
            BLEU.compute_bleu(
                correct=counts[:order].tolist(),
                total=counts[order : 2 * order].tolist(),
                sys_len=int(counts[-2]),
                ref_len=int(counts[-1]),
                smooth_method=self.bleu.smooth_method,
                smooth_value=self.bleu.smooth_value,
                effective_order=self.bleu.effective_order,
                max_ngram_order=order,
            ).score
        )

    def score_many(self, counts: checks.IntArray) -> checks.FloatArray:
        """Return BLEU of many corpora."""
        return compute_corpus_bleu(counts)

    def signature(self) -> str:
        """Return sacrebleu's, which it states only after it has scored."""
        self.bleu.corpus_score(["a"], [["a"]])
        return str(self.bleu.get_signature())


def compute_corpus_bleu(counts: checks.IntArray) -> checks.FloatArray:
    """Return BLEU, smoothed as sacrebleu does by default, of many corpora at once.

    The last axis holds the matches and the totals of 1- to 4-grams, then the lengths of hypotheses and references.

    >>> compute_corpus_bleu(np.array([[4, 3, 2, 0, 4, 3, 2, 1, 4, 4]]))  # without a 4-gram: it counts as half of one
    array([84.08...])
    """
    matches, totals = counts[..., :4].astype(float), counts[..., 4:8].astype(float)
    missed = matches == 0
    matches = np.where(missed, 0.5 ** np.cumsum(missed, axis=-1), matches)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.exp(np.log(matches / totals).mean(axis=-1))
        brevity = np.exp(np.minimum(0, 1 - counts[..., 9] / counts[..., 8]))
    is_zero = (totals == 0).any(axis=-1) | missed.all(axis=-1) | (counts[..., 8] == 0)
    return np.where(is_zero, 0.0, 100 * brevity * precision)
