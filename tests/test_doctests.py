"""The examples in every docstring run."""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import re
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location

import pytest
from paths import ROOT

FOLDERS = {"lapsus": "lapsus", **{name: f"lapsus.{name}" for name in ("dataset_scripts", "metrics", "perturbations")}}

OPTIONAL = {"inspect_ai", "pywubi", "tokenizers", "torch", "transformers"}


def modules():
    for folder, package in FOLDERS.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            if parts[-1] != "__main__":
                yield ".".join((package, *(part for part in parts if part != "__init__")))


@pytest.mark.parametrize("name", list(modules()))
def test_examples(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name not in OPTIONAL:
            raise
        pytest.skip(f"needs {missing.name}, of an extra")
    source = inspect.getsource(module)
    shown = set(re.findall(r">>> (?:from|import) (\w+)", source))
    if lacking := [name for name in sorted(shown & OPTIONAL) if find_spec(name) is None]:
        pytest.skip(f"an example needs {lacking[0]}, of an extra")
    before = dict(os.environ)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.failed == 0
    changed = {variable for variable, _ in dict(os.environ).items() ^ before.items()}
    assert not [variable for variable in changed if variable in source], "the next test would see it"


@pytest.mark.parametrize(
    "path",
    [path for path in sorted((ROOT / "tools").rglob("*.py")) if ">>>" in path.read_text("utf-8")],
    ids=lambda path: path.stem,
)
def test_examples_of_tools(path, monkeypatch):
    spec = spec_from_file_location(path.stem, path)
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)  # doctest runs the examples of the module of this name
    spec.loader.exec_module(module)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.failed == 0 < result.attempted
