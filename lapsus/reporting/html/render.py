"""The report's page: numbers become chapters, chapters become one self-contained HTML file from a template.

A chapter is all that the page shows of one dataset: an opening, the matrix of drops, and sections of plots and tables.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from lapsus.reporting.analysis.changes import split_by_edits
from lapsus.reporting.analysis.records import Results, SourceFile, TrackScore
from lapsus.reporting.html.averages import describe_noise
from lapsus.reporting.html.examples import ExamplePart
from lapsus.reporting.html.headline import DropMatrix, build_drop_matrix, write_headline
from lapsus.reporting.html.lead import write_lead
from lapsus.reporting.html.plots import Plot, draw_in_parallel
from lapsus.reporting.html.sections import Section, build_sections, group_by
from lapsus.reporting.html.splits import build_split_section
from lapsus.reporting.html.tables import (
    PageTable,
    count_cell,
    format_count,
    make_table,
    text_cell,
    to_latex,
    to_markdown,
)

TEMPLATES = Path(__file__).parent / "templates"
SCRIPTS = ("sort.js", "examples.js", "drill.js")


class Opening(NamedTuple):
    """The words at the top of a chapter: the first sentence, what the noise is, and what the tests support."""

    lead: str
    noise: str
    headline: str


Chapter = tuple[str, Opening, DropMatrix | None, list[Section]]


def build_chapters(results: Results, parts: Sequence[ExamplePart] = ()) -> list[Chapter]:
    """Return the chapter of each dataset: its name, opening, matrix of drops, and sections."""
    chapters = []
    for number, dataset in enumerate(dict.fromkeys(record.dataset for record in results.tracks)):
        dataset_results = results.for_dataset(dataset)
        key = f"d{number}"
        sections = build_sections(key, dataset_results, [part for part in parts if part.dataset == dataset])
        chapters.append(
            (
                dataset,
                Opening(
                    write_lead(dataset_results.summary),
                    describe_noise(dataset_results.tracks),
                    write_headline(dataset_results.summary),
                ),
                build_drop_matrix(key, dataset_results),
                [*sections[:1], *build_split_section(key, dataset_results), *sections[1:]],
            )
        )
    return chapters


@contextmanager
def draw_plots(chapters: Iterable[Chapter]) -> Iterator[Iterator[tuple[str, Plot]]]:
    """Start to draw the plots of all sections; give each with its anchor."""
    figures = [
        figure for *_, chapter_sections in chapters for section in chapter_sections for figure in section.figures
    ]
    with draw_in_parallel([figure.plot for figure in figures]) as drawings:
        yield zip((figure.key for figure in figures), drawings, strict=True)


def render_page(
    results: Results,
    chapters: Sequence[Chapter],
    drawings: Mapping[str, Plot],
    *,
    title: str | None = None,
    standalone: bool = False,
) -> str:
    """Return the HTML of the report; a `standalone` page holds all examples, others load them from files."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["split_by_edits"] = split_by_edits
    script = '"use strict";\n' + "".join((TEMPLATES / name).read_text(encoding="utf-8") for name in SCRIPTS)
    return environment.get_template("report.html.j2").render(
        title=title or _make_title(results.tracks),
        facts=_count_facts(results.tracks),
        chapters=chapters,
        plots={key: _mark_safe(drawing.svg) for key, drawing in drawings.items()},
        warnings=group_by(results.warnings, lambda warning: warning.dataset),
        settings=results.settings,
        version=results.lapsus,
        files=["report.json", *(f"{name}.csv" for name, records in results.to_tables().items() if records)],
        provenance=results.provenance,
        datasets=results.datasets,
        sources=_make_source_table(results.sources),
        style=_mark_safe((TEMPLATES / "report.css").read_text(encoding="utf-8")),
        inline_examples=[
            (part.key, _mark_safe(part.inline_json))
            for *_, chapter_sections in chapters
            for section in chapter_sections
            for part in section.parts
        ]
        if standalone
        else [],
        script=_mark_safe(script),
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )


def write_plots_and_tables(sections: Iterable[Section], drawings: Mapping[str, Plot], folder: Path) -> None:
    """Write each plot as SVG and PNG into `plots/`, and each table as Markdown and LaTeX into `tables/` of a folder."""
    for section in sections:
        for figure in section.figures:
            (folder / "plots").mkdir(exist_ok=True)
            drawing = drawings[figure.key]
            (folder / "plots" / f"{figure.key}.svg").write_text(drawing.to_standalone_svg(), encoding="utf-8")
            (folder / "plots" / f"{figure.key}.png").write_bytes(drawing.png)
        if section.table is not None:
            (folder / "tables").mkdir(exist_ok=True)
            (folder / "tables" / f"{section.key}.md").write_text(to_markdown(section.table), encoding="utf-8")
            (folder / "tables" / f"{section.key}.tex").write_text(to_latex(section.table), encoding="utf-8")


def _make_title(tracks: Sequence[TrackScore]) -> str:
    models = list(dict.fromkeys(record.model for record in tracks))
    return f"Robustness of {models[0] if len(models) == 1 else format_count(len(models), 'model')} to noise"


def _count_facts(tracks: Sequence[TrackScore]) -> list[str]:
    """Return the counts in the page's head."""
    datasets = list(dict.fromkeys(record.dataset for record in tracks))
    return [
        format_count(len({record.model for record in tracks}), "model"),
        *([format_count(len(datasets), "dataset")] if len(datasets) > 1 else filter(None, datasets)),
        format_count(len({record.track for record in tracks}), "track"),
        f"up to {format_count(max(record.examples for record in tracks), 'example')}",
    ]


def _make_source_table(files: Sequence[SourceFile]) -> PageTable | None:
    """Return the table of files that the tracks were read from."""
    has_identity, has_data = any(record.identity for record in files), any(record.data for record in files)
    return make_table(
        "Prediction files",
        [
            {
                "Model": text_cell(record.model),
                "Track": text_cell("/".join(filter(None, (record.dataset, record.track)))),
                "File": text_cell(record.file),
                "Bytes": count_cell(record.bytes),
                "SHA-256": text_cell(record.sha256),
                **({"Model identity": text_cell(record.identity or "")} if has_identity else {}),
                **({"Data identity": text_cell(record.data or "")} if has_data else {}),
            }
            for record in files
        ],
    )


def _mark_safe(markup: str) -> Markup:
    """Mark as safe what this project wrote itself: style, script and plots. The template escapes every other text."""
    return Markup(markup)  # noqa: S704
