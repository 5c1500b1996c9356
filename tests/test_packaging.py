"""The package as it is imported and installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
HEAVY = ("torch", "transformers", "evaluate", "datasets", "matplotlib", "nlpaug", "pandas", "sklearn")


def python(code, **options):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, **options).stdout


def test_importing_is_light():
    code = (
        "import sys, lapsus, lapsus.perturbations, lapsus.metrics, lapsus.dataset_scripts\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    assert python(code).strip() == "[]"


def test_help_is_light():
    code = (
        "import sys; from click.testing import CliRunner; from lapsus.cli import main\n"
        "assert CliRunner().invoke(main, ['--help']).exit_code == 0\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    assert python(code).strip() == "[]"


def test_the_folders_are_the_package(tmp_path):
    """Every unit is found from anywhere, and only as a part of lapsus."""
    code = (
        "import importlib.util as u, lapsus.metrics, lapsus.perturbations, lapsus.dataset_scripts, lapsus.hub_cards\n"
        "print([n for n in ('metrics', 'perturbations', 'dataset_scripts', 'hub_cards') if u.find_spec(n)])"
    )
    assert python(code, cwd=tmp_path).strip() == "[]"


def test_every_part_is_in_the_wheel(tmp_path):
    checkout = copy_of_tracked_files(tmp_path / "checkout")
    build = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=checkout, capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(ZipFile(wheel).namelist())
    for folder in ("lapsus", "metrics", "dataset_scripts", "perturbations", "hub_cards"):
        inside = "lapsus" if folder == "lapsus" else f"lapsus/{folder}"
        for path in tracked(folder):
            assert inside + path.removeprefix(folder) in names, path
    assert {name.split("/")[0].split("-")[0] for name in names} == {"lapsus"}


def tracked(folder):
    listing = subprocess.run(["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return listing.splitlines()


def copy_of_tracked_files(target):
    for name in tracked("."):
        if (ROOT / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes((ROOT / name).read_bytes())
    return target
