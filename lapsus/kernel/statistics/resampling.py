"""Bootstrap intervals, which resample whole clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from lapsus.kernel.columns import FloatArray, IntArray
    from lapsus.kernel.statistics.rates import Interval


MANY = 1000  # clusters above which Student's t is used


def percentile_interval(draws: FloatArray, level: float) -> Interval:
    """Return the quantiles of the resampled values that enclose the share `level` of them."""
    low, high = np.quantile(draws, [0.5 - level / 2, 0.5 + level / 2])
    return [float(low), float(high)]


def studentised_interval(
    sums: FloatArray | IntArray, sizes: FloatArray | IntArray, level: float, n_resamples: int, seed: int
) -> Interval | None:
    """Return the interval of sum / size by resampling clusters, each resample measured by its own standard error.

    This accounts for skewed scores, for which the plain percentiles of resampled means are too short. Above a
    thousand clusters skew hardly matters, and Student's t, which is faster, is used.

    >>> scores = np.array([0.1, 0.2, 0.1, 0.4, 0.3, 2.5])
    >>> low, high = studentised_interval(scores, np.ones(6), 0.95, 2000, seed=0)
    >>> bool(high - scores.mean() > scores.mean() - low)
    True
    """
    if len(sums) < 2:
        return None
    mean = sums.sum() / sizes.sum()
    error = float(np.sqrt(((sums - mean * sizes) ** 2).sum()) / sizes.sum())
    if error <= 1e-12 * max(1.0, abs(mean)):
        return [float(mean), float(mean)]
    if len(sums) > MANY:
        reach = float(special.stdtrit(len(sums) - 1, 0.5 + level / 2)) * error * np.sqrt(len(sums) / (len(sums) - 1))
        return [float(mean - reach), float(mean + reach)]
    draws = len(sums) * resampled_means(
        np.column_stack([sums, sizes, sums**2, sums * sizes, sizes**2]), n_resamples, seed
    )
    total, size, squares, products, size_squares = draws.T
    means = total / size
    spread = np.sqrt(np.maximum(0, squares - 2 * means * products + means**2 * size_squares)) / size
    usable = spread > 1e-9 * error  # leave out resamples without spread, such as one cluster drawn every time
    low, high = np.quantile((means - mean)[usable] / spread[usable], [0.5 - level / 2, 0.5 + level / 2])
    return [float(mean - high * error), float(mean - low * error)]


def resampled_means(rows: FloatArray, n_resamples: int, seed: int) -> FloatArray:
    """Return the column means of `n_resamples` samples of the rows, drawn with replacement.

    Drawing N of N rows is one multinomial draw over the distinct rows: same distribution, and where few are distinct
    (scores of 0 and 1) the work does not grow with N. Where most are distinct, rows are picked one by one.
    """
    generator = np.random.Generator(np.random.SFC64(seed))
    size = len(rows)
    distinct, counts = distinct_rows(rows)
    if len(distinct) > 50 + size / 25:  # above this, picking rows was timed to be faster than multinomial draws
        picks = (generator.integers(0, size, size) for _ in range(n_resamples))
        return np.stack([np.bincount(pick, minlength=size) @ rows for pick in picks]) / size
    batch = max(1, 1_000_000 // len(distinct))
    batches = (min(batch, n_resamples - start) for start in range(0, n_resamples, batch))
    return np.concatenate([generator.multinomial(size, counts / size, number) @ distinct for number in batches]) / size


def distinct_rows(rows: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the distinct rows and how often each occurs."""
    codes = np.zeros(len(rows), np.int64)
    for column in rows.T:
        values, inverse = np.unique(column, return_inverse=True)
        codes = codes * len(values) + inverse
        codes = np.unique(codes, return_inverse=True)[1] if len(values) > 1 else codes
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    return rows[first], counts
