"""Compare two reports: what got better, what got worse, and which changes may be chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.results.coding import NONE
from lapsus.results.measuring.paired import corrected, paired_test
from lapsus.results.measuring.records import PairedTest, flat
from lapsus.results.measuring.runs import Run, chosen_originals, runs_of
from lapsus.results.page.cells import p_value
from lapsus.results.predictions import few
from lapsus.results.saved_scores import read_scores
from lapsus.results.tracks import Track, place_of

if TYPE_CHECKING:
    from lapsus.kernel.columns import FloatArray
    from lapsus.results.measuring.runs import Mask

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
    `old_examples` and `new_examples` are how many each report has, `other_texts` how many of those of both were asked
    with another text, where rows held it, and `left_out` the tracks that only one of the reports has.
    """

    dataset: str
    model: str
    family: str
    examples: int
    old: Scores
    new: Scores
    tested: str
    test: PairedTest
    old_examples: int
    new_examples: int
    other_texts: int = 0
    left_out: tuple[str, ...] = ()

    @property
    def doubts(self) -> list[str]:
        """What is not the same in both reports, in words."""
        said = []
        if self.examples < max(self.old_examples, self.new_examples):
            said.append(
                f"only {self.examples} examples are in both reports, of {self.old_examples} in the old one and "
                f"{self.new_examples} in the new one"
            )
        if self.other_texts:
            of_all = f"{self.other_texts} of {self.examples} examples have other texts"
            said.append(f"{of_all} (another seed, operator or data): the change is also theirs")
        if self.left_out:
            said.append(f"left out, as only one report has them: {few(self.left_out)}")
        return [f"{'/'.join(filter(None, (self.dataset, self.model)))} on {self.family}: {each}" for each in said]

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

    A model is compared with the one of the same name; where both reports hold a single model, with that one. Raise
    where the right answers differ, as the data are not the same then.
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
        for place in [*([clean] if clean else []), *noisy]:
            _refuse_other_answers(before[place], after[place], old, new)
        change = _change(
            [before[place] for place in noisy],
            [after[place] for place in noisy],
            (before[clean], after[clean]) if clean else None,
            confidence_level,
        )
        if change is None:
            ids = (few(side[noisy[0]].track.columns.ids[:1].to_pylist()) for side in (before, after))
            raise ValueError(
                f"{old} and {new} share no example of {family} of {model} ({' against '.join(ids)}); compare reports on"
                " the same data."
            )
        lone = [
            track
            for (its_dataset, its_model, track), run in (before | after).items()
            if (its_dataset, its_model, run.track.family) == (dataset, model, family)
            and (its_dataset, its_model, track) not in noisy
        ]
        changes.append(replace(change, left_out=tuple(lone)))
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


def _refuse_other_answers(before: Run, after: Run, old: Path, new: Path) -> None:
    """Raise if the right answers of a track are not the same in both reports."""
    if before.golds is None or after.golds is None:
        return
    mine, its = after.golds.codes, before.golds.codes
    both = before.scored & after.scored
    apart = both & (mine != its) & (mine != NONE) & (its != NONE)
    if apart.any():
        key = after.ids[int(apart.argmax())].as_py()
        raise ValueError(
            f"{place_of(after.track)}: the right answer of id {key!r} is not the same in {old} and {new} "
            f"({int(apart.sum())} of {int(both.sum())} ids differ); compare reports on the same data."
        )


def _other_texts(before: Sequence[Run], after: Sequence[Run]) -> Mask:
    """Return which examples were asked with another text on one of the tracks."""
    apart = np.zeros(len(after[0].present), bool)
    for one, other in zip(before, after, strict=True):
        if one.seen is not None and other.seen is not None:
            apart |= (one.seen != other.seen) & (one.seen != 0) & (other.seen != 0)
    return apart


def _change(
    before: Sequence[Run], after: Sequence[Run], clean: tuple[Run, Run] | None, confidence_level: float
) -> Change | None:
    """Compare one family of noise; None if the reports share no example of it."""
    olds, news = (np.stack([run.scores for run in side]) for side in (before, after))
    missing = np.isnan(olds) | np.isnan(news)
    keys = np.asarray(~missing.all(axis=0))
    mine, its = (~np.isnan(side).all(axis=0) for side in (olds, news))
    if clean:
        keys &= clean[0].scored & clean[1].scored
        mine, its = mine & clean[0].scored, its & clean[1].scored
    apart = _other_texts([*before, *(clean or ())[:1]], [*after, *(clean or ())[1:]])
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
    number, in_old, in_new, others = (int(each.sum()) for each in (keys, mine, its, apart & keys))
    place = (track.dataset, track.model, track.family)
    return Change(*place, number, old, new, tested, test, in_old, in_new, others)


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
    same = {name: getattr(change, name) for name in ("old_examples", "new_examples", "other_texts", "left_out")}
    return {**place, **values, "tested": change.tested, **flat(change.test), "verdict": change.verdict, **same}


def as_text(changes: Sequence[Change]) -> str:
    """Lay out changes as a table for the terminal: percentages, and differences in points."""
    scores = ("clean", "average", "worst", "drop")
    titles = ("model", "noise", "examples", *scores, "change", "interval", "p, Holm", "verdict")
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
        str(change.examples),
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
