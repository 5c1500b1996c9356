"""Averages on the page: their cells in tables, and a sentence on what their intervals mean."""

from __future__ import annotations

from collections.abc import Sequence

from lapsus.reporting.analysis.records import Averages, FamilySummary
from lapsus.reporting.html.tables import Cell, exploratory_cell, format_p_value, rate_cell


def describe_annotators(summary: Sequence[FamilySummary]) -> str:
    """Say over what intervals generalise: other examples, and where it is known, other annotators."""
    sentence = "Intervals are for other examples with these annotators (people, or seeds of an operator)"
    if any(record.average_new_annotators.interval for record in summary):
        return f"{sentence}; those under “new annotators” are for other examples and other annotators."
    if any(record.annotators > 1 for record in summary):
        return f"{sentence}; what other annotators would give takes three or more, each with every example."
    return f"{sentence}; one annotator says nothing about others."


def new_annotator_cells(record: FamilySummary) -> dict[str, Cell]:
    """Show the average and the drop with their intervals for other annotators."""
    return {
        "Average, new annotators": rate_cell(record.average_new_annotators),
        "Drop, new annotators": rate_cell(record.drop_new_annotators, "points"),
    }


def class_cells(record: FamilySummary) -> dict[str, Cell]:
    """Show averages over classes, on clean and on noisy text, and the test of balanced accuracy."""
    return {
        "Balanced, clean": rate_cell(record.clean_balanced_accuracy),
        "Balanced": rate_cell(record.classes.balanced_accuracy),
        "p, balanced": Cell(format_p_value(record.balanced_drop_p), record.balanced_drop_p),
        "p, balanced, BH": exploratory_cell(record.balanced_drop_p_bh),
        "Macro-F1, clean": rate_cell(record.clean_macro_f1),
        "Macro-F1": rate_cell(record.classes.macro_f1),
    }


def score_values(averages: Averages) -> list[float | None]:
    """Return the scores and the ends of their intervals."""
    return [*averages.clean_average, *averages.micro_average, *averages.worst_average]


def score_cells(averages: Averages) -> dict[str, Cell]:
    """Show averages and drops."""
    return {
        "Clean": rate_cell(averages.clean_average),
        "Average": rate_cell(averages.micro_average),
        "Worst": rate_cell(averages.worst_average),
        "Average drop": rate_cell(averages.micro_drop, "points"),
        "Worst drop": rate_cell(averages.worst_drop, "points"),
    }
