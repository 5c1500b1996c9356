"""Merge a card that others edited on the Hub with a newly generated one: what they added stays.

Three texts are compared: the card as lapsus last generated it (`base`), as it is generated now (`ours`), and as it is
on the Hub (`theirs`). Without a base, all that the Hub has beyond ours counts as added.

>>> merge_lines(["a", "b", "c"], ["a", "B", "c"], ["a", "b", "own words", "c"])
['a', 'B', 'own words', 'c']
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

import yaml

FRONT_MATTER = re.compile(r"---\n(?P<data>.*?)\n---\n(?P<body>.*)", re.DOTALL)
GENERATED = {"version", "lapsus", "size_categories"}  # keys that are lapsus's own
NAME = "config_name"  # of the entries of `configs` and `dataset_info`


def merge_cards(base: str | None, ours: str, theirs: str) -> str:
    """Return our card with what others changed in theirs."""
    if theirs in (base, ours):
        return ours
    base_data, base_body = split_card(base or "")
    our_data, our_body = split_card(ours)
    their_data, their_body = split_card(theirs)
    data = merge_data(base_data, our_data, their_data)
    body = merge_lines(base_body.splitlines(), our_body.splitlines(), their_body.splitlines())
    front = ours.partition("---\n")[2].partition("\n---\n")[0] if data == our_data else _dump(data)
    return f"---\n{front}\n---\n" + "\n".join(body).rstrip() + "\n"


def split_card(text: str) -> tuple[dict[str, Any], str]:
    r"""Return the YAML of a card, and its prose.

    >>> split_card("---\nlicense: mit\n---\n# Mine\n")
    ({'license': 'mit'}, '# Mine\n')
    """
    match = FRONT_MATTER.fullmatch(text.replace("\r\n", "\n"))
    if match is None:
        return {}, text
    try:
        data = yaml.safe_load(match["data"])
    except yaml.YAMLError:
        data = None
    return (data, match["body"]) if isinstance(data, dict) else ({}, match["body"])


def _dump(data: dict[str, Any]) -> str:
    text: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, line_break="\n", width=10**6)
    return text.strip()


def merge_data(base: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    """Return our keys with those that others added or changed; lists gain what others added.

    >>> merge_data({"a": 1, "b": 1}, {"a": 1, "b": 2}, {"a": 3, "b": 1, "extra_gated_prompt": "Ask."})
    {'a': 3, 'b': 2, 'extra_gated_prompt': 'Ask.'}
    """
    merged = {}
    for key in dict.fromkeys((*ours, *theirs)):
        if key not in theirs:
            if key in base and base[key] == ours[key] and key not in GENERATED:
                continue  # others removed it
            merged[key] = ours[key]
        elif key not in ours:
            if key not in base:
                merged[key] = theirs[key]
        elif key in GENERATED or theirs[key] in (base.get(key), ours[key]):
            merged[key] = ours[key]
        elif isinstance(entries := _list_entries(ours[key]), list) and isinstance(_list_entries(theirs[key]), list):
            merged[key] = _merge_entries(_list_entries(base.get(key)) or [], entries, _list_entries(theirs[key]) or [])
        else:
            merged[key] = theirs[key] if base.get(key) in (ours[key], None) and base else ours[key]
    return merged


def _list_entries(value: Any) -> list[Any] | None:
    """Return a list; a single entry about a config is a list of one."""
    return [value] if isinstance(value, dict) and NAME in value else value if isinstance(value, list) else None


def _merge_entries(base: list[Any], ours: list[Any], theirs: list[Any]) -> list[Any]:
    """Return our entries, and those that others added; entries about configs are known by their names."""

    def name(entry: Any) -> Any:
        return entry.get(NAME, "default") if isinstance(entry, dict) else entry

    known = [name(entry) for entry in (*base, *ours)]
    added = [entry for entry in theirs if name(entry) not in known]
    has_default = any(isinstance(entry, dict) and entry.get("default") for entry in ours)
    if has_default:  # one config is the default: ours
        added = [
            {k: v for k, v in each.items() if k != "default"} if isinstance(each, dict) else each for each in added
        ]
    return ours + added


def merge_lines(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """Return our lines with the changes that others made; where both changed the same lines, both stay.

    Rows of generated tables are ours.
    """
    merged: list[str] = []
    for old, our, their in _iter_regions(base, ours, theirs):
        if their in (old, our):
            merged += our
        elif our == old:
            merged += their
        else:
            known = {*old, *our}
            merged += [*our, *(line for line in their if line not in known and not line.startswith("|"))]
    return merged


def _iter_regions(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]
) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """Yield stretches of the three texts that belong together; stretches that are equal in all three lie between."""
    our_places, their_places = _match_lines(base, ours), _match_lines(base, theirs)
    anchors = [place for place in range(len(base)) if place in our_places and place in their_places]
    last = (0, 0, 0)
    for place in (*anchors, None):
        ends = (len(base), len(ours), len(theirs)) if place is None else (place, our_places[place], their_places[place])
        old, our, their = (
            list(text[start:end]) for text, start, end in zip((base, ours, theirs), last, ends, strict=True)
        )
        if old or our or their:
            yield old, our, their
        if place is not None:
            yield [base[place]], [base[place]], [base[place]]
            last = (ends[0] + 1, ends[1] + 1, ends[2] + 1)


def _match_lines(base: Sequence[str], other: Sequence[str]) -> dict[int, int]:
    """Return the lines of base that another text has too, with their places there."""
    blocks = SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()
    return {block.a + step: block.b + step for block in blocks for step in range(block.size)}
