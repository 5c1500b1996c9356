"""The report's intervals, p-values and corrections, on random tracks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lapsus.core.types import Track
from lapsus.metrics import classification
from lapsus.reporting.analysis.comparisons import apply_benjamini_hochberg
from lapsus.reporting.analysis.measure import measure
from lapsus.reporting.analysis.records import AnalysisOptions, Estimate, GroupGap
from lapsus.reporting.report import report

SCORES = st.one_of(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 0.25, 0.5, 1.0]))
NAMES = ("clean", "keyboard.1", "keyboard.2", "speech.1", "ocr.1", "ocr.2")
MARGIN = 1e-9


@st.composite
def studies(draw):
    """Two or three models with some of the tracks, each with most of the examples, which may share originals."""
    examples = draw(st.integers(6, 24))
    kind = draw(st.sampled_from([st.sampled_from([0.0, 1.0]), SCORES]))
    share = draw(st.integers(1, 3))
    tracks = []
    for model in draw(st.sampled_from(["ab", "abc"])):
        for name in ("clean", *draw(st.lists(st.sampled_from(NAMES[1:]), unique=True, min_size=1))):
            first = draw(st.integers(0, 2))
            rows = [
                {"id": place, "score": draw(kind), "cluster": f"original {place // share}"}
                for place in range(first, examples)
            ]
            tracks.append(Track(model, name, rows))
    return tracks


def disagree(interval, p_value, level):
    """Return whether an interval excludes 0 and its p-value says that it could be 0, or the other way round."""
    low, high = interval
    if abs(p_value - (1 - level)) < 1e-6 or min(abs(low), abs(high)) < MARGIN:
        return False
    return (low > 0 or high < 0) != (p_value < 1 - level)


def paired_tests(numbers):
    yield from (record.from_clean.test for record in numbers.tracks if record.from_clean)
    yield from (record.test for record in numbers.summary if record.test)
    yield from (record.test for record in numbers.comparisons)


@settings(max_examples=25)
@given(studies(), st.sampled_from([0.8, 0.95, 0.99]))
def test_no_interval_disagrees_with_its_p_value(tracks, level):
    numbers = measure(tracks, AnalysisOptions(confidence_level=level, n_resamples=0))
    for test in paired_tests(numbers):
        assert (test.difference.interval is None) == (test.p_value is None)
        if test.p_value is not None:
            assert not disagree(test.difference.interval, test.p_value, level)
            assert (test.p_bh if test.p_holm is None else test.p_holm) >= test.p_value
    for record in numbers.summary:  # the drop beside the test is the same difference, turned round
        drop, test = record.averages.micro_drop, record.test
        if drop.interval is not None:
            assert drop.value == pytest.approx(-test.difference.value)
            assert drop.interval == pytest.approx([-end for end in test.difference.interval[::-1]], abs=1e-9)


def list_pairs(tracks):
    """Return the hypotheses about pairs of models, each once, by what scores they compare."""
    scores = {(t.model, t.track): {row["id"]: row["score"] for row in t.rows} for t in tracks}
    models = list(dict.fromkeys(t.model for t in tracks))
    pairs = set()
    for place, model in enumerate(models):
        for other in models[place + 1 :]:
            both = [track for one, track in scores if one == model and (other, track) in scores]
            families = [track.split(".")[0] for track in both if track != "clean"]
            pairs.add((model, other, "clean"))
            pairs |= {(model, other, family, "average") for family in families}
            pairs |= {(model, other, family, "worst") for family in families if families.count(family) > 1}
    return pairs


def correct_by_definition(p_values, method):
    """Corrected p-values, as the smallest level at which a test is rejected, by the definition of the method."""
    number, ranked = len(p_values), sorted(p_values)
    if method == "holm":
        return [min(1.0, max((number - rank) * p for rank, p in enumerate(ranked) if p <= own)) for own in p_values]
    return [min(1.0, *(number * p / (rank + 1) for rank, p in enumerate(ranked) if p >= own)) for own in p_values]


@settings(max_examples=25)
@given(studies())
def test_one_family_is_primary_and_each_hypothesis_counts_once(tracks):
    numbers = measure(tracks, AnalysisOptions(n_resamples=0))
    pairs = list_pairs(tracks)
    families = {
        "holm": [record.test for record in numbers.summary if record.test],
        "bh": [record.from_clean.test for record in numbers.tracks if record.from_clean],
    }
    assert len({(record.model, record.family) for record in numbers.summary}) == len(numbers.summary)
    assert len(numbers.comparisons) == len(pairs)
    for method, tests in (*families.items(), ("holm", [record.test for record in numbers.comparisons])):
        assert {test.n_tests for test in tests} <= {len(tests)}
        expected = correct_by_definition([1.0 if test.p_value is None else test.p_value for test in tests], method)
        for test, p_value in zip(tests, expected, strict=True):
            found, other = (test.p_holm, test.p_bh) if method == "holm" else (test.p_bh, test.p_holm)
            assert other is None
            assert found == (None if test.p_value is None else pytest.approx(p_value))
    alone = {(record.model, record.family): record.test for record in numbers.summary if record.annotators == 1}
    for record in numbers.tracks:
        if record.from_clean and (record.model, record.family) in alone:
            test = alone[record.model, record.family]
            assert (record.from_clean.test.p_value, record.from_clean.test.difference) == (
                test.p_value,
                test.difference,
            )


def labelled(seed, examples, share):
    rng = np.random.default_rng(seed)
    gold = np.where(rng.random(examples) < 0.3, "rare", "frequent")
    rows = {}
    for name, right in (("clean", 0.9), ("keyboard.1", 0.7), ("keyboard.2", 0.6)):
        said = np.where(rng.random(examples) < right, gold, np.where(gold == "rare", "frequent", "rare"))
        rows[name] = [
            {"id": place, "gold": str(meant), "prediction": str(told), "cluster": place // share}
            for place, (meant, told) in enumerate(zip(gold, said, strict=True))
        ]
    return rows


@pytest.mark.parametrize("share", [1, 4])
def test_classes_of_a_track_are_what_the_metric_says(share):
    rows = labelled(0, 60, share)
    numbers = measure(
        [Track("bert", name, track) for name, track in rows.items()], AnalysisOptions(confidence_level=0.9)
    )
    for record in numbers.tracks:
        columns = ([row[name] for row in rows[record.track]] for name in ("prediction", "gold"))
        clusters = [row["cluster"] for row in rows[record.track]]
        expected = classification(*columns, clusters=clusters, confidence_level=0.9)
        for name in ("balanced_accuracy", "macro_f1"):
            found = getattr(record.classes, name)
            assert found == pytest.approx((expected[name], *expected[f"{name}_ci"]))


def test_classes_of_several_annotators_vary_by_example():
    """An annotator given twice adds nothing; two that differ say more than one, but not as much as other examples."""
    rows = labelled(1, 80, 1)
    once = measure([Track("bert", name, rows[name]) for name in ("clean", "keyboard.1")]).summary[0].classes
    again = [
        Track("bert", name, rows["clean" if name == "clean" else "keyboard.1"]) for name in ("clean", "k.1", "k.2")
    ]
    twice = measure(again).summary[0].classes
    assert twice.balanced_accuracy == pytest.approx(once.balanced_accuracy, rel=0.03)
    assert twice.macro_f1 == pytest.approx(once.macro_f1, rel=0.03)
    both = measure([Track("bert", name, track) for name, track in rows.items()]).summary[0].classes.balanced_accuracy
    width = np.ptp(once.balanced_accuracy.interval)
    assert 0.5 * width < np.ptp(both.interval) < width


def test_a_dialect_of_one_original_has_rates_without_intervals(tmp_path):
    scores = {"dialect": (0.9, 0.8), "perturbed": (0.2, 0.1), "other_tag": (0.5, 0.9)}
    tracks = [
        Track("chrf", name, [{"id": place, "score": score, "cluster": "one"} for place, score in enumerate(column)])
        for name, column in scores.items()
    ]
    [found] = report(tracks, tmp_path / "out", n_resamples=20).numbers.dialects
    assert (found.win_rate, found.awareness_rate) == (Estimate(1.0), Estimate(0.5))
    assert (found.p_value, found.p_holm, found.n_tests) == (None, None, 1)


def test_a_gap_that_could_not_be_tested_still_counts():
    gaps = [GroupGap("", "m", "noise", "side", "average", 2, "a", "b", 0.1, p) for p in (0.01, None, 0.03)]
    assert [(gap.p_bh, gap.n_tests) for gap in apply_benjamini_hochberg(gaps)] == [(0.03, 3), (None, 3), (0.045, 3)]
