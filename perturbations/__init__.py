"""Operators that turn clean text into what people really type and say."""

from lapsus.perturbations.core import Edit, Operator, apply, perturb, perturb_batch

__all__ = ["Edit", "Operator", "apply", "perturb", "perturb_batch"]
