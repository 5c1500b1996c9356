"""Fillers: words that mark hesitation, or open and close a turn of speech, and mean nothing.

The lists are those of NATURE (section 3.1). A clause is classified first, since not every closing filler suits it: no
request follows a question, and *right now* contradicts a date.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from lapsus.core.edits import Edit
from lapsus.core.text import is_upper
from lapsus.perturbations.core import ShortRepr, TextByTextMixin, pick
from lapsus.perturbations.en.letter_case import insert_before
from lapsus.perturbations.en.spoken import SPOKEN, find_imperative
from lapsus.perturbations.en.tagging import LATIN, WORD, PosTagger, find_verb_phrase, tag_text
from lapsus.perturbations.streams import draw_indices

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from lapsus.perturbations.core import Constraints


class Phrase(NamedTuple):
    """A pattern, and words of which a text has at least one where the pattern matches: looking for them is faster."""

    words: frozenset[str]
    pattern: re.Pattern[str]

    def matches(self, text: str, words: list[str] | None) -> bool:
        """Return whether the pattern matches a text with these words; without words it is searched at once."""
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
WORD_CHARACTERS = re.compile(r"\w+")
PLAIN = bytes(
    ord("0" if chr(i).isdigit() else chr(i) if WORD_CHARACTERS.match(chr(i)) else " ") for i in range(128)
).ljust(256)
"""A table for ASCII: marks become spaces, every digit 0."""
NOW = re.compile(r"\b(?:now|right away|this minute)\b")
CALL = re.compile(r"\?$|\bif you can\b")
"""Fillers that are requests."""

ClauseKind = Literal["asked", "question", "wish", "statement", "order", "other"]


class Clause(NamedTuple):
    """The kind of a clause, and whether it says please or names a time."""

    kind: ClauseKind
    says_please: bool
    names_time: bool


@lru_cache(maxsize=256)
def select_fillers(fillers: tuple[str, ...], clause: Clause) -> tuple[str, ...]:
    """Return the closing fillers that can follow a clause.

    >>> select_fillers(("please", "right away", "would you ?"), classify_clause("what is the fare"))
    ('please',)
    >>> select_fillers(("please", "right now", "will you ?"), classify_clause("wake me on friday"))
    ('please', 'will you ?')
    """
    return tuple(filler for filler in fillers if _suits_clause(filler, clause))


def _suits_clause(filler: str, clause: Clause) -> bool:
    is_request = CALL.search(filler) is not None
    if (clause.says_please and PLEASE.pattern.search(filler)) or (clause.names_time and NOW.search(filler)):
        return False
    if clause.kind == "question":
        return not is_request and not NOW.search(filler)
    if clause.kind == "wish":
        return not is_request or filler == "if you can"
    return clause.kind == "order" or (clause.kind != "statement" and not is_request)


def classify_clause(text: str) -> Clause:
    """Return the clause that a closing filler must suit."""
    if not text.isascii():  # without case, a letter may equal another one, as the long s does
        names_time = not TIMES.isdisjoint(WORD_CHARACTERS.findall(text.lower())) or TIME.search(text) is not None
        return Clause(_classify_kind(text, None), PLEASE.matches(text, None), names_time)
    plain = f" {text.lower().encode().translate(PLAIN).decode()} "
    words = plain.split()
    names_time = not TIMES.isdisjoint(words) or (_has_time_hint(plain) and TIME.search(text) is not None)
    return Clause(_classify_kind(text, words), PLEASE.matches(text, words), names_time)


def _classify_kind(text: str, words: list[str] | None) -> ClauseKind:
    if ASKED.matches(text, words):
        return "asked"
    if QUESTION.matches(text, words) or text.rstrip().endswith("?"):
        return "question"
    if WISH.matches(text, words):
        return "wish"
    if STATEMENT.match(text):
        return "statement"
    return "other" if find_imperative(text.split()) is None else "order"


def _has_time_hint(plain: str) -> bool:
    """Return whether `TIME` can match a text, by the words that its patterns contain."""
    return (
        "0" in plain
        or " the " in plain
        or "clock " in plain
        or " away " in plain
        or " m " in plain
        or "teenth " in plain
    )


BEGINNING = ("so", "like", "actually", "okay so", "so okay", "so basically", "now", "well")
BEFORE_VERB = ("like", "basically", "actually")
AFTER_VERB = ("basically", "actually", "like", "you know")
END = (
    "if you please",
    "please",
    "pretty please",
    "please and thank you",
    "now please",
    "if you can",
    "now",
    "right now",
    "right away",
    "right this minute",
    "will you ?",
    "would you ?",
    "can you ?",
    "would you mind ?",
)
CLITICS = frozenset({"s", "d", "m", "re", "ve", "ll", "'s", "'d", "'m", "'re", "'ve", "'ll"})  # part of the word before
MARKS = " \t\n.!?…"
DRAWS = 2**32  # numbers from 0 to 1 that a draw can give


class FillerOperator(ShortRepr):
    """Base of operators that insert one of the fillers that suit a text; those of a batch are drawn at once."""

    __slots__ = ()
    fillers: tuple[str, ...]
    name: str

    def select_fillers(self, text: str) -> Sequence[str]:
        """Return the fillers that suit a text in Latin letters."""
        return self.fillers

    def insert_filler(self, text: str, filler: str) -> tuple[Edit, ...]:
        """Return the edit that inserts `filler`."""
        raise NotImplementedError

    def edits(self, text: str, rng: Random) -> tuple[Edit, ...]:
        """Insert one filler into one text."""
        return self._draw_filler(text, rng.random())

    def edits_from_keys(self, texts: Sequence[str], seed: int, keys: Sequence[str]) -> list[tuple[Edit, ...]]:
        """Insert one filler into each of many texts."""
        indices = draw_indices(f"{self.name}/{seed}", keys, DRAWS)
        return [self._draw_filler(text, number / DRAWS) for text, number in zip(texts, indices, strict=True)]

    def _draw_filler(self, text: str, share: float) -> tuple[Edit, ...]:
        options = self.select_fillers(text) if LATIN.search(text) else ()
        return self.insert_filler(text, options[int(share * len(options))]) if options else ()


@dataclass(frozen=True, slots=True, repr=False)
class OpeningFiller(FillerOperator):
    """Begin with a filler, which takes the capital over unless the first word is a name.

    >>> from lapsus.perturbations import apply, perturb
    >>> apply("play jazz", perturb(OpeningFiller(), "play jazz"))
    'well play jazz'
    """

    fillers: tuple[str, ...] = BEGINNING
    takes_capital: bool = True
    name: str = "filler_bos"
    version: str = "2"

    @property
    def summary(self) -> str:
        """What the operator does."""
        case = "which takes the capital over" if self.takes_capital else "in lower case (NATURE's own)"
        return f"Begin with a filler, {case}"

    def insert_filler(self, text: str, filler: str) -> tuple[Edit, ...]:
        """Insert a filler before the first character."""
        start = len(text) - len(text.lstrip())
        return insert_before(text, start, filler) if self.takes_capital else (Edit(start, start, f"{filler} "),)


@dataclass(frozen=True, slots=True, repr=False)
class ClosingFiller(FillerOperator):
    """End with a filler that the clause admits, before the full stop if there is one.

    With `any_clause`, the operator of the paper: any filler behind any clause.

    >>> from lapsus.perturbations import apply, perturb
    >>> apply("play jazz", perturb(ClosingFiller(), "play jazz"))
    'play jazz please'
    """

    fillers: tuple[str, ...] = END
    any_clause: bool = False
    name: str = "filler_eos"
    version: str = "2"

    @property
    def summary(self) -> str:
        """What the operator does."""
        which = "any filler (NATURE's own)" if self.any_clause else "a filler that the clause admits"
        return f"End with {which}, before the full stop if there is one"

    def select_fillers(self, text: str) -> Sequence[str]:
        """Return the fillers that the clause admits."""
        return self.fillers if self.any_clause else select_fillers(self.fillers, classify_clause(text))

    def insert_filler(self, text: str, filler: str) -> tuple[Edit, ...]:
        """Insert a filler behind the last word."""
        end = len(text.rstrip(MARKS))
        if text[end:].strip():
            filler = filler.removesuffix(" ?")  # the text has its own mark
        if not self.any_clause and is_upper(text):
            filler = filler.upper()
        return (Edit(end, end, f" {filler}"),)


@dataclass(frozen=True, slots=True, repr=False)
class VerbFiller(ShortRepr, TextByTextMixin):
    """Put a filler before or after the first verbal phrase.

    Without a verb, the filler *like* goes beside the first slot, as in NATURE; a text without slots has its first
    noun stand in for it, and one without a noun its first word.

    >>> from lapsus.perturbations import apply, perturb
    >>> apply("please play jazz", perturb(VerbFiller("before"), "please play jazz"))
    'like please play jazz'
    """

    side: Literal["before", "after"]
    tagger: PosTagger = SPOKEN
    version: str = "2"

    def __post_init__(self) -> None:
        if self.side not in {"before", "after"}:
            raise ValueError(f"side is {self.side!r}; it is before or after")

    @property
    def name(self) -> str:
        """The name in datasets."""
        return "filler_pre_verb" if self.side == "before" else "filler_post_verb"

    @property
    def summary(self) -> str:
        """What the operator does."""
        return f"Put a filler {self.side} the first verbal phrase"

    def draw_edits(self, text: str, rng: Random, constraints: Constraints) -> tuple[Edit, ...]:
        """Draw a filler and insert it beside the verb."""
        filler = pick(rng, BEFORE_VERB if self.side == "before" else AFTER_VERB)
        if not LATIN.search(text):
            return ()
        sentence = tag_text(text, self.tagger)
        phrase = find_verb_phrase(sentence.tags)
        if phrase:
            first, last = phrase
            while first > 0 and sentence.words[first].lower() in CLITICS:  # what s, i d
                first -= 1
            start, end = sentence.spans[first][0], sentence.spans[last][1]
        else:
            filler = "like"
            nouns = (place for place, tag in zip(sentence.spans, sentence.tags, strict=True) if tag.startswith("NN"))
            words = (place for place in sentence.spans if LATIN.search(text, *place))
            start, end = next(iter(constraints.spans), None) or next(nouns, None) or next(words)
        if self.side == "after":
            return (Edit(find_word_bounds(text, end)[1], find_word_bounds(text, end)[1], f" {filler}"),)
        return insert_before(text, find_word_bounds(text, start + 1)[0], filler)


def find_word_bounds(text: str, end: int) -> tuple[int, int]:
    """Return the edges of the word that a place lies in or behind: a contraction is not parted.

    >>> find_word_bounds("I don't know", 4)
    (2, 7)
    """
    return next((word.span() for word in WORD.finditer(text) if word.start() < end <= word.end()), (end, end))


NATURE_FILLERS = (
    OpeningFiller(takes_capital=False, version="1"),
    VerbFiller("before"),
    VerbFiller("after"),
    ClosingFiller(any_clause=True, version="1"),
)
"""NATURE's own, as its datasets hold them."""

UNITS = (
    OpeningFiller(),
    VerbFiller("before"),
    VerbFiller("after"),
    ClosingFiller(),
    OpeningFiller(takes_capital=False, name="nature.filler_bos", version="1"),
    ClosingFiller(any_clause=True, name="nature.filler_eos", version="1"),
)
