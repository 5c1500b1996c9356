"""What was fitted to typing logs, ready for use: how often which slip happens where, and what is written then."""

from __future__ import annotations

import json
from bisect import bisect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.perturbations.en.typist.places import PARTS, SIZE

DATA = Path(__file__).parents[1] / "data"
FITTED = DATA / "en_keyboard.json"
WORDS = DATA / "words.txt"
SOURCE_OF = {
    **dict.fromkeys(("other", "next", "omit", "swap", "space", "cut_word", "add_word"), "mind"),
    "lower": "small",
    "open": "open",
    "after_end": "blank",
}
"""Where a kind of slip comes from; all others from the fingers."""
MOST = 0.5  # chance of one kind of slip at one key
Floats = NDArray[np.float64]


class Options(NamedTuple):
    """What can be written, and how likely each option or an earlier one is."""

    texts: tuple[str, ...]
    upto: tuple[float, ...]

    def pick(self, share: float) -> str:
        """Return the option at a share from 0 to 1.

        >>> Options(("a", "b"), (1.0, 4.0)).pick(0.5)
        'b'
        """
        return self.texts[min(bisect(self.upto, share * self.upto[-1]), len(self.texts) - 1)]


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """The fitted typist.

    Args:
        kinds: The kinds of slips, in the order in which they are drawn.
        made: The chance of each kind at each place.
        stays: The odds that such a slip is not taken back by somebody who can.
        of_source: The chance at each place of all kinds that come from one source.
        written: What is written by a kind of slip, by the class of the character.
        shares: Single numbers, by name.
        people: For each trait, the quantiles of its factor in the population.
        words: What looks right at a glance.
    """

    kinds: tuple[str, ...]
    made: Floats
    stays: Floats
    of_source: Mapping[str, Floats]
    written: Mapping[str, Mapping[str, Options]]
    shares: Mapping[str, float]
    people: Mapping[str, Floats]
    words: frozenset[str]

    @classmethod
    def of(cls, fitted: Mapping[str, Any]) -> Model:
        """Return the model that a fit wrote down."""
        kinds = tuple(fitted["slips"])
        made, left = (_chances(fitted[part], kinds) for part in ("slips", "left"))
        stays = np.clip(np.divide(left, made, out=np.zeros_like(left), where=made > 0), 0, 0.999)
        sources = np.array([source_of(kind) for kind in kinds])
        return cls(
            kinds,
            made,
            stays / (1 - stays),
            {source: made[:, sources == source].sum(axis=1) for source in sorted(set(sources.tolist()))},
            {
                kind: {
                    name: Options(tuple(weights), tuple(accumulate(weights.values())))
                    for name, weights in by_class.items()
                }
                for kind, by_class in fitted["written"].items()
            },
            fitted["shares"],
            {trait: np.array(quantiles) for trait, quantiles in fitted["people"].items()},
            frozenset(WORDS.read_text(encoding="utf-8").split()),
        )


@cache
def load() -> Model:
    """Return what `benchmarks/fit_en_keyboard.py` found in the logs of 1,160 typists (Dhakal et al. 2018)."""
    return Model.of(json.loads(FITTED.read_text(encoding="utf-8")))


def source_of(kind: str) -> str:
    """Return what a kind of slip comes from.

    >>> source_of("beside"), source_of("lower")
    ('fingers', 'small')
    """
    return SOURCE_OF.get(kind, "fingers")


def _chances(rates: Mapping[str, Any], kinds: tuple[str, ...]) -> Floats:
    """Return the chance of each kind at each place: a product of what the parts of a place contribute."""
    found = np.zeros((SIZE, len(kinds)))
    for number, kind in enumerate(kinds):
        rate = rates[kind]
        parts = np.full(PARTS, rate["rate"])
        for axis, of_part in enumerate(rate["parts"]):
            parts *= np.array(of_part).reshape([-1 if axis == other else 1 for other in range(len(PARTS))])
        found[:, number] = parts.reshape(-1)
        for place, factor in rate["cells"].items():
            found[int(place), number] *= factor
    found[: found.shape[0] // PARTS[0]] = 0  # the unknown class
    return np.minimum(found, MOST)
