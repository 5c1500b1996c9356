"""Which closing fillers a clause admits: no request after a question, none that contradicts a date."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from lapsus.perturbations.en.spoken import opening

QUESTION = re.compile(
    r"(?i)\W*(?:(?:and|so|ok|okay|well|now|hey|hi|please|also)\W+)*"
    r"(?:(?:on|in|at|to|for|from|about|by|of|with)\s+(?=wh|how))?"
    r"(?:who|what|when|where|which|why|whose|whom|how|is|are|am|was|were|do|does|did|has|have|had|should|shall|may|might"
    r"|will(?!\s+you)|must|any(?=\s+\w+\s+\w+\?))(?:['’]?(?:s|re|d|ll)|n['’]?t)?(?!\w)"
)
ASKED = re.compile(r"(?i)\W*(?:\w+\W+){0,2}?(?:can|could|would|will)\s+(?:you|u|we|i)\b")
WISH = re.compile(
    r"(?i)\b(?:i|we)\s*(?:['’]?\s*d|would|wanna|want|need|must|have\s+to|gotta)\b|\b(?:let['’ ]?s|let me|i am looking"
    r"|i['’ ]?m looking)\b"
)
STATEMENT = re.compile(r"(?i)\W*(?:i|he|she|it|they|we|there|this|that|these|those|my|our|you)\b")
TIME_WORDS = (
    "today tonight tomorrow yesterday later soon daily weekend weekends morning mornings afternoon afternoons evening"
    " evenings night noon midnight midday week weeks month months year years hour hours minute minutes second seconds"
    " day days monday mondays tuesday tuesdays wednesday wednesdays thursday thursdays friday fridays saturday"
    " saturdays sunday sundays january february march april june july august september october november december am"
    " pm next after before until till when every now christmas thanksgiving easter halloween alarm remind reminder"
    " schedule summer winter spring autumn fall dawn dusk sunrise sunset lunch dinner breakfast immediately currently"
    " forecast"
)
TIMES = frozenset(TIME_WORDS.split())
TIME = re.compile(
    r"(?i)\b(?:o['’]?\s?clock|a\.m\.?|p\.m\.?|am\.|pm\.|right away|(?:on|by) the \w+(?:st|nd|rd|th)|\w+teenth"
    r"|\d+\s?(?:am|pm)|\d{1,2}:\d\d|(?:19|20)\d\d|at \d+)\b"
)
WORD = re.compile(r"\w+")
NOW = re.compile(r"\b(?:now|right away|this minute)\b")
CALL = re.compile(r"\?$|\bif you can\b")
"""Fillers that ask somebody to do something."""
PLEASE = re.compile(r"(?i)\bplease\b|\bkindly\b")


class Clause(NamedTuple):
    """What a text is, and whether it says please or names a time."""

    kind: Literal["asked", "question", "wish", "statement", "order", "other"]
    begs: bool
    timed: bool


@lru_cache(maxsize=256)
def fitting(fillers: tuple[str, ...], clause: Clause) -> tuple[str, ...]:
    """Return the closing fillers that can stand behind a clause.

    >>> fitting(("please", "right away", "would you ?"), clause_of("what is the fare"))
    ('please',)
    >>> fitting(("please", "right now", "will you ?"), clause_of("wake me on friday"))
    ('please', 'will you ?')
    """
    return tuple(filler for filler in fillers if _fits(filler, clause))


def _fits(filler: str, clause: Clause) -> bool:
    calls = CALL.search(filler) is not None
    if (clause.begs and PLEASE.search(filler)) or (clause.timed and NOW.search(filler)):
        return False
    if clause.kind == "question":
        return not calls and not NOW.search(filler)
    if clause.kind == "wish":
        return not calls or filler == "if you can"
    return clause.kind == "order" or (clause.kind != "statement" and not calls)


def clause_of(text: str) -> Clause:
    """Return what a closing filler must fit."""
    kind: Literal["asked", "question", "wish", "statement", "order", "other"]
    if ASKED.match(text):
        kind = "asked"
    elif QUESTION.match(text) or text.rstrip().endswith("?"):
        kind = "question"
    elif WISH.search(text):
        kind = "wish"
    elif STATEMENT.match(text):
        kind = "statement"
    else:
        kind = "other" if opening(text.split()) is None else "order"
    return Clause(kind, PLEASE.search(text) is not None, _is_timed(text))


def _is_timed(text: str) -> bool:
    return not TIMES.isdisjoint(WORD.findall(text.lower())) or TIME.search(text) is not None
