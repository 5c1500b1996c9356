"""The ids that were left out, and the reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lapsus.results.measuring.records import LeftOut
from lapsus.results.measuring.runs import Run

if TYPE_CHECKING:
    from lapsus.results.measuring.runs import Mask

MOST_NAMED = 12


def left_out(mine: Sequence[Run], clean: Run | None, everyone: Sequence[Run]) -> list[LeftOut]:
    """Count and name the ids of one model's tracks that were left out."""
    return [
        LeftOut(run.track.dataset, run.track.model, run.track.track, why, count, ids)
        for run in mine
        for why, count, ids in _reasons(run, clean, everyone)
        if count
    ]


def _reasons(run: Run, clean: Run | None, everyone: Sequence[Run]) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    def of(why: str, examples: Mask) -> tuple[str, int, tuple[str, ...]]:
        first = np.flatnonzero(examples)[:MOST_NAMED]
        return why, int(examples.sum()), tuple(run.ids[place].as_py() for place in first.tolist())

    missing, unknown = run.track.missing, run.track.unknown
    yield "in the data, but not predicted", len(missing), tuple(missing[:MOST_NAMED])
    yield "predicted, but not in the data", len(unknown), tuple(unknown[:MOST_NAMED])
    others = np.zeros(len(run.present), bool)
    for other in everyone:
        if other.track.track == run.track.track:
            others |= other.present
    yield of("scored for another model only", others & ~run.present)
    if clean is not None and run is not clean:
        yield of("has no clean counterpart", run.present & ~clean.present)
        yield of("clean only", clean.present & ~run.present)
