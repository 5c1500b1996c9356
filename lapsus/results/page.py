"""The report as one HTML page that needs nothing but itself: type, tables, plots, and a few lines of script."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from lapsus.results import plots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lapsus.results.report import Numbers, Record

    Found = Mapping[str, list[Record]]
    Figures = list[tuple[str, Markup]]
    Column = tuple[str, str, "Callable[[Record], Cell]"]  # its title, its unit, what it shows of a record

TEMPLATES = Path(__file__).parent / "templates"
DASH = "–"
MOST_LINES = 6  # more lines in one plot are no longer told apart
MOST_ROWS = 40  # more rows in one plot are better read as a table
MOST_TABLED = 500  # more rows in one table are better read by a program
FEWEST_TEXTS = 10  # fewer texts of one noise rate tell more about chance than about noise


@dataclass(frozen=True, slots=True)
class Cell:
    """What a table shows: a text, a note below it in small, and what the column is sorted by."""

    text: str
    sort: float | str | None = None
    note: str = ""
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table that every column can sort; a column is a title and its unit, and holds words or numbers."""

    caption: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Cell]]
    kinds: Sequence[str]


@dataclass(frozen=True, slots=True)
class Matrix:
    """How often the clean prediction of each row became the noisy one of each column, and in what share of the row."""

    caption: str
    labels: Sequence[str]
    rows: Sequence[Sequence[tuple[int, float]]]


@dataclass(frozen=True, slots=True)
class Section:
    """One question, its answer in pictures, and the numbers behind it."""

    key: str
    title: str
    text: str
    figures: Sequence[tuple[str, Markup]] = ()
    legend: str = ""
    matrices: Sequence[Matrix] = ()
    table: Table | None = None
    examples: Sequence[Record] = ()


def page(numbers: Numbers, *, title: str | None = None) -> str:
    """Return the HTML of the report."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"changes": changes}
    script = (TEMPLATES / "sort.js").read_text(encoding="utf-8")
    datasets = list(_grouped(numbers["tracks"], "dataset"))
    return environment.get_template("report.html.j2").render(
        title=title or _title(numbers["tracks"]),
        facts=_facts(numbers["tracks"]),
        chapters=[(name, *_chapter(f"d{number}", name, numbers)) for number, name in enumerate(datasets)],
        settings=numbers["settings"],
        version=numbers["lapsus"],
        files=[
            "report.json",
            *(f"{name}.csv" for name, records in numbers.items() if isinstance(records, list) and records),
        ],
        style=_own((TEMPLATES / "report.css").read_text(encoding="utf-8")),
        script=_own(script),
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )


def _own(markup: str) -> Markup:
    """Let through what this project wrote itself: its style, its script, its plots."""
    return Markup(markup)  # noqa: S704 - every other text is escaped by the template


def _title(tracks: Sequence[Record]) -> str:
    models = list(_grouped(tracks, "model"))
    return f"What noise costs {models[0] if len(models) == 1 else counted(len(models), 'model')}"


def _facts(tracks: Sequence[Record]) -> list[str]:
    """Say in a few words what the report is about."""
    datasets = list(_grouped(tracks, "dataset"))
    return [
        counted(len(_grouped(tracks, "model")), "model"),
        *([counted(len(datasets), "dataset")] if len(datasets) > 1 else filter(None, datasets)),
        counted(len(_grouped(tracks, "track")), "track"),
        f"up to {counted(max(record['examples'] for record in tracks), 'example')}",
    ]


def _chapter(key: str, dataset: str, numbers: Numbers) -> tuple[str, list[Section]]:
    """Return the summary and the sections of one dataset."""
    found = {
        name: [record for record in records if record["dataset"] == dataset]
        for name, records in numbers.items()
        if isinstance(records, list)
    }
    writers: tuple[Callable[[str, Found], Iterator[Section]], ...] = (
        _overview,
        _annotators,
        _flips,
        _noise,
        _breakdowns,
        _comparisons,
        _examples,
        _joins,
    )
    return _lede(found["summary"]), [section for write in writers for section in write(key, found)]


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "model"), counted(2000, "model")
    ('1 model', '2,000 models')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def percent(value: float | None) -> str:
    """Return a fraction in per cent, with one decimal.

    >>> percent(0.0395), percent(None)
    ('4.0', '–')
    """
    return DASH if value is None else signed(value)


def signed(value: float, sign: str = "") -> str:
    """Return a fraction in per cent, with a minus as wide as a plus, and no sign at nothing.

    >>> signed(-0.031), signed(0.031, "+"), signed(-0.0, "+")
    ('−3.1', '+3.1', '0.0')
    """
    text = f"{value * 100:{sign}.1f}"
    return "0.0" if text in {"-0.0", "+0.0"} else text.replace("-", "−")


def p_value(value: float | None) -> str:
    """Return a p-value as it is usually written.

    >>> p_value(0.00012), p_value(0.0449), p_value(None)
    ('< 0.001', '0.045', '–')
    """
    if value is None:
        return DASH
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def changes(clean: str, noisy: str) -> list[tuple[bool, str]]:
    """Return the noisy text in parts, each with whether it differs from the clean text.

    >>> changes("花呗提额", "花贝提额")
    [(False, '花'), (True, '贝'), (False, '提额')]
    """
    from rapidfuzz.distance import Levenshtein

    parts = [
        (code.tag != "equal", noisy[code.dest_start : code.dest_end]) for code in Levenshtein.opcodes(clean, noisy)
    ]
    return [part for part in parts if part[1]]


def _grouped(records: Iterable[Record], name: str) -> dict[Any, list[Record]]:
    """Group records by a column, in the order of first appearance."""
    groups: dict[Any, list[Record]] = {}
    for record in records:
        groups.setdefault(record[name], []).append(record)
    return groups


def _table(caption: str, records: Sequence[Record], *columns: Column) -> Table | None:
    """Lay out records as a table, if there are any; of very many, the first."""
    if not records:
        return None
    rows = [[cell(record) for _, _, cell in columns] for record in records[:MOST_TABLED]]
    words = [any(isinstance(cell.sort, str) for cell in column) for column in zip(*rows, strict=True)]
    if len(records) > len(rows):
        caption += f": the first {len(rows):,} of {len(records):,} rows, all of which are in the files beside this page"
    titles = [(title, unit) for title, unit, _ in columns]
    return Table(caption, titles, rows, ["word" if is_word else "number" for is_word in words])


def _word(title: str, name: str) -> Column:
    """Return a column of words."""
    return title, "", lambda record: Cell(record[name] or DASH, record[name])


def _count(title: str, name: str, unit: str = "") -> Column:
    """Return a column of counts."""

    def cell(record: Record) -> Cell:
        value = record.get(name)
        return Cell(DASH) if value is None else Cell(f"{value:,}", value)

    return title, unit, cell


def _rate(title: str, name: str, unit: str = "%", sign: str = "") -> Column:
    """Return a column of fractions in per cent, each with its interval below."""

    def cell(record: Record) -> Cell:
        known = [signed(part, sign) for part in plots.ends(record, name) if part is not None]
        return Cell(known[0], record[name], " to ".join(known[1:])) if known else Cell(DASH)

    return title, unit, cell


def _tests(records: Sequence[Record], alpha: float = 0.05) -> tuple[Column, Column]:
    """Return a column of p-values, and one of the same after Holm's correction, in bold where they are small."""
    made = sum("p_value" in record for record in records)

    def raw(record: Record) -> Cell:
        return Cell(p_value(record.get("p_value")), record.get("p_value"), record.get("test") or "")

    def corrected(record: Record) -> Cell:
        value = record.get("p_holm")
        return Cell(p_value(value), value, marked=value is not None and value < alpha)

    return ("p", "", raw), ("p, Holm", counted(made, "test"), corrected)


def _lede(summary: Sequence[Record]) -> str:
    """Say in a sentence or two where noise costs most and where least."""
    compared = [record for record in summary if record["micro_drop"] is not None]
    if not compared:
        return ""
    most, least = (choose(compared, key=lambda record: float(record["micro_drop"])) for choose in (max, min))
    clean, average, worst = (percent(most[name]) for name in ("clean_average", "micro_average", "worst_average"))
    said = f"Noise costs most on {most['family']}: {most['model']} falls from {clean} % on clean text to {average} %"
    if most["annotators"] > 1:
        said += f" on average, and to {worst} % when each example counts only whom the model served worst"
    if least is not most:
        said += f". It costs least on {least['family']} for {least['model']}: {percent(least['micro_drop'])} points"
        said += " on average" if least["annotators"] > 1 else ""
    return f"{said}."


AVERAGES = ("clean_average", "micro_average", "worst_average")
SCORES = (_rate("Clean", "clean_average"), _rate("Average", "micro_average"), _rate("Worst", "worst_average"))
DROPS = (_rate("Average drop", "micro_drop", "points"), _rate("Worst drop", "worst_drop", "points"))
MODEL, FAMILY, EXAMPLES = _word("Model", "model"), _word("Noise", "family"), _count("Examples", "examples")
CHANGED = _rate("Changed", "changed_rate", "% of answers")
NOISE_RATE = "edits per 100 letters"


def _overview(key: str, found: Found) -> Iterator[Section]:
    summary = found["summary"]
    if not summary:
        return
    axis = plots.limits(value for record in summary for value in plots.ends(record, *AVERAGES))
    figures: Figures = []
    for family, records in _grouped(summary, "family").items():
        ranked = [(record["model"], record) for record in sorted(records, key=lambda record: -record["worst_average"])]
        title = f"{family}: clean, average and worst score of {counted(len(ranked), 'model')}"
        figures.append((family, _own(plots.slopes(f"{key}-overview-{len(figures)}", title, ranked, axis))))
    columns = (MODEL, FAMILY, *SCORES, *DROPS, CHANGED, _count("Annotators", "annotators"), EXAMPLES)
    yield Section(
        f"{key}-overview",
        "From clean to worst",
        "Clean is the score on the text as it was meant. Average is the mean over everyone who typed or spoke it."
        " Worst counts, for each example, only the one whom the model served worst.",
        figures,
        legend="states",
        table=_table("Clean, average and worst scores", summary, *columns),
    )


def _annotators(key: str, found: Found) -> Iterator[Section]:
    tracks = found["tracks"]
    noisy = [record for record in tracks if not record["clean"]]
    clean = {record["model"]: record["average"] for record in tracks if record["clean"]}
    axis = plots.limits(value for record in tracks for value in plots.ends(record, "average"))
    figures: Figures = []
    for family, records in _grouped(noisy, "family").items():
        rows = [(model, clean.get(model), of_model) for model, of_model in _grouped(records, "model").items()]
        if max(len(of_model) for *_, of_model in rows) > 1:
            title = f"{family}: average score of each annotator"
            figures.append((family, _own(plots.annotators(f"{key}-annotators-{len(figures)}", title, rows, axis))))
    columns = (
        MODEL,
        _word("Track", "track"),
        _rate("Score", "average"),
        _rate("From clean", "difference", "points", sign="+"),
        *_tests(tracks),
        CHANGED,
        _count("Right to wrong", "correct_to_wrong"),
        _count("Wrong to right", "wrong_to_correct"),
        _rate("Noise rate", "noise_rate", NOISE_RATE),
        EXAMPLES,
    )
    several = (
        "Each number is a person (or a seed) who typed or spoke the same examples. The farther from clean, the more"
    )
    several += " it costs to be that person. The test asks whether right answers were lost and won equally often."
    yield Section(
        f"{key}-annotators",
        "Annotator by annotator" if figures else "Track by track",
        several if figures else "What each track costs by itself, against clean, on the examples that both have.",
        figures,
        legend="annotators" if figures else "",
        table=_table("Every track", tracks, *columns),
    )


def _flips(key: str, found: Found) -> Iterator[Section]:
    matrices = []
    for model, of_model in _grouped(found["transitions"], "model").items():
        for family, records in _grouped(of_model, "family").items():
            rows = _grouped(records, "clean")
            counts = [[record["count"] for record in row] for row in rows.values()]
            cells = [[(count, count / (sum(row) or 1)) for count in row] for row in counts]
            matrices.append(Matrix(f"{model} · {family}", list(rows), cells))
    if matrices:
        yield Section(
            f"{key}-flips",
            "Where predictions flip",
            "Rows are what the model said on clean text, columns what it said on the noisy text of the same example."
            " The framed diagonal kept its answer; everything else flipped. Shares are of the row.",
            matrices=matrices,
        )


def _noise(key: str, found: Found) -> Iterator[Section]:
    records = [{**record, "class": _class(record)} for record in found["noise"]]
    if not records:
        return
    panels, lines = ("family", "model") if len(_grouped(records, "model")) <= MOST_LINES else ("model", "family")
    telling = [record for record in records if record["texts"] >= FEWEST_TEXTS]
    figures: Figures = []
    for panel, inside in _grouped(telling, panels).items():
        drawn = list(_grouped(inside, lines).items())[: len(plots.SERIES)]
        title = f"{panel}: average score against noise rate"
        figures.append((panel, _own(plots.against_noise(f"{key}-noise-{len(figures)}", title, drawn))))
    columns = (
        MODEL,
        FAMILY,
        ("Noise rate", NOISE_RATE, lambda record: Cell(record["class"], record["noise_rate"])),
        _rate("Score", "average"),
        _rate("Mean rate", "noise_rate", NOISE_RATE),
        _count("Texts", "texts"),
        EXAMPLES,
    )
    yield Section(
        f"{key}-noise",
        "Score against noise",
        "Texts are sorted by how much was changed in them: the noise rate is the number of characters to insert, delete"
        f" or replace, per 100 characters of clean text. Bars are intervals; rates of fewer than {FEWEST_TEXTS} texts"
        " are only in the table.",
        figures,
        table=_table("Score by noise rate", records, *columns),
    )


def _class(record: Record) -> str:
    """Name a class of noise rates."""
    low, high = record["noise_above"], record["noise_up_to"]
    if low is None:
        return "0"
    return f"over {low * 100:.0f}" if high is None else f"over {low * 100:.0f} to {high * 100:.0f}"


def _breakdowns(key: str, found: Found) -> Iterator[Section]:
    for number, (column, records) in enumerate(_grouped(found["breakdowns"], "column").items()):
        called = "right answer" if column == "gold" else column
        axis = plots.limits(value for record in records for value in plots.ends(record, *AVERAGES))
        figures: Figures = []
        for family, of_family in _grouped(records, "family").items():
            ranked = sorted(of_family, key=lambda record: str(record["value"]))
            if len(ranked) <= MOST_ROWS:
                rows = [(f"{record['value']} · {record['model']}", record) for record in ranked]
                title = f"{family}: clean, average and worst score by {called}"
                figures.append((family, _own(plots.slopes(f"{key}-by{number}-{len(figures)}", title, rows, axis))))
        columns = (MODEL, FAMILY, _word(called.capitalize(), "value"), *SCORES, *DROPS, EXAMPLES)
        yield Section(
            f"{key}-by{number}",
            f"By {called}",
            "The same averages within each group of examples. A safe average can hide a group that pays for it.",
            figures,
            legend="states" if figures else "",
            table=_table(f"Scores by {called}", records, *columns),
        )


def _comparisons(key: str, found: Found) -> Iterator[Section]:
    records = [{**record, "on": f"{record['family']} {record['measure']}".strip()} for record in found["comparisons"]]
    if not records:
        return
    if len(records) > MOST_TABLED:
        records.sort(key=lambda record: 1.0 if record["p_value"] is None else record["p_value"])
    columns = (
        MODEL,
        _word("Other", "other"),
        _word("On", "on"),
        _rate("Difference", "difference", "points", sign="+"),
        *_tests(records),
        _rate("Model’s score", "model_score"),
        _rate("Other’s score", "other_score"),
        EXAMPLES,
    )
    yield Section(
        f"{key}-models",
        "Models side by side",
        "Every two models on the examples that both answered. Where the corrected p is bold, the difference holds up"
        f" although {counted(len(records), 'comparison')} were made; the others may be chance.",
        table=_table("Pairwise comparison of models", records, *columns),
    )


def _examples(key: str, found: Found) -> Iterator[Section]:
    if found["examples"]:
        yield Section(
            f"{key}-examples",
            "Texts that broke it",
            "Answered right when clean, wrong when noisy, by the most models first. What changed is underlined.",
            examples=found["examples"],
        )


def _joins(key: str, found: Found) -> Iterator[Section]:
    records = [
        {**record, "which": ", ".join(record["ids"]) + (" …" if record["count"] > len(record["ids"]) else "")}
        for record in found["joins"]
    ]
    said = "Tracks and models are compared on the examples they share. These ids could not be used everywhere."
    columns = (MODEL, _word("Track", "track"), _count("Ids", "count"), _word("Why", "problem"), _word("Which", "which"))
    yield Section(
        f"{key}-joins",
        "Left out",
        said if records else "Every prediction found its example: all ids join.",
        table=_table("Ids that do not join", records, *columns),
    )
