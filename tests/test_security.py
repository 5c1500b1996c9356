"""SECURITY.md tells the truth: its tests are there, and its numbers are those of the code."""

from __future__ import annotations

import re
from importlib import import_module

import pytest
from paths import ROOT

TABLE = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in (ROOT / "SECURITY.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ")
][2:]


def spellings(number: float) -> set[str]:
    """Return the ways in which a limit may be written."""
    number = int(number)
    written = {f"{number:,}"}
    for power, unit in ((20, "MiB"), (30, "GiB")):
        if number % (1 << power) == 0:
            written.add(f"{number >> power:,} {unit}")
    return written


def test_the_table_has_every_kind_of_input():
    assert len(TABLE) > 15 and all(len(cells) == 4 and cells[0] and cells[1] for cells in TABLE)
    text = " ".join(cells[0] for cells in TABLE)
    for word in ("archives", "predictions", "edits", "SQL", "reply", "redirect", "address", "Space", "page", "CSV"):
        assert word in text


@pytest.mark.parametrize("cells", TABLE, ids=lambda cells: cells[0][:30])
def test_a_limit_is_that_of_the_code_and_its_test_is_there(cells):
    _, limit, constants, test = cells
    for module, name in re.findall(r"`([\w.]+):(\w+)`", constants):
        written = spellings(getattr(import_module(module), name))
        assert any(re.search(rf"(?<![\d,]){re.escape(each)}(?![\d,]*\d)", limit) for each in written), (name, written)
    path, name = re.fullmatch(r"`(tests/[\w/.]+)::(test_\w+)`", test).groups()
    assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8")
