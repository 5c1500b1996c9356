"""Count which answers change between clean and noisy text, and into what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from rapidfuzz.distance import Levenshtein

from lapsus import stats
from lapsus.core.conversations import group_edits
from lapsus.core.edits import Edit
from lapsus.core.text import to_label
from lapsus.io.encoding import NO_VALUE
from lapsus.reporting.analysis.records import Changes, Estimate, Flips, LostExample, Transition
from lapsus.reporting.score_table import (
    NO_ANSWER,
    TrackScores,
    find_clean_track,
    find_unchanged_texts,
    is_binary,
    select_clusters,
    to_texts,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lapsus.core.checks import FloatArray, IntArray
    from lapsus.io.encoding import Codes
    from lapsus.reporting.score_table import Mask

    Row = Mapping[str, Any]


MAX_LABELS = 8  # with more labels than this, the matrix shows right and wrong only


def count_changes(clean: TrackScores, members: Sequence[TrackScores], level: float) -> Changes:
    """Count the predictions that differ between clean and noisy text; None where the rows do not tell.

    Answers that were both right count as the same, however they were worded.
    """
    masks = [clean.scored & run.scored for run in members]
    if not any(mask.any() for mask in masks):
        return Changes()
    before, after = _pair_scores(clean, members, masks)
    binary = is_binary([before, after])
    predictions = _pair_predictions(clean, members, masks)
    if predictions is None and not binary:
        return Changes()

    clean_answers, noisy_answers = (before, after) if predictions is None else predictions
    was_right, is_right = (binary & (side == 1) for side in (before, after))
    flips = {
        "correct_to_wrong": was_right & ~is_right,
        "wrong_to_correct": ~was_right & is_right,
        "wrong_to_other_wrong": ~was_right & ~is_right & (clean_answers != noisy_answers),
    }
    is_changed = np.logical_or.reduce(list(flips.values()))
    clusters = np.concatenate([_list_clusters(clean, mask) for mask in masks])
    sums = stats.sum_by_cluster_number(is_changed.astype(float), clusters)
    interval = (
        stats.clustered_rate_interval(sums, level)
        if sums.n_clusters < len(clusters)
        else stats.wilson_interval(int(is_changed.sum()), len(clusters), level)
    )
    return Changes(
        int(is_changed.sum()),
        Estimate(int(is_changed.sum()) / len(clusters), *(interval or ())),
        Flips(**{name: int(mask.sum()) for name, mask in flips.items()}) if binary else None,
    )


def _list_clusters(clean: TrackScores, mask: Mask) -> IntArray:
    """Return the clusters of these examples, whose own numbers stand for those that are no cluster of several."""
    clusters = select_clusters(clean, mask)
    return np.flatnonzero(mask) if clusters is None else clusters


def count_transitions(
    clean: TrackScores | None, members: Sequence[TrackScores], dataset: str, model: str, family: str
) -> list[Transition]:
    """Count which clean prediction became which noisy one: labels where there are few, else right and wrong."""
    masks = [] if clean is None else [clean.scored & run.scored for run in members]
    if clean is None or not any(mask.any() for mask in masks):
        return []
    predictions = _pair_predictions(clean, members, masks)
    labels = np.zeros(0, np.uint64) if predictions is None else np.unique(np.concatenate(predictions))
    words: dict[int, str] = {}
    for run in (clean, *members):
        words |= run.predictions.words if run.predictions else {}
    if predictions is not None and 2 <= len(labels) <= MAX_LABELS and words.keys() >= set(labels.tolist()):
        before, after = (np.searchsorted(labels, side) for side in predictions)
        table = np.bincount(before * len(labels) + after, minlength=len(labels) ** 2).reshape(len(labels), -1)
        order = sorted(range(len(labels)), key=lambda place: words[int(labels[place])])
        names = [words[int(labels[place])] for place in order]
        counts = table[np.ix_(order, order)]
    else:
        clean_scores, noisy_scores = _pair_scores(clean, members, masks)
        if not is_binary([clean_scores, noisy_scores]):
            return []
        names = ["right", "wrong"]
        counts = np.bincount(2 * (clean_scores == 0) + (noisy_scores == 0), minlength=4).reshape(2, 2)
    return [
        Transition(dataset, model, family, old, new, int(counts[i, j]))
        for i, old in enumerate(names)
        for j, new in enumerate(names)
    ]


def _pair_scores(
    clean: TrackScores, members: Sequence[TrackScores], masks: Sequence[NDArray[np.bool_]]
) -> tuple[FloatArray, FloatArray]:
    """Return the scores of all pairs, on clean and on noisy text."""
    return (
        np.concatenate([clean.scores[mask] for mask in masks]),
        np.concatenate([run.scores[mask] for run, mask in zip(members, masks, strict=True)]),
    )


def _pair_predictions(
    clean: TrackScores, members: Sequence[TrackScores], masks: Sequence[NDArray[np.bool_]]
) -> tuple[Codes, Codes] | None:
    """Return the predictions of all pairs, on clean and on noisy text; None where one is not known."""
    if clean.predictions is None or any(run.predictions is None for run in members):
        return None
    clean_codes = clean.predictions.codes
    before = np.concatenate([clean_codes[mask] for mask in masks])
    after = np.concatenate(
        [run.predictions.codes[mask] for run, mask in zip(members, masks, strict=True) if run.predictions]
    )
    return None if (before == NO_VALUE).any() or (after == NO_VALUE).any() else (before, after)


# The insertions, deletions and replacements in a text: the recorded edits, or else an alignment.


def align_edits(clean: str, noisy: str, recorded_edits: Any = None) -> tuple[Edit, ...]:
    """Return edits that turn the clean text into the noisy one: the recorded ones if they do so, else the fewest.

    `recorded_edits` is the column `edits` of a row, a list or a list for each of several columns.

    >>> align_edits("abc", "axc", [{"start": 0, "end": 2, "text": "ax"}])
    (Edit(start=0, end=2, text='ax'),)
    >>> align_edits("abc", "axc")
    (Edit(start=1, end=2, text='x'),)
    """
    for edits in _iter_edit_lists(recorded_edits):
        pairs = split_by_edits(clean, edits)
        old, new = ("".join(side) for side in zip(*pairs, strict=True)) if pairs else ("", "")
        if (old, new) == (clean, noisy) and all(edit.end <= len(clean) for edit in edits):
            return edits
    return tuple(
        Edit(code.src_start, code.src_end, noisy[code.dest_start : code.dest_end])
        for code in Levenshtein.opcodes(clean, noisy)
        if code.tag != "equal"
    )


def _split_turns(lists: Iterable[Any]) -> Iterator[Any]:
    """Yield lists of edits; those of a conversation one by one for its turns."""
    for edits in lists:
        if isinstance(edits, Sequence) and edits and isinstance(edits[0], Mapping) and {"turn", "part"} <= {*edits[0]}:
            with suppress(KeyError, TypeError):  # the column holds no edits
                yield from group_edits(edits).values()
        else:
            yield edits


def _iter_edit_lists(recorded_edits: Any) -> Iterable[tuple[Edit, ...]]:
    for edits in _split_turns(recorded_edits.values() if isinstance(recorded_edits, Mapping) else [recorded_edits]):
        if isinstance(edits, Sequence) and not isinstance(edits, str):
            try:
                parsed = tuple(
                    Edit(*((e["start"], e["end"], e["text"]) if isinstance(e, Mapping) else e)) for e in edits
                )
            except (KeyError, TypeError):
                continue  # the column holds no edits
            if all(isinstance(e.start, int) and isinstance(e.end, int) and isinstance(e.text, str) for e in parsed):
                yield parsed


def split_by_edits(clean: str, edits: Iterable[Edit]) -> list[tuple[str, str]]:
    """Return the text in stretches, each as old and new, which are the same where nothing was edited.

    >>> split_by_edits("cat", [Edit(0, 1, "b"), Edit(3, 3, "s")])
    [('c', 'b'), ('at', 'at'), ('', 's')]
    """
    stretches: list[tuple[str, str]] = []
    cursor = 0
    for start, end, new in edits:
        if cursor < start:
            unchanged = clean[cursor:start]
            stretches.append((unchanged, unchanged))
        if start < end or new:
            stretches.append((clean[start:end], new))
        cursor = end
    if cursor < len(clean):
        stretches.append((clean[cursor:], clean[cursor:]))
    return stretches


# The noisy texts on which the most models lost an answer that was right on the clean text.


MAX_EXAMPLES = 12
LOSS_THRESHOLD = 0.5  # a fall in score from which an example counts as lost


def find_lost_examples(runs: Sequence[TrackScores], models: Sequence[str]) -> list[LostExample]:
    """Return one text per example, sorted by how many models lost it."""
    clean_runs = {model: find_clean_track(run for run in runs if run.track.model == model) for model in models}
    noisy = [
        (run, clean_run) for run in runs if (clean_run := clean_runs[run.track.model]) is not None and not run.is_clean
    ]
    if not noisy:
        return []
    losses: dict[str, Any] = {}
    for run, clean_run in noisy:
        counts = losses.setdefault(run.track.track, np.zeros(len(run.ids), np.int32))
        counts += _find_losses(run, clean_run)
    tracks = sorted(losses)
    most_losses, worst_tracks = np.zeros(len(runs[0].ids), np.int32), np.zeros(len(runs[0].ids), np.int32)
    for number, track in enumerate(tracks):
        is_higher = losses[track] > most_losses
        most_losses[is_higher], worst_tracks[is_higher] = losses[track][is_higher], number
    examples = _rank_by_losses(most_losses, runs[0].ids)
    rows: dict[int, dict[int, Row]] = {}  # by run, by example
    losers: dict[int, list[TrackScores]] = {example: [] for example in examples}
    for run, clean_run in noisy:
        track_examples = [example for example in examples if tracks[worst_tracks[example]] == run.track.track]
        run_losses = (
            [example for example in track_examples if _find_losses(run, clean_run)[example]] if track_examples else []
        )
        rows[id(run)] = (
            dict(
                zip(
                    run_losses,
                    map(_mark_unparsed, run.select_rows(run_losses), run.unparsed[run_losses].tolist()),
                    strict=True,
                )
            )
            if run_losses
            else {}
        )
        for example in run_losses:
            losers[example].append(run)
    records = []
    for example in examples:
        first = losers[example][0]
        clean_run = clean_runs[first.track.model]
        clean_row = clean_run.select_rows([example])[0] if clean_run is not None and clean_run.present[example] else {}
        lost_rows = [(run.track.model, rows[id(run)][example]) for run in losers[example]]
        records.append(_make_lost_example(first, example, lost_rows, clean_row, len(models)))
    return records


def _find_losses(run: TrackScores, clean_run: TrackScores) -> Mask:
    """Return on which examples noise lost the answer: the model saw a text other than the clean one."""
    is_loss = clean_run.scores - run.scores >= LOSS_THRESHOLD  # False where one has no score
    return (
        is_loss & ~find_unchanged_texts(run, clean_run) & (run.text_hashes != 0)
        if run.text_hashes is not None
        else is_loss & False
    )


def _mark_unparsed(row: Row, unparsed: bool) -> Row:
    return {**row, "prediction": NO_ANSWER} if unparsed else row


def _rank_by_losses(losses: Any, ids: Any) -> list[int]:
    """Return the examples that the most models lost; of those that as many lost, the first by their ids."""
    candidates = np.flatnonzero(losses)
    if len(candidates) > MAX_EXAMPLES:
        fewest = np.partition(losses[candidates], -MAX_EXAMPLES)[-MAX_EXAMPLES]
        candidates = candidates[losses[candidates] >= fewest]
    keys = ids.take(candidates).to_pylist()
    order = sorted(range(len(candidates)), key=lambda place: (-losses[candidates[place]], keys[place]))
    return [int(candidates[place]) for place in order[:MAX_EXAMPLES]]


def _make_lost_example(
    run: TrackScores, example: int, losers: Sequence[tuple[str, Row]], clean_row: Row, models: int
) -> LostExample:
    row = losers[0][1]
    noisy_texts = to_texts(row.get("text"))
    clean_texts = to_texts(row.get("clean_text")) or to_texts(clean_row.get("text"))
    clean_texts = clean_texts if len(clean_texts) == len(noisy_texts) else ()
    return LostExample(
        run.track.dataset,
        id=run.ids[example].as_py(),
        track=run.track.track,
        clean_text=clean_texts,
        text=noisy_texts,
        edits=tuple(align_edits(*pair, row.get("edits")) for pair in zip(clean_texts, noisy_texts, strict=False)),
        gold=None if row.get("gold") is None else to_label(row["gold"]),
        lost_by=tuple(model for model, _ in losers),
        models=models,
        predictions=tuple(
            f"{model}: {to_label(lost_row['prediction'])}"
            for model, lost_row in losers
            if lost_row.get("prediction") is not None
        ),
    )
