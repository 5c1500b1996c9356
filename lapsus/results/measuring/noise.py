"""The noise rate of each text, and the scores of models by class of noise rate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lapsus.kernel.error_rates import joint_rates
from lapsus.metrics.micro_worst_average.score import micro_worst_average
from lapsus.results.measuring.records import Estimate, NoiseClass
from lapsus.results.measuring.runs import Options, Run, texts_of

NOISE_STEPS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, math.inf)  # upper bounds of the classes of noise rates


def noise_rates(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return each row's noise rate (edits per clean character), stated or computed; rows with neither are left out.

    >>> noise_rates({"1": {"text": "abXd", "clean_text": "abcd"}, "2": {"noise_rate": 0.5}, "3": {}})
    {'1': 0.25, '2': 0.5}
    """
    texts = ((key, texts_of(row.get("text")), texts_of(row.get("clean_text"))) for key, row in rows.items())
    both = [(key, noisy, clean) for key, noisy, clean in texts if any(clean) and len(noisy) == len(clean)]
    rates = joint_rates([noisy for _, noisy, _ in both], [clean for _, _, clean in both])
    measured = {key: rate for (key, _, _), rate in zip(both, rates, strict=True)}
    stated = {key: float(row["noise_rate"]) for key, row in rows.items() if row.get("noise_rate") is not None}
    return {**measured, **stated}


def noise_classes(members: Sequence[Run], options: Options, dataset: str, model: str, family: str) -> list[NoiseClass]:
    """Return the average score of the rows in each class of noise rates."""
    rates = [noise_rates(run.rows) for run in members]
    records: list[NoiseClass] = []
    for low, high in zip((-math.inf, *NOISE_STEPS), NOISE_STEPS, strict=False):
        table: list[list[float | None]] = []
        inside: list[float] = []
        originals: list[str] = []
        for key in dict.fromkeys(key for run in members for key in run.scores):
            here = [low < rate.get(key, math.nan) <= high for rate in rates]
            if any(here):
                table.append([run.scores.get(key) if there else None for run, there in zip(members, here, strict=True)])
                originals.append(next(run for run in members if key in run.scores).original(key))
                inside += [rate[key] for rate, there in zip(rates, here, strict=True) if there]
        scored = [number for number, row in enumerate(table) if any(score is not None for score in row)]
        if not scored:
            continue
        result = micro_worst_average(
            [table[number] for number in scored],
            clusters=[originals[number] for number in scored],
            **options.resampling,
        )
        records.append(
            NoiseClass(
                dataset,
                model,
                family,
                noise_above=None if math.isinf(low) else low,
                noise_up_to=None if math.isinf(high) else high,
                noise_rate=sum(inside) / len(inside),
                texts=len(inside),
                examples=result["examples"],
                average=Estimate(result["micro_average"], *(result["micro_average_ci"] or ())),
            )
        )
    return records
