"""Less of any operator: each of its edits stays with the same probability."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from lapsus.perturbations.core import Edit, Frame, Operator, edits_of


@dataclass(frozen=True, slots=True)
class Thinned:
    """An operator of whose edits each stays with the probability `rate`; a higher rate only adds edits.

    The edits are among those that the operator makes of the same text with the same seed and key.

    >>> from lapsus.perturbations.core import Shout, perturb
    >>> [len(perturb(Thinned(Shout(), rate), "slow down", key="a")) for rate in (0, 1)]
    [0, 1]
    """

    operator: Operator
    rate: float

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 1:
            raise ValueError(
                f"the severity of {self.operator.name} is {self.rate}; give the share of its edits, from 0 to 1"
            )

    @property
    def name(self) -> str:
        """The operator's, so that both draw from the same stream."""
        return self.operator.name

    @property
    def version(self) -> str:
        """The operator's."""
        return self.operator.version

    @property
    def needs(self) -> str:
        """What must be installed for the operator."""
        return str(getattr(self.operator, "needs", ""))

    def untouched(self, text: str) -> str:
        """Say why the operator leaves a text as it is; nothing where it does not say."""
        return str(getattr(self.operator, "untouched", lambda _: "")(text))

    def edits(self, text: str, rng: Random) -> Iterable[Edit]:
        """Propose some of what the operator proposes."""
        return next(iter(self.edits_framed([text], [rng], [Frame()])))

    def edits_framed(
        self, texts: Sequence[str], rngs: Sequence[Random], frames: Sequence[Frame]
    ) -> Iterator[tuple[Edit, ...]]:
        """Propose some of what the operator proposes for each text; one draw per edit, after the operator's own."""
        for edits, rng in zip(edits_of(self.operator, texts, rngs, frames), rngs, strict=True):
            yield tuple(edit for edit in edits if rng.random() < self.rate)
