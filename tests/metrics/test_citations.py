"""A paper is cited the same way wherever it is cited, and with what a reader needs to find it."""

from __future__ import annotations

import re

import pytest
from paths import ROOT

from lapsus.dataset_scripts import benchmarks
from lapsus.hub.dataset_card import render_prose
from lapsus.metrics import citations

ENTRY = re.compile(r"^@(\w+)\{([\w-]+),\n(.*?)^\}", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^\s*(\w+)\s*=\s*(?:\{(.*?)\}|\"(.*?)\"),?$", re.MULTILINE | re.DOTALL)
BRACES = re.compile(r"[{}]")


def entries(text):
    """Yield the fields of each BibTeX entry; spaces and braces do not count."""
    for _, key, body in ENTRY.findall(text):
        fields = {name: braced or quoted for name, braced, quoted in FIELD.findall(body)}
        yield {"key": key} | {name: " ".join(BRACES.sub("", value).split()) for name, value in fields.items()}


TEXTS = {name: render_prose(benchmark) for name, benchmark in benchmarks().items()} | {
    f"citations.{name}": value for name, value in vars(citations).items() if name.isupper()
}


@pytest.mark.parametrize("name", TEXTS)
def test_an_entry_says_who_what_where_and_when(name):
    for entry in entries(TEXTS[name]):
        assert {"title", "author", "year"} <= entry.keys(), entry["key"]
        assert {"booktitle", "journal", "publisher", "eprint", "howpublished"} & entry.keys(), entry["key"]
        assert re.fullmatch(r"(19|20)\d\d", entry["year"]), entry["key"]
        assert re.fullmatch(r"\d+--\d+", entry.get("pages", "1--2")), entry["key"]


def test_a_paper_is_cited_the_same_way_everywhere():
    seen: dict[str, dict[str, str]] = {}
    for entry in (entry for text in TEXTS.values() for entry in entries(text)):
        facts = {name: entry.get(name, "") for name in ("author", "year", "pages")}
        assert seen.setdefault(entry["title"].lower(), facts) == facts, entry["key"]
    assert len(seen) >= 25


def test_the_note_on_citations_names_every_paper():
    note = (ROOT / "docs" / "citations.md").read_text(encoding="utf-8")
    missing = {entry["key"] for text in TEXTS.values() for entry in entries(text) if entry["title"] not in note}
    assert missing == set()
