"""NATURE's operators for spoken English: one of them, applied once, to an utterance."""

from __future__ import annotations

from lapsus.perturbations.core import Mixture, Operator
from lapsus.perturbations.en.fillers import NATURE_FILLERS as FILLERS
from lapsus.perturbations.en.speako import NATURE_SPEAKO as SPEAKO
from lapsus.perturbations.en.synonyms import NATURE_SYNONYMS as SYNONYMS

NATURE: tuple[Operator, ...] = (*FILLERS, *SYNONYMS, SPEAKO)


def random_operator(index: int) -> Mixture:
    """Return the operator of the set `random.<index>`: each utterance gets one of NATURE's operators.

    >>> random_operator(3).name
    'random.3'
    """
    return Mixture(f"random.{index}", NATURE, version="2")


UNITS = tuple(random_operator(index) for index in range(10))
