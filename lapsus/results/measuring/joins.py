"""The ids that were left out, and the reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lapsus.results.measuring.records import LeftOut
from lapsus.results.measuring.runs import Run

MOST_NAMED = 12


def left_out(mine: Sequence[Run], clean: Run | None, everyone: Sequence[Run]) -> list[LeftOut]:
    """Count and name the ids of one model's tracks that were left out."""
    return [
        LeftOut(run.track.dataset, run.track.model, run.track.track, why, len(ids), tuple(ids[:MOST_NAMED]))
        for run in mine
        for why, ids in ((why, list(found)) for why, found in _reasons(run, clean, everyone))
        if ids
    ]


def _reasons(run: Run, clean: Run | None, everyone: Sequence[Run]) -> Iterable[tuple[str, Iterable[str]]]:
    others = dict.fromkeys(key for other in everyone if other.track.track == run.track.track for key in other.rows)
    yield "in the data, but not predicted", run.track.missing
    yield "predicted, but not in the data", run.track.unknown
    yield "has no score", (key for key in run.rows if key not in run.scores)
    yield "scored for another model only", (key for key in others if key not in run.rows)
    if clean is not None and run is not clean:
        yield "has no clean counterpart", (key for key in run.rows if key not in clean.rows)
        yield "clean only", (key for key in clean.rows if key not in run.rows)
