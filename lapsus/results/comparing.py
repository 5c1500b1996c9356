"""Compare two reports: what got better, what got worse, and which changes may be chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from lapsus.results.measuring.paired import corrected, paired_test
from lapsus.results.measuring.records import PairedTest, flat
from lapsus.results.measuring.runs import Run
from lapsus.results.page.cells import p_value
from lapsus.results.predictions import few
from lapsus.results.saved_scores import read_scores

ALPHA = 0.05


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
        if not moved or self.test.p_holm is None or self.test.p_holm >= ALPHA:
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
    before, after = _by_place(read_scores(old)), _by_place(read_scores(new))
    models = [{model for _, model, _ in places} for places in (before, after)]
    if all(len(names) == 1 for names in models) and models[0] != models[1]:
        [name] = models[1]
        before = {(dataset, name, track): run for (dataset, _, track), run in before.items()}
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


def _by_place(runs: Sequence[Run]) -> dict[tuple[str, str, str], Run]:
    return {(run.track.dataset, run.track.model, run.track.track): run for run in runs}


def _change(
    before: Sequence[Run], after: Sequence[Run], clean: tuple[Run, Run] | None, confidence_level: float
) -> Change | None:
    """Compare one family of noise; None if the reports share no example of it."""
    olds, news, cleans = [], [], []
    keys = []
    for key in dict.fromkeys(key for run in after for key in run.scores):
        both = [
            (o.scores[key], n.scores[key])
            for o, n in zip(before, after, strict=True)
            if key in o.scores and key in n.scores
        ]
        if not both or (clean and not all(key in run.scores for run in clean)):
            continue
        keys.append(key)
        olds.append([score for score, _ in both])
        news.append([score for _, score in both])
        cleans.append(tuple(run.scores[key] for run in clean) if clean else (0.0, 0.0))
    if not keys:
        return None
    old = _scores(olds, [first for first, _ in cleans] if clean else None)
    new = _scores(news, [second for _, second in cleans] if clean else None)
    if clean:
        losses = [
            (first - fmean(o), second - fmean(n)) for o, n, (first, second) in zip(olds, news, cleans, strict=True)
        ]
    else:
        losses = [(fmean(o), fmean(n)) for o, n in zip(olds, news, strict=True)]
    originals: Mapping[str, str] = {key: run.original(key) for run in after for key in run.scores}
    test = paired_test(
        [loss for _, loss in losses], [loss for loss, _ in losses], [originals[key] for key in keys], confidence_level
    )
    track = after[0].track
    tested = "drop" if clean else "average"
    return Change(track.dataset, track.model, track.family, len(keys), old, new, tested, test)


def _scores(table: Sequence[Sequence[float]], clean: Sequence[float] | None) -> Scores:
    average, worst = fmean(map(fmean, table)), fmean(map(min, table))
    if clean is None:
        return Scores(average, worst, None, None, None)
    right = fmean(clean)
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
