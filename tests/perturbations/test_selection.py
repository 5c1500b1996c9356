"""The hard set: the worst candidate of each utterance, by a rule that leaves nothing open."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from lapsus.core.bio import extract_slots
from lapsus.core.edits import Edit
from lapsus.perturbations.core import Shout
from lapsus.perturbations.en.fillers import UNITS as FILLERS
from lapsus.perturbations.selection import (
    Candidate,
    ReadingError,
    count_operator_shares,
    make_candidates,
    make_selector,
    select_hardest,
)

ROWS = [
    {"id": "1", "tokens": ["play", "cool", "jazz"], "tags": ["O", "O", "B-genre"], "intent": "play"},
    {"id": "2", "tokens": ["book", "new", "york"], "tags": ["O", "B-city", "I-city"], "intent": "book"},
]


class Deaf:
    """Reads no slot, and `play` only in short utterances."""

    def predict(self, utterances):
        return [{"intent": "play" if len(said) < 5 else "?", "tags": ["O"] * len(said)} for said in utterances]

    def compute_losses(self, examples):
        return [float(len(example["tokens"])) for example in examples]


class Silent:
    """Changes nothing."""

    name, version = "silent", "1"

    def edits(self, text, rng):
        return ()


@given(st.lists(st.lists(st.tuples(st.booleans(), st.integers(0, 2)), min_size=1, max_size=5), max_size=6))
def test_the_worst_is_kept_and_the_first_of_equals(rows):
    marked = [[(score, i) for i, score in enumerate(row)] for row in rows]
    chosen = select_hardest(marked, score=lambda flat: [score for score, _ in flat])
    for row, (score, i) in zip(rows, chosen, strict=True):
        assert score == max(row)
        assert i == row.index(max(row))


def test_the_whole_frame_decides_before_errors_and_errors_before_loss():
    assert ReadingError(True, 1, 0.0) > ReadingError(False, 0, 9.0)
    assert ReadingError(True, 2, 0.0) > ReadingError(True, 1, 9.0)
    assert ReadingError(True, 1, 2.0) > ReadingError(True, 1, 1.0)


def test_errors_are_slots_missed_invented_and_the_intent():
    class Dreamer(Deaf):
        def predict(self, utterances):
            return [{"intent": "book", "tags": ["B-city"] + ["O"] * (len(said) - 1)} for said in utterances]

    one = Candidate("x", ["a", "b", "c"], ["O", "B-date", "I-date"], "play", ())
    assert make_selector(Dreamer())([one]) == [ReadingError(wrong=True, errors=3, loss=3.0)]
    assert make_selector(Deaf())([one._replace(tags=["O"] * 3)]) == [ReadingError(wrong=False, errors=0, loss=3.0)]


def test_a_hard_set_is_harder_than_any_of_its_operators():
    made = make_candidates(ROWS, FILLERS)
    judge = make_selector(Deaf())
    worst = judge(select_hardest(made, judge))
    for operator in FILLERS:
        own = judge([one for row in made for one in row if one.operator == operator.name])
        assert all(hard >= each for hard, each in zip(worst, own, strict=True))


def test_an_operator_without_effect_makes_no_candidate_unless_all_do():
    assert [one.operator for one in make_candidates(ROWS[:1], [Silent(), Shout()])[0]] == ["shout"]
    (alone,) = make_candidates(ROWS[:1], [Silent()])
    assert alone == [Candidate("silent", ["play", "cool", "jazz"], ["O", "O", "B-genre"], "play", ())]


def test_candidates_are_those_of_the_operators_whatever_the_order():
    forth = make_candidates(ROWS, FILLERS)
    back = make_candidates(ROWS[::-1], FILLERS)[::-1]
    assert forth == back
    assert all(isinstance(edit, Edit) for row in forth for one in row for edit in one.edits)


def test_a_selector_that_forgets_a_candidate_is_told():
    with pytest.raises(ValueError, match="utterance 0 has 2 candidates and 1 scores"):
        select_hardest([["a", "b"]], score=lambda _: [1])


@given(st.lists(st.sampled_from(["O", "B-a", "I-a", "B-b", "I-b"]), max_size=9))
def test_slots_are_those_of_seqeval(tags):
    assert {*extract_slots(tags)} == {(start, end + 1, label) for label, start, end in get_entities(tags)}


def test_shares_add_up():
    found = count_operator_shares(["a", "b", "a", "c"])
    assert list(found) == ["a", "b", "c"]
    assert sum(found.values()) == pytest.approx(1)
