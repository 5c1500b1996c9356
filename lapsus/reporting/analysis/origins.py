"""What the noise of a track is: how many texts it changed, and which operators, or people, wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lapsus.core.origins import PERSON, parse_operators
from lapsus.reporting.analysis.records import NoiseOrigin
from lapsus.reporting.score_table import count_known_texts

if TYPE_CHECKING:
    from lapsus.reporting.score_table import TrackScores


def describe_origin(run: TrackScores, clean: TrackScores | None) -> NoiseOrigin | None:
    """Return what is known of the noise of a track; None of a clean track, and where its rows say nothing."""
    if run.is_clean:
        return None
    known = count_known_texts(run, clean)
    column = run.groups.get("operator")
    origins = [] if column is None else list(column.words.values())
    operators = dict.fromkeys(name for origin in origins for name in parse_operators(origin))
    people = any(origin.startswith(PERSON) for origin in origins)
    if not known and not origins:
        return None
    return NoiseOrigin(known or None, tuple(operators), people)
