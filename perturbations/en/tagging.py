"""Part-of-speech tags (Penn Treebank's) of English words, by NLTK's averaged perceptron, as in NATURE.

Any other tagger will do: a callable that takes words and returns as many tags.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, runtime_checkable

from lapsus.perturbations.en.lexicon import read_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lapsus.core.edits import Span

WORD = re.compile(r"\w+(?:[-'’./:&]\w+)*|[^\w\s]+")
LATIN = re.compile(r"[A-Za-z]")
CACHE_SIZE = 2**16  # sentences: one tagging serves every operator

Weights: TypeAlias = dict[str, tuple[tuple[int, float], ...]]


class PosTagger(Protocol):
    """A callable, hashable and picklable, from the words of a sentence to their tags."""

    def __call__(self, words: Sequence[str], /) -> Sequence[str]:
        """Return one Penn Treebank tag per word."""
        ...

    def __hash__(self) -> int:
        """The identity of a tagger, since tagged sentences are cached."""
        ...


@runtime_checkable
class WordSplitter(Protocol):
    """A tagger that cuts texts into words by itself."""

    def find_words(self, text: str) -> tuple[Span, ...]:
        """Return where its words stand."""
        ...


class TaggedText(NamedTuple):
    """A text cut into words: where they stand, what they are."""

    words: tuple[str, ...]
    spans: tuple[Span, ...]
    tags: tuple[str, ...]


class Perceptron(NamedTuple):
    """The trained tagger: weights by feature, the tags of unambiguous words, all tags."""

    weights: Weights
    known: dict[str, str]
    classes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PerceptronTagger:
    """NLTK's averaged perceptron tagger.

    >>> PerceptronTagger()(["please", "play", "some", "jazz"])
    ['VB', 'VB', 'DT', 'NN']
    """

    version: str = "1"

    def __call__(self, words: Sequence[str], /) -> list[str]:
        """Tag from left to right."""
        return predict_tags(words)

    def keeps_tag(self, words: Sequence[str], tags: Sequence[str], place: int) -> bool:
        """Return whether a word that was put into a tagged sentence has the tag of the one that stood there.

        It must have it beside the old tags, which refuses most candidates at once, and when all is tagged anew;
        since the word is seen from two places before it, only these are tagged again.
        """
        model, old_tag = _load_perceptron(), tags[place]
        if (tag := model.known.get(words[place])) is not None:
            return tag == old_tag
        context = _make_context(words)
        new_tags = list(tags[:place])
        if _tag(model, words[place], context[place : place + 5], _make_history(new_tags)) != old_tag:
            return False
        for i in range(max(place - 2, 0), place):
            new_tags[i] = _tag(model, words[i], context[i : i + 5], _make_history(new_tags[:i]))
        return new_tags[-2:] == [*tags[:place]][-2:] or (
            _tag(model, words[place], context[place : place + 5], _make_history(new_tags)) == old_tag
        )


PERCEPTRON = PerceptronTagger()
START = ("-START-", "-START2-")
END = ("-END-", "-END2-")


def predict_tags(words: Sequence[str], known: Mapping[int, str] | None = None) -> list[str]:
    """Tag words from left to right; the tags of some places may be known."""
    tags: list[str] = []
    model, context, history = _load_perceptron(), _make_context(words), START
    for i in range(len(words)):
        known_tag = known.get(i) if known else None
        tags.append(known_tag or _tag(model, words[i], context[i : i + 5], history))
        history = tags[-1], history[0]
    return tags


def _tag(model: Perceptron, word: str, window: Sequence[str], history: tuple[str, str]) -> str:
    """Tag a word, seen among its two neighbours on either side, by these and by the last two tags."""
    if (tag := model.known.get(word)) is not None:
        return tag
    scores = [0.0] * len(model.classes)
    find = model.weights.get
    left2, left, here, right, right2 = window
    before, last = history
    for feature in (
        "bias",
        f"i suffix {word[-3:]}",
        f"i pref1 {word[:1]}",
        f"i-1 tag {before}",
        f"i-2 tag {last}",
        f"i tag+i-2 tag {before} {last}",
        f"i word {here}",
        f"i-1 tag+i word {before} {here}",
        f"i-1 word {left}",
        f"i-1 suffix {left[-3:]}",
        f"i-2 word {left2}",
        f"i+1 word {right}",
        f"i+1 suffix {right[-3:]}",
        f"i+2 word {right2}",
    ):
        for tag_index, weight in find(feature, ()):
            scores[tag_index] += weight
    return model.classes[scores.index(max(scores))]


def _make_history(tags: Sequence[str]) -> tuple[str, str]:
    """Return the last two tags, the nearer one first."""
    nearer, farther = (*tags[:-3:-1], *START)[:2]
    return nearer, farther


def _make_context(words: Sequence[str]) -> list[str]:
    return [*START, *map(_normalise_word, words), *END]


@lru_cache(maxsize=CACHE_SIZE)
def _normalise_word(word: str) -> str:
    if "-" in word and word[0] != "-":
        return "!HYPHEN"
    if word.isdigit() and len(word) == 4:
        return "!YEAR"
    return "!DIGITS" if word[:1].isdigit() else word.lower()


@cache
def _load_perceptron() -> Perceptron:
    """Read the weights once."""
    weights, known, classes = json.loads(read_table("tagger.json"))
    ranked = tuple(sorted(classes, reverse=True))  # of equal scores the last tag in the alphabet wins
    number = {tag: i for i, tag in enumerate(ranked)}
    return Perceptron(
        {feature: tuple((number[tag], weight) for tag, weight in tags.items()) for feature, tags in weights.items()},
        known,
        ranked,
    )


@lru_cache(maxsize=CACHE_SIZE)
def tag_text(text: str, tagger: PosTagger) -> TaggedText:
    """Cut `text` into words and tag them; a text that returns is not tagged again.

    >>> tag_text("Play jazz!", PerceptronTagger()).tags
    ('NNP', 'NN', '.')
    """
    spans = (
        tagger.find_words(text)
        if isinstance(tagger, WordSplitter)
        else tuple(match.span() for match in WORD.finditer(text))
    )
    words = tuple(text[start:end] for start, end in spans)
    tags = tuple(tagger(words)) if words else ()
    if len(tags) != len(words):
        raise ValueError(f"the tagger gave {len(tags)} tags for {len(words)} words; it must give one per word")
    return TaggedText(words, spans, tags)


def keeps_tag(word: str, sentence: TaggedText, place: int, tagger: PosTagger) -> bool:
    """Return whether `word`, put at `place`, has there the tag of the word that it replaces."""
    if isinstance(tagger, PerceptronTagger):  # it sees no further than this
        start = max(place - 4, 0)
        window = (*sentence.words[start:place], word, *sentence.words[place + 1 : place + 3])
        return tagger.keeps_tag(window, sentence.tags[start : place + 1], place - start)
    words = (*sentence.words[:place], word, *sentence.words[place + 1 :])
    return tagger(words)[place] == sentence.tags[place]


def find_verb_phrase(tags: Sequence[str]) -> tuple[int, int] | None:
    """Return the first and the last word of the first verbal phrase.

    >>> find_verb_phrase(["PRP", "MD", "VB", "TO", "VB", "DT", "NN"])
    (1, 4)
    """
    verbs = [i for i, tag in enumerate(tags) if tag.startswith("VB")]
    if not verbs:
        return next(((i, i) for i, tag in enumerate(tags) if tag == "MD"), None)
    first = last = verbs[0]
    while first > 0 and tags[first - 1] == "MD":
        first -= 1
    while True:
        following = [tag[:2] for tag in tags[last + 1 : last + 3]]
        if following[:1] == ["VB"]:
            last += 1
        elif following in (["TO", "VB"], ["RB", "VB"]):
            last += 2
        else:
            return first, last
