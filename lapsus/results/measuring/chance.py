"""Estimate how low the worst of several answers is by chance alone, for a model whose answers vary.

The minimum over annotators falls even if noise has no effect. The reference is the minimum over as many answers to
the clean text.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, prod

from lapsus.results.measuring.records import WorstByChance
from lapsus.results.measuring.runs import Run, texts_of

FEWEST_PAIRS = 20  # fewer repeated answers are too few to estimate how often a model's answer changes


def worst_by_chance(members: Sequence[Run], clean: Run, repeats: Sequence[Run], keys: Sequence[str]) -> WorstByChance:
    """Return the expected minimum over as many answers to the clean text as there are annotators.

    Further clean tracks (`clean.1`, `clean.2`, …) are answers to the same text. Without them, it is estimated from the
    texts that an annotator left as they were: how often their score differs from the clean one.
    """
    if len(members) < 2:
        return WorstByChance()
    if repeats:
        runs = (clean, *repeats)
        scores = [[run.scores[key] for run in runs if key in run.scores] for key in keys]
        expected = sum(expected_minimum(each, len(members)) for each in scores) / len(scores)
        return WorstByChance(expected, "clean text answered again")
    same = [(clean.scores[key], run.scores[key]) for run in members for key in keys if _unchanged(run, clean, key)]
    if len(same) < FEWEST_PAIRS or any(clean.scores[key] not in {0.0, 1.0} for key in keys):
        return WorstByChance()
    apart = sum(first != second for first, second in same) / len(same)
    average = sum(clean.scores[key] for key in keys) / len(keys)
    return WorstByChance(all_right(average, apart, len(members)), "texts left unchanged")


def _unchanged(run: Run, clean: Run, key: str) -> bool:
    """Return whether the model saw the clean text on a noisy track."""
    if key not in run.scores:
        return False
    seen = texts_of(run.rows[key].get("text"))
    return bool(seen) and seen == texts_of(run.rows[key].get("clean_text") or clean.rows[key].get("text"))


def expected_minimum(scores: Sequence[float], number: int) -> float:
    """Return the expected minimum of `number` of the scores; drawn with replacement if there are not as many.

    >>> expected_minimum([1, 0], 2), expected_minimum([1, 1, 0], 2), expected_minimum([1, 0], 3)
    (0.0, 0.333..., 0.125)
    """
    ranked, size = sorted(scores), len(scores)
    if size >= number:
        shares = [comb(size - rank - 1, number - 1) / comb(size, number) for rank in range(size)]
    else:
        shares = [((size - rank) / size) ** number - ((size - rank - 1) / size) ** number for rank in range(size)]
    return sum(score * share for score, share in zip(ranked, shares, strict=True))


def all_right(average: float, apart: float, number: int) -> float:
    """Return how often `number` answers to one text are all right.

    Args:
        average: how often one answer is right.
        apart: how often of two answers to one text only one is right.
        number: of answers.

    Each text's probability of a right answer is taken to follow a Beta distribution with this mean and disagreement.

    >>> all_right(0.5, 0.5, 3), all_right(0.8, 0.0, 3), round(all_right(0.5, 0.25, 2), 3)
    (0.125, 0.8, 0.375)
    """
    variance = average * (1 - average) - apart / 2
    if apart == 0 or not 0 < average < 1:
        return average
    if variance <= 1e-12:  # variance 0: every text has the same probability
        return float(average**number)
    size = average * (1 - average) / variance - 1
    return prod((average * size + step) / (size + step) for step in range(number))
