"""Metrics under test: what rates a text, behind one function, opened by a word such as `chrf` or `bertscore:PATH`.

`score(candidates, references, sources, tags)` returns a number per candidate, the higher the better. A metric says what
it reads besides the candidate. Its package is imported when it is opened. A kind of metric is a `MetricProvider` in the
tuple `UNITS` of a module here, or of another package's module that the entry point `lapsus.text_metrics` names.

>>> metric = open_metric("chrf")
>>> [round(each) for each in metric.score(["the tram", "a train"], ["the tram", "the tram"])]
[100, 17]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal, Protocol

from lapsus.core.messages import format_unknown_name
from lapsus.core.plugins import load_units

Texts = Sequence[str]
Reads = Literal["references", "sources", "tags"]


@dataclass(frozen=True, slots=True)
class MetricInput:
    """What is to be rated, and what is known of it; empty is what a metric does not read or was not given."""

    candidates: Texts
    references: Texts = ()
    sources: Texts = ()
    tags: Texts = ()


def format_tag(language: str, region: str = "") -> str:
    """Return the tag of a dialect, or of a language in general.

    >>> format_tag("zh", "TW"), format_tag("zh")
    ('zh-TW', 'zh-any')
    """
    return f"{language}-{region or 'any'}"


class TextMetric(Protocol):
    """Something that rates texts."""

    @property
    def name(self) -> str:
        """What the metric is called in tables."""
        ...

    @property
    def required(self) -> tuple[Reads, ...]:
        """What it cannot rate without."""
        ...

    @property
    def optional(self) -> tuple[Reads, ...]:
        """What it reads if it is there, beyond what it needs."""
        ...

    def score(
        self,
        candidates: Texts,
        references: Texts | None = None,
        sources: Texts | None = None,
        tags: Texts | None = None,
    ) -> list[float]:
        """Return a number per candidate, the higher the better.

        Args:
            candidates: The texts to rate.
            references: What each should say, in its own language.
            sources: What each was translated from.
            tags: The language or dialect that each should be in, such as zh-any or zh-TW.
        """
        ...


@dataclass(frozen=True, slots=True)
class FunctionMetric:
    """A metric made of a function: what is missing, or not of one length, is refused before it is asked."""

    name: str
    rate: Callable[[MetricInput], Sequence[float]]
    required: tuple[Reads, ...] = ("references",)
    optional: tuple[Reads, ...] = ()

    def score(
        self,
        candidates: Texts,
        references: Texts | None = None,
        sources: Texts | None = None,
        tags: Texts | None = None,
    ) -> list[float]:
        """Return a number per candidate."""
        inputs = {"references": references, "sources": sources, "tags": tags}
        for need in self.required:
            if inputs[need] is None:
                raise ValueError(f"{self.name} reads {need}, which were not given; give them, or take another metric")
        for name, texts in inputs.items():
            if texts is not None and len(texts) != len(candidates):
                raise ValueError(f"{len(candidates)} candidates have {len(texts)} {name}; give one for each")
        if not candidates:
            return []
        metric_inputs = {
            name: texts
            for name, texts in inputs.items()
            if texts is not None and name in (*self.required, *self.optional)
        }
        texts_to_compare = {"references", "sources"}
        if not texts_to_compare & {*self.required, *metric_inputs} and texts_to_compare & {*self.optional}:
            raise ValueError(f"{self.name} reads references or sources, and neither was given; give one of them")
        scores = [float(each) for each in self.rate(MetricInput(candidates, **metric_inputs))]
        if len(scores) != len(candidates):
            raise ValueError(
                f"{self.name} gave {len(scores)} numbers for {len(candidates)} texts; it must give one each"
            )
        bad_index = next((index for index, each in enumerate(scores) if not isfinite(each)), None)
        if bad_index is not None:
            raise ValueError(
                f"{self.name} gave {scores[bad_index]} for {candidates[bad_index]!r}; it must give a finite number"
            )
        return scores


@dataclass(frozen=True, slots=True)
class MetricProvider:
    """A kind of metric: `open` takes what stands behind `name:`, which is empty for the name alone."""

    name: str
    usage: str
    summary: str
    open: Callable[[str], TextMetric]


def load_metric_providers() -> dict[str, MetricProvider]:
    """Return every kind of metric by its name."""
    return dict(
        sorted(load_units("lapsus.evaluation.text_metrics", "lapsus.text_metrics", lambda kind: kind.name).items())
    )


def open_metric(spec: str) -> TextMetric:
    """Return the metric that a word names.

    >>> open_metric("chr")
    Traceback (most recent call last):
    ...
    LookupError: there is no metric 'chr'; did you mean chrf? (known: ...
    """
    providers = load_metric_providers()
    name, _, rest = spec.partition(":")
    if name not in providers:
        raise LookupError(format_unknown_name("metric", name, providers))
    provider = providers[name]
    if not rest and ":" in provider.usage.partition("[")[0]:
        raise ValueError(f"{name} alone names no model; write {provider.usage}")
    return provider.open(rest)
