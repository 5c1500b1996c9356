"""Noise over noise keeps the first clean text, replays, and names every operator."""

from __future__ import annotations

from dataclasses import replace

import pytest
from datasets import ClassLabel, Dataset, Features, List, Value
from hypothesis import given
from hypothesis import strategies as st

from lapsus.core.edits import parse_edits
from lapsus.perturbations import OPERATORS, Edit, Noise, ZhKeyboard, apply, apply_tags, apply_tokens
from lapsus.perturbations.composition import compose_edits
from lapsus.perturbations.core import Shout

CLEAN = "abcdefghij"


def edits_of(length):
    """Draw edits in order, within a text of this length."""

    def build(drawn):
        places, texts = drawn
        cuts = sorted(places)
        pairs = zip(cuts[::2], cuts[1::2], strict=False)
        return [Edit(start, end, text) for (start, end), text in zip(pairs, texts, strict=False)]

    places = st.lists(st.integers(0, length), max_size=8)
    return st.tuples(places, st.lists(st.text("XYZ", max_size=3), min_size=4, max_size=4)).map(build)


@given(edits_of(len(CLEAN)), st.data())
def test_composed_edits_do_what_both_do(first, data):
    between = apply(CLEAN, first)
    second = data.draw(edits_of(len(between)))
    both = compose_edits(CLEAN, first, second)
    assert apply(CLEAN, both) == apply(between, second)
    assert list(both) == sorted(both, key=lambda edit: edit[:2])
    assert all(CLEAN[edit.start : edit.end] != edit.text for edit in both)


def test_edits_apart_stay_apart_and_those_that_touch_become_one():
    first = [Edit(2, 3, "XX"), Edit(8, 8, "Y")]  # abXXdefghYij
    assert compose_edits(CLEAN, first, [Edit(5, 6, "!")]) == (Edit(2, 3, "XX"), Edit(4, 5, "!"), Edit(8, 8, "Y"))
    assert compose_edits(CLEAN, first, [Edit(3, 5, "")]) == (Edit(2, 4, "X"), Edit(8, 8, "Y"))
    assert compose_edits(CLEAN, first, [Edit(2, 2, "so "), Edit(4, 4, "?")]) == (
        Edit(2, 2, "so "), Edit(2, 3, "XX"), Edit(3, 3, "?"), Edit(8, 8, "Y"),
    )  # fmt: skip
    assert compose_edits(CLEAN, first, [Edit(2, 4, "c"), Edit(9, 10, "")]) == ()  # the second takes the first back


def rows_of(dataset, *noises):
    for noise in noises:
        dataset = noise.map(dataset)
    return dataset


def test_texts_noised_twice_replay_from_the_first_clean_text():
    texts = ["花呗怎么不能提额了", "", "我的银行卡还没有收到退款，怎么办"]
    clean = Dataset.from_dict({"id": ["a", "b", "c"], "text": texts})
    noises = [Noise(ZhKeyboard.annotator(n), id="id", reason_column="why") for n in (1, 2, 3)]
    noisy = rows_of(clean, *noises)
    assert noisy["clean_text"][:] == texts
    for row in noisy:
        assert apply(row["clean_text"], parse_edits(row["edits"])) == row["text"]
        assert row["operator"].split(" then ") == [f"{noise.op!r} seed=0" for noise in noises]
        assert (row["why"] is None) == bool(row["edits"])
    step = [row["text"] for row in rows_of(rows_of(clean, noises[0]).select_columns(["id", "text"]), noises[1])]
    assert step == [row["text"] for row in rows_of(clean, *noises[:2])]


def test_tokens_and_tags_noised_twice_replay():
    names = ["O", "B-city", "I-city", "B-time"]
    features = Features({"id": Value("string"), "tokens": List(Value("string")), "tags": List(ClassLabel(names=names))})
    tokens = [["fly", "to", "new", "york", "tomorrow"], ["show", "me", "boston"]]
    tags = [[0, 0, 1, 2, 3], [0, 0, 1]]
    clean = Dataset.from_dict({"id": ["a", "b"], "tokens": tokens, "tags": tags}, features=features)
    for seed in range(20):
        chain = [Noise(OPERATORS[name], text="tokens", tags="tags", id="id", seed=seed) for name in
                 ("speako", "filler_pre_verb", "synonym_any", "filler_bos", "filler_eos")]  # fmt: skip
        noisy = rows_of(clean, *chain)
        assert noisy["clean_tokens"][:] == tokens and noisy["clean_tags"][:] == tags
        for row in noisy:
            edits, old = parse_edits(row["edits"]), [names[tag] for tag in row["clean_tags"]]
            assert apply_tokens(row["clean_tokens"], edits) == row["tokens"]
            assert apply_tags(row["clean_tokens"], old, edits) == [names[tag] for tag in row["tags"]]


def test_a_row_whose_tags_would_not_follow_stays_as_it_was(monkeypatch):
    row = {"id": "u1", "tokens": ["fly", "home"], "tags": ["O", "B-place"]}
    noise = Noise(Shout(), text="tokens", tags="tags", id="id", reason_column="why")
    once = row | noise(row)
    monkeypatch.setattr("lapsus.perturbations.noise.apply_tags", lambda *_: ["other"])
    twice = noise(once)
    assert row | twice == {**once, "why": "the tags would not follow the edits of both noises"}


def test_several_columns_and_single_rows_compose():
    row = {"id": "u1", "a": "slow down", "b": "go"}
    once = row | Noise(Shout(), text=("a", "b"), id="id")(row)
    twice = once | Noise(OPERATORS["filler_bos"], text=("a", "b"), id="id")(once)
    assert (twice["clean_a"], twice["clean_b"]) == ("slow down", "go")
    for name in ("a", "b"):
        assert len(twice["edits"][name]) == 2
        assert apply(row[name], parse_edits(twice["edits"][name])) == twice[name]


@pytest.mark.parametrize("text", ["stay!", "go", ""])
def test_a_row_whose_edits_do_not_make_its_text_is_told(text):
    row = {
        "id": "u1",
        "text": text,
        "clean_text": "go",
        "edits": [{"start": 2, "end": 2, "text": "!"}],
        "operator": "x",
    }
    noise = Noise(OPERATORS["filler_bos"], id="id", reason_column="why")
    says = "the edits of the row do not lead from clean_text to text"
    with pytest.raises(ValueError, match=f"row 'u1': {says}; perturb the clean text"):
        noise(row)
    assert row | replace(noise, on_error="keep")(row) == row | {"why": says}
    row["edits"][0]["end"] = 9
    assert replace(noise, on_error="keep")(row)["why"] == says


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"text": "b", "clean_text": "a"}, "the rows have clean_text but no edits and operator"),
        (
            {"text": "b", "clean_text": "a", "clean_title": "x", "edits": [], "operator": "x"},
            "the rows have clean_text, clean_title, and this noise needs clean_text; perturb the same columns again",
        ),
    ],
)
def test_rows_noisy_in_another_way_are_refused(row, says):
    with pytest.raises(ValueError, match=says):
        Noise(Shout())(row)
