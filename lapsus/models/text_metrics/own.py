"""A trained NANO, and any Python function as a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lapsus.kernel.functions import named_function
from lapsus.models.text_metrics import Asked, MetricKind, Rated, Reads, TextMetric

if TYPE_CHECKING:
    from lapsus.models.nano import Nano

READS: Mapping[str, tuple[Reads, ...]] = {
    "within": ("references",),
    "qe": ("sources",),
    "qe-ref": ("references", "sources"),
}


def open_nano(rest: str) -> TextMetric:
    """Return the metric in a folder that `Nano.save` wrote."""
    from lapsus.models.nano import Nano

    return nano_metric(Nano.load(rest), f"nano:{Path(rest).name}")


def nano_metric(nano: Nano, name: str) -> TextMetric:
    """Return a trained NANO as a metric."""

    def rate(asked: Asked) -> list[float]:
        return nano.score(asked.candidates, asked.references, asked.sources, asked.tags)

    return Rated(name, rate, needs=(*READS[nano.form], "tags"))


def open_function(rest: str) -> TextMetric:
    """Return `MODULE:FUNCTION`: it takes candidates, references, sources and tags, each empty where there are none."""
    function = named_function(rest)

    def rate(asked: Asked) -> Sequence[float]:
        made: Sequence[float] = function(asked.candidates, asked.references, asked.sources, asked.tags)
        return made

    return Rated(rest.partition(":")[2], rate, needs=(), takes=("references", "sources", "tags"))


UNITS = (
    MetricKind("nano", "nano:FOLDER", "a metric trained by lapsus.models.nano", open_nano),
    MetricKind("python", "python:MODULE:FUNCTION", "a function (candidates, references, sources, tags)", open_function),
)
