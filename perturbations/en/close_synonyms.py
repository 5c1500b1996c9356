"""Synonyms that keep the meaning: one word of an utterance gives way to another that says the same there.

Which words may stand for which, and beside what, is written by hand in `data/synonyms`, in the notation of
`word_lists`: base forms, which are inflected as the word they replace, or forms (*cheapest*), which stay as they are.
Light verbs (be, have, do, get, go, make, take) are replaced nowhere; a verb whose pattern differs (*display me*) has
the pattern written beside it. Where nothing fits, the text stays.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from lapsus.core.edits import Edit, overlaps
from lapsus.core.imports import import_optional
from lapsus.core.text import is_upper
from lapsus.perturbations.core import ShortRepr, TextByTextMixin, pick
from lapsus.perturbations.en.letter_case import match_case
from lapsus.perturbations.en.lexicon import lemmatise
from lapsus.perturbations.en.spoken import SPOKEN
from lapsus.perturbations.en.tagging import WORD, PosTagger, tag_text
from lapsus.perturbations.semantic.word_lists import Rule, parse_rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

    from lapsus.core.edits import Span
    from lapsus.perturbations.core import Constraints

TAGS = {  # what the tagger calls a word that stands in a list
    "verb": re.compile(r"VB"),
    "adjective": re.compile(r"JJ|RB[RS]|VB[GN]|NN$"),
    "adverb": re.compile(r""),
    "noun": re.compile(r"NNS?$"),
    "stopword": re.compile(r""),
}
PARTS = {"verb": ("verb",), "adjective": ("adjective",), "adverb": ("adverb",), "stopword": ("stopword",),
         "any": ("verb", "adjective", "adverb", "noun")}  # fmt: skip
LISTS = Path(__file__).parent / "data" / "synonyms"
ARTICLE = re.compile(r"(?i)\b(an?)\s+$")
VOWEL = re.compile(r"(?i)(?!one\b|once\b|uni|use|usual|eu)[aeiou]|hour|honest|heir")
QUOTED = re.compile(r"[\"“][^\"“”]*[\"”]")


class ReplaceableWord(NamedTuple):
    """A word that can be replaced, and by what."""

    start: int
    end: int
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class CloseSynonym(ShortRepr, TextByTextMixin):
    """Replace one word by another that means the same beside its neighbours.

    `part` is verb, adjective, adverb, stopword, or any (a noun too). The values of slots and answers stay as they are,
    unless `opens_slots`; names and quotations always do.

    >>> from lapsus.perturbations import apply, perturb
    >>> apply("let me buy a ticket", perturb(CloseSynonym("verb"), "let me buy a ticket"))
    'let me purchase a ticket'
    """

    needs: ClassVar[str] = "lapsus[en]"
    part: str
    opens_slots: bool = False
    tagger: PosTagger = SPOKEN
    version: str = "3"

    def __post_init__(self) -> None:
        if self.part not in PARTS:
            raise ValueError(f"part is {self.part!r}; it is one of {', '.join(PARTS)}")

    @property
    def name(self) -> str:
        """The name in datasets."""
        return f"synonym_{self.part}"

    @property
    def summary(self) -> str:
        """What the operator does."""
        word = {"any": "verb, noun, adjective or adverb", "stopword": "function word"}.get(self.part, self.part)
        return f"Replace one {word} by a word that means the same in its context, if there is one"

    def draw_edits(self, text: str, rng: Random, constraints: Constraints) -> tuple[Edit, ...]:
        """Draw one word from those that have a synonym where they stand."""
        closed = (
            *constraints.protected,
            *(() if self.opens_slots else constraints.spans),
            *(q.span() for q in QUOTED.finditer(text)),
        )
        places = [place for part in PARTS[self.part] for place in self._iter_replaceable_words(text, part, closed)]
        options = [(place, edits) for place in places if (edits := [*_iter_replacements(text, place, closed)])]
        if not options:
            return ()
        return pick(rng, pick(rng, options)[1])

    def _iter_replaceable_words(self, text: str, part: str, closed: Sequence[Span]) -> Iterator[ReplaceableWord]:
        """Yield the words of a part of speech that have a synonym where they stand."""
        rules, lower = load_rules(part), text.lower()
        if len(lower) != len(text):  # a letter whose small form is longer: places would be off
            return
        if part == "stopword":
            tokens = [(match.start(), match.end(), "") for match in WORD.finditer(text)]
        else:
            sentence = tag_text(text, self.tagger)
            tokens = [(*place, tag) for place, tag in zip(sentence.spans, sentence.tags, strict=True)]
        shouted, first, text_words = is_upper(text), True, set(re.findall(r"\w+", lower))
        for start, end, tag in tokens:
            word = lower[start:end]
            name = text[start].isupper() and not shouted and not first and word not in {"i'm", "i'd", "i've", "i'll"}
            first = first and not text[start].isalpha()
            if name or not TAGS[part].match(tag) or overlaps(start, end, closed):
                continue
            words = [*_iter_targets(rules.get(word, ()), lower, start)]
            if not words and part in {"verb", "noun"}:
                for base in lemmatise(word, part[0]):
                    if base != word:
                        plain = lower[:start] + base + lower[end:]
                        words += [form for target in _iter_targets(rules.get(base, ()), plain, start)
                                  if (form := inflect(target, tag))]  # fmt: skip
            synonyms = tuple(
                candidate
                for candidate in dict.fromkeys(words)
                if part == "stopword" or not text_words & {*candidate.split()} - {word}
            )
            if synonyms:
                yield ReplaceableWord(start, end, synonyms)


@cache
def load_rules(part: str) -> dict[str, list[Rule]]:
    """Return what is written of a part of speech, by word."""
    return parse_rules((LISTS / f"{part}.txt").read_text(encoding="utf-8"))


def _iter_targets(rules: Sequence[Rule], text: str, start: int) -> Iterator[str]:
    for rule in rules:
        if rule.can_apply(text, start):
            yield from rule.targets


def inflect(words: str, tag: str) -> str | None:
    """Return a base form as `tag` has it; of several words the verb or the last noun is inflected.

    >>> inflect("put on", "VBG"), inflect("web page", "NNS"), inflect("begin", "VB")
    ('putting on', 'web pages', 'begin')
    """
    if tag in {"VB", "VBP", "NN"}:
        return words
    first, _, rest = words.partition(" ") if tag.startswith("VB") else (*words.rpartition(" ")[::-1],)
    forms = import_optional("lemminflect", "en").getInflection(first, tag)
    if not forms:
        return None
    return f"{forms[0]} {rest}".strip() if tag.startswith("VB") else f"{rest} {forms[0]}".strip()


def _iter_replacements(text: str, place: ReplaceableWord, closed: Sequence[Span]) -> Iterator[tuple[Edit, ...]]:
    """Yield the edits that put each word in, with *a* or *an* before it as it wants."""
    article = ARTICLE.search(text, max(place.start - 4, 0), place.start)
    for word in place.words:
        replacement = Edit(place.start, place.end, match_case(text[place.start : place.end], word))
        expected_article = "an" if VOWEL.match(word) else "a"
        if article is None or article[1].lower() == expected_article:
            yield (replacement,)
        elif not overlaps(*article.span(1), closed):
            yield Edit(article.start(1), article.end(1), match_case(article[1], expected_article)), replacement


UNITS = tuple(CloseSynonym(part) for part in PARTS)
