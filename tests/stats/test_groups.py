"""The gap between groups beside a permutation of the groups, and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lapsus.metrics import micro_worst_average
from lapsus.stats import compare_group_extremes
from lapsus.stats.significance import studentized_range_sf


def permuted(values, groups, draws=4000):
    """The share of shuffles in which any two groups are farther apart, in standard errors, than any two now are.

    Where they are as far apart, as scores of 0 and 1 often are, a shuffle counts by half.
    """
    rng = np.random.default_rng(0)
    sizes = np.bincount(groups)
    scale = np.sqrt(1 / sizes[:, None] + 1 / sizes[None, :])

    def measure_widest(shuffled):
        means = np.bincount(shuffled, values) / sizes
        return (abs(means[:, None] - means[None, :]) / scale).max()

    widest = np.array([measure_widest(rng.permutation(groups)) for _ in range(draws)]) - measure_widest(groups)
    return (widest > 1e-9).mean() + (abs(widest) <= 1e-9).mean() / 2


@pytest.mark.parametrize("sizes", [(60, 60), (80, 50, 30), (40,) * 6])
@pytest.mark.parametrize("chance", [0.5, 0.8, None])
def test_it_is_a_permutation_of_the_groups(sizes, chance):
    rng = np.random.default_rng(len(sizes))
    groups = np.repeat(np.arange(len(sizes)), sizes)
    for _ in range(3):
        values = rng.normal(size=len(groups)) if chance is None else (rng.random(len(groups)) < chance).astype(float)
        found = compare_group_extremes(values, groups, np.arange(len(groups)))
        assert found.p_value == pytest.approx(permuted(values, groups), abs=0.08)


def test_of_two_groups_it_is_the_test_of_two_means():
    rng = np.random.default_rng(1)
    values, groups = rng.normal(size=200), np.repeat([0, 1], [120, 80])
    found = compare_group_extremes(values, groups, np.arange(200))
    expected = stats.ttest_ind(values[:120], values[120:], equal_var=False)
    assert found.p_value == pytest.approx(expected.pvalue, abs=0.002)
    assert found.gap == pytest.approx(abs(values[:120].mean() - values[120:].mean()))


def test_copies_of_an_original_are_no_new_evidence():
    rng = np.random.default_rng(2)
    values, groups = rng.random(90), np.repeat([0, 1, 2], 30)
    alone = compare_group_extremes(values, groups, np.arange(90))
    copied = compare_group_extremes(np.repeat(values, 4), np.repeat(groups, 4), np.repeat(np.arange(90), 4))
    assert copied.p_value == pytest.approx(alone.p_value, abs=0.001)
    assert (
        compare_group_extremes(np.repeat(values, 4), np.repeat(groups, 4), np.arange(360)).p_value < alone.p_value / 2
    )


def test_one_original_in_both_groups_is_compared_with_itself():
    """Half of what varies is the original's, and cancels out."""
    rng = np.random.default_rng(3)
    original = rng.normal(size=50)
    values = np.concatenate([original, original + 0.3 + 0.1 * rng.normal(size=50)])
    groups = np.repeat([0, 1], 50)
    assert compare_group_extremes(values, groups, np.arange(100)).p_value > 0.05
    assert compare_group_extremes(values, groups, np.tile(np.arange(50), 2)).p_value < 0.001


def test_groups_that_vary_otherwise_have_their_own_errors():
    """By Welch's formula for the two ends, with the spread of all values added to each with the weight of one cluster."""
    rng = np.random.default_rng(5)
    values = np.concatenate([rng.normal(size=90), rng.normal(0.8, 3, 20)])
    groups = np.repeat([0, 1], [90, 20])
    found = compare_group_extremes(values, groups, np.arange(110))
    errors = np.array(
        [values[groups == group].var() / size + values.var() / size**2 for group, size in ((0, 90), (1, 20))]
    )
    freedom = errors.sum() ** 2 / (errors**2 / [90, 20]).sum()
    assert found.p_value == pytest.approx(2 * stats.t.sf(found.gap / np.sqrt(errors.sum()), freedom), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("flips", [(0.05, 0.3), (0.3, 0.05)])
def test_its_level_where_groups_flip_at_other_rates(flips):
    rng = np.random.default_rng(7)
    groups = np.repeat([0, 1], [80, 20])
    critical = 0
    for _ in range(600):
        changes = np.where(rng.random(100) < np.array(flips)[groups], rng.choice([-1.0, 1.0], 100), 0.0)
        found = compare_group_extremes(changes, groups, np.arange(100))
        critical += found is not None and found.p_value is not None and found.p_value < 0.05
    assert critical / 600 < 0.07


def test_without_evidence_there_is_no_p_value():
    assert compare_group_extremes(np.ones(4), np.zeros(4, int), np.arange(4)) is None
    assert compare_group_extremes(np.array([1.0, 0.0]), np.array([0, 1]), np.arange(2)).p_value is None
    assert compare_group_extremes(np.ones(8), np.arange(8) % 2, np.arange(8)).p_value == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 5])
def test_its_level(rows):
    rng = np.random.default_rng(4)
    originals = np.repeat(np.arange(100), rows)
    groups = np.repeat(np.arange(5), 20)[originals] if rows == 1 else rng.integers(0, 5, len(originals))
    critical = []
    for _ in range(400):
        chance = rng.beta(4, 1, 100)[originals] if rows > 1 else 0.8
        found = compare_group_extremes((rng.random(len(originals)) < chance).astype(float), groups, originals)
        critical.append(found.p_value < 0.05)
    assert 0.02 < np.mean(critical) < 0.07


def test_the_metric_names_the_ends():
    table = [[1, 0]] * 20 + [[1, 1]] * 20
    places = {"side": ["left"] * 20 + ["right"] * 20, "parity": ["odd", "even"] * 20}
    clean = [1] * 40
    result = micro_worst_average(table, groups=places, clean_scores=clean, n_resamples=0)["gaps"]
    assert list(result["side"]) == ["micro_average", "worst_average", "micro_drop", "worst_drop"]
    ends = {"worst": "left", "best": "right"}
    for name, gap in (("micro_average", 0.5), ("worst_average", 1.0), ("micro_drop", 0.5), ("worst_drop", 1.0)):
        found = result["side"][name]
        assert found == ends | {"gap": gap, "p_value": found["p_value"]} and found["p_value"] < 0.001
        assert result["parity"][name]["gap"] == 0.0
    errors = [[1 - score for score in row] for row in table]
    costs = micro_worst_average(errors, groups=places["side"], clean_scores=[0] * 40, direction="lower", n_resamples=0)[
        "gaps"
    ]
    assert {name: (gap["worst"], gap["best"], gap["gap"]) for name, gap in costs.items()} == {
        name: ("left", "right", gap["gap"]) for name, gap in result["side"].items()
    }
    empty = micro_worst_average(table, groups=["a"] * 40, group_names=["a", "b"], n_resamples=0)["gaps"]
    assert empty == {"micro_average": None, "worst_average": None}


@pytest.mark.parametrize("groups", [2, 3, 12, 50])
@pytest.mark.parametrize("value", [0.1, 1.0, 3.0, 9.0])
def test_the_range_of_groups_is_that_of_scipy(groups, value):
    assert studentized_range_sf(value, groups) == pytest.approx(
        stats.studentized_range.sf(value, groups, np.inf), abs=1e-8
    )
