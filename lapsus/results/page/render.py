"""Render the page from its template: one self-contained HTML file."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lapsus.results.measuring.marks import parts
from lapsus.results.measuring.records import Numbers, TrackScore
from lapsus.results.page.cells import counted
from lapsus.results.page.drawings import drawn
from lapsus.results.page.example_parts import Part
from lapsus.results.page.first_screen import CostMatrix, cost_matrix
from lapsus.results.page.lede import lede
from lapsus.results.page.plots import Drawing
from lapsus.results.page.sections import Section, grouped, own, sections, source_table

TEMPLATES = Path(__file__).parent / "templates"
SCRIPTS = ("sort.js", "examples.js", "drill.js")


Chapter = tuple[str, str, CostMatrix | None, list[Section]]


def chapters_of(numbers: Numbers, parts: Sequence[Part] = ()) -> list[Chapter]:
    """Return what the page says of each dataset: its name, the first sentences, the matrix, the sections."""
    chapters = []
    for number, dataset in enumerate(dict.fromkeys(record.dataset for record in numbers.tracks)):
        found = numbers.of_dataset(dataset)
        key = f"d{number}"
        mine = [part for part in parts if part.dataset == dataset]
        chapters.append((dataset, lede(found.summary), cost_matrix(key, found), sections(key, found, mine)))
    return chapters


@contextmanager
def drawings_of(chapters: Iterable[Chapter]) -> Iterator[Iterator[tuple[str, Drawing]]]:
    """Start to draw the plots of all sections; give each with its anchor on the page."""
    figures = [figure for *_, found in chapters for section in found for figure in section.figures]
    with drawn([figure.plot for figure in figures]) as drawings:
        yield zip((figure.key for figure in figures), drawings, strict=True)


def page(
    numbers: Numbers,
    chapters: Sequence[Chapter],
    drawings: Mapping[str, Drawing],
    *,
    title: str | None = None,
    alone: bool = False,
) -> str:
    """Return the HTML of the report; a page that stands `alone` holds all examples, else it loads them when wanted."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"parts": parts}
    script = '"use strict";\n' + "".join((TEMPLATES / name).read_text(encoding="utf-8") for name in SCRIPTS)
    return environment.get_template("report.html.j2").render(
        title=title or _title(numbers.tracks),
        facts=_facts(numbers.tracks),
        chapters=chapters,
        plots={key: own(drawing.svg) for key, drawing in drawings.items()},
        doubts=grouped(numbers.doubts, lambda doubt: doubt.dataset),
        settings=numbers.settings,
        version=numbers.lapsus,
        files=["report.json", *(f"{name}.csv" for name, records in numbers.tables().items() if records)],
        provenance=numbers.provenance,
        data=numbers.data,
        sources=source_table(numbers.files),
        style=own((TEMPLATES / "report.css").read_text(encoding="utf-8")),
        inside=[(part.key, own(part.inside)) for *_, found in chapters for each in found for part in each.parts]
        if alone
        else [],
        script=own(script),
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )


def _title(tracks: Sequence[TrackScore]) -> str:
    models = list(dict.fromkeys(record.model for record in tracks))
    return f"What noise costs {models[0] if len(models) == 1 else counted(len(models), 'model')}"


def _facts(tracks: Sequence[TrackScore]) -> list[str]:
    """Return the counts in the page's head."""
    datasets = list(dict.fromkeys(record.dataset for record in tracks))
    return [
        counted(len({record.model for record in tracks}), "model"),
        *([counted(len(datasets), "dataset")] if len(datasets) > 1 else filter(None, datasets)),
        counted(len({record.track for record in tracks}), "track"),
        f"up to {counted(max(record.examples for record in tracks), 'example')}",
    ]
