"""`lapsus release`: what it would publish, that it goes on after a failure, and that every repo is loaded back."""

from __future__ import annotations

import zipfile

import pytest
from click.testing import CliRunner
from fake_hub import Fault
from paths import BENCHMARK_FILES
from some_configs import build_some
from toy_benchmark import Toy, toy

import lapsus
from lapsus.cli.main import main
from lapsus.hub.build import build_dataset
from lapsus.hub.release import STATE, plan_release


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("built")
    build_dataset(Toy, home / "sample")
    build_some("readin-afqmc-sim", home / "readin-afqmc-sim")
    build_dataset(toy(NAME="part", ROWS={"clean": {"test": 3}}), home / "part", allow_partial=True)
    (home / "other").mkdir()
    (home / "other" / "README.md").write_text("# Mine\n")
    return home


def run(*words):
    return CliRunner().invoke(main, ["release", "org", *map(str, words)])


def test_a_dry_run_lists_every_step_and_asks_nobody(folder, monkeypatch):
    monkeypatch.setattr("socket.socket.connect", None)
    done = run("--folder", folder, "--dry-run")
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert lines[0] == f"package  lapsus  {lapsus.__version__}"
    assert any(line.startswith("dataset  org/sample  1.0.0  apache-2.0  ") and line.endswith(" kB") for line in lines)
    assert any("org/part" in line and "left out: rows are missing" in line for line in lines)
    assert any("left out: its source states no licence" in line or "rows are missing" in line for line in lines)
    assert any(line.startswith("space  org/noise_rate") for line in lines) and "collection  org" in lines
    assert not (folder / STATE).exists()


def test_other_packages_are_refused(folder, tmp_path):
    wheel = tmp_path / "x.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("other/__init__.py", "")
    for path, sentence in ((wheel, "has no lapsus/__init__.py"), (tmp_path / "none.whl", "is no wheel")):
        refused = run("--folder", folder, "--package", path)
        assert refused.exit_code == 1 and sentence in refused.output
    assert plan_release("org", folder, package=wheel).steps[0].obstacle


def test_patterns_choose(folder):
    names = [step.repo for step in plan_release("org", folder, only=["sample", "noise_*"]).steps]
    assert names == ["lapsus", "org/sample", "org/noise_rate", "org"]


@pytest.mark.slow
def test_a_release_goes_on_after_a_failure_and_loads_back(hub, client, folder):
    words = ["release", "org", "--folder", str(folder), "--only", "sample", "--only", "noise_rate"]
    hub.faults = [Fault("POST", "/noise_rate/commit/", status=500)]
    failed = client("command", *words)
    assert failed["exit"] == 1 and "3/4 space org/noise_rate: " in failed["error"]
    assert "2 steps are done; run the same command to go on" in failed["error"]
    done = client("command", *words)
    assert done["exit"] == 0, done
    lines = done["output"].splitlines()
    assert lines[1] == "2/4 dataset org/sample: done before"
    assert "loads as noise_rate" in lines[2] and "2 added" in lines[3]
    assert "loads 2 rows of clean, 1 configs" in failed["output"]
    again = client("command", *words)
    assert [line.partition(": ")[2] for line in again["output"].splitlines()[:3]] == ["done before"] * 3


@pytest.mark.slow
def test_noise_over_texts_without_a_licence_is_released_without_them(hub, client, tmp_path):
    from lapsus.dataset_scripts import benchmarks

    benchmark = benchmarks()["readin-afqmc-sim"]
    rows = {config: {"test": 4} for config in ("clean", "keyboard.1")}
    few = type("Few", (benchmark,), {"ROWS": rows, "__module__": benchmark.__module__})
    build_dataset(few, tmp_path / "built" / "readin-afqmc-sim", source=BENCHMARK_FILES / "readin", allow_partial=False)
    words = [
        "release",
        "org",
        "--folder",
        str(tmp_path / "built"),
        "--only",
        "readin-*",
        "--edits-license",
        "cc-by-4.0",
    ]
    done = client("command", *words)
    assert done["exit"] == 0, done
    files = hub.files("datasets", "org/readin-afqmc-sim-edits")
    assert {"README.md", "edits.json", "keyboard.1/test-00000-of-00001.parquet"} <= files.keys()
    assert "org/readin-afqmc-sim-edits" in files["README.md"].decode()
