"""Estimate how low the worst of several answers is by chance alone, for a model whose answers vary.

The minimum over annotators falls even if noise has no effect. The reference is the minimum over as many answers to
the clean text.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, prod
from typing import TYPE_CHECKING

import numpy as np

from lapsus.results.measuring.records import WorstByChance
from lapsus.results.measuring.runs import Run, right_or_wrong
from lapsus.results.measuring.texts import same_texts

if TYPE_CHECKING:
    from lapsus.results.measuring.runs import Mask

FEWEST_PAIRS = 20  # fewer repeated answers are too few to estimate how often a model's answer changes


def worst_by_chance(members: Sequence[Run], clean: Run, repeats: Sequence[Run], examples: Mask) -> WorstByChance:
    """Return the expected minimum over as many answers to the clean text as there are annotators.

    Further clean tracks (`clean.1`, `clean.2`, …) are answers to the same text. Without them, it is estimated from the
    texts that an annotator left as they were and that the model was asked again: how often their score differs from
    the clean one.
    """
    if len(members) < 2:
        return WorstByChance()
    if repeats:
        table = np.stack([run.scores[examples] for run in (clean, *repeats)], axis=1)
        kinds, numbers = np.unique(np.sort(table, axis=1), axis=0, return_counts=True)
        expected = sum(
            int(number) * expected_minimum(kind[~np.isnan(kind)].tolist(), len(members))
            for kind, number in zip(kinds, numbers, strict=True)
        )
        return WorstByChance(float(expected / len(table)), "clean text answered again")
    if not right_or_wrong([clean.scores[examples]]):
        return WorstByChance()
    same = apart = 0
    for run in members:
        unchanged = _asked_again(run, clean, examples & run.scored & same_texts(run, clean))
        same += int(unchanged.sum())
        apart += int((run.scores[unchanged] != clean.scores[unchanged]).sum())
    if same < FEWEST_PAIRS:
        return WorstByChance()
    average = float(clean.scores[examples].mean())
    return WorstByChance(all_right(average, apart / same, len(members)), "texts left unchanged")


def _asked_again(run: Run, clean: Run, examples: Mask) -> Mask:
    """Return which of the examples were not answered by the kept answer to the same question, as `lapsus run` does."""
    if any("asked" not in each.track.columns.names for each in (run, clean)):
        return examples
    places = np.flatnonzero(examples)
    [ours], [its] = (each.columns(["asked"], places) for each in (run, clean))
    kept = [mine is not None and mine == other for mine, other in zip(ours, its, strict=True)]
    again = examples.copy()
    again[places[np.array(kept, bool)]] = False
    return again


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
