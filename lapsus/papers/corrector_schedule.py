"""How long a corrector learns, and from what; apart from the training, as the command line shows it without torch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long to learn, and from what.

    Args:
        copies: How often each person types each text.
        epochs: How often each of these is read.
        batch_size: Texts that are read at once.
        learning_rate: How far a batch moves the weights.
    """

    copies: int = 2
    epochs: int = 3
    batch_size: int = 128
    learning_rate: float = 2e-3


DEFAULT_SCHEDULE = Schedule()
