"""Speakos: slips of the tongue and of the recogniser, where one word becomes another that sounds like it (NATURE, 3.3).

*let me watch a comedy* → *let me which a comedy*.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np

from lapsus.core.edits import Edit, overlaps
from lapsus.core.files import stage_file
from lapsus.perturbations.core import ShortRepr, SingleTextMixin, pick
from lapsus.perturbations.en.letter_case import match_case
from lapsus.perturbations.en.sounds import classify_sounds, load_frequent_pronunciations, load_offensive_words
from lapsus.perturbations.en.tagging import WORD

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from random import Random

    from lapsus.core.edits import Span
    from lapsus.perturbations.core import Constraints

BLOCK = 256  # rows of the distance matrix held at once


@dataclass(frozen=True, slots=True, repr=False)
class Speako(ShortRepr, SingleTextMixin):
    """Replace one word by the frequent word that sounds nearest, of these the most frequent.

    Args:
        values: The values that slots may have: no value becomes another one, nor that of another slot of its utterance.
        coarse: Whether the new word may be a coarse one (`data/coarse.txt`).
        weighs: Whether a sound of another class is twice as far as one of the same; otherwise all are equally far,
            which with `coarse` is the operator of the paper.

    >>> from lapsus.perturbations import apply, perturb
    >>> apply("let me watch it", perturb(Speako(), "let me watch it", key="1"))
    'let me which it'
    """

    values: tuple[str, ...] = ()
    coarse: bool = False
    weighs: bool = True
    name: str = "speako"
    version: str = "2"

    def __post_init__(self) -> None:
        if isinstance(self.values, str) or not all(isinstance(value, str) for value in self.values):
            raise ValueError(f"values is {self.values!r}; give a tuple of texts")
        object.__setattr__(self, "values", tuple(self.values))

    def edits_within(
        self, texts: Sequence[str], rngs: Sequence[Random], constraint_sets: Sequence[Constraints]
    ) -> list[tuple[Edit, ...]]:
        """Draw one word of each text from those that are in the dictionary."""
        values = frozenset(value.casefold() for value in self.values)
        return [self._draw_edit(*args, values) for args in zip(texts, rngs, constraint_sets, strict=True)]

    def _draw_edit(self, text: str, rng: Random, constraints: Constraints, valid: frozenset[str]) -> tuple[Edit, ...]:
        table = find_nearest_words(weighs=self.weighs, with_offensive=self.coarse)
        known = [
            match
            for match in WORD.finditer(text)
            if match[0].lower() in table and not overlaps(*match.span(), constraints.protected)
        ]
        if constraints.spans and not self.is_nature_original:
            valid = valid.union(text[start:end].casefold() for start, end in constraints.spans)
        while known:
            word = pick(rng, known)
            edit = Edit(word.start(), word.end(), match_case(word[0], table[word[0].lower()]))
            if self.is_nature_original or not creates_slot_value(text, edit, constraints.spans, valid):
                return (edit,)
            known.remove(word)
        return ()

    @property
    def summary(self) -> str:
        """What the operator does."""
        how = "by its IPA (NATURE's own)" if self.is_nature_original else "by classes of sounds"
        return f"Replace one word by the frequent word that sounds nearest {how}, of these the most frequent"

    @property
    def is_nature_original(self) -> bool:
        """Whether this is NATURE's operator to the letter."""
        return self.coarse and not self.weighs and not self.values


def creates_slot_value(text: str, edit: Edit, spans: Iterable[Span], valid: frozenset[str]) -> bool:
    """Whether an edit turns the value of a slot into one of the valid ones.

    >>> creates_slot_value("fly to boston", Edit(7, 13, "austin"), [(7, 13)], frozenset({"austin"}))
    True
    """
    return any(
        start <= edit.start
        and edit.end <= end
        and (text[start : edit.start] + edit.text + text[edit.end : end]).casefold() in valid
        for start, end in spans
    )


@cache
def find_nearest_words(*, weighs: bool = True, with_offensive: bool = False) -> Mapping[str, str]:
    """Return the word that each frequent English word is misheard as.

    The table is made once, which takes seconds, and kept in the user's cache.

    >>> find_nearest_words()["watch"]
    'which'
    """
    kind = {(True, False): "2", (False, True): "1", (True, True): "2-coarse", (False, False): "1-clean"}
    name = (
        f"speako-{kind[weighs, with_offensive]}-2.0.1-3.1.1.npz"  # releases of the tables: gruut-lang-en's, wordfreq's
    )
    path = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lapsus" / name
    with suppress(OSError, KeyError, ValueError, BadZipFile), path.open("rb") as file:
        cached = np.load(file, allow_pickle=False)
        words = cached["words"].tolist()
        return dict(zip(words, (words[i] for i in cached["nearest"]), strict=True))
    spoken = load_frequent_pronunciations()  # the file is absent or damaged
    words = list(spoken)
    refused = () if with_offensive else [place for place, word in enumerate(words) if word in load_offensive_words()]
    nearest_indices = find_nearest_sounds(
        [classify_sounds(sounds) if weighs else sounds for sounds in spoken.values()], refused
    )
    with suppress(OSError), stage_file(path) as file:  # a home that cannot be written to costs time, not the result
        np.savez_compressed(file, words=np.array(words), nearest=nearest_indices)
    return dict(zip(words, (words[i] for i in nearest_indices), strict=True))


def find_nearest_sounds(sounds: Sequence[str], refused: Sequence[int] = ()) -> np.ndarray:
    """Return, for each of `sounds`, the place of the nearest other one that is not refused; of equally near the first.

    >>> find_nearest_sounds(["wɑtʃ", "wɪtʃ", "tu", "tu"]).tolist()
    [1, 0, 3, 2]
    """
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    places = np.arange(len(sounds))
    nearest_indices = np.empty(len(sounds), dtype=np.int32)
    for start in range(0, len(sounds), BLOCK):
        rows = places[start : start + BLOCK]
        distances = cdist(sounds[start : start + BLOCK], sounds, scorer=Levenshtein.distance, dtype=np.uint8)
        distances[rows - start, rows] = np.iinfo(np.uint8).max  # never the word itself
        distances[:, list(refused)] = np.iinfo(np.uint8).max
        nearest_indices[rows] = distances.argmin(axis=1)
    return nearest_indices


NATURE_SPEAKO = Speako(coarse=True, weighs=False, version="1")
"""NATURE's own, as its datasets hold it."""

UNITS = (Speako(), Speako(coarse=True, weighs=False, name="nature.speako", version="1"))
