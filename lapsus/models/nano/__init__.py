"""NANO (Sun et al., ACL 2023): a metric whose model first learns which language and dialect a sentence is in.

Two phases follow each other on any encoder-decoder (`first_token`): sentences with tags, then rated translations. What
is left out of the first phase is the metric without NANO. The tag given when a text is scored is that of the language
in general, or of the dialect that is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypeVar

from lapsus.models.first_token import USUAL, FirstToken, Regressor, Training, about, fit
from lapsus.models.nano.ratings import Rated, examples
from lapsus.models.nano.tags import Sentence, tagged
from lapsus.models.tagged_inputs import INPUTS, tag

R = TypeVar("R", bound=Regressor)

__all__ = ["INPUTS", "Nano", "Rated", "Sentence", "Training", "agreement", "finetuned", "pretrained", "tag"]


@dataclass(frozen=True, slots=True)
class Nano:
    """A model that rates translations; `form` says what it reads besides the candidate: within, qe or qe-ref."""

    model: Regressor
    form: str = "within"

    def score(
        self,
        candidates: Sequence[str],
        references: Sequence[str] | None,
        sources: Sequence[str] | None,
        tags: Sequence[str],
    ) -> list[float]:
        """Return a rating of each candidate, around 0 to 1."""
        blank = [""] * len(candidates)
        columns = zip(candidates, references or blank, sources or blank, tags, strict=True)
        return self.model.predict(
            [INPUTS[self.form].format(candidate=c, reference=r, source=s, tag=t) for c, r, s, t in columns]
        )

    def save(self, folder: str | PathLike[str]) -> None:
        """Write the model to a folder."""
        if not isinstance(self.model, FirstToken):
            raise TypeError(f"{type(self.model).__name__} has no file; train an encoder-decoder to keep it")
        self.model.save(folder, {"form": self.form})

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Nano:
        """Read what `save` wrote."""
        form = str(about(folder).get("form"))
        if form not in INPUTS:
            raise ValueError(f"{folder} holds no model that rates translations; give a folder that Nano.save wrote")
        return cls(FirstToken.load(folder), form)


def pretrained(
    begun: R,
    sentences: Sequence[Sentence],
    training: Training = USUAL,
    *,
    balance: float = 1.0,
    positive: float = 0.5,
    times: int = 1,
    seed: int = 0,
    **more: Any,
) -> R:
    """Return a model that has learnt whether a tag is a sentence's own; `tagged` says what the options mean."""
    inputs = tagged(sentences, balance=balance, positive=positive, times=times, seed=seed)
    return fit(begun, inputs, training, seed=seed, **more)


def finetuned(
    begun: Regressor,
    rated: Sequence[Rated],
    training: Training = USUAL,
    *,
    form: str = "within",
    dev: Sequence[Rated] = (),
    seed: int = 0,
    **more: Any,
) -> Nano:
    """Return a metric that has learnt ratings; with `dev` the weights that agree best with it are kept."""
    if form not in INPUTS:
        raise ValueError(f"form is {form!r}: choose one of {', '.join(INPUTS)}")
    if dev:
        more["dev"] = lambda made: agreement(Nano(made, form), dev)
    return Nano(fit(begun, examples(rated, form), training, seed=seed, **more), form)


def agreement(metric: Nano, rated: Sequence[Rated]) -> float:
    """Return Kendall's tau-b between a metric and ratings; a metric that always says the same has 0."""
    from scipy.stats import kendalltau

    found = metric.model.predict([text for text, _ in examples(rated, metric.form)])
    tau = float(kendalltau(found, [each.rating for each in rated]).statistic)
    return tau if tau == tau else 0.0  # noqa: PLR0124 - not a number
