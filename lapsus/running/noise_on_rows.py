"""Noise on the rows of any task: new tracks beside the clean one, keyed by id, with slots kept.

>>> from lapsus.running.tasks import own_task
>>> data = Data.of_rows("mine", own_task(["text"], "label"), [{"id": "a", "text": "slow down", "label": "drive"}])
>>> noisy = with_noise(data, ["filler_eos:2"])
>>> [(name, rows[0]["text"]) for name, rows in noisy.tracks.items()]
[('clean', 'slow down'), ('filler_eos.1', 'slow down pretty please'), ('filler_eos.2', 'slow down right away')]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from lapsus.perturbations import Noise, tracks_of
from lapsus.perturbations.noise import in_turn
from lapsus.running.data import Data, Row

BATCH = 1000


def with_noise(data: Data, specs: Sequence[str], *, seed: int = 0) -> Data:
    """Return the data with a track for each annotator of each OPERATOR[:ANNOTATORS][@SEVERITY][+...]."""
    clean = next(iter(data.tracks.values()))
    made: dict[str, Sequence[Row]] = {}
    for spec in specs:
        for track in tracks_of(spec):
            name = f"{track_name(spec)}{track.suffix}"
            if name in data.tracks or name in made:
                raise ValueError(f"there are two tracks called {name!r}; give each noise once")
            made[name] = list(noisy(data, clean, track.noises(seed=seed, key="id")))
    return replace(data, tracks={**data.tracks, **made}, seed=seed if made else data.seed)


def track_name(spec: str) -> str:
    """Return what the tracks of a spec are called: the operators, each with its severity in percent.

    >>> track_name("zh_homophone:3@0.3"), track_name("zh_speech:3+zh_homophone@0.1")
    ('zh_homophone_30%', 'zh_speech+zh_homophone_10%')
    """
    names = []
    for part in spec.split("+"):
        name, _, severity = part.partition("@")
        names.append(name.partition(":")[0] + (f"_{float(severity) * 100:g}%" if severity else ""))
    return "+".join(names)


def noisy(data: Data, rows: Sequence[Row], noises: Sequence[Noise]) -> Iterator[Row]:
    """Yield the rows with noise in the columns that a user wrote."""
    inputs = data.task.inputs
    tokens = isinstance(rows[0][inputs[0]], list)
    if tokens and "tags" not in rows[0]:
        raise LookupError(
            f"column {inputs[0]!r} of {data.name} holds tokens, but there is no column 'tags' to keep beside them; "
            "join the tokens into a text, or give tags"
        )
    column, tags = inputs[0] if len(inputs) == 1 else inputs, "tags" if tokens else None
    noises = [replace(each, column=column, tags=tags) for each in noises]
    columns = (*inputs, "id", *(["tags"] if tokens else []))
    for start in range(0, len(rows), BATCH):
        some = rows[start : start + BATCH]
        batch: dict[str, list[Any]] = {name: [row[name] for row in some] for name in columns}
        made = in_turn(noises, batch)
        for place, row in enumerate(some):
            yield {**row, **{name: values[place] for name, values in made.items()}}
