"""The package as it is imported and installed."""

from __future__ import annotations

import os
import subprocess
import sys
from base64 import urlsafe_b64encode
from hashlib import sha256
from pathlib import Path
from shutil import which
from zipfile import ZipFile

import pytest
from paths import ROOT

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
        "import sys; from click.testing import CliRunner; from lapsus.cli.main import main\n"
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
    wheel = built(tmp_path)
    names = set(ZipFile(wheel).namelist())
    for folder in ("lapsus", "metrics", "dataset_scripts", "perturbations", "hub_cards"):
        inside = "lapsus" if folder == "lapsus" else f"lapsus/{folder}"
        for path in tracked(folder):
            assert inside + path.removeprefix(folder) in names, path
    assert {name.split("/")[0].split("-")[0] for name in names} == {"lapsus"}


def test_editable_install_is_found_beside_a_checkout_called_lapsus(tmp_path):
    checkout = copy_of_tracked_files(tmp_path / "lapsus")
    code = "import sys; from setuptools import build_meta; build_meta.build_editable(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=checkout, capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
        (record,) = [name for name in archive.namelist() if name.endswith("/RECORD")]
        for name, digest, _ in (line.split(",") for line in archive.read(record).decode().splitlines()):
            hashed = urlsafe_b64encode(sha256(archive.read(name)).digest()).decode().rstrip("=")
            assert name == record or digest == f"sha256={hashed}"
    code = (
        "import site, sys; sys.path = ['', 'site', *filter(None, sys.path)]; site.addsitedir('site')\n"
        "import lapsus, lapsus.metrics; print(lapsus.__file__, lapsus.metrics.__file__, sep='\\n')"
    )
    without_site = [sys.executable, "-S", "-c", code]
    path = os.pathsep.join(path for path in sys.path if path.endswith("site-packages"))
    done = subprocess.run(
        without_site, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [str(checkout / folder / "__init__.py") for folder in ("lapsus", "metrics")]
    other = tmp_path / "other" / "lapsus" / "__init__.py"  # such as a compiled copy that PYTHONPATH names
    other.parent.mkdir(parents=True)
    other.touch()
    code = (
        "import sys, site; sys.path.insert(0, 'other'); site.addsitedir('site'); import lapsus; print(lapsus.__file__)"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()).resolve() == other


TYPED = """
from lapsus.perturbations.zh.input_method import pinyin as pinyin_engine
from lapsus.perturbations.core import perturb_batch
from lapsus.perturbations.zh.typist.keyboard import ZhKeyboard
texts = ["花呗怎么不能提额了", "我的银行卡还没有收到退款，怎么办", "他在会上说，第二季度的收入增长了三成。", "", "國際a标准 http"]
keys = [str(n) for n in range(40)]
print(pinyin_engine.__file__.endswith(".py"))
print([perturb_batch(ZhKeyboard.annotator(who), keys=keys, texts=[text] * 40) for who in (1, 2, 3) for text in texts])
"""


@pytest.mark.slow
@pytest.mark.skipif(not which("cc"), reason="no C compiler")
def test_the_typist_types_the_same_when_compiled(tmp_path):
    wheel = built(tmp_path, LAPSUS_COMPILE="1")
    ZipFile(wheel).extractall(tmp_path / "site")
    assert not list((tmp_path / "site").rglob("*.c"))
    interpreted, compiled = (
        subprocess.run([sys.executable, "-c", TYPED], cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
        for env in (os.environ, os.environ | {"PYTHONPATH": str(tmp_path / "site")})
    )
    assert interpreted.stdout.replace("True", "False", 1) == compiled.stdout


def built(folder, **environment):
    """Return the wheel of a fresh checkout."""
    checkout = copy_of_tracked_files(folder / "checkout")
    code = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
    command = [sys.executable, "-c", code, str(folder)]
    subprocess.run(command, cwd=checkout, env=os.environ | environment, capture_output=True, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def tracked(folder):
    listing = subprocess.run(["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return listing.splitlines()


def copy_of_tracked_files(target):
    for name in tracked("."):
        if (ROOT / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes((ROOT / name).read_bytes())
    return target
