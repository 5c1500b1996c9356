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
TIME = re.compile(
    r"(?i)\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:today|tonight|tomorrow|yesterday|later|soon|daily"
    r"|weekends?|mornings?|afternoons?|evenings?|night|noon|midnight|midday|weeks?|months?|years?|hours?|minutes?"
    r"|seconds?"
    r"|days?|january|february|march|april|june|july|august|september|october|november|december"
    r"|o['’]?\s?clock|\d+\s?(?:am|pm)"
    r""
    r"|a\.?m\.?|p\.?m\.?|\d{1,2}:\d\d|(?:19|20)\d\d|next|after|before|until|till|when|every|now|right away|christmas"
    r"|thanksgiving|easter|halloween|(?:on|by) the \w+(?:st|nd|rd|th)"
    r"|\w+teenth|alarm|remind(?:er)?|schedule|summer|winter"
    r"|spring|autumn|fall|dawn|dusk|sun(?:rise|set)|lunch|dinner|breakfast|immediately|currently|forecast|at \d+)\b"
)
NOW = re.compile(r"\b(?:now|right away|this minute)\b")
CALL = re.compile(r"\?$|\bif you can\b")
"""Fillers that ask somebody to do something."""
PLEASE = re.compile(r"(?i)\bplease\b|\bkindly\b")


def fits_clause(filler: str, text: str) -> bool:
    """Tell whether a closing filler can stand behind a clause.

    >>> [fits_clause(filler, "what is the fare") for filler in ("please", "right away", "would you ?")]
    [True, False, False]
    >>> [fits_clause(filler, "wake me on friday") for filler in ("please", "right now", "will you ?")]
    [True, False, True]
    """
    clause = clause_of(text)
    calls = CALL.search(filler) is not None
    if (clause.begs and PLEASE.search(filler)) or (clause.timed and NOW.search(filler)):
        return False
    if clause.kind == "question":
        return not calls and not NOW.search(filler)
    if clause.kind == "wish":
        return not calls or filler == "if you can"
    return clause.kind == "order" or (clause.kind != "statement" and not calls)


class Clause(NamedTuple):
    """What a text is, and whether it says please or names a time."""

    kind: Literal["asked", "question", "wish", "statement", "order", "other"]
    begs: bool
    timed: bool


@lru_cache(maxsize=64)
def clause_of(text: str) -> Clause:
    """Return what a closing filler must fit; all fillers are asked about one text after another."""
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
    return Clause(kind, PLEASE.search(text) is not None, TIME.search(text) is not None)
