"""Rows are read in one way, whatever the format, and what is broken is named by file, line and column."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.io import tables
from lapsus.io.readers import (
    FileFormatError,
    decode_lines,
    parse_csv,
    parse_json,
    parse_json_lines,
    read_json,
    read_rows,
)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"a": 1,\n}', "p.json, line 2, column 1: has a comma before the closing }; mend the file"),
        ("[1, [2 , ]]", "p.json, line 1, column 10: has a comma before the closing ]; mend the file"),
        ('["a", "b"', "p.json, line 1, column 10: Expecting ',' delimiter; mend the file"),
        ('[1, "]"', "p.json, line 1, column 8: Expecting ',' delimiter; mend the file"),
        ('{"a": [1,}', "p.json, line 1, column 10: Expecting value; mend the file"),
        ('[{"a": 1}, {"b": {"c": 1, "c": 1}}]', "p.json: has the key 'c' twice in one object; mend the file"),
        ("[" * 10**5, "p.json: is nested too deeply; mend the file"),
        ("1" * 5000, "p.json: Exceeds the limit (4300 digits) for integer string conversion: value has 5000 digits"),
    ],
)
def test_broken_json_is_named_in_the_same_words_on_every_python(text, sentence):
    with pytest.raises(FileFormatError) as caught:
        parse_json(text, "p.json")
    assert str(caught.value).startswith(sentence)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=8))
def test_whole_json_is_what_json_says(value):
    rows = [{"id": 1, "value": value}]
    assert parse_json(json.dumps(rows), "p.json") == rows
    assert list(parse_json_lines([json.dumps(rows[0]).encode()], "p.jsonl")) == rows


def test_a_chunk_of_a_file_names_the_lines_of_the_file():
    with pytest.raises(FileFormatError, match=r"^p\.jsonl, line 12, column 7: Expecting value; every line is one JSON"):
        list(parse_json_lines([b'{"a": 1}\n', b'{"a": \n'], "p.jsonl", first=11))
    with pytest.raises(FileFormatError, match=r"^p\.jsonl, line 11: is not UTF-8 \(byte 2\); save the file as UTF-8$"):
        list(decode_lines([b"a\xff"], "p.jsonl", first=11))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_table_may_end_its_lines_in_any_way(tmp_path, end):
    path = tmp_path / "p.csv"
    path.write_bytes(f'\ufeffid,text{end}1,"a{end}b"{end},{end}{end},,{end}2,c'.encode())
    assert read_rows(path) == [{"id": "1", "text": f"a{end}b"}, {"id": "", "text": None}, {"id": "2", "text": "c"}]


def test_a_table_names_the_line_that_is_short():
    with pytest.raises(FileFormatError, match=r"^p\.csv, line 4: has 1 cells where the header names 2; quote cells"):
        list(parse_csv(["a,b\n", '1,"x\n', 'y"\n', "2\n"], "p.csv", ","))


@pytest.mark.parametrize("quote", ["", '"'])
def test_semicolons_separate_where_the_header_has_them_and_no_comma(tmp_path, quote):
    path = tmp_path / "p.csv"
    path.write_text(f"\ufeffid;text;score\n007;{quote}well, then{quote};1\n", encoding="utf-8")
    assert read_rows(path) == [{"id": "007", "text": "well, then", "score": 1}]
    assert list(tables.read_table(path).columns) == ["id", "text", "score"]
    path.write_text("a;b,c\n1;2,3\n", encoding="utf-8")
    assert read_rows(path) == [{"a;b": "1;2", "c": 3}]


def test_a_json_file_may_hold_one_object_per_line_but_not_after_a_list(tmp_path):
    path = tmp_path / "p.json"
    path.write_text('{"a": 1}\n{"a": 2}\n')
    assert read_json(path) == read_rows(path) == [{"a": 1}, {"a": 2}]
    path.write_text('[{"a": 1}]\n{"a": 2}\n')
    with pytest.raises(FileFormatError, match=r"p\.json, line 2, column 1: Extra data; mend the file"):
        read_rows(path)
    path.write_text("[1]")
    with pytest.raises(FileFormatError, match="holds no list of objects; give rows, each a JSON object"):
        read_rows(path)
