"""How far judges agree: Krippendorff's alpha, for any number of judges and with judgements missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def krippendorff_alpha(units: Iterable[Sequence[float]]) -> float | None:
    """Return the agreement of several judgements of each unit: 1 is full agreement, 0 is what chance would give.

    Two judgements disagree by the square of their difference, which is Krippendorff's interval alpha; of judgements
    that are 0 or 1 it is the nominal one too. A unit with one judgement says nothing. None where no unit has two, or
    where all judgements are the same, so that there is nothing to agree on.

    >>> krippendorff_alpha([[1, 1], [0, 0], [1, 0]])
    0.444...
    >>> krippendorff_alpha([[80, 90, 85], [10, 20], [50]])
    0.976...
    >>> print(krippendorff_alpha([[1, 1], [1, 1]]))
    None
    """
    pairable = [list(map(float, unit)) for unit in units if len(unit) > 1]
    values = [value for unit in pairable for value in unit]
    expected = _sum_squared_differences(values) / (len(values) - 1) if pairable else 0.0
    if not expected:
        return None
    return 1 - sum(_sum_squared_differences(unit) / (len(unit) - 1) for unit in pairable) / expected


def _sum_squared_differences(values: Sequence[float]) -> float:
    """Return the sum of squared differences over all ordered pairs of values."""
    mean = sum(values) / len(values)
    return 2 * len(values) * sum((value - mean) ** 2 for value in values)
