"""Noise as the command line spells it: `OPERATOR[:ANNOTATORS][@SEVERITY]`.

`zh_keyboard:3` is three annotators, `filler_eos:2` two seeds, `zh_homophone@0.3` one track at a rate of 0.3.
"""

from __future__ import annotations

import math
import re
from dataclasses import fields, is_dataclass, replace
from typing import NamedTuple

from lapsus.perturbations.core import Operator
from lapsus.perturbations.discovery import OPERATORS

SPEC = re.compile(r"(?P<name>[^:@=\s]+)(:(?P<count>[0-9]+))?(@(?P<severity>[^:@=\s]+))?")
MOST = 1000  # tracks of one spec; each becomes a config


class NoiseTrack(NamedTuple):
    """One operator with one seed, and what the track's name ends with: ".1" to ".N", or nothing where it is alone."""

    suffix: str
    operator: Operator
    seed: int


def tracks_of(spec: str) -> tuple[NoiseTrack, ...]:
    """Return the tracks that `OPERATOR[:ANNOTATORS][@SEVERITY]` stands for.

    ANNOTATORS asks for that many tracks: the operator's annotators 1 to N where it has any, otherwise the seeds 1
    to N. Without it there is one track: the operator as `lapsus list` shows it, with seed 0, as `lapsus perturb` has
    it. SEVERITY is the operator's setting `rate`.

    >>> [(suffix, operator.who, operator.rate, seed) for suffix, operator, seed in tracks_of("zh_keyboard:2@0.5")]
    [('.1', 1, 0.5, 0), ('.2', 2, 0.5, 0)]
    >>> [(suffix, operator.name, seed) for suffix, operator, seed in tracks_of("filler_eos:2")]
    [('.1', 'filler_eos', 1), ('.2', 'filler_eos', 2)]
    >>> [(suffix, operator.rate, seed) for suffix, operator, seed in tracks_of("zh_homophone@0.3")]
    [('', 0.3, 0)]
    """
    found = SPEC.fullmatch(spec)
    if not found:
        raise ValueError(f"{spec!r} is no noise; write OPERATOR[:ANNOTATORS][@SEVERITY], such as zh_keyboard:3@0.5")
    operator = OPERATORS[found["name"]]
    rate = None if found["severity"] is None else _severity(operator, found["severity"], spec)
    if found["count"] is None:
        return (NoiseTrack("", _at(operator, rate), 0),)
    count = int(found["count"])
    if not 1 <= count <= MOST:
        raise ValueError(f"{spec!r} asks for {count} annotators; give a number from 1 to {MOST}")
    annotator = getattr(type(operator), "annotator", None)
    if annotator is None:
        return tuple(NoiseTrack(f".{n}", _at(operator, rate), n) for n in range(1, count + 1))
    return tuple(NoiseTrack(f".{n}", _at(annotator(n), rate), 0) for n in range(1, count + 1))


def _severity(operator: Operator, value: str, spec: str) -> float:
    if not (is_dataclass(operator) and any(field.name == "rate" for field in fields(operator))):
        raise ValueError(f"{operator.name} has no severity, so {spec!r} cannot be made; leave @{value} out")
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
    changed: Operator = replace(operator, rate=rate)  # type: ignore[type-var]
    return changed
