"""The sections of the page: each answers one question with plots and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar

from markupsafe import Markup

from lapsus.reporting.analysis.records import (
    Averages,
    Estimate,
    FamilySummary,
    GroupGap,
    GroupScore,
    LostExample,
    NoiseBin,
    Results,
    SourceFile,
    Transition,
)
from lapsus.reporting.html import plots
from lapsus.reporting.html.examples import ExamplePart
from lapsus.reporting.html.headline import Panel, arrange_panels, find_clean_scores, natural_sort_key, order_models
from lapsus.reporting.html.tables import (
    MAX_ROWS,
    Cell,
    PageTable,
    count_cell,
    format_count,
    format_p_value,
    format_percent,
    make_table,
    p_value_cells,
    rate_cell,
    text_cell,
)

Item = TypeVar("Item")

MAX_LINES = 6  # with more lines than this, a plot is hard to read
MAX_PLOT_ROWS = 24  # rows in a plot, at most, as a screen holds; more are shown as a table
MIN_TEXTS = 10  # texts in a class of noise rates, at least, to be plotted
NOISE_RATE = "edits per 100 letters"
ANSWERS = "% of answers"


class Figure(NamedTuple):
    """A plot that is still to be drawn, its caption, and its anchor on the page."""

    caption: str
    plot: Callable[[], plots.Plot]
    key: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """How often the clean prediction of each row became the noisy one of each column, and in what share of the row."""

    caption: str
    labels: Sequence[str]
    rows: Sequence[Sequence[tuple[int, float]]]


@dataclass(frozen=True, slots=True)
class Section:
    """One question, with the plots and tables that answer it."""

    key: str
    title: str
    text: str
    figures: Sequence[Figure] = ()
    legend: str = ""
    matrices: Sequence[Matrix] = ()
    table: PageTable | None = None
    examples: Sequence[LostExample] = ()
    parts: Sequence[ExamplePart] = ()  # all examples, which the script of the page searches


def build_sections(key: str, results: Results, parts: Sequence[ExamplePart] = ()) -> list[Section]:
    """Return the sections of one dataset; `key` is the prefix of their anchors."""
    writers = (
        _overview_section,
        _task_section,
        _dialect_section,
        _annotator_section,
        _transition_section,
        _noise_section,
        _group_section,
        _gap_section,
        _comparison_section,
    )
    main_sections = [section for write in writers for section in write(key, results)]
    return [*main_sections, *_example_section(key, results, parts), *_join_section(key, results)]


def mark_safe(markup: str) -> Markup:
    """Mark as safe HTML what this project wrote itself: its style, script and plots."""
    return Markup(markup)  # noqa: S704 - every other text is escaped by the template


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
    axis = plots.compute_axis_limits(value for record in summary for value in _score_values(record.averages))
    tests = next((record.test.n_tests or 0 for record in summary if record.test), 0)
    stochastic = any(record.chance.chance_worst is not None for record in summary)
    classes = any(record.classes.balanced_accuracy.value is not None for record in summary)
    figures: list[Figure] = []
    order = order_models(results)
    by_family = group_by(summary, lambda record: record.family)
    for panel in arrange_panels(by_family):
        name = f"{key}-overview-{len(figures)}"
        if len(panel.families) > 1:
            figures.append(Figure(panel.title, _severity_plot(name, panel, by_family, order), name))
            continue
        ranked = sorted(by_family[panel.title], key=lambda record: order.index(record.model))
        rows = [(record.model, record.averages, record.annotators) for record in ranked]
        title = f"{panel.title}: clean, average and worst score of {format_count(len(ranked), 'model')}"
        figures.append(Figure(panel.title, partial(plots.draw_slopes, name, title, rows, axis), name))
    rows_of_cells = [
        {
            "Model": text_cell(record.model),
            "Noise": text_cell(record.family),
            **_score_cells(record.averages),
            **p_value_cells(record.test, tests),
            **({"Worst by chance": rate_cell(record.chance.chance_worst)} if stochastic else {}),
            **(_class_cells(record) if classes else {}),
            "Changed": rate_cell(record.changes.changed_rate, ANSWERS),
            "Annotators": count_cell(record.annotators),
            "Examples": count_cell(record.examples),
        }
        for record in summary
    ]
    yield Section(
        f"{key}-overview",
        "From clean to worst",
        "Clean is the score on the text as it was meant. Average is the mean over everyone who typed or spoke it."
        f" Worst counts, for each example, only the one whom the model served worst.{_describe_chance(summary)}",
        figures,
        legend="states",
        table=make_table("Clean, average and worst scores", rows_of_cells),
    )


def _task_section(key: str, results: Results) -> Iterator[Section]:
    """Show the measures of the task: one column each, one row for each track of a model."""
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
        f"{measures[0]} of every track",
        "What the task is usually measured by, over all examples of a track; everything else on this page counts the"
        " scores of single examples.",
        table=make_table("Measures of the task", cells),
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
        "A sentence in another dialect means what its base means; one with a word changed does not. The dialect wins"
        " where it scores strictly higher: a scorer that is robust to dialects wins nearly always, and one that wins"
        " less than half of the time prefers the likeness of words to that of meaning. The test is two-sided: wins"
        " against losses, ties left out. Where an answer is missing, it is a tie."
    )
    if aware:
        text += (
            " Awareness is the share of sentences that score at least as high with the tag of their own dialect as with"
            " the other one; a scorer that reads no tag ties everywhere, and is called aware of everything."
        )
    yield Section(f"{key}-dialects", "Dialect against meaning", text, table=make_table("Win rates of dialects", cells))


def _severity_plot(
    name: str, panel: Panel, by_family: Mapping[str, Sequence[FamilySummary]], order: Sequence[str]
) -> Callable[[], plots.Plot]:
    """Plot the average score of each model against the dose of a noise; without any, it is the clean score."""
    points: dict[str, list[tuple[float, Estimate]]] = {model: [] for model in order}
    for dose, family in panel.families:
        for record in by_family[family]:
            if dose and not points[record.model] and record.averages.clean_average.value is not None:
                points[record.model].append((0.0, record.averages.clean_average))
            points[record.model].append((dose or 0.0, record.averages.micro_average))
    lines = [plots.Line(model, number, points[model]) for number, model in enumerate(order) if points[model]]
    axis = plots.compute_axis_limits(value for line in lines for _, score in line.points for value in score)
    x_max = max(dose or 0.0 for dose, _ in panel.families) or 1.0
    is_percent = panel.families[0][1].endswith("%")
    x_label = f"{panel.title}{' (%)' if is_percent else ': severity'}"
    title = f"{panel.title}: average score against the dose"
    return partial(plots.draw_curves, name, title, lines[: len(plots.SERIES)], axis, x_label, x_max)


def _describe_chance(summary: Sequence[FamilySummary]) -> str:
    """Say what worst score chance alone would give, where that is known."""
    several = [record for record in summary if record.annotators > 1]
    if not several:
        return ""
    known = {record.chance.chance_source for record in several} - {None}
    if not known:
        return (
            " There is one answer to each clean text, so what chance alone would do to the worst is not known: a model"
            " that does not always say the same looks fragile here. Answer the clean text again (tracks clean.2,"
            " clean.3, …) to see it."
        )
    source = " and ".join(sorted(filter(None, known)))
    if all(record.chance.chance_worst in {None, record.averages.clean_average.value} for record in several):
        return f" The same text always got the same score ({source}), so chance has no part in the worst."
    return (
        " Worst by chance is what the worst would be without noise, where a model does not always say the same; it was"
        f" learnt from {source}."
    )


def _class_cells(record: FamilySummary) -> dict[str, Cell]:
    return {
        "Balanced, clean": rate_cell(record.clean_balanced_accuracy),
        "Balanced": rate_cell(record.classes.balanced_accuracy),
        "p, balanced": Cell(format_p_value(record.balanced_drop_p), record.balanced_drop_p),
        "Macro-F1, clean": rate_cell(record.clean_macro_f1),
        "Macro-F1": rate_cell(record.classes.macro_f1),
    }


def _score_values(averages: Averages) -> list[float | None]:
    """Return the scores and the ends of their intervals."""
    return [*averages.clean_average, *averages.micro_average, *averages.worst_average]


def _score_cells(averages: Averages) -> dict[str, Cell]:
    return {
        "Clean": rate_cell(averages.clean_average),
        "Average": rate_cell(averages.micro_average),
        "Worst": rate_cell(averages.worst_average),
        "Average drop": rate_cell(averages.micro_drop, "points"),
        "Worst drop": rate_cell(averages.worst_drop, "points"),
    }


def _annotator_section(key: str, results: Results) -> Iterator[Section]:
    tracks = results.tracks
    noisy = [record for record in tracks if not record.clean]
    clean = find_clean_scores(tracks)
    axis = plots.compute_axis_limits(value for record in tracks for value in record.average)
    order = order_models(results)
    figures: list[Figure] = []
    for family, records in group_by(noisy, lambda record: record.family).items():
        by_model = group_by(sorted(records, key=lambda record: order.index(record.model)), lambda record: record.model)
        if max(len(of_model) for of_model in by_model.values()) > 1:
            rows = [
                (model, clean.get(model), [(record.annotator, record.average) for record in of_model])
                for model, of_model in by_model.items()
            ]
            title = f"{family}: average score of each annotator"
            name = f"{key}-annotators-{len(figures)}"
            figures.append(Figure(family, partial(plots.draw_annotators, name, title, rows, axis), name))
    tests = next((record.from_clean.test.n_tests or 0 for record in tracks if record.from_clean), 0)
    classes = any(record.classes.balanced_accuracy.value is not None for record in tracks)
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
                **p_value_cells(comparison.test if comparison else None, tests),
                **(
                    {
                        "Balanced": rate_cell(record.classes.balanced_accuracy),
                        "Macro-F1": rate_cell(record.classes.macro_f1),
                    }
                    if classes
                    else {}
                ),
                "Changed": rate_cell(comparison.changes.changed_rate if comparison else None, ANSWERS),
                "Right to wrong": count_cell(flips.correct_to_wrong if flips else None),
                "Wrong to right": count_cell(flips.wrong_to_correct if flips else None),
                "Noise rate": rate_cell(record.noise_rate, NOISE_RATE),
                "Examples": count_cell(record.examples),
                "No answer": count_cell(record.unparsed),
            }
        )
    text = (
        "Each number is a person (or a seed) who typed or spoke the same examples. The farther from clean, the more"
        " it costs to be that person. The test asks whether right answers were lost and won equally often."
    )
    yield Section(
        f"{key}-annotators",
        "Annotator by annotator" if figures else "Track by track",
        text if figures else "What each track costs by itself, against clean, on the examples that both have.",
        figures,
        legend="annotators" if figures else "",
        table=make_table("Every track", cells),
    )


def _transition_section(key: str, results: Results) -> Iterator[Section]:
    matrices = [
        _build_matrix(f"{model} · {family}", records)
        for model, of_model in group_by(results.transitions, lambda record: record.model).items()
        for family, records in group_by(of_model, lambda record: record.family).items()
    ]
    if matrices:
        yield Section(
            f"{key}-flips",
            "Where predictions flip",
            "Rows are what the model said on clean text, columns what it said on the noisy text of the same example."
            " The framed diagonal kept its answer; everything else flipped. Shares are of the row.",
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
        title = f"{panel}: average score against noise rate"
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
        "Score against noise",
        "Texts are sorted by how much was changed in them: the noise rate is the number of characters to insert, delete"
        f" or replace, per 100 characters of clean text. Bars are intervals; rates of fewer than {MIN_TEXTS} texts"
        " are only in the table.",
        figures,
        table=make_table("Score by noise rate", cells),
    )


def _format_noise_bin(record: NoiseBin) -> str:
    """Name a class of noise rates."""
    low, high = record.noise_from, record.noise_to
    if low is None:
        return "0"
    return f"over {low * 100:.0f}" if high is None else f"over {low * 100:.0f} to {high * 100:.0f}"


def _group_section(key: str, results: Results) -> Iterator[Section]:
    by_column = group_by(results.groups, lambda record: record.column)
    order = order_models(results)
    for number, (column, records) in enumerate(by_column.items()):
        column_label = "right answer" if column == "gold" else column
        axis = plots.compute_axis_limits(value for record in records for value in _score_values(record.averages))
        figures: list[Figure] = []
        for family, of_family in group_by(records, lambda record: record.family).items():
            ranked = sorted(of_family, key=lambda record: (order.index(record.model), natural_sort_key(record.value)))
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
                **_score_cells(record.averages),
                "Examples": count_cell(record.examples),
            }
            for record in sorted(records, key=lambda record: natural_sort_key(record.value))
        ]
        yield Section(
            f"{key}-by{number}",
            f"By {column_label}",
            "The same averages within each group of examples. A safe average can hide a group that pays for it."
            f"{_describe_widest_gap(records, [gap for gap in results.group_gaps if gap.column == column], column_label)}",
            figures,
            legend="states" if figures else "",
            table=make_table(f"Scores by {column_label}", cells),
        )


def _describe_widest_gap(records: Sequence[GroupScore], gaps: Sequence[GroupGap], column_label: str) -> str:
    """Say which model treats groups most differently under which noise, and whether that holds up."""
    of_scores = [gap for gap in gaps if gap.measure == "average"]
    if not of_scores:
        return ""
    significant = [gap for gap in of_scores if gap.is_significant]
    widest = max(significant or of_scores, key=lambda gap: gap.gap)
    low, high = (
        next(
            record
            for record in records
            if (record.model, record.family, record.value) == (widest.model, widest.family, value)
        )
        for value in (widest.worst, widest.best)
    )
    best, worst = format_percent(high.averages.micro_average.value), format_percent(low.averages.micro_average.value)
    opening = "The widest gap that holds up" if significant else "The widest gap, which may be chance,"
    return (
        f" {opening} is {format_percent(widest.gap)} points: on {widest.family}, {widest.model} scores {best} % where {column_label} is"
        f" {widest.best} ({format_count(high.examples, 'example')}) and {worst} % where it is {widest.worst}"
        f" ({format_count(low.examples, 'example')})."
    )


def _gap_section(key: str, results: Results) -> Iterator[Section]:
    """Show, for each model, noise and column, whom it serves worst and whom best."""
    if not results.group_gaps:
        return
    cells = [
        {
            "Model": text_cell(record.model),
            "Noise": text_cell(record.family),
            "Groups": text_cell("right answer" if record.column == "gold" else record.column),
            "In": text_cell(record.measure),
            "Served worst": text_cell(record.worst),
            "Served best": text_cell(record.best),
            "Gap": rate_cell(record.gap, "points"),
            "p": Cell(format_p_value(record.p_value), record.p_value, "range of groups"),
            "p, Holm": Cell(
                format_p_value(record.p_holm),
                record.p_holm,
                bold=record.is_significant,
                unit=format_count(record.n_tests or 0, "test"),
            ),
        }
        for record in results.group_gaps
    ]
    yield Section(
        f"{key}-gaps",
        "Who is served worst",
        "The groups that are the farthest apart: in their average score under noise, and in what noise takes from it."
        " The test knows that these two were picked from all groups; where the corrected p is bold, the gap holds up.",
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
            "Model’s score": rate_cell(record.model_score),
            "Other’s score": rate_cell(record.other_score),
            "Examples": count_cell(record.examples),
        }
        for record in records
    ]
    yield Section(
        f"{key}-models",
        "Models side by side",
        "Every two models on the examples that both answered. Where the corrected p is bold, the difference holds up"
        f" although {format_count(records[0].test.n_tests or 0, 'comparison')} were made; the others may be chance.",
        table=make_table("Pairwise comparison of models", cells),
    )


def _example_section(key: str, results: Results, parts: Sequence[ExamplePart]) -> Iterator[Section]:
    if results.lost_examples or parts:
        yield Section(
            f"{key}-examples",
            "Texts, before and after",
            "What was put in is underlined, what is gone is struck through."
            + (
                " First come those that were answered right when clean and wrong when noisy, by the most models."
                if results.lost_examples
                else " No model lost a right answer on any of them."
            ),
            examples=results.lost_examples,
            parts=parts,
        )


def _join_section(key: str, results: Results) -> Iterator[Section]:
    cells = [
        {
            "Model": text_cell(record.model),
            "Track": text_cell(record.track),
            "Ids": count_cell(record.count),
            "Why": text_cell(record.reason),
            "Which": text_cell(", ".join(record.ids) + (" …" if record.count > len(record.ids) else "")),
        }
        for record in results.unmatched_ids
    ]
    text = "Tracks and models are compared on the examples they share. These ids could not be used everywhere."
    yield Section(
        f"{key}-joins",
        "Left out",
        text if cells else "Every prediction found its example: all ids join.",
        table=make_table("Ids that do not join", cells),
    )


def source_table(files: Sequence[SourceFile]) -> PageTable | None:
    """Return the table of files that the tracks were read from."""
    return make_table(
        "Files of predictions",
        [
            {
                "Model": text_cell(record.model),
                "Track": text_cell("/".join(filter(None, (record.dataset, record.track)))),
                "File": text_cell(record.file),
                "Bytes": count_cell(record.bytes),
                "SHA-256": text_cell(record.sha256),
                **({"Asked": text_cell(record.identity or "")} if any(each.identity for each in files) else {}),
                **({"Data": text_cell(record.data or "")} if any(each.data for each in files) else {}),
            }
            for record in files
        ],
    )
