"""The groups of examples that a model serves worst and best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lapsus.kernel import statistics
from lapsus.results.measuring.records import GroupGap

MEASURES = {"average": "micro_average", "drop": "micro_drop"}


def group_gaps(result: Mapping[str, Any], dataset: str, model: str, family: str) -> list[GroupGap]:
    """Return the gaps in a result of `micro_worst_average` with columns of groups: of the average, and of its drop."""
    return [
        GroupGap(
            dataset,
            model,
            family,
            column,
            measure,
            sum(scored["examples"] > 0 for scored in result["groups"][column].values()),
            **gap,
        )
        for column, gaps in result.get("gaps", {}).items()
        for measure, name in MEASURES.items()
        if (gap := gaps.get(name)) is not None
    ]


def gaps_once(records: Sequence[GroupGap]) -> list[GroupGap]:
    """Apply Holm's correction to the gaps of a report; one that could not be tested still counts."""
    adjusted = statistics.holm([1.0 if record.p_value is None else record.p_value for record in records])
    return [
        replace(record, p_holm=None if record.p_value is None else p_value, tests=len(records))
        for record, p_value in zip(records, adjusted, strict=True)
    ]
