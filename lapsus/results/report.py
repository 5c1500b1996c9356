"""The folder of a report: the page, every number as JSON, each table as CSV, and the score of every row."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lapsus.kernel.atomic import staged_folder
from lapsus.results.measuring.measure import measure_runs
from lapsus.results.measuring.records import Numbers
from lapsus.results.measuring.runs import Options, runs_of
from lapsus.results.saved_scores import write_scores
from lapsus.results.tracks import Track


def report(
    tracks: Sequence[Track],
    out: Path,
    *,
    by: Iterable[str] = (),
    title: str | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
    progress: Callable[[list[str]], Iterable[str]] = iter,
) -> Path:
    """Write the page, the JSON and the CSV of what noise costs, into the folder `out`; return the page.

    Tracks of one model and dataset are compared with its track `clean` (or `original`); `keyboard.1` and `keyboard.2`
    are two annotators of one family. `by` names columns to break the averages down by; without it, that is the gold
    label where there are few. The folder appears when it is complete; an older report in it is replaced. `progress`
    wraps the models of each dataset, as `tqdm` would.
    """
    from lapsus.results.page.render import page

    runs = runs_of(tracks)
    numbers = measure_runs(runs, Options(tuple(by), confidence_level, n_resamples, seed, progress))
    with staged_folder(out, ours=is_report, what="report") as draft:
        (draft / "index.html").write_text(page(numbers, title=title), encoding="utf-8")
        (draft / "report.json").write_text(json.dumps(as_json(numbers), ensure_ascii=False, indent=1), encoding="utf-8")
        for name, records in numbers.tables().items():
            if records:
                _write_csv(draft / f"{name}.csv", records)
        write_scores(runs, draft)
    return out / "index.html"


def is_report(folder: Path) -> bool:
    """Return whether the folder holds a report."""
    return (folder / "report.json").is_file()


def as_json(numbers: Numbers) -> dict[str, Any]:
    """Return the content of report.json."""
    return {"lapsus": numbers.lapsus, "settings": asdict(numbers.settings), **numbers.tables()}


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
