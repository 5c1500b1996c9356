"""Compiles the Chinese typist on request, `LAPSUS_COMPILE=1 pip install .`; everything else is in pyproject.toml."""

import os
import sys
from pathlib import Path

from setuptools import Extension, setup

TYPIST = ("candidates", "confusable_words", "habits", "keys", "memory", "punctuation", "retyping", "session")
COMPILED = ("zh/input_method/pinyin", *(f"zh/typist/{name}" for name in TYPIST))
WANTED = os.environ.get("LAPSUS_COMPILE", "") not in ("", "0")


def extensions() -> list[Extension]:
    """Return the modules to compile, found where an installed package has them."""
    from mypyc.build import mypycify

    root = Path(__file__).resolve().parent
    package = root / "build" / "compiled" / "lapsus"
    package.mkdir(parents=True, exist_ok=True)
    places = {"__init__.py": "lapsus/__init__.py", "core": "lapsus/core", "perturbations": "perturbations"}
    for name, folder in places.items():
        if not (package / name).exists():
            (package / name).symlink_to(root / folder)
    os.chdir(package.parent)
    try:
        return mypycify(
            ["--ignore-missing-imports", "--follow-imports=silent"]
            + [f"lapsus/perturbations/{name}.py" for name in COMPILED],
            target_dir=str(package.parent / "c"),
            group_name="lapsus",
        )
    finally:
        os.chdir(root)


# An editable install stays as it is written: what was compiled would hide later changes.
setup(
    setup_requires=["mypy>=1.11"] if WANTED else [],
    ext_modules=extensions() if WANTED and "bdist_wheel" in sys.argv else [],
)
