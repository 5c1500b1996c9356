"""Answers to the clean text again, as the tracks clean.2, clean.3 and so on: how much a model's answers vary by chance.

>>> from lapsus.evaluation import TrackSet, make_task
>>> data = TrackSet.from_rows("mine", make_task(["text"], "label"), [{"id": "a", "text": "rain?", "label": "weather"}])
>>> list(repeat_clean(data, 3).tracks)
['clean', 'clean.2', 'clean.3']
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lapsus.core.track_names import CLEAN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lapsus.core.types import Track
    from lapsus.evaluation.models import ModelAdapter
    from lapsus.evaluation.tracks import TrackSet


def repeat_clean(data: TrackSet, count: int) -> TrackSet:
    """Return the data with the clean text `count` times: each model answers every repeat on its own."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"repeats is {count!r}; give how often the clean text is asked, a whole number from 1")
    clean, *noisy = data.tracks
    if count == 1:
        return data
    if clean not in CLEAN:
        raise ValueError(f"the task {data.task.name} has no clean track to repeat, but {clean!r}; leave repeats out")
    names = [f"{clean}.{number}" for number in range(2, count + 1)]
    if present := [name for name in names if name in data.tracks]:
        raise ValueError(f"{data.name} has a track {present[0]!r} already; leave repeats out")
    repeats = dict.fromkeys(names, data.tracks[clean])
    return replace(data, tracks={clean: data.tracks[clean], **repeats, **{name: data.tracks[name] for name in noisy}})


def describe_repeats(tracks: Sequence[Track], model: ModelAdapter) -> str | None:
    """Return that the answers of several clean tracks do not differ, and why; None where they do."""
    repeats = [track.rows for track in tracks]
    if getattr(model, "deterministic", False):
        return (
            f"{model.name} answers greedily on this machine, so its {len(repeats)} answers to a clean text are equal "
            "by construction: it was asked once, and chance has no part"
        )
    answers = [[row["response"] for row in rows] for rows in repeats]
    if any(other != answers[0] for other in answers):
        return None
    return f"the {len(repeats)} answers of {model.name} to each of {len(answers[0]):,} clean texts are equal"
