"""The packages of lapsus rest on each other in one direction, and what is private to one stays in it.

Imports are read from the source, so those inside functions and under `TYPE_CHECKING` count too, and so does a module
that is named in a string, as the lazy names of a package are.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from paths import ROOT

FOLDERS = {
    "lapsus": "lapsus",
    "dataset_scripts": "lapsus.dataset_scripts",
    "hub_cards": "lapsus.hub_cards",
    "metrics": "lapsus.metrics",
    "perturbations": "lapsus.perturbations",
}
# From the bottom to the top. Packages on one line do not import each other, and `lapsus` is its own `__init__.py`.
LAYERS = (
    ("lapsus.core", "lapsus.hub_cards"),
    ("lapsus.io", "lapsus.stats"),
    ("lapsus.perturbations", "lapsus.metrics"),
    ("lapsus.jobs",),
    ("lapsus.dataset_scripts",),
    ("lapsus.evaluation",),
    ("lapsus.reporting",),
    ("lapsus.hub", "lapsus.integrations", "lapsus.collect"),
    ("lapsus",),
    ("lapsus.cli",),
    ("lapsus.papers",),  # as a package of somebody else: tests/papers/test_apart.py
)


@dataclass(frozen=True)
class Import:
    """An import of a module, or of a name of it."""

    by: str
    line: int
    module: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.by}:{self.line} imports {self.module}{self.name and f'.{self.name}'}"


def sources() -> dict[str, str]:
    """Return the source of every module; a package's own name ends in `.__init__`."""
    modules = {}
    for folder, package in FOLDERS.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            modules[".".join((package, *path.relative_to(ROOT / folder).with_suffix("").parts))] = path.read_text(
                "utf-8"
            )
    return modules


def imports(module: str, source: str, known: set[str]) -> Iterator[Import]:
    """Yield what `module` imports from lapsus."""
    package = module.rpartition(".")[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "lapsus":
                    yield Import(module, node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            home = ".".join((*base, *filter(None, [node.module])))
            for alias in node.names if home.partition(".")[0] == "lapsus" else ():
                whole = f"{home}.{alias.name}"
                yield (
                    Import(module, node.lineno, whole)
                    if whole in known
                    else Import(module, node.lineno, home, alias.name)
                )
        elif isinstance(node, ast.Constant) and node.value in known and node.value != "lapsus":
            yield Import(module, node.lineno, node.value)


def layer(module: str) -> tuple[int, str]:
    """Return the height of a module, and the package of `LAYERS` that it is in."""
    if module == "lapsus.__main__":  # a program, which nothing imports
        return len(LAYERS), ""
    top = ".".join(module.removesuffix(".__init__").split(".")[:2])
    for height, packages in enumerate(LAYERS):
        if top in packages:
            return height, top
    return pytest.fail(f"{module} is in no layer; name its package in LAYERS")


def violations(modules: dict[str, str], tree: set[str]) -> list[str]:
    """Return a sentence for each import that goes upwards or sideways, or that takes a private name of another package.

    `tree` names every module that there is.
    """
    known = {name.removesuffix(".__init__") for name in tree}
    sentences = []
    for module, source in modules.items():
        height, package = layer(module)
        for taken in imports(module, source, known):
            below, other = layer(taken.module)
            if other != package and below >= height:
                sentences.append(f"{taken}, but {other} does not lie below {package}")
            private = next((part for part in (*taken.module.split("."), taken.name) if re.match(r"_(?!_)", part)), None)
            if private:
                owner = f"{taken.module}.{taken.name}".partition(f".{private}")[0]
                owner = owner if f"{owner}.__init__" in tree else owner.rpartition(".")[0]
                if not f"{module}.".startswith(f"{owner}."):
                    sentences.append(f"{taken}, but {private} is private to {owner}")
    return sentences


SOURCES = sources()


def test_layers_hold():
    assert violations(SOURCES, set(SOURCES)) == []


def test_every_package_is_in_one_layer():
    named = [package for packages in LAYERS for package in packages]
    assert len(named) == len(set(named))
    assert {layer(module)[1] for module in SOURCES} - {""} <= set(named)


@pytest.mark.parametrize(
    ("module", "line", "why"),
    [
        (
            "lapsus.core.messages",
            "from lapsus.reporting import tracks",
            "lapsus.reporting does not lie below lapsus.core",
        ),
        (
            "lapsus.core.messages",
            "def f():\n    import lapsus.metrics",
            "lapsus.metrics does not lie below lapsus.core",
        ),
        (
            "lapsus.core.messages",
            "if TYPE_CHECKING:\n    from lapsus import publish",
            "lapsus does not lie below lapsus.core",
        ),
        ("lapsus.core.messages", "from ..hub import upload", "lapsus.hub does not lie below lapsus.core"),
        ("lapsus.core.messages", "HOME = 'lapsus.reporting.tracks'", "lapsus.reporting does not lie below lapsus.core"),
        (
            "lapsus.core.messages",
            "import_module('lapsus.reporting.tracks')",
            "lapsus.reporting does not lie below lapsus.core",
        ),
        (
            "lapsus.metrics.__init__",
            "from lapsus.perturbations import Edit",
            "lapsus.perturbations does not lie below lapsus.metrics",
        ),
        ("lapsus.hub.upload", "from lapsus.core.messages import _shown", "_shown is private to lapsus.core"),
        ("lapsus.hub.upload", "from lapsus.core import _names", "_names is private to lapsus.core"),
        ("lapsus.hub.upload", "import lapsus.core._names", "_names is private to lapsus.core"),
        (
            "lapsus.perturbations.en.speako",
            "from lapsus.perturbations.zh.homophone import _x",
            "_x is private to lapsus.perturbations.zh",
        ),
    ],
)
def test_planted_violation_is_found(module, line, why):
    (found,) = violations({module: f"{SOURCES[module]}\n{line}\n"}, {*SOURCES} | {"lapsus.core._names"})
    assert found.startswith(f"{module}:") and found.endswith(f", but {why}")


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("lapsus.cli.main", "from lapsus import publish"),
        ("lapsus.cli.main", "from lapsus import __version__"),
        ("lapsus.hub.upload", "from lapsus.hub.build import _x"),
        ("lapsus.perturbations.zh.homophone", "from lapsus.perturbations._tables import _x"),
        ("lapsus.core.messages", "'''See lapsus.reporting.tracks.'''"),
    ],
)
def test_import_from_lower_layer_is_allowed(module, line):
    assert violations({module: f"{SOURCES[module]}\n{line}\n"}, {*SOURCES} | {"lapsus.perturbations._tables"}) == []
