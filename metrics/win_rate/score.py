"""How often one score beats another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import optimize, stats

from lapsus import stats as statistics
from lapsus.core import checks


def win_rate(
    predictions: Iterable[float],
    references: Iterable[float],
    *,
    clusters: Iterable[Any] | None = None,
    ties: str = "loss",
    comparisons: int | Sequence[float] = 1,
    confidence_level: float = 0.95,
    alternative: str = "greater",
) -> dict[str, Any]:
    """Return the share of examples where the prediction beats its reference, with a sign test.

    Args:
        predictions: the scores that should win, such as those of the same sentence in another dialect.
        references: the scores they should beat, such as those of a sentence with another meaning.
        clusters: the original of each pair; pairs with the same original form one cluster.
        ties: what a tie is in the rate: "loss" counts it as not won, as the paper does; "drop" leaves ties out of the
            trials; "half" counts half a win. The test is the same for all three: ties say nothing for either side.
        comparisons: how many such tests the study makes; or the p-values of the others, which Holm's correction needs.
        confidence_level: of the interval; the test is significant at 1 - confidence_level, after Bonferroni.
        alternative: "greater" (one-tailed), "less" or "two-sided".

    Returns:
        win_rate: the share of trials that are won.
        wins, losses, ties: how many examples are each.
        trials: what the share is of: all examples, or those that do not tie with `ties="drop"`.
        p_value: that a pair which does not tie is won or lost by a fair coin: the exact sign test; with repeated
            `clusters`, the score test over clusters. None where all pairs tie.
        majority_p_value: that half of all pairs are won, a tie being none: the test of the paper. With many ties it
            rejects (`alternative="less"` or "two-sided") although wins and losses are as many.
        p_value_bonferroni, p_value_holm: corrected for the comparisons; Holm's is None unless p-values are given.
        significant: whether the corrected test rejects at 1 - confidence_level.
        win_rate_ci: Wilson's interval of win_rate, with clusters at the effective number of pairs.
        minimum_detectable_rate: the smallest true rate of wins among the pairs that do not tie which the test on as
            many independent pairs detects with 80 % power.

    Example:
        >>> result = win_rate([0.9, 0.8, 0.7, 0.7], [0.1, 0.2, 0.7, 0.3])
        >>> result["win_rate"], result["ties"], result["p_value"], result["significant"]
        (0.75, 1, 0.125, False)
    """
    checks.check_choice("ties", ties, ("loss", "drop", "half"))
    checks.check_choice("alternative", alternative, ("greater", "less", "two-sided"))
    statistics.check_level(confidence_level)
    high, low = checks.check_scores("predictions", predictions), checks.check_scores("references", references)
    examples = checks.check_same_length(predictions=high, references=low)
    other_p_values = None
    if isinstance(comparisons, Iterable):
        other_p_values = checks.check_scores("comparisons", comparisons).tolist()
        if wrong := [p for p in other_p_values if not 0 <= p <= 1]:
            raise ValueError(f"comparisons holds {wrong[0]}: give p-values, or the number of tests.")
    if other_p_values is not None:
        number = len(other_p_values) + 1
    elif isinstance(comparisons, (int, np.integer)) and not isinstance(comparisons, bool) and comparisons >= 1:
        number = int(comparisons)
    else:
        raise ValueError(f"comparisons is {comparisons!r}: state how many tests are made, this one included.")

    outcomes = np.sign(high - low)
    wins, losses = int((outcomes > 0).sum()), int((outcomes < 0).sum())
    tied = examples - wins - losses
    trials = examples - tied if ties == "drop" else examples
    counted = wins + tied / 2 if ties == "half" else wins
    alpha = (1 - confidence_level) / number
    interval = statistics.wilson_interval(counted, trials, confidence_level)
    p_value = statistics.sign_test(wins, losses, alternative) if wins + losses else None
    majority: float | None = statistics.sign_test(wins, examples - wins, alternative)
    cluster_ids = checks.number_clusters(clusters, predictions=high)
    if checks.has_repeats(cluster_ids):
        p_value = majority = interval = None
        if cluster_ids.max() and wins + losses:
            p_value = statistics.compute_p_value(statistics.sum_by_cluster_number(outcomes, cluster_ids), alternative)
            majority = statistics.compute_p_value(
                statistics.sum_by_cluster_number((outcomes > 0) - 0.5, cluster_ids), alternative
            )
        if trials:
            value = np.where(outcomes == 0, 0.5 if ties == "half" else 0.0, outcomes > 0)
            is_trial = outcomes != 0 if ties == "drop" else np.ones(examples, bool)
            sums = statistics.sum_by_cluster_number(value[is_trial], cluster_ids[is_trial])
            interval = statistics.clustered_rate_interval(sums, confidence_level)
    corrected = None if p_value is None else statistics.bonferroni(p_value, number)
    return {
        "win_rate": counted / trials if trials else None,
        "wins": wins,
        "losses": losses,
        "ties": tied,
        "trials": trials,
        "p_value": p_value,
        "majority_p_value": majority,
        "p_value_bonferroni": corrected,
        "p_value_holm": None
        if other_p_values is None or p_value is None
        else statistics.holm([p_value, *other_p_values])[0],
        "significant": p_value is not None and p_value < alpha,
        "win_rate_ci": interval,
        "minimum_detectable_rate": minimum_detectable_rate(wins + losses, alpha, alternative),
    }


def minimum_detectable_rate(trials: int, alpha: float, alternative: str) -> float | None:
    """Return the true rate nearest to 1/2 that the test would have found with a chance of 80 %.

    >>> round(minimum_detectable_rate(115, 0.01, "greater"), 3)  # the English pairs of the dialect study
    0.65
    """
    tail = alpha / 2 if alternative == "two-sided" else alpha
    wins = np.arange(trials + 1)
    is_significant = stats.binom.sf(wins - 1, trials, 0.5) < tail
    if not is_significant.any():
        return None
    min_wins = int(is_significant.argmax())
    rate = optimize.brentq(lambda true: stats.binom.sf(min_wins - 1, trials, true) - statistics.POWER, 0.5, 1.0)
    return float(1 - rate if alternative == "less" else rate)
