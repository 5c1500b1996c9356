"""prediction_consistency and slu_accuracy against independent implementations and laws."""

import random
import warnings

import numpy as np
import pytest
import seqeval.metrics.sequence_labeling
import seqeval.metrics.v1
from hypothesis import given
from hypothesis import strategies as st
from seqeval.scheme import IOB2
from statsmodels.stats.contingency_tables import mcnemar

from lapsus.metrics import prediction_consistency, slu_accuracy

LABELS = ["entailment", "neutral", "contradiction"]
TRIPLES = st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=30)
COUNTS = ("examples", "changed")


def columns(triples):
    return [list(column) for column in zip(*triples, strict=True)]


@given(TRIPLES)
def test_consistency_by_definition(triples):
    result = prediction_consistency(*columns(triples), exact=True)
    changed = [(new, gold, old) for new, gold, old in triples if new != old]
    assert result["changed"] == len(changed)
    assert result["changed_rate"] == len(changed) / len(triples)
    assert result["accuracy"] == sum(new == gold for new, gold, _ in triples) / len(triples)
    assert result["original_accuracy"] == sum(old == gold for _, gold, old in triples) / len(triples)
    right = sum(old == gold for _, gold, old in triples)
    lost = sum(old == gold for _, gold, old in changed)
    gained = sum(new == gold for new, gold, _ in changed)
    assert result["transitions"] == {
        "correct_to_wrong": lost,
        "wrong_to_correct": gained,
        "wrong_to_other_wrong": len(changed) - lost - gained,
    }
    wrong = len(triples) - right
    assert result["changed_rate_when_correct"] == (lost / right if right else None)
    assert result["changed_rate_when_wrong"] == ((len(changed) - lost) / wrong if wrong else None)
    table = [[right - lost, lost], [gained, wrong - gained]]
    assert result["mcnemar_p"] == pytest.approx(mcnemar(table, exact=True).pvalue if lost + gained else 1)


@given(TRIPLES, st.data())
def test_counts_add_up_over_any_split(triples, data):
    groups = data.draw(st.lists(st.sampled_from("abc"), min_size=len(triples), max_size=len(triples)))
    result = prediction_consistency(*columns(triples), groups=groups, group_names="abcd")
    for key in COUNTS:
        assert sum(part[key] for part in result["groups"].values()) == result[key]
    for way, number in result["transitions"].items():
        assert sum(part["transitions"][way] for part in result["groups"].values()) == number
    for name, part in result["groups"].items():
        own = [triple for triple, group in zip(triples, groups, strict=True) if group == name]
        assert part["examples"] == len(own)
        if own:
            assert part == prediction_consistency(*columns(own))
        else:
            assert {part[key] for key in ("changed_rate", "changed_rate_ci", "accuracy", "mcnemar_p")} == {None}


@given(TRIPLES)
def test_labels_may_be_strings_or_integers(triples):
    words = [[LABELS[label] for label in column] for column in columns(triples)]
    by_number = prediction_consistency(*columns(triples))
    assert prediction_consistency(*words) == by_number
    assert prediction_consistency(*map(np.array, columns(triples))) == by_number
    assert prediction_consistency(*map(np.array, words)) == by_number
    two = {"neutral": "not_entailment", "contradiction": "not_entailment"}
    mapped = [[two.get(label, label) for label in column] for column in words]
    expected = prediction_consistency(*mapped)
    if any(label in two for column in words for label in column):  # a map of no label is refused
        assert prediction_consistency(*words, label_map=two) == expected
    if any(label == 1 for column in columns(triples) for label in column):
        assert prediction_consistency(*columns(triples), label_map={1: 2}) == expected


def test_integers_swap_at_once():
    """A map applied label after label would send 0 to 1 and on to 0."""
    assert prediction_consistency([0, 1], [1, 0], [1, 0], label_map={0: 1, 1: 0})["changed"] == 2
    assert prediction_consistency([0, 1], [0, 1], [0, 1], label_map={0: 1, 1: 0})["accuracy"] == 1


@pytest.mark.parametrize(
    ("new", "gold", "sentence"),
    [
        (["0"], [0], r"different kinds \(predictions strings, references integers"),
        ([0, "1"], [0, 1], r"predictions\[1\] is '1', unlike the labels before it"),
        ([0, 1.0], [0, 1], r"predictions\[1\] is 1.0: a label is a string or an integer"),
        ([None], [0], r"predictions\[0\] is None: a label"),
        (np.array([1.0]), [0], "holds float64 numbers"),
        ([0, 1], [0], "differ in length"),
    ],
)
def test_consistency_names_what_is_wrong(new, gold, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        prediction_consistency(new, gold, gold)


def test_rows_that_share_an_original_widen_the_interval():
    """Each original is rewritten six times, and all its predictions change or none does."""
    changes = [0, 0, 1, 0, 0, 0, 1, 0, 0, 0]
    new = [change for change in changes for _ in range(6)]
    old = [0] * len(new)
    original = [number for number in range(len(changes)) for _ in range(6)]
    result = prediction_consistency(new, old, old, clusters=original, groups=["all"] * len(new))
    low, high = prediction_consistency(new, old, old)["changed_rate_ci"]
    wide_low, wide_high = result["changed_rate_ci"]
    assert result["changed_rate_cluster_ci"] == result["changed_rate_ci"]
    assert wide_low < low < 0.2 < high < wide_high
    assert wide_high - wide_low > 2 * (high - low)
    assert result["groups"]["all"]["changed_rate_cluster_ci"] == result["changed_rate_cluster_ci"]
    alone = prediction_consistency(new, old, old, clusters=range(len(new)))
    assert alone["changed_rate_cluster_ci"] == pytest.approx(alone["changed_rate_ci"], abs=0.005)
    assert prediction_consistency([1, 0], [0, 0], [0, 0], clusters=["a", "a"])["changed_rate_cluster_ci"] is None


TAGS = ["O", "B-a", "I-a", "B-b", "I-b", "I-c-d", "B-micro avg", "I-micro avg", "B", "I"]


def spoken(sentences, intents=None):
    intents = intents or ["x"] * len(sentences)
    return [{"intent": intent, "tags": tags} for intent, tags in zip(intents, sentences, strict=True)]


def seqeval_counts(truth, guess, scheme):
    """Return true and predicted counts per slot, and precision, recall, F1 by seqeval."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if scheme:
            score = seqeval.metrics.v1.precision_recall_fscore_support
            return score(truth, guess, average="micro", zero_division=0, scheme=IOB2)
        score = seqeval.metrics.sequence_labeling.precision_recall_fscore_support
        return score(truth, guess, average="micro", zero_division=0)


@pytest.mark.parametrize("scheme", [None, "IOB2"])
def test_slots_are_those_of_seqeval(scheme):
    """seqeval's default is conlleval on IOB tags; its strict mode is what "IOB2" means."""
    rng = random.Random(7)
    for _ in range(150):
        truth = [rng.choices(TAGS, k=rng.randint(0, 7)) for _ in range(rng.randint(1, 9))]
        truth[0] = [*truth[0], "B-a"]  # seqeval refuses a text without tags, and strict a truth without spans
        guess = [[tag if rng.random() < 0.6 else rng.choice(TAGS) for tag in tags] for tags in truth]
        result = slu_accuracy(spoken(guess), spoken(truth), scheme=scheme)
        precision, recall, f1, support = seqeval_counts(truth, guess, scheme)
        found = [result[key] or 0 for key in ("slot_precision", "slot_recall", "slot_f1")]
        assert found == pytest.approx([precision, recall, f1])
        assert result["counts"]["true"] == support
        assert result["e2e_accuracy"] == sum(a == b for a, b in zip(truth, guess, strict=True)) / len(truth)
        for side in ("true", "predicted", "correct"):
            assert sum(slot["counts"][side] for slot in result["slot_types"].values()) == result["counts"][side]


def test_each_slot_is_what_it_is_alone():
    rng = random.Random(8)
    tags = ["O", "B-a", "I-a", "B-b", "I-b"]
    truth = [rng.choices(tags, k=8) for _ in range(30)]
    guess = [[tag if rng.random() < 0.7 else rng.choice(tags) for tag in row] for row in truth]
    result = slu_accuracy(spoken(guess), spoken(truth), scheme="IOB2")
    for slot in "ab":
        only = [[[tag if tag.endswith(slot) else "O" for tag in row] for row in side] for side in (guess, truth)]
        alone = slu_accuracy(*map(spoken, only), scheme="IOB2")
        assert result["slot_types"][slot] == {
            "f1": alone["slot_f1"],
            "precision": alone["slot_precision"],
            "recall": alone["slot_recall"],
            "counts": alone["counts"],
        }


def test_an_orphan_inside_tag_starts_a_span_unless_strict():
    """The convention that conlleval set: of O I-a I-a B-a, three tags are two spans."""
    truth = spoken([["O", "I-a", "I-a", "B-a"]])
    assert slu_accuracy(truth, truth)["counts"]["true"] == 2
    assert slu_accuracy(truth, truth, scheme="IOB2")["counts"]["true"] == 1


def test_spans_end_with_their_sentence():
    truth = spoken([["O", "B-a"], ["I-a", "O"]])
    assert slu_accuracy(truth, truth)["counts"]["true"] == 2


def test_end_to_end_is_intent_and_all_tags():
    truth = spoken([["O", "B-a"], ["O"], [], ["B-a"]], ["x", "x", "x", "x"])
    guess = spoken([["O", "B-a"], ["O"], [], ["O"]], ["x", "y", "x", "x"])
    result = slu_accuracy(guess, truth)
    assert (result["intent_accuracy"], result["e2e_accuracy"]) == (0.75, 0.5)
    same_spans = slu_accuracy(spoken([["I-a"]]), spoken([["B-a"]]))
    assert (same_spans["slot_f1"], same_spans["e2e_accuracy"]) == (1, 0)


def test_nothing_to_divide_by_is_null():
    silent = slu_accuracy(spoken([["O"]]), spoken([["O"]]))
    assert (silent["slot_f1"], silent["slot_precision"], silent["slot_recall"], silent["e2e_accuracy"]) == (
        None,
    ) * 3 + (1,)
    missed = slu_accuracy(spoken([["O"]]), spoken([["B-a"]]))
    assert (missed["slot_f1"], missed["slot_precision"], missed["slot_recall"]) == (0, None, 0)


def test_sentences_may_be_tuples_arrays_or_empty():
    truth = [["O", "B-a", "I-a"], []]
    expected = slu_accuracy(spoken(truth), spoken(truth))
    assert slu_accuracy(spoken(list(map(tuple, truth))), spoken(truth)) == expected
    assert slu_accuracy(spoken([np.array(truth[0]), np.array([])]), spoken(truth)) == expected
    assert expected["counts"] == {"true": 1, "predicted": 1, "correct": 1}
    assert slu_accuracy(spoken([[]]), spoken([[]]))["e2e_accuracy"] == 1


@pytest.mark.parametrize(
    ("guess", "sentence"),
    [
        ([{"intent": "x", "tags": ["O"]}] * 2, "differ in length"),
        ([{"intent": "x", "tags": ["O", "O"]}], r"predictions\[0\] has 2 tags and references\[0\] has 1"),
        ([{"intent": "x", "tags": ["X-a"]}], r"predictions\[0\] has the tag 'X-a': tags are O, I-<slot>, B-<slot>"),
        ([{"intent": "x", "tags": ["artist"]}], "has the tag 'artist'"),
        ([{"intent": "x", "tags": ["Bx"]}], "has the tag 'Bx'"),
        ([{"intent": "x", "tags": [None]}], "has the tag None"),
        ([{"intent": "x", "tags": [["O"]]}], r"has the tag \['O'\]"),
        ([{"intent": "x", "tags": "O"}], "give a list with one tag per token"),
        ([{"intent": "x", "tags": None}], "give a list with one tag per token"),
        ([{"intent": 3, "tags": ["O"]}], r"predictions\[0\] has the intent 3: it is not text"),
        ([{"intent": "x"}], r"predictions\[0\] is {'intent': 'x'}"),
        ([["x", ["O"]]], r"predictions\[0\] is "),
    ],
)
def test_slu_names_what_is_wrong(guess, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        slu_accuracy(guess, [{"intent": "x", "tags": ["O"]}])
    with pytest.raises(ValueError, match="scheme is 'IOB1': choose one of None, 'IOB2'"):
        slu_accuracy([], [], scheme="IOB1")
