"""The folder of a report: the page, every number as JSON, tables, plots, and the score of every row."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lapsus.kernel.atomic import staged_folder
from lapsus.results.measuring.measure import measure_runs
from lapsus.results.measuring.records import Numbers
from lapsus.results.measuring.runs import Options, runs_of
from lapsus.results.provenance import digests_of, files_of, made
from lapsus.results.saved_scores import write_scores
from lapsus.results.tracks import Track

if TYPE_CHECKING:
    from pandas import DataFrame


SCHEMA = 1  # the version of report.json; docs/report.schema.json describes it


@dataclass(frozen=True, slots=True)
class Report(os.PathLike[str]):
    """A report that was written: its page, its numbers as records (`numbers`) and as data frames (`frames`)."""

    page: Path
    numbers: Numbers = field(repr=False)

    def __fspath__(self) -> str:
        return str(self.page)

    def __str__(self) -> str:
        return str(self.page)

    @property
    def folder(self) -> Path:
        """The folder with the page and the files beside it."""
        return self.page.parent

    @property
    def frames(self) -> dict[str, DataFrame]:
        """The tables as data frames of pandas, by name: `summary`, `tracks`, `comparisons` and so on."""
        from pandas import DataFrame

        return {name: DataFrame(records) for name, records in self.numbers.tables().items()}


def report(
    tracks: Sequence[Track],
    out: Path | str,
    *,
    by: Iterable[str] = (),
    title: str | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
    progress: Callable[[list[str]], Iterable[str]] = iter,
    command: str | None = None,
) -> Report:
    """Write the page, the numbers, the tables and the plots of what noise costs into the folder `out`.

    Tracks of one model and dataset are compared with its track `clean` (or `original`); `keyboard.1` and `keyboard.2`
    are two annotators of one family. `by` names columns to break the averages down by; without it, that is the gold
    label where there are few. The folder appears when it is complete; an older report in it is replaced. `progress`
    wraps the models of each dataset, as `tqdm` would. `command` is what the page says that it was made by; the
    variable SOURCE_DATE_EPOCH stands for the time, so that the same predictions give the same bytes.
    """
    from lapsus.results.page import take_away
    from lapsus.results.page.example_parts import MOST_INSIDE, example_parts
    from lapsus.results.page.render import chapters_of, drawings_of, page

    out = Path(out)
    runs = runs_of(tracks)
    numbers = replace(
        measure_runs(runs, Options(tuple(by), confidence_level, n_resamples, seed, progress)),
        provenance=made(command),
        files=tuple(files_of(tracks)),
        data=tuple(digests_of(runs)),
    )
    with drawings_of(chapters_of(numbers)) as drawn:  # by other processes, while the examples are read
        parts = list(example_parts(runs))
        drawings = dict(drawn)
    chapters = chapters_of(numbers, parts)
    html = page(numbers, chapters, drawings, title=title)
    with staged_folder(out, ours=is_report, what="report") as draft:
        if parts and len(html.encode()) + sum(len(part.inside.encode()) for part in parts) <= MOST_INSIDE:
            html = page(numbers, chapters, drawings, title=title, alone=True)
        elif parts:
            (draft / "examples").mkdir()
            for part in parts:
                (draft / "examples" / f"{part.key}.js").write_text(part.beside, encoding="utf-8")
        (draft / "index.html").write_text(html, encoding="utf-8")
        (draft / "report.json").write_text(json.dumps(as_json(numbers), ensure_ascii=False, indent=1), encoding="utf-8")
        for name, records in numbers.tables().items():
            if records:
                _write_csv(draft / f"{name}.csv", records)
        for *_, sections in chapters:
            take_away.write(sections, drawings, draft)
        write_scores(runs, draft)
    return Report(out / "index.html", numbers)


def is_report(folder: Path) -> bool:
    """Return whether the folder holds a report."""
    return (folder / "report.json").is_file()


def as_json(numbers: Numbers) -> dict[str, Any]:
    """Return the content of report.json."""
    provenance = None if numbers.provenance is None else asdict(numbers.provenance)
    settings = asdict(numbers.settings)
    return {
        "schema": SCHEMA,
        "lapsus": numbers.lapsus,
        "provenance": provenance,
        "settings": settings,
        **numbers.tables(),
    }


def _write_csv(path: Path, records: Sequence[dict[str, Any]]) -> None:
    columns = list(dict.fromkeys(name for record in records for name in record))
    with path.open("w", encoding="utf-8-sig", newline="") as file:  # with a byte order mark, spreadsheets read Chinese
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for record in records:
            writer.writerow(
                {
                    name: " ".join(map(str, value)) if isinstance(value, tuple) else value
                    for name, value in record.items()
                }
            )
