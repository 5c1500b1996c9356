"""Metrics under test: what rates a text, behind one function, opened by a word such as `chrf` or `bertscore:PATH`.

`score(candidates, references, sources, tags)` returns a number per candidate, the higher the better. A metric says what
it reads besides the candidate. Its package is imported when it is opened. A kind of metric is a `MetricKind` in the
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

from lapsus.kernel.names import unknown
from lapsus.kernel.units import units

Texts = Sequence[str]
Reads = Literal["references", "sources", "tags"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be rated, and what is known of it; empty is what a metric does not read or was not given."""

    candidates: Texts
    references: Texts = ()
    sources: Texts = ()
    tags: Texts = ()


class TextMetric(Protocol):
    """Something that rates texts."""

    @property
    def name(self) -> str:
        """What the metric is called in tables."""
        ...

    @property
    def needs(self) -> tuple[Reads, ...]:
        """What it cannot rate without."""
        ...

    @property
    def takes(self) -> tuple[Reads, ...]:
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
class Rated:
    """A metric made of a function: what is missing, or not of one length, is refused before it is asked."""

    name: str
    rate: Callable[[Asked], Sequence[float]]
    needs: tuple[Reads, ...] = ("references",)
    takes: tuple[Reads, ...] = ()

    def score(
        self,
        candidates: Texts,
        references: Texts | None = None,
        sources: Texts | None = None,
        tags: Texts | None = None,
    ) -> list[float]:
        """Return a number per candidate."""
        given = {"references": references, "sources": sources, "tags": tags}
        for need in self.needs:
            if given[need] is None:
                raise ValueError(f"{self.name} reads {need}, which were not given; give them, or take another metric")
        for name, texts in given.items():
            if texts is not None and len(texts) != len(candidates):
                raise ValueError(f"{len(candidates)} candidates have {len(texts)} {name}; give one for each")
        if not candidates:
            return []
        read = {
            name: texts for name, texts in given.items() if texts is not None and name in (*self.needs, *self.takes)
        }
        if not self.needs and not read.keys() & {"references", "sources"}:
            raise ValueError(f"{self.name} reads references or sources, and neither was given; give one of them")
        found = [float(each) for each in self.rate(Asked(candidates, **read))]
        if len(found) != len(candidates):
            raise ValueError(
                f"{self.name} gave {len(found)} numbers for {len(candidates)} texts; it must give one each"
            )
        wrong = next((place for place, each in enumerate(found) if not isfinite(each)), None)
        if wrong is not None:
            raise ValueError(f"{self.name} gave {found[wrong]} for {candidates[wrong]!r}; it must give a finite number")
        return found


@dataclass(frozen=True, slots=True)
class MetricKind:
    """A kind of metric: `open` takes what stands behind `name:`, which is empty for the name alone."""

    name: str
    form: str
    summary: str
    open: Callable[[str], TextMetric]


def metric_kinds() -> dict[str, MetricKind]:
    """Return every kind of metric by its name."""
    return dict(sorted(units("lapsus.models.text_metrics", "lapsus.text_metrics", lambda kind: kind.name).items()))


def open_metric(word: str) -> TextMetric:
    """Return the metric that a word names.

    >>> open_metric("chr")
    Traceback (most recent call last):
    ...
    LookupError: there is no metric 'chr'; did you mean chrf? (known: ...
    """
    kinds = metric_kinds()
    name, _, rest = word.partition(":")
    if name not in kinds:
        raise LookupError(unknown("metric", name, kinds))
    kind = kinds[name]
    if not rest and ":" in kind.form.partition("[")[0]:
        raise ValueError(f"{name} alone names no model; write {kind.form}")
    return kind.open(rest)
