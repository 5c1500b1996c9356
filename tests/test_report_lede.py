"""The first sentences of the page are true whatever came out."""

from __future__ import annotations

import re

import pytest

from lapsus.results.measuring.measure import measure
from lapsus.results.page.lede import lede
from lapsus.results.tracks import Track


def told(clean, examples=100, **noisy):
    """The first sentences about a model that is right on the first so many examples of each track."""
    rights = {"clean": clean, **noisy}
    tracks = [
        Track("m", name.replace("_", "."), [{"id": i, "score": int(i < right)} for i in range(examples)])
        for name, right in rights.items()
        if right is not None
    ]
    return lede(measure(tracks).summary)


def test_a_fall_that_holds_up():
    assert told(90, keyboard_1=60, keyboard_2=70) == (
        "Noise costs most on keyboard: m falls from 90.0 % on clean text to 65.0 % on average, and to 60.0 % when each"
        " example counts only whom the model served worst."
    )


def test_the_smallest_is_named_among_those_that_hold_up_and_the_others_are_no_proof():
    said = told(90, keyboard=60, speech=75, typing=89)
    assert said.startswith("Noise costs most on keyboard: m falls from 90.0 % on clean text to 60.0 %.")
    assert "the smallest is on speech for m: 15.0 points" in said
    assert re.search(r"none holds up \(typing for m\), a difference of \d\.\d points could have been missed", said)
    assert "typing: m falls" not in said


def test_a_rise_is_called_a_rise():
    said = told(60, keyboard=90)
    assert said == "No drop holds up. On keyboard for m the score rises, from 60.0 % on clean text to 90.0 %."


def test_a_fall_and_a_rise():
    said = told(60, keyboard=30, speech=90)
    assert "keyboard: m falls from 60.0 % on clean text to 30.0 %" in said
    assert "On speech for m the score rises, from 60.0 % on clean text to 90.0 %." in said


def test_no_change_at_all():
    assert told(90, keyboard=90) == "No average differs between clean and noisy text."


@pytest.mark.parametrize("right", [88, 92])
def test_a_difference_that_does_not_hold_up(right):
    said = told(90, keyboard=right)
    assert said.startswith("No difference between clean and noisy text holds up.")
    assert "which may be chance" in said
    assert "falls" not in said
    assert "rises" not in said


def test_without_clean_nothing_is_said():
    assert told(None, keyboard=90) == ""


def test_a_larger_drop_that_may_be_chance_is_not_overlooked():
    few = [Track("few", name, [{"id": i, "score": s} for i in range(2)]) for name, s in (("clean", 1), ("k", 0))]
    many = [
        Track("many", name, [{"id": i, "score": int(i < right)} for i in range(100)])
        for name, right in (("clean", 90), ("k", 60))
    ]
    said = lede(measure([*few, *many]).summary)
    assert said.startswith("Of the drops that hold up, the largest is on k: many falls from 90.0 %")


def test_a_model_that_favours_one_class_is_not_called_robust():
    """The similarity threshold of AFQMC: accuracy rises under noise, balanced accuracy falls."""
    gold = ["alike"] * 62 + ["different"] * 138
    said = {"clean": (49, 55), "typing": (20, 110)}  # of the alike called alike, of the different called different

    def track(name, alike, different):
        answers = ["alike"] * alike + ["different"] * (62 - alike) + ["different"] * different
        answers += ["alike"] * (138 - different)
        return Track(
            "threshold",
            name,
            [{"id": i, "gold": g, "prediction": a} for i, (g, a) in enumerate(zip(gold, answers, strict=True))],
        )

    text = lede(measure([track(name, *right) for name, right in said.items()]).summary)
    assert "On typing for threshold the score rises" in text
    assert "But threshold is not robust on typing: its accuracy does not fall, yet its balanced accuracy falls" in text
