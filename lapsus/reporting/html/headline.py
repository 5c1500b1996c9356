"""The top of the page: the headline, which says what the tests support, and the matrix of drops, model by noise.

Models stand in the order of their clean scores, here and in every plot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lapsus.core.track_names import CLEAN
from lapsus.reporting.analysis.records import (
    COSTS,
    ROBUST,
    UNDECIDED,
    Estimate,
    FamilySummary,
    Results,
    TrackScore,
    Verdict,
    is_significant,
)
from lapsus.reporting.analysis.verdicts import describe_verdict, format_margin
from lapsus.reporting.html.plots import make_anchors
from lapsus.reporting.html.tables import format_count, format_percent, format_signed

FULL_COLOUR = 0.3  # a drop of 30 points or more has the full colour


def find_clean_scores(tracks: Sequence[TrackScore]) -> dict[str, float | None]:
    """Return the score of each model on the clean track that noise is compared with, not on its repeats (`clean.2`)."""
    clean = sorted((record for record in tracks if record.clean), key=lambda record: record.track not in CLEAN)
    return {record.model: record.average.value for record in reversed(clean)}


def order_models(results: Results) -> list[str]:
    """Return the models, the best on the clean text that all of them have first."""
    clean = sorted((record for record in results.tracks if record.clean), key=lambda record: record.track not in CLEAN)
    ranks = {record.model: record.for_rank for record in reversed(clean)}
    models = dict.fromkeys(record.model for record in results.tracks)
    return sorted(models, key=lambda model: -ranks.get(model, 0.0))


def write_headline(summary: Sequence[FamilySummary]) -> str:
    """Describe the largest and smallest significant drop, gains, the verdicts, and what may go undetected."""
    compared = [record for record in summary if record.averages.micro_drop.value is not None]
    return " ".join(_iter_sentences(compared)) if compared else ""


def _iter_sentences(compared: Sequence[FamilySummary]) -> Iterator[str]:
    drops = [record for record in compared if record.is_significant and _get_drop(record) > 0]
    gains = [record for record in compared if record.is_significant and _get_drop(record) < 0]
    inconclusive = [record for record in compared if not record.is_significant and record.decision.verdict != ROBUST]
    if drops:
        largest = max(drops, key=_get_drop)
        is_largest = all(_get_drop(record) <= _get_drop(largest) for record in compared)
        yield f"The largest {'' if is_largest else 'significant '}drop is on {_describe_largest_drop(largest)}"
        if len(drops) > 1:
            smallest = min(drops, key=_get_drop)
            yield f"The smallest significant drop is {_format_size(smallest)} ({_format_place(smallest)})."
    elif gains:
        yield "No drop is significant."
    elif all(_get_drop(record) == 0 for record in compared):
        yield "No average differs between clean and noisy text."
    else:
        largest = max(compared, key=lambda record: abs(_get_drop(record)))
        yield "No difference between clean and noisy text is significant."
        yield f"The largest is {_describe_change(largest)}, {_describe_size(largest)} ({_format_place(largest)})."
    if gains:
        largest = min(gains, key=_get_drop)
        change = f"{_describe_change(largest)}, {_describe_size(largest)}"
        yield f"The score of {largest.model} rises on {largest.family}, {change}."
    yield from _describe_verdicts([record.decision for record in compared])
    yield from _describe_power(inconclusive, len(compared))
    yield from _describe_class_drop(compared)


def _describe_largest_drop(largest: FamilySummary) -> str:
    sentence = f"{largest.family}: {largest.model} falls {_describe_change(largest)}"
    if largest.annotators == 1:
        return f"{sentence}, {_describe_size(largest)}."
    worst, worst_drop = largest.averages.worst_average.value, _format_points(largest.averages.worst_drop)
    worst_case = f"and to {format_percent(worst)} %, by {worst_drop}, for the worst annotator of each example"
    return f"{sentence} on average, {_describe_size(largest)}, {worst_case}."


def _describe_verdicts(decisions: Sequence[Verdict]) -> Iterator[str]:
    """Say in how many cells noise costs, the model is robust, or the examples do not decide."""
    if len(decisions) == 1:
        yield f"Verdict: {describe_verdict(decisions[0])}."
        return
    parts = []
    for verdict in (COSTS, ROBUST, UNDECIDED):
        alike = [decision for decision in decisions if decision.verdict == verdict]
        if alike:
            most = max(alike, key=lambda decision: decision.examples_to_decide or 0)
            words, _, cure = describe_verdict(most).partition(": ")
            parts.append(f"{words} in {format_count(len(alike), 'cell')}{f' ({cure})' if cure else ''}")
    if parts:
        yield f"Verdicts: {', '.join(parts)}."


def _describe_power(inconclusive: Sequence[FamilySummary], n_compared: int) -> Iterator[str]:
    """Say how large a drop may go undetected where no difference is significant."""
    tested = [(record, record.test.minimum_detectable) for record in inconclusive if record.test and record.test.test]
    sizes = [max(size, abs(_get_drop(record))) for record, size in tested if size is not None]
    if tested:
        extent = "of any size" if len(sizes) < len(tested) else f"of up to {format_percent(max(sizes))} points"
        sentence = f"drops {extent} may go undetected (80 % power)"
        if len(inconclusive) == n_compared:
            sentence = sentence.capitalize()
        elif len(inconclusive) == 1:
            sentence = f"The difference of {_format_place(inconclusive[0])} is not significant: {sentence}"
        else:
            sentence = f"The differences in {len(inconclusive)} of the cells below are not significant: {sentence}"
        yield f"{sentence}, so this is no evidence of robustness."


def _describe_class_drop(compared: Sequence[FamilySummary]) -> Iterator[str]:
    """Warn of a score that stays while balanced accuracy drops."""
    hidden_drops = [record for record in compared if record.hides_class_drop]
    if not hidden_drops:
        return
    significant = [record for record in hidden_drops if is_significant(record.balanced_drop_p_bh)]
    record = max(significant or hidden_drops, key=_compute_class_drop)
    accuracy = "keeps its accuracy" if _get_drop(record) <= 0 else "has no significant drop in accuracy"
    yield (
        f"{record.model} {accuracy} on {record.family}, but its balanced accuracy falls {_describe_classes(record)}"
        f"{': it recognises rare classes less often' if significant else ' (not significant)'}."
    )
    if len(hidden_drops) > 1:
        yield f"The same applies to {format_count(len(hidden_drops) - 1, 'other cell')} below (†)."


def _compute_class_drop(record: FamilySummary) -> float:
    return (record.clean_balanced_accuracy.value or 0.0) - (record.classes.balanced_accuracy.value or 0.0)


def _get_drop(record: FamilySummary) -> float:
    return record.averages.micro_drop.value or 0.0


def _format_place(record: FamilySummary) -> str:
    return f"{record.model} on {record.family}"


def _describe_change(record: FamilySummary) -> str:
    clean, noisy = record.averages.clean_average.value, record.averages.micro_average.value
    return f"from {format_percent(clean)} % on clean text to {format_percent(noisy)} %"


def _describe_size(record: FamilySummary) -> str:
    """Describe a drop or a gain in points, with its paired interval."""
    return f"a {'gain' if _get_drop(record) < 0 else 'drop'} of {_format_size(record)}"


def _format_size(record: FamilySummary) -> str:
    drop = record.averages.micro_drop
    return _format_points(drop if _get_drop(record) >= 0 else negate(drop))


def _format_points(estimate: Estimate) -> str:
    ends = f" [{_format_ends(estimate)}]" if estimate.interval else ""
    return f"{format_percent(estimate.value)} points{ends}"


def _format_ends(estimate: Estimate, sign: str = "") -> str:
    return " to ".join(format_signed(end, sign) for end in estimate.interval or ())


def negate(estimate: Estimate) -> Estimate:
    """Return a drop as a change, or a change as a drop.

    >>> negate(Estimate(0.2, 0.1, 0.3))
    Estimate(value=-0.2, low=-0.3, high=-0.1)
    """
    value, low, high = (None if part is None else -part for part in estimate)
    return Estimate(value, high, low)


def _describe_classes(record: FamilySummary) -> str:
    clean, noisy = record.clean_balanced_accuracy.value, record.classes.balanced_accuracy.value
    return f"from {format_percent(clean)} % to {format_percent(noisy)} %"


@dataclass(frozen=True, slots=True)
class DropCell:
    """One cell of the matrix; `sort` is the change as a fraction, `share` the part of the full colour."""

    drop: str
    score: str
    label: str  # the cell in words
    interval: str = ""  # of the drop
    verdict: str = ""  # one word
    sort: float | None = None
    colour: str = "clean"  # "worst" where the score falls
    share: float = 0.0
    is_significant: bool = False
    hides_class_drop: bool = False  # balanced accuracy drops, and the score hides it


@dataclass(frozen=True, slots=True)
class DropMatrix:
    """Models by noise; a row is a model, its clean score, the same as text, and its cells (None: not run)."""

    families: Sequence[str]
    links: Sequence[str]
    n_tests: int
    margin: str  # in points
    rows: Sequence[tuple[str, float | None, str, Sequence[DropCell | None]]]

    @property
    def hides_class_drop(self) -> bool:
        """Whether a cell hides a drop of balanced accuracy."""
        return any(cell is not None and cell.hides_class_drop for *_, cells in self.rows for cell in cells)


def build_drop_matrix(key: str, results: Results) -> DropMatrix | None:
    """Return the matrix of one dataset, the best models on clean text first; None where nothing is noisy."""
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
            [
                _make_cell(record, clean.get(model)) if (record := summaries.get((model, family))) else None
                for family in families
            ],
        )
        for model in order_models(results)
        if any((model, family) in summaries for family in families)
    ]
    anchors = make_anchors(key, families)
    n_tests = next((record.test.n_tests or 0 for record in summary if record.test), 0)
    margin = format_margin(results.settings.margin)
    return DropMatrix(families, [anchors[family] for family in families], n_tests, margin, rows)


def _make_cell(record: FamilySummary, row_clean: float | None) -> DropCell:
    """Return a cell; where its examples are not those of the row's clean score, it shows the clean score of its own."""
    drop, score = record.averages.micro_drop.value, format_percent(record.averages.micro_average.value)
    if drop is None:
        return DropCell("?", score, f"{_format_place(record)}: {score} %, no clean score")
    own_clean = format_percent(record.averages.clean_average.value)
    if own_clean != format_percent(row_clean):
        score = f"{own_clean} → {score}"
    change = format_signed(-drop, "+")
    significance = "significant" if record.is_significant else "not significant"
    verdict = describe_verdict(record.decision)
    interval = _format_ends(negate(record.averages.micro_drop), "+")
    ends = f" ({interval})" if interval else ""
    label = f"{_format_place(record)}: {change} points{ends} to {score} %, {significance}; {verdict}"
    if record.hides_class_drop:
        label += f"; balanced accuracy falls {_describe_classes(record)}"
    return DropCell(
        change,
        score,
        label,
        interval,
        record.decision.verdict or "",
        sort=-drop,
        colour="worst" if drop > 0 else "clean",
        share=0.0 if record.hides_class_drop else min(1.0, abs(drop) / FULL_COLOUR),
        is_significant=record.is_significant,
        hides_class_drop=record.hides_class_drop,
    )
