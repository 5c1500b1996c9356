"""The program of a user that `make lint` checks the types of: it names every public name, and runs."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import consumer
import pytest

PUBLIC = ("lapsus", "lapsus.dataset_scripts", "lapsus.metrics", "lapsus.perturbations")
TREE = ast.parse(Path(consumer.__file__).read_text(encoding="utf-8"))


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_used(module):
    loaded = {node.id for node in ast.walk(TREE) if isinstance(node, ast.Name)}
    imported = {
        a.name
        for node in ast.walk(TREE)
        if isinstance(node, ast.ImportFrom) and node.module == module
        for a in node.names
    }
    written = {
        node.attr for node in ast.walk(TREE) if isinstance(node, ast.Attribute) and ast.unparse(node.value) == module
    }
    names = set(importlib.import_module(module).__all__)
    assert names - (imported & loaded) - written == set(), "use each in tests/helpers/consumer.py"


@pytest.mark.parametrize("module", PUBLIC)
def test_what_is_public_is_there(module):
    home = importlib.import_module(module)
    assert all(hasattr(home, name) for name in home.__all__)


def test_the_metrics():
    consumer.measures()


@pytest.mark.parametrize("part", [consumer.noise, consumer.data, consumer.results])
def test_it_runs(part, tmp_path):
    part(tmp_path)
