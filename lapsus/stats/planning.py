"""How many examples a study needs: to show a drop, or to show that a drop is smaller than a margin.

Both rest on a `DetectionModel`: that of a pilot study (`compare_paired(...).detection`), or one of stated rates.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from scipy import special

from lapsus.stats.significance import POWER, DetectionModel

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_EXAMPLES = 10_000_000  # more are no answer


def scale_model(model: DetectionModel, factor: float) -> DetectionModel:
    """Return the model of a study with so many times the examples."""
    return replace(model, rows=model.rows * factor, freedom=max(1.0, (model.freedom + 1) * factor - 1))


def count_examples(
    model: DetectionModel, n_examples: int, difference: float, *, alpha: float = 0.05, power: float = POWER
) -> int | None:
    """Return how many examples find a true difference with this chance; the model is that of `n_examples`.

    None where ten million are too few, as for a difference of 0.

    >>> pilot = DetectionModel(background=0.1, magnitude=1.0, rows=90, freedom=89)
    >>> count_examples(pilot, 90, 0.117), count_examples(pilot, 90, 0.05)
    (91, 336)
    """
    return _find_smallest(
        lambda number: scale_model(model, number / n_examples).compute_power(difference, alpha) >= power
    )


def count_examples_within(
    model: DetectionModel, n_examples: int, drop: float, margin: float, *, alpha: float = 0.05, power: float = POWER
) -> int | None:
    """Return how many examples put the interval of a true drop below the margin with this chance.

    The interval ends where a drop as large as the margin is refused, so that its variance is that of the margin.

    >>> pilot = DetectionModel(background=0.1, magnitude=1.0, rows=90, freedom=89)
    >>> count_examples_within(pilot, 90, 0.0, 0.05)
    335
    """
    if drop >= margin:
        return None
    distance = special.ndtri(1 - alpha / 2) * math.sqrt(model.compute_variance(margin))
    distance += special.ndtri(power) * math.sqrt(model.compute_variance(drop))
    number = math.ceil((distance / (margin - drop)) ** 2 / model.rows * n_examples)
    return number if number <= MAX_EXAMPLES else None


def _find_smallest(is_enough: Callable[[int], bool]) -> int | None:
    """Return the smallest number that is enough, where larger ones are too."""
    high = 4
    while not is_enough(high):
        if high >= MAX_EXAMPLES:
            return None
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
