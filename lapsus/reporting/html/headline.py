"""The first sentences of the page: the effect of noise, as far as the tests support it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lapsus.core.track_names import CLEAN
from lapsus.reporting.analysis.records import ALPHA, FamilySummary, Results, TrackScore
from lapsus.reporting.html.tables import format_count, format_percent, format_signed


def write_headline(summary: Sequence[FamilySummary]) -> str:
    """Say where noise costs most and least; if no test finds a drop, say so, and how large a drop could be missed."""
    compared = [record for record in summary if record.averages.micro_drop.value is not None]
    return " ".join(_iter_sentences(compared)) if compared else ""


def _iter_sentences(compared: Sequence[FamilySummary]) -> Iterator[str]:
    costs = [record for record in compared if _is_significant(record) and _get_drop(record) > 0]
    gains = [record for record in compared if _is_significant(record) and _get_drop(record) < 0]
    inconclusive = [record for record in compared if not _is_significant(record)]
    if costs:
        most = max(costs, key=_get_drop)
        uncertain = any(_get_drop(record) > _get_drop(most) for record in inconclusive)
        yield (
            "Of the drops that hold up, the largest is on " if uncertain else "Noise costs most on "
        ) + _describe_largest_drop(most)
        if len(costs) > 1:
            least = min(costs, key=_get_drop)
            yield f"Of the drops that hold up, the smallest is on {_format_place(least)}: {format_percent(_get_drop(least))} points."
    elif gains:
        yield "No drop holds up."
    elif all(_get_drop(record) == 0 for record in compared):
        yield "No average differs between clean and noisy text."
    else:
        largest = max(compared, key=lambda record: abs(_get_drop(record)))
        yield "No difference between clean and noisy text holds up."
        yield f"The largest is on {_format_place(largest)}, {_describe_change(largest)}, which may be chance."
    if gains:
        largest = min(gains, key=_get_drop)
        yield f"On {_format_place(largest)} the score rises, {_describe_change(largest)}."
    yield from _describe_power(inconclusive)
    yield from _describe_class_drop(compared)


def _describe_largest_drop(most: FamilySummary) -> str:
    sentence = f"{most.family}: {most.model} falls {_describe_change(most)}"
    if most.annotators > 1:
        worst = format_percent(most.averages.worst_average.value)
        sentence += f" on average, and to {worst} % when each example counts only whom the model served worst"
    return f"{sentence}."


def _describe_power(inconclusive: Sequence[FamilySummary]) -> Iterator[str]:
    """Say how large a drop could be missed where no test finds a difference."""
    sizes = [
        max(record.test.minimum_detectable, abs(_get_drop(record)))
        for record in inconclusive
        if record.test and record.test.minimum_detectable is not None
    ]
    if sizes:
        places = _format_place(inconclusive[0]) if len(inconclusive) == 1 else f"{len(inconclusive)} of the cells below"
        yield (
            f"Where none holds up ({places}), a difference of {format_percent(max(sizes))} points could have been missed:"
            " that is not yet robust."
        )


def _describe_class_drop(compared: Sequence[FamilySummary]) -> Iterator[str]:
    """Warn of accuracy that does not fall while fewer classes are told apart."""
    hidden_drops = [record for record in compared if record.hides_class_drop]
    if not hidden_drops:
        return
    significant = [record for record in hidden_drops if (record.balanced_drop_p or 0.0) < ALPHA]
    record = max(significant or hidden_drops, key=_compute_class_drop)
    before, after = (
        format_percent(record.clean_balanced_accuracy.value),
        format_percent(record.classes.balanced_accuracy.value),
    )
    accuracy = "does not fall" if _get_drop(record) <= 0 else "falls by no more than chance explains"
    other_cells = (
        f" The same may be so in {format_count(len(hidden_drops) - 1, 'other cell')} below (†)."
        if len(hidden_drops) > 1
        else ""
    )
    yield (
        f"But {record.model} {'is not' if significant else 'may not be'} robust on {record.family}: its accuracy {accuracy},"
        f" yet its balanced accuracy falls from {before} % to {after} %, as the rarer classes are found less often"
        f"{'' if significant else ', which may be chance'}.{other_cells}"
    )


def _compute_class_drop(record: FamilySummary) -> float:
    return (record.clean_balanced_accuracy.value or 0.0) - (record.classes.balanced_accuracy.value or 0.0)


def _is_significant(record: FamilySummary) -> bool:
    return record.test is not None and record.test.is_significant


def _get_drop(record: FamilySummary) -> float:
    return record.averages.micro_drop.value or 0.0


def _format_place(record: FamilySummary) -> str:
    return f"{record.family} for {record.model}"


def _describe_change(record: FamilySummary) -> str:
    averages = record.averages
    return f"from {format_percent(averages.clean_average.value)} % on clean text to {format_percent(averages.micro_average.value)} %"


# Order on the page: models in one order everywhere, doses of one noise in one plot, numbers in names ascending.


MIN_SEVERITIES = 3


class Panel(NamedTuple):
    """What one plot shows: a family of noise, or several doses of one noise; a family's dose is None."""

    title: str
    families: tuple[tuple[float | None, str], ...]


def find_clean_scores(tracks: Sequence[TrackScore]) -> dict[str, float | None]:
    """Return what each model scores on the clean track that noise is compared with, not on its repeats (`clean.2`)."""
    clean = sorted((record for record in tracks if record.clean), key=lambda record: record.track not in CLEAN)
    return {record.model: record.average.value for record in reversed(clean)}


def order_models(results: Results) -> list[str]:
    """Return the models, those that score best on clean text first."""
    clean = find_clean_scores(results.tracks)
    models = dict.fromkeys(record.model for record in results.tracks)
    return sorted(models, key=lambda model: -(clean.get(model) or 0.0))


def arrange_panels(families: Iterable[str]) -> list[Panel]:
    """Return the plots that families are drawn in: one each, and one for three or more doses of one noise.

    A dose is a percentage at the end of a name, or a severity behind "@".

    >>> [panel.title for panel in arrange_panels(["typing", "sounds_5%", "sounds_10%", "sounds_20%"])]
    ['typing', 'sounds']
    """
    names = list(dict.fromkeys(families))
    severities: dict[tuple[str, str], list[tuple[float, str]]] = {}
    name_parts: dict[str, tuple[str, str]] = {}
    for name in names:
        match = re.fullmatch(r"(.+?)[_ -]?(\d+(?:\.\d+)?)(%)", name) or re.fullmatch(r"(.+?)@(\d+(?:\.\d+)?)()", name)
        if match:
            name_parts[name] = (match[1], match[3])
            severities.setdefault(name_parts[name], []).append((float(match[2]), name))
    panels_by_key: dict[str, Panel] = {}
    for name in names:
        series = sorted(severities[name_parts[name]]) if name in name_parts else []
        title, unit = name_parts.get(name, (name, ""))
        if len(series) >= MIN_SEVERITIES:
            panels_by_key[f"{title}@{unit}"] = Panel(title, tuple(series))
        else:
            panels_by_key[name] = Panel(name, ((None, name),))
    return list(panels_by_key.values())


def make_anchors(key: str, families: Iterable[str]) -> dict[str, str]:
    """Return where on the page the plot of each family is.

    >>> make_anchors("d0", ["typing", "speech"])["speech"]
    'd0-overview-1'
    """
    return {
        family: f"{key}-overview-{number}"
        for number, panel in enumerate(arrange_panels(families))
        for _, family in panel.families
    }


def natural_sort_key(text: str) -> tuple[tuple[int, float, str], ...]:
    """Return a sort key that orders numbers in a text by value.

    >>> sorted(["10 to 20", "9", "over 20", "100"], key=natural)
    ['9', '10 to 20', '100', 'over 20']
    """
    parts = re.split(r"(\d+(?:\.\d+)?)", text)
    return tuple((0, float(part), "") if number % 2 else (1, 0.0, part) for number, part in enumerate(parts) if part)


# The matrix at the top of the page: the drop of each model under each kind of noise, and its test.


FULL_COLOUR = 0.3  # a drop of 30 points or more has the full colour


@dataclass(frozen=True, slots=True)
class DropCell:
    """One cell: the drop in points, the noisy score, the colour, and the link to the details."""

    drop: str
    score: str
    sort: float | None
    colour: str  # "worst" where the score falls, "clean" where it rises
    share: float  # share of the full colour
    is_significant: bool
    hides_class_drop: bool  # although the drop hides it, fewer classes are told apart
    label: str  # the cell in words


@dataclass(frozen=True, slots=True)
class DropMatrix:
    """Models by kinds of noise; a cell is None where a model was not run on that noise."""

    families: Sequence[str]
    links: Sequence[str]
    rows: Sequence[
        tuple[str, float | None, str, Sequence[DropCell | None]]
    ]  # model, clean score, the same as text, cells

    @property
    def hides_class_drop(self) -> bool:
        """Whether a cell hides that fewer classes are told apart."""
        return any(cell is not None and cell.hides_class_drop for *_, cells in self.rows for cell in cells)


def build_drop_matrix(key: str, results: Results) -> DropMatrix | None:
    """Return the matrix of one dataset, the models that score best on clean text first; None where nothing is noisy."""
    summary = results.summary
    if not summary:
        return None
    families = list(dict.fromkeys(record.family for record in summary))
    summaries = {(record.model, record.family): record for record in summary}
    clean = find_clean_scores(results.tracks)
    rows = [
        (
            model,
            clean.get(model),
            format_percent(clean.get(model)),
            [_make_cell(record) if (record := summaries.get((model, family))) else None for family in families],
        )
        for model in order_models(results)
        if any((model, family) in summaries for family in families)
    ]
    anchors = make_anchors(key, families)
    return DropMatrix(families, [anchors[family] for family in families], rows)


def _make_cell(record: FamilySummary) -> DropCell:
    drop, score = record.averages.micro_drop.value, format_percent(record.averages.micro_average.value)
    place = f"{record.model} on {record.family}"
    if drop is None:
        return DropCell(
            "?",
            score,
            None,
            "clean",
            0.0,
            is_significant=False,
            hides_class_drop=False,
            label=f"{place}: {score} %, no clean score",
        )
    holds_up = record.test is not None and record.test.is_significant
    return DropCell(
        format_signed(-drop, "+"),
        score,
        -drop,
        "worst" if drop > 0 else "clean",
        0.0 if record.hides_class_drop else min(1.0, abs(drop) / FULL_COLOUR),
        is_significant=holds_up,
        hides_class_drop=record.hides_class_drop,
        label=f"{place}: {format_signed(-drop, '+')} points to {score} %, {'holds up' if holds_up else 'may be chance'}"
        + _describe_classes(record),
    )


def _describe_classes(record: FamilySummary) -> str:
    if not record.hides_class_drop:
        return ""
    before, after = (
        format_percent(record.clean_balanced_accuracy.value),
        format_percent(record.classes.balanced_accuracy.value),
    )
    return f"; balanced accuracy falls from {before} % to {after} %"
