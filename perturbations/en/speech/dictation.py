"""Dictate English to a recogniser: modelled noise, not the output of one.

Words are missed by how rare they are, how well they fit beside their neighbours, where they stand, and whether the one
before was missed. What comes back for a missed stretch sounds like it and is likely English, or is nothing.

>>> from lapsus.perturbations import apply, perturb
>>> text = "please play the third song in the queue"
>>> apply(text, perturb(EnSpeech.annotator(1), text, seed=1, key="row-4"))
'please play the third song in the queue'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from math import exp
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from lapsus.core.edits import Edit, trim_edit
from lapsus.perturbations.en.sounds import pronounce
from lapsus.perturbations.en.speech.hearing import SOUND_SHIFTS, apply_accent, draw_similar_word, split_sounds
from lapsus.perturbations.en.speech.model import Recogniser, load_recognisers, word_features
from lapsus.perturbations.streams import draw_index

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

MAX_RATE = 10  # rate
SHORT = 4  # letters
MAX_STRETCH = 6  # words of a stretch that are told apart
MAX_CHARACTERS = 20_000  # characters that are dictated; the rest of a text stays as it is
TOKEN = re.compile(r"\S+")
SPOKEN = re.compile(r"[A-Za-z0-9]")
UNSPOKEN = re.compile(r"\w|[^\x00-\u2fff]")  # between words: another script, a picture
ENDS = re.compile(r"^\W+|[^\w%]+$")
GOLDEN = 0.6180339887498949  # multiples of it fill the line evenly: few people already differ as the population does
UNCLEAR = 1.0  # what an accented word adds to its chance of being missed, on the logit
LOWERED_WORDS = 5000  # words so frequent lose their capital at the start of a text


@dataclass(frozen=True, slots=True)
class EnSpeech:
    """A person dictating a text, as a speech recogniser could have written it down.

    Args:
        who: The person's number, from 1; 0 is somebody else in every text.
        rate: How much is missed: 1 is what recognisers do, a factor of the odds.
        recogniser: "assistant" writes requests in lower case and knows their words, "search" writes questions with
            names and figures; None is the first for a text in lower case, the second for any other.
        accent: The first language of the speaker: "us" has none; see `SOUND_SHIFTS` for the others.

    >>> EnSpeech.annotator(7, accent="de").accent
    'de'
    """

    who: int = 0
    rate: float = 1.0
    recogniser: str | None = None
    accent: str = "us"
    name: str = "en_speech"
    version: str = "1"

    def __post_init__(self) -> None:
        if isinstance(self.who, bool) or not isinstance(self.who, int) or not 0 <= self.who < 2**32:
            raise ValueError(f"who is {self.who!r}; give a person's number from 1, or 0 for another one in every text")
        if not 0 <= self.rate <= MAX_RATE:
            raise ValueError(f"rate is {self.rate!r}; give a number from 0 to {MAX_RATE}, where 1 is what is missed")
        if self.recogniser not in (None, "assistant", "search"):
            raise ValueError(f"recogniser is {self.recogniser!r}; choose assistant or search, or None for either")
        if self.accent not in SOUND_SHIFTS:
            raise ValueError(f"accent is {self.accent!r}; choose one of {', '.join(SOUND_SHIFTS)}")

    @classmethod
    def annotator(cls, number: int, *, rate: float = 1.0, accent: str = "us") -> EnSpeech:
        """Return one person of the fitted population, the same in all texts."""
        if number == 0:
            raise ValueError("annotator 0 is nobody; people are numbered from 1")
        return cls(number, rate, accent=accent)

    def edits(self, text: str, rng: Random) -> tuple[Edit, ...]:
        """Return what dictating `text` changes."""
        name = self.recogniser or ("search" if any(map(str.isupper, text)) else "assistant")
        return simulate_dictation(text[:MAX_CHARACTERS], name, load_recognisers()[name], self, rng.random)

    def untouched(self, text: str) -> str:
        """Return why nothing of `text` is dictated, where nothing is.

        >>> EnSpeech().untouched("北京")
        'no English word to dictate'
        """
        return "" if SPOKEN.search(text) else "no English word to dictate"


class SpokenToken(NamedTuple):
    """A word of the text: where it stands, as it is written, and what it is in lower case without marks around it."""

    start: int
    end: int
    text: str
    word: str


def normal_quantile(share: float) -> float:
    """Return where a share of a population ends, in standard deviations.

    >>> normal_quantile(0.5), round(normal_quantile(0.975), 2)
    (0.0, 1.96)
    """
    from statistics import NormalDist  # takes long to import

    return NormalDist().inv_cdf(min(max(share, 1e-6), 1 - 1e-6))


@cache
def person_quantile(who: int) -> float:
    """Return where a person stands in the population, in standard deviations: the higher, the more is missed."""
    return normal_quantile(who * GOLDEN % 1)


def split_tokens(text: str) -> list[SpokenToken]:
    """Return the words that are spoken.

    >>> [token.word for token in split_tokens("What's the U.S. Open, 北京?")]
    ["what's", 'the', 'u.s', 'open']
    """
    tokens = []
    for match in TOKEN.finditer(text):
        word = ENDS.sub("", match[0].lower().replace("’", "'"))
        if SPOKEN.search(word):
            tokens.append(SpokenToken(match.start(), match.end(), match[0], word))
    return tokens


def simulate_dictation(
    text: str, name: str, model: Recogniser, op: EnSpeech, draw: Callable[[], float]
) -> tuple[Edit, ...]:
    """Return the edits of one text."""
    tokens = split_tokens(text)
    if not tokens or not op.rate:
        return ()
    words = [token.word for token in tokens]
    sounds = [apply_accent(pronounce(word), op.accent, draw) for word in words]
    of_text, of_person, of_recording = model.spread
    hard = (crc32(text.encode("utf-8", "replace")) + 0.5) / 2**32  # how hard a text is, is the same for every speaker
    person = person_quantile(op.who) if op.who else normal_quantile(draw())
    recording = normal_quantile(draw())
    mood = of_text * normal_quantile(hard) + of_person * person + of_recording * recording
    dictation = _EnglishDictation(text, name, model, tokens, sounds, draw)
    dictation.listen(mood, op)
    return tuple(dictation.write())


class _EnglishDictation:
    """The dictation of one text: what was missed, and what is written."""

    def __init__(
        self,
        text: str,
        name: str,
        model: Recogniser,
        tokens: list[SpokenToken],
        sounds: list[str],
        draw: Callable[[], float],
    ) -> None:
        self.text, self.name, self.model, self.tokens, self.sounds, self.draw = text, name, model, tokens, sounds, draw
        self.missed = [False] * len(tokens)
        self.edits: list[Edit] = []
        self.previous_word = "^"  # the word written last

    def listen(self, mood: float, op: EnSpeech) -> None:
        """Draw which words are missed."""
        capital = [token.text[:1].isupper() for token in self.tokens]
        repeat_weight = self.model.hazard[9]
        missed = False
        for at, trait in enumerate(word_features(self.model, [token.word for token in self.tokens], capital)):
            logit = mood + sum(weight * value for weight, value in zip(self.model.hazard, trait, strict=True))
            unclear = op.accent != "us" and self.sounds[at] != pronounce(self.tokens[at].word)
            odds = op.rate * exp(logit + repeat_weight * missed + UNCLEAR * unclear)
            self.missed[at] = missed = self.draw() * (1 + odds) < odds and bool(self.sounds[at])

    def write(self) -> list[Edit]:
        """Write the text from left to right."""
        model, draw = self.model, self.draw
        plain = draw() < model.shares["plain"]
        at, size = 0, len(self.tokens)
        while at < size:
            if draw() < model.shares["added first" if at == 0 else "added"] and not self.missed[at]:
                self.add(at)
            end = at
            while end < size and self.missed[end] and (end == at or self.is_adjacent(end)):
                end += 1
            if end > at:
                self.write_missed(at, end, plain=plain)
            at = end
            if end < size and not self.missed[end]:
                self.write_heard(end, plain=plain)
                at = end + 1
        if self.edits and not self.has_output():
            return []
        return self.edits

    def is_adjacent(self, at: int) -> bool:
        """Whether nothing but marks stands between a word and the one before."""
        return not UNSPOKEN.search(self.text, self.tokens[at - 1].end, self.tokens[at].start)

    def has_output(self) -> bool:
        """Whether anything is written."""
        gone = sum(edit.end - edit.start for edit in self.edits if not edit.text.strip())
        return gone < len(self.text.strip())

    def replace(self, start: int, end: int, new: str) -> None:
        """Record an edit, without what it leaves as it is."""
        if (old := self.text[start:end]) != new:
            edit = trim_edit(start, old, new)
            if self.edits and self.edits[-1].end == edit.start == edit.end:  # an insertion right behind an edit
                last = self.edits.pop()
                edit = Edit(last.start, last.end, last.text + edit.text)
            self.edits.append(edit)

    def add(self, at: int) -> None:
        """Write a word that nobody said, before a word."""
        model, following = self.model, self.tokens[at].word
        options = model.insertions
        candidates = [options.pick(self.draw()) for _ in range(6)]  # of a few that come to mind, the one that fits best
        best = max(
            candidates,
            key=lambda new: model.pair_affinity(self.previous_word, new) + model.pair_affinity(new, following),
        )
        self.replace(self.tokens[at].start, self.tokens[at].start, f"{best} ")
        self.previous_word = best.rpartition(" ")[2]

    def write_heard(self, at: int, *, plain: bool) -> None:
        """Write a word that was heard, with the recogniser's case and marks."""
        token = self.tokens[at]
        self.replace(token.start, token.end, write_heard_word(self.name, self.model, token, at, self.draw, plain=plain))
        self.previous_word = token.word

    def write_missed(self, start: int, end: int, *, plain: bool) -> None:
        """Write what was heard for the missed words."""
        model, draw = self.model, self.draw
        new = self.draw_words(start, end)
        old = self.tokens[start:end]
        capitalised = [token.text[:1].isupper() and at + start > 0 for at, token in enumerate(old)]
        if self.name == "search" and not plain:
            capital = model.shares["capital for a name"], model.shares["capital for a word"]
            for number, word in enumerate(new):
                name = capitalised[min(number * len(old) // max(len(new), 1), len(old) - 1)]
                if draw() < (capital[0] if name else capital[1]):
                    new[number] = word[:1].upper() + word[1:]
        first, last = old[0].start, old[-1].end
        if len(new) == len(old):
            for token, word in zip(old, new, strict=True):
                self.replace(token.start, token.end, word)
        elif new:
            self.replace(first, last, " ".join(new))
        elif start and self.is_adjacent(start):  # with the blank before
            self.replace(self.tokens[start - 1].end, last, "")
        else:
            end_of_blank = self.tokens[end].start if end < len(self.tokens) and self.is_adjacent(end) else last
            self.replace(first, end_of_blank, "")
        if new:
            self.previous_word = new[-1].lower()

    def draw_words(self, start: int, end: int) -> list[str]:
        """Return the words that are written for a stretch."""
        model, draw = self.model, self.draw
        words = [token.word for token in self.tokens[start:end]]
        following = self.tokens[end].word if end < len(self.tokens) else "$"
        if (known := model.memory.get(" ".join(words))) and draw() < known[1] / (known[1] + model.shares["forget"]):
            return known[0].pick(draw()).split()
        size = len(words)
        target = int(model.sizes[0 if size == 1 and len(words[0]) < SHORT else min(size, MAX_STRETCH)].pick(draw()))
        sounds = self.sounds[start:end]
        if target > size and draw() >= model.shares["split"]:
            new = self.draw_word_by_word(words, sounds, following)
            while len(new) < target:
                new.insert(int(draw() * (len(new) + 1)), model.insertions.pick(draw()).partition(" ")[0])
            return new
        if target < size and draw() >= model.shares["merge"]:
            self.drop(words, sounds, target)
        joined_sounds = "".join(sounds)
        if target in (0, len(words)) or len(joined_sounds) < 2 * target:
            return self.draw_word_by_word(words, sounds, following) if target else []
        return self.draw_word_by_word([""] * target, list(split_sounds(joined_sounds, target, draw)), following)

    def drop(self, words: list[str], sounds: list[str], target: int) -> None:
        """Leave out words until so many are left, the shorter the likelier."""
        while len(words) > target:
            at = draw_index((1 / len(word) for word in words), self.draw())
            del words[at], sounds[at]

    def draw_word_by_word(self, words: list[str], sounds: list[str], following: str) -> list[str]:
        """Return a word for each, one after the other."""
        model, draw = self.model, self.draw
        new: list[str] = []
        for at, (word, sound) in enumerate(zip(words, sounds, strict=True)):
            foreign = word not in model.words
            if draw() < model.shares["unknown foreign" if foreign else "unknown"]:
                new += ("< unk >" if draw() < model.shares["unknown marked"] else "@@UNKNOWN@@",)
                continue
            if len(words) > 1 and (known := model.memory.get(word)) and draw() < model.shares["alone"]:
                new += [known[0].pick(draw())] if draw() < 0.5 else []
                continue
            after = words[at + 1] if at + 1 < len(words) else following
            before = new[-1] if new else self.previous_word
            heard_word = draw_similar_word(self.name, sound, word, before, after or None, draw)
            new.append(heard_word or word or sound)
        return [word for word in new if word]


def write_heard_word(
    name: str, model: Recogniser, token: SpokenToken, at: int, draw: Callable[[], float], *, plain: bool
) -> str:
    """Return how a word is written that was heard; a transcript that is `plain` has no capitals."""
    word = token.word
    if options := model.spellings.get(word):
        word = options.pick(draw())
    if "'" in word:
        word = write_clitic(model, word, draw())
    if name == "assistant" or plain:
        return word
    bare = ENDS.sub("", token.text).replace("’", "'")
    is_capitalised = bare[:1].isupper() and (at > 0 or (len(bare) > 1 and token.word not in load_common_words()))
    capital = draw() < model.shares["capital kept" if is_capitalised else "capital new"]
    if not capital or word != token.word:
        return word
    return bare if is_capitalised else word.capitalize() if len(word) >= SHORT else word


def write_clitic(model: Recogniser, word: str, chance: float) -> str:
    """Return a word that has an apostrophe as it is written: apart, apart without the mark, whole, or in one.

    >>> [write_clitic(load_recognisers()["assistant"], "don't", chance) for chance in (0.0, 0.999)]
    ["do n't", 'dont']
    """
    stem, _, clitic = word.rpartition("'")
    shares = model.shares
    if chance < shares["clitic apart"] and clitic:
        return f"{stem[:-1]} n't" if clitic == "t" and stem.endswith("n") else f"{stem} '{clitic}"
    if chance < shares["clitic apart"] + shares["clitic bare"]:
        return f"{stem} {clitic}".strip()
    return word if chance < 1 - shares["clitic none"] else stem + clitic


@cache
def load_common_words() -> frozenset[str]:
    """Return words that are no names at the start of a text."""
    from lapsus.perturbations.en.sounds import load_frequent_pronunciations

    return frozenset(list(load_frequent_pronunciations())[:LOWERED_WORDS])


UNITS = (EnSpeech(),)
