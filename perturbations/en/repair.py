"""Correct oneself in the middle of a sentence, as people do who speak: "to Denver" becomes "to Boston I mean Denver".

Something is said, taken back with a cue, and the sentence goes on as it stands in the text: leaving out what the edits
put in gives the text again. How often, where, in how many words and with which cues was counted in Disfl-QA.

>>> from lapsus.perturbations import apply, perturb
>>> text = "Which flights leave Boston for Denver on Monday?"
>>> apply(text, perturb(EnRepair(), text, seed=1, key="row-4"))
'How err I mean Which flights leave Boston for Denver on Monday?'
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lapsus.core.edits import Edit, overlaps
from lapsus.perturbations.core import ShortRepr, TextByTextMixin
from lapsus.perturbations.streams import draw_index, pick_index

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from random import Random

    from lapsus.perturbations.core import Constraints

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
CONFUSABLE_WORDS = tuple(
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
class EnRepair(ShortRepr, TextByTextMixin):
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
            isinstance(distractor, str) and distractor.strip() for distractor in self.distractors
        ):
            raise ValueError(f"distractors are {self.distractors!r}; give a tuple of words or phrases")
        object.__setattr__(self, "distractors", tuple(self.distractors))
        if not 0 <= self.rate <= 1:
            raise ValueError(f"rate is {self.rate!r}; give the share of texts that get a repair, from 0 to 1")

    def draw_edits(self, text: str, rng: Random, constraints: Constraints) -> tuple[Edit, ...]:
        """Draw one repair."""
        words = split_words(text)
        if rng.random() >= self.rate or len(words) < 2:
            return ()
        guarded = (*constraints.spans, *constraints.protected)
        places = [at for at, word in enumerate(words) if not any(left < word.start < right for left, right in guarded)]
        if not places:
            return ()
        return _Repair(text, words, self.distractors, constraints, rng).make_edits(places)


class RepairWord(NamedTuple):
    """A word of the text: where it stands, how it is written without marks around it, and of which kind it is."""

    start: int
    end: int
    text: str
    kind: str


@cache
def load_fitted() -> Mapping[str, Any]:
    """Return what `tools/fit_en_repair.py` counted in Disfl-QA's training questions."""
    counts: dict[str, Any] = json.loads(FITTED.read_text(encoding="utf-8"))
    return counts


def classify_word(word: str, *, first: bool = False) -> str:
    """Return the kind of a word.

    >>> [classify_word(word) for word in "the Rhine flowed in 1999 slowly".split()]
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


def split_words(text: str) -> list[RepairWord]:
    """Return the words of a text that has Latin letters."""
    words: list[RepairWord] = []
    for match in TOKEN.finditer(text):
        bare = ENDS.sub("", match[0])
        if bare and bare[0].isascii() and bare[0].isalnum():
            words.append(RepairWord(match.start(), match.end(), bare, classify_word(bare, first=not words)))
    return words


@cache
def _cumulate(weights: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(accumulate(weights))


def draw_key(weights: Mapping[str, float], share: float) -> str:
    """Return a key of a table of weights at a share from 0 to 1.

    >>> draw_key({"a": 1, "b": 3}, 0.5)
    'b'
    """
    cumulative = _cumulate(tuple(weights.values()))
    return tuple(weights)[pick_index(cumulative, share)]


class _Repair:
    """One repair of one text."""

    def __init__(
        self, text: str, words: list[RepairWord], distractors: tuple[str, ...], constraints: Constraints, rng: Random
    ) -> None:
        self.text, self.words, self.distractors, self.constraints, self.draw = (
            text,
            words,
            distractors,
            constraints,
            rng.random,
        )
        self.table = load_fitted()

    def make_edits(self, places: list[int]) -> tuple[Edit, ...]:
        """Return the edits: one that puts something in, and one for the capital that moves to the start."""
        draw, words = self.draw, self.words
        at = 0
        if self.distractors or 0 not in places or draw() >= self.table["restart"]:
            at = self.choose_place([place for place in places if place])
        if at == 0 and 0 not in places:
            return ()
        if at and draw() < LATE and (late_edits := self.correct_at_end(at)):
            return late_edits
        mistake = self.draw_false_start() if at == 0 else self.draw_mistake(at)
        if not mistake:
            return ()
        cue = draw_key(self.table["cues"]["start" if at == 0 else "within"], draw())
        insertion = " ".join(mistake) + (f"{cue} " if cue[:1] == "," else f" {cue} " if cue else " ")
        start = words[at].start
        if at:
            return (Edit(start, start, insertion),)
        first = words[0]
        head = self.text[start : start + 1]
        if head.isupper():
            insertion = insertion[:1].upper() + insertion[1:]
            lowers = first.kind in ("wh", "aux", "prep", "det") and not self.is_protected(start, start + 1)
            if lowers and draw() < self.table["lower"]:
                return (Edit(start, start + 1, insertion + head.lower()),)
        return (Edit(start, start, insertion),)

    def correct_at_end(self, at: int) -> tuple[Edit, ...]:
        """Return the edits of a word that is said wrong, and put right only at the end of the text."""
        words, last = self.words, self.words[-1]
        if at + 2 >= len(words) or words[at].kind in FUNCTION.values() or "?" in self.text[: last.start]:
            return ()
        word = words[at]
        if self.is_protected(word.start, word.end) or self.is_protected(last.end - 1, last.end):
            return ()
        cue = draw_key(self.table["cues"]["within"], self.draw())
        wrong = " ".join(self.draw_phrase(word.kind, 1, word.text))
        insert_at = self.text.find(last.text, last.start) + len(last.text)
        if not cue or wrong == word.text:
            return ()
        start = self.text.find(word.text, word.start)
        right = f"{cue} {word.text}"
        return (
            Edit(start, start + len(word.text), wrong),
            Edit(insert_at, insert_at, right if cue[:1] == "," else f" {right}"),
        )

    def is_protected(self, start: int, end: int) -> bool:
        """Whether a stretch is protected or part of a slot."""
        return overlaps(start, end, (*self.constraints.spans, *self.constraints.protected))

    def choose_place(self, places: list[int]) -> int:
        """Draw where something else is said first."""
        sites: Mapping[str, float] = self.table["sites"]
        kinds = [word.kind for word in self.words]
        if self.distractors:  # where one of them may be meant
            places = [at for at in places if kinds[at] in ("name", "number", *CONTENT)] or places
        weights = [sites.get(f"{kinds[at - 1]} {kinds[at]}", sites["any"]) for at in places]
        if not weights:
            return 0
        return places[draw_index(weights, self.draw())]

    def draw_false_start(self) -> list[str]:
        """Return the beginning of another question, or of a request the words that will be said again."""
        draw = self.draw
        if self.words[0].kind not in ("wh", "aux", "prep"):
            return [word.text for word in self.words[: 1 + int(draw() * min(3, len(self.words) - 1))]]
        size = int(draw_key(self.table["begun sizes"], draw()))
        by_size: Mapping[str, Mapping[str, float]] = self.table["begun"]
        first = " ".join(word.text.lower() for word in self.words[:3])
        start_words: list[str] = []
        for _ in range(6):
            start_words = draw_key(by_size[str(min(size, 3))], draw()).split()
            if not first.startswith(" ".join(start_words)):
                break
        while len(start_words) < size:
            start_words += (
                self.draw_phrase("word", 1) if len(start_words) % 2 else [("of", "the", "in", "for")[int(draw() * 4)]]
            )
        return start_words[:size]

    def draw_mistake(self, at: int) -> list[str]:
        """Return what is said instead of the words at a place, with those before them that are said again."""
        draw, words = self.draw, self.words
        kind = words[at].kind
        n_repeated = int(draw_key(self.table["again"].get(kind, {"0": 1}), draw()))
        n_repeated = min(n_repeated, len(words) - at - 1)
        if any(self.is_protected(word.start, word.end) for word in words[at : at + n_repeated]):
            n_repeated = 0
        target = words[at + n_repeated]
        retraced = [word.text for word in words[at : at + n_repeated]]
        size = int(draw_key(self.table["sizes"].get(target.kind, self.table["sizes"]["word"]), draw()))
        if size > 3 and at + n_repeated + 2 < len(words):  # what follows is begun with another word in it
            following = [word.text for word in words[at + n_repeated : at + n_repeated + size]]
            return [*retraced, *self.draw_phrase(target.kind, 1, target.text), *following[1:]]
        return [*retraced, *self.draw_phrase(target.kind, size, target.text)]

    def draw_phrase(self, kind: str, size: int, target: str = "") -> list[str]:
        """Return a word or phrase that might be said by mistake for the target."""
        low = target.lower()
        for group in CONFUSABLE_WORDS:
            if low in group:
                alternatives = [word for word in group if word != low]
                alternative = alternatives[int(self.draw() * len(alternatives))]
                return [alternative.capitalize() if target[:1].isupper() else alternative]
        if kind == "number" and target.isdigit():
            return [self.draw_number(target)]
        if kind in FUNCTION.values() and kind != "number":
            alternatives = [word for word, word_kind in FUNCTION.items() if word_kind == kind and word != low]
            listed = self.table["things"].get(kind, {})
            return [draw_key(listed, self.draw()) if listed else alternatives[int(self.draw() * len(alternatives))]]
        pool = self.weigh_phrases(kind, low)
        near = [phrase for phrase in pool if phrase.count(" ") == size - 1] or list(pool)
        if size > 1 and " " not in near[0]:
            return [*self.draw_phrase(kind, 1, target), *self.draw_phrase(("word", "s")[size % 2], size - 1)]
        phrase = near[pick_index(_cumulate(tuple(pool[phrase] for phrase in near)), self.draw())]
        return phrase.split()

    def draw_number(self, target: str) -> str:
        """Return another number of as many digits."""
        near = int(target) + int((self.draw() - 0.5) * (20 if len(target) > 2 else 8))
        if near == int(target) or len(str(abs(near))) != len(target) or near < 0:
            near = int(target[:-1] + str((int(target[-1]) + 1) % 10))
        return str(near).zfill(len(target))

    def weigh_phrases(self, kind: str, target: str) -> dict[str, float]:
        """Return what may be said, with weights: from the list, the context, or frequent things."""
        if self.distractors:
            return dict.fromkeys(self.distractors, 1.0)
        if self.constraints.context:
            candidates = {
                phrase: n
                for phrase, n in extract_phrases(self.constraints.context, kind).items()
                if target not in phrase.lower()
            }
            if candidates:
                return candidates
        own_words = {word.text.lower() for word in self.words}
        candidates = {}
        for phrase, (count, near) in self.table["names" if kind == "name" else "words"].get(kind, {}).items():
            shared = len(own_words.intersection(near.split()))
            if phrase.lower().split()[-1] not in own_words:
                candidates[phrase] = count * (0.05 + shared**2)
        if kind != "name":
            text_phrases = {word.text: 0.3 for word in self.words if word.kind == kind and word.text.lower() != target}
            return candidates | text_phrases or {"thing": 1.0}
        known = sum(candidates.values())
        return candidates if known > 0.3 * len(candidates) else dict.fromkeys(PEOPLE, 1.0)


@cache
def extract_phrases(context: str, kind: str) -> dict[str, float]:
    """Return the words of a kind in a context, names as whole phrases, with how often they stand there.

    >>> extract_phrases("He moved to New York, then to Paris.", "name")
    {'New York': 1.0, 'Paris': 1.0}
    """
    counts: dict[str, float] = {}
    run: list[str] = []
    for word, mark in _iter_words_with_marks(context):
        if kind == "name" and word.kind == "name":
            run.append(word.text)
        elif word.kind == kind:
            counts[word.text] = counts.get(word.text, 0.0) + 1
        if run and (mark or word.kind != "name"):
            phrase = " ".join(run[-4:])
            counts[phrase] = counts.get(phrase, 0.0) + 1
            run = []
    return counts


def _iter_words_with_marks(context: str) -> Iterable[tuple[RepairWord, bool]]:
    words = split_words(context)
    begins = True
    for word in words:
        raw = context[word.start : word.end]
        plain = word._replace(kind=classify_word(word.text, first=begins))
        begins = raw[-1] in ".?!"
        yield plain, not raw[-1].isalnum()
    yield RepairWord(0, 0, "", "link"), True


UNITS = (EnRepair(),)
