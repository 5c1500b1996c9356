"""What is generated is fresh."""

from __future__ import annotations

from pathlib import Path

from lapsus.commands.catalogue import catalogue
from lapsus.commands.generated import texts

ROOT = Path(__file__).parents[1]


def test_generated_texts_are_fresh():
    stale = [path for path, text in texts(ROOT).items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run `make cards`"


def test_the_catalogue_names_the_extras_that_a_unit_needs():
    units = {unit["name"]: unit["needs"] for kind in catalogue().values() for unit in kind}
    assert units["dialect-zh"] == "a download; lapsus[zh]"
    assert units["nature-atis"].endswith("; lapsus[en,models,augment]")
    assert units["semantic_insert_zh"] == "lapsus[zh]"
    assert units["dialect-en"] == units["dialect-en-demszky"].partition("; ")[2] == units["semantic_insert_pt"] == ""
