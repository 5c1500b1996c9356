"""The first sentence of the page."""

from __future__ import annotations

from collections.abc import Sequence

from lapsus.results.measuring.records import FamilySummary
from lapsus.results.page.cells import percent


def lede(summary: Sequence[FamilySummary]) -> str:
    """Say in a sentence or two where noise costs most and where least."""
    compared = [(drop, record) for record in summary if (drop := record.averages.micro_drop.value) is not None]
    if not compared:
        return ""
    (_, most), (least_drop, least) = (choose(compared, key=lambda pair: pair[0]) for choose in (max, min))
    averages = most.averages
    clean, average, worst = (
        percent(state.value) for state in (averages.clean_average, averages.micro_average, averages.worst_average)
    )
    said = f"Noise costs most on {most.family}: {most.model} falls from {clean} % on clean text to {average} %"
    if most.annotators > 1:
        said += f" on average, and to {worst} % when each example counts only whom the model served worst"
    if least is not most:
        said += f". It costs least on {least.family} for {least.model}: {percent(least_drop)} points"
        said += " on average" if least.annotators > 1 else ""
    return f"{said}."
