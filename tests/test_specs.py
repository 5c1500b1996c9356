"""OPERATOR[:ANNOTATORS][@SEVERITY], as `lapsus make` and `lapsus run` read it."""

from __future__ import annotations

import pytest

from lapsus.perturbations import OPERATORS, ZhKeyboard, ZhSpeech, tracks_of


def test_annotators_are_those_of_the_operator():
    assert tracks_of("zh_keyboard:3") == tuple((f".{n}", ZhKeyboard.annotator(n), 0) for n in (1, 2, 3))
    assert tracks_of("zh_speech:2") == tuple((f".{n}", ZhSpeech.annotator(n), 0) for n in (1, 2))


def test_an_operator_without_annotators_gets_seeds():
    assert tracks_of("filler_eos:2") == ((".1", OPERATORS["filler_eos"], 1), (".2", OPERATORS["filler_eos"], 2))


def test_alone_it_is_what_perturb_does_by_default():
    assert tracks_of("zh_speech") == (("", OPERATORS["zh_speech"], 0),)


def test_severity_is_the_rate_of_every_annotator():
    assert [(track.operator.who, track.operator.rate) for track in tracks_of("zh_keyboard:3@0.5")] == [
        (1, 0.5),
        (2, 0.5),
        (3, 0.5),
    ]
    assert tracks_of("zh_homophone@0")[0].operator.rate == 0


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("", r"'' is no noise; write OPERATOR"),
        ("zh_keyboard:", "is no noise"),
        ("zh_keyboard:x", "is no noise"),
        ("zh_keyboard@0.5:3", "is no noise"),
        ("zh_keyboard:0", "asks for 0 annotators; give a number from 1"),
        ("filler_eos:1001", "from 1 to 1000"),
        ("zh_keyboard:4", "who is 4; choose one of 1, 2, 3"),
        ("filler_eos@0.5", r"filler_eos has no severity, so 'filler_eos@0.5' cannot be made; leave @0.5 out"),
        ("zh_keyboard@much", "the severity 'much' of 'zh_keyboard@much' is no number"),
        ("zh_keyboard@nan", "is no number"),
        ("zh_keyboard@-1", "rate is -1.0; give a number from 0"),
    ],
)
def test_what_cannot_be_made_is_one_sentence(spec, sentence):
    with pytest.raises(ValueError, match=sentence):
        tracks_of(spec)


def test_an_unknown_operator_is_named_with_its_neighbours():
    with pytest.raises(LookupError, match="did you mean zh_keyboard"):
        tracks_of("zh_keybord:3")
