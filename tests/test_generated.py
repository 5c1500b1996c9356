"""What is generated is fresh."""

from __future__ import annotations

from pathlib import Path

from lapsus.generated import texts

ROOT = Path(__file__).parents[1]


def test_generated_texts_are_fresh():
    stale = [path for path, text in texts(ROOT).items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run `make cards`"
