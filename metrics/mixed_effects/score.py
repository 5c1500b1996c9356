"""What a condition does to a score, when every example is scored under several conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import optimize, special

from lapsus import stats
from lapsus.core import checks

if TYPE_CHECKING:
    from collections.abc import Iterable


def mixed_effects(
    predictions: Iterable[float],
    conditions: Iterable[Any],
    examples: Iterable[Any],
    *,
    clusters: Iterable[Any] | None = None,
    baseline: Any = None,
    confidence_level: float = 0.95,
    correction: str = "holm",
    errors: str = "robust",
) -> dict[str, Any]:
    """Fit a mixed-effects regression of a score on conditions, with a random intercept per example (REML).

    Args:
        predictions: the scores.
        conditions: under which condition each was made, such as "dialect", "perturbed", "translated".
        examples: of which example each is. Conditions may be missing for an example, or occur more than once.
        clusters: what each example was made from, if examples share originals; by default each is its own.
        baseline: the condition that the others are compared with; by default the first in sorted order.
        confidence_level: of the intervals, each taken by itself.
        correction: of the p-values for several contrasts: "holm", "bonferroni" (as the paper does) or "none".
        errors: "robust" measures errors by how the examples differ (the sandwich), which holds where conditions differ
            in variance, where several rewrites of an example share a condition, and where a condition suits some
            examples more than others. "model" takes those of the mixed model (the paper's Eq. 3, as lme4), which
            assumes that none of this is so.

    Estimates are those of the mixed model, whatever the errors.

    Returns:
        coefficients: for each other condition the difference from the baseline: estimate, se, ci, p_value (corrected),
            p_value_single (to which ci belongs), df, and under `model` what the mixed model says of se, ci, p_value and
            df. With robust errors it is the paired t-test where each example has each condition once; p_value is None
            where there is no noise.
        intercept: the baseline: condition, estimate, se.
        example_variance, residual_variance: of the examples, and of the noise.
        log_likelihood: the restricted one, as lme4 defines it; None where there is no noise.
        paired: for each other condition the difference of the examples that have both, rewrites averaged: estimate,
            se, ci, p_value, p_value_single, df, examples.
        examples, observations: how many there are.

    Example:
        >>> result = mixed_effects([1, 2, 4, 5, 3, 5], ["a", "b"] * 3, [0, 0, 1, 1, 2, 2])
        >>> round(result["coefficients"]["b"]["estimate"], 4), round(result["coefficients"]["b"]["se"], 4)
        (1.3333, 0.3333)
    """
    stats.check_level(confidence_level)
    checks.check_choice("correction", correction, ("holm", "bonferroni", "none"))
    checks.check_choice("errors", errors, ("robust", "model"))
    score = checks.check_scores("predictions", predictions)
    condition_of, names = checks.factorize("conditions", conditions)
    example_of, ids = checks.factorize("examples", examples)
    checks.check_same_length(predictions=score, conditions=condition_of, examples=example_of)
    if baseline is None:
        baseline = min(names)
    elif baseline not in names:  # 2024 may name the condition "2024": options of the command line are read as JSON
        baseline = {str(name): name for name in names}.get(str(baseline), baseline)
    if baseline not in names:
        raise ValueError(f"baseline is {baseline!r}: choose one of the conditions {', '.join(map(repr, names))}.")
    if len(names) < 2:
        raise ValueError(f"There is only the condition {names[0]!r}: give at least two to compare.")
    inner_freedom = len(score) - len(ids) - len(names) + 1
    if inner_freedom < 1 or len(ids) < 2:
        raise ValueError(
            f"{len(score)} scores of {len(ids)} examples cannot tell examples from noise: "
            "score examples under several conditions, with the same id each time."
        )

    cluster_of = _number_clusters(clusters, example_of, len(ids))
    cells = example_of * len(names)
    cells += condition_of
    counts = np.bincount(cells, minlength=len(ids) * len(names)).reshape(len(ids), -1)
    if (counts == 1).all():
        flat = np.empty(len(score))
        flat[cells] = score
        table = sums = flat.reshape(counts.shape)
        fit = _fit_balanced(table)
    else:
        fit = _fit_unbalanced(score, condition_of, example_of, counts)
        sums = np.bincount(cells, score, minlength=counts.size).reshape(counts.shape).astype(np.float64)
        table = np.divide(sums, counts, out=np.full(counts.shape, np.nan), where=counts > 0)
    freedom = inner_freedom if fit.example_variance > 0 else len(score) - len(names)

    base = names.index(baseline)
    other_conditions = sorted((str(name), place) for place, name in enumerate(names) if place != base)
    if table is sums and cluster_of is None:
        robust_errors = [_standard_error(table[:, place] - table[:, base]) for _, place in other_conditions]
    else:
        residual_sums = np.where(counts > 0, sums - counts * fit.means, 0.0)
        ratio = fit.example_variance / fit.residual_variance if fit.residual_variance else np.inf
        robust_errors = [
            _sandwich_error(residual_sums, counts, ratio, (base, place), cluster_of) for _, place in other_conditions
        ]
    coefficients = {}
    for (name, place), (error, own_freedom) in zip(other_conditions, robust_errors, strict=True):
        estimate = fit.means[place] - fit.means[base]
        variance = fit.covariance[place, place] + fit.covariance[base, base] - 2 * fit.covariance[place, base]
        model = _describe_effect(estimate, float(np.sqrt(max(0.0, variance))), freedom, confidence_level)
        robust = _describe_effect(estimate, error if fit.residual_variance else 0.0, own_freedom, confidence_level)
        leading = model if errors == "model" else robust
        coefficients[name] = leading | {"model": {key: value for key, value in model.items() if key != "estimate"}}
    paired = {
        name: _compare_pairs(table[:, place] - table[:, base], cluster_of, confidence_level)
        for name, place in other_conditions
    }
    for effects in (coefficients, paired, {name: effect["model"] for name, effect in coefficients.items()}):
        _correct(effects, correction)
    return {
        "coefficients": coefficients,
        "intercept": {
            "condition": str(baseline),
            "estimate": float(fit.means[base]),
            "se": float(np.sqrt(fit.covariance[base, base])),
        },
        "example_variance": float(fit.example_variance),
        "residual_variance": float(fit.residual_variance),
        "log_likelihood": fit.log_likelihood,
        "paired": paired,
        "examples": len(ids),
        "observations": len(score),
    }


@dataclass(frozen=True, slots=True)
class _Fit:
    means: checks.FloatArray
    covariance: checks.FloatArray
    example_variance: float
    residual_variance: float
    log_likelihood: float | None


def _fit_balanced(table: checks.FloatArray) -> _Fit:
    """Fit examples x conditions, each cell filled once: REML is then the analysis of variance."""
    examples, width = table.shape
    means = table.mean(axis=0)
    centred = table - means
    level = np.einsum("ij->i", centred) / width  # faster than a mean over few columns
    centred -= level[:, None]
    within = float(np.square(centred, out=centred).sum())
    between = width * float(np.square(level).sum())
    within, between = (_zero_if_rounding(part, table) for part in (within, between))
    residual = within / ((examples - 1) * (width - 1))
    variance = (between / (examples - 1) - residual) / width
    if variance <= 0:
        residual, variance = (within + between) / (examples * width - width), 0.0
    covariance = (np.eye(width) * residual + variance) / examples
    likelihood = None
    if residual > 0:
        stretch = np.log1p(variance / residual * width)
        likelihood = _log_likelihood(
            residual, examples * width - width, examples * stretch, width * np.log(examples) - stretch
        )
    return _Fit(means, covariance, variance, residual, likelihood)


def _fit_unbalanced(
    score: checks.FloatArray, condition_of: checks.IntArray, example_of: checks.IntArray, counts: checks.IntArray
) -> _Fit:
    """Fit any layout, from sums over the examples that have equally many rows.

    With `ratio` the variance of examples over that of noise, an example of n rows weighs its mean by n / (1 + ratio n);
    so one pass over the rows is enough, and the search for the best ratio never sees them again.
    """
    width = counts.shape[1]
    shift = np.bincount(condition_of, score) / np.bincount(condition_of)
    centred = score - shift[condition_of]
    size = counts.sum(axis=1)
    level = np.bincount(example_of, centred) / size
    deviation = centred - level[example_of]
    share = counts / size[:, None]
    within = _Sums(
        np.diag(counts.sum(axis=0)) - counts.T @ share,
        np.bincount(condition_of, deviation).astype(np.float64),
        _zero_if_rounding(float(deviation @ deviation), score),
    )
    sizes, group = np.unique(size, return_inverse=True)
    number = np.bincount(group)
    between = [
        _Sums(
            share[members].T @ share[members],
            share[members].T @ level[members],
            _zero_if_rounding(float(level[members] @ level[members]), score),
        )
        for members in (group == place for place in range(len(sizes)))
    ]
    freedom = len(score) - width

    def solve(ratio: float) -> tuple[checks.FloatArray, checks.FloatArray, float]:
        weights = sizes / (1 + ratio * sizes)
        matrix = within.matrix + sum(w * sums.matrix for w, sums in zip(weights, between, strict=True))
        vector = within.vector + sum(w * sums.vector for w, sums in zip(weights, between, strict=True))
        square = within.square + sum(w * sums.square for w, sums in zip(weights, between, strict=True))
        means = np.linalg.solve(matrix, vector)
        return matrix, means, max(0.0, float(square - means @ vector))

    def deviance(ratio: float) -> float:
        matrix, _, rss = solve(ratio)
        stretch = number @ np.log1p(ratio * sizes)
        return float(freedom * np.log(rss / freedom) + stretch + np.linalg.slogdet(matrix)[1])

    def slope(ratio: float) -> float:
        matrix, means, rss = solve(ratio)
        change = -((sizes / (1 + ratio * sizes)) ** 2)
        rss_change = matrix_change = 0.0
        for factor, sums in zip(change, between, strict=True):
            rss_change += factor * (sums.square - 2 * means @ sums.vector + means @ sums.matrix @ means)
            matrix_change = matrix_change + factor * sums.matrix
        grown = number @ (sizes / (1 + ratio * sizes))
        return float(freedom * rss_change / rss + grown + np.trace(np.linalg.solve(matrix, matrix_change)))

    additive = np.linalg.lstsq(within.matrix, within.vector)[0]
    intercepts = level - share @ additive
    noise = centred - additive[condition_of] - intercepts[example_of]
    if _zero_if_rounding(float(noise @ noise), score) == 0:
        return _fit_exact(shift + additive, intercepts, score)
    ratio = _find_best_ratio(deviance, slope)
    matrix, means, rss = solve(ratio)
    residual = rss / freedom
    stretch = float(number @ np.log1p(ratio * sizes))
    likelihood = _log_likelihood(residual, freedom, stretch, float(np.linalg.slogdet(matrix)[1]))
    return _Fit(means + shift, np.linalg.inv(matrix) * residual, ratio * residual, residual, likelihood)


def _fit_exact(means: checks.FloatArray, intercepts: checks.FloatArray, score: checks.FloatArray) -> _Fit:
    """Fit scores that are exactly example + condition: the differences are certain."""
    variance = _zero_if_rounding(float(((intercepts - intercepts.mean()) ** 2).sum()), score) / (len(intercepts) - 1)
    means = means + intercepts.mean()
    return _Fit(means, np.full((len(means),) * 2, variance / len(intercepts)), variance, 0.0, None)


@dataclass(frozen=True, slots=True)
class _Sums:
    matrix: checks.FloatArray
    vector: checks.FloatArray
    square: float


def _find_best_ratio(deviance: Any, slope: Any) -> float:
    """Return the ratio of variances with the least deviance, which may be 0."""
    grid = np.geomspace(1e-8, 1e10, 73)
    best = int(np.argmin([deviance(ratio) for ratio in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    if slope(low) < 0 < slope(high):
        ratio = optimize.brentq(slope, low, high, xtol=1e-300, rtol=1e-14)
        return float(ratio)
    return 0.0 if best == 0 else float(grid[best])


def _log_likelihood(residual: float, freedom: int, log_stretch: float, log_determinant: float) -> float:
    """Return the restricted log-likelihood, as lme4 defines it."""
    return float(-0.5 * (freedom * (1 + np.log(2 * np.pi * residual)) + log_stretch + log_determinant))


def _zero_if_rounding(square: float, values: checks.FloatArray) -> float:
    """Return a sum of squares, or 0 where it is no more than rounding of `values`."""
    largest = max(values.max(), -values.min())
    return square if square > values.size * (4 * np.finfo(float).eps * largest) ** 2 else 0.0


def _number_clusters(clusters: Iterable[Any] | None, example_of: checks.IntArray, number: int) -> Any:
    """Return the number of the cluster that each example is in, or None where each is its own."""
    if clusters is None:
        return None
    row_cluster = checks.number_clusters(clusters, predictions=example_of)
    cluster_of = np.empty(number, np.int64)
    cluster_of[example_of] = row_cluster
    if (differs := cluster_of[example_of] != row_cluster).any():
        raise ValueError(f"clusters[{differs.argmax()}] differs within one example: give all its rows the same.")
    if not row_cluster.any():
        raise ValueError("All rows have one cluster: give at least two, or the spread between clusters is unknown.")
    return cluster_of


def _standard_error(differences: checks.FloatArray) -> tuple[float, float]:
    """Return the standard error of a mean, and its degrees of freedom."""
    error = float(differences.std(ddof=1) / np.sqrt(len(differences)))
    return (error if _zero_if_rounding(error**2 * len(differences) ** 2, differences) else 0.0), len(differences) - 1


def _sandwich_error(
    residual_sums: checks.FloatArray,
    counts: checks.IntArray,
    ratio: float,
    contrast: tuple[int, int],
    cluster_of: checks.IntArray | None,
) -> tuple[float, float]:
    """Return the standard error of a contrast by what each example adds to it, and Satterthwaite's degrees of freedom.

    Args:
        residual_sums: examples x conditions, the sums of what the means leave over.
        counts: how many rows each sum is of.
        ratio: the variance of examples over that of noise.
        contrast: the baseline and the other condition.
        cluster_of: of each example, if examples share originals.
    """
    size = counts.sum(axis=1)
    shrink = 1 / size if np.isinf(ratio) else ratio / (1 + ratio * size)
    matrix = np.diag(counts.sum(axis=0)) - (counts * shrink[:, None]).T @ counts
    direction = np.zeros(counts.shape[1])
    direction[list(contrast)] = -1, 1
    weight = np.linalg.lstsq(matrix, direction)[0]
    contributions = residual_sums @ weight - shrink * residual_sums.sum(axis=1) * (counts @ weight)
    expected = counts @ weight**2 - shrink * (counts @ weight) ** 2
    if cluster_of is not None:
        contributions, expected = np.bincount(cluster_of, contributions), np.bincount(cluster_of, expected)
    number = len(contributions)
    error = float(np.sqrt(number / (number - 1) * (contributions @ contributions)))
    return error, max(1.0, float(expected.sum() ** 2 / (expected @ expected)) - 1)


def _correct(effects: dict[str, dict[str, Any]], correction: str) -> None:
    """Correct the p-values for their number; the single ones stay beside them."""
    single = {name: effect["p_value"] for name, effect in effects.items()}
    tested = [name for name, p_value in single.items() if p_value is not None]
    known = [single[name] for name in tested]
    corrected = known
    if correction == "holm":
        corrected = stats.holm(known)
    elif correction == "bonferroni":
        corrected = [stats.bonferroni(p_value, len(effects)) for p_value in known]
    for name, effect in effects.items():
        effect["p_value_single"] = single[name]
    for name, p_value in zip(tested, corrected, strict=True):
        effects[name]["p_value"] = p_value


def _describe_effect(estimate: float, error: float, freedom: float, level: float) -> dict[str, Any]:
    reach = float(special.stdtrit(freedom, 0.5 + level / 2)) * error
    return {
        "estimate": float(estimate),
        "se": error,
        "ci": [float(estimate - reach), float(estimate + reach)],
        "p_value": float(2 * special.stdtr(freedom, -abs(estimate) / error)) if error > 0 else None,
        "df": freedom,
    }


def _compare_pairs(differences: checks.FloatArray, cluster_of: checks.IntArray | None, level: float) -> dict[str, Any]:
    both = ~np.isnan(differences)
    differences = differences[both]
    number = len(differences)
    n_clusters = number if cluster_of is None else len(np.unique(cluster_of[both]))
    if n_clusters < 2:
        estimate = float(differences.mean()) if number else None
        return {"estimate": estimate, "se": None, "ci": None, "p_value": None, "df": None, "examples": number}
    error, freedom = _standard_error(differences)
    if cluster_of is not None:
        sums = stats.sum_by_cluster_number(differences, cluster_of[both])
        error, freedom = float(np.sqrt(sums.variance * n_clusters / (n_clusters - 1))), n_clusters - 1
    return {**_describe_effect(float(differences.mean()), error, freedom, level), "examples": number}
