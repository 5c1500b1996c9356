"""The matrix at the top of the page: the drop of each model under each kind of noise, and its test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lapsus.results.measuring.records import FamilySummary, Numbers
from lapsus.results.page.cells import percent, signed
from lapsus.results.page.order import addresses, clean_scores, model_order

FULL_COLOUR = 0.3  # a drop of 30 points or more has the full colour


@dataclass(frozen=True, slots=True)
class Cost:
    """One cell: the drop in points, the noisy score, the colour, and the link to the details."""

    drop: str
    score: str
    sort: float | None
    colour: str  # "worst" where the score falls, "clean" where it rises
    share: float  # share of the full colour
    holds_up: bool
    favours: bool  # although the drop hides it, fewer classes are told apart
    said: str  # the cell in words


@dataclass(frozen=True, slots=True)
class CostMatrix:
    """Models by kinds of noise; a cell is None where a model was not run on that noise."""

    families: Sequence[str]
    links: Sequence[str]
    rows: Sequence[tuple[str, float | None, str, Sequence[Cost | None]]]  # model, clean score, the same as text, cells

    @property
    def favours(self) -> bool:
        """Whether a cell hides that fewer classes are told apart."""
        return any(cell is not None and cell.favours for *_, cells in self.rows for cell in cells)


def cost_matrix(key: str, numbers: Numbers) -> CostMatrix | None:
    """Return the matrix of one dataset, the models that score best on clean text first; None where nothing is noisy."""
    summary = numbers.summary
    if not summary:
        return None
    families = list(dict.fromkeys(record.family for record in summary))
    found = {(record.model, record.family): record for record in summary}
    clean = clean_scores(numbers.tracks)
    rows = [
        (
            model,
            clean.get(model),
            percent(clean.get(model)),
            [_cost(record) if (record := found.get((model, family))) else None for family in families],
        )
        for model in model_order(numbers)
        if any((model, family) in found for family in families)
    ]
    where = addresses(key, families)
    return CostMatrix(families, [where[family] for family in families], rows)


def _cost(record: FamilySummary) -> Cost:
    drop, score = record.averages.micro_drop.value, percent(record.averages.micro_average.value)
    place = f"{record.model} on {record.family}"
    if drop is None:
        return Cost(
            "?", score, None, "clean", 0.0, holds_up=False, favours=False, said=f"{place}: {score} %, no clean score"
        )
    holds_up = record.test is not None and record.test.holds_up
    return Cost(
        signed(-drop, "+"),
        score,
        -drop,
        "worst" if drop > 0 else "clean",
        0.0 if record.favours_a_class else min(1.0, abs(drop) / FULL_COLOUR),
        holds_up=holds_up,
        favours=record.favours_a_class,
        said=f"{place}: {signed(-drop, '+')} points to {score} %, {'holds up' if holds_up else 'may be chance'}"
        + _of_classes(record),
    )


def _of_classes(record: FamilySummary) -> str:
    if not record.favours_a_class:
        return ""
    before, after = percent(record.clean_balanced_accuracy.value), percent(record.classes.balanced_accuracy.value)
    return f"; balanced accuracy falls from {before} % to {after} %"
