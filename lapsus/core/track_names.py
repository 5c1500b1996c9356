"""Parse the name of a task or file into its dataset and its track, in any spelling.

The known tracks are given by the caller; words may be joined by `.`, `_` or `-`.

>>> known = ("keyboard.1", "speech.1", "filler_bos")
>>> parse_track_name("afqmc_keyboard_1", known)
TrackName(dataset='afqmc', track='keyboard.1')
>>> parse_track_name("snips-filler.bos", known)
TrackName(dataset='snips', track='filler_bos')
>>> [parse_track_name(name, known) for name in ("test_noisy_asr_2", "afqmc/test_noisy_1")]  # as READIN calls its files
[TrackName(dataset='', track='speech.2'), TrackName(dataset='afqmc', track='keyboard.1')]
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

CLEAN = ("clean", "original")
DIALECTS = ("dialect", "perturbed", "other_tag")  # a sentence in a dialect, one with another meaning, a wrong tag
REWRITTEN = "rewritten"  # track names for all rewrites of an original together
MANIFEST_NAME = "run.json"  # what `lapsus run` writes beside its predictions
NO_TRACKS = ("default", "schemas", "augmented")  # configs that are no tracks: whole benchmarks, tables, training data
READ, READER_COLUMN = "read.", "reader_description"  # prefix of a track that a reader corrected, and its column
NOISY = "noisy"  # a track whose kind of noise is not named
SEPARATOR = "[._/-]"
WORD_START = "(?<![^._/-])"  # of a word


class TrackName(NamedTuple):
    """A dataset ("" where it is not named), and a track of it."""

    dataset: str
    track: str


def parse_track_name(name: str, known: tuple[str, ...]) -> TrackName | None:
    """Return the dataset and track that `name` states, the track as in `known`; None for no known track."""
    match = _build_pattern(known).fullmatch(_strip_readin_prefix(name))
    if not match:
        return None
    family = _list_families(known)[re.sub(SEPARATOR, "", match["family"].casefold())]
    return TrackName(match["dataset"] or "", f"{family}.{int(match['number'])}" if match["number"] else family)


def parse_track_names(names: Sequence[str], known: tuple[str, ...]) -> dict[str, TrackName]:
    """Return the dataset and track of each of one model's names, such that noisy tracks find their clean one.

    An unknown track belongs to the dataset whose clean track has the same prefix. A name with a dataset in it is a
    track as a whole where the only clean track has no dataset.

    >>> parse_track_names(["afqmc_clean", "afqmc_fancy.2"], ())["afqmc_fancy.2"]
    TrackName(dataset='afqmc', track='fancy.2')
    >>> parse_track_names(["clean", "loud_speech"], ("speech.1",))["loud_speech"]
    TrackName(dataset='', track='loud_speech')
    """
    parsed_names = {name: parse_track_name(name, known) for name in names}
    plain_names = {name: _strip_readin_prefix(name) for name in names}
    clean_datasets = {parsed.dataset for parsed in parsed_names.values() if parsed and parsed.track in CLEAN}

    def resolve_track(name: str, parsed: TrackName | None) -> TrackName:
        if parsed and parsed.dataset in clean_datasets:
            return parsed
        for dataset in sorted(clean_datasets - {""}, key=len, reverse=True):
            if rest := re.fullmatch(rf"{re.escape(dataset)}{SEPARATOR}(.+)", plain_names[name]):
                return TrackName(dataset, rest[1])
        return parsed if parsed and "" not in clean_datasets else TrackName("", plain_names[name])

    return {name: resolve_track(name, parsed) for name, parsed in parsed_names.items()}


def _strip_readin_prefix(name: str) -> str:
    """Return a name without the words before the track in READIN's file names: the split, and "noisy"."""
    name = re.sub(rf"(?i){WORD_START}test{SEPARATOR}noisy{SEPARATOR}(?=\d+$)", "keyboard.", name)
    name = re.sub(rf"(?i){WORD_START}noisy{SEPARATOR}asr(?={SEPARATOR}|$)", "speech", name)
    return re.sub(rf"(?i){WORD_START}(?:test|noisy){SEPARATOR}(?=\D)", "", name)


@cache
def _list_families(known: tuple[str, ...]) -> dict[str, str]:
    """Return the families of the known tracks, by their letters alone."""
    names = (*CLEAN, *DIALECTS, REWRITTEN, NOISY, *known)
    families = {re.sub(r"\.\d+$", "", name) for name in names if name not in NO_TRACKS}
    return {re.sub(SEPARATOR, "", family.casefold()): family for family in sorted(families)}


@cache
def _build_pattern(known: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of names that end with a known track; the longest track matches first."""
    families = "|".join(
        f"{SEPARATOR}?".join(map(re.escape, re.split("[._-]", family))) for family in _list_families(known).values()
    )
    dataset, number = rf"(?:(?P<dataset>.+?){SEPARATOR})?", rf"(?:{SEPARATOR}?(?P<number>\d+))?"
    return re.compile(rf"{dataset}(?P<family>{families}){number}", re.IGNORECASE)
