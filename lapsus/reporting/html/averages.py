"""Averages on the page: their cells in tables, and a sentence on what their intervals mean."""

from __future__ import annotations

from collections.abc import Sequence

from lapsus.core.messages import format_list
from lapsus.reporting.analysis.records import Averages, FamilySummary, TrackScore
from lapsus.reporting.html.tables import Cell, exploratory_cell, format_p_value, format_percent, rate_cell

MAX_FAMILIES = 8  # kinds of noise whose origin a sentence names


def describe_noise(tracks: Sequence[TrackScore]) -> str:
    """Say what wrote each kind of noise, and how many texts it changed, as far as the rows tell."""
    known: dict[str, list[TrackScore]] = {}
    for record in tracks:
        if record.noise is not None:
            known.setdefault(record.family, []).append(record)
    if not known:
        return ""
    parts = [f"{family}: {_describe_family(records)}" for family, records in list(known.items())[:MAX_FAMILIES]]
    rest = f"; {len(known) - MAX_FAMILIES} more are in the table of tracks" if len(known) > MAX_FAMILIES else ""
    return f"What the noise is: {'; '.join(parts)}{rest}."


def _describe_family(records: Sequence[TrackScore]) -> str:
    origins = [record.noise for record in records if record.noise]
    operators = list(dict.fromkeys(name for origin in origins for name in origin.operators))
    people = "written by people" if any(origin.by_people for origin in origins) else ""
    simulated = f"simulated, by {format_list(operators, 4)}" if operators else ""
    shares = [
        record.changed_texts / record.noise.texts
        for record in records
        if record.noise and record.noise.texts and record.changed_texts is not None
    ]
    ends = dict.fromkeys(f"{format_percent(share)} %" for share in (min(shares), max(shares))) if shares else {}
    changed = f"{' to '.join(ends)} of the texts changed" if ends else ""
    return ", ".join(filter(None, (people, simulated, changed)))


def name_annotators(tracks: Sequence[TrackScore]) -> str:
    """Say whether the annotators of noisy tracks are people or simulated users, as far as the rows tell."""
    origins = [record.noise for record in tracks if not record.clean]
    if origins and all(origin is not None and origin.by_people and not origin.operators for origin in origins):
        return "people"
    if origins and all(origin is not None and origin.operators and not origin.by_people for origin in origins):
        return "simulated users, not people"
    return "people, or simulated users"


def describe_annotators(summary: Sequence[FamilySummary], annotators: str) -> str:
    """Say over what intervals generalise: other examples, and where it is known, other annotators."""
    sentence = f"Intervals are for other examples with these annotators ({annotators})"
    if any(record.average_new_annotators.interval for record in summary):
        return f"{sentence}; those under “new annotators” are for other examples and other annotators."
    if any(record.annotators > 1 for record in summary):
        return f"{sentence}; what other annotators would give takes three or more, each with every example."
    return f"{sentence}; one annotator says nothing about others."


def describe_chance(summary: Sequence[FamilySummary]) -> str:
    """Describe the worst average that sampling alone gives, where repeats of a text tell it."""
    several = [record for record in summary if record.annotators > 1]
    if not several:
        return ""
    known = {record.chance.chance_source for record in several} - {None}
    if not known:
        most = max(record.annotators for record in several)
        return (
            " The worst by chance is not known: it needs as many answers to the clean text as there are annotators"
            f" ({most}), and a model that does not answer a text twice in the same way looks worse here. Add them with"
            f" lapsus run --repeats {most}, or as the tracks clean.2, clean.3, …"
        )
    source = " and ".join(sorted(filter(None, known)))
    return f" Worst by chance: the worst average that sampling alone gives without noise, from {source}."


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
