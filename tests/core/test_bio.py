"""One reading of tags: for one sentence and for many, beside seqeval's."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import seqeval.scheme
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from lapsus.core import bio
from lapsus.metrics import slu_accuracy
from lapsus.perturbations.tokens import parse_utterance


def sentences(parts):
    """Return lists of sentences with these parts and the labels a and b."""
    tag = st.sampled_from(["O", *(f"{part}-{label}" for part in parts for label in "ab")])
    return st.lists(st.lists(tag, max_size=7), min_size=1, max_size=5)


def as_columns(rows):
    """Return the parts and label numbers of all tags in order, and where sentences with tags start."""
    tags = [bio.parse_tag(tag) for row in rows for tag in row]
    labels = sorted({label for _, label in tags})
    lengths = np.array([len(row) for row in rows])
    starts = (np.cumsum(lengths) - lengths)[lengths > 0]
    parts = np.array([part for part, _ in tags], np.int8)
    return parts, np.array([labels.index(label) for _, label in tags], np.int64), starts, labels


@given(sentences("BIESLU"))
def test_one_sentence_and_many_are_read_alike(rows):
    parts, numbers, starts, labels = as_columns(rows)
    found = bio.extract_slots_batch(parts, numbers, starts)
    together = [(first, last + 1, labels[label]) for first, last, label in zip(*found, strict=True)]
    offset, apart = 0, []
    for row in rows:
        apart += [(start + offset, end + offset, label) for start, end, label in bio.extract_slots(row)]
        offset += len(row)
    assert together == apart


@given(sentences("BIES"))
def test_slots_are_those_that_seqeval_reads_as_conlleval_does(rows):
    for row in rows:
        assert {*bio.extract_slots(row)} == {(start, end + 1, label) for label, start, end in get_entities(row)}


@pytest.mark.parametrize("name", ["IOBES", "BILOU"])
@given(data=st.data())
def test_a_strict_scheme_counts_what_seqeval_counts(name, data):
    scheme = getattr(seqeval.scheme, name)
    parts = bio.SCHEMES[name].replace("O", "")
    rows = data.draw(sentences(parts))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = seqeval.scheme.Entities(rows, scheme).entities
    side = [{"intent": "", "tags": row} for row in rows]
    ours = slu_accuracy(side, side, scheme=name)
    assert ours["counts"]["true"] == sum(map(len, theirs))
    for label in "ab":
        counted = ours["slot_types"].get(label, {"counts": {"true": 0}})["counts"]["true"]
        assert counted == sum(entity.tag == label for row in theirs for entity in row)


def test_a_tag_of_another_scheme_is_refused():
    side = [{"intent": "", "tags": ["B-a", "S-a"]}]
    with pytest.raises(
        TypeError, match=r"predictions\[0\] has the tag 'S-a': tags are O, B-<slot>, I-<slot>, L-<slot>"
    ):
        slu_accuracy(side, side, scheme="BILOU")


def test_an_inside_tag_of_another_label_opens_a_slot():
    """I-b behind B-a is a second slot: neither part of the first nor nothing."""
    tags = ["B-a", "I-b", "I-b"]
    assert bio.extract_slots(tags) == [(0, 1, "a"), (1, 3, "b")]
    said = parse_utterance(["x", "y", "z"], tags)
    assert said.slots == [0, 1, 1]
    assert said.find_slot_spans({"b"}) == [(2, 5)]


def test_bare_tags_are_slots_of_one_label():
    """B and I without a label mark slots too, as seqeval reads them."""
    truth = [{"intent": "", "tags": ["B", "I", "O", "I", "B"]}]
    guess = [{"intent": "", "tags": ["B", "I", "O", "O", "B-a"]}]
    result = slu_accuracy(guess, truth)
    assert result["counts"] == {"true": 3, "predicted": 2, "correct": 1}
    assert {name: part["counts"]["true"] for name, part in result["slot_types"].items()} == {"_": 3, "a": 0}
    assert bio.extract_slots(truth[0]["tags"]) == [(0, 2, "_"), (3, 4, "_"), (4, 5, "_")]


@pytest.mark.parametrize("tag", ["X-a", "Ba", "O-a", "", "b-a"])
def test_what_is_no_tag_is_refused(tag):
    with pytest.raises(ValueError, match="is not a tag: write O"):
        bio.parse_tag(tag)
