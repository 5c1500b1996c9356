"""The Hub viewer's own worker, and mlcroissant, over built folders.

    python tests/helpers/viewer_worker.py [NAME ...]

builds the datasets from ../shared/data (all of them; NATURE's config `hard`, which trains a model, is left out) and
prints what the worker could not do. The worker is huggingface/dataset-viewer at the commit that `tests/helpers/viewer.py`
mirrors; it is beside the checkout (../shared/viewer_worker) and no part of it. Its packages, in its own versions, go
into build/viewer_worker, but for some that it never imports.
"""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paths import ROOT, SHARED_DATA

if TYPE_CHECKING:
    from lapsus.hub.build import BuildResult

WORKER = ROOT.parent / "shared" / "viewer_worker"
DATA = SHARED_DATA
SMALL = ROOT / "tests" / "benchmarks_files"
HOME = ROOT / "build" / "viewer_worker"
PYTHON = "3.13"  # which the worker runs on
MLCROISSANT = "mlcroissant==1.1.1"
UNUSED = ("h5py", "onnxruntime", "pymupdf4llm", "pymupdf_layout")
HARD = "hard"


class Left(Exception):  # noqa: N818 - the end of the driver is no fault
    """The driver wants to leave the process."""


def python() -> str | None:
    """Return a Python of the worker's version, if there is one here."""
    for found in (f"python{PYTHON}", *sorted(Path.home().glob(f".pyenv/versions/{PYTHON}.*/bin/python"))):
        with suppress(OSError):
            if not subprocess.run(
                [found, "--version"], capture_output=True, check=False
            ).returncode:  # a shim may not run
                return str(found)
    return None


def environment() -> Path:
    """Return a Python with the worker's packages, which it installs the first time."""
    own = HOME / "bin" / "python"
    if not (HOME / "complete").exists():
        shutil.rmtree(HOME, ignore_errors=True)
        uv = [sys.executable, "-m", "uv"]
        subprocess.run([*uv, "venv", "-q", "--python", str(python()), HOME], check=True)
        (HOME / "unused.txt").write_text("\n".join(UNUSED), encoding="utf-8")
        packages = ["-r", str(WORKER / "requirements.txt"), MLCROISSANT, "--excludes", str(HOME / "unused.txt")]
        subprocess.run([*uv, "pip", "install", "-q", "--python", own, *packages], check=True)
        (HOME / "complete").touch()
    return own


def watch(folders: Mapping[str, Path]) -> dict[str, dict[str, Any]]:
    """Let the worker see built folders; return for each its configs, the steps that went well, and what failed."""
    asked = {name: str(folder.absolute()) for name, folder in folders.items()}
    settings = {**os.environ, "LAPSUS_TESTS": str(ROOT / "tests"), "OMP_NUM_THREADS": "1"}
    command = [environment(), __file__, "--inside", json.dumps(asked)]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ChildProcessError(done.stderr[-4000:])
    seen: dict[str, dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return seen


def inside(folders: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Run the driver's own functions in this process."""
    leave, os._exit = os._exit, _leave  # type: ignore[assignment]
    sys.argv = [sys.argv[0]]
    try:
        source = (WORKER / "drive.py").read_text(encoding="utf-8")
        driver: dict[str, Any] = {"__file__": str(WORKER / "drive.py"), "__name__": "drive"}
        with suppress(Left):
            exec(compile(source, "drive.py", "exec"), driver)  # noqa: S102 - it is a program beside the checkout
    finally:
        os._exit = leave
    own_step, seen = driver["step"], {}
    for name, folder in folders.items():
        noted: list[dict[str, Any]] = []  # the driver's own results, which it prints and does not return

        def step(label: str, function: Any, results: dict[str, Any], noted: list[dict[str, Any]] = noted) -> Any:
            noted[:] = [results]
            return own_step(label, function, results)

        driver["step"] = step
        repo = f"org/{name}"
        driver["run"](folder, repo)
        (results,) = noted
        crumbs = driver["croissant_crumbs"].compute_croissant_crumbs_response(repo)
        seen[name] = {
            "configs": [
                each["config"] for each in driver["CACHE"]["dataset-config-names", repo, None, None]["config_names"]
            ],
            "failures": results.pop("FAIL", []),
            "steps": results,
            "croissant": list(croissant_faults(name, crumbs, driver["hub"])),
        }
    return seen


def _leave(_: int) -> None:
    raise Left


def croissant_faults(name: str, crumbs: Mapping[str, Any], hub: Any) -> Iterator[str]:
    """Yield what mlcroissant says of the Hub's Croissant for a repo, and of the rows that it reads by it."""
    import mlcroissant

    whole = {
        **crumbs,
        "name": name,
        "description": "A dataset.",
        "url": f"https://huggingface.co/datasets/org/{name}",
        "license": "https://choosealicense.com/licenses/cc-by-4.0/",
        "datePublished": "2026-01-01",
        "version": "1.0.0",
        "citeAs": "nobody",
    }
    with tempfile.TemporaryDirectory() as folder:
        for path, data in hub.files("datasets", f"org/{name}", "refs/convert/parquet").items():
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / path).write_bytes(data)
        try:
            dataset = mlcroissant.Dataset(jsonld=whole, mapping={"repo": folder})
            issues = dataset.metadata.ctx.issues
            yield from (*issues.errors, *issues.warnings)
            for record_set in dataset.metadata.record_sets:
                if record_set.data is None:
                    first = next(iter(dataset.records(record_set.uuid)), None)
                    if first is None:
                        yield f"{record_set.uuid} has no records"
        except Exception as error:  # noqa: BLE001 - whatever it stumbles over is the finding
            yield f"{type(error).__name__}: {error}"


def faults(seen: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return what the worker and mlcroissant could not do."""
    return [f"{name}: {said}" for name, each in seen.items() for said in (*each["failures"], *each["croissant"])]


def source_of(name: str) -> Path | None:
    """Return the folder of a dataset's real files, or of those that were written for the tests; None if it needs none."""
    from lapsus.dataset_scripts import benchmarks

    if benchmarks()[name].get_bundled_folder():
        return None
    sources = runpy.run_path(str(ROOT / "benchmarks" / "build_datasets.py"))["SOURCES"]
    own = sources.get(name, name)
    return next((home / own for home in (DATA, SMALL) if (home / own).is_dir()), None)


def one_of_a_kind(name: str) -> list[str]:
    """Return the first config of a dataset for every set of columns that it has."""
    from lapsus.dataset_scripts import benchmarks

    seen: dict[str, str] = {}
    for config in benchmarks()[name].ROWS:
        if config != HARD:
            builder = benchmarks()[name](config_name=config, data_dir=source_of(name), hash="unused")
            seen.setdefault(str(builder.info.features), config)
    return list(seen.values())


def build(names: Iterable[str], out: Path, also: Mapping[str, Iterable[str]] | None = None) -> dict[str, BuildResult]:
    """Build datasets without the configs that train a model; with `also`, one config of a kind and these."""
    from lapsus.dataset_scripts import benchmarks
    from lapsus.hub.build import build_dataset

    built = {}
    for name in names:
        whole = benchmarks()[name]
        chosen = set(whole.ROWS) - {HARD} if also is None else {*one_of_a_kind(name), *also.get(name, ())}
        rows = {config: splits for config, splits in whole.ROWS.items() if config in chosen}
        part = type(whole.__name__, (whole,), {"__module__": whole.__module__, "__doc__": whole.__doc__, "ROWS": rows})
        built[name] = build_dataset(part, out / name, source=source_of(name), allow_partial=True)
    return built


def main(names: list[str]) -> int:
    """Build and look; print a line per dataset."""
    from lapsus.dataset_scripts import benchmarks

    wrong = 0
    with tempfile.TemporaryDirectory() as out:
        for name in names or benchmarks():
            try:
                seen = watch({name: build([name], Path(out))[name].path})
            except (OSError, ValueError) as error:
                print(f"{name}: not built: {error}")  # noqa: T201 - a command
                continue
            found = faults(seen)
            wrong += len(found)
            steps = sum(seen[name]["steps"].values())
            print(f"{name}: {len(seen[name]['configs'])} configs, {steps} steps, {len(found)} failures")  # noqa: T201
            print(*(f"  {said}" for said in found), sep="\n", end="\n" if found else "", flush=True)  # noqa: T201
    return int(wrong > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        print(json.dumps(inside(json.loads(sys.argv[2]))), flush=True)  # noqa: T201 - the answer to the caller
        os._exit(0)  # the driver leaves its server running
    sys.exit(main(sys.argv[1:]))
