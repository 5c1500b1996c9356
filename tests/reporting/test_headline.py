"""The headline of the page is true for any result."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from paths import SHARED_DATA

from lapsus.core.types import Track
from lapsus.reporting.analysis.measure import measure
from lapsus.reporting.html.headline import build_drop_matrix, write_headline


def headline(clean, examples=100, **noisy):
    """Return the headline for a model that is correct on the first so many examples of each track."""
    rights = {"clean": clean, **noisy}
    tracks = [
        Track("m", name.replace("_", "."), [{"id": i, "score": int(i < right)} for i in range(examples)])
        for name, right in rights.items()
        if right is not None
    ]
    return write_headline(measure(tracks).summary)


def test_a_significant_drop():
    assert headline(90, keyboard_1=60, keyboard_2=70) == (
        "The largest drop is on keyboard: m falls from 90.0 % on clean text to 65.0 % on average, a drop of 25.0 points"
        " [18.0 to 33.6], and to 60.0 %, by 30.0 points [21.9 to 39.6], for the worst annotator of each example."
        " Verdict: costs."
    )


def test_the_smallest_significant_drop_is_named_and_the_others_are_no_evidence_of_robustness():
    text = headline(90, keyboard=60, speech=75, typing=89)
    assert text.startswith(
        "The largest drop is on keyboard: m falls from 90.0 % on clean text to 60.0 %, a drop of 30.0"
    )
    assert re.search(r"The smallest significant drop is 15\.0 points \[9\.\d to 23\.\d\] \(m on speech\)\.", text)
    assert re.search(
        r"The difference of m on typing is not significant: drops of up to \d+\.\d points may go undetected \(80 % power\),"
        r" so this is no evidence of robustness\.",
        text,
    )
    assert "typing: m falls" not in text


def test_several_differences_that_are_not_significant_are_counted():
    text = headline(90, keyboard=60, speech=88, typing=89)
    assert "The differences in 2 of the cells below are not significant: drops of up to " in text
    assert "smallest significant" not in text


def test_a_rise_is_called_a_rise():
    text = headline(60, keyboard=90)
    assert text == (
        "No drop is significant. The score of m rises on keyboard, from 60.0 % on clean text to 90.0 %, a gain of 30.0"
        " points [21.9 to 39.6]. Verdict: robust within 2 points."
    )


def test_a_fall_and_a_rise():
    text = headline(60, keyboard=30, speech=90)
    assert "keyboard: m falls from 60.0 % on clean text to 30.0 %" in text
    assert "The score of m rises on speech, from 60.0 % on clean text to 90.0 %, a gain of 30.0" in text


def test_no_change_at_all():
    text = headline(90, keyboard=90)
    assert re.fullmatch(
        r"No average differs between clean and noisy text\. Verdict: undecided: about \d+ examples would decide\. Drops of up to 7\.\d points may go undetected \(80 % power\), so"
        r" this is no evidence of robustness\.",
        text,
    )


def test_with_few_examples_a_drop_of_any_size_may_go_undetected():
    text = headline(4, examples=4, keyboard=2)
    assert text.endswith("Drops of any size may go undetected (80 % power), so this is no evidence of robustness.")


@pytest.mark.parametrize(
    ("right", "verdict"),
    [
        (88, "Verdict: undecided: about 620 examples would decide. Drops of up to "),
        (92, "Verdict: robust within 2 points."),
    ],
)
def test_a_difference_that_is_not_significant(right, verdict):
    text = headline(90, keyboard=right)
    assert text.startswith(
        "No difference between clean and noisy text is significant. The largest is from 90.0 % on clean text to"
        f" {right}.0 %, a {'drop' if right < 90 else 'gain'} of 2.0 points [−1.8 to 7.0] (m on keyboard). {verdict}"
    )
    assert "falls" not in text
    assert "rises" not in text


def test_the_undetected_drop_is_no_less_than_the_observed_one():
    tracks = [
        Track("m", name, [{"id": i, "score": int(i < right)} for i in range(100)])
        for name, right in (("clean", 90), ("keyboard", 88))
    ]
    (record,) = measure(tracks).summary
    assert record.test is not None
    powerful = replace(record, test=replace(record.test, minimum_detectable=0.001))
    assert "Drops of up to 2.0 points may go undetected" in write_headline([powerful])


def test_without_a_clean_track_there_is_no_headline():
    assert headline(None, keyboard=90) == ""


def test_a_larger_drop_that_is_not_significant_is_not_overlooked():
    few = [Track("few", name, [{"id": i, "score": s} for i in range(2)]) for name, s in (("clean", 1), ("k", 0))]
    many = [
        Track("many", name, [{"id": i, "score": int(i < right)} for i in range(100)])
        for name, right in (("clean", 90), ("k", 60))
    ]
    text = write_headline(measure([*few, *many]).summary)
    assert text.startswith("The largest significant drop is on k: many falls from 90.0 %")


def of_classes(alike, different, **rights):
    """The numbers about a model of pairs that finds so many of the alike and so many of the different ones."""
    gold = ["alike"] * alike + ["different"] * different

    def track(name, found, told_apart):
        answers = (
            ["alike"] * found + ["different"] * (alike - found + told_apart) + ["alike"] * (different - told_apart)
        )
        rows = [{"id": i, "gold": g, "prediction": a} for i, (g, a) in enumerate(zip(gold, answers, strict=True))]
        return Track("threshold", name, rows)

    return measure([track(name, *right) for name, right in rights.items()])


def test_a_model_that_favours_one_class_is_not_called_robust():
    """A similarity threshold on AFQMC: its accuracy rises under noise, as fewer pairs look alike."""
    numbers = of_classes(1338, 2978, clean=(1036, 1225), typing=(569, 1831))
    text = write_headline(numbers.summary)
    assert "The score of threshold rises on typing, from 52.4 % on clean text to 55.6 %, a gain of 3.2" in text
    assert text.endswith(
        "threshold keeps its accuracy on typing, but its balanced accuracy falls from 59.3 % to 52.0 %: it recognises rare"
        " classes less often."
    )
    matrix = build_drop_matrix("d0", numbers)
    (*_, [cell]) = matrix.rows[0]
    assert matrix.hides_class_drop and cell.hides_class_drop and cell.share == 0
    assert cell.label.endswith(", significant; undecided; balanced accuracy falls from 59.3 % to 52.0 %")


def test_a_drop_of_balanced_accuracy_that_is_not_significant_is_called_so():
    text = write_headline(of_classes(20, 80, clean=(15, 60), typing=(11, 61)).summary)
    assert "No difference between clean and noisy text is significant." in text
    assert text.endswith(
        "threshold has no significant drop in accuracy on typing, but its balanced accuracy falls from 75.0 % to 65.6 % (not"
        " significant)."
    )


def test_further_cells_that_hide_a_drop_are_counted():
    hidden = (569, 1831)
    text = write_headline(of_classes(1338, 2978, clean=(1036, 1225), typing=hidden, speech=hidden).summary)
    assert text.endswith("it recognises rare classes less often. The same applies to 1 other cell below (†).")


def test_a_single_original_makes_no_significant_class_drop():
    golds = ["a"] * 30 + ["b"] * 10
    rows = [{"id": i, "gold": gold, "prediction": gold, "cluster": "x"} for i, gold in enumerate(golds)]
    noisy = [row | {"prediction": "a"} for row in rows]
    text = write_headline(measure([Track("m", "clean", rows), Track("m", "typing", noisy)]).summary)
    assert text.endswith("its balanced accuracy falls from 100.0 % to 50.0 % (not significant).")


def test_a_drop_that_accuracy_shows_needs_no_warning():
    assert "balanced" not in write_headline(of_classes(50, 50, clean=(45, 45), typing=(30, 30)).summary)
    assert "balanced" not in write_headline(of_classes(20, 80, clean=(18, 70), typing=(18, 69)).summary)


AFQMC = SHARED_DATA / "readin" / "afqmc_balanced"


@pytest.mark.data
@pytest.mark.skipif(not AFQMC.exists(), reason="needs READIN's AFQMC beside the checkout")
def test_the_similarity_threshold_of_afqmc_itself():
    """Pairs are alike if so many of their characters and pairs of characters are; the threshold is learnt on dev."""

    def rows(name):
        return [json.loads(line) for line in (AFQMC / name).read_text("utf-8").splitlines()]

    def likeness(row):
        one, other = (
            {*text, *(text[i : i + 2] for i in range(len(text) - 1))}
            for text in (row["sentence1"].strip(), row["sentence2"].strip())
        )
        return len(one & other) / len(one | other)

    dev = [(likeness(row), str(row["label"])) for row in rows("dev.json")]
    threshold = max(range(100), key=lambda t: sum((value >= t / 100) == (label == "1") for value, label in dev)) / 100
    tracks = [
        Track(
            "threshold",
            track,
            [
                {"id": i, "gold": str(row["label"]), "prediction": str(int(likeness(row) >= threshold))}
                for i, row in enumerate(rows(f"test_{name}.json"))
            ],
        )
        for track, name in (("clean", "clean"), *((f"keyboard.{n}", f"noisy_{n}") for n in (1, 2, 3)))
    ]
    numbers = measure(tracks)
    [record] = numbers.summary
    assert record.averages.micro_drop.value < -0.02 and record.test.is_significant
    assert record.clean_balanced_accuracy.value - record.classes.balanced_accuracy.value > 0.03
    assert "threshold keeps its accuracy on keyboard, but its balanced accuracy falls" in write_headline(
        numbers.summary
    )


def test_the_matrix_shows_the_clean_track_and_not_its_repeats():
    def track(name, right):
        return Track("m", name, [{"id": i, "score": float(i < right)} for i in range(10)])

    numbers = measure([track("clean.2", 6), track("clean.3", 7), track("clean", 9), track("keyboard.1", 5)])
    [(model, clean, text, [cell])] = build_drop_matrix("d0", numbers).rows
    assert (model, clean, text, cell.drop) == ("m", 0.9, "90.0", "−40.0")


def test_the_verdicts_are_counted_where_there_are_several():
    text = headline(90, keyboard=60, speech=92, typing=89)
    counts = r"Verdicts: costs in 1 cell, robust within 2 points in 1 cell, undecided in 1 cell \(about [\d,]+ examples would decide\)\."
    assert re.search(counts, text)
    assert "The difference of m on typing is not significant: drops of up to" in text
