"""Correct oneself in the middle of a sentence, as people do who speak: "to Denver" becomes "to Boston I mean Denver".

Something is said, taken back with a cue, and the sentence goes on as it stands in the text: leaving out what the edits
put in gives the text again. How often, where, in how many words and with which cues was counted in Disfl-QA.

>>> from lapsus.perturbations.core import apply, perturb
>>> text = "Which flights leave Boston for Denver on Monday?"
>>> apply(text, perturb(EnRepair(), text, seed=1, key="row-4"))
'How err I mean Which flights leave Boston for Denver on Monday?'
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lapsus.perturbations.core import Edit, EditsOfOneText, ShortRepr

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from random import Random

    from lapsus.perturbations.core import Frame

FITTED = Path(__file__).parent / "data" / "en_repair.json"
TOKEN = re.compile(r"\S+")
ENDS = re.compile(r"^\W+|\W+$")
FUNCTION = {
    word: kind
    for kind, words in {
        "wh": "what which who whom whose when where why how",
        "aux": "is are was were be been do does did has have had can could will would should may might must",
        "det": "the a an this that these those my your his her its our their some any no every each",
        "prep": "of in on at to for from by with about into over after before between during under through as than",
        "link": "and or but not if so because it he she they we you i me him them us there",
        "number": "one two three four five six seven eight nine ten eleven twelve twenty thirty hundred thousand "
        "first second third",
    }.items()
    for word in words.split()
}
ALIKE = tuple(
    tuple(words.split())
    for words in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "january february march april may june july august september october november december",
        "morning afternoon evening night",
        "today tomorrow yesterday",
        "one two three four five six seven eight nine ten eleven twelve",
        "first second third fourth fifth",
        "boston denver atlanta dallas chicago london paris berlin madrid rome",
        "red blue green yellow black white",
    )
)
"""Words of which one is easily said for another, before all else."""
LATE = 0.15  # of the repairs within a text, how many come at its end; set by hand
PEOPLE = ("Smith", "Jordan", "Miller", "Garcia", "Bennett", "Morgan")  # a name where no other is known
CONTENT = ("ing", "ed", "ly", "s", "word")


@dataclass(frozen=True, slots=True, repr=False)
class EnRepair(ShortRepr, EditsOfOneText):
    """Say something else first and take it back: a repetition, a restart or a replacement in each text.

    Args:
        distractors: What may be said by mistake, as names and things of the task; without any, words of the row's
            context and of the text itself, then frequent ones.
        rate: The share of the texts that get a repair.

    >>> EnRepair(distractors=("Boston", "Denver")).rate
    1.0
    """

    distractors: tuple[str, ...] = ()
    rate: float = 1.0
    name: str = "en_repair"
    version: str = "1"

    def __post_init__(self) -> None:
        if isinstance(self.distractors, str) or not all(
            isinstance(one, str) and one.strip() for one in self.distractors
        ):
            raise ValueError(f"distractors are {self.distractors!r}; give a tuple of words or phrases")
        object.__setattr__(self, "distractors", tuple(self.distractors))
        if not 0 <= self.rate <= 1:
            raise ValueError(f"rate is {self.rate!r}; give the share of texts that get a repair, from 0 to 1")

    def edits_framed(
        self, texts: Sequence[str], rngs: Sequence[Random], frames: Sequence[Frame]
    ) -> list[tuple[Edit, ...]]:
        """Put one repair into each text."""
        return [self._edits(*one) for one in zip(texts, rngs, frames, strict=True)]

    def _edits(self, text: str, rng: Random, frame: Frame) -> tuple[Edit, ...]:
        words = words_of(text)
        if rng.random() >= self.rate or len(words) < 2:
            return ()
        guarded = (*frame.spans, *frame.protected)
        places = [at for at, word in enumerate(words) if not any(left < word.start < right for left, right in guarded)]
        if not places:
            return ()
        return _Repair(text, words, self.distractors, frame, rng).edits(places)


class Word(NamedTuple):
    """A word of the text: where it stands, how it is written without marks around it, and of which kind it is."""

    start: int
    end: int
    text: str
    kind: str


@cache
def fitted() -> Mapping[str, Any]:
    """Return what `benchmarks/fit_en_repair.py` counted in Disfl-QA's training questions."""
    found: dict[str, Any] = json.loads(FITTED.read_text(encoding="utf-8"))
    return found


def kind_of(word: str, *, first: bool = False) -> str:
    """Return the kind of a word.

    >>> [kind_of(word) for word in "the Rhine flowed in 1999 slowly".split()]
    ['det', 'name', 'ed', 'prep', 'number', 'ly']
    """
    low = word.lower()
    if low in FUNCTION:
        return FUNCTION[low]
    if any(map(str.isdigit, word)):
        return "number"
    if word[:1].isupper() and not first:
        return "name"
    return next((ending for ending in ("ing", "ed", "ly", "s") if low.endswith(ending) and len(low) > 4), "word")


def words_of(text: str) -> list[Word]:
    """Return the words of a text that has Latin letters."""
    found: list[Word] = []
    for match in TOKEN.finditer(text):
        bare = ENDS.sub("", match[0])
        if bare and bare[0].isascii() and bare[0].isalnum():
            found.append(Word(match.start(), match.end(), bare, kind_of(bare, first=not found)))
    return found


@cache
def _upto(weights: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(accumulate(weights))


def drawn(weights: Mapping[str, float], share: float) -> str:
    """Return a key of a table of weights at a share from 0 to 1.

    >>> drawn({"a": 1, "b": 3}, 0.5)
    'b'
    """
    upto = _upto(tuple(weights.values()))
    return tuple(weights)[min(bisect(upto, share * upto[-1]), len(upto) - 1)]


class _Repair:
    """One repair of one text."""

    def __init__(self, text: str, words: list[Word], own: tuple[str, ...], frame: Frame, rng: Random) -> None:
        self.text, self.words, self.own, self.frame, self.draw = text, words, own, frame, rng.random
        self.table = fitted()

    def edits(self, places: list[int]) -> tuple[Edit, ...]:
        """Return the edits: one that puts something in, and one for the capital that moves to the start."""
        draw, words = self.draw, self.words
        at = 0
        if self.own or 0 not in places or draw() >= self.table["restart"]:
            at = self.site([place for place in places if place])
        if at == 0 and 0 not in places:
            return ()
        if at and draw() < LATE and (late := self.late(at)):
            return late
        said = self.begun() if at == 0 else self.instead(at)
        if not said:
            return ()
        cue = drawn(self.table["cues"]["start" if at == 0 else "within"], draw())
        put_in = " ".join(said) + (f"{cue} " if cue[:1] == "," else f" {cue} " if cue else " ")
        start = words[at].start
        if at:
            return (Edit(start, start, put_in),)
        first = words[0]
        head = self.text[start : start + 1]
        if head.isupper():
            put_in = put_in[:1].upper() + put_in[1:]
            lowers = first.kind in ("wh", "aux", "prep", "det") and not self.guards(start, start + 1)
            if lowers and draw() < self.table["lower"]:
                return (Edit(start, start + 1, put_in + head.lower()),)
        return (Edit(start, start, put_in),)

    def late(self, at: int) -> tuple[Edit, ...]:
        """Return the edits of a word that is said wrong, and put right only at the end of the text."""
        words, last = self.words, self.words[-1]
        if at + 2 >= len(words) or words[at].kind in FUNCTION.values() or "?" in self.text[: last.start]:
            return ()
        word = words[at]
        if self.guards(word.start, word.end) or self.guards(last.end - 1, last.end):
            return ()
        cue = drawn(self.table["cues"]["within"], self.draw())
        wrong = " ".join(self.thing(word.kind, 1, word.text))
        inside = self.text.find(last.text, last.start) + len(last.text)
        if not cue or wrong == word.text:
            return ()
        start = self.text.find(word.text, word.start)
        right = f"{cue} {word.text}"
        return (
            Edit(start, start + len(word.text), wrong),
            Edit(inside, inside, right if cue[:1] == "," else f" {right}"),
        )

    def guards(self, start: int, end: int) -> bool:
        """Whether a stretch is protected or part of a slot."""
        return any(start < right and left < end for left, right in (*self.frame.spans, *self.frame.protected))

    def site(self, places: list[int]) -> int:
        """Draw where something else is said first."""
        sites: Mapping[str, float] = self.table["sites"]
        kinds = [word.kind for word in self.words]
        if self.own:  # where one of them may be meant
            places = [at for at in places if kinds[at] in ("name", "number", *CONTENT)] or places
        weights = [sites.get(f"{kinds[at - 1]} {kinds[at]}", sites["any"]) for at in places]
        if not weights:
            return 0
        upto = list(accumulate(weights))
        return places[min(bisect(upto, self.draw() * upto[-1]), len(places) - 1)]

    def begun(self) -> list[str]:
        """Return the beginning of another question, or of a request the words that will be said again."""
        draw = self.draw
        if self.words[0].kind not in ("wh", "aux", "prep"):
            return [word.text for word in self.words[: 1 + int(draw() * min(3, len(self.words) - 1))]]
        size = int(drawn(self.table["begun sizes"], draw()))
        by_size: Mapping[str, Mapping[str, float]] = self.table["begun"]
        first = " ".join(word.text.lower() for word in self.words[:3])
        said: list[str] = []
        for _ in range(6):
            said = drawn(by_size[str(min(size, 3))], draw()).split()
            if not first.startswith(" ".join(said)):
                break
        while len(said) < size:
            said += self.thing("word", 1) if len(said) % 2 else [("of", "the", "in", "for")[int(draw() * 4)]]
        return said[:size]

    def instead(self, at: int) -> list[str]:
        """Return what is said instead of the words at a place, with those before them that are said again."""
        draw, words = self.draw, self.words
        kind = words[at].kind
        again = int(drawn(self.table["again"].get(kind, {"0": 1}), draw()))
        again = min(again, len(words) - at - 1)
        if any(self.guards(word.start, word.end) for word in words[at : at + again]):
            again = 0
        target = words[at + again]
        retraced = [word.text for word in words[at : at + again]]
        size = int(drawn(self.table["sizes"].get(target.kind, self.table["sizes"]["word"]), draw()))
        if size > 3 and at + again + 2 < len(words):  # what follows is begun with another word in it
            following = [word.text for word in words[at + again : at + again + size]]
            return [*retraced, *self.thing(target.kind, 1, target.text), *following[1:]]
        return [*retraced, *self.thing(target.kind, size, target.text)]

    def thing(self, kind: str, size: int, target: str = "") -> list[str]:
        """Return a word or phrase that might be said by mistake for the target."""
        low = target.lower()
        for group in ALIKE:
            if low in group:
                others = [word for word in group if word != low]
                other = others[int(self.draw() * len(others))]
                return [other.capitalize() if target[:1].isupper() else other]
        if kind == "number" and target.isdigit():
            return [self.number(target)]
        if kind in FUNCTION.values() and kind != "number":
            others = [word for word, of in FUNCTION.items() if of == kind and word != low]
            listed = self.table["things"].get(kind, {})
            return [drawn(listed, self.draw()) if listed else others[int(self.draw() * len(others))]]
        pool = self.pool(kind, low)
        near = [phrase for phrase in pool if phrase.count(" ") == size - 1] or list(pool)
        if size > 1 and " " not in near[0]:
            return [*self.thing(kind, 1, target), *self.thing(("word", "s")[size % 2], size - 1)]
        weights = _upto(tuple(pool[phrase] for phrase in near))
        phrase = near[min(bisect(weights, self.draw() * weights[-1]), len(near) - 1)]
        return phrase.split()

    def number(self, target: str) -> str:
        """Return another number of as many digits."""
        near = int(target) + int((self.draw() - 0.5) * (20 if len(target) > 2 else 8))
        if near == int(target) or len(str(abs(near))) != len(target) or near < 0:
            near = int(target[:-1] + str((int(target[-1]) + 1) % 10))
        return str(near).zfill(len(target))

    def pool(self, kind: str, target: str) -> dict[str, float]:
        """Return what may be said, with weights: from the list, the context, or frequent things."""
        if self.own:
            return dict.fromkeys(self.own, 1.0)
        if self.frame.context:
            found = {
                phrase: n for phrase, n in phrases(self.frame.context, kind).items() if target not in phrase.lower()
            }
            if found:
                return found
        there = {word.text.lower() for word in self.words}
        found = {}
        for phrase, (count, near) in self.table["names" if kind == "name" else "words"].get(kind, {}).items():
            shared = len(there.intersection(near.split()))
            if phrase.lower().split()[-1] not in there:
                found[phrase] = count * (0.05 + shared**2)
        if kind != "name":
            own = {word.text: 0.3 for word in self.words if word.kind == kind and word.text.lower() != target}
            return found | own or {"thing": 1.0}
        known = sum(found.values())
        return found if known > 0.3 * len(found) else dict.fromkeys(PEOPLE, 1.0)


@cache
def phrases(context: str, kind: str) -> dict[str, float]:
    """Return the words of a kind in a context, names as whole phrases, with how often they stand there.

    >>> phrases("He moved to New York, then to Paris.", "name")
    {'New York': 1.0, 'Paris': 1.0}
    """
    found: dict[str, float] = {}
    run: list[str] = []
    for word, mark in _with_marks(context):
        if kind == "name" and word.kind == "name":
            run.append(word.text)
        elif word.kind == kind:
            found[word.text] = found.get(word.text, 0.0) + 1
        if run and (mark or word.kind != "name"):
            phrase = " ".join(run[-4:])
            found[phrase] = found.get(phrase, 0.0) + 1
            run = []
    return found


def _with_marks(context: str) -> Iterable[tuple[Word, bool]]:
    words = words_of(context)
    begins = True
    for word in words:
        raw = context[word.start : word.end]
        plain = word._replace(kind=kind_of(word.text, first=begins))
        begins = raw[-1] in ".?!"
        yield plain, not raw[-1].isalnum()
    yield Word(0, 0, "", "link"), True


UNITS = (EnRepair(),)
