"""Warnings about tracks: no clean track, missing answers, the same answer to everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

import pyarrow.compute as pc

from lapsus.kernel.names import shown
from lapsus.results.classes import counted_from, never_right, only_class, spelled_otherwise
from lapsus.results.measuring.dialects import about_dialects
from lapsus.results.measuring.records import Doubt
from lapsus.results.predictions import few
from lapsus.results.track_names import CLEAN
from lapsus.results.tracks import Track


def doubts(tracks: Sequence[Track]) -> list[Doubt]:
    """Return the warnings about tracks.

    >>> print(*doubts([Track("bert", "keyboard.1", [{"id": 1, "score": 1}])]))
    bert / keyboard.1: no clean track belongs to it, so what noise costs is not known; add one, called clean
    """
    groups: dict[tuple[str, str], list[Track]] = {}
    for track in tracks:
        groups.setdefault((track.dataset, track.model), []).append(track)
    return [doubt for mine in groups.values() for doubt in _of_model(mine)]


def _of_model(mine: Sequence[Track]) -> Iterator[Doubt]:
    dataset, model = mine[0].dataset, mine[0].model
    if not any(track.family in CLEAN for track in mine) and not about_dialects(mine):
        it, name = "it" if len(mine) == 1 else "them", f"{dataset}_clean" if dataset else "clean"
        said = f"no clean track belongs to {it}, so what noise costs is not known; add one, called {name}"
        yield Doubt(dataset, model, shown((track.track for track in mine), 4), said)
    yield from _of_annotators(mine)
    yield from _beside_clean(mine)
    yield from _other_words(mine)
    for track in mine:
        if track.missing:
            whole = len(track.missing) + len(track.rows) + len(track.dropped)
            said = f"{len(track.missing)} of the {whole} examples of the data have no prediction, and are left out"
            yield Doubt(dataset, model, track.track, said)
        if track.unparsed:
            said = f"{track.unparsed} of {len(track.rows)} examples have no answer or no score, and count as wrong"
            yield Doubt(dataset, model, track.track, said)
        if track.dropped:
            said = f"{len(track.dropped)} examples without an answer were left out, as was asked"
            yield Doubt(dataset, model, track.track, said)
        if (answer := only_class(track)) is not None:
            yield Doubt(dataset, model, track.track, f"every answer is {answer!r}, although several are right")


def _other_words(mine: Sequence[Track]) -> Iterator[Doubt]:
    """Warn of answers that call the right ones by other names."""
    dataset, model = mine[0].dataset, mine[0].model
    if never := {track.track: words for track in mine if (words := never_right(track))}:
        said, right = next(iter(never.values()))
        said = f"no answer is right; said are {said}, and right are {right}: if they mean the same, call them the same"
        yield Doubt(dataset, model, shown(never, 4), said)
    for track in mine:
        if found := spelled_otherwise(track):
            number, answer, right = found
            said = f"{number} of {len(track.rows)} answers, such as {answer!r}, differ from the right one, {right!r}, "
            yield Doubt(dataset, model, track.track, f"{said}only in case or spaces, and count as wrong")
    if numbers := counted_from(mine):
        said = (
            f"answers are the numbers {numbers[0]}, and right ones {numbers[1]}; if both count classes, from the same"
        )
        yield Doubt(dataset, model, shown((track.track for track in mine), 4), f"{said} number on, mend one of them")


def _of_annotators(mine: Sequence[Track]) -> Iterator[Doubt]:
    """Warn of annotators with other examples: the worst of few is milder than that of many."""
    families: dict[str, list[Track]] = {}
    for track in mine:
        if track.family not in CLEAN:
            families.setdefault(track.family, []).append(track)
    for family, tracks in families.items():
        first, *others = (track.columns.ids for track in tracks)
        apart = [ids for ids in others if ids is not first and not ids.equals(first)]
        if not apart:
            continue
        counts = Counter(chain.from_iterable(ids.to_pylist() for ids in (first, *apart)))
        shared = sum(count == 1 + len(apart) for count in counts.values())
        if shared < len(counts):
            said = f"only {shared} of {len(counts)} examples have all {len(tracks)} annotators"
            yield Doubt(mine[0].dataset, mine[0].model, family, f"{said}; the worst of fewer is milder")


def _beside_clean(mine: Sequence[Track]) -> Iterator[Doubt]:
    """Warn of examples that the clean track lacks: nothing can be compared with them."""
    clean = next((track for track in mine if track.family in CLEAN), None)
    for track in mine:
        ids = track.columns.ids
        if clean is None or track.family in CLEAN or ids is clean.columns.ids:
            continue
        unknown = ids.filter(pc.invert(pc.is_in(ids, value_set=clean.columns.ids)))
        if len(unknown):
            which = few(unknown[:3].to_pylist())
            said = (
                f"{len(unknown)} of {len(ids)} examples are left out, as {clean.track} lacks them (such as id {which})"
            )
            yield Doubt(track.dataset, track.model, track.track, said)
