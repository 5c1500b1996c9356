"""Which scorers scored the answers of a dataset, and how far each agrees with people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lapsus import stats
from lapsus.reporting.analysis.records import Estimate, ScorerAgreement
from lapsus.reporting.score_table import TrackScores

HUMAN_COLUMN = "human_score"  # what people said of an answer, from 0 (wrong) to 1 (right)


def list_scorers(runs: Sequence[TrackScores]) -> list[str]:
    """Return the names of the scores that scorers gave to the rows of a dataset, the first of which decides."""
    names: dict[str, None] = {}
    for run in runs:
        if "scores" in run.names:
            examples = np.flatnonzero(run.present)
            (columns,) = run.select_columns(["scores"], examples)
            names |= dict.fromkeys(name for row in columns if isinstance(row, Mapping) for name in row)
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
