"""OPERATOR[:ANNOTATORS][@SEVERITY], as `lapsus make` and `lapsus run` read it."""

from __future__ import annotations

import pytest

from lapsus.perturbations import OPERATORS, ZhKeyboard, ZhSpeech, parse_noise, perturb
from lapsus.perturbations.core import Thinned
from lapsus.perturbations.laws import check


def test_annotators_are_those_of_the_operator():
    assert parse_noise("zh_keyboard:3") == tuple((f".{n}", ((ZhKeyboard.annotator(n), 0),)) for n in (1, 2, 3))
    assert parse_noise("zh_speech:2") == tuple((f".{n}", ((ZhSpeech.annotator(n), 0),)) for n in (1, 2))


def test_an_operator_without_annotators_gets_seeds():
    eos = OPERATORS["filler_eos"]
    assert parse_noise("filler_eos:2") == ((".1", ((eos, 1),)), (".2", ((eos, 2),)))


def test_alone_it_is_what_perturb_does_by_default():
    assert parse_noise("zh_speech") == (("", ((OPERATORS["zh_speech"], 0),)),)


def test_severity_is_the_rate_of_every_annotator():
    steps = [step for track in parse_noise("zh_keyboard:3@0.5") for step in track.steps]
    assert [(step.operator.who, step.operator.rate) for step in steps] == [(1, 0.5), (2, 0.5), (3, 0.5)]
    assert parse_noise("zh_homophone@0")[0].steps[0].operator.rate == 0


def test_operators_are_stacked_in_their_order():
    first, second = parse_noise("filler_bos+zh_speech:2@0.5")
    assert (first.suffix, second.suffix) == (".1", ".2")
    assert first.steps == ((OPERATORS["filler_bos"], 0), (Thinned(ZhSpeech.annotator(1), 0.5), 0))
    assert [step.operator.name for step in second.steps] == ["filler_bos", "zh_speech"]
    assert [step.operator.rate for step in parse_noise("zh_homophone@0.1+zh_homophone@1")[0].steps] == [0.1, 1]
    both = parse_noise("filler_bos:2+filler_eos:2")
    assert [[step.annotator for step in track.steps] for track in both] == [[1, 1], [2, 2]]
    assert [noise.seed for noise in both[1].make_noises(seed=10)] == [10_002, 10_002]


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("", r"'' is no noise spec; write OPERATOR"),
        ("zh_keyboard:", "is no noise"),
        ("zh_keyboard:x", "is no noise"),
        ("zh_keyboard@0.5:3", "is no noise"),
        ("zh_keyboard:0", "asks for 0 annotators; give a number from 1"),
        ("filler_eos:1001", "from 1 to 1000"),
        ("zh_speech:4", "who is 'annotator 4'; choose one of annotator 1"),
        ("filler_eos@1.5", "the severity of filler_eos is 1.5; give the share of its edits, from 0 to 1"),
        ("zh_speech:3@-0.1", "the severity of zh_speech is -0.1; give the share of its edits, from 0 to 1"),
        ("zh_keyboard@much", "the severity 'much' of 'zh_keyboard@much' is no number"),
        ("zh_keyboard:3+zh_speech:2", r"asks for 2 and for 3 annotators; give one number"),
        ("zh_keyboard+", "is no noise spec; write .* with . between several operators"),
        ("zh_keyboard@nan", "is no number"),
        ("zh_keyboard@-1", "rate is -1.0; give a number from 0"),
    ],
)
def test_what_cannot_be_made_is_one_sentence(spec, sentence):
    with pytest.raises(ValueError, match=sentence):
        parse_noise(spec)


def test_an_unknown_operator_is_named_with_its_neighbours():
    with pytest.raises(LookupError, match="did you mean zh_keyboard"):
        parse_noise("zh_keybord:3")


def test_an_operator_without_a_rate_loses_a_share_of_its_edits():
    text = "渡口每天早上六点开船，船夫姓林，过河要九分钟，下雨的时候不开。"
    whole, half, more, none, all_ = (
        perturb(parse_noise(f"zh_speech:1{at}")[0].steps[0].operator, text, key="a")
        for at in ("", "@0.4", "@0.8", "@0", "@1")
    )
    assert none == () and all_ == whole and set(half) <= set(more) <= set(whole)
    assert 0 < len(half) < len(whole)


@pytest.mark.parametrize(
    "operator", [ZhSpeech(), OPERATORS["filler_bos"], OPERATORS["random.1"]], ids=lambda op: op.name
)
def test_a_thinned_operator_keeps_the_laws(operator):
    if getattr(operator, "needs", ""):
        pytest.importorskip("nltk")
    check(Thinned(operator, 0.5))
