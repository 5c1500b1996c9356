"""Speakos: slips of the tongue and of the recogniser, where one word becomes another that sounds like it (NATURE, 3.3).

*let me watch a comedy* → *let me which a comedy*.
"""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from zipfile import BadZipFile

import numpy as np

from lapsus.kernel.atomic import staged_file
from lapsus.kernel.extras import needed, shipped
from lapsus.perturbations.core import Edit, EditsOfOneText, ShortRepr, pick
from lapsus.perturbations.en.letter_case import like
from lapsus.perturbations.en.tagging import WORD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from lapsus.perturbations.core import Frame

PACKAGES = ("gruut_lang_en", "wordfreq")
FREQUENT = 1000 / 4e9  # a thousand times in the four thousand million words of the English Wikipedia
STRESS = re.compile("[ˈˌ͡ ]")  # also the ties and the spaces between phonemes: what is left is plain IPA
BLOCK = 256  # rows of the distance matrix held at once


@dataclass(frozen=True, slots=True, repr=False)
class Speako(ShortRepr, EditsOfOneText):
    """Replace one word by the frequent word whose IPA is nearest by Levenshtein distance, of these the most frequent.

    >>> from lapsus.perturbations.core import apply, perturb
    >>> apply("let me watch it", perturb(Speako(), "let me watch it", key="1"))
    'let me which it'
    """

    needs: ClassVar[str] = "lapsus[en]"
    name: str = "speako"
    version: str = "1"

    def edits_framed(
        self, texts: Sequence[str], rngs: Sequence[Random], frames: Sequence[Frame]
    ) -> list[tuple[Edit, ...]]:
        """Draw one word of each text from those that are in the dictionary."""
        return [self._edits(*one) for one in zip(texts, rngs, frames, strict=True)]

    def _edits(self, text: str, rng: Random, frame: Frame) -> tuple[Edit, ...]:
        table = nearest()
        known = [
            match
            for match in WORD.finditer(text)
            if match[0].lower() in table
            and not any(match.start() < right and left < match.end() for left, right in frame.protected)
        ]
        if not known:
            return ()
        word = pick(rng, known)
        return (Edit(word.start(), word.end(), like(word[0], table[word[0].lower()])),)


@cache
def nearest() -> Mapping[str, str]:
    """Return the word that each frequent English word is misheard as.

    The table is made once, which takes seconds, and kept in the user's cache.

    >>> nearest()["watch"]
    'which'
    """
    for package in PACKAGES:
        shipped(package, "en")  # says how to install what is missing
    parts = Speako().version, *map(version, PACKAGES)
    path = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lapsus" / f"speako-{'-'.join(parts)}.npz"
    with suppress(OSError, KeyError, ValueError, BadZipFile), path.open("rb") as file:
        kept = np.load(file, allow_pickle=False)
        words = kept["words"].tolist()
        return dict(zip(words, (words[i] for i in kept["nearest"]), strict=True))
    spoken = dictionary()  # the file is absent or damaged
    words = list(spoken)
    others = neighbours(list(spoken.values()))
    with suppress(OSError), staged_file(path) as file:  # a home that cannot be written to costs time, not the result
        np.savez_compressed(file, words=np.array(words), nearest=others)
    return dict(zip(words, (words[i] for i in others), strict=True))


def dictionary() -> dict[str, str]:
    """Return the IPA of the frequent English words, the most frequent first."""
    frequencies = needed("wordfreq", "en").get_frequency_dict("en", wordlist="best")
    with closing(sqlite3.connect(f"file:{shipped('gruut_lang_en', 'en') / 'lexicon.db'}?mode=ro", uri=True)) as lexicon:
        rows = lexicon.execute("SELECT word, phonemes FROM word_phonemes ORDER BY word, pron_order DESC")
        spoken = {word: STRESS.sub("", phonemes) for word, phonemes in rows}  # the first pronunciation stays
    words = [
        word
        for word in spoken
        if frequencies.get(word, 0) >= FREQUENT and word.isalpha() and (len(word) > 1 or word in {"a", "i"})
    ]
    return {word: spoken[word] for word in sorted(words, key=lambda word: (-frequencies[word], word))}


def neighbours(sounds: Sequence[str]) -> np.ndarray:
    """Return, for each of `sounds`, the place of the nearest other one; of equally near ones the first.

    >>> neighbours(["wɑtʃ", "wɪtʃ", "tu", "tu"]).tolist()
    [1, 0, 3, 2]
    """
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    places = np.arange(len(sounds))
    found = np.empty(len(sounds), dtype=np.int32)
    for start in range(0, len(sounds), BLOCK):
        mine = places[start : start + BLOCK]
        distances = cdist(sounds[start : start + BLOCK], sounds, scorer=Levenshtein.distance, dtype=np.uint8)
        distances[mine - start, mine] = np.iinfo(np.uint8).max  # never the word itself
        found[mine] = distances.argmin(axis=1)
    return found


UNITS = (Speako(),)
