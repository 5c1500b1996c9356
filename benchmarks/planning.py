"""Simulate whether a planned study finds its drop with a chance of 80 %; writes the table of docs/statistics.md.

    python benchmarks/planning.py [STUDIES]

A study is planned, from stated rates or from a simulated pilot, and then drawn with so many examples, the planned true
drop, and its annotators; its test is that of the report. A pilot is drawn anew for every fourth study.
"""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

from lapsus.core.types import Track
from lapsus.reporting.analysis.comparisons import compare_paired_scores
from lapsus.reporting.planning import Pilot, make_pilots, plan_examples, state_rates

PAGE = Path(__file__).parents[1] / "docs" / "statistics.md"
TABLE = re.compile(r"(<!-- planning -->\n)(.*)(<!-- /planning -->)", re.DOTALL)
HEAD = ("planned from", "drop", "annotators", "tests", "examples", "power", "studies")
CLEAN = 0.8
PILOT = 400  # examples


def draw_study(
    rng: np.random.Generator, examples: int, annotators: int, drop: float, changed: float
) -> tuple[Any, Any]:
    """Return clean scores, and noisy ones by annotator; in half of the examples all annotators change alike."""
    total = math.hypot(changed, drop)
    clean = rng.random(examples) < CLEAN
    draws = rng.random((examples, annotators))
    draws = np.where(rng.random((examples, 1)) < 0.5, draws[:, :1], draws)
    changes = draws < np.where(clean, (total + drop) / 2 / CLEAN, (total - drop) / 2 / (1 - CLEAN))[:, None]
    return clean.astype(float), (clean[:, None] ^ changes).astype(float)


def draw_pilot(rng: np.random.Generator, annotators: int, changed: float) -> Pilot:
    """Return the pilot of a study of noise that costs nothing."""
    clean, noisy = draw_study(rng, PILOT, annotators, 0.0, changed)
    columns = {"clean": clean, **{f"keyboard.{n + 1}": column for n, column in enumerate(noisy.T)}}
    rows = {name: [{"id": i, "score": score} for i, score in enumerate(column)] for name, column in columns.items()}
    [pilot] = make_pilots([Track("m", name, track) for name, track in rows.items()])
    return pilot


def measure_power(
    studies: int, drop: float, annotators: int, n_tests: int, changed: float, pilot_annotators: int
) -> tuple[float, float]:
    """Return the share of studies that find the drop, and the mean number of planned examples."""
    rng = np.random.default_rng(
        [studies, round(1000 * drop), annotators, n_tests, round(100 * changed), pilot_annotators]
    )
    found, sizes = 0, []
    size = 0
    for number in range(studies):
        if number == 0 or (pilot_annotators and number % 4 == 0):
            pilot = draw_pilot(rng, pilot_annotators, changed) if pilot_annotators else state_rates(CLEAN, changed)
            [row] = plan_examples([pilot], [drop], [annotators], n_tests)
            size = row.examples or 0
        clean, noisy = draw_study(rng, size, annotators, drop, changed)
        p_value = compare_paired_scores(noisy.mean(axis=1), clean, None, 0.95).p_value
        found += p_value is not None and p_value < 0.05 / n_tests
        sizes.append(size)
    return found / studies, float(np.mean(sizes))


def main() -> int:
    """Measure all cells, print them and write the table."""
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
    lines: list[tuple[str, ...]] = [HEAD, ("---",) * len(HEAD)]
    holds = True
    for drop, annotators, n_tests, changed, pilot_annotators in (
        *((0.05, 1, 1, 0.05, 0), (0.02, 1, 1, 0.1, 0), (0.05, 1, 12, 0.2, 0), (0.1, 1, 6, 0.05, 0)),
        *((0.05, 3, 1, 0.1, 0), (0.05, 1, 1, 0.1, 1), (0.05, 3, 1, 0.1, 3), (0.05, 5, 12, 0.1, 3)),
        *((0.02, 3, 6, 0.1, 3), (0.05, 1, 1, 0.1, 3), (0.1, 3, 3, 0.2, 2)),
    ):
        power, size = measure_power(studies, drop, annotators, n_tests, changed, pilot_annotators)
        origin = f"a pilot of {PILOT} × {pilot_annotators}" if pilot_annotators else "stated rates"
        origin += f", {100 * changed:.0f} % change by chance"
        numbers = (f"{100 * drop:.0f}", str(annotators), str(n_tests), f"{size:,.0f}", f"{power:.3f}", f"{studies:,}")
        lines.append((origin, *numbers))
        holds &= abs(power - 0.8) <= 0.03
        print(" | ".join(lines[-1]), flush=True)
    text = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    PAGE.write_text(TABLE.sub(lambda marks: f"{marks[1]}\n{text}\n{marks[3]}", PAGE.read_text("utf-8")), "utf-8")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
