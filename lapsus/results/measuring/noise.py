"""The scores of models by class of noise rate: edits per character of clean text."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lapsus.results.measuring.averages import averages_of
from lapsus.results.measuring.records import Estimate, NoiseClass
from lapsus.results.measuring.runs import Options, Run, chosen_originals

NOISE_STEPS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, math.inf)  # upper bounds of the classes of noise rates


def mean_rate(run: Run) -> float | None:
    """Return the mean noise rate of a track's texts; None where no rate is known."""
    if run.noise is None or np.isnan(run.noise).all():
        return None
    return float(np.nanmean(run.noise))


def noise_classes(members: Sequence[Run], options: Options, dataset: str, model: str, family: str) -> list[NoiseClass]:
    """Return the average score of the rows in each class of noise rates."""
    if all(run.noise is None for run in members):
        return []
    nothing = np.full(len(members[0].scores), np.nan)
    rates = np.stack([nothing if run.noise is None else run.noise for run in members], axis=1)
    table = np.stack([run.scores for run in members], axis=1)
    rates[np.isnan(table).all(axis=1)] = np.nan
    records: list[NoiseClass] = []
    for low, high in zip((-math.inf, *NOISE_STEPS), NOISE_STEPS, strict=False):
        here = (rates > low) & (rates <= high)
        scored = np.asarray((here & ~np.isnan(table)).any(axis=1))
        if not scored.any():
            continue
        result = averages_of(
            np.where(here, table, np.nan)[scored],
            chosen_originals(members[0], scored),
            options,
        )
        records.append(
            NoiseClass(
                dataset,
                model,
                family,
                noise_above=None if math.isinf(low) else low,
                noise_up_to=None if math.isinf(high) else high,
                noise_rate=float(rates[here].mean()),
                texts=int(here.sum()),
                examples=result["examples"],
                average=Estimate.of(result, "micro_average"),
            )
        )
    return records
