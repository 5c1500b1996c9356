"""The groups of examples that a model serves worst and best."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
