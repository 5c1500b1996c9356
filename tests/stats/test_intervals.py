"""The shared statistics against independent implementations and laws."""

from itertools import pairwise

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from lapsus import stats as statistics
from lapsus.core import checks

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=9)
LEVELS = st.sampled_from([0.5, 0.9, 0.95, 0.99])


@given(st.integers(0, 50), st.integers(0, 50), LEVELS)
def test_wilson(successes, failures, level):
    trials = successes + failures
    if not trials:
        assert statistics.wilson_interval(0, 0, level) is None
        return
    expected = stats.binomtest(successes, trials).proportion_ci(level, method="wilson")
    assert statistics.wilson_interval(successes, trials, level) == pytest.approx(list(expected), abs=1e-12)
    again = proportion_confint(successes, trials, 1 - level, method="wilson")
    assert statistics.wilson_interval(successes, trials, level) == pytest.approx(list(again), abs=1e-12)


def test_wilson_does_not_separate_three_models():
    """PaRTE's BERT, RoBERTa and GPT-3: 107, 90 and 114 changes of 1,126."""
    found = [[round(100 * end, 2) for end in statistics.wilson_interval(count, 1126, 0.95)] for count in (107, 90, 114)]
    assert found == [[7.92, 11.36], [6.55, 9.72], [8.5, 12.02]]


@given(st.integers(0, 60), st.integers(0, 60), st.sampled_from(["two-sided", "greater", "less"]))
def test_the_test_of_a_mean_is_exact_below_25_changes(one_way, other_way, alternative):
    sums = statistics.sum_by_cluster(np.repeat([1.0, -1.0, 0.0], [one_way, other_way, 5]))
    found = statistics.compute_p_value(sums, alternative)
    changes = one_way + other_way
    if changes == 0:
        assert found == 1
    elif changes < 25:
        assert found == pytest.approx(stats.binomtest(one_way, changes, alternative=alternative).pvalue)
    else:
        deviate = (one_way - other_way) / changes**0.5
        tails = {
            "greater": stats.norm.sf(deviate),
            "less": stats.norm.cdf(deviate),
            "two-sided": 2 * stats.norm.sf(abs(deviate)),
        }
        assert found == pytest.approx(tails[alternative])


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=9), st.sampled_from(["two-sided", "greater", "less"]))
def test_signs_of_other_sums_are_turned_in_every_way(values, alternative):
    sums = np.array(values, float)
    found = statistics.compute_p_value(statistics.ClusterSums(sums, np.ones(len(sums))), alternative)
    if not sums.any():
        assert found == 1
        return
    expected = stats.permutation_test(
        (sums,),
        lambda x, axis: x.sum(axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        alternative=alternative,
    )
    assert found == pytest.approx(expected.pvalue)


@given(P_VALUES)
def test_holm_by_definition(p_values):
    """Hypotheses fall in order of their p-values, each at level / (how many are left), until one stands."""
    holm = statistics.holm(p_values)
    bonferroni = [statistics.bonferroni(p, len(p_values)) for p in p_values]
    assert all(p <= h <= b for p, h, b in zip(p_values, holm, bonferroni, strict=True))
    for level in (0.001, 0.01, 0.05, 0.3, 0.99):
        fallen = set()
        for left, place in zip(range(len(p_values), 0, -1), np.argsort(p_values, kind="stable"), strict=True):
            if p_values[place] * left > level:
                break
            fallen.add(place)
        assert {place for place, p in enumerate(holm) if p <= level} == fallen


def test_holm_and_bonferroni_of_statsmodels():
    p_values = [0.04, 0.001, 0.3, 0.012, 0.012, 0.9]
    assert statistics.holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1])
    expected = multipletests(p_values, method="bonferroni")[1]
    assert [statistics.bonferroni(p, 6) for p in p_values] == pytest.approx(expected)


def test_clusters_use_the_sandwich():
    """The effective number of trials is the one at which they would vary as clustered least squares says."""
    rng = np.random.default_rng(0)
    cluster = np.repeat(np.arange(60), rng.integers(1, 9, 60))
    outcome = (rng.random(len(cluster)) < rng.beta(1, 3, 60)[cluster]).astype(int)
    fit = sm.OLS(outcome, np.ones(len(outcome))).fit(
        cov_type="cluster", cov_kwds={"groups": cluster, "use_correction": True}
    )
    rate = outcome.mean()
    sums = statistics.ClusterSums(np.bincount(cluster, outcome), np.bincount(cluster))
    assert sums.variance * 60 / 59 == pytest.approx(fit.bse[0] ** 2)
    shares = np.bincount(cluster) / len(cluster)
    assert sums.corrected_variance == pytest.approx(float((sums.residuals**2 / (1 - shares)).sum()) / len(cluster) ** 2)
    effective = rate * (1 - rate) / sums.corrected_variance
    assert effective < len(outcome) / 1.2
    quantile = stats.t.ppf(0.975, sums.degrees_of_freedom)
    expected = statistics.wilson_interval(rate * effective, effective, 0.95, quantile=quantile)
    found = statistics.clustered_wilson_interval(np.bincount(cluster, outcome), np.bincount(cluster), 0.95)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("correlation", [0.0, 0.3])
def test_degrees_of_freedom_are_those_of_the_quadratic_form(correlation):
    """Trace formulas of Satterthwaite's approximation, with whole matrices."""
    sizes = np.array([1.0, 2, 3, 4, 30, 5, 8])
    total, shares = sizes.sum(), sizes / sizes.sum()
    residuals_of = np.eye(7) - np.outer(sizes, np.ones(7)) / total
    form = residuals_of.T @ np.diag(1 / (1 - shares)) @ residuals_of
    covariance = np.diag(sizes * (1 + (sizes - 1) * correlation))
    product = form @ covariance
    expected = np.trace(product) ** 2 / np.trace(product @ product)
    sums = statistics.ClusterSums(np.zeros(7), sizes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statistics.ClusterSums, "_estimate_correlation", lambda _: correlation)
        assert sums.degrees_of_freedom == pytest.approx(expected)
    assert statistics.ClusterSums(np.arange(9.0), np.full(9, 4)).degrees_of_freedom == pytest.approx(8)


def test_clustered_intervals_cover():
    """Of 500 studies with 40 clusters, 95 % intervals hold the truth as often as they say; naive ones do not."""
    rng = np.random.default_rng(1)
    sizes = np.full(40, 8)
    held = naive = 0
    for _ in range(500):
        changed = rng.binomial(sizes, rng.beta(0.5, 2, 40))
        low, high = statistics.clustered_wilson_interval(changed, sizes, 0.95)
        held += low <= 0.2 <= high
        low, high = statistics.wilson_interval(changed.sum(), sizes.sum(), 0.95)
        naive += low <= 0.2 <= high
    assert 0.92 <= held / 500 <= 0.98
    assert naive / 500 < 0.85


def test_clusters_that_do_not_vary_count_once():
    sizes = np.full(30, 10)
    assert (
        statistics.clustered_wilson_interval(np.zeros(30), sizes, 0.95)[1] > statistics.wilson_interval(0, 30, 0.95)[1]
    )
    assert statistics.clustered_wilson_interval(np.array([3]), np.array([10]), 0.95) is None


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 1.0, 0.5])] * 3), min_size=1, max_size=40))
def test_distinct_rows(rows):
    table = np.array(rows)
    distinct, counts = statistics.count_distinct_rows(table)
    expected, numbers = np.unique(table, axis=0, return_counts=True)
    order = np.lexsort(distinct.T[::-1])
    assert (distinct[order] == expected).all()
    assert (counts[order] == numbers).all()


@pytest.mark.parametrize("distinct", [3, 400])
def test_resampling_has_the_law_of_resampling(distinct):
    """Both ways to draw (over distinct rows, and row by row) have the moments and the shape of the textbook's."""
    rng = np.random.default_rng(2)
    rows = rng.integers(0, distinct, (400, 2)) / distinct
    assert (len(statistics.count_distinct_rows(rows)[0]) > 50 + 400 / 25) == (distinct == 400)
    draws = statistics.resample_means(rows, 20_000, seed=3)
    assert draws.shape == (20_000, 2)
    covariance = np.cov(rows.T, ddof=0) / 400
    assert draws.mean(axis=0) == pytest.approx(rows.mean(axis=0), abs=4 * (covariance[0, 0] / 20_000) ** 0.5)
    assert np.cov(draws.T) == pytest.approx(covariance, rel=0.06, abs=0.03 * covariance[0, 0])
    textbook = rows[rng.integers(0, 400, (5_000, 400)), 0].mean(axis=1)
    assert stats.ks_2samp(draws[:, 0], textbook).pvalue > 0.01


def test_few_rows_are_drawn_in_batches():
    """More categories than fit one batch change nothing but the batches."""
    rows = np.arange(120.0)[:, None] % 54
    draws = statistics.resample_means(rows, 30_000, seed=0)
    assert len(draws) == 30_000
    assert draws.mean() == pytest.approx(rows.mean(), rel=0.001)


def test_intervals_nest():
    draws = np.random.default_rng(0).normal(size=5000)
    intervals = [statistics.percentile_interval(draws, level) for level in (0.5, 0.9, 0.95, 0.99)]
    assert all(wide[0] < low and high < wide[1] for (low, high), wide in pairwise(intervals))
    assert intervals[2] == pytest.approx([-1.96, 1.96], abs=0.08)


def test_columns_of_many_kinds():
    class Column:
        """A lazy column such as those of datasets."""

        def __iter__(self):
            return iter([1, 0.5])

    for values in ([1, 0.5], (1, 0.5), np.array([1, 0.5], np.float32), Column(), iter([1, 0.5]), (x for x in (1, 0.5))):
        assert checks.check_scores("x", values).tolist() == [1, 0.5]
    assert checks.check_texts("x", np.array(["a", "b"])) == ["a", "b"]


def test_errors_are_short():
    with pytest.raises(TypeError) as caught:
        checks.check_texts("predictions", ["a", list(range(10_000))])
    assert len(str(caught.value)) < 200


@given(st.lists(st.integers(-50, 10_000), min_size=1, max_size=30))
def test_numbered_names_come_back(values):
    for column in (values, np.array(values), np.array(values) % 7, [str(value) for value in values]):
        numbers, names = checks.factorize("x", column)
        assert [names[number] for number in numbers] == list(column)
        assert sorted(set(numbers.tolist())) == list(range(len(names)))


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_the_interval_for_new_annotators_covers(spread):
    """Of 300 studies with five annotators who differ, or not; the interval over examples alone holds in half as many."""
    rng = np.random.default_rng(9)
    truth = float((1 / (1 + np.exp(-rng.normal(1.5, 1, 200_000) - spread * rng.normal(size=200_000)))).mean())
    held = alone = 0
    for _ in range(300):
        logits = rng.normal(1.5, 1, (150, 1)) + spread * rng.normal(size=(1, 5))
        table = (rng.random((150, 5)) < 1 / (1 + np.exp(-logits))).astype(float)
        low, high = statistics.new_annotators_interval(table, 0.95)
        held += low <= truth <= high
        low, high = statistics.estimate_average(table.mean(axis=1)).interval
        alone += low <= truth <= high
    assert held / 300 > 0.88
    assert alone / 300 < 0.8 or not spread
    assert statistics.new_annotators_interval(np.ones((9, 2)), 0.95) is None
    assert statistics.new_annotators_interval(np.array([[1, 1, np.nan]] * 9), 0.95) is None
    assert statistics.new_annotators_interval(np.ones((9, 3)), 0.95) == statistics.estimate_average(np.ones(9)).interval
