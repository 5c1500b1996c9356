"""The folder of a report: the page, every number as JSON, tables, plots, and the score of every row."""

from __future__ import annotations

import csv
import json
import os
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b, file_digest
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.core.files import stage_folder
from lapsus.core.track_names import MANIFEST_NAME
from lapsus.core.types import StrPath, Track
from lapsus.io.cells import escape_formula
from lapsus.io.encoding import NO_VALUE, HashedColumn
from lapsus.io.tables import Table
from lapsus.reporting.analysis.measure import measure_runs
from lapsus.reporting.analysis.records import MARGIN, AnalysisOptions, DatasetDigest, Provenance, Results, SourceFile
from lapsus.reporting.analysis.splits import exclude_read
from lapsus.reporting.gate import check_condition, find_problems, list_summary_rows, to_junit, to_markdown_summary
from lapsus.reporting.score_table import FileRows, align_tracks, score_rows

if TYPE_CHECKING:
    from pandas import DataFrame

    from lapsus.core.checks import IntArray
    from lapsus.io.encoding import Codes
    from lapsus.reporting.score_table import TrackScores


# The score of every row of a report, saved beside its page; two reports are compared by these.


FILE_NAME = "scores.parquet"
TRACK_COLUMNS = ("dataset", "model", "track")
HASHES = ("gold", "text")  # of the right answer, and of what the model saw; 0 where rows do not hold it


def write_scores(runs: Iterable[TrackScores], folder: Path) -> None:
    """Write the scores of all tracks into a folder, one row each, with hashes that tell whether data are the same."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.dictionary(pa.int32(), pa.string())
    columns = {**dict.fromkeys(TRACK_COLUMNS, text), "id": pa.string(), "original": pa.string(), "score": pa.float64()}
    schema = pa.schema(columns | dict.fromkeys(HASHES, pa.uint64()))
    with pq.ParquetWriter(folder / FILE_NAME, schema) as writer:
        for run in runs:
            scored = np.flatnonzero(run.scored)
            ids = run.ids.take(pa.array(scored))
            place = (run.track.dataset, run.track.model, run.track.track)
            name_columns = [pa.DictionaryArray.from_arrays(np.zeros(len(scored), np.int32), [name]) for name in place]
            clusters = (
                ids if run.clusters is None else run.ids.take(pa.array(_find_first_of_cluster(run.clusters)[scored]))
            )
            known_hashes = (None if run.golds is None else run.golds.codes, run.text_hashes)
            hashes = [np.zeros(len(scored), np.uint64) if each is None else each[scored] for each in known_hashes]
            columns_of_run = [*name_columns, ids, clusters, *map(pa.array, (run.scores[scored], *hashes))]
            writer.write_table(pa.Table.from_arrays(columns_of_run, schema=schema))


def _find_first_of_cluster(clusters: IntArray) -> IntArray:
    """Return the first example of each example's original, which stands for it."""
    _, first, numbers = np.unique(clusters, return_index=True, return_inverse=True)
    return np.asarray(first[numbers], np.int64)


def read_scores(folder: Path) -> list[Track]:
    """Return the tracks of a report with their scores, as `write_scores` has left them.

    >>> from tempfile import mkdtemp
    >>> from lapsus.reporting.score_table import align_tracks
    >>> place = Path(mkdtemp())
    >>> write_scores(align_tracks([Track("bert", "clean", [{"id": "a", "score": 1}], "afqmc")]), place)
    >>> read_scores(place)[0].rows[0]["score"]
    1.0
    """
    import pyarrow.parquet as pq

    path = folder / FILE_NAME
    if not path.is_file():
        raise FileNotFoundError(f"{folder}: holds no {FILE_NAME}; give a folder that `lapsus report` has written.")
    table = pq.read_table(path).rename_columns({"original": "cluster"}).unify_dictionaries()
    if not table.num_rows:
        return []
    codes = np.stack([np.asarray(table[name].combine_chunks().indices) for name in TRACK_COLUMNS])
    track_keys, numbers = np.unique(codes, axis=1, return_inverse=True)
    words = [table[name].chunk(0).dictionary.to_pylist() for name in TRACK_COLUMNS]
    _, first = np.unique(numbers, return_index=True)
    tracks = []
    for number in np.argsort(first).tolist():
        track_rows = table.take(np.flatnonzero(numbers == number))
        frame = Table({name: track_rows[name] for name in ("id", "score", "cluster")}, track_rows.num_rows)
        dataset, model, name = (words[part][code] for part, code in enumerate(track_keys[:, number].tolist()))
        scores = score_rows(frame, Track(model, name, (), dataset))
        if set(HASHES) <= set(track_rows.column_names):  # older reports hold none
            gold_hashes, text_hashes = (track_rows[column].to_numpy() for column in HASHES)
            scores = replace(scores, golds=_make_hashed_column(gold_hashes), text_hashes=text_hashes)
        tracks.append(Track(model, name, FileRows(partial(Table, frame.columns, frame.length), scores), dataset))
    return tracks


def _make_hashed_column(hashes: Codes) -> HashedColumn:
    """Return answers of which only the hashes are known."""
    distinct = np.append(np.setdiff1d(hashes, NO_VALUE), NO_VALUE)
    numbers = np.where(hashes == NO_VALUE, len(distinct) - 1, np.searchsorted(distinct[:-1], hashes))
    return HashedColumn(numbers, distinct, {})


# Where the numbers of a report come from: the command, the versions, the files and what they say about themselves.


PACKAGES = ("lapsus", "numpy", "scipy", "pyarrow", "rapidfuzz", "matplotlib")


def collect_provenance(command: str | None) -> Provenance:
    """Return what makes a report, now; the variable SOURCE_DATE_EPOCH stands for the time, for repeatable bytes.

    >>> from unittest.mock import patch
    >>> with patch.dict("os.environ", SOURCE_DATE_EPOCH="0"):
    ...     collect_provenance("lapsus report bert.clean.jsonl --out report").date
    '1970-01-01T00:00:00Z'
    """
    timestamp = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        now = datetime.now(UTC) if timestamp is None else datetime.fromtimestamp(int(timestamp), UTC)
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"SOURCE_DATE_EPOCH is {timestamp!r}; give a number of seconds since 1970, or unset it."
        ) from None
    date = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    return Provenance(command, date, platform.python_version(), {name: version(name) for name in PACKAGES})


def list_source_files(tracks: Iterable[Track]) -> list[SourceFile]:
    """Return the files that tracks were read from, with their hashes and what `lapsus run` noted beside them."""
    hashes: dict[Path, str] = {}
    files = []
    for track in tracks:
        for path in track.files:
            if path not in hashes:
                with path.open("rb") as file:
                    hashes[path] = file_digest(file, "sha256").hexdigest()
            manifest = _read_manifest(path.with_name(MANIFEST_NAME))
            files.append(
                SourceFile(
                    track.dataset,
                    track.model,
                    track.track,
                    path.as_posix(),
                    path.stat().st_size,
                    hashes[path],
                    manifest.get("model_identity"),
                    manifest.get("task"),
                    manifest.get("data_identity"),
                )
            )
    return files


def _read_manifest(path: Path) -> dict[str, str]:
    """Return what `lapsus run` has written beside its predictions: the model, the task and the data."""
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return (
        {name: text for name, text in manifest.items() if isinstance(text, str)} if isinstance(manifest, dict) else {}
    )


def digest_datasets(runs: Sequence[TrackScores]) -> list[DatasetDigest]:
    """Return for each dataset a hash of its examples: of their ids, right answers and clean texts."""
    digests = []
    for dataset in dict.fromkeys(run.track.dataset for run in runs):
        dataset_runs = [run for run in runs if run.track.dataset == dataset]
        size = len(dataset_runs[0].ids)
        digest = blake2b(digest_size=16)
        for key in dataset_runs[0].ids.to_pylist():
            digest.update(key.encode("utf-8", "backslashreplace") + b"\0")
        golds, texts = np.zeros(size, np.uint64), np.zeros(size, np.uint64)
        for run in dataset_runs:
            if run.golds is not None:
                golds = np.where(golds == 0, run.golds.codes, golds)
            clean = run.text_hashes if run.is_clean and run.text_hashes is not None else run.clean_text_hashes
            if clean is not None:
                texts = np.where(texts == 0, clean, texts)
        for column in (golds, texts):
            digest.update(column.astype("<u8").tobytes())
        digests.append(DatasetDigest(dataset, size, digest.hexdigest()))
    return digests


SCHEMA = 2  # the version of report.json; docs/report.schema.json describes it


@dataclass(frozen=True, slots=True)
class Report(os.PathLike[str]):
    """A report that was written: its page, its numbers as records (`numbers`) and as data frames (`frames`)."""

    page: Path
    numbers: Results = field(repr=False)
    failures: tuple[str, ...] = ()  # of the gate, where a condition was given

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
        return {name: self.to_pandas(name) for name in self.numbers.to_tables()}

    def to_pandas(self, table: str = "summary") -> DataFrame:
        """Return a table as a data frame of pandas, by the names of `frames`."""
        return self.numbers.to_pandas(table)

    def _repr_html_(self) -> str:
        """Return what noise costs each model, and a link to the page, as a notebook shows it."""
        from pandas import DataFrame

        rows = DataFrame(list_summary_rows(self.numbers)).to_html(index=False)  # escapes names
        return f'{rows}\n<p><a href="{self.page.absolute().as_uri()}">{escape(str(self.page))}</a></p>'


def report(
    tracks: Sequence[Track],
    out: StrPath,
    *,
    group_by: Iterable[str] = (),
    title: str | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
    progress: Callable[[list[str]], Iterable[str]] = iter,
    command: str | None = None,
    margin: float = MARGIN,
    fail_if: str | None = None,
) -> Report:
    """Write the page, the numbers, the tables and the plots of what noise costs into the folder `out`.

    Tracks of one model and dataset are compared with its track `clean` (or `original`); `keyboard.1` and `keyboard.2`
    are two annotators of one family. `group_by` names columns to break the averages down by; without it, that is the
    gold label where there are few. The folder appears when it is complete; an older report in it is replaced.
    `margin` is the drop that does not matter, as a fraction: it decides the verdict *robust*.
    `fail_if` is a condition such as `typed.average.low < 85 or dictated.drop.high > 5`, in points; `failures` of the
    report says where it holds, and what forbids to trust the numbers.
    `progress` wraps the models of each dataset, as `tqdm` would. `command` is what the page says that it was made by;
    the variable SOURCE_DATE_EPOCH stands for the time, so that the same predictions give the same bytes.
    """
    from lapsus.reporting.html.examples import MAX_INLINE_BYTES, iter_example_parts
    from lapsus.reporting.html.render import build_chapters, draw_plots, render_page, write_plots_and_tables

    out = Path(out)
    runs = align_tracks(tracks)
    numbers = replace(
        measure_runs(runs, AnalysisOptions(tuple(group_by), confidence_level, n_resamples, seed, progress, margin)),
        provenance=collect_provenance(command),
        sources=tuple(list_source_files(tracks)),
        datasets=tuple(digest_datasets(runs)),
    )
    runs = exclude_read(runs)  # the rest of the report is about the model alone
    failures = () if fail_if is None else (*find_problems(numbers), *check_condition(fail_if, numbers))
    with draw_plots(build_chapters(numbers)) as plot_items:  # by other processes, while the examples are read
        parts = list(iter_example_parts(runs))
        plots = dict(plot_items)
    chapters = build_chapters(numbers, parts)
    html = render_page(numbers, chapters, plots, title=title)
    with stage_folder(out, may_replace=is_report, description="report") as draft:
        if parts and len(html.encode()) + sum(len(part.inline_json.encode()) for part in parts) <= MAX_INLINE_BYTES:
            html = render_page(numbers, chapters, plots, title=title, standalone=True)
        elif parts:
            (draft / "examples").mkdir()
            for part in parts:
                (draft / "examples" / f"{part.key}.js").write_text(part.script, encoding="utf-8")
        (draft / "index.html").write_text(html, encoding="utf-8")
        (draft / "report.json").write_text(json.dumps(to_json(numbers), ensure_ascii=False, indent=1), encoding="utf-8")
        for name, records in numbers.to_tables().items():
            if records:
                _write_csv(draft / f"{name}.csv", records)
        for *_, sections in chapters:
            write_plots_and_tables(sections, plots, draft)
        write_scores(runs, draft)
        (draft / "junit.xml").write_text(to_junit(numbers, failures), encoding="utf-8")
        (draft / "summary.md").write_text(to_markdown_summary(numbers, failures), encoding="utf-8")
    return Report(out / "index.html", numbers, failures)


def is_report(folder: Path) -> bool:
    """Return whether the folder holds a report."""
    return (folder / "report.json").is_file()


def to_json(numbers: Results) -> dict[str, Any]:
    """Return the content of report.json."""
    provenance = None if numbers.provenance is None else asdict(numbers.provenance)
    settings = asdict(numbers.settings)
    return {
        "schema": SCHEMA,
        "lapsus": numbers.lapsus,
        "provenance": provenance,
        "settings": settings,
        **numbers.to_tables(),
    }


def _write_csv(path: Path, records: Sequence[dict[str, Any]]) -> None:
    columns = list(dict.fromkeys(name for record in records for name in record))
    with path.open("w", encoding="utf-8-sig", newline="") as file:  # with a byte order mark, spreadsheets read Chinese
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(map(escape_formula, columns))
        for record in records:
            cells = (record.get(name, "") for name in columns)
            writer.writerow(
                escape_formula(" ".join(map(str, cell)) if isinstance(cell, tuple) else cell) for cell in cells
            )
