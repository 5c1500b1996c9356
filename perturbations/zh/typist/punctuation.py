"""How marks, digits, blanks and Latin words are typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lapsus.perturbations.zh.typist.keys import BESIDE

if TYPE_CHECKING:
    from lapsus.perturbations.zh.typist.habits import Typist
    from lapsus.perturbations.zh.typist.keys import Draw

WIDE = {",": "，", "(": "（", ")": "）", ":": "：", "?": "？", "!": "！", ";": "；"}
WIDENED = 0.75  # of marks of half width
BRACKETS = "《》·"  # left out with the quotation marks
SWAPPED = {"“": "”", "”": "“", "‘": "“", "’": "”"}
OTHER = {  # how often another mark is typed, beside ·; and which
    "、": (0.25, "，，，，，，，，。"),
    "；": (0.5, "，，：，"),
    "。": (0.2, "，，、"),
    "，": (0.01, "。、"),
    "：": (0.2, "；，"),
    "·": (1.0, ".."),
}


def retyped_mark(run: str, typist: Typist, draw: Draw, quoting: float, *, last: bool) -> str:  # noqa: PLR0911 - one line per kind of mark
    """Return what is typed for a mark or a Latin word; `quoting` decides for all quotation marks of a text."""
    dropped, changed, blank, comma = typist.marks
    if run.isalpha() and run.isascii():
        return _latin(run, typist, draw)
    if run.isalpha() or run in "\r\n":
        return run
    if run in SWAPPED:
        swapped, left = typist.quotes
        return "" if quoting < left else SWAPPED[run] if quoting < left + swapped else run
    if run in BRACKETS and quoting < typist.quotes[1]:
        return ""
    chance = draw()
    if run in WIDE:
        return WIDE[run] if chance < WIDENED else run
    if run.isspace():
        return "" if chance < blank else "，" if chance < blank + comma else run
    if run.isdecimal():
        return "" if chance < dropped else run
    if last:
        return "" if chance < typist.close else run
    if chance < dropped:
        return ""
    share, others = OTHER.get(run, (0.0, ""))
    return others[int(draw() * len(others))] if chance - dropped < changed * share else run


def _latin(run: str, typist: Typist, draw: Draw) -> str:
    if draw() >= 1 - (1 - typist.slip) ** len(run):
        return run
    at = int(draw() * len(run))
    return run[:at] + ("" if draw() < 0.6 else BESIDE[run[at].lower()][0]) + run[at + 1 :]
