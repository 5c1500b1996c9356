"""BLEU, chrF and TER of sacrebleu, of each sentence by itself.

BLEU cuts a sentence whose reference has Chinese characters into characters, others as 13a does. TER counts edits, so
that its negative is returned.
"""

from __future__ import annotations

import re
from functools import cache, partial
from typing import Any

from lapsus.evaluation.text_metrics import FunctionMetric, MetricInput, MetricProvider, TextMetric

HAN = re.compile(r"[\u3400-\u9fff]")


@cache
def _make_scorer(name: str, tokenize: str = "13a") -> Any:
    from sacrebleu.metrics import BLEU, CHRF, TER

    if name == "bleu":
        return BLEU(effective_order=True, tokenize=tokenize)
    return CHRF() if name == "chrf" else TER(asian_support=True, normalized=True)


def _rate(name: str, metric_input: MetricInput) -> list[float]:
    scores = []
    for candidate, reference in zip(metric_input.candidates, metric_input.references, strict=True):
        scorer = _make_scorer(name, "zh" if HAN.search(reference) else "13a") if name == "bleu" else _make_scorer(name)
        score = scorer.sentence_score(candidate, [reference]).score
        scores.append(-score if name == "ter" else score)
    return scores


def _open(name: str, rest: str) -> TextMetric:
    if rest:
        raise ValueError(f"{name} has no settings, but {rest!r} stands behind it; write {name} alone")
    return FunctionMetric(name, partial(_rate, name))


UNITS = tuple(
    MetricProvider(name, name, summary, partial(_open, name))
    for name, summary in (
        ("bleu", "BLEU of each sentence, by sacrebleu"),
        ("chrf", "chrF of each sentence, by sacrebleu"),
        ("ter", "translation edit rate of each sentence, negative, by sacrebleu"),
    )
)
