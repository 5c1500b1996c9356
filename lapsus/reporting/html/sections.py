"""The sections of the page: each answers one question about a dataset with plots and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypeVar

from lapsus.reporting.analysis.records import (
    Estimate,
    FamilySummary,
    GroupGap,
    GroupScore,
    LostExample,
    NoiseBin,
    Results,
    Transition,
)
from lapsus.reporting.html import plots
from lapsus.reporting.html.averages import (
    class_cells,
    describe_annotators,
    describe_chance,
    name_annotators,
    new_annotator_cells,
    score_cells,
    score_values,
)
from lapsus.reporting.html.examples import ExamplePart
from lapsus.reporting.html.headline import find_clean_scores, order_models
from lapsus.reporting.html.tables import (
    EXPLORATORY,
    MAX_ROWS,
    SUGGESTIVE,
    Cell,
    PageTable,
    count_cell,
    exploratory_cell,
    exploratory_p_cells,
    format_count,
    format_p_value,
    format_percent,
    make_table,
    natural_sort_key,
    p_value_cells,
    rate_cell,
    text_cell,
)

Item = TypeVar("Item")

MAX_LINES = 6  # with more lines than this, a plot is hard to read
MAX_PLOT_ROWS = 24  # rows in a plot, at most, as a screen holds; more are shown as a table
MIN_TEXTS = 10  # texts in a bin of noise rates, at least, to be plotted
NOISE_RATE = "edits per 100 characters"
PREDICTIONS = "% of predictions"


class Figure(NamedTuple):
    """A plot that is still to be drawn, its caption, and its anchor on the page."""

    caption: str
    plot: Callable[[], plots.Plot]
    key: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """How often each clean prediction (row) became each noisy one (column): counts, and shares of the row."""

    caption: str
    labels: Sequence[str]
    rows: Sequence[Sequence[tuple[int, float]]]


@dataclass(frozen=True, slots=True)
class Section:
    """One question, and the plots and tables that answer it."""

    key: str
    title: str
    text: str
    figures: Sequence[Figure] = ()
    legend: str = ""
    matrices: Sequence[Matrix] = ()
    table: PageTable | None = None
    examples: Sequence[LostExample] = ()
    parts: Sequence[ExamplePart] = ()  # all examples, for the search on the page
    is_folded: bool = False  # opens on a click


def build_sections(key: str, results: Results, parts: Sequence[ExamplePart] = ()) -> list[Section]:
    """Return the sections of one dataset; `key` is the prefix of their anchors."""
    writers = (
        _overview_section,
        _task_section,
        _scorer_section,
        _dialect_section,
        _annotator_section,
        _transition_section,
        _noise_section,
        _group_section,
        _gap_section,
        _comparison_section,
    )
    folded = DETAILS if len({record.model for record in results.tracks}) == 1 else ()
    main_sections = [
        replace(section, is_folded=write in folded) for write in writers for section in write(key, results)
    ]
    return [*main_sections, *_example_section(key, results, parts), *_id_section(key, results)]


def group_by(items: Iterable[Item], name: Callable[[Item], str]) -> dict[str, list[Item]]:
    """Group items by a name, in the order of first appearance."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(name(item), []).append(item)
    return groups


def _overview_section(key: str, results: Results) -> Iterator[Section]:
    summary = results.summary
    if not summary:
        return
    axis = plots.compute_axis_limits(value for record in summary for value in score_values(record.averages))
    tests = next((record.test.n_tests or 0 for record in summary if record.test), 0)
    stochastic = any(record.chance.chance_worst.value is not None for record in summary)
    classes = any(record.classes.balanced_accuracy.value is not None for record in summary)
    generalises = any(record.average_new_annotators.interval for record in summary)
    figures: list[Figure] = []
    order = order_models(results)
    by_family = group_by(summary, lambda record: record.family)
    for panel in plots.arrange_panels(by_family):
        name = f"{key}-overview-{len(figures)}"
        if len(panel.families) > 1:
            figures.append(Figure(panel.title, _make_severity_plot(name, panel, by_family, order), name))
            continue
        ranked = sorted(by_family[panel.title], key=lambda record: order.index(record.model))
        rows = [(record.model, record.averages, record.annotators) for record in ranked]
        title = f"{panel.title}: clean, average and worst score of {format_count(len(ranked), 'model')}"
        figures.append(Figure(panel.title, partial(plots.draw_slopes, name, title, rows, axis), name))
    rows_of_cells = [
        {
            "Model": text_cell(record.model),
            "Noise": text_cell(record.family),
            **score_cells(record.averages),
            "%Δ": rate_cell(record.averages.relative_change, "% of clean", sign="+"),
            **(new_annotator_cells(record) if generalises else {}),
            **p_value_cells(record.test, tests),
            **({"Worst by chance": rate_cell(record.chance.chance_worst)} if stochastic else {}),
            **(class_cells(record) if classes else {}),
            "Changed": rate_cell(record.changes.changed_rate, PREDICTIONS),
            "Annotators": count_cell(record.annotators),
            "Examples": count_cell(record.examples),
        }
        for record in summary
    ]
    scorer = next((record.scorer for record in results.scorers if record.decides), "")
    named, origin = (f" ({scorer})", f"Scores are those of {scorer}. ") if scorer else ("", "")
    yield Section(
        f"{key}-overview",
        f"Clean, average and worst{named}",
        f"{origin}Clean: score on clean text. Average: mean over annotators. Worst: mean over examples of the lowest"
        f" annotator’s score. {describe_annotators(summary, name_annotators(results.tracks))}"
        f"{describe_chance(summary)}",
        figures,
        legend="states",
        table=make_table(f"Clean, average and worst scores{named}", rows_of_cells),
    )


def _task_section(key: str, results: Results) -> Iterator[Section]:
    """Show the measures of the task in one column each, the tracks of each model in one row each."""
    measures = list(dict.fromkeys(record.measure for record in results.task_scores))
    if not measures:
        return
    by_track = group_by(results.task_scores, lambda record: f"{record.model}\0{record.track}")
    cells = [
        {
            "Model": text_cell(records[0].model),
            "Track": text_cell(records[0].track),
            **dict.fromkeys(measures, rate_cell(None)),
            **{record.measure: rate_cell(record.value) for record in records},
            "Examples": count_cell(records[0].examples),
        }
        for records in by_track.values()
    ]
    yield Section(
        f"{key}-task",
        f"{measures[0]} by track",
        "The usual measure of the task, over all examples of a track. All other numbers on this page are means of the"
        " scores of single examples.",
        table=make_table("Measures of the task", cells),
    )


def _scorer_section(key: str, results: Results) -> Iterator[Section]:
    """Show how far scorers agree with the verdicts of people, where there are some."""
    judged = [record for record in results.scorers if record.judged]
    if not judged:
        return
    cells = [
        {
            "Scorer": text_cell(record.scorer),
            "Krippendorff’s alpha": Cell("–" if record.alpha is None else f"{record.alpha:.2f}", record.alpha),
            "Scorer minus people": rate_cell(record.difference, "points", sign="+"),
            "Answers judged": count_cell(record.judged),
        }
        for record in judged
    ]
    yield Section(
        f"{key}-scorers",
        "Scorers beside people",
        "How far each scorer agrees with the verdicts of people (column human_score). An alpha of 1 is full agreement,"
        " 0 is what chance would give.",
        table=make_table("Agreement of scorers with people", cells),
    )


def _dialect_section(key: str, results: Results) -> Iterator[Section]:
    if not results.dialects:
        return
    tests = results.dialects[0].n_tests or 0
    aware = any(record.awareness_wins is not None for record in results.dialects)
    cells = [
        {
            "Model": text_cell(record.model),
            "Dialect wins": rate_cell(record.win_rate),
            "p": Cell(format_p_value(record.p_value), record.p_value),
            "p, Holm": Cell(format_p_value(record.p_holm), record.p_holm, unit=format_count(tests, "test")),
            "Wins": count_cell(record.wins),
            "Losses": count_cell(record.losses),
            "Ties": count_cell(record.ties),
            **(
                {
                    "Awareness": rate_cell(record.awareness_rate),
                    "Higher with own tag": count_cell(record.awareness_wins),
                    "Lower": count_cell(record.awareness_losses),
                    "Equal": count_cell(record.awareness_ties),
                }
                if aware
                else {}
            ),
            "Sentences": count_cell(record.examples),
        }
        for record in results.dialects
    ]
    text = (
        "A sentence in another dialect has the meaning of its base sentence; a sentence with one word changed has not."
        " The dialect wins where its score is strictly higher. A metric that is robust to dialects wins nearly always;"
        " one that wins less than half of the time rates similar words above equal meaning. The test is two-sided: wins"
        " against losses, without ties. A missing score counts as a tie."
    )
    if aware:
        text += (
            " Awareness: the share of sentences that score at least as high with the tag of their own dialect as with"
            " another tag. A metric that ignores tags always ties, so its awareness is 100 %."
        )
    yield Section(f"{key}-dialects", "Dialect and meaning", text, table=make_table("Win rates of dialects", cells))


def _make_severity_plot(
    name: str, panel: plots.Panel, by_family: Mapping[str, Sequence[FamilySummary]], order: Sequence[str]
) -> Callable[[], plots.Plot]:
    """Plot the average score of each model by the severity of a noise; at severity 0 it is the clean score."""
    points: dict[str, list[tuple[float, Estimate]]] = {model: [] for model in order}
    for severity, family in panel.families:
        for record in by_family[family]:
            if severity and not points[record.model] and record.averages.clean_average.value is not None:
                points[record.model].append((0.0, record.averages.clean_average))
            points[record.model].append((severity or 0.0, record.averages.micro_average))
    lines = [plots.Line(model, number, points[model]) for number, model in enumerate(order) if points[model]]
    axis = plots.compute_axis_limits(value for line in lines for _, score in line.points for value in score)
    x_max = max(severity or 0.0 for severity, _ in panel.families) or 1.0
    is_percent = panel.families[0][1].endswith("%")
    x_label = f"{panel.title}{' (%)' if is_percent else ': severity'}"
    title = f"{panel.title}: average score by severity"
    return partial(plots.draw_curves, name, title, lines[: len(plots.SERIES)], axis, x_label, x_max)


def _annotator_section(key: str, results: Results) -> Iterator[Section]:
    tracks = results.tracks
    noisy = [record for record in tracks if not record.clean]
    clean = find_clean_scores(tracks)
    axis = plots.compute_axis_limits(value for record in tracks for value in record.average)
    order = order_models(results)
    figures: list[Figure] = []
    for family, records in group_by(noisy, lambda record: record.family).items():
        by_model = group_by(sorted(records, key=lambda record: order.index(record.model)), lambda record: record.model)
        if max(len(model_records) for model_records in by_model.values()) > 1:
            rows = [
                (model, clean.get(model), [(record.annotator, record.average) for record in model_records])
                for model, model_records in by_model.items()
            ]
            title = f"{family}: average score of each annotator"
            name = f"{key}-annotators-{len(figures)}"
            figures.append(Figure(family, partial(plots.draw_annotators, name, title, rows, axis), name))
    tests = next((record.from_clean.test.n_tests or 0 for record in tracks if record.from_clean), 0)
    classes = any(record.classes.balanced_accuracy.value is not None for record in tracks)
    any_refused, any_cut = (any(counts) for counts in zip(*((each.refused, each.cut) for each in tracks), strict=True))
    cells = []
    for record in tracks:
        comparison = record.from_clean
        flips = comparison.changes.flips if comparison else None
        cells.append(
            {
                "Model": text_cell(record.model),
                "Track": text_cell(record.track),
                "Score": rate_cell(record.average),
                "From clean": rate_cell(comparison.test.difference if comparison else None, "points", sign="+"),
                **exploratory_p_cells(comparison.test if comparison else None, tests),
                **(
                    {
                        "Balanced": rate_cell(record.classes.balanced_accuracy),
                        "Macro-F1": rate_cell(record.classes.macro_f1),
                    }
                    if classes
                    else {}
                ),
                "Changed": rate_cell(comparison.changes.changed_rate if comparison else None, PREDICTIONS),
                "Correct to wrong": count_cell(flips.correct_to_wrong if flips else None),
                "Wrong to correct": count_cell(flips.wrong_to_correct if flips else None),
                "Texts changed": count_cell(record.changed_texts),
                "Noise rate": rate_cell(record.noise_rate, NOISE_RATE),
                "Examples": count_cell(record.examples),
                "Unparsed": count_cell(record.unparsed),
                **({"Refused": count_cell(record.refused)} if any_refused else {}),
                **({"Cut": count_cell(record.cut)} if any_cut else {}),
            }
        )
    text = (
        f"Each number is one annotator ({name_annotators(tracks)}). The distance from the clean line is that user’s"
        " drop. The test compares how often correct predictions were lost and gained."
    )
    if not figures:
        text = "The drop of each track, on the examples that it shares with the clean track."
    text += f" These tests are exploratory: {SUGGESTIVE} marks those below 5 % by Benjamini and Hochberg’s method."
    yield Section(
        f"{key}-annotators",
        f"Scores by {'annotator' if figures else 'track'}",
        text,
        figures,
        legend="annotators" if figures else "",
        table=make_table("All tracks", cells),
    )


def _transition_section(key: str, results: Results) -> Iterator[Section]:
    matrices = [
        _build_matrix(f"{model} · {family}", records)
        for model, model_records in group_by(results.transitions, lambda record: record.model).items()
        for family, records in group_by(model_records, lambda record: record.family).items()
    ]
    if matrices:
        yield Section(
            f"{key}-flips",
            "Changed predictions",
            "Rows are predictions on clean text, columns predictions on the noisy text of the same example. The"
            " diagonal counts unchanged predictions. Shares are of the row.",
            matrices=matrices,
        )


def _build_matrix(caption: str, records: Sequence[Transition]) -> Matrix:
    rows = group_by(records, lambda record: record.clean)
    counts = [[record.count for record in row] for row in rows.values()]
    return Matrix(caption, list(rows), [[(number, number / (sum(row) or 1)) for number in row] for row in counts])


def _noise_section(key: str, results: Results) -> Iterator[Section]:
    records = results.noise_bins
    if not records:
        return

    def get_model(record: NoiseBin) -> str:
        return record.model

    def get_family(record: NoiseBin) -> str:
        return record.family

    facets, lines = (
        (get_family, get_model) if len(group_by(records, get_model)) <= MAX_LINES else (get_model, get_family)
    )
    plottable = [record for record in records if record.texts >= MIN_TEXTS]
    figures: list[Figure] = []
    order = order_models(results) if lines is get_model else list(group_by(records, lines))
    axis = (
        plots.compute_axis_limits(value for record in plottable for value in record.average)
        if plottable
        else (0.0, 1.0)
    )
    x_max = max((100 * record.noise_rate for record in plottable), default=1.0) or 1.0
    for panel, panel_records in group_by(plottable, facets).items():
        plot_lines = [
            plots.Line(line, order.index(line), [(100 * point.noise_rate, point.average) for point in points])
            for line, points in group_by(panel_records, lines).items()
            if order.index(line) < len(plots.SERIES)
        ]
        title = f"{panel}: average score by noise rate"
        name = f"{key}-noise-{len(figures)}"
        x_label = "noise rate (edits per 100 characters of clean text)"
        figures.append(Figure(panel, partial(plots.draw_curves, name, title, plot_lines, axis, x_label, x_max), name))
    cells = [
        {
            "Model": text_cell(record.model),
            "Noise": text_cell(record.family),
            "Noise rate": Cell(_format_noise_bin(record), record.noise_rate, unit=NOISE_RATE),
            "Score": rate_cell(record.average),
            "Mean rate": rate_cell(record.noise_rate, NOISE_RATE),
            "Texts": count_cell(record.texts),
            "Examples": count_cell(record.examples),
        }
        for record in records
    ]
    yield Section(
        f"{key}-noise",
        "Scores by noise rate",
        "The noise rate of a text is the number of characters to insert, delete or replace, per 100 characters of clean"
        f" text. Bars are intervals; bins of fewer than {MIN_TEXTS} texts are only in the table.",
        figures,
        table=make_table("Score by noise rate", cells),
    )


def _format_noise_bin(record: NoiseBin) -> str:
    """Name a bin of noise rates."""
    low, high = record.noise_from, record.noise_to
    if low is None:
        return "0"
    return f"over {low * 100:.0f}" if high is None else f"over {low * 100:.0f} to {high * 100:.0f}"


def _group_section(key: str, results: Results) -> Iterator[Section]:
    by_column = group_by(results.groups, lambda record: record.column)
    order = order_models(results)
    for number, (column, records) in enumerate(by_column.items()):
        column_label = _format_column(column)
        axis = plots.compute_axis_limits(value for record in records for value in score_values(record.averages))
        figures: list[Figure] = []
        for family, family_records in group_by(records, lambda record: record.family).items():
            ranked = sorted(
                family_records, key=lambda record: (order.index(record.model), natural_sort_key(record.value))
            )
            if len(ranked) <= MAX_PLOT_ROWS:
                rows = [(f"{record.model} · {record.value}", record.averages, record.annotators) for record in ranked]
                title = f"{family}: clean, average and worst score by {column_label}"
                name = f"{key}-by{number}-{len(figures)}"
                figures.append(Figure(family, partial(plots.draw_slopes, name, title, rows, axis), name))
        cells = [
            {
                "Model": text_cell(record.model),
                "Noise": text_cell(record.family),
                column_label.capitalize(): text_cell(record.value),
                **score_cells(record.averages),
                "Examples": count_cell(record.examples),
            }
            for record in sorted(records, key=lambda record: natural_sort_key(record.value))
        ]
        yield Section(
            f"{key}-by{number}",
            f"Scores by {column_label}",
            "The same averages for each group of examples. A good average can hide a group with a large drop."
            + _describe_widest_gap(records, results.group_gaps, column_label),
            figures,
            legend="states" if figures else "",
            table=make_table(f"Scores by {column_label}", cells),
        )


def _format_column(column: str) -> str:
    return "gold label" if column == "gold" else column


def _describe_widest_gap(records: Sequence[GroupScore], gaps: Sequence[GroupGap], column_label: str) -> str:
    """Describe the widest gap in average score between the groups of one column: a suggestive one, if there is any."""
    score_gaps = [gap for gap in gaps if gap.column == records[0].column and gap.measure == "average"]
    if not score_gaps:
        return ""
    suggestive = [gap for gap in score_gaps if gap.is_suggestive]
    widest = max(suggestive or score_gaps, key=lambda gap: gap.gap)
    groups = {(record.model, record.family, record.value): record for record in records}
    low, high = (groups[widest.model, widest.family, value] for value in (widest.worst, widest.best))
    best, worst = format_percent(high.averages.micro_average.value), format_percent(low.averages.micro_average.value)
    opening = f"The widest gap below 5 % ({SUGGESTIVE})" if suggestive else "The widest gap, which may be chance,"
    return (
        f" {opening} is {format_percent(widest.gap)} points: on {widest.family}, {widest.model} scores {best} % where"
        f" {column_label} is {widest.best} ({format_count(high.examples, 'example')}) and {worst} % where it is"
        f" {widest.worst} ({format_count(low.examples, 'example')})."
    )


def _gap_section(key: str, results: Results) -> Iterator[Section]:
    """Show the worst and the best group of each column, for each model and noise."""
    if not results.group_gaps:
        return
    cells = [
        {
            "Model": text_cell(record.model),
            "Noise": text_cell(record.family),
            "Groups": text_cell(_format_column(record.column)),
            "Measure": text_cell(record.measure),
            "Worst group": text_cell(record.worst),
            "Best group": text_cell(record.best),
            "Gap": rate_cell(record.gap, "points"),
            "p": Cell(format_p_value(record.p_value), record.p_value, "range of groups"),
            EXPLORATORY: exploratory_cell(record.p_bh, record.n_tests or 0),
        }
        for record in results.group_gaps
    ]
    yield Section(
        f"{key}-gaps",
        "Largest gaps between groups",
        "The two groups of a column that are farthest apart, in average score on noisy text and in drop. The test takes"
        " into account that these two were picked from all groups. It is exploratory:"
        f" {SUGGESTIVE} marks gaps below 5 % by Benjamini and Hochberg’s method.",
        table=make_table("Gaps between groups", cells),
    )


def _comparison_section(key: str, results: Results) -> Iterator[Section]:
    records = list(results.comparisons)
    if not records:
        return
    if len(records) > MAX_ROWS:
        records.sort(key=lambda record: 1.0 if record.test.p_value is None else record.test.p_value)
    cells = [
        {
            "Model": text_cell(record.model),
            "Other": text_cell(record.other),
            "On": text_cell(f"{record.family} {record.measure}".strip()),
            "Difference": rate_cell(record.test.difference, "points", sign="+"),
            **p_value_cells(record.test, record.test.n_tests or 0),
            "Score of model": rate_cell(record.model_score),
            "Score of other": rate_cell(record.other_score),
            "Examples": count_cell(record.examples),
        }
        for record in records
    ]
    yield Section(
        f"{key}-models",
        "Comparison of models",
        "Each pair of models, on the examples that both answered. This is a question of its own: a bold p is"
        f" significant after Holm’s correction for {format_count(records[0].test.n_tests or 0, 'comparison')}.",
        table=make_table("Pairwise comparison of models", cells),
    )


def _example_section(key: str, results: Results, parts: Sequence[ExamplePart]) -> Iterator[Section]:
    if results.lost_examples or parts:
        yield Section(
            f"{key}-examples",
            "Examples",
            "Insertions are underlined, deletions are struck through, also where a longer answer or a call changed."
            + (
                " Lost examples, which models answered correctly on clean text only, come first."
                if results.lost_examples
                else " No model lost a correct prediction under noise."
            ),
            examples=results.lost_examples,
            parts=parts,
        )


def _id_section(key: str, results: Results) -> Iterator[Section]:
    cells = [
        {
            "Model": text_cell(record.model),
            "Track": text_cell(record.track),
            "Reason": text_cell(record.reason),
            "Number": count_cell(record.count),
            "Ids": text_cell(", ".join(record.ids) + (" …" if record.count > len(record.ids) else "")),
        }
        for record in results.unmatched_ids
    ]
    text = "Tracks and models are compared on the examples that they share. These ids are not in every comparison."
    yield Section(
        f"{key}-ids",
        "Unmatched ids",
        text if cells else "All predictions match an example.",
        table=make_table("Unmatched ids", cells),
    )


# What a reader of a single model opens on demand.
DETAILS = (_annotator_section, _transition_section, _noise_section, _group_section, _gap_section)
