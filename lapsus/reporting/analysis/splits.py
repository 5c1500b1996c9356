"""What a reader before the model wins back: each drop as an avoidable part and what is left, paired by row and cluster.

left = score(read clean) - score(read noisy), avoidable = drop - left. What is left is at most the information lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lapsus.core.track_names import READ, READER_COLUMN
from lapsus.reporting.analysis.comparisons import compare_paired_scores
from lapsus.reporting.analysis.records import AnalysisOptions, DropSplit, Estimate, ReportWarning
from lapsus.reporting.score_table import (
    TrackScores,
    find_clean_track,
    find_unchanged_texts,
    format_track_name,
    select_clusters,
)

if TYPE_CHECKING:
    from lapsus.core.checks import FloatArray, IntArray


def is_read(run: TrackScores) -> bool:
    """Return whether a reader corrected the texts of a track; a user's own track may have such a name too."""
    return run.track.track.startswith(READ) and READER_COLUMN in run.names


def exclude_read(runs: Sequence[TrackScores]) -> list[TrackScores]:
    """Return the tracks that no reader corrected: the clean text and its noise."""
    return [run for run in runs if not is_read(run)]


def measure_splits(runs: Sequence[TrackScores], options: AnalysisOptions) -> Iterator[DropSplit]:
    """Yield the split drop of each model and family of noise of which all four sides are there."""
    for own in _group_models(runs):
        clean = find_clean_track(own)
        read_runs = {run.track.track.removeprefix(READ): run for run in own if is_read(run)}
        read_clean = None if clean is None else read_runs.get(clean.track.track)
        if clean is None or read_clean is None:
            continue
        noisy = [run for run in exclude_read(own) if not run.is_clean and run.track.track in read_runs]
        for family in dict.fromkeys(run.track.family for run in noisy):
            members = [run for run in noisy if run.track.family == family]
            pairs = [(run, read_runs[run.track.track]) for run in members]
            split = _split_family(clean, read_clean, pairs, options)
            if split is not None:
                yield split


def warn_splits(runs: Sequence[TrackScores]) -> Iterator[ReportWarning]:
    """Warn of read tracks whose drop cannot be split, as one of the four sides is missing."""
    for own in _group_models(runs):
        names = {run.track.track for run in own}
        clean = find_clean_track(own)
        needed = None if clean is None else f"{READ}{clean.track.track}"
        for run in filter(is_read, own):
            name = run.track.track
            sides = {name.removeprefix(READ), needed or "clean", needed or f"{READ}clean"}
            if missing := sorted(sides - names):
                message = f"there is no track {missing[0]}, so no drop is split; add its file"
                yield ReportWarning(run.track.dataset, run.track.model, name, message)


def _group_models(runs: Sequence[TrackScores]) -> Iterator[list[TrackScores]]:
    """Yield the runs of each model that has read tracks."""
    for place in dict.fromkeys((run.track.dataset, run.track.model) for run in runs if is_read(run)):
        yield [run for run in runs if (run.track.dataset, run.track.model) == place]


def _split_family(
    clean: TrackScores,
    read_clean: TrackScores,
    pairs: Sequence[tuple[TrackScores, TrackScores]],
    options: AnalysisOptions,
) -> DropSplit | None:
    """Return the split of one family on the examples that all four sides have; None where there are none."""
    reader = _find_reader(read_clean)
    for noisy, read_noisy in pairs:
        _check_pair(noisy, read_noisy, reader)
    complete = np.stack([noisy.scored & read_noisy.scored for noisy, read_noisy in pairs], axis=1)
    examples = clean.scored & read_clean.scored & complete.any(axis=1)
    if not examples.any():
        return None
    noisy_scores, read_noisy_scores = (
        np.nanmean(
            np.where(complete, np.stack([pair[side].scores for pair in pairs], axis=1), np.nan)[examples], axis=1
        )
        for side in (0, 1)
    )
    clean_scores, read_clean_scores = clean.scores[examples], read_clean.scores[examples]
    clusters = select_clusters(clean, examples)

    def estimate(first: FloatArray, second: FloatArray, high: float) -> Estimate:
        return _estimate_difference(first, second, clusters, high, options)

    changed = [(noisy.present & ~find_unchanged_texts(noisy, clean), read) for noisy, read in pairs]
    n_changed = sum(int(mask.sum()) for mask, _ in changed)
    n_restored = sum(int((mask & find_unchanged_texts(read, clean)).sum()) for mask, read in changed)
    track = pairs[0][0].track
    return DropSplit(
        track.dataset,
        track.model,
        track.family,
        reader,
        len(pairs),
        int(examples.sum()),
        drop=estimate(clean_scores, noisy_scores, 1.0),
        avoidable=estimate(clean_scores + read_noisy_scores, noisy_scores + read_clean_scores, 2.0),
        left=estimate(read_clean_scores, read_noisy_scores, 1.0),
        clean_average=float(clean_scores.mean()),
        noisy_average=float(noisy_scores.mean()),
        read_clean_average=float(read_clean_scores.mean()),
        read_noisy_average=float(read_noisy_scores.mean()),
        changed_texts=n_changed,
        restored_texts=n_restored,
        changed_clean_texts=int((read_clean.present & ~find_unchanged_texts(read_clean, clean)).sum()),
    )


def _estimate_difference(
    first: FloatArray, second: FloatArray, clusters: IntArray | None, high: float, options: AnalysisOptions
) -> Estimate:
    """Return a paired difference of scores from 0 to `high`, with its interval."""
    difference = float((first - second).mean())
    difference = 0.0 if abs(difference) < 1e-12 else difference
    test = compare_paired_scores(first, second, clusters, options.confidence_level, (0.0, high))
    return Estimate(difference, *(test.difference[1:] if options.n_resamples else ()))


def _find_reader(run: TrackScores) -> str:
    """Return what the rows of a read track say of their reader."""
    [descriptions] = run.select_columns([READER_COLUMN], np.flatnonzero(run.present))
    readers = list(dict.fromkeys(map(str, descriptions)))
    if len(readers) > 1:
        raise ValueError(f"{format_track_name(run.track)}: two readers corrected its rows; run one of them again.")
    return readers[0]


def _check_pair(noisy: TrackScores, read_noisy: TrackScores, reader: str) -> None:
    """Refuse read tracks of several readers, and a noisy track that was made again since it was read."""
    name = format_track_name(read_noisy.track)
    if (other := _find_reader(read_noisy)) != reader:
        raise ValueError(
            f"{name}: its reader is {other!r}, and that of the clean text {reader!r}; run both with one --reader."
        )
    if "edits" not in noisy.names or "edits" not in read_noisy.names:
        return
    shared = np.flatnonzero(noisy.present & read_noisy.present)
    [edits], [read_edits] = (run.select_columns(["edits"], shared) for run in (noisy, read_noisy))
    if edits != read_edits:
        raise ValueError(
            f"{name}: it was read from other noise than {noisy.track.track} holds; run both again with --reader."
        )
