"""Which scorers scored the answers of a dataset, and how far each agrees with people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lapsus import stats
from lapsus.reporting.analysis.records import Estimate, ScorerAgreement
from lapsus.reporting.score_table import TrackScores, format_track_name

HUMAN_COLUMN = "human_score"  # what people said of an answer, from 0 (wrong) to 1 (right)


def list_scorers(runs: Sequence[TrackScores]) -> list[str]:
    """Return the names of the scores that scorers gave to the rows of a dataset, the first of which decides.

    Raise where the scores of tracks are those of two scorers.
    """
    names: dict[str, None] = {}
    deciding: dict[str, TrackScores] = {}
    for run in runs:
        columns: list[Any] = []
        if "scores" in run.names:
            (columns,) = run.select_columns(["scores"], np.flatnonzero(run.present))
        own = dict.fromkeys(name for row in columns if isinstance(row, Mapping) for name in row)
        names |= own
        deciding.setdefault(next(iter(own), "no scorer"), run)
    if len(deciding) > 1:
        (first, one), (second, other) = list(deciding.items())[:2]
        raise ValueError(
            f"{format_track_name(one.track)} has the scores of {first}, and {format_track_name(other.track)} those of "
            f"{second}; score all files alike, as with --score f1."
        )
    return list(names)


def measure_agreement(runs: Sequence[TrackScores], level: float) -> Iterator[ScorerAgreement]:
    """Yield each scorer of a dataset, with its agreement with people where rows hold `human_score`."""
    names = list_scorers(runs)
    pairs: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    judged = [run for run in runs if HUMAN_COLUMN in run.names and "scores" in run.names]
    for run in judged:
        examples = np.flatnonzero(run.present)
        for scores, human in zip(*run.select_columns(["scores", HUMAN_COLUMN], examples), strict=True):
            for name, value in (scores or {}).items():
                if value is not None and is_number(human):
                    pairs[name].append((float(value), float(human)))
    for place, name in enumerate(names):
        alpha, difference = compare_with_people(pairs[name], level)
        yield ScorerAgreement(runs[0].track.dataset, name, place == 0, len(pairs[name]), alpha, difference)


def is_number(value: Any) -> bool:
    """Return whether a verdict of a person is a number."""
    return isinstance(value, bool | int | float) and not np.isnan(value)


def compare_with_people(pairs: Sequence[tuple[float, float]], level: float = 0.95) -> tuple[float | None, Estimate]:
    """Return Krippendorff's alpha of a scorer and people, and how much higher the scorer scores on average.

    >>> compare_with_people([(1.0, 1.0), (0.0, 0.0), (1.0, 0.0), (1.0, 1.0)])[0]
    0.533...
    """
    if not pairs:
        return None, Estimate()
    average = stats.estimate_average(np.array([score - human for score, human in pairs]), level=level)
    return stats.krippendorff_alpha(pairs), Estimate(average.mean, *(average.interval or ()))
