"""The first sentence of the page, which must be true whatever came out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lapsus.results.measuring.records import FamilySummary
from lapsus.results.page.cells import percent


class _Loss(NamedTuple):
    """What noise of one family costs one model; below zero, it gains."""

    drop: float
    record: FamilySummary

    @property
    def holds(self) -> bool:
        """Whether the difference is larger than chance makes it; without an interval it is taken as it is."""
        interval = self.record.averages.micro_drop.interval
        return round(self.drop, 3) != 0 and (interval is None or not interval[0] <= 0 <= interval[1])


def lede(summary: Sequence[FamilySummary]) -> str:
    """Say in a sentence or two where noise costs most and where least."""
    losses = [_Loss(drop, record) for record in summary if (drop := record.averages.micro_drop.value) is not None]
    if not losses:
        return ""
    most, least = max(losses, key=lambda loss: loss.drop), min(losses, key=lambda loss: loss.drop)
    if not any(loss.holds for loss in losses):
        return _nothing(max(losses, key=lambda loss: abs(loss.drop)))
    if not (most.holds and most.drop > 0):
        return f"Nowhere does noise cost what would hold up. {_rise(least)}."
    said = _fall(most)
    if least is most:
        return f"{said}."
    if least.holds and least.drop < 0:
        return f"{said}. {_rise(least)}."
    by = f": {percent(least.drop)} points" if least.drop > 0 else ", where no score is lost"
    average = " on average" if least.drop > 0 and least.record.annotators > 1 else ""
    return f"{said}. It costs least on {least.record.family} for {least.record.model}{by}{average}."


def _fall(most: _Loss) -> str:
    averages, record = most.record.averages, most.record
    said = (
        f"Noise costs most on {record.family}: {record.model} falls from {percent(averages.clean_average.value)} % on"
        f" clean text to {percent(averages.micro_average.value)} %"
    )
    if record.annotators > 1:
        worst = percent(averages.worst_average.value)
        said += f" on average, and to {worst} % when each example counts only whom the model served worst"
    return said


def _rise(least: _Loss) -> str:
    averages, record = least.record.averages, least.record
    return (
        f"On {record.family}, {record.model} rises from {percent(averages.clean_average.value)} % on clean text to"
        f" {percent(averages.micro_average.value)} %{' on average' if record.annotators > 1 else ''}"
    )


def _nothing(widest: _Loss) -> str:
    record = widest.record
    if round(widest.drop, 3) == 0:
        return "No score differs between clean and noisy text."
    clean, noisy = percent(record.averages.clean_average.value), percent(record.averages.micro_average.value)
    return (
        f"No difference between clean and noisy text holds up. The largest is on {record.family}: {record.model} has"
        f" {clean} % on clean text and {noisy} %{' on average' if record.annotators > 1 else ''} on noisy text."
    )
