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

from lapsus.core.track_names import DIALECTS
from lapsus.core.types import Track
from lapsus.io.encoding import NO_VALUE, HashedColumn
from lapsus.io.predictions import format_quoted
from lapsus.reporting.analysis.caveats import (
    count_changed_texts,
    find_clean_texts,
    find_warnings,
    list_call_errors,
    list_unmatched_ids,
)
from lapsus.reporting.analysis.changes import MAX_LABELS, count_changes, count_transitions, find_lost_examples
from lapsus.reporting.analysis.comparisons import (
    apply_benjamini_hochberg,
    apply_holm,
    compare_models,
    compare_paired_scores,
    correct_comparisons,
    estimate_chance_worst,
)
from lapsus.reporting.analysis.dialects import is_dialect_scorer, measure_dialects
from lapsus.reporting.analysis.origins import describe_origin
from lapsus.reporting.analysis.records import (
    AnalysisOptions,
    AnalysisSettings,
    ChanceWorst,
    Changes,
    ClassScores,
    CleanComparison,
    DialectScore,
    Estimate,
    FamilySummary,
    GroupGap,
    GroupScore,
    NoiseBin,
    PairedTest,
    Results,
    TrackScore,
    Transition,
    UnmatchedIds,
)
from lapsus.reporting.analysis.scorers import measure_agreement
from lapsus.reporting.analysis.scores import (
    ExampleScores,
    bin_by_noise_rate,
    compute_balanced_drop_p,
    compute_class_scores,
    compute_mean_noise_rate,
    estimate_for_new_annotators,
    find_gaps,
    score_groups,
)
from lapsus.reporting.analysis.splits import exclude_read, measure_splits
from lapsus.reporting.analysis.task_scores import TASK_COLUMNS, measure_task
from lapsus.reporting.analysis.verdicts import decide_summary
from lapsus.reporting.score_table import (
    MAX_GROUPS,
    TrackScores,
    align_tracks,
    find_clean_track,
    find_endings,
    find_ranked_examples,
    find_shared_examples,
    format_track_name,
    select_clusters,
)

if TYPE_CHECKING:
    from lapsus.io.encoding import Codes
    from lapsus.reporting.score_table import Mask


def measure(tracks: Sequence[Track], options: AnalysisOptions | None = None) -> Results:
    """Return every number of the report."""
    return measure_runs(align_tracks(tracks), options or AnalysisOptions())


def measure_runs(runs: Sequence[TrackScores], options: AnalysisOptions) -> Results:
    """Return every number of a report from scored tracks."""
    datasets = dict.fromkeys(run.track.dataset for run in runs)
    parts = [_measure_dataset([run for run in runs if run.track.dataset == dataset], options) for dataset in datasets]
    return Results(
        lapsus=version("lapsus"),
        provenance=None,
        settings=AnalysisSettings(
            **options.resampling,
            group_by=options.group_by,
            clustered=any(run.clustered for run in runs),
            margin=options.margin,
        ),
        **_correct_tests({name: list(chain.from_iterable(part[name] for part in parts)) for name in parts[0]}, options),
    )


@dataclass(frozen=True, slots=True)
class _FamilyRecords:
    """The records of one model on one family of noise."""

    summary: FamilySummary
    groups: list[GroupScore] = field(default_factory=list)
    group_gaps: list[GroupGap] = field(default_factory=list)
    transitions: list[Transition] = field(default_factory=list)
    noise_bins: list[NoiseBin] = field(default_factory=list)


def _measure_dataset(all_runs: Sequence[TrackScores], options: AnalysisOptions) -> dict[str, list[Any]]:
    """Return the records of all models on one dataset, by the name of their table."""
    runs = exclude_read(all_runs)
    group_columns = _group_columns(runs, options)
    models = list(dict.fromkeys(run.track.model for run in runs))
    tracks: list[TrackScore] = []
    families: list[_FamilyRecords] = []
    unmatched_ids: list[UnmatchedIds] = []
    dialects: list[DialectScore] = []
    ranked = find_ranked_examples(runs)
    for model in options.progress(models):
        model_runs = [run for run in runs if run.track.model == model]
        clean = find_clean_track(model_runs)
        noisy = [run for run in model_runs if not run.is_clean]
        repeats = [run for run in model_runs if run.is_clean and run is not clean]
        clean_texts = find_clean_texts(model_runs, clean)
        tracks += [_measure_track(run, clean, clean_texts, ranked, options) for run in model_runs]
        if clean is None and is_dialect_scorer(run.track for run in model_runs):
            dialects.append(measure_dialects(model_runs, options.confidence_level))
            noisy = [run for run in noisy if run.track.track not in DIALECTS]
        for family in dict.fromkeys(run.track.family for run in noisy):
            members = [run for run in noisy if run.track.family == family]
            family_records = _measure_family(members, clean, repeats, group_columns, options)
            families += [family_records] if family_records else []
        unmatched_ids += list_unmatched_ids(model_runs, clean, runs)
    has_scorers = any("scores" in run.names for run in runs)
    dialect_scorers = {record.model for record in dialects}  # their scores are likenesses on scales of their own
    return {
        "summary": [family.summary for family in families],
        "tracks": tracks,
        "comparisons": compare_models([run for run in runs if run.track.model not in dialect_scorers], models, options),
        "transitions": [record for family in families for record in family.transitions],
        "noise_bins": [record for family in families for record in family.noise_bins],
        "groups": [record for family in families for record in family.groups],
        "group_gaps": [record for family in families for record in family.group_gaps],
        "unmatched_ids": unmatched_ids,
        "lost_examples": find_lost_examples(runs, models),
        "warnings": find_warnings(all_runs),
        "dialects": dialects,
        "splits": list(measure_splits(all_runs, options)),
        "scorers": list(measure_agreement(runs, options.confidence_level)) if has_scorers else [],
        "task_scores": [
            score
            for run in runs
            if run.has_nested_golds() or not TASK_COLUMNS.isdisjoint(run.names)
            for score in measure_task(run, options.confidence_level)
        ],
    }


def _group_columns(runs: Sequence[TrackScores], options: AnalysisOptions) -> dict[str, HashedColumn]:
    """Return, for each column to break down by, the value of every example, as the first track that has it says."""
    values_by_column: dict[str, HashedColumn] = {}
    for column in options.group_by or ("gold",):
        names = {name for run in runs for name in run.names}
        parts = [run.groups[column] for run in runs if column in run.groups]
        if options.group_by and column not in names:
            raise LookupError(
                f"There is no column {column!r} to break down by; the tracks have {format_quoted(sorted(names))}."
            )
        if options.group_by and any(column in run.names and column not in run.groups for run in runs):
            raise ValueError(f"Column {column!r} has over {MAX_GROUPS} values; break down by one with fewer.")
        if not parts:
            continue
        codes = parts[0].codes
        words: dict[int, str] = dict(parts[0].words)
        for part in parts[1:]:
            codes = np.where(codes == NO_VALUE, part.codes, codes)
            words |= part.words
        distinct, indices = np.unique(codes, return_inverse=True)
        n_groups = len(distinct) - bool(NO_VALUE in distinct)
        if options.group_by and n_groups > MAX_GROUPS:
            raise ValueError(f"Column {column!r} has {n_groups} values; break down by one with at most {MAX_GROUPS}.")
        if options.group_by or 2 <= n_groups <= MAX_LABELS:
            values_by_column[column] = HashedColumn(indices, np.append(distinct, NO_VALUE), words)
    return values_by_column


def _measure_track(
    run: TrackScores,
    clean: TrackScores | None,
    clean_texts: Codes,
    ranked: tuple[Mask, Mask] | None,
    options: AnalysisOptions,
) -> TrackScore:
    """Return the record of one track: its average, and how it differs from clean."""
    scored = run.scored
    scores = ExampleScores.from_table(run.scores[scored][:, None], select_clusters(run, scored))
    return TrackScore(
        run.track.dataset,
        run.track.model,
        run.track.track,
        run.track.family,
        run.track.annotator,
        clean=run.is_clean,
        examples=int(scored.sum()),
        unparsed=int(run.unparsed.sum()),
        average=scores.estimate(options).micro_average,
        noise_rate=compute_mean_noise_rate(run),
        classes=compute_class_scores([(run, scored)], options.confidence_level),
        from_clean=None if clean is None or run.is_clean else _compare_with_clean(run, clean, options),
        noise=describe_origin(run, clean),
        shared_average=_average_shared(run, ranked) if ranked and run is clean else None,
        failed=len(list_call_errors(run)),
        changed_texts=None if run.is_clean else count_changed_texts(run, clean_texts),
        refused=int(find_endings(run, "refused").sum()),
        cut=int(find_endings(run, "cut").sum()),
    )


def _average_shared(run: TrackScores, ranked: tuple[Mask, Mask]) -> float | None:
    """Return the average on the examples that all models have; None where these are all examples, or none."""
    shared, all_examples = ranked
    return None if not shared.any() or (shared == all_examples).all() else float(run.scores[shared].mean())


def _compare_with_clean(run: TrackScores, clean: TrackScores, options: AnalysisOptions) -> CleanComparison:
    """Compare a track with the clean one on the examples that both have; raise if it has none of them."""
    examples = find_shared_examples(run, clean)
    if not examples.any():
        noisy_ids, clean_ids = (format_quoted(each.list_ids()[:1]) for each in (run, clean))
        raise ValueError(
            f"{format_track_name(run.track)}: none of its ids is on {clean.track.track}"
            f" ({noisy_ids} against {clean_ids}); write each id as the same text on every track."
        )
    test = compare_paired_scores(
        run.scores[examples], clean.scores[examples], select_clusters(clean, examples), options.confidence_level
    )
    return CleanComparison(int(examples.sum()), count_changes(clean, [run], options.confidence_level), test)


def _correct_tests(tables: dict[str, list[Any]], options: AnalysisOptions) -> dict[str, tuple[Any, ...]]:
    """Correct the report's tests for their number, and decide.

    One family is primary, by Holm: each model's average per family of noise. Models against each other, and dialects,
    answer other questions, and are families of their own. Tracks, groups and classes are exploratory.
    """
    tracks: list[TrackScore] = tables["tracks"]
    summary: list[FamilySummary] = tables["summary"]
    primary = iter(apply_holm(record.test for record in summary if record.test))
    exploratory = iter(apply_benjamini_hochberg(track.from_clean.test for track in tracks if track.from_clean))
    balanced = iter(
        apply_benjamini_hochberg(
            PairedTest(p_value=record.balanced_drop_p) for record in summary if record.balanced_drop_p is not None
        )
    )
    summaries = [
        replace(
            record,
            test=next(primary) if record.test else None,
            balanced_drop_p_bh=None if record.balanced_drop_p is None else next(balanced).p_bh,
        )
        for record in summary
    ]
    corrected_tables: dict[str, list[Any]] = {
        "tracks": [
            replace(track, from_clean=replace(track.from_clean, test=next(exploratory))) if track.from_clean else track
            for track in tracks
        ],
        "summary": [
            replace(record, decision=decide_summary(record, options.margin, options.confidence_level))
            for record in summaries
        ],
        "comparisons": correct_comparisons(tables["comparisons"]),
        "group_gaps": apply_benjamini_hochberg(tables["group_gaps"]),
        "dialects": apply_holm(tables["dialects"]),
    }
    return {name: tuple(records) for name, records in (tables | corrected_tables).items()}


def _measure_family(
    members: Sequence[TrackScores],
    clean: TrackScores | None,
    repeats: Sequence[TrackScores],
    group_columns: Mapping[str, HashedColumn],
    options: AnalysisOptions,
) -> _FamilyRecords | None:
    """Return the record of one family with all its annotators; None if none of them has a score."""
    examples = np.logical_or.reduce([run.scored for run in members])
    examples = examples if clean is None else examples & clean.scored
    if not examples.any():
        return None
    table = np.stack([run.scores[examples] for run in members], axis=1)
    clean_scores = None if clean is None else clean.scores[examples]
    clusters = select_clusters(members[0], examples)
    groups = {column: _list_values(values, examples) for column, values in group_columns.items()}
    scores = ExampleScores.from_table(table, clusters, clean_scores)
    test = balanced_p = None
    clean_classes, chance = ClassScores(), ChanceWorst()
    if clean is not None and clean_scores is not None:
        averages = np.nanmean(table, axis=1)
        test = compare_paired_scores(averages, clean_scores, clusters, options.confidence_level)
        clean_classes = compute_class_scores([(clean, examples)], options.confidence_level)
        if clean_classes.balanced_accuracy.value is not None and clean.golds is not None:
            balanced_p = compute_balanced_drop_p(clean_scores, averages, clean.golds.codes[examples], clusters)
        chance = estimate_chance_worst(members, clean, repeats, examples, options.confidence_level)
    place = (members[0].track.dataset, members[0].track.model, members[0].track.family)
    return _FamilyRecords(
        FamilySummary(
            *place,
            len(members),
            int(examples.sum()),
            scores.estimate(options),
            Changes() if clean is None else count_changes(clean, members, options.confidence_level),
            test,
            chance,
            compute_class_scores([(run, examples & run.scored) for run in members], options.confidence_level),
            clean_classes.balanced_accuracy,
            clean_classes.macro_f1,
            balanced_p,
            average_new_annotators=estimate_for_new_annotators(table, clusters, options),
            drop_new_annotators=Estimate()
            if clean_scores is None
            else estimate_for_new_annotators(clean_scores[:, None] - table, clusters, options, least=-1.0),
        ),
        [
            GroupScore(*place, column, value, len(members), len(group.average), group.estimate(options))
            for column, values in groups.items()
            for value, group in score_groups(scores, values).items()
        ],
        [gap for column, values in groups.items() for gap in find_gaps(scores, column, values, *place)],
        count_transitions(clean, members, *place),
        bin_by_noise_rate(members, options, *place),
    )


def _list_values(values: HashedColumn, examples: Mask) -> list[str]:
    """Return the value of each of these examples."""
    words = np.array([values.words.get(int(value_hash), "(none)") for value_hash in values.hashes], object)
    return list(words[values.numbers[examples]])
