"""Intervals of the metrics that are no plain average, against resampling of originals."""

import random

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein
from sacrebleu.metrics import BLEU
from scipy import stats

from lapsus.metrics import annotated_bleu, annotated_chrf, classification, entity_f1, noise_rate, slu_accuracy
from lapsus.metrics.annotated_bleu.score import compute_corpus_bleu
from lapsus.metrics.human_likeness.score import estimate_auc, place_scores
from lapsus.stats import wilson_interval

COUNT = 120


def resampled(score, *, clusters=None, draws=400):
    """Return the spread of a score, or of each score of a result, over samples of the originals, by plain recomputation."""
    rng = np.random.default_rng(0)
    clusters = np.arange(COUNT) if clusters is None else np.asarray(clusters)
    members = [np.flatnonzero(clusters == name) for name in np.unique(clusters)]
    drawn = [
        score(np.concatenate([members[place] for place in rng.integers(0, len(members), len(members))]))
        for _ in range(draws)
    ]
    if isinstance(drawn[0], dict):
        return {
            key: np.std([result[key] for result in drawn])
            for key, value in drawn[0].items()
            if isinstance(value, float)
        }
    return np.std(drawn)


def half_width(interval, originals=COUNT):
    """Return half the interval in units of Student's quantile: a standard error, but near 0 and 1."""
    low, high = interval
    return (high - low) / 2 / stats.t.ppf(0.975, originals - 1)


def utterances():
    rng = random.Random(1)
    truth = [
        {"intent": rng.choice("ab"), "tags": rng.choices(["O", "B-x", "I-x", "B-y"], k=rng.randint(1, 8))}
        for _ in range(COUNT)
    ]
    guess = [
        {
            "intent": row["intent"] if rng.random() < 0.8 else "c",
            "tags": [tag if rng.random() < 0.85 else "O" for tag in row["tags"]],
        }
        for row in truth
    ]
    return guess, truth


@pytest.mark.parametrize("share", [1, 4])
def test_slots_vary_as_utterances_do(share):
    guess, truth = utterances()
    clusters = [number // share for number in range(COUNT)]
    result = slu_accuracy(guess, truth, clusters=clusters)
    spreads = resampled(
        lambda rows: slu_accuracy([guess[row] for row in rows], [truth[row] for row in rows]), clusters=clusters
    )
    for key in ("e2e_accuracy", "intent_accuracy", "slot_f1", "slot_precision", "slot_recall"):
        low, high = result[f"{key}_ci"]
        assert low < result[key] < high, key
        assert half_width((low, high), COUNT // share) == pytest.approx(spreads[key], rel=0.15), key


def test_perfect_slots_are_not_certain():
    _, truth = utterances()
    result = slu_accuracy(truth[:20], truth[:20])
    assert result["slot_f1_ci"][1] == 1
    assert 0.75 < result["slot_f1_ci"][0] < 0.9
    twice = slu_accuracy(truth[:20] * 2, truth[:20] * 2, clusters=list(range(20)) * 2)
    assert twice["slot_f1_ci"] == pytest.approx(result["slot_f1_ci"])


@pytest.mark.parametrize("key", ["micro_average", "worst_average", "corpus_rate"])
@pytest.mark.parametrize("longest", [1, 9])
def test_error_rates_vary_as_texts_do(key, longest):
    rng = random.Random(2)
    clean = ["".join(rng.choices("abcd", k=rng.randint(3, 12))) for _ in range(COUNT)]
    noisy = [
        [
            "".join(letter if rng.random() > 0.2 else rng.choice("abcd") * rng.randint(1, longest) for letter in text)
            for _ in range(2)
        ]
        for text in clean
    ]
    result = noise_rate(noisy, clean)

    edits = np.array(
        [[Levenshtein.distance(text, good) for text in row] for row, good in zip(noisy, clean, strict=True)]
    )
    lengths = np.array([[len(good)] * 2 for good in clean])
    by_definition = {
        "micro_average": lambda rows: (edits / lengths)[rows].mean(),
        "worst_average": lambda rows: (edits / lengths)[rows].max(axis=1).mean(),
        "corpus_rate": lambda rows: edits[rows].sum() / lengths[rows].sum(),
    }
    assert half_width(result[f"{key}_ci"]) == pytest.approx(resampled(by_definition[key]), rel=0.2)
    doubled = noise_rate(noisy * 2, clean * 2, clusters=list(range(COUNT)) * 2)
    assert doubled[f"{key}_ci"] == pytest.approx(result[f"{key}_ci"])


def sentences():
    rng = random.Random(3)
    truth = [" ".join(rng.choices("abcde", k=rng.randint(4, 12))) for _ in range(COUNT)]
    noisy = [
        [" ".join(w if rng.random() > loss else rng.choice("abcde") for w in text.split()) for loss in (0.1, 0.3)]
        for text in truth
    ]
    return noisy, truth


@pytest.mark.parametrize(
    ("metric", "mode"),
    [(annotated_bleu, "paper"), (annotated_bleu, "sentence"), (annotated_chrf, "corpus"), (annotated_chrf, "sentence")],
)
def test_scores_of_translations_vary_as_sentences_do(metric, mode):
    noisy, truth = sentences()
    result = metric(noisy, truth, mode=mode)
    spreads = resampled(
        lambda rows: metric([noisy[row] for row in rows], [truth[row] for row in rows], mode=mode), draws=40
    )
    for key in ("micro_average", "worst_average"):
        assert half_width(result[f"{key}_ci"]) == pytest.approx(spreads[key], rel=0.4), key
    doubled = metric(noisy * 2, truth * 2, mode=mode, clusters=list(range(COUNT)) * 2)
    assert doubled["micro_average_ci"] == pytest.approx(result["micro_average_ci"])


def test_bleu_of_many_corpora_is_sacrebleus():
    rng = np.random.default_rng(4)
    for _ in range(200):
        totals = np.sort(rng.integers(0, 9, 4))[::-1]
        matches = [int(rng.integers(0, total + 1)) for total in totals]
        row = np.array([*matches, *totals, totals[0], rng.integers(1, 10)])
        expected = BLEU.compute_bleu(matches, totals.tolist(), int(row[8]), int(row[9]), smooth_method="exp").score
        assert compute_corpus_bleu(row) == pytest.approx(expected)


def test_the_truth_left_out_makes_no_interval():
    assert annotated_bleu([["a b c d"]], ["a b c d"])["micro_average_ci"] is None
    assert noise_rate(["a"], ["b"])["corpus_rate_ci"] is None
    with pytest.raises(ValueError, match="differ in length"):
        noise_rate(["a", "b"], ["a", "b"], clusters=[1])


def classified():
    rng = np.random.default_rng(5)
    truth = rng.choice(["a", "b", "c"], COUNT, p=[0.5, 0.3, 0.2])
    guess = np.where(rng.random(COUNT) < 0.75, truth, rng.choice(["a", "b", "c"], COUNT))
    return guess, truth


@pytest.mark.parametrize("share", [1, 3])
def test_classes_vary_as_examples_do(share):
    guess, truth = classified()
    clusters = np.arange(COUNT) // share
    result = classification(guess.tolist(), truth.tolist(), clusters=clusters.tolist())
    spreads = resampled(lambda rows: classification(guess[rows].tolist(), truth[rows].tolist()), clusters=clusters)
    for key in ("accuracy", "balanced_accuracy", "macro_f1"):
        assert half_width(result[f"{key}_ci"], COUNT // share) == pytest.approx(spreads[key], rel=0.15), key


def test_balanced_accuracy_of_independent_rows_adds_up_the_variances_of_recalls():
    """Two recalls, each pulled by one row towards their mean, and Wilson's interval at the sum of their variances."""
    guess, truth = ["a"] * 30 + ["b"] * 10 + ["b"] * 18 + ["a"] * 2, ["a"] * 40 + ["b"] * 20
    rows = 4 / (1 / 40 + 1 / 20)
    middle = (0.825 * rows + 0.5) / (rows + 1)
    recalls, sizes = (np.array([30, 18]) + middle) / [41, 21], np.array([40, 20])
    parts = recalls * (1 - recalls) * (sizes + 1) / sizes**2 / 4
    freedom = parts.sum() ** 2 / (parts**2 / sizes).sum()
    effective = min(0.825 * 0.175, middle * (1 - middle)) / parts.sum()
    expected = wilson_interval(0.825 * effective, effective, 0.95, stats.t.ppf(0.975, freedom))
    assert classification(guess, truth)["balanced_accuracy_ci"] == pytest.approx(expected)


def test_classes_that_are_all_found_are_not_certain():
    result = classification(list("ab") * 10, list("ab") * 10)
    assert result["balanced_accuracy_ci"][1] == result["macro_f1_ci"][1] == 1
    assert 0.7 < result["balanced_accuracy_ci"][0] < 0.9
    assert 0.7 < result["macro_f1_ci"][0] < 0.9
    assert classification(["a"], ["a"])["balanced_accuracy_ci"] is None


@pytest.mark.parametrize("share", [1, 4])
def test_entities_vary_as_utterances_do(share):
    rng = random.Random(6)
    truth = [
        [{"type": rng.choice("ab"), "filler": rng.choice(["x y", "x", "y z x"])} for _ in range(rng.randint(0, 3))]
        for _ in range(COUNT)
    ]
    everything = [entity for row in truth for entity in row]
    guess = [[rng.choice(everything) if rng.random() < 0.3 else entity for entity in row] for row in truth]
    clusters = np.arange(COUNT) // share
    result = entity_f1(guess, truth, clusters=clusters.tolist())
    spreads = resampled(
        lambda rows: entity_f1([guess[row] for row in rows], [truth[row] for row in rows]), clusters=clusters, draws=200
    )
    for key in ("entity_f1", "entity_precision", "entity_recall", "word_f1", "char_f1", "slu_f1"):
        assert half_width(result[f"{key}_ci"], COUNT // share) == pytest.approx(spreads[key], rel=0.2), key


def test_the_variance_of_an_auc_is_delongs():
    """Structural components by their definition, text against text; texts of one original are summed."""
    rng = np.random.default_rng(7)
    scores, labels = rng.normal(size=60).round(1), np.repeat([1.0, 0.0], 30)
    scores[:30] += 1
    originals = np.concatenate([np.arange(30), np.arange(30)])
    better = (scores[:30, None] > scores[None, 30:]) + 0.5 * (scores[:30, None] == scores[None, 30:])
    assert place_scores(scores, labels) == pytest.approx(np.concatenate([better.mean(axis=1), better.mean(axis=0)]))

    from scipy.sparse import csr_matrix

    folds = originals % 2
    found = estimate_auc(csr_matrix(scores[:, None]), labels, folds, originals, 0.95)
    aucs = [better[np.ix_(folds[:30] == fold, folds[:30] == fold)] for fold in (0, 1)]
    assert found.value == pytest.approx(np.mean([table.mean() for table in aucs]))
    added = [(table.mean(axis=1) + table.mean(axis=0) - 2 * table.mean()) / 15 / 2 for table in aucs]
    error = np.sqrt(np.square(added).sum() * 30 / 29 * (1 + 2 / 4))  # two folds, for which a fifth is held out
    assert half_width(found.interval, 30) == pytest.approx(error, rel=0.07)  # of few originals, Wilson's is shorter


def test_a_skipped_cluster_leaves_no_trace():
    """Rates above 1 are resampled by cluster: one whose clean texts are all empty is none of them."""
    noisy, clean, clusters = ["abcd", "x", "a", "xyzxyz", "q", "bb"], ["a", "", "a", "b", "", "b"], [0, 1, 2, 2, 1, 3]
    skipped = noise_rate(noisy, clean, clusters=clusters, empty_reference="skip")
    rows = [(text, target, cluster) for text, target, cluster in zip(noisy, clean, clusters, strict=True) if target]
    noisy, clean, clusters = map(list, zip(*rows, strict=True))
    assert skipped == noise_rate(noisy, clean, clusters=clusters) | {"skipped": 2}
