"""noise_rate, micro_worst_average and annotated_bleu against independent implementations and laws."""

import logging
import math
import random
from statistics import fmean

import jiwer
import Levenshtein
import numpy as np
import pytest
from datasets import Features, List, Value
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF
from scipy import stats

from lapsus.evaluation.answer_types import TranslationAnswer
from lapsus.metrics import annotated_bleu, annotated_chrf, micro_worst_average, noise_rate
from lapsus.stats import compare_paired
from lapsus.stats.noise_rates import NoiseRateAccumulator

TEXT = st.text(st.sampled_from("ab 花呗\n\u0301\u200d👩é１"), max_size=8)  # spaces, marks, joiners, other planes
CLEAN = TEXT.filter(bool)
SCORE = st.sampled_from([0, 1, 0.25, 0.5, -2, 7.5])


def tables(element, *, missing):
    value = st.one_of(element, st.none()) if missing else element
    return st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(value, min_size=width, max_size=width).filter(lambda row: any(x is not None for x in row)),
            min_size=1,
            max_size=6,
        )
    )


def scored(table):
    """Return micro, worst (lowest) and annotator averages by the definitions, in plain Python."""
    present = [[x for x in row if x is not None] for row in table]
    columns = [[x for x in column if x is not None] for column in zip(*table, strict=True)]
    return (
        fmean(map(fmean, present)),
        fmean(map(min, present)),
        [fmean(column) if column else None for column in columns],
    )


@given(st.data())
def test_noise_rate_is_levenshtein_over_length(data):
    noisy = data.draw(tables(TEXT, missing=True))
    clean = data.draw(st.lists(CLEAN, min_size=len(noisy), max_size=len(noisy)))
    distances = [
        [None if text is None else Levenshtein.distance(text, truth) for text in row]
        for row, truth in zip(noisy, clean, strict=True)
    ]
    rates = [
        [None if edits is None else edits / len(truth) for edits in row]
        for row, truth in zip(distances, clean, strict=True)
    ]
    result = noise_rate(noisy, clean)
    micro, lowest, annotators = scored([[None if x is None else -x for x in row] for row in rates])
    assert result["micro_average"] == pytest.approx(-micro)
    assert result["worst_average"] == pytest.approx(-lowest)
    assert result["annotator_averages"] == pytest.approx([None if x is None else -x for x in annotators])
    pairs = [(edits, len(truth)) for row, truth in zip(distances, clean, strict=True) for edits in row]
    edits, length = (sum(side) for side in zip(*(pair for pair in pairs if pair[0] is not None), strict=True))
    assert result["corpus_rate"] == pytest.approx(edits / length)


def test_noise_rate_strips_and_normalises_nothing():
    assert noise_rate([" 花呗 "], ["花呗"])["micro_average"] == 1
    assert noise_rate(["e\u0301"], ["é"])["micro_average"] == 2
    assert noise_rate(["１"], ["1"])["micro_average"] == 1
    assert noise_rate(["a\n"], ["a"])["micro_average"] == 1
    assert noise_rate(["👨"], ["👩"])["micro_average"] == 1


def test_noise_rate_pools_otherwise_than_it_averages():
    result = noise_rate(["b", "x" * 50], ["a", "x" * 50])
    assert (result["micro_average"], result["corpus_rate"]) == (0.5, 1 / 51)


SPOKEN = st.lists(st.sampled_from(["the", "cat", "sat", "cats", "花", "呗", "QQ音乐", "two"]), max_size=6).map(" ".join)


@given(st.lists(st.tuples(SPOKEN, SPOKEN.filter(bool)), min_size=1, max_size=5))
def test_the_word_error_rate_is_jiwers(pairs):
    heard, clean = map(list, zip(*pairs, strict=True))
    result = noise_rate(heard, clean, unit="word")
    assert result["corpus_rate"] == pytest.approx(jiwer.wer(clean, heard))
    assert result["micro_average"] == pytest.approx(fmean(map(jiwer.wer, clean, heard)))


@given(st.lists(st.tuples(SPOKEN, SPOKEN.filter(bool)), min_size=1, max_size=5))
def test_tokens_are_characters_of_chinese_and_words_of_english(pairs):
    def spaced(text):
        return "".join(f" {letter} " if "\u4e00" <= letter <= "\u9fff" else letter for letter in text)

    heard, clean = map(list, zip(*pairs, strict=True))
    expected = jiwer.wer([spaced(text) for text in clean], [spaced(text) for text in heard])
    assert noise_rate(heard, clean, unit="token")["corpus_rate"] == pytest.approx(expected)


def test_units_of_a_text():
    heard, clean = ["打开QQ 音乐。", None], "打开 qq音乐"
    rates = {unit: noise_rate([heard], [clean], unit=unit)["micro_average"] for unit in ("character", "word", "token")}
    assert rates == {"character": 4 / 7, "word": 1.0, "token": 2 / 5}
    with pytest.raises(ValueError, match="unit is 'letter': choose one of 'character', 'word', 'token'"):
        noise_rate(["a"], ["a"], unit="letter")
    with pytest.raises(ValueError, match=r"references\[0\] is empty"):
        noise_rate(["a"], [" "], unit="word")


def test_noise_rate_of_an_empty_clean_text():
    with pytest.raises(ValueError, match=r"references\[1\] is empty: leave it out, or use empty_reference='skip'"):
        noise_rate(["a", "b"], ["a", ""])
    result = noise_rate([["a", "b"], ["b", ""], ["", "a"]], ["a", "", "a"], empty_reference="skip")
    assert (result["examples"], result["skipped"], result["micro_average"]) == (2, 1, 0.5)
    with pytest.raises(ValueError, match="all empty"):
        noise_rate(["a"], [""], empty_reference="skip")
    with pytest.raises(ValueError, match="empty_reference is 'ignore': choose one of 'raise', 'skip'"):
        noise_rate(["a"], ["a"], empty_reference="ignore")
    assert noise_rate([""], ["ab"])["micro_average"] == 1


@pytest.mark.parametrize(
    ("noisy", "clean", "sentence"),
    [
        ([["a"], ["a", "b"]], ["a", "a"], r"predictions\[1\] has 2 annotators and predictions\[0\] has 1"),
        ([["a"], [None]], ["a", "a"], r"predictions\[1\] has no annotator at all"),
        ([[], []], ["a", "a"], "has no annotators"),
        (["a", ["a"]], ["a", "a"], r"predictions\[1\] is \['a'\], not text"),
        (["a", None], ["a", "a"], r"predictions\["),
        (["a"], ["a", "b"], r"differ in length \(1 predictions, 2 references\)"),
        ("ab", ["a", "b"], "predictions is 'ab', not a column"),
        (["a"], {"a": 1}, "not a column"),
        ([["a", 3]], ["a"], "is 3, not text"),
    ],
)
def test_noise_rate_names_what_is_wrong(noisy, clean, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        noise_rate(noisy, clean)


@given(tables(SCORE, missing=True), st.sampled_from(["higher", "lower"]))
def test_micro_worst_average_by_definition(table, direction):
    result = micro_worst_average(table, direction=direction, n_resamples=0)
    sign = 1 if direction == "higher" else -1
    micro, worst, annotators = scored([[None if x is None else sign * x for x in row] for row in table])
    assert result["micro_average"] == pytest.approx(sign * micro)
    assert result["worst_average"] == pytest.approx(sign * worst)
    assert result["annotator_averages"] == pytest.approx([None if x is None else sign * x for x in annotators])


@given(tables(SCORE, missing=True), st.randoms(use_true_random=False))
def test_order_does_not_matter_and_worst_is_below_average_is_below_best(table, rng):
    worst, best = (micro_worst_average(table, direction=way, n_resamples=50) for way in ("higher", "lower"))
    margin = 1e-12
    assert worst["worst_average"] <= worst["micro_average"] + margin <= best["worst_average"] + 2 * margin
    shuffled = [rng.sample(row, len(row)) for row in rng.sample(table, len(table))]
    again = micro_worst_average(shuffled, n_resamples=50)
    for key in ("micro_average", "worst_average", "micro_average_ci", "worst_average_ci"):
        assert again[key] == pytest.approx(worst[key])


@given(tables(SCORE, missing=True), st.data())
def test_groups_are_the_parts_of_the_whole(table, data):
    groups = data.draw(st.lists(st.sampled_from(["x", "y", 3]), min_size=len(table), max_size=len(table)))
    result = micro_worst_average(table, groups={"kind": groups}, n_resamples=0)
    parts = result["groups"]["kind"]
    for name, part in parts.items():
        own = [row for row, group in zip(table, groups, strict=True) if str(group) == name]
        alone = micro_worst_average(own, n_resamples=0)
        assert part == {key: pytest.approx(value) if value is not None else None for key, value in alone.items()}
    for key in ("micro_average", "worst_average"):
        assert sum(part["examples"] * part[key] for part in parts.values()) / len(table) == pytest.approx(result[key])


def test_a_group_that_does_not_occur_is_null():
    result = micro_worst_average([[1, 0]], groups=["positive"], group_names=["negative", "positive"], clean_scores=[1])
    empty = result["groups"]["negative"]
    assert list(result["groups"]) == ["negative", "positive"]
    assert empty.pop("examples") == 0
    assert empty.pop("annotator_averages") == [None, None]
    assert set(empty.values()) == {None}
    with pytest.raises(ValueError, match="groups holds 'positive', which is not in group_names"):
        micro_worst_average([[1]], groups=["positive"], group_names=["negative"])
    with pytest.raises(ValueError, match="groups has 2 elements for 1 examples"):
        micro_worst_average([[1]], groups=["a", "b"])


def test_worst_average_is_not_the_worst_annotator():
    """Two annotators, each right on half: every example has one who is wrong."""
    result = micro_worst_average([[1, 0], [0, 1]], n_resamples=0)
    assert (result["annotator_averages"], result["worst_average"]) == ([0.5, 0.5], 0)


def test_a_missing_annotator_is_not_wrong():
    result = micro_worst_average([[1, None], [1, 0]], n_resamples=0)
    assert (result["micro_average"], result["worst_average"]) == (0.75, 0.5)
    assert result["annotator_averages"] == [1, 0]
    masked = np.ma.MaskedArray([[1, 9], [1, 0]], [[False, True], [False, False]])
    assert micro_worst_average(masked, n_resamples=0) == result


def test_drops_are_costs_in_both_directions():
    higher = micro_worst_average([[1, 0], [1, 1]], clean_scores=[1, 1])
    lower = micro_worst_average([[0, 1], [0, 0]], clean_scores=[0, 0], direction="lower")
    for key in ("micro_drop", "worst_drop", "micro_drop_ci", "worst_drop_ci"):
        assert higher[key] == pytest.approx(lower[key])
    assert (higher["clean_average"], higher["micro_drop"], higher["worst_drop"]) == (1, 0.25, 0.5)


@pytest.mark.parametrize(
    ("table", "options", "sentence"),
    [
        ([[1, math.nan]], {}, r"predictions\[0\]\[1\] is nan, not a score: a missing score is None"),
        ([[1, None], [math.inf, None]], {}, r"predictions\[1\]\[0\] is inf"),
        ([[1, "1"]], {}, r"predictions\[0\]\[1\] is '1', not a number"),
        ([[None, None]], {}, "no annotator at all"),
        ([1, 0], {}, r"predictions\[0\] is 1: give a list"),
        (np.ones(3), {}, "has the shape"),
        ([[1]], {"direction": "up"}, "choose one of 'higher', 'lower'"),
        ([[1]], {"confidence_level": 95}, "give a fraction such as 0.95"),
        ([[1]], {"n_resamples": -1}, "n_resamples is -1"),
        ([[1]], {"clean_scores": [1, 2]}, "differ in length"),
        ([[1]], {"clean_scores": [math.nan]}, r"clean_scores\[0\] is nan"),
    ],
)
def test_micro_worst_average_names_what_is_wrong(table, options, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        micro_worst_average(table, **options)


@pytest.mark.parametrize("scores", ["0/1", "graded", "skewed"])
def test_intervals_are_those_of_scipy(scores):
    """Far from 0 and 1 a score interval is that of the bootstrap; for skewed scores BCa is the nearest relative."""
    rng = np.random.default_rng(5)
    table = rng.normal(size=(150, 1)) + rng.normal(size=(150, 3))
    table = {"0/1": (table > -1).astype(float), "graded": 0.5 + table / 20, "skewed": np.exp(table / 2)}[scores]
    result = micro_worst_average(table, n_resamples=20_000)
    for key, by_example in (("micro_average_ci", table.mean(axis=1)), ("worst_average_ci", table.min(axis=1))):
        expected = stats.bootstrap(
            (by_example,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(0)
        ).confidence_interval
        width = expected.high - expected.low
        assert result[key] == pytest.approx(list(expected), abs=0.08 * width)
    seeds = [micro_worst_average(table, seed=seed) for seed in (1, 1, 2)]
    assert seeds[0] == seeds[1]
    assert (seeds[0] == seeds[2]) == (scores != "skewed")


def test_the_size_of_a_drop_is_that_of_compare():
    rng = random.Random(5)
    clean = [int(rng.random() < 0.9) for _ in range(60)]
    noisy = [[int(rng.random() < 0.7), int(rng.random() < 0.6)] for _ in range(60)]
    clusters = [number // 2 for number in range(60)]
    found = micro_worst_average(noisy, clean_scores=clean, clusters=clusters)
    for name, scores in (("micro_drop", np.mean(noisy, axis=1)), ("worst_drop", np.min(noisy, axis=1))):
        expected = compare_paired(np.array(clean, float), scores, clusters)
        sizes = found[f"{name}_effect_size"], found[f"{name}_detectable"], found[f"{name}_p"]
        assert sizes == pytest.approx(
            (expected.effect_size, expected.detection.minimum_detectable(0.05), expected.p_value)
        )
    same = micro_worst_average([[1]] * 9, clean_scores=[1] * 9)
    assert same["micro_drop_effect_size"] is None
    assert same["micro_drop_detectable"] == pytest.approx(0.739, abs=1e-3)  # nine examples without a change show little


def test_examples_that_share_an_original_are_one_finding():
    rng = np.random.default_rng(6)
    table, clean = rng.random((40, 3)).round(), rng.random(40).round()
    once = micro_worst_average(table, clean_scores=clean)
    often = micro_worst_average(
        np.repeat(table, 5, axis=0),
        clean_scores=np.repeat(clean, 5),
        clusters=[f"id {n}" for n in range(40) for _ in range(5)],
    )
    assert often.pop("examples") == 5 * once.pop("examples")
    for key, value in once.items():
        assert often[key] == pytest.approx(value)
    naive = micro_worst_average(np.repeat(table, 5, axis=0))
    assert np.ptp(naive["micro_average_ci"]) < 0.6 * np.ptp(once["micro_average_ci"])
    with pytest.raises(ValueError, match="differ in length"):
        micro_worst_average(table, clusters=[1, 2])


def test_a_drop_and_its_p_value_agree():
    rng = np.random.default_rng(7)
    for chance in (0.6, 0.75, 0.85):
        table, clean = (rng.random((60, 2)) < chance).astype(float), (rng.random(60) < 0.9).astype(float)
        for scale in (1, 7):
            result = micro_worst_average(scale * table, clean_scores=scale * clean)
            for name in ("micro_drop", "worst_drop"):
                low, high = result[f"{name}_ci"]
                assert (result[f"{name}_p"] < 0.05) == (not low <= 0 <= high)


def test_intervals_resample_examples_not_annotations():
    """Three equal annotators are one annotator: the interval is as wide as with one."""
    scores = [[1], [0], [1], [1], [0], [1], [0], [1]] * 5
    one, three = (micro_worst_average([row * times for row in scores]) for times in (1, 3))
    assert one["micro_average_ci"] == three["micro_average_ci"]


def test_the_interval_of_equal_scores_is_no_point():
    """Nine examples that were all right may still be of a model that is right on four of five."""
    result = micro_worst_average([[1, 1]] * 9, clean_scores=[1] * 9)
    assert result["micro_average_ci"] == pytest.approx([9 / (9 + 2.306**2), 1], abs=1e-4)  # n / (n + t²)
    assert result["worst_drop_ci"] == pytest.approx([-0.299, 0.299], abs=1e-3)
    assert (result["micro_drop_p"], result["worst_drop_p"]) == (1, 1)


WORDS = ["the", "cat", "sat", "on", "a", "mat", "down", ".", "very", "old"]


def sentences(seed, count):
    rng = random.Random(seed)
    truth = [" ".join(rng.choices(WORDS, k=rng.randint(1, 9))) for _ in range(count)]
    noisy = [
        [" ".join(word for word in text.split() if rng.random() > loss) for loss in (0.1, 0.3, 0.6)] for text in truth
    ]
    return noisy, truth


@pytest.mark.parametrize("tokenize", ["13a", "char"])
def test_bleu_is_sacrebleu(tokenize, caplog):
    noisy, truth = sentences(1, 40)
    with caplog.at_level(logging.WARNING):
        paper = annotated_bleu(noisy, truth, tokenize=tokenize)
        sentence = annotated_bleu(noisy, truth, tokenize=tokenize, mode="sentence")
    assert not caplog.records, "sacrebleu need not warn of what is meant"
    bleu = BLEU(tokenize=tokenize)
    corpus = [bleu.corpus_score(column, [truth]).score for column in map(list, zip(*noisy, strict=True))]
    assert paper["annotator_averages"] == pytest.approx(corpus)
    assert paper["micro_average"] == pytest.approx(fmean(corpus))
    assert paper["signature"] == str(bleu.get_signature())
    for mode, effective in ((paper, False), (sentence, True)):
        scorer = BLEU(tokenize=tokenize, effective_order=effective)
        scores = [
            [scorer.sentence_score(text, [good]).score for text in row] for row, good in zip(noisy, truth, strict=True)
        ]
        assert mode["worst_average"] == pytest.approx(fmean(map(min, scores)))
        assert f"|eff:{'yes' if effective else 'no'}|tok:{tokenize}|" in mode["signature"]
    micro, worst, annotators = scored(scores)
    assert (sentence["micro_average"], sentence["worst_average"]) == pytest.approx((micro, worst))
    assert sentence["annotator_averages"] == pytest.approx(annotators)


WRITTEN = st.text(alphabet="ab 猫.,'", max_size=9)


@given(
    st.lists(st.tuples(WRITTEN, WRITTEN, WRITTEN.filter(str.strip)), min_size=1, max_size=4), st.sampled_from([0, 2])
)
def test_chrf_is_sacrebleus(rows, word_order):
    *annotators, truth = (list(side) for side in zip(*rows, strict=True))
    table = [list(row) for row in zip(*annotators, strict=True)]
    chrf = CHRF(word_order=word_order)
    sentences = [
        [chrf.sentence_score(text, [good]).score for text in row] for row, good in zip(table, truth, strict=True)
    ]
    found = annotated_chrf(table, truth, word_order=word_order)
    assert found["micro_average"] == pytest.approx(np.mean(sentences))
    assert found["worst_average"] == pytest.approx(np.min(sentences, axis=1).mean())
    corpora = [chrf.corpus_score(side, [truth]).score for side in annotators]
    pooled = annotated_chrf(table, truth, word_order=word_order, mode="corpus")
    assert pooled["annotator_averages"] == pytest.approx(corpora)
    assert pooled["micro_average"] == pytest.approx(np.mean(corpora))
    assert pooled["worst_average"] == found["worst_average"]
    assert pooled["signature"] == str(chrf.get_signature()) == found["signature"]


def test_a_run_scores_translations_by_the_same_chrf():
    rows = [("the cat sat", "the cat sat down"), ("a dog", "the dog"), ("猫", "cat")]
    judged = [TranslationAnswer("en").score(said, {"en": gold})["score"] for said, gold in rows]
    found = annotated_chrf([[said] for said, _ in rows], [gold for _, gold in rows])
    assert 100 * np.mean(judged) == pytest.approx(found["micro_average"])


def test_bleu_of_perfect_output_is_not_100_at_worst_in_the_papers_way():
    truth = ["a b c d e"] * 5 + ["a b c"]
    paper, sentence = (
        annotated_bleu([[text] * 3 for text in truth], truth, mode=mode) for mode in ("paper", "sentence")
    )
    assert (paper["micro_average"], round(paper["worst_average"], 2)) == (pytest.approx(100), 83.33)
    assert (sentence["micro_average"], sentence["worst_average"]) == (pytest.approx(100), pytest.approx(100))


@pytest.mark.parametrize("mode", ["paper", "sentence"])
def test_bleu_with_a_missing_annotator(mode):
    noisy, truth = sentences(2, 12)
    partial = [[row[0], None if number % 2 else row[1]] for number, row in enumerate(noisy)]
    result = annotated_bleu(partial, truth, mode=mode)
    second = annotated_bleu([[row[1]] for row in noisy[::2]], truth[::2], mode=mode)
    assert result["annotator_averages"][1] == pytest.approx(second["micro_average"])
    assert annotated_bleu([[row[0], None] for row in noisy], truth, mode=mode)["annotator_averages"][1] is None


def test_bleu_of_chinese_needs_a_tokenizer_for_it():
    chinese = ["今天天气很好。", "他在iPhone上看新闻。"]
    with pytest.raises(ValueError, match=r"The references are Chinese and tokenize is '13a'.*use 'zh'"):
        annotated_bleu([[text] for text in chinese], chinese)
    assert annotated_bleu([[text] for text in chinese], chinese, tokenize="zh")["micro_average"] == pytest.approx(100)
    english = ["Alipay (花呗) is a payment service ."]
    assert annotated_bleu([english], english)["micro_average"] == pytest.approx(100)
    with pytest.raises(ValueError, match="tokenize is 'jieba': choose one of"):
        annotated_bleu([["a"]], ["a"], tokenize="jieba")
    with pytest.raises(ValueError, match="choose one of 'paper', 'sentence'"):
        annotated_bleu([["a"]], ["a"], mode="corpus")


@pytest.mark.parametrize("mode", ["paper", "sentence"])
def test_a_missing_translation_is_no_bad_one(mode):
    """The worst served annotator is one of those who are there."""
    whole = annotated_bleu(
        [["the cat sat down here"], ["a dog ran far away"]], ["the cat sat down here"] * 2, mode=mode
    )
    partly = annotated_bleu(
        [["the cat sat down here", None], ["a dog ran far away", "a dog ran far away"]],
        ["the cat sat down here"] * 2,
        mode=mode,
    )
    assert partly["worst_average"] == whole["worst_average"] >= 50


def test_error_rates_of_batches_leave_out_rows_without_clean_text():
    """Two of three rows have a rate: 1/2 and 1/4 on average, and 2 edits of 6 characters."""
    rates = NoiseRateAccumulator("keyboard/test", dict.fromkeys(("text", "clean_text")), {})
    rates.update({"text": ["ax", "new"], "clean_text": ["ab", ""]})
    rates.update({"text": ["abcx"], "clean_text": ["abcd"]})
    (found,) = rates.finish()
    assert (found.micro_average, found.worst_average, found.corpus_rate) == (0.375, None, 2 / 6)


def test_noise_rates_of_batches_leave_out_rows_without_a_noisy_text():
    features = Features({"text": List({"text": Value("string")}), "clean_text": Value("string")})
    rates = NoiseRateAccumulator("keyboard/test", features, {})
    texts = [[{"text": "ax"}, {"text": "xx"}], [], [{"text": "abcd"}]]
    rates.update({"text": texts, "clean_text": ["ab", "unread", "abcd"]})
    (found,) = rates.finish()
    assert (found.micro_average, found.worst_average, found.corpus_rate) == (0.375, 0.5, 3 / 8)


def test_long_texts_have_the_same_distance_in_a_band():
    from random import Random

    from Levenshtein import distance

    from lapsus.stats.noise_rates import LONG, compute_edit_distances

    draw = Random(0)
    clean = ["".join(draw.choices("abcdef", k=length)) for length in (0, 5, LONG, 3 * LONG)]
    for rate in (0.0, 0.05, 0.6, 1.0):
        noisy = ["".join(draw.choice("abcdefg") if draw.random() < rate else c for c in text)[3:] for text in clean]
        wanted = [distance(*pair) for pair in zip(noisy, clean, strict=True)]
        assert compute_edit_distances(noisy, clean).tolist() == wanted
        assert compute_edit_distances(clean[::-1], noisy[::-1]).tolist() == wanted[::-1]
