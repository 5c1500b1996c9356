"""Time and memory of `lapsus report`, each in a process of its own; writes docs/benchmarks-report.md.

    python benchmarks/report.py [--quick] [CASE ...]    some cases: their lines are exchanged, the others stay

Rows are made at random: 0/1 scores from predictions of three classes, texts of about 25 characters on the cases that
have them. A case is written to a temporary folder first, which is not timed.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "benchmarks-report.md"
QUICK = "--quick" in sys.argv
LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz     "))


@dataclass(frozen=True, slots=True)
class Case:
    """How many models, tracks (one of them clean) and examples; `texts` are in the rows of three formats."""

    name: str
    models: int
    tracks: int
    examples: int
    form: str = "jsonl"
    texts: bool = True
    annotators: int = 3
    wanted: str = ""

    @property
    def said(self) -> str:
        """The case in words."""
        what = "ids, scores and texts" if self.texts else "ids and scores"
        models = f"{self.models:,} model{'s' * (self.models > 1)}"
        return f"{models} × {self.tracks:,} tracks × {self.examples:,} examples, {self.form}, {what}"


CASES = (
    Case("page", 12, 20, 5_000, wanted="20 s after reading"),
    Case("tenth-lines", 1, 20, 100_000),
    Case("tenth", 1, 20, 100_000, "parquet"),
    Case("third", 1, 20, 333_000, "parquet"),
    Case("million", 1, 20, 1_000_000, "parquet", wanted="2 GB, linear"),
    Case("board-tenth", 50, 200, 10_000, "parquet", texts=False, wanted="bounded"),
    Case("board-fiftieth", 10, 200, 10_000, "parquet", texts=False),
)


def track_names(number: int, annotators: int) -> Iterator[str]:
    """Yield the names of tracks: clean, then families of annotators."""
    yield "clean"
    for place in range(number - 1):
        yield f"noise{place // annotators}.{place % annotators + 1}"


def write(case: Case, folder: Path) -> None:
    """Write the files of a case."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    size = case.examples
    ids = [f"t-{number:07}" for number in range(size)]
    gold = rng.integers(0, 3, size)
    names = np.array(["entailment", "neutral", "contradiction"])
    group = np.array(["north", "south", "west"])[rng.integers(0, 3, size)].tolist()
    clean = ["".join(row) for row in LETTERS[rng.integers(0, len(LETTERS), (size, 25))]] if case.texts else []
    for model in range(case.models):
        place = folder / f"model-{model:03}"
        place.mkdir(parents=True)
        for number, track in enumerate(track_names(case.tracks, case.annotators)):
            right = rng.random(size) < 0.9 - 0.002 * model - 0.01 * (number % 20)
            said = np.where(right, gold, (gold + rng.integers(1, 3, size)) % 3)
            columns: dict[str, list[object]] = {"id": list(ids)}
            if case.texts:
                columns |= {"prediction": names[said].tolist(), "gold": names[gold].tolist(), "group": list(group)}
                columns["text"] = list(clean)
                if number:
                    columns["text"] = [text[:3] + "x" + text[4:] for text in clean]
                    columns["clean_text"] = list(clean)
            else:
                columns["score"] = right.astype(float).tolist()
            table = pa.table(columns)
            if case.form == "parquet":
                pq.write_table(table, place / f"{track}.parquet")
            else:
                with (place / f"{track}.jsonl").open("w") as file:
                    file.writelines(json.dumps(row) + "\n" for row in table.to_pylist())


WORK = """
import resource, sys, time
from pathlib import Path
from lapsus.reporting.analysis.records import AnalysisOptions
from lapsus.reporting.report import report
from lapsus.reporting.tracks import read_tracks
folder, out, by = Path(sys.argv[1]), Path(sys.argv[2]), tuple(filter(None, sys.argv[3].split(",")))
import datasets, scipy.special, matplotlib.figure  # what every report imports
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.process_time()
tracks = read_tracks(sorted(folder.rglob("*.*")), path_pattern="{model}/{track}")
read = time.process_time()
report(tracks, out, group_by=by)
done = time.process_time()
print(read - started, done - read, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, before / 1e6)
"""


def timed(case: Case) -> str:
    """Run a case; return its line of the table."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write(case, place / "predictions")
        held = sum(path.stat().st_size for path in (place / "predictions").rglob("*.*")) / 1e6
        command = [sys.executable, "-c", WORK, str(place / "predictions"), str(place / "report")]
        command.append("group" if case.texts else "")
        output = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
        read, measured, peak, before = map(float, output.split())
        page = (place / "report" / "index.html").stat().st_size / 1e6
    rows = case.models * case.tracks * case.examples
    cells = [case.said, f"{rows:,}", f"{held:,.0f} MB", f"{read:.1f} s", f"{measured:.1f} s", f"{peak:.2f} GB"]
    return "| " + " | ".join([*cells, f"{before:.2f} GB", f"{page:.1f} MB", case.wanted or "–"]) + " |"


PAGE = """\
# Speed and memory of the report

Generated by `python benchmarks/report.py`. Python {python}, {cores} cores, which other work shared; times are
processor seconds of the process that reports, of one thread but for Arrow's reading. Where there are many plots, other
processes draw them meanwhile (on Linux): the page of 12 models took 18.9 s by the clock after reading, on two such
cores without other work. The peak is that of the whole process, with what it imports;
what was there before the first row counts the process that made the files and started it, where that was larger.

| case | rows | files | reading | numbers, plots and page | peak | of it before the first row | page | aim |
|---|---|---|---|---|---|---|---|---|
{table}
"""


def kept() -> dict[str, str]:
    """Return the lines of the written table by their cases."""
    lines = TARGET.read_text(encoding="utf-8").splitlines() if TARGET.exists() else []
    return {line.split(" | ")[0].removeprefix("| "): line for line in lines if line.startswith("| ")}


def main() -> None:
    """Time the cases and print the table; write it unless --quick is given."""
    import os

    chosen = [word for word in sys.argv[1:] if not word.startswith("-")]
    table = kept()
    for case in CASES:
        if chosen and case.name not in chosen:
            continue
        small = Case(
            case.name, min(case.models, 3), min(case.tracks, 7), min(case.examples, 500), case.form, case.texts
        )
        started = time.perf_counter()
        table[case.said] = timed(small if QUICK else case)
        print(f"{table[case.said]}  ({time.perf_counter() - started:.0f} s with making the files)", flush=True)
        if not QUICK:
            known = "\n".join(table[case.said] for case in CASES if case.said in table)
            page = PAGE.format(python=sys.version.split()[0], cores=os.cpu_count(), table=known)
            TARGET.write_text(page, encoding="utf-8")
    print(f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6:.2f} GB at most in a process")


if __name__ == "__main__":
    main()
