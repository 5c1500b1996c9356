"""Measures as `evaluate` modules, each also a plain function of the same name.

>>> from lapsus.metrics import noise_rate
>>> noise_rate(predictions=["花贝提额"], references=["花呗提额"])["micro_average"]
0.25
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """Return the name of every metric: the folders that hold a `score.py`."""
    return sorted(script.parent.name for script in FOLDER.glob("*/score.py"))


def __getattr__(name: str) -> Any:
    if name.startswith("_") or not (FOLDER / name / "score.py").is_file():
        raise AttributeError(f"there is no metric {name!r}; lapsus.metrics has {', '.join(names())}")
    function = getattr(import_module(f"{__name__}.{name}.score"), name)
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    return [*globals(), *names()]


class _Functions(ModuleType):
    """A package whose functions are not hidden by the folders that hold them."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and (FOLDER / name / "score.py").is_file()):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Functions  # importing a folder would put it in its function's place
