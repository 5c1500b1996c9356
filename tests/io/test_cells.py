"""Texts in CSV files are no formulas, and are read back as they were."""

from __future__ import annotations

import csv
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.collect.candidates import Paraphrase
from lapsus.collect.sheets import iter_sheet, write_sheets
from lapsus.io.cells import NUMBER, escape_formula, restore_text
from lapsus.reporting.report import _write_csv


@given(st.text(alphabet=st.sampled_from("'=+-@\t\r\n＝a1.")))
def test_any_text_is_read_back_and_begins_no_formula(text):
    cell = escape_formula(text)
    assert restore_text(cell) == text
    assert NUMBER.fullmatch(cell) or cell[:1] not in set("=+-@\t\r\n＝")


@pytest.mark.parametrize("value", [-1, 1.5, True, None, float("-inf")])
def test_what_is_no_text_stays(value):
    assert escape_formula(value) is value and restore_text(value) is value


def test_the_tables_of_a_report_and_their_titles_hold_no_formula(tmp_path):
    _write_csv(tmp_path / "t.csv", [{"=cmd": "=1+1", "n": -1.5, "names": ("@a", "b")}, {"n": -2}])
    with (tmp_path / "t.csv").open(encoding="utf-8-sig", newline="") as file:
        assert list(csv.reader(file)) == [["'=cmd", "n", "names"], ["'=1+1", "-1.5", "'@a b"], ["", "-2", ""]]


@pytest.mark.parametrize("text", ["=HYPERLINK(A1)", "-5", "'=1", "@x", "+1 a", "plain", "\tx"])
def test_a_sheet_gives_back_its_paraphrases(tmp_path, text):
    write_sheets([Paraphrase(item="i", text=text, paraphrase=text, generator="g", overlap=0.5)], tmp_path)
    with (tmp_path / "sheet.csv").open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert all(cell[:1] not in set("=+-@\t") or NUMBER.fullmatch(cell) for cell in cells)
    (from_csv,), (from_json,) = (list(iter_sheet(tmp_path / f"sheet.{end}")) for end in ("csv", "jsonl"))
    assert from_csv["text"].strip() == from_json["text"].strip() == text.strip()
    assert json.loads((tmp_path / "sheet.jsonl").read_text())["paraphrase"] == text
