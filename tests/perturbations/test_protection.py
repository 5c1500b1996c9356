"""Protected values are still there, as whole words, after any operator and any seed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.perturbations import OPERATORS, Edit, EnKeyboard, Noise, apply, move_spans
from lapsus.perturbations.core import Constraints, Shout, propose
from lapsus.perturbations.protection import drop_destructive, find_matches, find_words, list_values, merge_spans

NEED_MODELS = {"nlpaug_tfidf", "nlpaug_contextual"}
TEXTS = (
    "Please move order 7890 to Ada Lovelace, room B12, by 7 pm.",
    "what's the weather in new york on the 4th of july",
    "请问北京的天气怎么样，订单7890什么时候到",
    "花呗怎么还款，我的花呗逾期了",
)
VALUES = ("7890", "Ada Lovelace", "B12", "7", "New York", "4th", "北京", "花呗", "还款")
NAMES = [name for name in OPERATORS if name not in NEED_MODELS]


@pytest.mark.parametrize("name", [*NAMES, "en_keyboard raw"])
def test_a_protected_value_is_a_whole_word_after_any_operator(name):
    op = EnKeyboard(corrects=False, rate=5) if name == "en_keyboard raw" else OPERATORS[name]
    seeds = range(60 if "raw" in name else 3)
    texts = [text for text in TEXTS for _ in seeds]
    rows = {"id": [str(number) for number in range(len(texts))], "text": texts, "value": [list(VALUES)] * len(texts)}
    try:
        words = Noise(op, id="id", protect=VALUES)(rows)
    except ModuleNotFoundError as missing:
        pytest.skip(str(missing))
    for clean, noisy, edits in zip(texts, words["text"], words["edits"], strict=True):
        spans = find_words(clean, VALUES)
        for (start, end), (new_start, new_end) in zip(spans, move_spans(map(to_edit, edits), spans), strict=True):
            assert noisy[new_start:new_end] == clean[start:end]
        for value in VALUES:
            assert len(find_words(noisy, [value])) >= len(find_words(clean, [value])), (clean, noisy, value)
    assert Noise(op, id="id", protect_columns=("value",))(rows)["edits"] == words["edits"]


def to_edit(edit):
    return Edit(**edit)


def test_protection_leaves_most_of_the_noise():
    texts = [TEXTS[0]] * 400
    keys = [str(number) for number in range(400)]
    op = EnKeyboard(corrects=False)
    free = sum(len(proposal.edits) for proposal in propose(op, texts, keys=keys))
    constraints = [Constraints(protected=find_words(TEXTS[0], ["7890"]))] * 400
    protected = sum(len(proposal.edits) for proposal in propose(op, texts, keys=keys, constraint_sets=constraints))
    assert 0.8 * free < protected < free


BORDERS = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 2), st.sampled_from(["", " ", "e", "-", "x ", " x", "北"])), max_size=4
)


@given(BORDERS)
def test_edits_at_the_border_leave_a_whole_word(candidates):
    text, spans, edits, cursor = "to 78 90, A1", ((3, 5), (6, 8), (10, 12)), [], 0
    for start, length, new in sorted(candidates):
        end = min(start + length, len(text))
        inside = any((start < right and left < end) or left < start == end < right for left, right in spans)
        if start >= cursor and not inside and text[start:end] != new:
            edits.append(Edit(start, end, new))
            cursor = end
    left = drop_destructive(text, edits, spans)
    noisy = apply(text, left)
    assert set(left) <= set(edits)
    assert all(find_words(noisy, [text[start:end]]) for start, end in spans)
    for edit in edits:  # no edit goes without need
        if edit not in left:
            more = apply(text, sorted([*left, edit]))
            assert not all(find_words(more, [text[start:end]]) for start, end in spans) or len(edits) > 1


def test_only_an_end_that_is_a_letter_with_blanks_needs_a_border():
    assert find_words("请问北京的天气", ["北京"]) == ((2, 4),)
    assert find_words("订单7890号 17890 7890x", ["7890"]) == ((2, 6),)
    assert find_words("ราคา7890บาท", ["7890"]) == ((4, 8),)
    assert find_words("C++11 and c++", ["C++"]) == ((0, 3), (10, 13))
    assert find_words("replay PLAY player", ["play", ""]) == ((7, 11),)
    assert find_words("aa aa aa", ["aa aa"]) == ((0, 8),)


def test_spans_that_only_touch_stay_apart():
    assert merge_spans([(4, 6), (2, 4)]) == ((2, 4), (4, 6))
    assert find_matches("a1b22", [r"[0-9]+", r"b2"]) == ((1, 2), (2, 5))
    with pytest.raises(ValueError, match=r"'\(' is no regular expression"):
        Noise(Shout(), protect_patterns=("(",))


@pytest.mark.parametrize(
    ("cell", "values"),
    [
        ("Ada", ("Ada",)),
        (7, ("7",)),
        (2.0, ("2.0", "2")),
        (True, ()),
        (None, ()),
        ("  ", ()),
        ({"text": ["in Oslo"], "answer_start": [3]}, ("in Oslo",)),
        ('[{"name": "call", "arguments": "{\\"to\\": \\"Ada\\"}"}]', ("call", "Ada")),
        ("[not json", ("[not json",)),
        ([["a"], {"b": ("c", None)}], ("a", "c")),
    ],
)
def test_values_of_a_cell_are_its_texts_and_numbers(cell, values):
    assert list_values(cell) == values


def test_tokens_keep_the_values_of_a_column():
    tokens, tags = ["call", "ada", "lovelace", "at", "7890"], ["O", "B-name", "I-name", "O", "O"]
    noise = Noise(
        EnKeyboard(corrects=False, rate=8), text="tokens", tags="tags", protect_columns=("who",), on_error="keep"
    )
    for seed in range(40):
        noisy = Noise(noise.op, "tokens", None, seed, "tags", protect_columns=("who",))(
            {"tokens": tokens, "tags": tags, "who": "Ada Lovelace"}
        )
        assert "ada lovelace" in " ".join(noisy["tokens"])
