"""Warnings about tracks: no clean track, missing answers, the same answer to everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

import pyarrow.compute as pc

from lapsus.core.messages import format_list
from lapsus.core.track_names import CLEAN
from lapsus.io.labels import count_case_mismatches, find_constant_prediction, find_index_offset, find_never_correct
from lapsus.io.predictions import format_quoted
from lapsus.reporting.analysis.dialects import is_dialect_scorer
from lapsus.reporting.analysis.records import ReportWarning
from lapsus.reporting.tracks import Track


def find_warnings(tracks: Sequence[Track]) -> list[ReportWarning]:
    """Return the warnings about tracks.

    >>> print(*find_warnings([Track("bert", "keyboard.1", [{"id": 1, "score": 1}])]))
    bert / keyboard.1: no clean track belongs to it, so what noise costs is not known; add one, called clean
    """
    groups: dict[tuple[str, str], list[Track]] = {}
    for track in tracks:
        groups.setdefault((track.dataset, track.model), []).append(track)
    return [warning for model_tracks in groups.values() for warning in _warn_model(model_tracks)]


def _warn_model(model_tracks: Sequence[Track]) -> Iterator[ReportWarning]:
    dataset, model = model_tracks[0].dataset, model_tracks[0].model
    if not any(track.family in CLEAN for track in model_tracks) and not is_dialect_scorer(model_tracks):
        pronoun, name = "it" if len(model_tracks) == 1 else "them", f"{dataset}_clean" if dataset else "clean"
        message = f"no clean track belongs to {pronoun}, so what noise costs is not known; add one, called {name}"
        yield ReportWarning(dataset, model, format_list((track.track for track in model_tracks), 4), message)
    yield from _warn_annotators(model_tracks)
    yield from _warn_unmatched(model_tracks)
    yield from _warn_vocabulary(model_tracks)
    for track in model_tracks:
        if track.missing_predictions:
            n_examples = len(track.missing_predictions) + len(track.rows) + len(track.dropped)
            message = f"{len(track.missing_predictions)} of the {n_examples} examples of the data have no prediction, and are left out"
            yield ReportWarning(dataset, model, track.track, message)
        if track.unparsed:
            message = f"{track.unparsed} of {len(track.rows)} examples have no answer or no score, and count as wrong"
            yield ReportWarning(dataset, model, track.track, message)
        if track.dropped:
            message = f"{len(track.dropped)} examples without an answer were left out, as was asked"
            yield ReportWarning(dataset, model, track.track, message)
        if (answer := find_constant_prediction(track)) is not None:
            yield ReportWarning(dataset, model, track.track, f"every answer is {answer!r}, although several are right")


def _warn_vocabulary(model_tracks: Sequence[Track]) -> Iterator[ReportWarning]:
    """Warn of answers that call the right ones by other names."""
    dataset, model = model_tracks[0].dataset, model_tracks[0].model
    if vocabularies := {track.track: words for track in model_tracks if (words := find_never_correct(track))}:
        message, right = next(iter(vocabularies.values()))
        message = (
            f"no answer is right; said are {message}, and right are {right}: if they mean the same, call them the same"
        )
        yield ReportWarning(dataset, model, format_list(vocabularies, 4), message)
    for track in model_tracks:
        if mismatch := count_case_mismatches(track):
            number, answer, right = mismatch
            message = (
                f"{number} of {len(track.rows)} answers, such as {answer!r}, differ from the right one, {right!r}, "
            )
            yield ReportWarning(dataset, model, track.track, f"{message}only in case or spaces, and count as wrong")
    if numbers := find_index_offset(model_tracks):
        message = (
            f"answers are the numbers {numbers[0]}, and right ones {numbers[1]}; if both count classes, from the same"
        )
        yield ReportWarning(
            dataset,
            model,
            format_list((track.track for track in model_tracks), 4),
            f"{message} number on, mend one of them",
        )


def _warn_annotators(model_tracks: Sequence[Track]) -> Iterator[ReportWarning]:
    """Warn of annotators with other examples: the worst of few is milder than that of many."""
    families: dict[str, list[Track]] = {}
    for track in model_tracks:
        if track.family not in CLEAN:
            families.setdefault(track.family, []).append(track)
    for family, family_tracks in families.items():
        first_ids, *other_ids = (track.columns.ids for track in family_tracks)
        different = [ids for ids in other_ids if ids is not first_ids and not ids.equals(first_ids)]
        if not different:
            continue
        counts = Counter(chain.from_iterable(ids.to_pylist() for ids in (first_ids, *different)))
        n_shared = sum(count == 1 + len(different) for count in counts.values())
        if n_shared < len(counts):
            message = f"only {n_shared} of {len(counts)} examples have all {len(family_tracks)} annotators"
            yield ReportWarning(
                model_tracks[0].dataset, model_tracks[0].model, family, f"{message}; the worst of fewer is milder"
            )


def _warn_unmatched(model_tracks: Sequence[Track]) -> Iterator[ReportWarning]:
    """Warn of examples that the clean track lacks: nothing can be compared with them."""
    clean = next((track for track in model_tracks if track.family in CLEAN), None)
    for track in model_tracks:
        ids = track.columns.ids
        if clean is None or track.family in CLEAN or ids is clean.columns.ids:
            continue
        unknown = ids.filter(pc.invert(pc.is_in(ids, value_set=clean.columns.ids)))
        if len(unknown):
            sample = format_quoted(unknown[:3].to_pylist())
            message = (
                f"{len(unknown)} of {len(ids)} examples are left out, as {clean.track} lacks them (such as id {sample})"
            )
            yield ReportWarning(track.dataset, track.model, track.track, message)
