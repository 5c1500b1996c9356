"""Warnings about tracks: no clean track, missing answers, the same answer to everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.core.checks import shorten_repr
from lapsus.core.messages import format_list
from lapsus.core.origins import parse_operators
from lapsus.io.encoding import MAX_WORDS
from lapsus.io.labels import MIN_ANSWERS, format_vocabulary
from lapsus.io.predictions import format_quoted
from lapsus.perturbations.specs import MAX_TEXTS, describe_mismatch, find_languages_of
from lapsus.reporting.analysis.dialects import is_dialect_scorer
from lapsus.reporting.analysis.records import ReportWarning, UnmatchedIds
from lapsus.reporting.analysis.splits import exclude_read, warn_splits
from lapsus.reporting.score_table import (
    FINISH_REASONS,
    TrackScores,
    find_clean_track,
    find_endings,
    find_ranked_examples,
    select_clusters,
    to_texts,
)

if TYPE_CHECKING:
    from lapsus.core.checks import IntArray
    from lapsus.io.encoding import Codes
    from lapsus.reporting.score_table import Mask


MAX_FAILED = 2  # per cent of a track whose requests failed, above which its drop is also theirs
DOMINANT = 0.25  # the share of rows with one original, above which the page warns


def find_warnings(runs: Sequence[TrackScores]) -> list[ReportWarning]:
    """Return the warnings about tracks.

    >>> from lapsus.core.types import Track
    >>> from lapsus.reporting.score_table import align_tracks
    >>> print(*find_warnings(align_tracks([Track("bert", "keyboard.1", [{"id": 1, "score": 1}])])))
    bert / keyboard.1: there is no clean track, so drops cannot be computed; add a track named clean
    """
    groups: dict[tuple[str, str], list[TrackScores]] = {}
    for run in runs:
        groups.setdefault((run.track.dataset, run.track.model), []).append(run)
    warnings = [warning for model_runs in groups.values() for warning in _warn_model(model_runs)]
    return [*warnings, *warn_splits(runs), *_warn_models(exclude_read(runs))]


def _warn_model(all_runs: Sequence[TrackScores]) -> Iterator[ReportWarning]:
    dataset, model = all_runs[0].track.dataset, all_runs[0].track.model
    runs = exclude_read(all_runs) or all_runs
    if not any(run.is_clean for run in runs) and not is_dialect_scorer(run.track for run in runs):
        name = f"{dataset}_clean" if dataset else "clean"
        message = f"there is no clean track, so drops cannot be computed; add a track named {name}"
        yield ReportWarning(dataset, model, format_list((run.track.track for run in runs), 4), message)
    yield from _warn_annotators(runs)
    yield from _warn_unmatched(runs)
    yield from _warn_texts(runs)
    yield from _warn_vocabulary(runs)
    for run in all_runs:
        for message in _list_messages(run):
            yield ReportWarning(dataset, model, run.track.track, message)


def _list_messages(run: TrackScores) -> Iterator[str]:
    """Yield what limits the numbers of one track."""
    track, n_rows = run.track, int(run.present.sum())
    yield from run.notes
    if n_missing := len(track.missing_predictions):
        n_examples = n_missing + n_rows + len(track.dropped)
        yield f"{n_missing} of the {n_examples} examples of the data have no prediction, and are left out"
    yield from _list_failures(run, n_rows)
    if n_unparsed := int(run.unparsed.sum()):
        yield f"{n_unparsed} of {n_rows} examples have no answer or no score, and count as wrong"
    if n_refused := int(find_endings(run, "refused").sum()):
        yield f"the model or a content filter refused {n_refused} of {n_rows} requests"
    if n_cut := int(find_endings(run, "cut").sum()):
        yield f"{n_cut} of {n_rows} answers were cut at the most tokens allowed"
    if track.dropped:
        yield f"{len(track.dropped)} examples without an answer were left out, as was asked"
    if (share := _find_largest_share(run)) > DOMINANT:
        yield f"one original holds {100 * share:.0f} % of the rows: intervals are wide, and tests rest on it"
    if (prediction := _find_constant_prediction(run)) is not None:
        yield f"the model always predicts {prediction!r}, although there are several gold labels"


def _list_failures(run: TrackScores, n_rows: int) -> Iterator[str]:
    """Yield that so many requests failed that the score of a track is not the model's."""
    failures = list_call_errors(run)
    percent = 100 * len(failures) / max(1, n_rows)
    if percent > MAX_FAILED:
        reason = shorten_repr(str(Counter(map(str, failures)).most_common(1)[0][0]))
        yield (
            f"{len(failures)} of {n_rows} examples ({percent:.1f} %) have an error and no answer (such as {reason}): "
            "the drop is also theirs; run them again, or leave them out with --drop-unparsed"
        )


def list_call_errors(run: TrackScores) -> list[Any]:
    """Return the errors of the rows that have one and no answer; a model that refuses, or is cut, has not failed."""
    if "error" not in run.names or not run.unparsed.any():
        return []
    ended = np.logical_or.reduce([find_endings(run, ending) for ending in FINISH_REASONS])
    [errors] = run.select_columns(["error"], np.flatnonzero(run.unparsed & run.present & ~ended))
    return [error for error in errors if error and error == error]  # noqa: PLR0124 - NaN


def _find_largest_share(run: TrackScores) -> float:
    """Return the share of the rows that have the commonest original; 0 where rows share none."""
    clusters = select_clusters(run, run.scored) if run.clustered else None
    return 0.0 if clusters is None or not len(clusters) else float(np.bincount(clusters).max() / len(clusters))


def _warn_vocabulary(runs: Sequence[TrackScores]) -> Iterator[ReportWarning]:
    """Warn of predictions that name the gold answers otherwise."""
    dataset, model = runs[0].track.dataset, runs[0].track.model
    if vocabularies := {run.track.track: words for run in runs if (words := _find_never_correct(run))}:
        predictions, golds = next(iter(vocabularies.values()))
        message = f"no prediction is correct (predictions: {predictions}; gold: {golds})"
        message = f"{message}; if they mean the same, use the gold labels"
        yield ReportWarning(dataset, model, format_list(vocabularies, 4), message)
    if numbers := _find_index_offset(runs):
        names = format_list((run.track.track for run in runs), 4)
        message = f"predictions are the numbers {numbers[0]}, and gold answers {numbers[1]}"
        cure = "if both count classes, count them from the same number on"
        yield ReportWarning(dataset, model, names, f"{message}; {cure}")


def _warn_annotators(runs: Sequence[TrackScores]) -> Iterator[ReportWarning]:
    """Warn of noise on some of the examples, and of annotators with others: the worst of few is milder."""
    clean = find_clean_track(runs)
    families: dict[str, list[TrackScores]] = {}
    for run in runs:
        if not run.is_clean:
            families.setdefault(run.track.family, []).append(run)
    for family, members in families.items():
        place = (members[0].track.dataset, members[0].track.model, family)
        if clean is not None:
            shared = np.logical_or.reduce([run.present for run in members]) & clean.present
            n_told = max(len(run.track.dropped) + len(run.track.missing_predictions) for run in members)
            if (n_shared := int(shared.sum())) < (n_clean := int(clean.present.sum())) - n_told:
                message = (
                    f"it has {n_shared} of the {n_clean} examples of {clean.track.track}; its drop is of these only"
                )
                yield ReportWarning(*place, message)
        n_annotators = np.sum([run.present for run in members], axis=0)
        n_examples, n_shared = int((n_annotators > 0).sum()), int((n_annotators == len(members)).sum())
        if n_shared < n_examples:
            message = f"only {n_shared} of {n_examples} examples have all {len(members)} annotators"
            yield ReportWarning(*place, f"{message}; the worst of fewer is milder")


def _warn_unmatched(runs: Sequence[TrackScores]) -> Iterator[ReportWarning]:
    """Warn of examples that the clean track lacks: nothing can be compared with them."""
    clean = find_clean_track(runs)
    for run in runs:
        if clean is None or run.is_clean:
            continue
        unmatched = np.flatnonzero(run.present & ~clean.present)
        if len(unmatched):
            sample = format_quoted(run.ids.take(unmatched[:3]).to_pylist())
            message = (
                f"{len(unmatched)} of {int(run.present.sum())} examples are left out, as {clean.track.track} lacks them"
            )
            yield ReportWarning(run.track.dataset, run.track.model, run.track.track, f"{message} (such as id {sample})")


def _warn_models(runs: Sequence[TrackScores]) -> Iterator[ReportWarning]:
    """Warn of models whose clean scores are of different examples: they are ranked on what all of them share."""
    for dataset in dict.fromkeys(run.track.dataset for run in runs):
        own = [run for run in runs if run.track.dataset == dataset]
        ranked = find_ranked_examples(own)
        if ranked is None:
            continue
        n_shared, n_examples = (int(mask.sum()) for mask in ranked)
        for model in dict.fromkeys(run.track.model for run in own):
            run = find_clean_track([run for run in own if run.track.model == model])
            if run is None or (size := int(run.scored.sum())) == n_examples:
                continue
            message = f"this model has {size} of the {n_examples} examples of all models"
            rank = f"models stand in the order of their clean scores on the {n_shared} examples that all have"
            cure = rank if n_shared else "no example is shared by all, so the order of models says nothing"
            yield ReportWarning(dataset, model, run.track.track, f"{message}; {cure}")


# What noise did to the texts.


def _warn_texts(runs: Sequence[TrackScores]) -> Iterator[ReportWarning]:
    """Warn of texts that are not the noisy and the clean ones of the same example, or of noise that is none."""
    dataset, model = runs[0].track.dataset, runs[0].track.model
    clean = find_clean_track(runs)
    texts = find_clean_texts(runs, clean)
    for run in runs:
        place = (dataset, model, run.track.track)
        for message in _list_text_messages(run, texts):
            yield ReportWarning(*place, message)


def find_clean_texts(runs: Sequence[TrackScores], clean: TrackScores | None) -> Codes:
    """Return the hash of each example's clean text: that of the clean track, else of the first track that has one."""
    texts = np.zeros(len(runs[0].present), np.uint64)
    if clean is not None and clean.text_hashes is not None:
        texts = clean.text_hashes
    for run in runs:
        if run.clean_text_hashes is not None:
            texts = np.where(texts == 0, run.clean_text_hashes, texts)
    return texts


def count_changed_texts(run: TrackScores, clean_texts: Codes) -> int | None:
    """Return how many texts of a track differ from their clean text; None where rows hold no texts."""
    if run.text_hashes is None:
        return None
    known = (run.text_hashes != 0) & (clean_texts != 0)
    return int((known & (run.text_hashes != clean_texts)).sum()) if known.any() else None


def _list_text_messages(run: TrackScores, texts: Codes) -> Iterator[str]:
    """Yield what is odd in the texts of one track."""
    own = run.clean_text_hashes
    if own is not None:
        differs = (own != 0) & (texts != 0) & (own != texts)
        if run.is_clean and run.text_hashes is not None:
            differs = (own != 0) & (run.text_hashes != 0) & (own != run.text_hashes)
            what = "have a text that differs from their clean text, on a track that is called clean"
        else:
            what = "have another clean text than on the other tracks of this model"
        if differs.any():
            key = run.ids[int(differs.argmax())].as_py()
            total = int((own != 0).sum())
            cure = "check that an id is the same example everywhere"
            yield f"{int(differs.sum())} of {total} examples {what} (such as id {key!r}); {cure}"
    if run.is_clean or run.text_hashes is None:
        return
    known = (run.text_hashes != 0) & (texts != 0)
    if count_changed_texts(run, texts) == 0:
        yield f"none of its {int(known.sum())} texts differs from the clean text: there is no noise on this track"
    yield from _list_language_messages(run, np.flatnonzero(known))


def _list_language_messages(run: TrackScores, examples: IntArray) -> Iterator[str]:
    """Yield that the operator which made the noise is for texts of another writing."""
    operators = run.groups.get("operator")
    if operators is None or not len(examples):
        return
    [clean_texts] = run.select_columns(["clean_text"], examples[:MAX_TEXTS])
    texts = [text for value in clean_texts for text in to_texts(value)]
    names = (name.partition(" ")[0] for origin in operators.words.values() for name in parse_operators(origin))
    for word in dict.fromkeys(names):
        if mismatch := describe_mismatch(find_languages_of(word), texts):
            yield f"{word} is {mismatch}: no such noise is seen in them"


def _find_never_correct(run: TrackScores) -> tuple[str, str] | None:
    """Return what is said and what is right on a track where no answer is right although right answers repeat."""
    if run.predictions is None or run.golds is None or (run.scores > 0).any():
        return None
    prediction_counts, gold_counts = run.predictions.count_values(~run.unparsed), run.golds.count_values()
    has_few_answers = sum(prediction_counts.values()) < MIN_ANSWERS or max(gold_counts.values(), default=0) == 1
    return (
        None
        if has_few_answers
        else (format_vocabulary(Counter(prediction_counts)), format_vocabulary(Counter(gold_counts)))
    )


def _find_index_offset(runs: Iterable[TrackScores]) -> tuple[str, str] | None:
    """Return the numbers that are said and those that are right where these are the same ones counted from another."""
    predicted, gold = set[str](), set[str]()
    for run in runs:
        if run.predictions is not None and run.golds is not None:
            predicted |= run.predictions.count_values(~run.unparsed).keys()
            gold |= run.golds.count_values().keys()
        if len(predicted | gold) > MAX_WORDS or not all(map(str.isdecimal, predicted | gold)):
            return None
    if min(len(predicted), len(gold)) < 2:
        return None
    (low, high), (first, last) = (
        (min(numbers), max(numbers)) for numbers in ({*map(int, predicted)}, {*map(int, gold)})
    )
    return (f"{low} to {high}", f"{first} to {last}") if abs(low - first) == 1 and high - low == last - first else None


def _find_constant_prediction(run: TrackScores) -> str | None:
    """Return the one class that a model says throughout a track where several are right; None if it says more."""
    if run.predictions is None or run.golds is None or run.predictions.distinct > 2:
        return None
    prediction_counts = run.predictions.count_values(~run.unparsed)
    gold_counts = run.golds.count_values()
    golds_vary = len(gold_counts) > 1 and max(gold_counts.values()) > 1
    return next(iter(prediction_counts)) if len(prediction_counts) == 1 and golds_vary else None


# The ids that were left out, and the reason.


MAX_NAMED = 12


def list_unmatched_ids(
    model_tracks: Sequence[TrackScores], clean: TrackScores | None, all_tracks: Sequence[TrackScores]
) -> list[UnmatchedIds]:
    """Count and name the ids of one model's tracks that were left out."""
    return [
        UnmatchedIds(run.track.dataset, run.track.model, run.track.track, reason, count, ids)
        for run in model_tracks
        for reason, count, ids in _iter_reasons(run, clean, all_tracks)
        if count
    ]


def _iter_reasons(
    run: TrackScores, clean: TrackScores | None, all_tracks: Sequence[TrackScores]
) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    def make_reason(reason: str, examples: Mask) -> tuple[str, int, tuple[str, ...]]:
        first = np.flatnonzero(examples)[:MAX_NAMED]
        return reason, int(examples.sum()), tuple(run.ids[index].as_py() for index in first.tolist())

    missing, unknown = run.track.missing_predictions, run.track.unmatched_predictions
    yield "in the data, but not predicted", len(missing), tuple(missing[:MAX_NAMED])
    yield "predicted, but not in the data", len(unknown), tuple(unknown[:MAX_NAMED])
    present_elsewhere = np.zeros(len(run.present), bool)
    for other in all_tracks:
        if other.track.track == run.track.track:
            present_elsewhere |= other.present
    yield make_reason("scored for another model only", present_elsewhere & ~run.present)
    if clean is not None and run is not clean:
        yield make_reason("has no clean counterpart", run.present & ~clean.present)
        yield make_reason("clean only", clean.present & ~run.present)
