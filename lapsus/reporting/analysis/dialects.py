"""Scorers of texts on dialects: whether what means the same scores above what does not, and own tags above others.

>>> from lapsus.reporting.score_table import align_tracks
>>> def track(name, *scores):
...     return Track("chrf", name, [{"id": place, "score": score} for place, score in enumerate(scores)])
>>> result = measure_dialects(align_tracks([track("dialect", 0.9, 0.8, 0.5), track("perturbed", 0.2, 0.9, 0.1)]), 0.95)
>>> result.wins, result.losses, round(result.win_rate.value, 3)
(2, 1, 0.667)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lapsus.core.track_names import DIALECTS
from lapsus.core.types import Track
from lapsus.metrics.dialect_awareness.score import dialect_awareness
from lapsus.metrics.win_rate.score import win_rate
from lapsus.reporting.analysis.records import DialectScore, Estimate
from lapsus.reporting.score_table import TrackScores, find_shared_examples, select_clusters

if TYPE_CHECKING:
    from lapsus.core.checks import FloatArray
    from lapsus.reporting.score_table import Mask

DIALECT_TRACK, OTHER_MEANING, OTHER_TAG = DIALECTS


def is_dialect_scorer(tracks: Iterable[Track]) -> bool:
    """Tell whether tracks of one model are a scorer's on a dialect and on another meaning."""
    return {DIALECT_TRACK, OTHER_MEANING} <= {track.track for track in tracks}


def measure_dialects(runs: Sequence[TrackScores], level: float) -> DialectScore:
    """Return the win rate of one model, and its awareness where texts were scored with another tag too."""
    by_name = {run.track.track: run for run in runs}
    dialect, other_meaning = by_name[DIALECT_TRACK], by_name[OTHER_MEANING]
    examples = find_shared_examples(dialect, other_meaning)
    if not examples.any():
        raise ValueError(
            f"the tracks {DIALECT_TRACK} and {OTHER_MEANING} of {dialect.track.model} share no id; give the same ids"
        )
    wins = win_rate(
        *_pair_scores(dialect, other_meaning, examples),
        clusters=select_clusters(dialect, examples),
        confidence_level=level,
        alternative="two-sided",
    )
    score = DialectScore(
        dialect.track.dataset,
        dialect.track.model,
        int(examples.sum()),
        Estimate.from_result(wins, "win_rate"),
        wins["wins"],
        wins["losses"],
        wins["ties"],
        wins["p_value"],
    )
    other_tag = by_name.get(OTHER_TAG)
    examples = find_shared_examples(dialect, other_tag) if other_tag else examples
    if not other_tag or not examples.any():
        return score
    awareness = dialect_awareness(
        *_pair_scores(dialect, other_tag, examples),
        clusters=select_clusters(dialect, examples),
        confidence_level=level,
    )
    return replace(
        score,
        awareness_rate=Estimate.from_result(awareness, "awareness_rate"),
        awareness_wins=awareness["wins"],
        awareness_losses=awareness["losses"],
        awareness_ties=awareness["ties"],
        awareness_p_value=awareness["p_value"],
    )


def _pair_scores(first: TrackScores, second: TrackScores, examples: Mask) -> tuple[FloatArray, FloatArray]:
    """Return the scores of both sides; where one of them has no answer it is a tie, so that silence never wins."""
    unanswered = first.unparsed | second.unparsed
    first_scores, second_scores = (np.where(unanswered, 0.0, run.scores)[examples] for run in (first, second))
    return first_scores, second_scores
