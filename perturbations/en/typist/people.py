"""People at a keyboard: how much goes wrong with each, what they let stand, and what they do not bother with.

Person number n is a pure function of n: annotator 7 is the same in every text and everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lapsus.perturbations.hashed_draws import GOLDEN, HALF, mixed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from lapsus.perturbations.hashed_draws import Words

TRAITS = ("haste", "unseen", "small", "open", "blank")
"""How hasty a person is, how much of what goes wrong stays unseen, how often a capital or the last mark is left out,
and a blank typed after the text: each a factor that is 1 on average."""
OF_A_TEXT = ("haste", "unseen", "small")  # what also differs from one text to the next
BY_HASTE = {"fingers": 1.25, "mind": 0.8, "small": 0.8, "open": 0.6, "blank": 0.2}
"""The power of haste with which slips of each source grow: from the people who slip least to those who slip most, wrong
keys become more frequent than wrong words, and the blank at the end hardly so (benchmarks/fit_en_keyboard.py)."""


def shares(begin: Words, draw: int) -> NDArray[np.float64]:
    """Return one draw of each stream, as numbers from 0 up to 1."""
    return (mixed(begin + np.array([draw], np.uint64) * GOLDEN) >> HALF).astype(np.float64) / 2**32


def factors(
    population: Mapping[str, NDArray[np.float64]], texts: Words, who: int, rate: float
) -> dict[str, NDArray[np.float64]]:
    """Return by what each source of slips is multiplied in each text, and the odds that one stays, as "unseen".

    Args:
        population: The quantiles of each trait, evenly spaced from 0 to 1; of a text's own as "TRAIT in a text".
        texts: Where the streams of the texts start.
        who: The number of the person who types them, or 0 for another person in each.
        rate: A factor of the haste.
    """
    person = mixed(np.full(len(texts), who, np.uint64) if who else texts ^ GOLDEN)
    found = {trait: _at(population[trait], shares(person, draw)) for draw, trait in enumerate(TRAITS, 1)}
    for draw, trait in enumerate(OF_A_TEXT, 1):
        found[trait] *= _at(population[f"{trait} in a text"], shares(texts, draw))
    haste = found.pop("haste") * rate
    return {"unseen": found["unseen"]} | {
        source: found.get(source, 1.0) * haste**power for source, power in BY_HASTE.items()
    }


def _at(quantiles: NDArray[np.float64], share: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.interp(share * (len(quantiles) - 1), np.arange(len(quantiles)), quantiles)
