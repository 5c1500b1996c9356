"""WordNet 3.0, without its definitions."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from lapsus.kernel.extras import needed
from lapsus.perturbations.en.tables import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

UNIVERSAL = {"n": "NOUN", "v": "VERB", "a": "ADJ", "r": "ADV"}
PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}


class Relative(NamedTuple):
    """A related sense: how it is related, its line, and which of its words is meant (0 for all)."""

    sign: str
    line: int
    word: int


class Synset(NamedTuple):
    """One sense: the words that share it, and its relatives of the same part of speech."""

    part: str
    words: tuple[str, ...]
    relatives: tuple[Relative, ...]

    def related(self, sign: str) -> list[str]:
        """Return the words of the relatives that WordNet marks with `sign`, such as @ for the kind of thing."""
        found: list[str] = []
        for relative in self.relatives:
            if relative.sign == sign:
                words = synset(self.part, relative.line).words
                found += words[relative.word - 1 : relative.word] if relative.word else words
        return found

    @property
    def antonyms(self) -> list[str]:
        """The opposites of its words."""
        return self.related("!")


def senses(word: str, part: str) -> tuple[Synset, ...]:
    """Return the senses of a base form, the most frequent first; `part` is n, v, a or r.

    >>> senses("rapidly", "r")[0].words
    ('quickly', 'rapidly', 'speedily', 'chop-chop', 'apace')
    """
    index = _wordnet(part)[1]
    return tuple(synset(part, int(line)) for line in index[word].split("\t")[0].split()) if word in index else ()


def lemmas(part: str) -> Iterator[str]:
    """Yield every word of a part of speech as WordNet writes it, once for each synset it stands in."""
    for line in _wordnet(part)[0]:
        yield from line.partition("\t")[0].split()


@lru_cache(maxsize=2**16)
def synset(part: str, line: int) -> Synset:
    """Read one line of WordNet's table."""
    words, _, pointers = _wordnet(part)[0][line].partition("\t")
    relatives = (pointer[1:].split(":") for pointer in pointers.split())
    signs = (pointer[0] for pointer in pointers.split())
    return Synset(
        part,
        tuple(words.split()),
        tuple(Relative(sign, int(at), int(word)) for sign, (at, word) in zip(signs, relatives, strict=True)),
    )


def base_forms(word: str, part: str) -> tuple[str, ...]:
    """Return the base forms that an inflected word may have.

    >>> base_forms("bought", "v")
    ('buy',)
    """
    found: tuple[str, ...] = needed("lemminflect", "en").getLemma(word.lower(), UNIVERSAL[part])
    return found


@cache
def _wordnet(part: str) -> tuple[Sequence[str], Mapping[str, str]]:
    """Return the lines of a part of speech's synsets, and of each base form what stands behind it."""
    synsets, _, words = table(f"wordnet.{PARTS[part]}").partition("\n\n")
    return synsets.split("\n"), dict(line.split("\t", 1) for line in words.splitlines())
