"""Operators that turn clean text into what people really type and say.

>>> apply("slow down", perturb(OPERATORS["filler_eos"], "slow down", key="row-7"))
'slow down would you ?'
"""

from lapsus.perturbations.core import Edit, Frame, Mixture, Operator, apply, moved, perturb, perturb_batch
from lapsus.perturbations.discovery import OPERATORS
from lapsus.perturbations.noise import Noise
from lapsus.perturbations.tokens import apply_tags, apply_tokens, perturb_tokens

__all__ = [
    "OPERATORS",
    "Edit",
    "Frame",
    "Mixture",
    "Noise",
    "Operator",
    "apply",
    "apply_tags",
    "apply_tokens",
    "moved",
    "perturb",
    "perturb_batch",
    "perturb_tokens",
]
