"""The noisy texts that cost the most models their right answer to the clean one."""

from __future__ import annotations

from collections.abc import Sequence

from lapsus.results.measuring.records import BrokenText
from lapsus.results.measuring.runs import Run, texts_of
from lapsus.results.predictions import label

MOST_EXAMPLES = 12
LOST = 0.5  # a score that falls by this much or more was lost


def broken_texts(runs: Sequence[Run], models: Sequence[str]) -> list[BrokenText]:
    """Return one text per example, those that most models lost first."""
    clean = {run.track.model: run for run in runs if run.is_clean}
    lost: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        before = clean.get(run.track.model)
        if before is not None and run is not before:
            for key in run.scores:
                if texts_of(run.rows[key].get("text")) and before.scores.get(key, 0) - run.scores[key] >= LOST:
                    lost.setdefault((key, run.track.track), []).append(run)
    hardest = sorted(lost.items(), key=lambda item: (-len(item[1]), item[0]))
    first = {key: (track, losers) for (key, track), losers in reversed(hardest)}
    chosen = sorted(first.items(), key=lambda item: (-len(item[1][1]), item[0]))[:MOST_EXAMPLES]
    return [_record(key, track, losers, len(models)) for key, (track, losers) in chosen]


def _record(key: str, track: str, losers: Sequence[Run], models: int) -> BrokenText:
    row = losers[0].rows[key]
    return BrokenText(
        losers[0].track.dataset,
        id=key,
        track=track,
        clean_text=texts_of(row.get("clean_text")),
        text=texts_of(row.get("text")),
        gold=None if row.get("gold") is None else label(row["gold"]),
        lost=tuple(run.track.model for run in losers),
        models=models,
        predictions=tuple(
            f"{run.track.model}: {label(run.rows[key]['prediction'])}"
            for run in losers
            if run.rows[key].get("prediction") is not None
        ),
    )
