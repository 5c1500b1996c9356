"""classification beside scikit-learn."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, precision_recall_fscore_support

from lapsus.metrics import classification
from lapsus.stats.classification import compute_class_rates, compute_class_ratios

PAIRS = st.lists(st.tuples(*[st.sampled_from(["a", "b", "c", "d"])] * 2), min_size=1, max_size=30).map(
    lambda pairs: [*pairs, ("a", "a")]  # two columns that share no label are refused
)


@given(PAIRS)
def test_it_agrees_with_scikit_learn(pairs):
    guess, truth = map(list, zip(*pairs, strict=True))
    result = classification(guess, truth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels that are only predicted
        assert result["accuracy"] == pytest.approx(accuracy_score(truth, guess))
        assert result["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(truth, guess))
        assert result["macro_f1"] == pytest.approx(f1_score(truth, guess, average="macro", zero_division=0))
        names = sorted({*guess, *truth})
        parts = precision_recall_fscore_support(truth, guess, labels=names, zero_division=0)
    assert list(result["labels"]) == names
    for name, precision, recall, f1, true in zip(names, *parts, strict=True):
        found = result["labels"][name]
        assert (found["precision"] or 0, found["recall"] or 0, found["f1"]) == pytest.approx((precision, recall, f1))
        assert found["counts"] == {
            "true": true,
            "predicted": guess.count(name),
            "correct": sum(one == other == name for one, other in pairs),
        }


@given(PAIRS)
def test_numbers_are_labels_too(pairs):
    guess, truth = map(list, zip(*pairs, strict=True))
    numbers = [np.array(["abcd".index(label) for label in side]) for side in (guess, truth)]
    expected = classification(guess, truth)
    expected["labels"] = {str("abcd".index(name)): part for name, part in expected["labels"].items()}
    assert classification(*numbers) == expected


def test_more_right_of_the_frequent_label_is_no_gain():
    """The second model never says yes: a better accuracy, a worse balance."""
    truth = ["no"] * 7 + ["yes"] * 3
    careful = classification(["no"] * 4 + ["yes"] * 5 + ["no"], truth)
    stubborn = classification(["no"] * 10, truth)
    assert (careful["accuracy"], stubborn["accuracy"]) == (0.6, 0.7)
    assert (careful["balanced_accuracy"], stubborn["balanced_accuracy"]) == (pytest.approx((4 / 7 + 2 / 3) / 2), 0.5)


def test_mapped_labels_are_one():
    result = classification(["neutral", "yes"], ["no", "no"], label_map={"neutral": "no"})
    assert result["labels"]["no"]["counts"] == {"true": 2, "predicted": 1, "correct": 1}
    assert list(result["labels"]) == ["no", "yes"]
    numbers = classification([2, 1], [0, 0], label_map={2: 0})
    assert numbers["labels"]["0"]["counts"] == {"true": 2, "predicted": 1, "correct": 1}


def test_a_prediction_that_is_no_class_is_wrong_and_makes_no_class():
    """-1 lowers the recall and the F1 of its row's class, as a label of its own would without an F1."""
    gold, predicted = np.array([0, 0, 1, 1, 1, 2]), np.array([0, -1, 1, -1, 0, 2])
    rates = compute_class_rates([compute_class_ratios(gold, predicted)], 0.95)
    assert rates.balanced_accuracy == pytest.approx((1 / 2 + 1 / 3 + 1) / 3)
    assert rates.macro_f1 == pytest.approx((2 / (2 + 2) + 2 / (3 + 1) + 1) / 3)
