"""Columns of files are the rows of files: Arrow reads what Python reads, or is not used."""

from __future__ import annotations

import json
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lapsus.core.text import to_label
from lapsus.io import readers
from lapsus.io import tables as frames
from lapsus.io.encoding import encode_column, hash_column, hash_texts
from lapsus.io.tables import Table
from lapsus.reporting.score_table import score_track
from lapsus.reporting.tracks import read_tracks

TEXT = st.text(st.characters(codec="utf-8"), max_size=4) | st.sampled_from(
    ["2020-01-01", "1", "007", "", "NaN", "12:30:00"]
)
NUMBER = st.integers(-5, 5) | st.sampled_from([2**53 + 1, 2**63, 10**30, 0.1, 1.0, -0.0, 1e22])
VALUE = TEXT | NUMBER | st.booleans() | st.none() | st.lists(st.integers(0, 3), max_size=2) | st.lists(TEXT, max_size=2)
VALUE |= st.dictionaries(st.sampled_from("xy"), st.integers(0, 2), max_size=2)
COLUMN = st.sampled_from([TEXT, NUMBER, VALUE, st.booleans(), st.integers(0, 1), st.lists(TEXT, max_size=2)])


@st.composite
def tables(draw):
    kinds = {name: draw(COLUMN) for name in draw(st.sets(st.sampled_from("abc"), min_size=1))}
    number = draw(st.integers(1, 5))
    return [
        {name: draw(kind) for name, kind in kinds.items() if draw(st.integers(0, 9))} | {"id": str(row)}
        for row in range(number)
    ]


def same(found, wanted):
    """Rows are alike if they say the same; a number may be written as 1 or 1.0, a missing one be None."""
    names = {name for row in (*found, *wanted) for name in row}
    return [{n: json.dumps(_plain(row.get(n)), sort_keys=True) for n in names} for row in found] == [
        {n: json.dumps(_plain(row.get(n)), sort_keys=True) for n in names} for row in wanted
    ]


def _plain(value):
    return to_label(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


@settings(max_examples=150, deadline=None)
@given(tables())
def test_json_lines_by_columns_are_those_by_rows(tmp_path_factory, table):
    path = tmp_path_factory.mktemp("f") / "p.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in table), encoding="utf-8")
    assert same(frames.read_table(path).to_rows(), readers.read_rows(path))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(TEXT.filter(lambda t: t.isprintable()), min_size=2, max_size=2), min_size=1, max_size=5))
def test_tables_by_columns_are_those_by_rows(tmp_path_factory, table):
    import csv

    path = tmp_path_factory.mktemp("f") / "p.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([["id", "a", "b"], *([str(n), *row] for n, row in enumerate(table))])
    assert same(frames.read_table(path).to_rows(), readers.read_rows(path))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"a": 1, "a": 2}\n', "has the key 'a' twice"),
        ('{"a": 1} {"a": 2}\n', "Extra data"),
        ('{"a":\n1}\n', "Expecting value"),
        ('{"a": 1}\n[1]\n', r"holds '\[1\]'"),
    ],
)
def test_what_python_refuses_is_refused(tmp_path, text, what):
    path = tmp_path / "p.jsonl"
    path.write_text(text)
    with pytest.raises(readers.FileFormatError, match=what):
        frames.read_table(path)
    path.write_bytes(b'{"a": "\xff"}\n')
    with pytest.raises(readers.FileFormatError, match="is not UTF-8"):
        frames.read_table(path)


def test_plain_files_are_read_by_arrow(tmp_path):
    """Else a million rows would be slow, without a word."""
    (tmp_path / "p.jsonl").write_text('{"id": 1, "said": "a", "edits": [{"start": 0}], "texts": ["x"]}\n' * 3)
    (tmp_path / "p.csv").write_text("id,said,score\n1,a,0.5\n2,,1\n")
    for path in tmp_path.iterdir():
        assert not any(isinstance(column, list) for column in frames.read_table(path).columns.values())


def test_answers_have_the_same_hash_in_every_column():
    one, other = hash_column(encode_column(["b", None, 1, "b"])), hash_column(encode_column(["1", "a", "b"]))
    assert one.codes[0] == one.codes[3] == other.codes[2] and one.codes[2] == other.codes[0]
    assert one.codes[1] == 0 and one.all_known and one.count_values() == {"b": 2, "1": 1}
    many = hash_column(encode_column([str(n % 300) for n in range(1000)]))
    assert len(many.words) == 100 and not many.all_known and many.distinct == 300
    assert hash_texts(["\ud800", "a"])[1] == hash_texts(["a"])[0]


def random_track(draw, size):
    golds = [draw.choice(["yes", "no", "may be"]) for _ in range(size)]
    return [
        {"id": str(n), "prediction": gold if draw.random() < 0.8 else "no", "gold": gold, "text": f"text {n % 7}"}
        for n, gold in enumerate(golds)
    ]


def test_rows_that_are_not_kept_are_read_again(tmp_path, monkeypatch):
    from lapsus.reporting import tracks as module

    draw = Random(2)
    for name in ("clean", "typing.1"):
        made = random_track(draw, 50)
        (tmp_path / f"m.{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
    files = sorted(tmp_path.glob("*.jsonl"))
    kept = read_tracks(files)
    monkeypatch.setattr(module, "MAX_KEPT_BYTES", 0)
    again = read_tracks(files)
    for one, other in zip(kept, again, strict=True):
        assert list(one.rows) == list(other.rows) and one.rows[3] == other.rows[3] == next(iter(other.rows[3:4]))
        assert np.array_equal(score_track(one).scores, score_track(other).scores)
    files[0].unlink()
    assert len(list(kept[0].rows)) == 50
    with pytest.raises(FileNotFoundError):
        list(again[0].rows)


def test_columns_that_tracks_share_are_held_once(tmp_path):
    made = random_track(Random(1), 30)
    for name in ("clean", "typing.1", "typing.2"):
        (tmp_path / f"m.{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
    first, *others = (score_track(track) for track in read_tracks(sorted(tmp_path.glob("*.jsonl"))))
    for other in others:
        assert (
            other.ids is first.ids
            and other.golds.numbers is first.golds.numbers
            and other.text_hashes is first.text_hashes
        )


def test_frames_of_rows_keep_their_rows():
    made = [{"id": "a", "x": [1]}, {"id": "b", "x": None}]
    assert Table.from_rows(made).to_rows() == made
    assert Table.from_rows(made).take([1, 0, -1]).to_rows() == [made[1], made[0], {"id": None, "x": None}]
