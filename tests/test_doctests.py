"""The examples in every docstring run."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = {"lapsus": "lapsus", **{name: f"lapsus.{name}" for name in ("dataset_scripts", "metrics", "perturbations")}}

OPTIONAL = {"inspect_ai", "torch", "transformers"}


def modules():
    for folder, package in FOLDERS.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            if parts[-1] not in {"__main__", "app"}:
                yield ".".join((package, *(part for part in parts if part != "__init__")))


@pytest.mark.parametrize("name", list(modules()))
def test_examples(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name not in OPTIONAL:
            raise
        pytest.skip(f"needs {missing.name}, of an extra")
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.failed == 0
