"""Scorers of texts on dialects: whether what means the same scores above what does not, and own tags above others.

>>> from lapsus.results.measuring.runs import runs_of
>>> def track(name, *scores):
...     return Track("chrf", name, [{"id": place, "score": score} for place, score in enumerate(scores)])
>>> found = dialect_score(runs_of([track("dialect", 0.9, 0.8, 0.5), track("perturbed", 0.2, 0.9, 0.1)]), 0.95)
>>> found.wins, found.losses, round(found.win_rate.value, 3)
(2, 1, 0.667)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lapsus.metrics.dialect_awareness.score import dialect_awareness
from lapsus.metrics.win_rate.score import win_rate
from lapsus.results.measuring.records import DialectScore, Estimate
from lapsus.results.measuring.runs import Run, chosen_originals, shared
from lapsus.results.track_names import DIALECTS
from lapsus.results.tracks import Track

if TYPE_CHECKING:
    from lapsus.kernel.columns import FloatArray
    from lapsus.results.measuring.runs import Mask

SAME, OTHER_MEANING, OTHER_TAG = DIALECTS


def about_dialects(tracks: Iterable[Track]) -> bool:
    """Tell whether tracks of one model are a scorer's on a dialect and on another meaning."""
    return {SAME, OTHER_MEANING} <= {track.track for track in tracks}


def dialect_score(runs: Sequence[Run], level: float) -> DialectScore:
    """Return the win rate of one model, and its awareness where texts were scored with another tag too."""
    by_name = {run.track.track: run for run in runs}
    same, other = by_name[SAME], by_name[OTHER_MEANING]
    keys = shared(same, other)
    if not keys.any():
        raise ValueError(f"the tracks {SAME} and {OTHER_MEANING} of {same.track.model} share no id; give the same ids")
    won = win_rate(
        *_scores(same, other, keys),
        clusters=chosen_originals(same, keys),
        confidence_level=level,
        alternative="two-sided",
    )
    found = DialectScore(
        same.track.dataset,
        same.track.model,
        int(keys.sum()),
        Estimate.of(won, "win_rate"),
        won["wins"],
        won["losses"],
        won["ties"],
        won["p_value"],
    )
    tagged = by_name.get(OTHER_TAG)
    keys = shared(same, tagged) if tagged else keys
    if not tagged or not keys.any():
        return found
    aware = dialect_awareness(
        *_scores(same, tagged, keys),
        clusters=chosen_originals(same, keys),
        confidence_level=level,
    )
    return replace(
        found,
        awareness_rate=Estimate.of(aware, "awareness_rate"),
        awareness_wins=aware["wins"],
        awareness_losses=aware["losses"],
        awareness_ties=aware["ties"],
        awareness_p_value=aware["p_value"],
    )


def _scores(first: Run, second: Run, keys: Mask) -> tuple[FloatArray, FloatArray]:
    """Return the scores of both sides; where one of them has no answer it is a tie, so that silence never wins."""
    silent = first.silent | second.silent
    ours, theirs = (np.where(silent, 0.0, run.scores)[keys] for run in (first, second))
    return ours, theirs
