"""Names that published data and users' programs hold: the column `operator`, and the keys of metric results.

`published_names.json` was written by the code of version 0.1.0, before its functions and modules were renamed.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from paths import TESTS

import lapsus.metrics
from lapsus.hub.metric_space import load_metric_class
from lapsus.perturbations import OPERATORS

PUBLISHED = json.loads((TESTS / "published_names.json").read_text("utf-8"))


def list_keys(result: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in result.items():
        yield f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from list_keys(value, f"{prefix}{key}.")


@pytest.mark.parametrize("spec", PUBLISHED["operators"])
def test_the_column_operator_keeps_its_text(spec):
    name, _, rate = spec.partition(" rate=")
    name, _, annotator = name.partition(":")
    operator = OPERATORS[name]
    if annotator:
        operator = operator.annotator(int(annotator))
    if rate:
        operator = replace(operator, rate=float(rate))
    assert repr(operator) == PUBLISHED["operators"][spec]


def test_every_operator_has_a_published_text():
    assert set(OPERATORS) <= set(PUBLISHED["operators"])


@pytest.mark.parametrize("name", lapsus.metrics.list_metrics())
def test_a_metric_keeps_the_keys_of_its_result(name):
    result = getattr(lapsus.metrics, name)(**load_metric_class(name).EXAMPLE)
    assert sorted(list_keys(result)) == PUBLISHED["metrics"][name]
