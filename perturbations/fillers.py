"""Fillers: words that mark hesitation, or open and close a turn of speech, and mean nothing.

The lists are those of NATURE (section 3.1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lapsus.perturbations.core import Described, Edit, pick

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

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
LATIN = re.compile(r"[A-Za-z]")
LAST = re.compile(r"\s*[.!?…]*\s*\Z")


@dataclass(frozen=True, slots=True, repr=False)
class OpeningFiller(Described):
    """Begin with a filler.

    >>> from lapsus.perturbations.core import apply, perturb
    >>> apply("play jazz", perturb(OpeningFiller(), "play jazz"))
    'so play jazz'
    """

    fillers: tuple[str, ...] = BEGINNING
    name: str = "filler_bos"
    version: str = "1"

    def edits(self, text: str, rng: Random) -> Iterable[Edit]:
        """Insert one filler before the first character."""
        filler = pick(rng, self.fillers)
        if not LATIN.search(text):
            return ()
        start = len(text) - len(text.lstrip())
        return (Edit(start, start, f"{filler} "),)


@dataclass(frozen=True, slots=True, repr=False)
class ClosingFiller(Described):
    """End with a filler, before the full stop if there is one.

    >>> from lapsus.perturbations.core import apply, perturb
    >>> apply("play jazz", perturb(ClosingFiller(), "play jazz"))
    'play jazz pretty please'
    """

    fillers: tuple[str, ...] = END
    name: str = "filler_eos"
    version: str = "1"

    def edits(self, text: str, rng: Random) -> Iterable[Edit]:
        """Insert one filler behind the last word."""
        filler = pick(rng, self.fillers)
        if not LATIN.search(text):
            return ()
        end = LAST.search(text).start()  # type: ignore[union-attr] # it always matches
        if text[end:].strip():
            filler = filler.removesuffix(" ?")  # the text has its own mark
        return (Edit(end, end, f" {filler}"),)


UNITS = (OpeningFiller(), ClosingFiller())
