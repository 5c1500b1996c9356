"""How marks, digits, blanks and Latin words are typed."""

from __future__ import annotations

import re
from bisect import bisect
from typing import TYPE_CHECKING, NamedTuple

from lapsus.perturbations.zh.typist.keys import NEIGHBOURS

if TYPE_CHECKING:
    from lapsus.perturbations.zh.typist.habits import Typist
    from lapsus.perturbations.zh.typist.keys import Draw

WIDE = {",": "，", "(": "（", ")": "）", ":": "：", "?": "？", "!": "！", ";": "；"}
WIDENED = 0.75  # of marks of half width in a text that has others of full width
FULL_WIDTH = re.compile("[，。（）：？！；、“”]")
HALF_AND_FULL = str.maketrans("0123456789%％", "０１２３４５６７８９％%")
PERCENT = 0.06  # of a percent sign of the other width
DIGITS, NUMERALS = "1234567890", "一二三四五六七八九零"
NUMBERS = DIGITS + "%％"
DIGIT_SLIPS = (0.4, 0.75, 0.95)  # shares of slips, added up: the key beside, the same key again, a key missed; numerals
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


class Style(NamedTuple):
    """How the marks of one text are typed: a draw for all its quotation marks, and which marks have full width."""

    quoting: float
    widened: bool  # those that have half width in the text
    wide_digits: bool  # as an input method types them that was switched to full width


def has_wide_marks(text: str) -> bool:
    """Return whether a text has marks of full width; another keeps its own style."""
    return FULL_WIDTH.search(text) is not None


def retype_mark(run: str, typist: Typist, draw: Draw, style: Style, *, last: bool) -> str:  # noqa: PLR0911 - one line per kind of mark
    """Return what is typed for a mark, a digit or a Latin word."""
    quoting = style.quoting
    dropped, changed, blank, comma = typist.marks
    if run.isalpha() and run.isascii():
        return _type_latin(run, typist, draw)
    if run.isalpha() or run in "\r\n":
        return run
    if run in SWAPPED:
        swapped, left = typist.quotes
        return "" if quoting < left else SWAPPED[run] if quoting < left + swapped else run
    if run in BRACKETS and quoting < typist.quotes[1]:
        return ""
    chance = draw()
    if run in WIDE:
        return WIDE[run] if style.widened and chance < WIDENED else run
    if run.isspace():
        return "" if chance < blank else "，" if chance < blank + comma else run
    if run in NUMBERS or run.isdecimal():
        return _number(run, chance, typist, draw, style) if run in NUMBERS else run
    if last:
        return "" if chance < typist.close else run
    if chance < dropped:
        return ""
    share, marks = OTHER.get(run, (0.0, ""))
    return marks[int(draw() * len(marks))] if chance - dropped < changed * share else run


def _number(run: str, chance: float, typist: Typist, draw: Draw, style: Style) -> str:
    """Return what is typed for a digit or a percent sign."""
    if run in DIGITS:
        typed = _slip_digit(run, draw) if chance < typist.digit else run
        return typed.translate(HALF_AND_FULL) if style.wide_digits else typed
    return run.translate(HALF_AND_FULL) if chance < PERCENT or (style.wide_digits and run == "%") else run


def _slip_digit(digit: str, draw: Draw) -> str:
    """Return what is typed for a digit when a finger slips."""
    kind, at = bisect(DIGIT_SLIPS, draw()), DIGITS.index(digit)
    if kind == 0:
        neighbours = DIGITS[max(at - 1, 0) : at] + DIGITS[at + 1 : at + 2]
        return neighbours[int(draw() * len(neighbours))]
    return (2 * digit, "", NUMERALS[at])[kind - 1]


def _type_latin(run: str, typist: Typist, draw: Draw) -> str:
    if draw() >= 1 - (1 - typist.slip) ** len(run):
        return run
    at = int(draw() * len(run))
    return run[:at] + ("" if draw() < 0.6 else NEIGHBOURS[run[at].lower()][0]) + run[at + 1 :]
