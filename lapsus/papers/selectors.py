"""The model by whose errors NATURE's hard set is chosen; found by the entry point `lapsus.selectors`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lapsus.core.imports import import_optional

if TYPE_CHECKING:
    from lapsus.papers.slu import SluModel


@dataclass(frozen=True, slots=True)
class SluTrainer:
    """Trains the joint model of intents and slots on the original split."""

    name: str = "slu_model"

    @property
    def version(self) -> str:
        """What computes the weights; another version may give others."""
        return f"torch={import_optional('torch', 'papers', 'the config hard').__version__}"

    def train(self, examples: Sequence[Mapping[str, Any]], dev: Sequence[Mapping[str, Any]]) -> SluModel:
        """Train on rows of `tokens`, `tags` and `intent`."""
        from lapsus.papers.slu import train

        return train(examples, dev)


UNITS = (SluTrainer(),)
