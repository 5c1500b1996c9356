"""Warnings about tracks: no clean track, missing answers, the same answer to everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lapsus.kernel.names import shown
from lapsus.results.classes import only_class
from lapsus.results.measuring.dialects import about_dialects
from lapsus.results.measuring.records import Doubt
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
