"""Compare two reports: what got better, what got worse, and which changes may be chance."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.core.types import Track
from lapsus.io.encoding import NO_VALUE
from lapsus.io.predictions import format_quoted
from lapsus.reporting.analysis.comparisons import apply_holm, compare_paired_scores
from lapsus.reporting.analysis.records import COSTS, MARGIN, ROBUST, PairedTest, Verdict, check_margin, to_flat_dict
from lapsus.reporting.analysis.verdicts import decide_drop, describe_verdict, format_margin
from lapsus.reporting.html.tables import format_p_value
from lapsus.reporting.report import read_scores
from lapsus.reporting.score_table import TrackScores, align_tracks, format_track_name, select_clusters

if TYPE_CHECKING:
    from lapsus.core.checks import FloatArray
    from lapsus.reporting.score_table import Mask

    TrackKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class FamilyScores:
    """The averages of one model on one family of noise, as fractions; None where there is no clean track."""

    average: float
    worst: float
    clean: float | None
    drop: float | None
    worst_drop: float | None


@dataclass(frozen=True, slots=True)
class FamilyChange:
    """How one model on one family of noise moved from the old report to the new one, on the examples of both.

    `tests` holds the test of each score's change, new minus old: of the average and the worst average, and where there
    is a clean track, of the clean score and of the drop. `old_examples` and `new_examples` are how many each report
    has, `n_changed_texts` how many of those of both had another text, where rows held it, and `unmatched_tracks` the
    tracks that only one of the reports has.
    """

    dataset: str
    model: str
    family: str
    examples: int
    old: FamilyScores
    new: FamilyScores
    tests: Mapping[str, PairedTest]
    old_examples: int
    new_examples: int
    n_changed_texts: int = 0
    unmatched_tracks: tuple[str, ...] = ()
    decision: Verdict = Verdict()  # about the fall of the score on noisy text

    @property
    def warnings(self) -> list[str]:
        """What is not the same in both reports, in words."""
        messages = []
        if self.examples < max(self.old_examples, self.new_examples):
            messages.append(
                f"only {self.examples} examples are in both reports, of {self.old_examples} in the old one and "
                f"{self.new_examples} in the new one"
            )
        if self.n_changed_texts:
            changed_texts = f"{self.n_changed_texts} of {self.examples} examples have other texts"
            messages.append(f"{changed_texts} (another seed, operator or data): the change is also theirs")
        if self.unmatched_tracks:
            messages.append(f"left out, as only one report has them: {format_quoted(self.unmatched_tracks)}")
        return [
            f"{'/'.join(filter(None, (self.dataset, self.model)))} on {self.family}: {message}" for message in messages
        ]

    @property
    def verdict(self) -> str:
        """What became of the model: its score on noisy text decides, then its clean score, then its worst average.

        Where nothing is significant, the interval of the fall on noisy text decides.
        """
        for name, place in DECIDING.items():
            if direction := self._find_direction(name):
                return ("better" if direction > 0 else "worse") + place
        return {COSTS: "worse if tested alone", ROBUST: f"as good, within {format_margin(self.decision.margin)}"}.get(
            self.decision.verdict or "", describe_verdict(self.decision)
        )

    @property
    def note(self) -> str:
        """A sentence where the drop moved because the clean score did, else ""."""
        clean, drop = (self._find_direction(name) for name in ("clean", "drop"))
        if clean < 0 and drop <= 0:
            end = "the drop is smaller only because of that" if drop else "the drop does not show that"
            return f"clean text fell by {-self._points('clean'):.1f} points; {end}"
        if clean > 0 and drop >= 0:
            end = (
                "the drop is larger only because of that"
                if self._find_direction("average") >= 0
                else "noisy text did not"
            )
            return f"clean text gained {self._points('clean'):.1f} points; {end}"
        return ""

    def _find_direction(self, name: str) -> int:
        """Return the sign of a score's change where it is significant, else 0."""
        test = self.tests.get(name)
        if test is None or not test.is_significant or not test.difference.value:
            return 0
        return 1 if test.difference.value > 0 else -1

    def _points(self, name: str) -> float:
        return 100 * (self.tests[name].difference.value or 0.0)

    def to_values(self) -> dict[str, float | None]:
        """Return the values that a condition can name, in points: changes with their ends, old and new values."""
        values: dict[str, float | None] = {
            "p": self.tests["average"].p_value,
            "p_holm": self.tests["average"].p_holm,
        }
        for name in VALUES:
            old, new = getattr(self.old, name), getattr(self.new, name)
            values[f"old_{name}"] = None if old is None else 100 * old
            values[f"new_{name}"] = None if new is None else 100 * new
            values[name] = None if old is None or new is None else 100 * (new - old)
        for name in TESTED:
            test = self.tests.get(name)
            interval = test.difference.interval if test else None
            values[f"{name}.low"], values[f"{name}.high"] = (
                (100 * end for end in interval) if interval else (None, None)
            )
            values[f"{name}.p"] = test.p_value if test else None
        return values


VALUES = tuple(part.name for part in fields(FamilyScores))
TESTED = ("average", "clean", "worst", "drop")
DECIDING = {"average": "", "clean": " on clean text", "worst": " for the worst annotator"}
NAMES = (
    "p",
    "p_holm",
    *(f"{when}{name}" for name in VALUES for when in ("", "old_", "new_")),
    *(f"{name}.{part}" for name in TESTED for part in ("low", "high", "p")),
)


def compare(old: Path, new: Path, *, confidence_level: float = 0.95, margin: float = MARGIN) -> list[FamilyChange]:
    """Compare two folders that `report` has written, on the tracks and examples that both have.

    A model is compared with the one of the same name; where both reports hold a single model, with that one. Raise
    where the right answers differ, as the data are not the same then. `margin` is the fall that
    does not matter, as a fraction.
    """
    check_margin(margin)
    tracks = [read_scores(folder) for folder in (old, new)]
    models = [{track.model for track in side} for side in tracks]
    if all(len(names) == 1 for names in models) and models[0] != models[1]:
        [name] = models[1]
        tracks[0] = [replace(track, model=name) for track in tracks[0]]
    _check_same_scorers(old, new, {track.dataset for side in tracks for track in side})
    before, after = _pair_tracks(*tracks)
    shared = [place for place in after if place in before]
    families = dict.fromkeys(
        (dataset, model, run.track.family)
        for (dataset, model, track), run in after.items()
        if (dataset, model, track) in before and not run.is_clean
    )
    if not families:
        raise ValueError(
            f"{old} and {new} share no noisy track of a model: they hold {format_quoted(map('/'.join, before), 4)} and"
            f" {format_quoted(map('/'.join, after), 4)}."
        )
    changes = []
    for dataset, model, family in families:
        places = [place for place in shared if place[:2] == (dataset, model)]
        clean = next((place for place in places if after[place].is_clean), None)
        noisy = [place for place in places if after[place].track.family == family and not after[place].is_clean]
        for place in [*([clean] if clean else []), *noisy]:
            _check_same_gold(before[place], after[place], old, new)
        change = _compare_family(
            [before[place] for place in noisy],
            [after[place] for place in noisy],
            (before[clean], after[clean]) if clean else None,
            confidence_level,
            margin,
        )
        if change is None:
            ids = (format_quoted(side[noisy[0]].list_ids()[:1]) for side in (before, after))
            raise ValueError(
                f"{old} and {new} share no example of {family} of {model} ({' against '.join(ids)}); compare reports on"
                " the same data."
            )
        unmatched = [
            track
            for (run_dataset, run_model, track), run in (before | after).items()
            if (run_dataset, run_model, run.track.family) == (dataset, model, family)
            and (run_dataset, run_model, track) not in noisy
        ]
        changes.append(replace(change, unmatched_tracks=tuple(unmatched)))
    return _correct_tests(changes)


def _check_same_scorers(old: Path, new: Path, datasets: Iterable[str]) -> None:
    """Raise where the scores of a dataset are those of two scorers."""
    before, after = (_read_deciding_scorers(folder) for folder in (old, new))
    for dataset in sorted(datasets):
        scorers = before.get(dataset), after.get(dataset)
        if scorers[0] != scorers[1]:
            names = [name or "no scorer" for name in scorers]
            raise ValueError(
                f"{old} has the scores of {names[0]} and {new} those of {names[1]}; report both with the same --score."
            )


def find_problems(folder: Path) -> list[str]:
    """Return what forbids to trust a report: calls that failed, and noise that changed no text."""
    path = folder / "report.json"
    tracks = json.loads(path.read_text(encoding="utf-8"))["tracks"] if path.is_file() else ()
    problems = []
    for track in tracks:
        place = "/".join(filter(None, (track["dataset"], track["model"], track["track"])))
        if track.get("failed"):
            problems.append(f"{place}: {track['failed']} of {track['examples']} calls failed")
        if track.get("changed_texts") == 0 and not track["clean"]:
            problems.append(f"{place}: noise changed no text")
    return problems


def _read_deciding_scorers(folder: Path) -> dict[str, str]:
    """Return the scorer that gives the scores of each dataset of a report, where it was one."""
    path = folder / "report.json"
    records = json.loads(path.read_text(encoding="utf-8")).get("scorers", ()) if path.is_file() else ()
    return {record["dataset"]: record["scorer"] for record in records if record["decides"]}


def _correct_tests(changes: Sequence[FamilyChange]) -> list[FamilyChange]:
    """Correct the tests by Holm's method, those of each score as a family of its own."""
    corrected: list[dict[str, PairedTest]] = [{} for _ in changes]
    for name in TESTED:
        places = [place for place, change in enumerate(changes) if name in change.tests]
        for place, test in zip(places, apply_holm(changes[place].tests[name] for place in places), strict=True):
            corrected[place][name] = test
    return [replace(change, tests=tests) for change, tests in zip(changes, corrected, strict=True)]


def _pair_tracks(
    old: Sequence[Track], new: Sequence[Track]
) -> tuple[dict[TrackKey, TrackScores], dict[TrackKey, TrackScores]]:
    """Return the tracks of two reports by dataset, model and track, over the same examples."""
    numbered_tracks = [
        replace(track, model=f"{side}{track.model}") for side, tracks in enumerate((new, old)) for track in tracks
    ]
    by_report: tuple[dict[TrackKey, TrackScores], dict[TrackKey, TrackScores]] = ({}, {})
    for run, track in zip(align_tracks(numbered_tracks), (*new, *old), strict=True):
        place = (track.dataset, track.model, track.track)
        by_report[1 - int(run.track.model[0])][place] = replace(run, track=track)
    return by_report


def _check_same_gold(before: TrackScores, after: TrackScores, old: Path, new: Path) -> None:
    """Raise if the right answers of a track are not the same in both reports."""
    if before.golds is None or after.golds is None:
        return
    new_golds, old_golds = after.golds.codes, before.golds.codes
    in_both = before.scored & after.scored
    differs = in_both & (new_golds != old_golds) & (new_golds != NO_VALUE) & (old_golds != NO_VALUE)
    if differs.any():
        key = after.ids[int(differs.argmax())].as_py()
        raise ValueError(
            f"{format_track_name(after.track)}: the gold answer of id {key!r} is not the same in {old} and {new} "
            f"({int(differs.sum())} of {int(in_both.sum())} ids differ); compare reports on the same data."
        )


def _find_changed_texts(before: Sequence[TrackScores], after: Sequence[TrackScores]) -> Mask:
    """Return which examples were asked with another text on one of the tracks."""
    is_changed = np.zeros(len(after[0].present), bool)
    for old_run, new_run in zip(before, after, strict=True):
        if old_run.text_hashes is not None and new_run.text_hashes is not None:
            is_changed |= (
                (old_run.text_hashes != new_run.text_hashes) & (old_run.text_hashes != 0) & (new_run.text_hashes != 0)
            )
    return is_changed


def _compare_family(
    before: Sequence[TrackScores],
    after: Sequence[TrackScores],
    clean: tuple[TrackScores, TrackScores] | None,
    confidence_level: float,
    margin: float,
) -> FamilyChange | None:
    """Compare one family of noise; None if the reports share no example of it."""
    old_scores, new_scores = (np.stack([run.scores for run in side]) for side in (before, after))
    missing = np.isnan(old_scores) | np.isnan(new_scores)
    is_shared = np.asarray(~missing.all(axis=0))
    has_old, has_new = (~np.isnan(side).all(axis=0) for side in (old_scores, new_scores))
    if clean:
        is_shared &= clean[0].scored & clean[1].scored
        has_old, has_new = has_old & clean[0].scored, has_new & clean[1].scored
    is_changed = _find_changed_texts([*before, *(clean or ())[:1]], [*after, *(clean or ())[1:]])
    if not is_shared.any():
        return None
    old_scores, new_scores = (np.where(missing, np.nan, side)[:, is_shared] for side in (old_scores, new_scores))
    clean_scores = [None, None] if clean is None else [run.scores[is_shared] for run in clean]
    track = after[0].track
    clusters = select_clusters(after[0], is_shared)
    tests = {
        name: compare_paired_scores(
            new_values, old_values, clusters, confidence_level, (-1.0, 1.0) if name == "drop" else (0.0, 1.0)
        )
        for name, old_values, new_values in _iter_outcomes(old_scores, new_scores, clean_scores)
    }
    old, new = (
        _summarise_scores(side, baseline) for side, baseline in zip((old_scores, new_scores), clean_scores, strict=True)
    )
    n_examples, n_old, n_new, n_changed = (
        int(mask.sum()) for mask in (is_shared, has_old, has_new, is_changed & is_shared)
    )
    place = (track.dataset, track.model, track.family)
    decision = decide_drop(tests["average"], n_examples, margin, confidence_level)
    return FamilyChange(*place, n_examples, old, new, tests, n_old, n_new, n_changed, decision=decision)


def _iter_outcomes(
    old: FloatArray, new: FloatArray, clean: Sequence[FloatArray | None]
) -> Iterator[tuple[str, FloatArray, FloatArray]]:
    """Yield the name of each compared score, with its old and its new value of each example."""
    averages = np.nanmean(old, axis=0), np.nanmean(new, axis=0)
    yield "average", *averages
    yield "worst", np.nanmin(old, axis=0), np.nanmin(new, axis=0)
    old_clean, new_clean = clean
    if old_clean is not None and new_clean is not None:
        yield "clean", old_clean, new_clean
        yield "drop", old_clean - averages[0], new_clean - averages[1]


def _summarise_scores(table: FloatArray, clean: FloatArray | None) -> FamilyScores:
    average, worst = float(np.nanmean(table, axis=0).mean()), float(np.nanmin(table, axis=0).mean())
    if clean is None:
        return FamilyScores(average, worst, None, None, None)
    clean_average = float(clean.mean())
    return FamilyScores(average, worst, clean_average, clean_average - average, clean_average - worst)


def to_record(change: FamilyChange) -> dict[str, Any]:
    """Return a change as flat columns: values as fractions, the test as in report.json."""
    place = {"dataset": change.dataset, "model": change.model, "family": change.family, "examples": change.examples}
    values = {
        f"{when}_{name}": getattr(scores, name)
        for when, scores in (("old", change.old), ("new", change.new))
        for name in VALUES
    }
    counts = {
        name: getattr(change, name) for name in ("old_examples", "new_examples", "n_changed_texts", "unmatched_tracks")
    }
    tests = {name: to_flat_dict(test) for name, test in change.tests.items()}
    outcome = {"verdict": change.verdict, "fall": to_flat_dict(change.decision), "note": change.note}
    return {**place, **values, "tests": tests, **outcome, **counts}


def format_changes(changes: Sequence[FamilyChange]) -> str:
    """Lay out changes as a table for the terminal: percentages, and differences in points."""
    scores = ("clean", "average", "worst", "drop")
    titles = ("model", "noise", "examples", *scores, "noisy change", "interval", "p, Holm", "verdict")
    rows = [titles, *(_format_row(change) for change in changes)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(titles))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _format_row(change: FamilyChange) -> tuple[str, ...]:
    pairs = [
        _format_change(getattr(change.old, name), getattr(change.new, name))
        for name in ("clean", "average", "worst", "drop")
    ]
    test = change.tests["average"]
    interval = test.difference.interval
    return (
        "/".join(filter(None, (change.dataset, change.model))),
        change.family,
        str(change.examples),
        *pairs,
        "" if test.difference.value is None else f"{test.difference.value * 100:+.1f}",
        "" if interval is None else f"{interval[0] * 100:+.1f} to {interval[1] * 100:+.1f}",
        format_p_value(test.p_holm),
        change.verdict,
    )


def _format_change(old: float | None, new: float | None) -> str:
    return "-" if old is None or new is None else f"{old * 100:.1f} -> {new * 100:.1f}"
