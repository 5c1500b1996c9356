"""The typist at an English keyboard."""

from collections import Counter

import numpy as np
import pytest

from lapsus.core.edits import Edit
from lapsus.perturbations import EnKeyboard, apply, perturb, perturb_batch
from lapsus.perturbations.en.typist.keyboard import MAX_WORD_LENGTH, leaves_only_words
from lapsus.perturbations.en.typist.keys import from_qwerty, neighbouring_keys, to_qwerty
from lapsus.perturbations.en.typist.model import (
    CLASSES,
    PARTS,
    SITUATIONS,
    SIZE,
    classify_characters,
    load_typist_model,
)
from lapsus.perturbations.en.typist.slips import SLIPS, KeyPress, find_class, make_slip

SENTENCES = [
    f"{who} {what} {where} on {day}."
    for who in ("My brother", "The committee", "Our neighbour Sheila", "Nobody I know")
    for what in ("was looking for a cheaper flat", "would rather stay", "had forgotten the meeting", "isn't waiting")
    for where in ("in the city", "behind the old station", "near Lake Geneva", "at home")
    for day in ("Monday", "the first of May", "his birthday", "Friday evening")
]
KEYS = [f"row-{number}" for number in range(len(SENTENCES))]


def noisy(op: EnKeyboard, seed: int = 0) -> list[str]:
    """Return all sentences as `op` types them."""
    edits = perturb_batch(op, SENTENCES, seed=seed, keys=KEYS)
    return [apply(text, found) for text, found in zip(SENTENCES, edits, strict=True)]


def changed(op: EnKeyboard) -> float:
    """Return the share of sentences with a slip."""
    return sum(one != other for one, other in zip(noisy(op), SENTENCES, strict=True)) / len(SENTENCES)


def test_how_much_goes_wrong() -> None:
    """People of the logs change 29 % of the sentences they may correct and 68 % of those they may not."""
    assert 0.2 < changed(EnKeyboard()) < 0.45  # these sentences are longer than the logs'
    assert 0.6 < changed(EnKeyboard(corrects=False)) < 0.85


def test_what_is_left_was_typed() -> None:
    """Of the slips that a person makes without going back, the same person leaves some who may."""
    made, left = (
        [
            {
                (key, edit)
                for key, edits in zip(KEYS, perturb_batch(op, SENTENCES, keys=KEYS), strict=True)
                for edit in edits
            }
            for op in (EnKeyboard.annotator(number, corrects=corrects) for number in range(1, 9))
        ]
        for corrects in (False, True)
    )
    kept = sum(len(one & other) for one, other in zip(made, left, strict=True))
    assert kept > 0.97 * sum(map(len, left))  # a slip that was taken back may have hidden another
    assert sum(map(len, left)) < 0.6 * sum(map(len, made))


def test_people_differ_and_stay_themselves() -> None:
    """Each annotator has a rate of their own, the same in another seed's texts."""
    rates = [[changed(EnKeyboard.annotator(n, corrects=False, rate=rate)) for rate in (0.5, 1, 2)] for n in range(1, 9)]
    assert all(low < high for low, _, high in rates)
    assert max(middle for _, middle, _ in rates) - min(middle for _, middle, _ in rates) > 0.15
    assert noisy(EnKeyboard.annotator(1)) != noisy(EnKeyboard.annotator(2))


def test_care_leaves_other_slips() -> None:
    """Hasty fingers hit wrong keys more than in proportion; the rate moves both, not alike."""

    def kinds(rate: float) -> Counter[str]:
        from lapsus.perturbations.en.typist.keyboard import HASTE_POWERS
        from lapsus.perturbations.en.typist.model import find_source

        assert HASTE_POWERS["fingers"] > 1 > HASTE_POWERS["mind"] > HASTE_POWERS["blank"]
        edits = perturb_batch(EnKeyboard(corrects=False, rate=rate), SENTENCES * 4, keys=[f"{i}" for i in range(1024)])
        beside_ = sum(
            edit.text in neighbouring_keys(text[edit.start])
            for text, found in zip(SENTENCES * 4, edits, strict=True)
            for edit in found
            if edit.end == edit.start + 1 and len(edit.text) == 1
        )
        assert find_source("beside") == "fingers"
        return Counter(beside=beside_, all=sum(map(len, edits)))

    careful, hasty = kinds(0.3), kinds(3)
    assert hasty["beside"] / hasty["all"] > careful["beside"] / careful["all"]
    assert hasty["all"] > 5 * careful["all"]


@pytest.mark.parametrize("layout", ["azerty", "qwertz"])
def test_other_layouts_have_other_neighbours(layout: str) -> None:
    """A letter that lies elsewhere is confused with what lies beside it there."""
    assert from_qwerty(to_qwerty("A", layout), layout) == "A"
    model = load_typist_model()
    found = Counter[str]()
    for draw in np.linspace(0, 0.999, 200):
        edit = make_slip("beside", KeyPress("az", 0, model, lambda draw=draw: draw, layout))
        assert edit is not None
        found[edit.text] += 1
    near = {from_qwerty(key, layout) for key in neighbouring_keys(to_qwerty("a", layout))}
    assert sum(count for key, count in found.items() if key in near) > 0.8 * found.total()


def test_places() -> None:
    """Where every character of a small text stands, by hand."""
    found, bounds = classify_characters(["It's a bee.", "", "é 9"])
    assert bounds.tolist() == [0, 11, 11, 14]
    classes, situations, lengths, doubled = np.unravel_index(found, PARTS)
    assert [CLASSES[number] for number in classes] == [
        *("I", "t", "'", "s", " ", "a", " ", "b", "e", "e", "final ."), *("unknown", " ", "digit")
    ]  # fmt: skip
    assert [SITUATIONS[number] for number in situations[:10]] == [
        "first of text", "last", "no letter", "alone", "no letter", "alone", "no letter", "first", "second", "last"
    ]  # fmt: skip
    assert lengths.tolist() == [1, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0, 0, 0, 1]
    assert doubled.tolist() == [0] * 8 + [1] + [0] * 5


def test_classes_of_one_and_of_many_agree() -> None:
    """`class_of` names what `places` numbers."""
    text = "Don’t you, of 19 (all) – people: go?"
    found = np.unravel_index(classify_characters([text])[0], PARTS)[0]
    for at, number in enumerate(found.tolist()):
        if CLASSES[number] != "unknown":
            assert find_class(text, at) == CLASSES[number]


def test_model_is_sound() -> None:
    """Chances are chances, every kind has its function, and the unknown is never touched."""
    model = load_typist_model()
    assert set(model.kinds) == set(SLIPS)
    assert model.slip_rates.shape == (SIZE, len(SLIPS))
    assert (model.slip_rates >= 0).all() and (model.slip_rates <= 0.5).all()
    assert not model.slip_rates[: SIZE // PARTS[0]].any()
    assert perturb(EnKeyboard(corrects=False, rate=10), "北京的花呗 — éü", key="1")[:0] == ()
    for edit in perturb(EnKeyboard(corrects=False, rate=10), "北京的花呗éü", key="1"):
        raise AssertionError(edit)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: EnKeyboard(rate=-1), "rate is -1"),
        (lambda: EnKeyboard(rate=float("nan")), "rate is nan"),
        (lambda: EnKeyboard(layout="dvorak"), "'dvorak'; choose one of qwerty, azerty, qwertz"),
        (lambda: EnKeyboard(who=-1), "who is -1"),
        (lambda: EnKeyboard(who=True), "who is True"),
        (lambda: EnKeyboard.annotator(0), "numbered from 1"),
    ],
)
def test_bad_settings_are_named(make: object, says: str) -> None:
    """One sentence with the value and the cure."""
    with pytest.raises(ValueError, match=says):
        make()  # type: ignore[operator]


def test_a_word_longer_than_any_is_not_looked_at_to_its_end():
    words = load_typist_model().words
    assert max(map(len, words)) < MAX_WORD_LENGTH
    for size in (MAX_WORD_LENGTH - 1, MAX_WORD_LENGTH, MAX_WORD_LENGTH + 1):
        for text in ("x" * size + "cat", "cat" + "x" * size, "é" * size + " cat"):
            for at in (0, size, len(text) - 1):
                assert not leaves_only_words(text, Edit(at, at, "q"), words)
