"""NATURE's synonyms: another word of the same part of speech stands in for one of the utterance's (section 3.2).

Where the candidates come from is a setting: WordNet, or any fill-mask model (`lapsus.perturbations.en.masked_model`).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from math import floor, log10
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from lapsus.kernel.extras import needed
from lapsus.perturbations.core import Edit, EditsOfOneText, ShortRepr, pick
from lapsus.perturbations.en.letter_case import like
from lapsus.perturbations.en.sounds import frequencies
from lapsus.perturbations.en.tables import FOLDER
from lapsus.perturbations.en.tagging import LATIN, PERCEPTRON, Tagged, Tagger, fits, tagged
from lapsus.perturbations.en.wordnet import base_forms, senses

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random

    from lapsus.perturbations.core import Frame

PARTS = {"verb": "VB", "adjective": "JJ", "adverb": "RB", "noun": "NN"}
WORDNET = {"VB": "v", "JJ": "a", "RB": "r", "NN": "n"}
NEARLY = {"&": 1e-2, "@": 1e-4}  # an adjective's neighbours, the word for the kind of thing: worth less
# Stop words that negate, and pieces of contractions.
UNFIT = frozenset(("no", "nor", "not", "ain", "d", "ll", "m", "ma", "o", "re", "s", "t", "ve", "y"))
COMMON = 10**-6  # rarer words are in WordNet, but nobody says them


class Gap(NamedTuple):
    """A word to replace, in its text: its tag, and the part of speech (or stopword) that the operator wanted."""

    text: str
    start: int
    end: int
    tag: str
    part: str

    @property
    def word(self) -> str:
        """The word that stands there."""
        return self.text[self.start : self.end]


class Candidates(Protocol):
    """Where candidates come from; a frozen dataclass, so that its repr tells what made a track."""

    def ranked(self, gaps: Sequence[Gap]) -> Iterable[Sequence[str]]:
        """Return the words that could stand in each gap, the most probable first."""
        ...


@dataclass(frozen=True, slots=True)
class WordNet:
    """Words that share a sense, the frequent words of the frequent senses first; for a stop word, the other ones.

    >>> list(WordNet().ranked([Gap("buy milk", 0, 3, "VB", "verb")]))[0][:2]
    ['purchase', 'corrupt']
    """

    version: str = "1"

    def ranked(self, gaps: Sequence[Gap]) -> list[Sequence[str]]:
        """Look each word up."""
        return [list(_stopwords()) if gap.part == "stopword" else _synonyms(gap.word, gap.tag) for gap in gaps]


RESOURCE = WordNet()


@lru_cache(maxsize=2**16)
def _synonyms(word: str, tag: str) -> list[str]:
    """Return inflected synonyms, ranked by frequency over the rank of the sense."""
    part = tag[:2]
    if part not in WORDNET:
        return []
    lemminflect = needed("lemminflect", "en")
    scores: dict[str, float] = defaultdict(float)
    for base in base_forms(word, WORDNET[part]):
        for rank, sense in enumerate(senses(base, WORDNET[part]), start=1):
            for words, worth in ((sense.words, 1.0), *((sense.related(sign), NEARLY[sign]) for sign in NEARLY)):
                for other in words:
                    scores[other] += frequency(other) / rank * worth
        scores.pop(base, None)
    best = sorted((other for other in scores if scores[other] > 0), key=lambda other: (-scores[other], other))
    inflected = (
        lemminflect.getInflection(other, tag) or (other,) for other in best if other.isalpha() and len(other) > 1
    )
    return [forms[0] for forms in inflected]


def frequency(word: str) -> float:
    """Return how often an English word is said, or 0 if hardly ever."""
    found = frequencies().get(word.casefold(), 0.0)
    found = round(found, floor(-log10(found)) + 3) if found else 0.0  # three digits, as wordfreq gives it
    return found if found >= COMMON else 0.0


@cache
def _stopwords() -> dict[str, None]:
    """Return NLTK's English stop words, the most frequent first."""
    listed = (FOLDER / "stopwords.txt").read_text(encoding="utf-8").split()
    negated = {word.removesuffix("'t") for word in listed if word.endswith("n't")}  # don, couldn
    words = [word for word in listed if word.isalpha() and word not in UNFIT | negated]
    return dict.fromkeys(sorted(words, key=lambda word: (-frequency(word), word)))


@dataclass(frozen=True, slots=True, repr=False)
class Synonym(ShortRepr, EditsOfOneText):
    """Replace one word by a synonym of the same part of speech in context.

    `part` is verb, adjective, adverb, any (one of these or a noun, drawn) or stopword; where the utterance has no
    such word, or none with a synonym, a noun is taken, and where that fails too, any of the four.

    >>> from lapsus.perturbations.core import apply, perturb
    >>> apply("let me buy it", perturb(Synonym("verb"), "let me buy it", key="4"))
    'let me purchase it'
    """

    needs: ClassVar[str] = "lapsus[en]"
    part: str
    candidates: Candidates = RESOURCE
    tagger: Tagger = PERCEPTRON
    prefix: str = ""
    version: str = "1"

    def __post_init__(self) -> None:
        if self.part not in {*PARTS, "any", "stopword"}:
            raise ValueError(f"part is {self.part!r}; it is one of {', '.join(PARTS)}, any, stopword")

    @property
    def name(self) -> str:
        """The name in datasets."""
        return f"{self.prefix}synonym_{self.part}"

    @property
    def summary(self) -> str:
        """What the operator does."""
        word = {"any": "verb, noun, adjective or adverb", "stopword": "function word"}.get(self.part, self.part)
        return f"Replace one {word} by a candidate that is tagged alike, whatever it means there (NATURE's own)"

    def edits_framed(
        self, texts: Sequence[str], rngs: Sequence[Random], frames: Sequence[Frame]
    ) -> list[tuple[Edit, ...]]:
        """Try the targets of all texts in rounds, so that a model sees them in batches."""
        sentences = [tagged(text, self.tagger) for text in texts]
        targets = [
            iter(self._targets(sentence, rng, frame))
            for sentence, rng, frame in zip(sentences, rngs, frames, strict=True)
        ]
        found: list[tuple[Edit, ...]] = [()] * len(texts)
        waiting = list(range(len(texts)))
        while waiting:
            tried = {i: target for i in waiting if (target := next(targets[i], None))}
            gaps = [
                Gap(texts[i], *sentences[i].places[place], sentences[i].tags[place], part)
                for i, (place, part) in tried.items()
            ]
            for (i, (place, _)), gap, words in zip(tried.items(), gaps, self.candidates.ranked(gaps), strict=True):
                word = self._first_fitting(sentences[i], place, words)
                if word is not None:
                    found[i] = (Edit(gap.start, gap.end, word),)
            waiting = [i for i in tried if not found[i]]
        return found

    def _targets(self, sentence: Tagged, rng: Random, frame: Frame) -> list[tuple[int, str]]:
        """Return the words to try, in the order of trying: those of the wanted part of speech, nouns, the rest.

        Of a part of speech, the words that are no stop words come first.
        """
        wanted = pick(rng, tuple(PARTS)) if self.part == "any" else self.part
        order = sorted(range(len(sentence.words)), key=[rng.random() for _ in sentence.words].__getitem__)
        free = [
            i
            for i in order
            if LATIN.search(sentence.words[i])
            and not any(
                sentence.places[i][0] < right and left < sentence.places[i][1] for left, right in frame.protected
            )
        ]
        stop = {i for i in free if sentence.words[i].lower() in _stopwords()}

        def standing(part: str) -> list[tuple[int, str]]:
            if part == "stopword":
                return [(i, part) for i in free if i in stop]
            mine = [i for i in free if sentence.tags[i].startswith(PARTS[part])]
            return [(i, part) for i in sorted(mine, key=stop.__contains__)]

        return [target for part in dict.fromkeys((wanted, "noun", *PARTS)) for target in standing(part)]

    def _first_fitting(self, sentence: Tagged, place: int, words: Sequence[str]) -> str | None:
        """Return the first candidate that is tagged as the word it replaces."""
        old = sentence.words[place]
        cased = (like(old, word) for word in words if word.isalpha() and word.lower() != old.lower())
        return next((word for word in cased if fits(word, sentence, place, self.tagger)), None)


OF_THE_PAPER = tuple(Synonym(part) for part in ("verb", "adjective", "adverb", "any", "stopword"))
"""NATURE's own, as its datasets hold them."""

UNITS = tuple(replace(operator, prefix="nature.") for operator in OF_THE_PAPER)
