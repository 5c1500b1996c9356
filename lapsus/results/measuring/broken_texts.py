"""The noisy texts on which the most models lost an answer that was right on the clean text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.results.coding import label
from lapsus.results.measuring.marks import edits_between
from lapsus.results.measuring.records import BrokenText
from lapsus.results.measuring.runs import Run, clean_of
from lapsus.results.measuring.texts import same_texts, texts_of
from lapsus.results.track_columns import NO_ANSWER

if TYPE_CHECKING:
    from lapsus.results.measuring.runs import Mask

    Row = Mapping[str, Any]

MOST_EXAMPLES = 12
LOST = 0.5  # a fall in score from which an example counts as lost


def broken_texts(runs: Sequence[Run], models: Sequence[str]) -> list[BrokenText]:
    """Return one text per example, sorted by how many models lost it."""
    clean = {model: clean_of(run for run in runs if run.track.model == model) for model in models}
    noisy = [(run, before) for run in runs if (before := clean[run.track.model]) is not None and not run.is_clean]
    if not noisy:
        return []
    lost: dict[str, Any] = {}
    for run, before in noisy:
        here = lost.setdefault(run.track.track, np.zeros(len(run.ids), np.int32))
        here += _lost(run, before)
    tracks = sorted(lost)
    most, where = np.zeros(len(runs[0].ids), np.int32), np.zeros(len(runs[0].ids), np.int32)
    for number, track in enumerate(tracks):
        more = lost[track] > most
        most[more], where[more] = lost[track][more], number
    chosen = _hardest(most, runs[0].ids)
    rows: dict[int, dict[int, Row]] = {}  # by run, by example
    losers: dict[int, list[Run]] = {example: [] for example in chosen}
    for run, before in noisy:
        of_track = [example for example in chosen if tracks[where[example]] == run.track.track]
        mine = [example for example in of_track if _lost(run, before)[example]] if of_track else []
        rows[id(run)] = (
            dict(zip(mine, map(_answered, run.rows(mine), run.silent[mine].tolist()), strict=True)) if mine else {}
        )
        for example in mine:
            losers[example].append(run)
    records = []
    for example in chosen:
        first = losers[example][0]
        before = clean[first.track.model]
        meant = before.rows([example])[0] if before is not None and before.present[example] else {}
        its = [(run.track.model, rows[id(run)][example]) for run in losers[example]]
        records.append(_record(first, example, its, meant, len(models)))
    return records


def _lost(run: Run, before: Run) -> Mask:
    """Return on which examples noise lost the answer: the model saw a text other than the clean one."""
    fell = before.scores - run.scores >= LOST  # False where one has no score
    return fell & ~same_texts(run, before) & (run.seen != 0) if run.seen is not None else fell & False


def _answered(row: Row, unparsed: bool) -> Row:
    return {**row, "prediction": NO_ANSWER} if unparsed else row


def _hardest(most: Any, ids: Any) -> list[int]:
    """Return the examples that the most models lost; of those that as many lost, the first by their ids."""
    candidates = np.flatnonzero(most)
    if len(candidates) > MOST_EXAMPLES:
        least = np.partition(most[candidates], -MOST_EXAMPLES)[-MOST_EXAMPLES]
        candidates = candidates[most[candidates] >= least]
    keys = ids.take(candidates).to_pylist()
    order = sorted(range(len(candidates)), key=lambda place: (-most[candidates[place]], keys[place]))
    return [int(candidates[place]) for place in order[:MOST_EXAMPLES]]


def _record(run: Run, example: int, losers: Sequence[tuple[str, Row]], clean: Row, models: int) -> BrokenText:
    row = losers[0][1]
    noisy = texts_of(row.get("text"))
    meant = texts_of(row.get("clean_text")) or texts_of(clean.get("text"))
    meant = meant if len(meant) == len(noisy) else ()
    return BrokenText(
        run.track.dataset,
        id=run.ids[example].as_py(),
        track=run.track.track,
        clean_text=meant,
        text=noisy,
        edits=tuple(edits_between(*pair, row.get("edits")) for pair in zip(meant, noisy, strict=False)),
        gold=None if row.get("gold") is None else label(row["gold"]),
        lost=tuple(model for model, _ in losers),
        models=models,
        predictions=tuple(
            f"{model}: {label(its['prediction'])}" for model, its in losers if its.get("prediction") is not None
        ),
    )
