"""Files that nest deep, which end a reader that recurses: they are refused in one sentence, and no process dies."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from lapsus.io import tables
from lapsus.io.readers import FileFormatError
from lapsus.io.tables import measure_depth, read_table


@pytest.mark.parametrize("depth", [1_500, 10_000, 60_000])
@pytest.mark.parametrize(
    "line",
    [
        '{"id": "1", "p": OPENCLOSE}',
        '{"id": "1", "s": "]]]]\\\\\\"}}", "p": OPENCLOSE}',
        '{"id": "1", "p": OPEN"x"CLOSE}\r',
        '{"id": "0"}\n{"id": "1",\n"p":\nOPENCLOSE\n}',
    ],
)
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("[\n", "]"), ('{"a":[', "]}")])
def test_a_deep_line_is_refused_and_ends_no_process(tmp_path, depth, line, opening, closing):
    path = tmp_path / "p.jsonl"
    path.write_text(line.replace("OPEN", opening * depth).replace("CLOSE", closing * depth) + "\n", newline="")
    program = (
        "import sys; from pathlib import Path; from lapsus.io.tables import _count_shallow_lines, read_table\n"
        "if _count_shallow_lines(Path(sys.argv[1])) is not None: sys.exit('goes to Arrow')"
    )
    if depth == 10_000:  # as a user meets it
        program += "\ntry: read_table(sys.argv[1])\nexcept ValueError as error: print(error)"
    ran = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    if depth == 10_000:
        assert ran.stdout.startswith(f"{path}, line ")


@pytest.mark.parametrize("block", [1, 2, 3, 7, 50, 1 << 20])
@pytest.mark.parametrize("end", ["", "\n"])
def test_lines_are_counted_in_blocks_of_any_size(tmp_path, monkeypatch, block, end):
    monkeypatch.setattr(tables, "SPAN", 20)
    monkeypatch.setattr(tables, "MAX_DEPTH", 10)
    path = tmp_path / "p.jsonl"
    rows = [{"id": str(n), "text": "é" * (n % 30), "edits": [{"start": 1}] * (n % 20)} for n in range(50)]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + end, encoding="utf-8")
    monkeypatch.setattr(tables, "BLOCK", block)
    assert tables._count_shallow_lines(path) == 50
    for place in (0, 20, 49):
        deep = [*lines[:place], '{"text": "]]]]]]]]]]", "p": ' + "[" * 10 + "]" * 10 + "}", *lines[place + 1 :]]
        path.write_text("\n".join(deep) + end, encoding="utf-8")
        assert tables._count_shallow_lines(path) is None


def test_short_lines_go_to_arrow(tmp_path, monkeypatch):
    path = tmp_path / "p.jsonl"
    path.write_text('\ufeff{"id": "a"}\r\n{"id": "b"}\r\n', encoding="utf-8", newline="")
    assert tables._count_shallow_lines(path) == 2
    path.write_text('{"id": "a"}\n' * 1_000)
    monkeypatch.setattr("lapsus.io.readers.read_rows", lambda _: pytest.fail("Python reads it"))
    assert read_table(path).length == 1_000


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("[]", 1),
        ('{"a": [1, [2]], "b": {}}', 3),
        ('["[[[", []]', 2),
        (r'["\"[[", [[]]]', 3),
        (r'["\\", [[]]]', 3),
        ('["[[[', 1),
        ("]]][", 0),
    ],
)
def test_brackets_within_strings_are_not_depth(text, depth):
    assert measure_depth(text.encode()) == max(depth, 0)


def test_a_deep_cell_of_a_table_stays_text(tmp_path):
    path = tmp_path / "p.csv"
    cell = "[" * 5_000 + "]" * 5_000
    path.write_text(f"id,p\n1,{cell}\n")
    assert read_table(path).to_rows() == [{"id": "1", "p": cell}]


def test_a_deep_document_is_one_sentence(tmp_path):
    path = tmp_path / "p.json"
    path.write_text("[" * 60_000 + "]" * 60_000)
    with pytest.raises(FileFormatError, match=r"p\.json: is nested too deeply"):
        read_table(path)
