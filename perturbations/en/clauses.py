"""Which closing fillers a clause admits: no request after a question, none that contradicts a date."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from lapsus.perturbations.en.spoken import opening


class Phrase(NamedTuple):
    """A pattern, and the words of which a text has at least one wherever it matches: a set of words tells sooner."""

    words: frozenset[str]
    pattern: re.Pattern[str]

    def stands_in(self, text: str, words: list[str] | None) -> bool:
        """Tell whether the pattern matches a text with these words; without them it is searched anyway."""
        return (words is None or not self.words.isdisjoint(words)) and self.pattern.search(text) is not None


MODALS = ("can", "could", "would", "will")
ASKED = Phrase(frozenset(MODALS), re.compile(rf"(?i)\A\W*(?:\w+\W+){{0,2}}?(?:{'|'.join(MODALS)})\s+(?:you|u|we|i)\b"))
ASKING = (
    "who|what|when|where|which|why|whose|whom|how|is|are|am|was|were|do|does|did|has|have|had|should|shall|may|might"
    "|must"
)
QUESTION = Phrase(
    frozenset(
        word + more
        for word in (*ASKING.split("|"), "will", "any")
        for more in ("", "s", "re", "d", "ll", "n", "nt")  # a mark parts is from n't, but may be left out
    ),
    re.compile(
        r"(?i)\A\W*(?:(?:and|so|ok|okay|well|now|hey|hi|please|also)\W+)*"
        r"(?:(?:on|in|at|to|for|from|about|by|of|with)\s+(?=wh|how))?"
        rf"(?:{ASKING}|will(?!\s+you)|any(?=\s+\w+\s+\w+\?))(?:['’]?(?:s|re|d|ll)|n['’]?t)?(?!\w)"
    ),
)
WISHES = ("d", "would", "wanna", "want", "need", "must", "have", "gotta")
WISH = Phrase(
    frozenset({"i", "we", "let", "lets", "im"}) | {who + wish for who in ("i", "we") for wish in WISHES},
    re.compile(
        r"(?i)\b(?:i|we)\s*(?:['’]?\s*d|would|wanna|want|need|must|have\s+to|gotta)\b|\b(?:let['’ ]?s|let me"
        r"|i am looking|i['’ ]?m looking)\b"
    ),
)
STATEMENT = re.compile(r"(?i)\W*(?:i|he|she|it|they|we|there|this|that|these|those|my|our|you)\b")
PLEASE = Phrase(frozenset({"please", "kindly"}), re.compile(r"(?i)\bplease\b|\bkindly\b"))
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
PLAIN = bytes(ord("0" if chr(i).isdigit() else chr(i) if WORD.match(chr(i)) else " ") for i in range(128)).ljust(256)
"""What becomes of ASCII: marks are blanks, any digit is 0."""
NOW = re.compile(r"\b(?:now|right away|this minute)\b")
CALL = re.compile(r"\?$|\bif you can\b")
"""Fillers that ask somebody to do something."""

Kind = Literal["asked", "question", "wish", "statement", "order", "other"]


class Clause(NamedTuple):
    """What a text is, and whether it says please or names a time."""

    kind: Kind
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
    if (clause.begs and PLEASE.pattern.search(filler)) or (clause.timed and NOW.search(filler)):
        return False
    if clause.kind == "question":
        return not calls and not NOW.search(filler)
    if clause.kind == "wish":
        return not calls or filler == "if you can"
    return clause.kind == "order" or (clause.kind != "statement" and not calls)


def clause_of(text: str) -> Clause:
    """Return what a closing filler must fit."""
    if not text.isascii():  # there a letter may be another one's equal without case, as the long s is
        timed = not TIMES.isdisjoint(WORD.findall(text.lower())) or TIME.search(text) is not None
        return Clause(_kind(text, None), PLEASE.stands_in(text, None), timed)
    plain = f" {text.lower().encode().translate(PLAIN).decode()} "
    words = plain.split()
    timed = not TIMES.isdisjoint(words) or (_may_be_timed(plain) and TIME.search(text) is not None)
    return Clause(_kind(text, words), PLEASE.stands_in(text, words), timed)


def _kind(text: str, words: list[str] | None) -> Kind:
    if ASKED.stands_in(text, words):
        return "asked"
    if QUESTION.stands_in(text, words) or text.rstrip().endswith("?"):
        return "question"
    if WISH.stands_in(text, words):
        return "wish"
    if STATEMENT.match(text):
        return "statement"
    return "other" if opening(text.split()) is None else "order"


def _may_be_timed(plain: str) -> bool:
    """Tell whether a part of `TIME` stands in the words of a text."""
    return (
        "0" in plain
        or " the " in plain
        or "clock " in plain
        or " away " in plain
        or " m " in plain
        or "teenth " in plain
    )
