"""Order on the page: models in one order everywhere, doses of one noise in one plot, numbers in names ascending."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lapsus.results.measuring.records import Numbers, TrackScore
from lapsus.results.track_names import CLEAN

FEWEST_DOSES = 3


class Panel(NamedTuple):
    """What one plot shows: a family of noise, or several doses of one noise; a family's dose is None."""

    title: str
    families: tuple[tuple[float | None, str], ...]


def clean_scores(tracks: Sequence[TrackScore]) -> dict[str, float | None]:
    """Return what each model scores on the clean track that noise is compared with, not on its repeats (`clean.2`)."""
    clean = sorted((record for record in tracks if record.clean), key=lambda record: record.track not in CLEAN)
    return {record.model: record.average.value for record in reversed(clean)}


def model_order(numbers: Numbers) -> list[str]:
    """Return the models, those that score best on clean text first."""
    clean = clean_scores(numbers.tracks)
    models = dict.fromkeys(record.model for record in numbers.tracks)
    return sorted(models, key=lambda model: -(clean.get(model) or 0.0))


def panels(families: Iterable[str]) -> list[Panel]:
    """Return the plots that families are drawn in: one each, and one for three or more doses of one noise.

    A dose is a percentage at the end of a name, or a severity behind "@".

    >>> [panel.title for panel in panels(["typing", "sounds_5%", "sounds_10%", "sounds_20%"])]
    ['typing', 'sounds']
    """
    names = list(dict.fromkeys(families))
    doses: dict[tuple[str, str], list[tuple[float, str]]] = {}
    place: dict[str, tuple[str, str]] = {}
    for name in names:
        found = re.fullmatch(r"(.+?)[_ -]?(\d+(?:\.\d+)?)(%)", name) or re.fullmatch(r"(.+?)@(\d+(?:\.\d+)?)()", name)
        if found:
            place[name] = (found[1], found[3])
            doses.setdefault(place[name], []).append((float(found[2]), name))
    drawn: dict[str, Panel] = {}
    for name in names:
        series = sorted(doses[place[name]]) if name in place else []
        title, unit = place.get(name, (name, ""))
        if len(series) >= FEWEST_DOSES:
            drawn[f"{title}@{unit}"] = Panel(title, tuple(series))
        else:
            drawn[name] = Panel(name, ((None, name),))
    return list(drawn.values())


def addresses(key: str, families: Iterable[str]) -> dict[str, str]:
    """Return where on the page the plot of each family is.

    >>> addresses("d0", ["typing", "speech"])["speech"]
    'd0-overview-1'
    """
    return {
        family: f"{key}-overview-{number}"
        for number, panel in enumerate(panels(families))
        for _, family in panel.families
    }


def natural(text: str) -> tuple[tuple[int, float, str], ...]:
    """Return a sort key that orders numbers in a text by value.

    >>> sorted(["10 to 20", "9", "over 20", "100"], key=natural)
    ['9', '10 to 20', '100', 'over 20']
    """
    parts = re.split(r"(\d+(?:\.\d+)?)", text)
    return tuple((0, float(part), "") if number % 2 else (1, 0.0, part) for number, part in enumerate(parts) if part)
