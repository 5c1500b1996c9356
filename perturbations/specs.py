"""Noise as the command line spells it: `OPERATOR[:ANNOTATORS][@SEVERITY]`, and several joined by `+`.

`zh_keyboard:3` is three annotators, `filler_eos:2` two seeds, `zh_homophone@0.3` one track at a rate of 0.3, and
`zh_speech:3+zh_homophone@0.1` homophones on what each of three speakers dictated.
"""

from __future__ import annotations

import math
import re
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple

from lapsus.perturbations.core import Operator
from lapsus.perturbations.discovery import OPERATORS
from lapsus.perturbations.noise import Noise
from lapsus.perturbations.thinned import Thinned

SPEC = re.compile(r"(?P<name>[^:@=+\s]+)(:(?P<count>[0-9]+))?(@(?P<severity>[^:@=+\s]+))?")
MOST = 1000  # tracks of one spec; each becomes a config


class NoiseStep(NamedTuple):
    """One operator with one seed."""

    operator: Operator
    seed: int


class NoiseTrack(NamedTuple):
    """Operators in the order in which they are put on a text, and what the name of the track ends with.

    `suffix` is ".1" to ".N", or nothing where the track is alone.
    """

    suffix: str
    steps: tuple[NoiseStep, ...]

    def noises(self, *, seed: int = 0, **settings: Any) -> tuple[Noise, ...]:
        """Return the noise of each step, for `in_turn`; `settings` are those of `Noise`."""
        return tuple(Noise(step.operator, seed=seed + step.seed, **settings) for step in self.steps)


def tracks_of(spec: str) -> tuple[NoiseTrack, ...]:
    """Return the tracks that `OPERATOR[:ANNOTATORS][@SEVERITY]`, or several joined by `+`, stand for.

    ANNOTATORS asks for that many tracks: the operator's annotators 1 to N where it has any, otherwise the seeds 1
    to N. Without it there is one track: the operator as `lapsus list` shows it, with seed 0, as `lapsus perturb` has
    it. SEVERITY is the operator's setting `rate`; of an operator without one, the share of its edits that stay. Of
    several operators each is put on what the ones before made; one without ANNOTATORS is the same in all tracks.

    >>> [(track.suffix, step.operator.who, step.operator.rate, step.seed)
    ...  for track in tracks_of("zh_keyboard:2@0.5") for step in track.steps]
    [('.1', 1, 0.5, 0), ('.2', 2, 0.5, 0)]
    >>> [(track.suffix, [(step.operator.name, step.seed) for step in track.steps])
    ...  for track in tracks_of("filler_eos:2+speako")]
    [('.1', [('filler_eos', 1), ('speako', 0)]), ('.2', [('filler_eos', 2), ('speako', 0)])]
    """
    parts = spec.split("+")
    found = [SPEC.fullmatch(part) for part in parts]
    if not all(found):
        raise ValueError(
            f"{spec!r} is no noise; write OPERATOR[:ANNOTATORS][@SEVERITY], such as zh_keyboard:3@0.5, "
            "and + between several"
        )
    tracks = [_single(match, part) for match, part in zip(found, parts, strict=True) if match]
    several = {len(each) for each in tracks if each[0].suffix}
    if len(several) > 1:
        raise ValueError(f"{spec!r} asks for {' and for '.join(map(str, sorted(several)))} annotators; give one number")
    count = max(several, default=1)
    every = [each if each[0].suffix else each * count for each in tracks]
    return tuple(
        NoiseTrack(max(track.suffix for track in together), tuple(step for track in together for step in track.steps))
        for together in zip(*every, strict=True)
    )


def _single(found: re.Match[str], spec: str) -> tuple[NoiseTrack, ...]:
    """Return the tracks of one operator."""
    operator = OPERATORS[found["name"]]
    rate = None if found["severity"] is None else _severity(found["severity"], spec)
    if found["count"] is None:
        return (NoiseTrack("", (NoiseStep(_at(operator, rate), 0),)),)
    count = int(found["count"])
    if not 1 <= count <= MOST:
        raise ValueError(f"{spec!r} asks for {count} annotators; give a number from 1 to {MOST}")
    annotator = getattr(type(operator), "annotator", None)
    if annotator is None:
        return tuple(NoiseTrack(f".{n}", (NoiseStep(_at(operator, rate), n),)) for n in range(1, count + 1))
    return tuple(NoiseTrack(f".{n}", (NoiseStep(_at(annotator(n), rate), 0),)) for n in range(1, count + 1))


def _severity(value: str, spec: str) -> float:
    try:
        rate = float(value)
    except ValueError:
        rate = math.nan
    if not math.isfinite(rate):
        raise ValueError(f"the severity {value!r} of {spec!r} is no number; write one such as @0.5")
    return rate


def _at(operator: Operator, rate: float | None) -> Operator:
    """Return the operator at a rate; the operator itself knows which rates it takes."""
    if rate is None:
        return operator
    if not (is_dataclass(operator) and any(field.name == "rate" for field in fields(operator))):
        return Thinned(operator, rate)
    changed: Operator = replace(operator, rate=rate)
    return changed
