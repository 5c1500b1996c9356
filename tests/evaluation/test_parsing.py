"""Readers of answers: what they find in odd texts, and that hostile texts take them no longer than others."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.evaluation import parsing
from lapsus.evaluation.answer_types import SimilarityAnswer
from lapsus.evaluation.benchmark_tasks import load_tasks
from lapsus.evaluation.parsing import find_json_object, find_number, find_sql, match_label, strip_reasoning
from lapsus.io.readers import parse_csv, parse_json

WORDS = {"yes": "y", "no": "n", "not entailed": "ne", "entailed": "e", "相同": "s"}


def match_yes_no(text):
    return match_label(text, WORDS)


READERS = {
    find_sql: (
        ("", "with a (", "with a", "```", "```sql", "select ", "with a (b"),
        ("with a (", "with ", "with a as ", "with a () as ", "``` ", "```", "````x", "x", "\n ", "a as", " ", ") "),
    ),
    find_json_object: (
        ("", '{"', 'x {"a": [1, '),
        (
            "{",
            '{"a":',
            '{"a":"b",',
            '{"',
            '{":',
            '"{',
            '{"\\"',
            "{[",
            '{"a":[',
            '"',
            '{"a":1,',
            "{ ",
            '{"a":tru',
            '{"{}',
        ),
    ),
    match_yes_no: (
        ("", "x the", "x answer", "x not"),
        (
            "x yes ",
            "x not,,,,,, yes ",
            "not ",
            "not,",
            "isn't ",
            "no\n",
            "the ",
            "the answer ",
            "correct ",
            "不\n",
            " ",
            ",",
        ),
    ),
    strip_reasoning: (("", "<think>"), ("<think>", "</think", "</think>", "<think></think>", "<")),
    find_number: (("", "x", "1."), ("-", "1", "1.", "-1.")),
}


def measure(read, text):
    best = float("inf")
    for _ in range(2):
        began = time.process_time()
        read(text)
        best = min(best, time.process_time() - began)
        if best < 0.05:
            break
    return best


@pytest.mark.parametrize("read", READERS)
def test_the_time_of_a_reader_grows_with_the_text_and_no_faster(read):
    starts, units = READERS[read]
    for unit in units:
        for start in starts:
            took = [measure(read, (start + unit * size)[:size]) for size in (20_000, 80_000)]
            assert took[1] < 4 * 2 * max(took[0], 0.02), (start, unit, took)
    took = [measure(read, (units[0] * size)[:size]) for size in (500_000, 1_000_000)]
    assert took[1] < 2.5 * max(took[0], 0.1), took


@pytest.mark.parametrize("text", ["x not,,, yes ", '{"a": {"b": [', "with a (", "的", "a_b "])
def test_a_long_answer_is_read_by_every_kind_of_task_in_time(text):
    kinds = {type(task.answer_type): task.answer_type for task in load_tasks().values()}
    assert len(kinds) >= 6
    for kind in kinds.values():
        took = [measure(lambda each: kind.parse(each, {}), (text * size)[:size]) for size in (20_000, 80_000)]  # noqa: B023
        assert took[1] < 4 * 2 * max(took[0], 0.02), (kind, took)


def test_a_text_beyond_the_limit_holds_no_answer(monkeypatch):
    monkeypatch.setattr(parsing, "MAX_LENGTH", 30)
    for read, answer in (
        (find_sql, "select 1"),
        (find_json_object, '{"a": 1}'),
        (find_number, "1"),
        (match_yes_no, "yes"),
    ):
        assert read(answer + " " * (30 - len(answer))) is not None
        assert read(answer + " " * (31 - len(answer))) is None


def first_object(text):
    """Try each brace in turn."""
    for place, letter in enumerate(text):
        if letter == "{":
            try:
                return json.JSONDecoder().raw_decode(text, place)[0]
            except ValueError:
                continue
    return None


PIECES = [
    *'{}[]",:\\ 1-\n',
    '"a"',
    '"a":',
    '{"a": 1}',
    "[1, 2]",
    "1.5e3",
    "-Infinity",
    "NaN",
    "tru",
    "null",
    '\\"',
    "\\u00e9",
    "\x01",
    "é",
]
VALUES = st.recursive(
    st.none() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_the_first_object_is_that_of_the_first_brace_that_begins_one(text):
    assert repr(find_json_object(text)) == repr(first_object(text.strip()))


@given(
    st.dictionaries(st.text(max_size=3), VALUES, max_size=4), st.integers(0, 200), st.sampled_from(["", *'{}[]",:\\'])
)
def test_an_object_is_found_also_where_one_sign_is_lost_or_added(value, place, sign):
    text = json.dumps(value)
    place %= len(text)
    for changed in (text, f"so: {text}.", text[:place] + sign + text[place:], text[:place] + text[place + 1 :]):
        assert repr(find_json_object(changed)) == repr(first_object(changed.strip()))


def test_objects_without_end_are_none():
    assert find_json_object('{"a":' * 2000) is None
    assert find_json_object('{"a":' * 400 + "{}" + "}" * 400) == json.loads('{"a":' * 400 + "{}" + "}" * 400)
    assert find_json_object('{"a": ' + "1" * 5000 + '} {"b": 2}') == {"b": 2}, "Python reads no number of 5,000 digits"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("so it is yes", "y"),
        ("so it is not yes", None),
        ("so it is not: “yes”", None),
        ("so not, as you said: yes", "y"),
        ("it isn't\nyes", None),
        ("nothing. yes", "y"),
        ("knot yes", "y"),
        ("it is not entailed", "ne"),
        ("it is never not entailed", None),
        ("well, yes, never no", None),
        ("well, yes or no", None),
        ("well, yes and yes", "y"),
        ("可不\nyes", None),
    ],
)
def test_a_negation_counts_before_a_label_alone(text, label):
    assert match_label(text, WORDS) == label


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("with a (b and with c (d) as (select 1) select 2", "with a (b and with c (d) as (select 1) select 2"),
        ("with a (b) and with c (d) as (values (1)) table", "with c (d) as (values (1)) table"),
        ("with ease (or so), with c as (values (1))", "with c as (values (1))"),
        ("```sql\nselect 1", "select 1"),
        ("```sql\n\n```\nselect 1", None),
        ("````\nselect 1\n````", "select 1"),
        ("with recursive (a) as (values (1))", "with recursive (a) as (values (1))"),
        ("with (a) as (b)", None),
    ],
)
def test_where_a_query_begins(text, query):
    assert find_sql(text) == query


def test_names_that_are_repeated_are_found_in_time():
    def read_object(text):
        with pytest.raises(ValueError, match=r"^rows.jsonl: has the key 'k0' twice in one object"):
            parse_json(text, "rows.jsonl")

    def read_header(text):
        with pytest.raises(ValueError, match=r"names a column twice \('k0', 'k1'\)"):
            list(parse_csv([text], "rows.csv", ","))

    for read, make in (
        (read_object, lambda size: "{" + ", ".join(f'"k{n}": 1' for n in (*range(size), 1, 0)) + "}"),
        (read_header, lambda size: ",".join(f"k{n}" for n in (*range(size), 1, 0)) + "\n"),
    ):
        took = [measure(read, make(size)) for size in (20_000, 80_000)]
        assert took[1] < 4 * 2 * max(took[0], 0.02), took


@pytest.mark.parametrize(
    ("text", "label"),
    [("entailed_", None), ("entailed_not: sure", None), ("entailed.", "yes"), ("entailed: sure", "yes")],
)
def test_an_underscore_is_no_end_of_a_word(text, label):
    assert match_label(text, {"entailed": "yes", "neutral": "no"}) == label


def test_a_similarity_is_at_most_100():
    answer = SimilarityAnswer()
    assert [answer.parse(raw, {}) for raw in ("850", 850, "100", 99.5, -3, True)] == [
        None,
        None,
        100.0,
        99.5,
        None,
        None,
    ]
