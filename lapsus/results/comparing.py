"""Compare two reports: what got better, what got worse, and which changes may be chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.results.measuring.paired import corrected, paired_test
from lapsus.results.measuring.records import PairedTest, flat
from lapsus.results.measuring.runs import Run, chosen_originals, runs_of
from lapsus.results.page.cells import p_value
from lapsus.results.predictions import few
from lapsus.results.saved_scores import read_scores
from lapsus.results.tracks import Track

if TYPE_CHECKING:
    from lapsus.kernel.columns import FloatArray

    Place = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Scores:
    """The averages of one model on one family of noise, as fractions; None where there is no clean track."""

    average: float
    worst: float
    clean: float | None
    drop: float | None
    worst_drop: float | None


@dataclass(frozen=True, slots=True)
class Change:
    """How one model on one family of noise moved from the old report to the new one, on the examples of both.

    `test` is of the change that `tested` names: of the drop, or of the average where there is no clean track.
    """

    dataset: str
    model: str
    family: str
    examples: int
    old: Scores
    new: Scores
    tested: str
    test: PairedTest

    @property
    def verdict(self) -> str:
        """The verdict: better, worse, or no difference found."""
        moved = self.test.difference.value
        if not moved or not self.test.holds_up:
            return "no difference found"
        return "worse" if (moved > 0) == (self.tested == "drop") else "better"

    def values(self) -> dict[str, float | None]:
        """Return the values that a condition can name, in points: changes, and the old and new values themselves."""
        found: dict[str, float | None] = {"p": self.test.p_value, "p_holm": self.test.p_holm}
        for name in VALUES:
            old, new = getattr(self.old, name), getattr(self.new, name)
            found[f"old_{name}"] = None if old is None else 100 * old
            found[f"new_{name}"] = None if new is None else 100 * new
            found[name] = None if old is None or new is None else 100 * (new - old)
        return found


VALUES = tuple(part.name for part in fields(Scores))
NAMES = ("p", "p_holm", *(f"{when}{name}" for name in VALUES for when in ("", "old_", "new_")))


def compare(old: Path, new: Path, *, confidence_level: float = 0.95) -> list[Change]:
    """Compare two folders that `report` has written, on the tracks and examples that both have.

    A model is compared with the one of the same name; where both reports hold a single model, with that one.
    """
    tracks = [read_scores(folder) for folder in (old, new)]
    models = [{track.model for track in side} for side in tracks]
    if all(len(names) == 1 for names in models) and models[0] != models[1]:
        [name] = models[1]
        tracks[0] = [replace(track, model=name) for track in tracks[0]]
    before, after = _side_by_side(*tracks)
    shared = [place for place in after if place in before]
    families = dict.fromkeys(
        (dataset, model, run.track.family)
        for (dataset, model, track), run in after.items()
        if (dataset, model, track) in before and not run.is_clean
    )
    if not families:
        raise ValueError(
            f"{old} and {new} share no noisy track of a model: they hold {few(map('/'.join, before), 4)} and"
            f" {few(map('/'.join, after), 4)}."
        )
    changes = []
    for dataset, model, family in families:
        places = [place for place in shared if place[:2] == (dataset, model)]
        clean = next((place for place in places if after[place].is_clean), None)
        noisy = [place for place in places if after[place].track.family == family and not after[place].is_clean]
        change = _change(
            [before[place] for place in noisy],
            [after[place] for place in noisy],
            (before[clean], after[clean]) if clean else None,
            confidence_level,
        )
        changes += [change] if change else []
    tests = corrected(change.test for change in changes)
    return [replace(change, test=test) for change, test in zip(changes, tests, strict=True)]


def _side_by_side(old: Sequence[Track], new: Sequence[Track]) -> tuple[dict[Place, Run], dict[Place, Run]]:
    """Return the tracks of two reports by dataset, model and track, over the same examples."""
    marked = [
        replace(track, model=f"{side}{track.model}") for side, tracks in enumerate((new, old)) for track in tracks
    ]
    found: tuple[dict[Place, Run], dict[Place, Run]] = ({}, {})
    for run, track in zip(runs_of(marked), (*new, *old), strict=True):
        place = (track.dataset, track.model, track.track)
        found[1 - int(run.track.model[0])][place] = replace(run, track=track)
    return found


def _change(
    before: Sequence[Run], after: Sequence[Run], clean: tuple[Run, Run] | None, confidence_level: float
) -> Change | None:
    """Compare one family of noise; None if the reports share no example of it."""
    olds, news = (np.stack([run.scores for run in side]) for side in (before, after))
    missing = np.isnan(olds) | np.isnan(news)
    keys = np.asarray(~missing.all(axis=0))
    if clean:
        keys &= clean[0].scored & clean[1].scored
    if not keys.any():
        return None
    olds, news = (np.where(missing, np.nan, side)[:, keys] for side in (olds, news))
    right = [None, None] if clean is None else [run.scores[keys] for run in clean]
    losses = [
        np.nanmean(side, axis=0) if its is None else its - np.nanmean(side, axis=0)
        for side, its in zip((olds, news), right, strict=True)
    ]
    test = paired_test(losses[1], losses[0], chosen_originals(after[0], keys), confidence_level)
    track = after[0].track
    tested = "drop" if clean else "average"
    old, new = (_scores(side, its) for side, its in zip((olds, news), right, strict=True))
    return Change(track.dataset, track.model, track.family, int(keys.sum()), old, new, tested, test)


def _scores(table: FloatArray, clean: FloatArray | None) -> Scores:
    average, worst = float(np.nanmean(table, axis=0).mean()), float(np.nanmin(table, axis=0).mean())
    if clean is None:
        return Scores(average, worst, None, None, None)
    right = float(clean.mean())
    return Scores(average, worst, right, right - average, right - worst)


def as_record(change: Change) -> dict[str, Any]:
    """Return a change as flat columns: values as fractions, the test as in report.json."""
    place = {"dataset": change.dataset, "model": change.model, "family": change.family, "examples": change.examples}
    values = {
        f"{when}_{name}": getattr(scores, name)
        for when, scores in (("old", change.old), ("new", change.new))
        for name in VALUES
    }
    return {**place, **values, "tested": change.tested, **flat(change.test), "verdict": change.verdict}


def as_text(changes: Sequence[Change]) -> str:
    """Lay out changes as a table for the terminal: percentages, and differences in points."""
    titles = ("model", "noise", "clean", "average", "worst", "drop", "change", "interval", "p, Holm", "verdict")
    rows = [titles, *(_row(change) for change in changes)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(titles))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _row(change: Change) -> tuple[str, ...]:
    pairs = [
        _arrow(getattr(change.old, name), getattr(change.new, name)) for name in ("clean", "average", "worst", "drop")
    ]
    difference = change.test.difference
    interval = difference.interval
    return (
        "/".join(filter(None, (change.dataset, change.model))),
        change.family,
        *pairs,
        "" if difference.value is None else f"{difference.value * 100:+.1f} {change.tested}",
        "" if interval is None else f"{interval[0] * 100:+.1f} to {interval[1] * 100:+.1f}",
        p_value(change.test.p_holm),
        change.verdict + _could_miss(change),
    )


def _could_miss(change: Change) -> str:
    """Return the smallest change that the test would have found, where it found none."""
    size = change.test.detectable
    none_found = change.verdict == "no difference found" and size is not None
    return f" ({size * 100:.1f} points would be)" if none_found and size is not None else ""


def _arrow(old: float | None, new: float | None) -> str:
    return "-" if old is None or new is None else f"{old * 100:.1f} -> {new * 100:.1f}"
