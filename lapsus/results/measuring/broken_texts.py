"""The noisy texts on which the most models lost an answer that was right on the clean text."""

from __future__ import annotations

from collections.abc import Sequence

from lapsus.results.measuring.marks import edits_between
from lapsus.results.measuring.records import BrokenText
from lapsus.results.measuring.runs import Run, clean_of, texts_of
from lapsus.results.predictions import label

MOST_EXAMPLES = 12
LOST = 0.5  # a fall in score from which an example counts as lost


def broken_texts(runs: Sequence[Run], models: Sequence[str]) -> list[BrokenText]:
    """Return one text per example, sorted by how many models lost it."""
    clean = {model: clean_of(run for run in runs if run.track.model == model) for model in models}
    lost: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        before = clean.get(run.track.model)
        if before is not None and not run.is_clean:
            for key in run.scores:
                if _differs(run, before, key) and before.scores.get(key, 0) - run.scores[key] >= LOST:
                    lost.setdefault((key, run.track.track), []).append(run)
    hardest = sorted(lost.items(), key=lambda item: (-len(item[1]), item[0]))
    first = {key: (track, losers) for (key, track), losers in reversed(hardest)}
    chosen = sorted(first.items(), key=lambda item: (-len(item[1][1]), item[0]))[:MOST_EXAMPLES]
    return [_record(key, track, losers, clean[losers[0].track.model], len(models)) for key, (track, losers) in chosen]


def _texts(run: Run, clean: Run | None, key: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the clean text, from the row or else from the clean track, and the noisy text that the model saw."""
    row = run.rows[key]
    noisy = texts_of(row.get("text"))
    meant = texts_of(row.get("clean_text")) or texts_of(clean.rows.get(key, {}).get("text") if clean else None)
    return meant if len(meant) == len(noisy) else (), noisy


def _differs(run: Run, clean: Run, key: str) -> bool:
    """Return whether the model saw a text other than the clean one; else noise is not the cause."""
    meant, noisy = _texts(run, clean, key)
    return bool(noisy) and noisy != meant


def _record(key: str, track: str, losers: Sequence[Run], clean: Run | None, models: int) -> BrokenText:
    row = losers[0].rows[key]
    meant, noisy = _texts(losers[0], clean, key)
    return BrokenText(
        losers[0].track.dataset,
        id=key,
        track=track,
        clean_text=meant,
        text=noisy,
        edits=tuple(edits_between(*pair, row.get("edits")) for pair in zip(meant, noisy, strict=False)),
        gold=None if row.get("gold") is None else label(row["gold"]),
        lost=tuple(run.track.model for run in losers),
        models=models,
        predictions=tuple(
            f"{run.track.model}: {label(run.rows[key]['prediction'])}"
            for run in losers
            if run.rows[key].get("prediction") is not None
        ),
    )
