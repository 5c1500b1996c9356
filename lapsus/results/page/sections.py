"""The sections of the page: each answers one question with plots and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar

from markupsafe import Markup

from lapsus.results.measuring.records import (
    Averages,
    BrokenText,
    Estimate,
    FamilySummary,
    GroupGap,
    GroupScore,
    NoiseClass,
    Numbers,
    SourceFile,
    Transition,
)
from lapsus.results.page import plots
from lapsus.results.page.cells import (
    MOST_TABLED,
    Cell,
    Table,
    count,
    counted,
    p_value,
    percent,
    rate,
    table,
    tested,
    word,
)
from lapsus.results.page.example_parts import Part
from lapsus.results.page.order import Panel, clean_scores, model_order, natural, panels

Item = TypeVar("Item")

MOST_LINES = 6  # with more lines than this, a plot is hard to read
MOST_ROWS = 24  # rows in a plot, at most, as a screen holds; more are shown as a table
FEWEST_TEXTS = 10  # texts in a class of noise rates, at least, to be plotted
NOISE_RATE = "edits per 100 letters"
ANSWERS = "% of answers"


class Figure(NamedTuple):
    """A plot that is still to be drawn, its caption, and its anchor on the page."""

    caption: str
    plot: Callable[[], plots.Drawing]
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
    table: Table | None = None
    examples: Sequence[BrokenText] = ()
    parts: Sequence[Part] = ()  # all examples, which the script of the page searches


def sections(key: str, numbers: Numbers, parts: Sequence[Part] = ()) -> list[Section]:
    """Return the sections of one dataset; `key` is the prefix of their anchors."""
    writers = (_overview, _tasks, _dialects, _annotators, _flips, _noise, _breakdowns, _gaps, _comparisons)
    found = [section for write in writers for section in write(key, numbers)]
    return [*found, *_examples(key, numbers, parts), *_joins(key, numbers)]


def own(markup: str) -> Markup:
    """Mark as safe HTML what this project wrote itself: its style, script and plots."""
    return Markup(markup)  # noqa: S704 - every other text is escaped by the template


def grouped(items: Iterable[Item], name: Callable[[Item], str]) -> dict[str, list[Item]]:
    """Group items by a name, in the order of first appearance."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(name(item), []).append(item)
    return groups


def _overview(key: str, numbers: Numbers) -> Iterator[Section]:
    summary = numbers.summary
    if not summary:
        return
    axis = plots.limits(value for record in summary for value in _states(record.averages))
    tests = next((record.test.tests or 0 for record in summary if record.test), 0)
    stochastic = any(record.chance.worst_by_chance is not None for record in summary)
    classes = any(record.classes.balanced_accuracy.value is not None for record in summary)
    figures: list[Figure] = []
    order = model_order(numbers)
    of_family = grouped(summary, lambda record: record.family)
    for panel in panels(of_family):
        name = f"{key}-overview-{len(figures)}"
        if len(panel.families) > 1:
            figures.append(Figure(panel.title, _doses(name, panel, of_family, order), name))
            continue
        ranked = sorted(of_family[panel.title], key=lambda record: order.index(record.model))
        rows = [(record.model, record.averages, record.annotators) for record in ranked]
        title = f"{panel.title}: clean, average and worst score of {counted(len(ranked), 'model')}"
        figures.append(Figure(panel.title, partial(plots.slopes, name, title, rows, axis), name))
    rows_of_cells = [
        {
            "Model": word(record.model),
            "Noise": word(record.family),
            **_scores(record.averages),
            **tested(record.test, tests),
            **({"Worst by chance": rate(record.chance.worst_by_chance)} if stochastic else {}),
            **(_by_class(record) if classes else {}),
            "Changed": rate(record.changes.changed_rate, ANSWERS),
            "Annotators": count(record.annotators),
            "Examples": count(record.examples),
        }
        for record in summary
    ]
    yield Section(
        f"{key}-overview",
        "From clean to worst",
        "Clean is the score on the text as it was meant. Average is the mean over everyone who typed or spoke it."
        f" Worst counts, for each example, only the one whom the model served worst.{_chance(summary)}",
        figures,
        legend="states",
        table=table("Clean, average and worst scores", rows_of_cells),
    )


def _tasks(key: str, numbers: Numbers) -> Iterator[Section]:
    """Show the measures of the task: one column each, one row for each track of a model."""
    measures = list(dict.fromkeys(record.measure for record in numbers.tasks))
    if not measures:
        return
    by_track = grouped(numbers.tasks, lambda record: f"{record.model}\0{record.track}")
    cells = [
        {
            "Model": word(records[0].model),
            "Track": word(records[0].track),
            **dict.fromkeys(measures, rate(None)),
            **{record.measure: rate(record.value) for record in records},
            "Examples": count(records[0].examples),
        }
        for records in by_track.values()
    ]
    yield Section(
        f"{key}-task",
        f"{measures[0]} of every track",
        "What the task is usually measured by, over all examples of a track; everything else on this page counts the"
        " scores of single examples.",
        table=table("Measures of the task", cells),
    )


def _dialects(key: str, numbers: Numbers) -> Iterator[Section]:
    if not numbers.dialects:
        return
    tests = numbers.dialects[0].tests or 0
    aware = any(record.awareness_wins is not None for record in numbers.dialects)
    cells = [
        {
            "Model": word(record.model),
            "Dialect wins": rate(record.win_rate),
            "p": Cell(p_value(record.p_value), record.p_value),
            "p, Holm": Cell(p_value(record.p_holm), record.p_holm, unit=counted(tests, "test")),
            "Wins": count(record.wins),
            "Losses": count(record.losses),
            "Ties": count(record.ties),
            **(
                {
                    "Awareness": rate(record.awareness_rate),
                    "Higher with own tag": count(record.awareness_wins),
                    "Lower": count(record.awareness_losses),
                    "Equal": count(record.awareness_ties),
                }
                if aware
                else {}
            ),
            "Sentences": count(record.examples),
        }
        for record in numbers.dialects
    ]
    said = (
        "A sentence in another dialect means what its base means; one with a word changed does not. The dialect wins"
        " where it scores strictly higher: a scorer that is robust to dialects wins nearly always, and one that wins"
        " less than half of the time prefers the likeness of words to that of meaning. The test is two-sided: wins"
        " against losses, ties left out. Where an answer is missing, it is a tie."
    )
    if aware:
        said += (
            " Awareness is the share of sentences that score at least as high with the tag of their own dialect as with"
            " the other one; a scorer that reads no tag ties everywhere, and is called aware of everything."
        )
    yield Section(f"{key}-dialects", "Dialect against meaning", said, table=table("Win rates of dialects", cells))


def _doses(
    name: str, panel: Panel, of_family: Mapping[str, Sequence[FamilySummary]], order: Sequence[str]
) -> Callable[[], plots.Drawing]:
    """Plot the average score of each model against the dose of a noise; without any, it is the clean score."""
    points: dict[str, list[tuple[float, Estimate]]] = {model: [] for model in order}
    for dose, family in panel.families:
        for record in of_family[family]:
            if dose and not points[record.model] and record.averages.clean_average.value is not None:
                points[record.model].append((0.0, record.averages.clean_average))
            points[record.model].append((dose or 0.0, record.averages.micro_average))
    lines = [plots.Line(model, number, points[model]) for number, model in enumerate(order) if points[model]]
    axis = plots.limits(value for line in lines for _, score in line.points for value in score)
    reach = max(dose or 0.0 for dose, _ in panel.families) or 1.0
    percents = panel.families[0][1].endswith("%")
    along = f"{panel.title}{' (%)' if percents else ': severity'}"
    title = f"{panel.title}: average score against the dose"
    return partial(plots.curves, name, title, lines[: len(plots.SERIES)], axis, along, reach)


def _chance(summary: Sequence[FamilySummary]) -> str:
    """Say what worst score chance alone would give, where that is known."""
    several = [record for record in summary if record.annotators > 1]
    if not several:
        return ""
    known = {record.chance.chance_from for record in several} - {None}
    if not known:
        return (
            " There is one answer to each clean text, so what chance alone would do to the worst is not known: a model"
            " that does not always say the same looks fragile here. Answer the clean text again (tracks clean.2,"
            " clean.3, …) to see it."
        )
    source = " and ".join(sorted(filter(None, known)))
    if all(record.chance.worst_by_chance in {None, record.averages.clean_average.value} for record in several):
        return f" The same text always got the same score ({source}), so chance has no part in the worst."
    return (
        " Worst by chance is what the worst would be without noise, where a model does not always say the same; it was"
        f" learnt from {source}."
    )


def _by_class(record: FamilySummary) -> dict[str, Cell]:
    return {
        "Balanced, clean": rate(record.clean_balanced_accuracy),
        "Balanced": rate(record.classes.balanced_accuracy),
        "p, balanced": Cell(p_value(record.balanced_drop_p), record.balanced_drop_p),
        "Macro-F1, clean": rate(record.clean_macro_f1),
        "Macro-F1": rate(record.classes.macro_f1),
    }


def _states(averages: Averages) -> list[float | None]:
    """Return the scores and the ends of their intervals."""
    return [*averages.clean_average, *averages.micro_average, *averages.worst_average]


def _scores(averages: Averages) -> dict[str, Cell]:
    return {
        "Clean": rate(averages.clean_average),
        "Average": rate(averages.micro_average),
        "Worst": rate(averages.worst_average),
        "Average drop": rate(averages.micro_drop, "points"),
        "Worst drop": rate(averages.worst_drop, "points"),
    }


def _annotators(key: str, numbers: Numbers) -> Iterator[Section]:
    tracks = numbers.tracks
    noisy = [record for record in tracks if not record.clean]
    clean = clean_scores(tracks)
    axis = plots.limits(value for record in tracks for value in record.average)
    order = model_order(numbers)
    figures: list[Figure] = []
    for family, records in grouped(noisy, lambda record: record.family).items():
        by_model = grouped(sorted(records, key=lambda record: order.index(record.model)), lambda record: record.model)
        if max(len(of_model) for of_model in by_model.values()) > 1:
            rows = [
                (model, clean.get(model), [(record.annotator, record.average) for record in of_model])
                for model, of_model in by_model.items()
            ]
            title = f"{family}: average score of each annotator"
            name = f"{key}-annotators-{len(figures)}"
            figures.append(Figure(family, partial(plots.annotators, name, title, rows, axis), name))
    tests = next((record.from_clean.test.tests or 0 for record in tracks if record.from_clean), 0)
    classes = any(record.classes.balanced_accuracy.value is not None for record in tracks)
    cells = []
    for record in tracks:
        against = record.from_clean
        flips = against.changes.flips if against else None
        cells.append(
            {
                "Model": word(record.model),
                "Track": word(record.track),
                "Score": rate(record.average),
                "From clean": rate(against.test.difference if against else None, "points", sign="+"),
                **tested(against.test if against else None, tests),
                **(
                    {"Balanced": rate(record.classes.balanced_accuracy), "Macro-F1": rate(record.classes.macro_f1)}
                    if classes
                    else {}
                ),
                "Changed": rate(against.changes.changed_rate if against else None, ANSWERS),
                "Right to wrong": count(flips.correct_to_wrong if flips else None),
                "Wrong to right": count(flips.wrong_to_correct if flips else None),
                "Noise rate": rate(record.noise_rate, NOISE_RATE),
                "Examples": count(record.examples),
                "No answer": count(record.unparsed),
            }
        )
    several = (
        "Each number is a person (or a seed) who typed or spoke the same examples. The farther from clean, the more"
        " it costs to be that person. The test asks whether right answers were lost and won equally often."
    )
    yield Section(
        f"{key}-annotators",
        "Annotator by annotator" if figures else "Track by track",
        several if figures else "What each track costs by itself, against clean, on the examples that both have.",
        figures,
        legend="annotators" if figures else "",
        table=table("Every track", cells),
    )


def _flips(key: str, numbers: Numbers) -> Iterator[Section]:
    matrices = [
        _matrix(f"{model} · {family}", records)
        for model, of_model in grouped(numbers.transitions, lambda record: record.model).items()
        for family, records in grouped(of_model, lambda record: record.family).items()
    ]
    if matrices:
        yield Section(
            f"{key}-flips",
            "Where predictions flip",
            "Rows are what the model said on clean text, columns what it said on the noisy text of the same example."
            " The framed diagonal kept its answer; everything else flipped. Shares are of the row.",
            matrices=matrices,
        )


def _matrix(caption: str, records: Sequence[Transition]) -> Matrix:
    rows = grouped(records, lambda record: record.clean)
    counts = [[record.count for record in row] for row in rows.values()]
    return Matrix(caption, list(rows), [[(number, number / (sum(row) or 1)) for number in row] for row in counts])


def _noise(key: str, numbers: Numbers) -> Iterator[Section]:
    records = numbers.noise
    if not records:
        return

    def model(record: NoiseClass) -> str:
        return record.model

    def family(record: NoiseClass) -> str:
        return record.family

    facets, lines = (family, model) if len(grouped(records, model)) <= MOST_LINES else (model, family)
    telling = [record for record in records if record.texts >= FEWEST_TEXTS]
    figures: list[Figure] = []
    order = model_order(numbers) if lines is model else list(grouped(records, lines))
    axis = plots.limits(value for record in telling for value in record.average) if telling else (0.0, 1.0)
    reach = max((100 * record.noise_rate for record in telling), default=1.0) or 1.0
    for panel, inside in grouped(telling, facets).items():
        drawn = [
            plots.Line(line, order.index(line), [(100 * point.noise_rate, point.average) for point in points])
            for line, points in grouped(inside, lines).items()
            if order.index(line) < len(plots.SERIES)
        ]
        title = f"{panel}: average score against noise rate"
        name = f"{key}-noise-{len(figures)}"
        along = "noise rate (edits per 100 characters of clean text)"
        figures.append(Figure(panel, partial(plots.curves, name, title, drawn, axis, along, reach), name))
    cells = [
        {
            "Model": word(record.model),
            "Noise": word(record.family),
            "Noise rate": Cell(_class(record), record.noise_rate, unit=NOISE_RATE),
            "Score": rate(record.average),
            "Mean rate": rate(record.noise_rate, NOISE_RATE),
            "Texts": count(record.texts),
            "Examples": count(record.examples),
        }
        for record in records
    ]
    yield Section(
        f"{key}-noise",
        "Score against noise",
        "Texts are sorted by how much was changed in them: the noise rate is the number of characters to insert, delete"
        f" or replace, per 100 characters of clean text. Bars are intervals; rates of fewer than {FEWEST_TEXTS} texts"
        " are only in the table.",
        figures,
        table=table("Score by noise rate", cells),
    )


def _class(record: NoiseClass) -> str:
    """Name a class of noise rates."""
    low, high = record.noise_above, record.noise_up_to
    if low is None:
        return "0"
    return f"over {low * 100:.0f}" if high is None else f"over {low * 100:.0f} to {high * 100:.0f}"


def _breakdowns(key: str, numbers: Numbers) -> Iterator[Section]:
    by_column = grouped(numbers.breakdowns, lambda record: record.column)
    order = model_order(numbers)
    for number, (column, records) in enumerate(by_column.items()):
        called = "right answer" if column == "gold" else column
        axis = plots.limits(value for record in records for value in _states(record.averages))
        figures: list[Figure] = []
        for family, of_family in grouped(records, lambda record: record.family).items():
            ranked = sorted(of_family, key=lambda record: (order.index(record.model), natural(record.value)))
            if len(ranked) <= MOST_ROWS:
                rows = [(f"{record.model} · {record.value}", record.averages, record.annotators) for record in ranked]
                title = f"{family}: clean, average and worst score by {called}"
                name = f"{key}-by{number}-{len(figures)}"
                figures.append(Figure(family, partial(plots.slopes, name, title, rows, axis), name))
        cells = [
            {
                "Model": word(record.model),
                "Noise": word(record.family),
                called.capitalize(): word(record.value),
                **_scores(record.averages),
                "Examples": count(record.examples),
            }
            for record in sorted(records, key=lambda record: natural(record.value))
        ]
        yield Section(
            f"{key}-by{number}",
            f"By {called}",
            "The same averages within each group of examples. A safe average can hide a group that pays for it."
            f"{_widest_gap(records, [gap for gap in numbers.gaps if gap.column == column], called)}",
            figures,
            legend="states" if figures else "",
            table=table(f"Scores by {called}", cells),
        )


def _widest_gap(records: Sequence[GroupScore], gaps: Sequence[GroupGap], called: str) -> str:
    """Say which model treats groups most differently under which noise, and whether that holds up."""
    of_scores = [gap for gap in gaps if gap.measure == "average"]
    if not of_scores:
        return ""
    sure = [gap for gap in of_scores if gap.holds_up]
    widest = max(sure or of_scores, key=lambda gap: gap.gap)
    low, high = (
        next(
            record
            for record in records
            if (record.model, record.family, record.value) == (widest.model, widest.family, value)
        )
        for value in (widest.worst, widest.best)
    )
    best, worst = percent(high.averages.micro_average.value), percent(low.averages.micro_average.value)
    said = "The widest gap that holds up" if sure else "The widest gap, which may be chance,"
    return (
        f" {said} is {percent(widest.gap)} points: on {widest.family}, {widest.model} scores {best} % where {called} is"
        f" {widest.best} ({counted(high.examples, 'example')}) and {worst} % where it is {widest.worst}"
        f" ({counted(low.examples, 'example')})."
    )


def _gaps(key: str, numbers: Numbers) -> Iterator[Section]:
    """Show, for each model, noise and column, whom it serves worst and whom best."""
    if not numbers.gaps:
        return
    cells = [
        {
            "Model": word(record.model),
            "Noise": word(record.family),
            "Groups": word("right answer" if record.column == "gold" else record.column),
            "In": word(record.measure),
            "Served worst": word(record.worst),
            "Served best": word(record.best),
            "Gap": rate(record.gap, "points"),
            "p": Cell(p_value(record.p_value), record.p_value, "range of groups"),
            "p, Holm": Cell(
                p_value(record.p_holm),
                record.p_holm,
                marked=record.holds_up,
                unit=counted(record.tests or 0, "test"),
            ),
        }
        for record in numbers.gaps
    ]
    yield Section(
        f"{key}-gaps",
        "Who is served worst",
        "The groups that are the farthest apart: in their average score under noise, and in what noise takes from it."
        " The test knows that these two were picked from all groups; where the corrected p is bold, the gap holds up.",
        table=table("Gaps between groups", cells),
    )


def _comparisons(key: str, numbers: Numbers) -> Iterator[Section]:
    records = list(numbers.comparisons)
    if not records:
        return
    if len(records) > MOST_TABLED:
        records.sort(key=lambda record: 1.0 if record.test.p_value is None else record.test.p_value)
    cells = [
        {
            "Model": word(record.model),
            "Other": word(record.other),
            "On": word(f"{record.family} {record.measure}".strip()),
            "Difference": rate(record.test.difference, "points", sign="+"),
            **tested(record.test, record.test.tests or 0),
            "Model’s score": rate(record.model_score),
            "Other’s score": rate(record.other_score),
            "Examples": count(record.examples),
        }
        for record in records
    ]
    yield Section(
        f"{key}-models",
        "Models side by side",
        "Every two models on the examples that both answered. Where the corrected p is bold, the difference holds up"
        f" although {counted(records[0].test.tests or 0, 'comparison')} were made; the others may be chance.",
        table=table("Pairwise comparison of models", cells),
    )


def _examples(key: str, numbers: Numbers, parts: Sequence[Part]) -> Iterator[Section]:
    if numbers.examples or parts:
        yield Section(
            f"{key}-examples",
            "Texts, before and after",
            "What was put in is underlined, what is gone is struck through."
            + (
                " First come those that were answered right when clean and wrong when noisy, by the most models."
                if numbers.examples
                else " No model lost a right answer on any of them."
            ),
            examples=numbers.examples,
            parts=parts,
        )


def _joins(key: str, numbers: Numbers) -> Iterator[Section]:
    cells = [
        {
            "Model": word(record.model),
            "Track": word(record.track),
            "Ids": count(record.count),
            "Why": word(record.problem),
            "Which": word(", ".join(record.ids) + (" …" if record.count > len(record.ids) else "")),
        }
        for record in numbers.joins
    ]
    said = "Tracks and models are compared on the examples they share. These ids could not be used everywhere."
    yield Section(
        f"{key}-joins",
        "Left out",
        said if cells else "Every prediction found its example: all ids join.",
        table=table("Ids that do not join", cells),
    )


def source_table(files: Sequence[SourceFile]) -> Table | None:
    """Return the table of files that the tracks were read from."""
    return table(
        "Files of predictions",
        [
            {
                "Model": word(record.model),
                "Track": word("/".join(filter(None, (record.dataset, record.track)))),
                "File": word(record.file),
                "Bytes": count(record.bytes),
                "SHA-256": word(record.sha256),
                **({"Asked": word(record.identity or "")} if any(each.identity for each in files) else {}),
                **({"Data": word(record.data or "")} if any(each.data for each in files) else {}),
            }
            for record in files
        ],
    )
