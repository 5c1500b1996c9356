"""A trained NANO, and any Python function as a metric."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

from lapsus.kernel.functions import named_function
from lapsus.models.text_metrics import Asked, MetricKind, Rated, Reads, TextMetric

if TYPE_CHECKING:
    from lapsus.models.nano import Nano

READS: Mapping[str, tuple[Reads, ...]] = {
    "within": ("references",),
    "qe": ("sources",),
    "qe-ref": ("references", "sources"),
}
TAKES = (
    "a metric takes lists of candidates, references, sources and tags, and returns a list of one number per candidate"
)


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
    name = rest.partition(":")[2]
    _refuse_other_parameters(function, name)

    def rate(asked: Asked) -> list[float]:
        try:
            made = function(asked.candidates, asked.references, asked.sources, asked.tags)
        except Exception as error:
            last = extract_tb(error.__traceback__)[-1]
            raise ValueError(
                f"{name} raised {type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno}); "
                f"{TAKES}, and `lapsus --debug dialect …` shows where"
            ) from error
        return _numbers(made, name)

    return Rated(name, rate, needs=(), takes=("references", "sources", "tags"))


def _refuse_other_parameters(function: Callable[..., Any], name: str) -> None:
    try:
        told = signature(function)
    except (ValueError, TypeError):  # some functions of C do not tell theirs
        return
    try:
        told.bind(*range(4))
    except TypeError as error:
        raise TypeError(f"{name} takes {told}, but {TAKES}") from error


def _numbers(made: Any, name: str) -> list[float]:
    """Return what a function returned as a list of numbers.

    >>> _numbers((1, "0.5"), "mine")
    [1.0, 0.5]
    >>> _numbers([1, None], "mine")
    Traceback (most recent call last):
    ...
    TypeError: mine returned None in place 1; a metric takes lists of candidates, references, sources and tags, ...
    """
    if isinstance(made, str | bytes | Mapping) or not isinstance(made, Iterable):
        raise TypeError(f"{name} returned {type(made).__name__}, not a list; {TAKES}")
    found = []
    for place, each in enumerate(made):
        try:
            found.append(float(each))
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name} returned {each!r} in place {place}; {TAKES}") from error
    return found


UNITS = (
    MetricKind("nano", "nano:FOLDER", "a metric trained by lapsus.models.nano", open_nano),
    MetricKind("python", "python:MODULE:FUNCTION", "a function (candidates, references, sources, tags)", open_function),
)
