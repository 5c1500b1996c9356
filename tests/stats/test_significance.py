"""Comparisons and averages against independent implementations, and their laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from lapsus import stats as statistics
from lapsus.stats.intervals import average_ratios, estimate_ratios

OUTCOMES = st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0])), min_size=5, max_size=60)
GRADES = st.lists(st.tuples(st.sampled_from([0.0, 0.3, 0.5, 1.0]), st.floats(0, 1)), min_size=5, max_size=40)


def sides(pairs):
    return map(np.array, zip(*pairs, strict=True))


@given(OUTCOMES)
def test_right_and_wrong_are_compared_by_mcnemar(pairs):
    first, second = sides(pairs)
    one_way, other_way = int((first > second).sum()), int((first < second).sum())
    found = statistics.compare_paired(first, second)
    if one_way + other_way:
        few = one_way + other_way < 25
        expected = mcnemar([[0, one_way], [other_way, 0]], exact=few, correction=False).pvalue
        assert found.p_value == pytest.approx(expected)
    else:
        assert found.p_value == 1
    assert found.test == "McNemar"


def restricted_statistic(one_way, other_way, pairs, true):
    """Return the score statistic of a difference, the nuisance rate being searched for by the likelihood."""

    def unlikely(rate):
        same = 1 - 2 * rate - true
        rates = np.array([rate + true, rate, same])
        counts = np.array([one_way, other_way, pairs - one_way - other_way])
        return -(counts * np.log(np.maximum(rates, 1e-300))).sum()

    bounds = max(0.0, -true), (1 - true) / 2
    rate = optimize.minimize_scalar(unlikely, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x
    return (one_way - other_way - pairs * true) / np.sqrt(pairs * (2 * rate + true * (1 - true)))


@pytest.mark.parametrize(("one_way", "other_way", "pairs"), [(30, 12, 144), (24, 9, 100), (20, 19, 80), (1, 0, 50)])
def test_the_interval_is_tangos(one_way, other_way, pairs):
    first = np.repeat([1.0, 0.0, 1.0], [one_way, other_way, pairs - one_way - other_way])
    second = np.repeat([0.0, 1.0, 1.0], [one_way, other_way, pairs - one_way - other_way])
    low, high = statistics.compare_paired(first, second).interval
    assert restricted_statistic(one_way, other_way, pairs, low) == pytest.approx(1.959964, abs=1e-4)
    assert restricted_statistic(one_way, other_way, pairs, high) == pytest.approx(-1.959964, abs=1e-4)


def test_with_few_changes_the_end_beside_0_is_where_the_exact_test_rejects():
    """Twelve lost and two won of 44; of five lost, which are too few, the interval just holds 0."""
    first, second = np.repeat([1.0, 0.0, 1.0], [12, 2, 30]), np.repeat([0.0, 1.0, 1.0], [12, 2, 30])
    found = statistics.compare_paired(first, second)
    wider = 1.959964 * (10 / 14**0.5) / stats.norm.isf(found.p_value / 2)
    assert found.p_value == pytest.approx(stats.binomtest(2, 14).pvalue)
    assert restricted_statistic(12, 2, 44, found.interval[0]) == pytest.approx(wider, abs=1e-3)
    assert restricted_statistic(12, 2, 44, found.interval[1]) == pytest.approx(-1.959964, abs=1e-3)
    five = statistics.compare_paired(np.repeat([1.0, 0.0], [5, 95]), np.zeros(100)).interval
    assert five[0] == 0 and restricted_statistic(5, 0, 100, five[1]) == pytest.approx(-1.959964, abs=1e-3)


@given(st.one_of(OUTCOMES, GRADES), st.sampled_from([1, 2, 3]), st.sampled_from([0.8, 0.95, 0.99]))
def test_interval_and_p_value_never_disagree(pairs, share, level):
    first, second = sides(pairs)
    found = statistics.compare_paired(first, second, [number // share for number in range(len(first))], level=level)
    if found.interval is not None:
        low, high = found.interval
        margin = 1e-9
        assert -1 <= low <= found.difference + margin and found.difference - margin <= high <= 1
        if abs(found.p_value - (1 - level)) > margin:
            assert (found.p_value < 1 - level) == (low > margin or high < -margin)


@given(st.one_of(OUTCOMES, GRADES))
def test_to_turn_the_sides_turns_the_interval(pairs):
    first, second = sides(pairs)
    one, other = statistics.compare_paired(first, second), statistics.compare_paired(second, first)
    assert other.p_value == pytest.approx(one.p_value)
    assert other.interval == pytest.approx([-end for end in one.interval[::-1]], abs=1e-9)


@pytest.mark.parametrize("scale", [1, 100])
def test_saying_everything_five_times_proves_no_more(scale):
    random = np.random.default_rng(0)
    first, second = scale * random.random((2, 40))
    once = statistics.compare_paired(first, second)
    often = statistics.compare_paired(np.repeat(first, 5), np.repeat(second, 5), np.repeat(np.arange(40), 5))
    assert often.p_value == pytest.approx(once.p_value)
    assert often.interval == pytest.approx(once.interval)
    one, five = (
        statistics.estimate_average(first),
        statistics.estimate_average(np.repeat(first, 5), np.repeat(np.arange(40), 5)),
    )
    assert five.interval == pytest.approx(one.interval)
    assert (five.examples, five.clusters) == (200, 40)


def test_other_scores_of_many_examples_get_students_t():
    random = np.random.default_rng(1)
    first, second = 100 * random.random((2, 1200))
    found = statistics.compare_paired(first, second, level=0.9)
    expected = stats.ttest_rel(first, second)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.interval == pytest.approx(list(expected.confidence_interval(0.9)))
    assert found.effect_size == pytest.approx(expected.statistic / np.sqrt(1200))


@pytest.mark.parametrize("shift", [0.0, 0.3, 0.5, 0.8])
def test_interval_and_test_of_skewed_scores_agree(shift):
    random = np.random.default_rng(8)
    first = random.exponential(size=40) - 1 + shift
    found = statistics.compare_paired(3 + first, np.full(40, 3.0))
    assert (found.p_value < 0.05) == (found.interval[0] > 0 or found.interval[1] < 0)


def test_the_detectable_difference_is_found_in_four_of_five():
    """More than a thousand examples, whose scores are not resampled."""
    random = np.random.default_rng(2)
    model = statistics.compare_paired(*random.normal(size=(2, 1200)).clip(-9, 9) + 50).detection
    wanted = model.minimum_detectable(0.05)
    found = [
        statistics.compare_paired(*random.normal([[wanted], [0]], size=(2, 1200))).p_value < 0.05 for _ in range(500)
    ]
    assert np.mean(found) == pytest.approx(0.8, abs=0.06)


def test_no_spread_is_not_certainty():
    same = statistics.compare_paired(np.ones(20), np.ones(20))
    assert same.p_value == 1
    assert same.interval == pytest.approx([-0.1611, 0.1611], abs=1e-4)  # z² / (n + z²)
    assert statistics.estimate_average(np.ones(20)).interval == pytest.approx([0.8203, 1], abs=1e-4)
    assert statistics.compare_paired(np.ones(2), np.zeros(2), ["a", "a"]).interval is None


def test_originals_that_all_do_the_same_count_as_one_pair_each():
    """Three originals, each with one row lost of two: a half of three pairs, not certainty."""
    found = statistics.compare_paired(np.array([1.0, 0] * 3), np.zeros(6), np.repeat(range(3), 2), level=0.8)
    assert found.p_value == 0.25  # two of the eight choices of signs are as extreme
    assert found.interval[0] < 0 < found.interval[1]
    every = statistics.compare_paired(np.ones(6), np.zeros(6), np.repeat(range(3), 2), level=0.8)
    assert every.p_value == 0.25
    assert every.interval == [0, 1]


def test_swaps_are_all_counted():
    """Of 2**10 ways to swap, by the definition; beyond 16 differences they are drawn."""
    random = np.random.default_rng(3)
    first, second = random.random((2, 10))
    expected = stats.permutation_test(
        (first, second), lambda x, y, axis: (x - y).mean(axis=axis), permutation_type="samples", n_resamples=np.inf
    )
    assert statistics.permutation_test(first, second, seed=0) == pytest.approx(expected.pvalue)
    first, second = random.random((2, 60))
    drawn = statistics.permutation_test(first, second, seed=0, n_resamples=40_000)
    assert drawn == pytest.approx(statistics.compare_paired(first, second).p_value, abs=0.02)
    together = statistics.permutation_test(np.repeat(first, 3), np.repeat(second, 3), np.repeat(range(60), 3), seed=0)
    assert together == pytest.approx(drawn, abs=0.02)
    assert statistics.permutation_test(first, first, seed=0) == 1
    extreme = statistics.permutation_test(np.ones(40), np.zeros(40), seed=0, n_resamples=999)
    assert extreme == 1 / 1000, "the observed assignment is one of them, so that p is never 0"


def test_resampling_measures_each_sample_by_its_own_error():
    """The studentised interval of skewed scores, by the textbook's loop."""
    random = np.random.default_rng(4)
    scores = random.exponential(size=30)
    means, errors = [], []
    for _ in range(20_000):
        sample = random.choice(scores, 30)
        means.append(sample.mean())
        errors.append(sample.std() / 30**0.5)
    low, high = np.quantile((np.array(means) - scores.mean()) / errors, [0.025, 0.975])
    error = scores.std() / 30**0.5
    found, _ = statistics.estimate_mean(statistics.sum_by_cluster(scores), 0.95, 20_000, seed=0)
    assert found == pytest.approx([scores.mean() - high * error, scores.mean() - low * error], abs=0.06 * error * 4)


def test_the_detectable_difference_is_that_of_students_error():
    random = np.random.default_rng(5)
    first, second = random.random((2, 12))
    error = (first - second).std(ddof=1) / np.sqrt(12)
    wanted = (stats.t.ppf(0.975, 11) + stats.t.ppf(0.8, 11)) * error
    model = statistics.compare_paired(first + 5, second + 5).detection  # beyond 0 and 1 a difference adds no variance
    assert model.minimum_detectable(0.05) == pytest.approx(wanted)


@pytest.mark.parametrize(("rows", "flips", "tests"), [(90, 0.02, 1), (90, 0.05, 12), (300, 0.05, 12), (1000, 0.1, 1)])
def test_a_drop_of_the_printed_size_is_found_in_75_to_85_of_a_hundred_studies(rows, flips, tests):
    """Scores of 0 and 1: a true difference makes losses as many times more frequent as gains are rarer."""
    random = np.random.default_rng(6)
    alpha = 0.05 / tests
    powers = []
    for _ in range(60):
        up, down, _ = random.multinomial(rows, [flips, flips, 1 - 2 * flips])
        seen = np.repeat([1.0, -1.0, 0.0], [up, down, rows - up - down])
        sums = statistics.sum_by_cluster(seen)
        model = statistics.DetectionModel.from_differences(seen, sums, bounded=True)
        drop = model.minimum_detectable(alpha)
        changed = np.hypot(2 * flips, drop)
        gained, lost = (changed - drop) / 2, (changed + drop) / 2
        assert gained * lost == pytest.approx(flips**2)
        ups, downs, _ = random.multinomial(rows, [gained, lost, 1 - changed], size=40).T
        tests = [
            statistics.compute_p_value(statistics.ClusterSums(np.repeat([1.0, -1.0], pair), np.ones(sum(pair))))
            for pair in zip(ups, downs, strict=True)
        ]
        powers.append((np.array(tests) < alpha).mean())
    assert 0.75 < np.mean(powers) < 0.86


def test_what_differs_by_rounding_does_not_differ():
    first, second = np.array([0.1 + 0.2, 0.7, 0.5]), np.array([0.3, 0.7, 0.5])
    found = statistics.compare_paired(first, second)
    assert (found.difference, found.p_value, found.test, found.effect_size) == (0, 1, "McNemar", None)


def test_a_ratio_has_one_interval_however_often_its_originals_are_repeated():
    right, clusters = np.array([1.0] * 15 + [0] * 5), np.arange(20)
    intervals = []
    for times in (1, 3):
        rows = (np.repeat(each, times) for each in (np.zeros(20, int), clusters, right, np.ones(20)))
        mean, interval = average_ratios([estimate_ratios(*rows, shared=times > 1)], 0.95)
        assert mean == 0.75
        intervals.append(interval)
    assert intervals[0] == pytest.approx(intervals[1])
    assert intervals[0] == pytest.approx(statistics.estimate_average(right).interval, abs=0.02)


def test_differences_of_drops_are_tested_exactly_too():
    """Drops are between -1 and 1: three examples that lost, of fifty, are no certainty, and no row is resampled."""
    old, new = np.zeros(50), np.repeat([1.0, 0.0], [3, 47])
    found = statistics.compare_paired(new, old, bounds=(-1.0, 1.0))
    assert (found.difference, found.p_value, found.test) == (0.06, 0.25, "McNemar")
    assert -0.05 < found.interval[0] <= 0 and 0.1 < found.interval[1] < 0.25
    twice = statistics.compare_paired(2 * new - 1, -1 + 2 * old, bounds=(-1.0, 1.0))
    same = statistics.compare_paired(new, old)
    assert twice.interval == pytest.approx([2 * end for end in same.interval])
    assert twice.detection.minimum_detectable(0.05) == pytest.approx(
        2 * same.detection.minimum_detectable(0.05), abs=1e-5
    )
    assert statistics.compare_paired(2 * new, old).test == "bootstrap t"


def test_corrections_of_exploratory_tests_are_those_of_statsmodels():
    p_values = np.random.default_rng(3).random(40) ** 3
    expected = multipletests(p_values, method="fdr_bh")[1]
    assert statistics.benjamini_hochberg(p_values) == pytest.approx(expected)
