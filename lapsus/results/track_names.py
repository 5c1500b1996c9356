"""Parse the name of a task or file into its dataset and its track, in any spelling.

Known tracks are the configs of every benchmark and the operators; words may be joined by `.`, `_` or `-`.

>>> split("afqmc_keyboard_1")
Place(dataset='afqmc', track='keyboard.1')
>>> split("snips-filler.bos")
Place(dataset='snips', track='filler_bos')
>>> split("test_noisy_asr_2"), split("afqmc/test_noisy_1")  # as READIN calls its files
(Place(dataset='', track='speech.2'), Place(dataset='afqmc', track='keyboard.1'))
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CLEAN = ("clean", "original")
DIALECTS = ("dialect", "perturbed", "other_tag")  # a sentence in a dialect, one with another meaning, a wrong tag
REWRITTEN = "rewritten"  # track names for all rewrites of an original together
RUN_NOTE = "run.json"  # what `lapsus run` writes beside its predictions
NO_TRACKS = ("default", "schemas", "augmented")  # configs that are no tracks: whole benchmarks, tables, training data
NOISY = "noisy"  # a track whose kind of noise is not named
MARK = "[._/-]"
START = "(?<![^._/-])"  # of a word


class Place(NamedTuple):
    """A dataset ("" where it is not named), and a track of it."""

    dataset: str
    track: str


def split(name: str) -> Place | None:
    """Return the dataset and track that `name` states, the track as its config is spelled; None for no known track."""
    found = _pattern().fullmatch(_usual(name))
    if not found:
        return None
    family = _families()[re.sub(MARK, "", found["family"].casefold())]
    return Place(found["dataset"] or "", f"{family}.{int(found['number'])}" if found["number"] else family)


def split_all(names: Sequence[str]) -> dict[str, Place]:
    """Return the dataset and track of each of one model's names, such that noisy tracks find their clean one.

    An unknown track belongs to the dataset whose clean track has the same prefix. A name with a dataset in it stays
    whole where the only clean track has no dataset.

    >>> split_all(["afqmc_clean", "afqmc_fancy.2"])["afqmc_fancy.2"]
    Place(dataset='afqmc', track='fancy.2')
    >>> split_all(["clean", "loud_speech"])["loud_speech"]
    Place(dataset='', track='loud_speech')
    """
    known = {name: split(name) for name in names}
    usual = {name: _usual(name) for name in names}
    cleans = {place.dataset for place in known.values() if place and place.track in CLEAN}

    def place_of(name: str, place: Place | None) -> Place:
        if place and place.dataset in cleans:
            return place
        for dataset in sorted(cleans - {""}, key=len, reverse=True):
            if rest := re.fullmatch(rf"{re.escape(dataset)}{MARK}(.+)", usual[name]):
                return Place(dataset, rest[1])
        return place if place and "" not in cleans else Place("", usual[name])

    return {name: place_of(name, place) for name, place in known.items()}


def _usual(name: str) -> str:
    """Return a name without what READIN's files have before the track: the split, and that it is noisy."""
    name = re.sub(rf"(?i){START}test{MARK}noisy{MARK}(?=\d+$)", "keyboard.", name)
    name = re.sub(rf"(?i){START}noisy{MARK}asr(?={MARK}|$)", "speech", name)
    return re.sub(rf"(?i){START}(?:test|noisy){MARK}(?=\D)", "", name)


@cache
def _families() -> dict[str, str]:
    """Return every known track without the number of its annotator, by its letters alone."""
    from lapsus.dataset_scripts import benchmarks
    from lapsus.perturbations.discovery import OPERATORS

    configs = (config for benchmark in benchmarks().values() for config in benchmark.ROWS)
    names: Iterable[str] = (*CLEAN, *DIALECTS, REWRITTEN, NOISY, *configs, *OPERATORS)
    families = {re.sub(r"\.\d+$", "", name) for name in names if name not in NO_TRACKS}
    return {re.sub(MARK, "", family.casefold()): family for family in sorted(families)}


@cache
def _pattern() -> re.Pattern[str]:
    """Return the pattern of names that end with a known track; the longest track matches first."""
    families = "|".join(f"{MARK}?".join(map(re.escape, re.split("[._-]", family))) for family in _families().values())
    dataset, number = rf"(?:(?P<dataset>.+?){MARK})?", rf"(?:{MARK}?(?P<number>\d+))?"
    return re.compile(rf"{dataset}(?P<family>{families}){number}", re.IGNORECASE)
