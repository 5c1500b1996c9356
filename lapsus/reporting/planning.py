"""Plan a study: how many examples show a drop, with so many annotators, and what the examples of a study can show.

The variance is that of a pilot, from the folder of its report, or that of stated rates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lapsus import stats
from lapsus.reporting.analysis.comparisons import compare_paired_scores
from lapsus.reporting.analysis.records import ALPHA
from lapsus.reporting.analysis.splits import exclude_read
from lapsus.reporting.report import read_scores
from lapsus.reporting.score_table import align_tracks, find_clean_track, select_clusters
from lapsus.stats import DetectionModel

if TYPE_CHECKING:
    from lapsus.core.checks import FloatArray
    from lapsus.core.types import Track
    from lapsus.reporting.score_table import TrackScores

CORRELATION = 0.5  # of the drops of two annotators in one example, where no pilot tells it
ANNOTATORS = (1, 3, 5)
DROPS = (0.01, 0.02, 0.03, 0.05, 0.10)


@dataclass(frozen=True, slots=True)
class Pilot:
    """What is known of one model on one family of noise; names are empty where rates were stated."""

    dataset: str
    model: str
    family: str
    examples: int
    annotators: int
    correlation: float  # of the drops of two annotators in one example
    detection: DetectionModel

    def make_model(self, annotators: int) -> DetectionModel:
        """Return the model of as many examples with another number of annotators.

        Annotators share what an example does to each of them; the rest of the variance is divided by their number.
        """
        before, after = (self.correlation + (1 - self.correlation) / n for n in (self.annotators, annotators))
        return replace(self.detection, rows=self.detection.rows * before / after)


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A drop that so many examples with so many annotators show with a chance of 80 %, in one of `n_tests` tests.

    `examples` is None where ten million are too few, `drop` where no drop is found so often. `repeats` is how many
    answers to the clean text the worst average by chance needs; the drop itself needs one.
    """

    dataset: str
    model: str
    family: str
    annotators: int
    repeats: int
    n_tests: int
    drop: float | None
    examples: int | None


def state_rates(clean: float, changed: float, correlation: float = CORRELATION) -> Pilot:
    """Return a pilot of stated rates: the clean score, and the share of answers that change by chance, up or down.

    Gains are changes of wrong answers, so that at most twice the share of these changes.

    >>> state_rates(0.99, 0.05).detection.background
    0.02...
    """
    for name, value in (("clean", clean), ("changed", changed)):
        if not 0 < value < 1:
            raise ValueError(f"--{name} is {100 * value:g}: give a percentage above 0 and below 100.")
    background = min(changed, 2 * (1 - clean), 2 * clean)
    return Pilot("", "", "", 100, 1, correlation, DetectionModel(background, 1.0, 100.0, 99.0))


def read_pilots(folder: Path) -> list[Pilot]:
    """Return a pilot for each model and family of noise of a report."""
    if pilots := make_pilots(read_scores(folder)):
        return pilots
    raise ValueError(
        f"{folder}: holds no noisy track with a clean one and two originals, so nothing tells what varies; give"
        " another report, or state rates with --clean 90 --drop 5."
    )


def make_pilots(tracks: Sequence[Track]) -> list[Pilot]:
    """Return a pilot for each model and family of noise that has a clean track."""
    runs = exclude_read(align_tracks(tracks))
    pilots = []
    for dataset, model in dict.fromkeys((run.track.dataset, run.track.model) for run in runs):
        own = [run for run in runs if (run.track.dataset, run.track.model) == (dataset, model)]
        clean = find_clean_track(own)
        for family in dict.fromkeys(run.track.family for run in own if not run.is_clean):
            members = [run for run in own if run.track.family == family and not run.is_clean]
            if clean is not None and (pilot := _make_pilot(clean, members)) is not None:
                pilots.append(pilot)
    return pilots


def _make_pilot(clean: TrackScores, members: Sequence[TrackScores]) -> Pilot | None:
    """Return the pilot of one family on the examples that all its annotators have."""
    examples = np.logical_and.reduce([clean.scored, *(run.scored for run in members)])
    if not examples.any():
        return None
    table = np.stack([run.scores[examples] for run in members], axis=1)
    clean_scores = clean.scores[examples]
    clusters = select_clusters(clean, examples)
    originals = np.arange(len(table)) if clusters is None else clusters
    # the rows of all annotators: a mean of several changes by other steps than an answer does
    noisy, before = table.ravel(), np.repeat(clean_scores, len(members))
    test = compare_paired_scores(noisy, before, np.repeat(originals, len(members)), 1 - ALPHA)
    if test.detection is None:
        return None
    place = (clean.track.dataset, clean.track.model, members[0].track.family)
    correlation = _estimate_correlation(clean_scores[:, None] - table)
    return Pilot(*place, len(table), len(members), correlation, test.detection)


def _estimate_correlation(drops: FloatArray) -> float:
    """Return the correlation of the drops of two annotators in one example, from 0 to 1; assumed where one is alone."""
    n_examples, n_annotators = drops.shape
    if n_annotators < 2 or n_examples < 2:
        return CORRELATION
    own = float(drops.var(axis=1, ddof=1).mean())
    shared = float(drops.mean(axis=1).var(ddof=1)) - own / n_annotators
    return min(1.0, max(0.0, shared / (shared + own))) if shared + own > 0 else CORRELATION


def plan_examples(
    pilots: Sequence[Pilot], drops: Sequence[float], annotators: Sequence[int], n_tests: int
) -> list[PlanRow]:
    """Return how many examples show each of these drops."""
    return [
        _make_row(
            pilot,
            n,
            n_tests,
            drop,
            stats.count_examples(pilot.make_model(n), pilot.examples, drop, alpha=ALPHA / n_tests),
        )
        for pilot in pilots
        for drop in drops
        for n in annotators
    ]


def plan_drops(pilots: Sequence[Pilot], n_examples: int, annotators: Sequence[int], n_tests: int) -> list[PlanRow]:
    """Return the smallest drop that so many examples show."""
    return [
        _make_row(
            pilot,
            n,
            n_tests,
            stats.scale_model(pilot.make_model(n), n_examples / pilot.examples).minimum_detectable(ALPHA / n_tests),
            n_examples,
        )
        for pilot in pilots
        for n in annotators
    ]


def _make_row(pilot: Pilot, annotators: int, n_tests: int, drop: float | None, examples: int | None) -> PlanRow:
    place = (pilot.dataset, pilot.model, pilot.family)
    return PlanRow(*place, annotators, annotators, n_tests, drop, examples)


def format_plan(rows: Sequence[PlanRow]) -> str:
    """Lay out a plan as a table for the terminal."""
    cells = [dict(_iter_cells(row)) for row in rows]
    titles = [title for title in cells[0] if any(row[title] for row in cells)]
    lines = [titles, *([row[title] for title in titles] for row in cells)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _iter_cells(row: PlanRow) -> Iterator[tuple[str, str]]:
    yield "model", "/".join(filter(None, (row.dataset, row.model)))
    yield "noise", row.family
    yield "drop", "none surely" if row.drop is None else f"{100 * row.drop:.1f} points"
    yield "annotators", str(row.annotators)
    yield "repeats", str(row.repeats)
    yield "examples", "over 10,000,000" if row.examples is None else f"{row.examples:,}"
