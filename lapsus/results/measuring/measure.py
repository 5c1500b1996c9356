"""Compute every number of a report.

>>> clean = Track("bert", "clean", [{"id": "a", "score": 1}, {"id": "b", "score": 1}])
>>> noisy = Track("bert", "keyboard.1", [{"id": "a", "score": 0}, {"id": "b", "score": 1}])
>>> [record.averages.micro_drop.value for record in measure([clean, noisy]).summary]
[0.5]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.results.coding import NONE, Answers
from lapsus.results.measuring.averages import averages_of
from lapsus.results.measuring.broken_texts import broken_texts
from lapsus.results.measuring.chance import worst_by_chance
from lapsus.results.measuring.class_drop import balanced_drop_p
from lapsus.results.measuring.class_scores import class_scores
from lapsus.results.measuring.comparisons import compared_once, comparisons
from lapsus.results.measuring.dialects import about_dialects, dialect_score
from lapsus.results.measuring.doubts import doubts
from lapsus.results.measuring.flips import MOST_LABELS, changes, transitions
from lapsus.results.measuring.gaps import group_gaps
from lapsus.results.measuring.joins import left_out
from lapsus.results.measuring.noise import mean_rate, noise_classes
from lapsus.results.measuring.paired import corrected, paired_test
from lapsus.results.measuring.records import (
    Averages,
    Changes,
    ClassScores,
    DialectScore,
    Estimate,
    FamilySummary,
    FromClean,
    GroupGap,
    GroupScore,
    LeftOut,
    NoiseClass,
    Numbers,
    Settings,
    TrackScore,
    Transition,
    WorstByChance,
)
from lapsus.results.measuring.runs import (
    Options,
    Run,
    chosen_originals,
    clean_of,
    runs_of,
    shared,
)
from lapsus.results.measuring.task_scores import task_scores
from lapsus.results.predictions import few
from lapsus.results.track_columns import MOST_GROUPS
from lapsus.results.track_names import DIALECTS
from lapsus.results.tracks import Track, place_of

if TYPE_CHECKING:
    from lapsus.results.measuring.runs import Mask


def measure(tracks: Sequence[Track], options: Options | None = None) -> Numbers:
    """Return every number of the report."""
    return measure_runs(runs_of(tracks), options or Options())


def measure_runs(runs: Sequence[Run], options: Options) -> Numbers:
    """Return every number of a report from scored tracks."""
    datasets = dict.fromkeys(run.track.dataset for run in runs)
    parts = [_dataset([run for run in runs if run.track.dataset == dataset], options) for dataset in datasets]
    return Numbers(
        lapsus=version("lapsus"),
        provenance=None,
        settings=Settings(**options.resampling, by=options.by, clusters=any(run.clustered for run in runs)),
        **_with_holm({name: list(chain.from_iterable(part[name] for part in parts)) for name in parts[0]}),
    )


@dataclass(frozen=True, slots=True)
class _Family:
    """The records of one model on one family of noise."""

    summary: FamilySummary
    breakdowns: list[GroupScore] = field(default_factory=list)
    gaps: list[GroupGap] = field(default_factory=list)
    transitions: list[Transition] = field(default_factory=list)
    noise: list[NoiseClass] = field(default_factory=list)


def _dataset(runs: Sequence[Run], options: Options) -> dict[str, list[Any]]:
    """Return the records of all models on one dataset, by the name of their table."""
    by = _columns(runs, options)
    models = list(dict.fromkeys(run.track.model for run in runs))
    tracks: list[TrackScore] = []
    families: list[_Family] = []
    joins: list[LeftOut] = []
    dialects: list[DialectScore] = []
    for model in options.progress(models):
        mine = [run for run in runs if run.track.model == model]
        clean = clean_of(mine)
        noisy = [run for run in mine if not run.is_clean]
        repeats = [run for run in mine if run.is_clean and run is not clean]
        tracks += [_track(run, clean, options) for run in mine]
        if clean is None and about_dialects(run.track for run in mine):
            dialects.append(dialect_score(mine, options.confidence_level))
            noisy = [run for run in noisy if run.track.track not in DIALECTS]
        for family in dict.fromkeys(run.track.family for run in noisy):
            members = [run for run in noisy if run.track.family == family]
            found = _family(members, clean, repeats, by, options)
            families += [found] if found else []
        joins += left_out(mine, clean, runs)
    scorers = {record.model for record in dialects}  # their scores are likenesses on scales of their own
    return {
        "summary": [family.summary for family in families],
        "tracks": tracks,
        "comparisons": comparisons([run for run in runs if run.track.model not in scorers], models, options),
        "transitions": [record for family in families for record in family.transitions],
        "noise": [record for family in families for record in family.noise],
        "breakdowns": [record for family in families for record in family.breakdowns],
        "gaps": [record for family in families for record in family.gaps],
        "joins": joins,
        "examples": broken_texts(runs, models),
        "doubts": doubts([run.track for run in runs]),
        "dialects": dialects,
        "tasks": [score for run in runs for score in task_scores(run, options.confidence_level)],
    }


def _columns(runs: Sequence[Run], options: Options) -> dict[str, Answers]:
    """Return, for each column to break down by, the value of every example, as the first track that has it says."""
    chosen: dict[str, Answers] = {}
    for column in options.by or ("gold",):
        names = {name for run in runs for name in run.track.columns.names}
        parts = [run.groups[column] for run in runs if column in run.groups]
        if options.by and column not in names:
            raise LookupError(f"There is no column {column!r} to break down by; the tracks have {few(sorted(names))}.")
        if options.by and any(column in run.track.columns.names and column not in run.groups for run in runs):
            raise ValueError(f"Column {column!r} has over {MOST_GROUPS} values; break down by one with fewer.")
        if not parts:
            continue
        codes = parts[0].codes
        words: dict[int, str] = dict(parts[0].words)
        for part in parts[1:]:
            codes = np.where(codes == NONE, part.codes, codes)
            words |= part.words
        used, numbers = np.unique(codes, return_inverse=True)
        groups = len(used) - bool(NONE in used)
        if options.by and groups > MOST_GROUPS:
            raise ValueError(f"Column {column!r} has {groups} values; break down by one with at most {MOST_GROUPS}.")
        if options.by or 2 <= groups <= MOST_LABELS:
            chosen[column] = Answers(numbers, np.append(used, NONE), words)
    return chosen


def _track(run: Run, clean: Run | None, options: Options) -> TrackScore:
    """Return the record of one track: its average, and how it differs from clean."""
    scored = run.scored
    average = averages_of(run.scores[scored][:, None], chosen_originals(run, scored), options)
    return TrackScore(
        run.track.dataset,
        run.track.model,
        run.track.track,
        run.track.family,
        run.track.annotator,
        clean=run.is_clean,
        examples=average["examples"],
        unparsed=run.track.unparsed,
        average=Estimate.of(average, "micro_average"),
        noise_rate=mean_rate(run),
        classes=class_scores([(run, scored)], options.confidence_level),
        from_clean=None if clean is None or run.is_clean else _from_clean(run, clean, options),
    )


def _from_clean(run: Run, clean: Run, options: Options) -> FromClean:
    """Compare a track with the clean one on the examples that both have; raise if it has none of them."""
    both = shared(run, clean)
    if not both.any():
        mine, its = (few(each.track.columns.ids[:1].to_pylist()) for each in (run, clean))
        raise ValueError(
            f"{place_of(run.track)}: none of its ids is on {clean.track.track} ({mine} against {its}); write each id as"
            " the same text on every track."
        )
    test = paired_test(run.scores[both], clean.scores[both], chosen_originals(clean, both), options.confidence_level)
    return FromClean(int(both.sum()), changes(clean, [run], options.confidence_level), test)


def _with_holm(tables: dict[str, list[Any]]) -> dict[str, tuple[Any, ...]]:
    """Apply Holm's correction to the report's tests: of noise, of models, of groups and of dialects, each a family.

    Each hypothesis counts once: where a family has one annotator, its average is that annotator's.
    """
    tracks: list[TrackScore] = tables["tracks"]
    summary: list[FamilySummary] = tables["summary"]
    alone = {(record.dataset, record.model, record.family): record for record in summary if record.annotators == 1}
    several = [record for record in summary if record.annotators > 1]
    tests = iter(
        corrected(
            [
                *(track.from_clean.test for track in tracks if track.from_clean),
                *(record.test for record in several if record.test),
            ]
        )
    )
    done = [
        replace(track, from_clean=replace(track.from_clean, test=next(tests))) if track.from_clean else track
        for track in tracks
    ]
    of_track = {(track.dataset, track.model, track.family): track.from_clean for track in done}
    families: list[FamilySummary] = []
    for record in summary:
        place = (record.dataset, record.model, record.family)
        if record.test is None:
            families.append(record)
        elif place in alone:
            only = of_track[place]
            families.append(replace(record, test=only.test if only else None))
        else:
            families.append(replace(record, test=next(tests)))
    given: dict[str, list[Any]] = {
        "tracks": done,
        "summary": families,
        "comparisons": compared_once(tables["comparisons"]),
        "gaps": corrected(tables["gaps"]),
        "dialects": corrected(tables["dialects"]),
    }
    return {name: tuple(records) for name, records in (tables | given).items()}


def _family(
    members: Sequence[Run],
    clean: Run | None,
    repeats: Sequence[Run],
    by: Mapping[str, Answers],
    options: Options,
) -> _Family | None:
    """Return the record of one family with all its annotators; None if none of them has a score."""
    keys = np.logical_or.reduce([run.scored for run in members])
    keys = keys if clean is None else keys & clean.scored
    if not keys.any():
        return None
    table = np.stack([run.scores[keys] for run in members], axis=1)
    clean_scores = None if clean is None else clean.scores[keys]
    originals = chosen_originals(members[0], keys)
    groups = {column: _words(values, keys) for column, values in by.items()}
    result = averages_of(table, originals, options, clean_scores, groups)
    test = balanced_p = None
    clean_classes, chance = ClassScores(), WorstByChance()
    if clean is not None and clean_scores is not None:
        averages = np.nanmean(table, axis=1)
        test = paired_test(averages, clean_scores, originals, options.confidence_level)
        clean_classes = class_scores([(clean, keys)], options.confidence_level)
        if clean_classes.balanced_accuracy.value is not None and clean.golds is not None:
            balanced_p = balanced_drop_p(clean_scores, averages, clean.golds.codes[keys], originals)
        chance = worst_by_chance(members, clean, repeats, keys)
    place = (members[0].track.dataset, members[0].track.model, members[0].track.family)
    return _Family(
        FamilySummary(
            *place,
            len(members),
            result["examples"],
            _averages(result),
            Changes() if clean is None else changes(clean, members, options.confidence_level),
            test,
            chance,
            class_scores([(run, keys & run.scored) for run in members], options.confidence_level),
            clean_classes.balanced_accuracy,
            clean_classes.macro_f1,
            balanced_p,
        ),
        [
            GroupScore(*place, column, value, len(members), scored["examples"], _averages(scored))
            for column, values in result.get("groups", {}).items()
            for value, scored in values.items()
        ],
        group_gaps(result, *place),
        transitions(clean, members, *place),
        noise_classes(members, options, *place),
    )


def _words(values: Answers, keys: Mask) -> list[str]:
    """Return the value of each of these examples."""
    words = np.array([values.words.get(int(each), "(none)") for each in values.hashes], object)
    return list(words[values.numbers[keys]])


def _averages(result: Mapping[str, Any]) -> Averages:
    """Return the averages of a result; without clean scores, those that need them are unknown."""
    names = ("clean_average", "micro_average", "worst_average", "micro_drop", "worst_drop")
    return Averages(*(Estimate.of(result, name) if name in result else Estimate() for name in names))
