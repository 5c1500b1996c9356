"""Read Disfl-QA: where a question was repaired, what had been said, and how the repair is announced."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FIRST_WORDS = """
    no nope sorry or rather uh uhh um umm er err ergh erm make i actually wait oh not instead oops excuse shoot scratch
    ah ahh well whoops hmm correction strike pardon hold
    forget never nevermind but change tell my let's i'm ugh
"""
OTHER_WORDS = """
    that mean meant say to me guess was thinking it should just about bad of course see this on ok okay yeah really mind
    try again want know
"""
FIRST = frozenset(FIRST_WORDS.split())
"""Words that a cue begins with."""
CUE = FIRST | frozenset(OTHER_WORDS.split())
LETTERS = re.compile(r"[^\w']")


class Repair(NamedTuple):
    """One repair: the words of the question as written, and the words put in before the word at `at`."""

    words: list[str]
    at: int
    said: list[str]
    cue: list[str]
    after: str  # the word behind, as written in the disfluent question

    @property
    def retraced(self) -> int:
        """How many words of the question were said already."""
        behind = [key(word) for word in self.words[self.at :]]
        same = 0
        while same < min(len(behind), len(self.said)) and behind[same] == key(self.said[same]):
            same += 1
        return same

    @property
    def kind(self) -> str:
        """Restart, repetition or replacement."""
        return "restart" if not self.at else "repetition" if self.retraced else "replacement"


def key(word: str) -> str:
    """Return a word without case and marks."""
    return LETTERS.sub("", word.lower().replace("’", "'"))


def pairs(file: Path) -> list[tuple[str, str]]:
    """Return (question, the same with a repair), without those that Disfl-QA lost."""
    rows = json.loads(file.read_text(encoding="utf-8")).values()
    found = [(row["original"].strip(), row["disfluent"].strip()) for row in rows]
    return [(clean, noisy) for clean, noisy in found if "#VALUE" not in noisy and noisy]


def repair(clean: str, noisy: str) -> Repair | None:
    """Return the repair, where something was put in at one place and nothing else was changed."""
    words, others = clean.split(), noisy.split()
    old, new = list(map(key, words)), list(map(key, others))
    size = len(new) - len(old)
    if size < 1:
        return None
    places = [at for at in range(len(old) + 1) if new[:at] == old[:at] and new[at + size :] == old[at:]]
    if not places:
        return None

    def cut_at(at: int) -> int:
        """Return where the cue begins, for the stretch put in at a place."""
        begin = at + size
        while begin > at and new[begin - 1] in CUE:
            begin -= 1
        while begin < at + size and new[begin] not in FIRST:
            begin += 1
        return begin

    at = max(places, key=lambda place: (place + size - cut_at(place), place))
    begin = cut_at(at)
    return Repair(words, at, others[at:begin], others[begin : at + size], others[at + size] if at < len(old) else "")


def repairs(rows: list[tuple[str, str]]) -> Iterator[Repair]:
    """Yield the repairs of those pairs that have one with a beginning and a cue."""
    for clean, noisy in rows:
        found = repair(clean, noisy)
        if found and found.said:
            yield found
