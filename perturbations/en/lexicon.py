"""The English tables that lapsus ships in `data/lexicon` (`tools/build_en_lexicon.py` makes them), and WordNet in them.

WordNet 3.0 is there without its definitions: the senses of a base form, their words, and related senses.
"""

from __future__ import annotations

import lzma
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lapsus.core.imports import import_optional

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


FOLDER = Path(__file__).parent / "data" / "lexicon"
PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}  # in the names of WordNet's tables
UNIVERSAL_PARTS = {"n": "NOUN", "v": "VERB", "a": "ADJ", "r": "ADV"}  # as lemminflect calls them


def read_table(name: str) -> str:
    r"""Return the text of a packed table.

    >>> read_table("wordnet.adv").partition("\n")[0]
    'a_cappella'
    """
    return lzma.decompress((FOLDER / f"{name}.xz").read_bytes()).decode()


class Relative(NamedTuple):
    """A related sense: the sign of the relation, the line of the sense, and the number of its word (0 for all)."""

    sign: str
    line: int
    word: int


class Synset(NamedTuple):
    """One sense: the words that share it, and its relatives of the same part of speech."""

    part: str
    words: tuple[str, ...]
    relatives: tuple[Relative, ...]

    def find_related(self, sign: str) -> list[str]:
        """Return the words of the relatives with WordNet's `sign`, such as @ for hypernyms."""
        related_words: list[str] = []
        for relative in self.relatives:
            if relative.sign == sign:
                words = read_synset(self.part, relative.line).words
                related_words += words[relative.word - 1 : relative.word] if relative.word else words
        return related_words

    @property
    def antonyms(self) -> list[str]:
        """The antonyms of the words: those words of the opposite sense that WordNet names.

        >>> find_senses("quickly", "r")[0].antonyms, find_senses("large", "a")[0].antonyms
        (['slowly'], ['little', 'small'])
        """
        return self.find_related("!")


def find_senses(word: str, part: str) -> tuple[Synset, ...]:
    """Return the senses of a base form, the most frequent first; `part` is n, v, a or r.

    >>> find_senses("rapidly", "r")[0].words
    ('quickly', 'rapidly', 'speedily', 'chop-chop', 'apace')
    """
    index = _read_wordnet(part)[1]
    return tuple(read_synset(part, int(line)) for line in index[word].split("\t")[0].split()) if word in index else ()


def iter_lemmas(part: str) -> Iterator[str]:
    """Yield every word of a part of speech as WordNet spells it, once for each of its synsets."""
    for line in _read_wordnet(part)[0]:
        yield from line.partition("\t")[0].split()


@lru_cache(maxsize=2**16)
def read_synset(part: str, line: int) -> Synset:
    """Read one line of WordNet's table."""
    words, _, pointers = _read_wordnet(part)[0][line].partition("\t")
    relatives = (pointer[1:].split(":") for pointer in pointers.split())
    signs = (pointer[0] for pointer in pointers.split())
    return Synset(
        part,
        tuple(words.split()),
        tuple(Relative(sign, int(at), int(word)) for sign, (at, word) in zip(signs, relatives, strict=True)),
    )


def lemmatise(word: str, part: str) -> tuple[str, ...]:
    """Return the base forms that an inflected word may have.

    >>> lemmatise("bought", "v")
    ('buy',)
    """
    forms: tuple[str, ...] = import_optional("lemminflect", "en").getLemma(word.lower(), UNIVERSAL_PARTS[part])
    return forms


@cache
def _read_wordnet(part: str) -> tuple[Sequence[str], Mapping[str, str]]:
    """Return the lines of a part of speech's synsets, and the rest of the line of each base form."""
    synsets, _, words = read_table(f"wordnet.{PARTS[part]}").partition("\n\n")
    return synsets.split("\n"), dict(line.split("\t", 1) for line in words.splitlines())
