"""A release: actions are pinned by commit, tools by hash, and one commit gives one sdist."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from paths import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
LOCKS = sorted((ROOT / ".github" / "requirements").glob("*.txt"))


def read_pins(path: Path) -> dict[str, str]:
    """Return the version of each package of a file of requirements."""
    lines = re.findall(r"^([\w.-]+)==([^\s;\\]+)", path.read_text(), re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in lines}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit_and_say_their_version(path):
    uses = re.findall(r"uses: *(.*)", path.read_text())
    assert uses and all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each) for each in uses)
    assert yaml.safe_load(path.read_text())["permissions"] == {"contents": "read"}


def test_one_action_has_one_commit():
    pins = {line for path in WORKFLOWS for line in re.findall(r"uses: *(.*)", path.read_text())}
    assert len(pins) == len({each.partition("@")[0] for each in pins})


def test_every_requirement_of_a_release_has_a_version_and_a_hash():
    assert {path.stem for path in LOCKS} == {"build", "lapsus", "release", "sbom"}
    for path in LOCKS:
        entries = re.split(r"\n(?=\S)", re.sub(r"^ *#.*\n", "", path.read_text(), flags=re.MULTILINE).strip())
        assert len(entries) > 3
        for entry in entries:
            assert re.match(r"[\w.-]+==\S+", entry) and re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry), entry[:80]


def test_a_release_is_built_with_what_the_tests_ran_with():
    tested = read_pins(ROOT / "constraints.txt")
    for name in ("build", "lapsus", "release"):
        pins = read_pins(ROOT / ".github" / "requirements" / f"{name}.txt")
        both = {package for package in pins if package in tested}
        assert len(both) > len(pins) / 2
        # a package with a version for each Python is there twice
        differing = {package for package in both if pins[package] != tested[package]}
        assert all(
            f"{package}=={tested[package]}" in (ROOT / f".github/requirements/{name}.txt").read_text().lower()
            for package in differing
        ), differing


def test_a_release_installs_nothing_without_a_hash():
    installs = re.findall(r"pip install (.*)", (ROOT / ".github/workflows/release.yml").read_text())
    assert installs and all("--require-hashes" in each or "--no-index" in each for each in installs)


@pytest.mark.slow
def test_an_sdist_has_the_same_bytes_wherever_and_whenever_it_is_built(tmp_path):
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    digests = []
    for number, folder in enumerate(("a", "b")):
        for name in filter(None, names.split("\0")):
            if (ROOT / name).is_file():
                (tmp_path / folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, tmp_path / folder / name)
                os.utime(tmp_path / folder / name, (10**9 * number, 10**9 * number))
        (tmp_path / folder / "README.md").chmod(0o664 if number else 0o600)
        out = tmp_path / f"out-{folder}"
        out.mkdir()
        code = f"from setuptools import build_meta; build_meta.build_sdist({str(out)!r})"
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
        subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path / folder, env=environment, capture_output=True, check=True
        )
        (sdist,) = out.iterdir()
        digests.append(sdist.read_bytes())
    assert digests[0] == digests[1]
