"""NATURE's synonyms: another word of the same part of speech stands in for one of the utterance's (section 3.2).

Where the candidates come from is a setting: WordNet, or any fill-mask model (`lapsus.perturbations.en.masked_model`).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from math import floor, log10
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from lapsus.core.edits import Edit, overlaps
from lapsus.core.imports import import_optional
from lapsus.perturbations.core import ShortRepr, SingleTextMixin, pick
from lapsus.perturbations.en.letter_case import match_case
from lapsus.perturbations.en.lexicon import FOLDER, find_senses, lemmatise
from lapsus.perturbations.en.sounds import load_frequencies
from lapsus.perturbations.en.tagging import LATIN, PERCEPTRON, PosTagger, TaggedText, keeps_tag, tag_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random

    from lapsus.perturbations.core import Constraints

PARTS = {"verb": "VB", "adjective": "JJ", "adverb": "RB", "noun": "NN"}
WORDNET = {"VB": "v", "JJ": "a", "RB": "r", "NN": "n"}
RELATION_WEIGHTS = {"&": 1e-2, "@": 1e-4}  # an adjective's neighbours, the word for the kind of thing: worth less
# Stop words that negate, and pieces of contractions.
EXCLUDED_STOPWORDS = frozenset(("no", "nor", "not", "ain", "d", "ll", "m", "ma", "o", "re", "s", "t", "ve", "y"))
MIN_FREQUENCY = 10**-6  # rarer words are in WordNet, but nobody says them


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

    def rank(self, gaps: Sequence[Gap]) -> Iterable[Sequence[str]]:
        """Return the words that could stand in each gap, the most probable first."""
        ...


@dataclass(frozen=True, slots=True)
class WordNet:
    """Words that share a sense, the frequent words of the frequent senses first; for a stop word, the other ones.

    >>> list(WordNet().rank([Gap("buy milk", 0, 3, "VB", "verb")]))[0][:2]
    ['purchase', 'corrupt']
    """

    version: str = "1"

    def rank(self, gaps: Sequence[Gap]) -> list[Sequence[str]]:
        """Look each word up."""
        return [
            list(_load_stopwords()) if gap.part == "stopword" else _rank_synonyms(gap.word, gap.tag) for gap in gaps
        ]


RESOURCE = WordNet()


@lru_cache(maxsize=2**16)
def _rank_synonyms(word: str, tag: str) -> list[str]:
    """Return inflected synonyms, ranked by frequency over the rank of the sense."""
    part = tag[:2]
    if part not in WORDNET:
        return []
    lemminflect = import_optional("lemminflect", "en")
    scores: dict[str, float] = defaultdict(float)
    for base in lemmatise(word, WORDNET[part]):
        for rank, sense in enumerate(find_senses(base, WORDNET[part]), start=1):
            for words, worth in (
                (sense.words, 1.0),
                *((sense.find_related(sign), RELATION_WEIGHTS[sign]) for sign in RELATION_WEIGHTS),
            ):
                for other in words:
                    scores[other] += word_frequency(other) / rank * worth
        scores.pop(base, None)
    best = sorted((other for other in scores if scores[other] > 0), key=lambda other: (-scores[other], other))
    inflections = (
        lemminflect.getInflection(other, tag) or (other,) for other in best if other.isalpha() and len(other) > 1
    )
    return [forms[0] for forms in inflections]


def word_frequency(word: str) -> float:
    """Return how often an English word is said, or 0 if hardly ever."""
    share = load_frequencies().get(word.casefold(), 0.0)
    share = round(share, floor(-log10(share)) + 3) if share else 0.0  # three digits, as wordfreq gives it
    return share if share >= MIN_FREQUENCY else 0.0


@cache
def _load_stopwords() -> dict[str, None]:
    """Return NLTK's English stop words, the most frequent first."""
    listed = (FOLDER / "stopwords.txt").read_text(encoding="utf-8").split()
    negated = {word.removesuffix("'t") for word in listed if word.endswith("n't")}  # don, couldn
    words = [word for word in listed if word.isalpha() and word not in EXCLUDED_STOPWORDS | negated]
    return dict.fromkeys(sorted(words, key=lambda word: (-word_frequency(word), word)))


@dataclass(frozen=True, slots=True, repr=False)
class Synonym(ShortRepr, SingleTextMixin):
    """Replace one word by a synonym of the same part of speech in context.

    `part` is verb, adjective, adverb, any (one of these or a noun, drawn) or stopword; where the utterance has no
    such word, or none with a synonym, a noun is taken, and where that fails too, any of the four.

    >>> from lapsus.perturbations import apply, perturb
    >>> apply("let me buy it", perturb(Synonym("verb"), "let me buy it", key="4"))
    'let me purchase it'
    """

    needs: ClassVar[str] = "lapsus[en]"
    part: str
    candidates: Candidates = RESOURCE
    tagger: PosTagger = PERCEPTRON
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

    def edits_within(
        self, texts: Sequence[str], rngs: Sequence[Random], constraint_sets: Sequence[Constraints]
    ) -> list[tuple[Edit, ...]]:
        """Try the targets of all texts in rounds, so that a model sees them in batches."""
        sentences = [tag_text(text, self.tagger) for text in texts]
        targets = [
            iter(self._order_targets(sentence, rng, constraints))
            for sentence, rng, constraints in zip(sentences, rngs, constraint_sets, strict=True)
        ]
        edits: list[tuple[Edit, ...]] = [()] * len(texts)
        waiting = list(range(len(texts)))
        while waiting:
            tried = {i: target for i in waiting if (target := next(targets[i], None))}
            gaps = [
                Gap(texts[i], *sentences[i].spans[place], sentences[i].tags[place], part)
                for i, (place, part) in tried.items()
            ]
            for (i, (place, _)), gap, words in zip(tried.items(), gaps, self.candidates.rank(gaps), strict=True):
                word = self._find_fitting(sentences[i], place, words)
                if word is not None:
                    edits[i] = (Edit(gap.start, gap.end, word),)
            waiting = [i for i in tried if not edits[i]]
        return edits

    def _order_targets(self, sentence: TaggedText, rng: Random, constraints: Constraints) -> list[tuple[int, str]]:
        """Return the words to try, in the order of trying: those of the wanted part of speech, nouns, the rest.

        Of a part of speech, the words that are no stop words come first.
        """
        first_part = pick(rng, tuple(PARTS)) if self.part == "any" else self.part
        order = sorted(range(len(sentence.words)), key=[rng.random() for _ in sentence.words].__getitem__)
        free = [
            i
            for i in order
            if LATIN.search(sentence.words[i]) and not overlaps(*sentence.spans[i], constraints.protected)
        ]
        stop = {i for i in free if sentence.words[i].lower() in _load_stopwords()}

        def select_targets(part: str) -> list[tuple[int, str]]:
            if part == "stopword":
                return [(i, part) for i in free if i in stop]
            matching = [i for i in free if sentence.tags[i].startswith(PARTS[part])]
            return [(i, part) for i in sorted(matching, key=stop.__contains__)]

        return [target for part in dict.fromkeys((first_part, "noun", *PARTS)) for target in select_targets(part)]

    def _find_fitting(self, sentence: TaggedText, place: int, words: Sequence[str]) -> str | None:
        """Return the first candidate that is tagged as the word it replaces."""
        old = sentence.words[place]
        cased = (match_case(old, word) for word in words if word.isalpha() and word.lower() != old.lower())
        return next((word for word in cased if keeps_tag(word, sentence, place, self.tagger)), None)


NATURE_SYNONYMS = tuple(Synonym(part) for part in ("verb", "adjective", "adverb", "any", "stopword"))
"""NATURE's own, as its datasets hold them."""

UNITS = tuple(replace(operator, prefix="nature.") for operator in NATURE_SYNONYMS)
