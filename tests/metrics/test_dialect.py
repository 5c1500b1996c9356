"""win_rate, mixed_effects and dialect_awareness against independent implementations and laws."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import optimize, stats
from statsmodels.stats.proportion import proportion_confint

from lapsus.metrics import dialect_awareness, mixed_effects, win_rate
from lapsus.stats import estimate_average

PAIRS = st.lists(st.tuples(*[st.sampled_from([0, 0.5, 1, -3.25])] * 2), min_size=1, max_size=40)


def columns(pairs):
    return [list(column) for column in zip(*pairs, strict=True)]


@given(PAIRS, st.sampled_from(["greater", "less", "two-sided"]), st.integers(1, 6))
def test_win_rate_by_definition(pairs, alternative, comparisons):
    result = win_rate(*columns(pairs), alternative=alternative, comparisons=comparisons, confidence_level=0.9)
    wins = sum(high > low for high, low in pairs)
    assert result["wins"] + result["losses"] + result["ties"] == result["trials"] == len(pairs)
    assert (result["wins"], result["ties"]) == (wins, sum(high == low for high, low in pairs))
    assert result["win_rate"] == wins / len(pairs)
    majority = stats.binomtest(wins, len(pairs), 0.5, alternative).pvalue
    assert result["majority_p_value"] == pytest.approx(majority)
    if decided := wins + result["losses"]:
        p_value = stats.binomtest(wins, decided, 0.5, alternative).pvalue
        assert result["p_value"] == pytest.approx(p_value)
        assert result["p_value_bonferroni"] == pytest.approx(min(1, p_value * comparisons))
        assert result["significant"] == (p_value * comparisons < 0.1)
    else:
        assert (result["p_value"], result["p_value_bonferroni"], result["significant"]) == (None, None, False)
    low, high = proportion_confint(wins, len(pairs), alpha=0.1, method="wilson")
    assert result["win_rate_ci"] == pytest.approx([max(0, low), min(1, high)])
    turned = win_rate(*columns([pair[::-1] for pair in pairs]))
    assert (turned["wins"], turned["losses"], turned["ties"]) == (result["losses"], wins, result["ties"])


@given(PAIRS)
def test_three_ways_with_ties(pairs):
    loss, drop, half = (win_rate(*columns(pairs), ties=ties) for ties in ("loss", "drop", "half"))
    assert drop["trials"] == len(pairs) - loss["ties"]
    if drop["trials"]:
        assert drop["win_rate"] == loss["wins"] / drop["trials"]
    else:
        assert {drop[key] for key in ("win_rate", "p_value", "win_rate_ci", "minimum_detectable_rate")} == {None}
        assert not drop["significant"]
    assert half["win_rate"] == pytest.approx((loss["wins"] + loss["ties"] / 2) / len(pairs))
    assert loss["p_value"] == drop["p_value"] == half["p_value"], "a tie is no evidence, whatever it counts"


def test_pairs_that_share_an_original_are_one_finding():
    high, low = [1] * 9 + [0] * 3 + [2] * 4, [0] * 9 + [1] * 3 + [2] * 4
    alone = win_rate(high, low, clusters=range(16))
    assert alone == win_rate(high, low)
    originals = [number for number in range(16) for _ in range(5)]
    often, naive = (
        win_rate(np.repeat(high, 5), np.repeat(low, 5), clusters=c, alternative="two-sided") for c in (originals, None)
    )
    assert often["p_value"] == pytest.approx(stats.binomtest(9, 12).pvalue)
    assert naive["p_value"] < 1e-3
    assert np.ptp(often["win_rate_ci"]) > 1.7 * np.ptp(naive["win_rate_ci"])
    aware, wide = (
        dialect_awareness(high, low),
        dialect_awareness(np.repeat(high, 5), np.repeat(low, 5), clusters=originals),
    )
    assert wide["awareness_rate"] == aware["awareness_rate"]
    assert wide["awareness_rate_ci"] == pytest.approx(aware["awareness_rate_ci"], abs=0.04)
    assert wide["p_value"] == pytest.approx(often["p_value"] / 2)
    one = win_rate([1, 1], [0, 0], clusters=["a", "a"])
    assert (one["p_value"], one["win_rate_ci"], one["significant"]) == (None, None, False)


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 2, st.integers(0, 5)), min_size=2, max_size=30))
def test_dropped_ties_leave_no_trace_in_clusters(rows):
    """The rate and its interval are those of the pairs that do not tie, which share originals as before."""
    high, low, clusters = columns(rows)
    dropped = win_rate(high, low, clusters=clusters, ties="drop")
    decided = [row for row in rows if row[0] != row[1]]
    assume(len({cluster for *_, cluster in decided}) < len(decided))
    high, low, clusters = columns(decided)
    alone = win_rate(high, low, clusters=clusters)
    assert {key: dropped[key] for key in ("win_rate", "trials")} == {key: alone[key] for key in ("win_rate", "trials")}
    assert dropped["win_rate_ci"] == (alone["win_rate_ci"] and pytest.approx(alone["win_rate_ci"]))


def test_half_a_win_counts_half_in_clusters():
    high, low, clusters = [1, 0, 1, 1, 0, 0], [1, 0, 0, 0, 1, 0], [0, 0, 1, 1, 2, 2]
    halves = [0.5, 0.5, 1, 1, 0, 0.5]
    expected = estimate_average(np.array(halves), clusters).interval
    assert win_rate(high, low, clusters=clusters, ties="half")["win_rate_ci"] == pytest.approx(expected)


def test_a_win_is_strict_and_exact():
    assert win_rate([0.1 + 0.2], [0.3])["wins"] == 1
    assert win_rate([0.3], [0.3])["ties"] == 1


def test_holm_beside_bonferroni():
    scores = [1] * 15 + [0] * 5, [0] * 15 + [1] * 5
    p_value = win_rate(*scores)["p_value"]
    last = win_rate(*scores, comparisons=[0.001, 0.002])
    assert last["p_value_bonferroni"] == pytest.approx(3 * p_value)
    assert last["p_value_holm"] == pytest.approx(p_value), "the two others come first"
    first = win_rate(*scores, comparisons=[0.5, 0.9])
    assert first["p_value_holm"] == pytest.approx(3 * p_value)
    assert win_rate(*scores, comparisons=3)["p_value_holm"] is None
    assert win_rate(*scores, comparisons=np.int64(3)) == win_rate(*scores, comparisons=3)
    assert win_rate(*scores, comparisons=np.array([0.5, 0.9])) == first


@pytest.mark.parametrize(
    ("trials", "alternative"), [(20, "greater"), (115, "greater"), (50, "two-sided"), (50, "less")]
)
def test_the_detectable_rate_is_found_four_times_in_five(trials, alternative):
    rate = win_rate([1] * trials, [0] * trials, alternative=alternative)["minimum_detectable_rate"]
    rng = np.random.default_rng(3)
    found = [
        win_rate([1] * wins + [0] * (trials - wins), [0.5] * trials, alternative=alternative)["significant"]
        for wins in rng.binomial(trials, rate, 600)
    ]
    assert np.mean(found) == pytest.approx(0.8, abs=0.05)


def test_few_trials_find_nothing():
    assert win_rate([1] * 4, [0] * 4)["minimum_detectable_rate"] is None
    assert win_rate([1] * 5, [0] * 5)["minimum_detectable_rate"] == pytest.approx(0.8 ** (1 / 5))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"ties": "win"}, "choose one of 'loss', 'drop', 'half'"),
        ({"alternative": "smaller"}, "choose one of 'greater'"),
        ({"comparisons": 0}, "comparisons is 0: state how many tests"),
        ({"comparisons": 1.5}, "comparisons is 1.5"),
        ({"comparisons": True}, "comparisons is True"),
        ({"comparisons": [0.1, 1.2]}, "comparisons holds 1.2: give p-values"),
        ({"confidence_level": 1}, "confidence_level is 1"),
    ],
)
def test_win_rate_names_what_is_wrong(options, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        win_rate([1], [0], **options)


@given(PAIRS)
def test_awareness_by_definition(pairs):
    result = dialect_awareness(*columns(pairs))
    assert result["awareness_rate"] == sum(own >= other for own, other in pairs) / len(pairs)
    assert result["wins"] + result["ties"] + result["losses"] == result["trials"] == len(pairs)
    wins, losses = result["wins"], result["losses"]
    if wins + losses:
        assert result["p_value"] == pytest.approx(stats.binomtest(wins, wins + losses, 0.5, "greater").pvalue)
    else:
        assert result["p_value"] is None


def dense_reml(score, condition, example):
    """Return means, covariance, noise variance and log-likelihood by dense matrices and a search over the ratio."""
    score, condition, example = map(np.asarray, (score, condition, example))
    design, groups = np.eye(condition.max() + 1)[condition], np.eye(example.max() + 1)[example]
    rows, width = design.shape
    free = rows - width

    def fit(log_ratio):
        spread = np.eye(rows) + np.exp(log_ratio) * groups @ groups.T
        inverse = np.linalg.inv(spread)
        weight = design.T @ inverse @ design
        means = np.linalg.solve(weight, design.T @ inverse @ score)
        left = score - design @ means
        noise = left @ inverse @ left / free
        determinants = np.linalg.slogdet(spread)[1] + np.linalg.slogdet(weight)[1]
        return (
            -0.5 * (free * (1 + np.log(2 * np.pi * noise)) + determinants),
            means,
            np.linalg.inv(weight) * noise,
            noise,
        )

    grid = np.linspace(-18, 16, 69)
    best = int(np.argmax([fit(place)[0] for place in grid]))
    bounds = grid[max(best - 1, 0)], grid[min(best + 1, 68)]
    found = optimize.minimize_scalar(
        lambda place: -fit(place)[0], bounds=bounds, method="bounded", options={"xatol": 1e-9}
    )
    return max(fit(found.x), fit(-60.0), key=lambda result: result[0])


def scores_of(rng, *, balanced, spread, examples=12, conditions=3):
    cells = [(example, condition) for example in range(examples) for condition in range(conditions)]
    if not balanced:
        cells = [cell for cell in cells if rng.random() > 0.3] + [
            cells[place] for place in rng.integers(0, len(cells), 4)
        ]
    example, condition = map(np.array, zip(*cells, strict=True))
    example, condition = (np.unique(side, return_inverse=True)[1] for side in (example, condition))
    score = rng.normal(scale=spread, size=examples)[example] + 0.3 * condition + rng.normal(size=len(example))
    return score, condition, example


@pytest.mark.parametrize("spread", [0, 0.1, 1, 30])
@pytest.mark.parametrize("balanced", [True, False])
def test_mixed_effects_is_reml(balanced, spread):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        score, condition, example = scores_of(rng, balanced=balanced, spread=spread)
        result = mixed_effects(score, condition, example)
        likelihood, means, covariance, noise = dense_reml(score, condition, example)
        assert result["log_likelihood"] == pytest.approx(likelihood, abs=1e-6)
        assert result["residual_variance"] == pytest.approx(noise, rel=2e-5)
        assert result["intercept"]["estimate"] == pytest.approx(means[0], abs=1e-5 * (1 + spread))
        assert result["intercept"]["se"] == pytest.approx(covariance[0, 0] ** 0.5, rel=2e-5)
        for place in range(1, condition.max() + 1):
            effect = result["coefficients"][str(place)]
            error = (covariance[place, place] + covariance[0, 0] - 2 * covariance[0, place]) ** 0.5
            assert effect["estimate"] == pytest.approx(means[place] - means[0], abs=1e-5)
            assert effect["model"]["se"] == pytest.approx(error, rel=2e-5)


def test_mixed_effects_is_statsmodels_where_that_converges():
    """Balanced, away from the boundary: elsewhere statsmodels is off by up to a hundredth."""
    rng = np.random.default_rng(1)
    score, condition, example = scores_of(rng, balanced=True, spread=1, examples=60)
    result = mixed_effects(score, condition, example)
    design = np.column_stack([np.ones(len(score)), condition == 1, condition == 2])
    fit = sm.MixedLM(score, design, groups=example).fit(reml=True)
    assert result["log_likelihood"] == pytest.approx(fit.llf)
    assert result["example_variance"] == pytest.approx(fit.cov_re[0][0], rel=1e-4)
    for place in (1, 2):
        effect = result["coefficients"][str(place)]
        found = effect["estimate"], effect["model"]["se"]
        assert found == pytest.approx((fit.params[place], fit.bse[place]), rel=1e-4)


def test_two_conditions_are_a_paired_t_test():
    rng = np.random.default_rng(2)
    before = rng.normal(size=40) * 3
    after = before + 0.2 + rng.normal(size=40)
    order = rng.permutation(80)
    score = np.concatenate([before, after])[order]
    condition = np.repeat(["before", "after"], 40)[order]
    example = np.tile(np.arange(40), 2)[order]
    result = mixed_effects(score, condition, example, baseline="before", confidence_level=0.9)
    expected = stats.ttest_rel(after, before)
    low, high = expected.confidence_interval(0.9)
    for effect in (result["coefficients"]["after"], result["paired"]["after"]):
        assert effect["p_value"] == pytest.approx(expected.pvalue)
        assert effect["ci"] == pytest.approx([low, high])
        assert effect["df"] == expected.df
    turned = mixed_effects(score, condition, example, baseline="after")["coefficients"]["before"]
    assert turned["estimate"] == pytest.approx(-result["coefficients"]["after"]["estimate"])


@given(
    st.integers(0, 10_000), st.booleans(), st.floats(-1e4, 1e4), st.floats(0.01, 100), st.randoms(use_true_random=False)
)
def test_order_shift_and_scale(seed, balanced, shift, scale, rng):
    score, condition, example = scores_of(np.random.default_rng(seed), balanced=balanced, spread=1, examples=6)
    assume(condition.max() > 0)
    result = mixed_effects(score, condition, example)
    order = np.array(rng.sample(range(len(score)), len(score)))
    moved = mixed_effects(score[order] * scale + shift, condition[order], [f"id {number}" for number in example[order]])
    assert moved["log_likelihood"] == pytest.approx(
        result["log_likelihood"] - (len(score) - condition.max() - 1) * math.log(scale), abs=1e-5
    )
    for kind in ("coefficients", "paired"):
        for name, effect in result[kind].items():
            for key in ("estimate", "se"):
                if effect[key] is None:
                    assert moved[kind][name][key] is None
                else:
                    assert moved[kind][name][key] == pytest.approx(effect[key] * scale, rel=1e-4, abs=1e-6 * scale)


def test_negative_correlation_is_the_boundary():
    """Examples that differ less than chance: no variance between them, and all degrees of freedom."""
    score = [1, -1, -1.2, 1.1, 0.9, -0.8, -1, 1.3]
    result = mixed_effects(score, ["a", "b"] * 4, [0, 0, 1, 1, 2, 2, 3, 3])
    assert result["example_variance"] == 0
    assert result["coefficients"]["b"]["model"]["df"] == 6
    expected = stats.ttest_ind(score[1::2], score[::2])
    assert result["coefficients"]["b"]["model"]["p_value"] == pytest.approx(expected.pvalue)
    assert result["coefficients"]["b"]["p_value"] == pytest.approx(stats.ttest_rel(score[1::2], score[::2]).pvalue)
    assert result["paired"]["b"]["df"] == 3


@pytest.mark.parametrize("drop", [0, 1])
def test_scores_without_noise(drop):
    """Constant, or exactly example + condition: certain differences, and no p-value."""
    conditions, examples = (["a", "b"] * 4)[drop:], [0, 0, 1, 1, 2, 2, 3, 3][drop:]
    constant = mixed_effects([0.1] * len(examples), conditions, examples)
    additive = mixed_effects(
        [example / 7 + 0.1 * (c == "b") for c, example in zip(conditions, examples, strict=True)], conditions, examples
    )
    for result, difference in ((constant, 0), (additive, 0.1)):
        effect = result["coefficients"]["b"]
        assert effect["estimate"] == pytest.approx(difference)
        assert (effect["se"], effect["p_value"], result["residual_variance"]) == (0, None, 0)
        assert result["log_likelihood"] is None
    assert constant["example_variance"] == 0
    assert additive["example_variance"] == pytest.approx(np.var([0, 1 / 7, 2 / 7, 3 / 7], ddof=1))


def test_a_far_offset_costs_no_digits():
    score, condition, example = scores_of(np.random.default_rng(4), balanced=False, spread=1)
    near, far = (mixed_effects(score + offset, condition, example) for offset in (0, 1e8))
    assert far["coefficients"]["1"]["se"] == pytest.approx(near["coefficients"]["1"]["se"], rel=1e-6)


def test_paired_stands_where_variances_differ():
    """Ten times the noise in one condition: the pooled model misjudges both contrasts, the paired one does not."""
    rng = np.random.default_rng(6)
    table = rng.normal(size=(400, 1)) + rng.normal(size=(400, 3)) * [1, 1, 10]
    result = mixed_effects(table.ravel(), ["a", "b", "c"] * 400, np.repeat(np.arange(400), 3))
    for name, column in (("b", 1), ("c", 2)):
        difference = table[:, column] - table[:, 0]
        assert result["paired"][name]["estimate"] == pytest.approx(difference.mean())
        assert result["paired"][name]["se"] == pytest.approx(difference.std(ddof=1) / 20)
        assert result["coefficients"][name]["se"] == pytest.approx(result["paired"][name]["se"])
    assert result["coefficients"]["b"]["model"]["se"] > 4 * result["coefficients"]["b"]["se"]


def test_paired_uses_examples_that_have_both():
    result = mixed_effects([1, 2, 3, 9, 1, 4], ["a", "b", "b", "c", "a", "c"], [0, 0, 1, 1, 2, 2])
    nothing = dict.fromkeys(("se", "ci", "p_value", "p_value_single", "df"))
    assert result["paired"]["b"] == {"estimate": 1, "examples": 1} | nothing
    assert result["paired"]["c"]["examples"] == 1


def gaps(examples, rewrites, *, missing=0.0):
    """Return scores in which a condition suits some examples more than others, rewritten several times."""
    rng = np.random.default_rng(8)
    cell = rng.normal(size=(examples, 1)) + rng.normal(size=(examples, 2))
    score = np.repeat(cell.ravel(), rewrites) + rng.normal(size=2 * examples * rewrites) / 4
    example, condition = np.repeat(np.arange(examples), 2 * rewrites), np.tile(np.repeat([0, 1], rewrites), examples)
    kept = rng.random(len(score)) >= missing
    return score[kept], condition[kept], example[kept]


def test_rewrites_are_one_finding():
    """Three rewrites of each example under each condition: the paired t-test of their means."""
    score, condition, example = gaps(40, 3)
    means = score.reshape(40, 2, 3).mean(axis=2)
    expected = stats.ttest_rel(means[:, 1], means[:, 0])
    result = mixed_effects(score, condition, example)
    for effect in (result["coefficients"]["1"], result["paired"]["1"]):
        assert effect["p_value"] == pytest.approx(expected.pvalue)
        assert effect["df"] == pytest.approx(39)
    assert result["coefficients"]["1"]["model"]["se"] < 0.6 * result["coefficients"]["1"]["se"]


def test_errors_are_the_sandwich_of_least_squares():
    """Without differences between examples, the estimate is that of least squares, and so is its clustered error."""
    rng = np.random.default_rng(9)
    _, condition, example = gaps(30, 2, missing=0.3)
    score = rng.normal(size=len(example))
    score -= np.bincount(example, score)[example] / np.bincount(example)[example]
    result = mixed_effects(score, condition, example)
    assert result["example_variance"] == 0
    fit = sm.OLS(score, np.column_stack([np.ones(len(score)), condition])).fit(
        cov_type="cluster", cov_kwds={"groups": example, "use_correction": False}
    )
    number = len(set(example.tolist()))
    expected = fit.bse[1] * math.sqrt(number / (number - 1))
    assert result["coefficients"]["1"]["se"] == pytest.approx(expected)
    assert 10 < result["coefficients"]["1"]["df"] < number


@pytest.mark.parametrize("missing", [0, 0.3])
def test_examples_that_share_an_original(missing):
    """To say every example twice, with the clusters told, proves no more."""
    score, condition, example = gaps(30, 1, missing=missing)
    once = mixed_effects(score, condition, example)
    twice = mixed_effects(
        np.tile(score, 2), np.tile(condition, 2), np.concatenate([example, example + 30]), clusters=np.tile(example, 2)
    )
    for kind in ("coefficients", "paired"):
        for key in ("estimate", "se", "p_value", "df"):
            assert twice[kind]["1"][key] == pytest.approx(once[kind]["1"][key], rel=0.02)
    with pytest.raises(ValueError, match=r"clusters\[\d+\] differs within one example"):
        mixed_effects(score, condition, example, clusters=range(len(score)))
    with pytest.raises(ValueError, match="All rows have one cluster"):
        mixed_effects(score, condition, example, clusters=["a"] * len(score))


def test_several_contrasts_are_corrected():
    rng = np.random.default_rng(10)
    table = rng.normal(size=(50, 1)) + rng.normal(size=(50, 4)) + [0, 0.5, 0.4, 0.1]
    plain, holm, bonferroni = (
        mixed_effects(table.ravel(), list("abcd") * 50, np.repeat(np.arange(50), 4), correction=how)["coefficients"]
        for how in ("none", "holm", "bonferroni")
    )
    single = {name: stats.ttest_rel(table[:, place], table[:, 0]).pvalue for place, name in enumerate("abcd") if place}
    ranks = sorted(single, key=single.get)
    for name, p_value in single.items():
        assert plain[name]["p_value"] == holm[name]["p_value_single"] == pytest.approx(p_value)
        assert bonferroni[name]["p_value"] == pytest.approx(min(1, 3 * p_value))
    assert holm[ranks[0]]["p_value"] == pytest.approx(3 * single[ranks[0]])
    assert holm[ranks[1]]["p_value"] == pytest.approx(max(3 * single[ranks[0]], 2 * single[ranks[1]]))


@pytest.mark.parametrize(
    ("score", "condition", "example", "options", "sentence"),
    [
        ([1, 2, 3], ["a", "b", "a"], [0, 1, 2], {}, "3 scores of 3 examples cannot tell examples from noise"),
        ([1, 2, 1, 3], ["a", "b"] * 2, [0] * 4, {}, "4 scores of 1 examples cannot tell"),
        ([1, 2], ["a", "b"], [0, 0], {"baseline": "c"}, "baseline is 'c': choose one of the conditions 'a', 'b'"),
        ([1, 2], ["a", "a"], [0, 0], {}, "only the condition 'a'"),
        ([1, math.nan], ["a", "b"], [0, 0], {}, r"predictions\[1\] is nan"),
        ([1, 2], ["a", "b"], [0, None], {}, r"examples\[1\] is None"),
        ([1, 2], ["a", 1], [0, 0], {}, r"conditions\[1\] is 1, unlike"),
        ([1, 2, 3], ["a", "b"], [0, 0], {}, "differ in length"),
    ],
)
def test_mixed_effects_names_what_is_wrong(score, condition, example, options, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        mixed_effects(score, condition, example, **options)


def test_errors_of_the_model_lead_where_they_are_asked_for():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(30, 3)) * [1, 1, 3] + rng.normal(size=(30, 1))
    columns = scores.ravel(), list("abc") * 30, np.repeat(np.arange(30), 3)
    robust, model = (mixed_effects(*columns, errors=errors)["coefficients"] for errors in ("robust", "model"))
    for name in "bc":
        own = {key: model[name][key] for key in robust[name]["model"]}
        assert own == robust[name]["model"] == model[name]["model"]
        assert model[name]["estimate"] == robust[name]["estimate"]
        assert own["se"] != robust[name]["se"]
    with pytest.raises(ValueError, match="errors"):
        mixed_effects(*columns, errors="naive")
