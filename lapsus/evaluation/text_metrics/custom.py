"""Any Python function as a metric."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from pathlib import Path
from traceback import extract_tb
from typing import Any

from lapsus.evaluation.models.function import import_function
from lapsus.evaluation.text_metrics import FunctionMetric, MetricInput, MetricProvider, TextMetric

TAKES = (
    "a metric takes lists of candidates, references, sources and tags, and returns a list of one number per candidate"
)


def open_function(rest: str) -> TextMetric:
    """Return `MODULE:FUNCTION`: it takes candidates, references, sources and tags, each empty where there are none."""
    function = import_function(rest)
    name = rest.partition(":")[2]
    _check_parameters(function, name)

    def rate(metric_input: MetricInput) -> list[float]:
        try:
            result = function(metric_input.candidates, metric_input.references, metric_input.sources, metric_input.tags)
        except Exception as error:
            last = extract_tb(error.__traceback__)[-1]
            raise ValueError(
                f"{name} raised {type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno}); "
                f"{TAKES}, and `lapsus --debug dialect …` shows where"
            ) from error
        return _to_floats(result, name)

    return FunctionMetric(name, rate, required=(), optional=("references", "sources", "tags"))


def _check_parameters(function: Callable[..., Any], name: str) -> None:
    try:
        call_signature = signature(function)
    except (ValueError, TypeError):  # some functions of C do not tell theirs
        return
    try:
        call_signature.bind(*range(4))
    except TypeError as error:
        raise TypeError(f"{name} takes {call_signature}, but {TAKES}") from error


def _to_floats(values: Any, name: str) -> list[float]:
    """Return what a function returned as a list of numbers.

    >>> _to_floats((1, "0.5"), "mine")
    [1.0, 0.5]
    >>> _to_floats([1, None], "mine")
    Traceback (most recent call last):
    ...
    TypeError: mine returned None in place 1; a metric takes lists of candidates, references, sources and tags, ...
    """
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise TypeError(f"{name} returned {type(values).__name__}, not a list; {TAKES}")
    numbers = []
    for index, each in enumerate(values):
        try:
            numbers.append(float(each))
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name} returned {each!r} in place {index}; {TAKES}") from error
    return numbers


UNITS = (
    MetricProvider(
        "python", "python:MODULE:FUNCTION", "a function (candidates, references, sources, tags)", open_function
    ),
)
