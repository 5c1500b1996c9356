"""What the noise of a track is: how many texts it changed, and which operators, or people, wrote it.

>>> parse_operators("EnKeyboard(who=1, layout=Keys(rows=3), name='en_keyboard', version='1') seed=0")
['en_keyboard 1']
>>> parse_operators("loud: Shout(version='2') seed=0 then en_keyboard@0.5"), parse_operators("person: Ann")
(['Shout 2', 'en_keyboard'], [])
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lapsus.reporting.analysis.records import NoiseOrigin
from lapsus.reporting.score_table import count_known_texts

if TYPE_CHECKING:
    from lapsus.reporting.score_table import TrackScores

PERSON = "person: "  # what a row says that a person wrote
CALL = re.compile(r"(\w*)\(([^()]*)\)")  # the innermost first
SETTING = re.compile(r"\b(name|version)='([^']*)'")


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


def parse_operators(origin: str) -> list[str]:
    """Return the operators, each with its version where it is known, that the column `operator` of a row names."""
    operators: dict[str, None] = {}
    for part in origin.split(" then "):
        if part.startswith(PERSON):
            continue
        rest, calls = part, []
        while match := CALL.search(rest):
            settings = dict(SETTING.findall(match[2]))
            if "version" in settings:
                calls.append(f"{settings.get('name', match[1])} {settings['version']}")
            rest = rest[: match.start()] + rest[match.end() :]
        plain = re.split(r"[:@(\s]", part.strip(), maxsplit=1)[0]
        operators |= dict.fromkeys(calls or filter(None, [plain]))
    return list(operators)
