"""Fillers: words that mark hesitation, or open and close a turn of speech, and mean nothing.

The lists are those of NATURE (section 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lapsus.perturbations.core import Edit, EditsOfOneText, ShortRepr, pick
from lapsus.perturbations.en.clauses import clause_of, fitting
from lapsus.perturbations.en.letter_case import in_capitals, put_before
from lapsus.perturbations.en.spoken import SPOKEN
from lapsus.perturbations.en.tagging import LATIN, WORD, Tagger, tagged, verb_phrase
from lapsus.perturbations.hashed_draws import picks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from lapsus.perturbations.core import Frame

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
CLITICS = frozenset(
    {"s", "d", "m", "re", "ve", "ll", "'s", "'d", "'m", "'re", "'ve", "'ll"}
)  # they lean on the word before
MARKS = " \t\n.!?…"
DRAWS = 2**32  # places between 0 and 1 that a draw may have


class DrawnFiller(ShortRepr):
    """Base of operators that insert one of the fillers which a text admits.

    Those of a batch are drawn at once, without a stream for each.
    """

    __slots__ = ()
    fillers: tuple[str, ...]
    name: str

    def admitted(self, text: str) -> Sequence[str]:
        """Return the fillers that suit a text in Latin letters."""
        return self.fillers

    def inserted(self, text: str, filler: str) -> tuple[Edit, ...]:
        """Return the edit that inserts `filler`."""
        raise NotImplementedError

    def edits(self, text: str, rng: Random) -> tuple[Edit, ...]:
        """Insert one filler into one text."""
        return self._drawn(text, rng.random())

    def edits_keyed(self, texts: Sequence[str], seed: int, keys: Sequence[str]) -> list[tuple[Edit, ...]]:
        """Insert one filler into each of many texts."""
        drawn = picks(f"{self.name}/{seed}", keys, DRAWS)
        return [self._drawn(text, number / DRAWS) for text, number in zip(texts, drawn, strict=True)]

    def _drawn(self, text: str, share: float) -> tuple[Edit, ...]:
        options = self.admitted(text) if LATIN.search(text) else ()
        return self.inserted(text, options[int(share * len(options))]) if options else ()


@dataclass(frozen=True, slots=True, repr=False)
class OpeningFiller(DrawnFiller):
    """Begin with a filler, which takes the capital over unless the first word is a name.

    >>> from lapsus.perturbations.core import apply, perturb
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

    def inserted(self, text: str, filler: str) -> tuple[Edit, ...]:
        """Insert a filler before the first character."""
        start = len(text) - len(text.lstrip())
        return put_before(text, start, filler) if self.takes_capital else (Edit(start, start, f"{filler} "),)


@dataclass(frozen=True, slots=True, repr=False)
class ClosingFiller(DrawnFiller):
    """End with a filler that the clause admits, before the full stop if there is one.

    With `any_clause`, the operator of the paper: any filler behind any clause.

    >>> from lapsus.perturbations.core import apply, perturb
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

    def admitted(self, text: str) -> Sequence[str]:
        """Return the fillers that the clause admits."""
        return self.fillers if self.any_clause else fitting(self.fillers, clause_of(text))

    def inserted(self, text: str, filler: str) -> tuple[Edit, ...]:
        """Insert a filler behind the last word."""
        end = len(text.rstrip(MARKS))
        if text[end:].strip():
            filler = filler.removesuffix(" ?")  # the text has its own mark
        if not self.any_clause and in_capitals(text):
            filler = filler.upper()
        return (Edit(end, end, f" {filler}"),)


@dataclass(frozen=True, slots=True, repr=False)
class VerbFiller(ShortRepr, EditsOfOneText):
    """Put a filler before or after the first verbal phrase.

    Without a verb, the filler *like* goes beside the first slot, as in NATURE; a text without slots has its first
    noun stand in for it, and one without a noun its first word.

    >>> from lapsus.perturbations.core import apply, perturb
    >>> apply("please play jazz", perturb(VerbFiller("before"), "please play jazz"))
    'like please play jazz'
    """

    side: Literal["before", "after"]
    tagger: Tagger = SPOKEN
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

    def edits_framed(
        self, texts: Sequence[str], rngs: Sequence[Random], frames: Sequence[Frame]
    ) -> list[tuple[Edit, ...]]:
        """Find the pivot of each text and insert one filler beside it."""
        return [self._edits(*one) for one in zip(texts, rngs, frames, strict=True)]

    def _edits(self, text: str, rng: Random, frame: Frame) -> tuple[Edit, ...]:
        filler = pick(rng, BEFORE_VERB if self.side == "before" else AFTER_VERB)
        if not LATIN.search(text):
            return ()
        sentence = tagged(text, self.tagger)
        phrase = verb_phrase(sentence.tags)
        if phrase:
            first, last = phrase
            while first > 0 and sentence.words[first].lower() in CLITICS:  # what s, i d
                first -= 1
            start, end = sentence.places[first][0], sentence.places[last][1]
        else:
            filler = "like"
            nouns = (place for place, tag in zip(sentence.places, sentence.tags, strict=True) if tag.startswith("NN"))
            words = (place for place in sentence.places if LATIN.search(text, *place))
            start, end = next(iter(frame.spans), None) or next(nouns, None) or next(words)
        if self.side == "after":
            return (Edit(whole(text, end)[1], whole(text, end)[1], f" {filler}"),)
        return put_before(text, whole(text, start + 1)[0], filler)


def whole(text: str, end: int) -> tuple[int, int]:
    """Return the edges of the word that a place lies in or behind: a contraction is not parted.

    >>> whole("I don't know", 4)
    (2, 7)
    """
    return next((word.span() for word in WORD.finditer(text) if word.start() < end <= word.end()), (end, end))


OF_THE_PAPER = (
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
