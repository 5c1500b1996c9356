"""What the shared statistics promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lapsus import stats as statistics
from lapsus.metrics import prediction_consistency, win_rate


def test_saying_the_same_five_times_proves_no_more():
    random = np.random.default_rng(0)
    sums, sizes = random.normal(0.2, 1, 40), np.ones(40, int)
    once = statistics.estimate_mean(statistics.ClusterSums(sums, sizes), 0.95)
    often = statistics.estimate_mean(statistics.ClusterSums(5 * sums, 5 * sizes), 0.95)
    assert often[0] == pytest.approx(once[0])
    assert often[1] == pytest.approx(once[1])


def test_rewrites_of_one_original_are_one_finding():
    new, gold, old = ["no"] * 9 + ["yes"], ["yes"] * 10, ["yes"] * 9 + ["no"]
    apart = prediction_consistency(new, gold, old)
    together = prediction_consistency(new, gold, old, clusters=[0] * 9 + [1])
    assert apart["mcnemar_p"] < 0.05 < together["mcnemar_p"]
    assert together["mcnemar_p"] == together["accuracy_cluster_p"] == together["accuracy_change_p"]
    low, high = together["accuracy_change_ci"]
    assert low < 0 < high
    alone = prediction_consistency(new, gold, old, clusters=range(10))
    assert alone == apart | {key: alone[key] for key in ("changed_rate_cluster_ci", "accuracy_cluster_p")}


def test_false_alarms_under_clusters_are_as_many_as_stated():
    random = np.random.default_rng(1)
    alarms = 0
    for _ in range(400):
        moves = random.choice([-1, 0, 1], 40)  # all five rewrites of an original move together
        alarms += statistics.estimate_mean(statistics.ClusterSums(5.0 * moves, np.full(40, 5)), 0.95, 1000)[1] < 0.05
    assert alarms / 400 < 0.08


@pytest.mark.parametrize(("alternative", "p_value"), [("greater", 0.96875), ("less", 0.1875), ("two-sided", 0.375)])
def test_a_tie_is_no_evidence(alternative, p_value):
    """One win, four losses, a tie: binomial tails of 1 win of 5, from the table of 2**-5."""
    for ties in ("loss", "drop", "half"):
        result = win_rate([1, 0, 0, 0, 0, 0], [0, 1, 1, 1, 1, 0], ties=ties, alternative=alternative)
        assert result["p_value"] == pytest.approx(p_value)


def wilson_by_its_quadratic(rate, trials, quantile):
    """Return the two rates whose score statistic is the quantile: the roots of Wilson's quadratic equation."""
    square = quantile**2
    roots = np.roots([trials + square, -(2 * trials * rate + square), trials * rate**2])
    return pytest.approx(sorted(roots.real))


def test_clusters_more_alike_than_chance_vary_as_they_do():
    """Each original has one right and one wrong rewrite, but one: what varies is the original, not the rewrite."""
    right, rewrites = np.array([1, 1, 1, 1, 1, 2]), np.full(6, 2)
    rate = right.sum() / 12
    effective = rate * (1 - rate) / (np.var(right / 2, ddof=1) / 6)
    assert effective > 12
    found = statistics.clustered_wilson_interval(right, rewrites, 0.95)
    assert found == wilson_by_its_quadratic(rate, effective, stats.t.ppf(0.975, 5))


def test_a_rate_of_few_clusters_has_students_quantile():
    """Of three originals the quantile is 4.30, not 1.96; at 90 % it is 2.92."""
    right, rewrites = np.array([4, 0, 3]), np.array([5, 5, 5])
    rate = 7 / 15
    variance = 3 / 2 * ((right - rate * 5) ** 2).sum() / 15**2
    trials = rate * (1 - rate) / variance
    assert trials < 15
    for level, quantile in ((0.95, 4.302653), (0.9, 2.919986)):
        assert statistics.clustered_wilson_interval(right, rewrites, level) == wilson_by_its_quadratic(
            rate, trials, quantile
        )


def test_a_mean_of_few_clusters_has_students_quantile():
    """Clusters of one value each are scipy's one-sample t-test."""
    values = np.array([0.5, -1.0, 2.0, 0.25])
    expected = stats.ttest_1samp(values, 0)
    for level in (0.8, 0.95):
        interval, p_value = statistics.estimate_mean(
            statistics.ClusterSums(values, np.ones(4, int)), level, n_resamples=0
        )
        assert interval == pytest.approx(list(expected.confidence_interval(level)))
        assert p_value == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("trials", [3, 7, 11, 13, 22, 35])
def test_an_interval_ends_where_no_or_every_trial_succeeds(trials):
    """The ends are 0 and 1 themselves, not what rounding leaves of them."""
    assert statistics.wilson_interval(0, trials, 0.95)[0] == 0
    assert statistics.wilson_interval(trials, trials, 0.95)[1] == 1


def test_a_cluster_without_trials_says_nothing():
    """An utterance without slots is in no sum: the interval is that of the others."""
    assert statistics.ClusterSums(np.array([1.0, 0, 2]), np.array([2, 0, 3])).n_clusters == 2
    some, more = (
        statistics.clustered_wilson_interval(np.array(successes), np.array(trials), 0.95)
        for successes, trials in (([3, 1, 4], [4, 4, 4]), ([3, 0, 1, 0, 4], [4, 0, 4, 0, 4]))
    )
    assert more == pytest.approx(some)
    assert statistics.clustered_wilson_interval(np.array([2, 0]), np.array([3, 0]), 0.95) is None


@pytest.mark.parametrize("scores", [[-0.9, -0.8, -0.7, -0.9], [0.2, -0.3, 0.1, 0.4], [1.5, 0.5, 0.7, 0.2]])
def test_scores_beyond_0_and_1_get_an_interval_around_their_mean(scores):
    average = statistics.estimate_average(np.array(scores), n_resamples=2000)
    low, high = average.interval
    assert low < average.mean < high
    moved = statistics.estimate_average(np.array(scores) + 10, n_resamples=2000)
    assert moved.interval == pytest.approx([low + 10, high + 10])


def test_resamples_of_one_cluster_alone_are_left_out():
    """Of three scores, one resample in nine draws one of them three times, and has no standard error."""
    interval, p_value = statistics.estimate_mean(statistics.sum_by_cluster(np.array([0.0, 5, 9])), 0.95, 500)
    assert np.isfinite(interval).all() and interval[0] < 14 / 3 < interval[1]
    assert 0 < p_value <= 1


def test_distinct_rows_with_their_counts_are_all_rows():
    rows = np.random.default_rng(1).integers(0, 3, (60, 3)).astype(float)
    distinct, counts = statistics.count_distinct_rows(rows)
    assert sorted(map(tuple, np.repeat(distinct, counts, axis=0))) == sorted(map(tuple, rows))
    assert len({*map(tuple, distinct)}) == len(distinct) == len({*map(tuple, rows)})
