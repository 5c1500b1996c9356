"""What the shared statistics promise."""

from __future__ import annotations

import numpy as np
import pytest

from lapsus.kernel import statistics
from lapsus.metrics import prediction_consistency, win_rate


def test_saying_the_same_five_times_proves_no_more():
    random = np.random.default_rng(0)
    sums, sizes = random.normal(0.2, 1, 40), np.ones(40, int)
    once = statistics.clustered_mean(sums, sizes, 0.95)
    often = statistics.clustered_mean(5 * sums, 5 * sizes, 0.95)
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
        alarms += statistics.clustered_mean(5.0 * moves, np.full(40, 5), 0.95)[1] < 0.05
    assert alarms / 400 < 0.08


@pytest.mark.parametrize(("alternative", "p_value"), [("greater", 0.96875), ("less", 0.1875), ("two-sided", 0.375)])
def test_a_tie_is_no_evidence(alternative, p_value):
    """One win, four losses, a tie: binomial tails of 1 win of 5, from the table of 2**-5."""
    for ties in ("loss", "drop", "half"):
        result = win_rate([1, 0, 0, 0, 0, 0], [0, 1, 1, 1, 1, 0], ties=ties, alternative=alternative)
        assert result["p_value"] == pytest.approx(p_value)
