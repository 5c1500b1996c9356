"""The Hub viewer's own statistics, over built folders, where a checkout of its source is given.

    LAPSUS_DATASET_VIEWER=/path/to/dataset-viewer python tests/helpers/viewer_worker.py [NAME ...]

builds the datasets from the files of the tests (all of them; NATURE's config `hard`, which trains a model, is left out)
and prints the columns that the worker has no statistics of: these are what fails in practice, and with one of them the
whole split has none. The checkout is one of huggingface/dataset-viewer at the commit that `tests/helpers/viewer.py`
restates; no part of it is here. The packages that it imports go into build/viewer_worker the first time.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paths import ROOT, SHARED_DATA

if TYPE_CHECKING:
    from lapsus.hub.build import BuildResult

VARIABLE = "LAPSUS_DATASET_VIEWER"
CHECKOUT = Path(os.environ.get(VARIABLE, ""))
LIBRARY = CHECKOUT / "libs" / "libcommon" / "src"
IS_HERE = bool(os.environ.get(VARIABLE)) and LIBRARY.is_dir()
PACKAGES = ("polars==1.39.3", "orjson", "appdirs", "pytz", "requests")  # what its statistics import
HOME = ROOT / "build" / "viewer_worker"
DATA = SHARED_DATA
SMALL = ROOT / "tests" / "benchmarks_files"
HARD = "hard"


def install() -> None:
    """Install the packages of the worker beside those of the tests."""
    if not (HOME / "complete").exists():
        command = [sys.executable, "-m", "pip", "install", "-q", "--target", str(HOME), *PACKAGES]
        subprocess.run(command, check=True, capture_output=True)
        (HOME / "complete").touch()


def watch(folders: Mapping[str, Path]) -> dict[str, dict[str, str]]:
    """Return for each built folder the columns without statistics, "config/split column", with the worker's reason."""
    install()
    places = {name: str(folder.absolute()) for name, folder in folders.items()}
    command = [sys.executable, __file__, "--inside", json.dumps(places)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ChildProcessError(done.stderr[-4000:])
    seen: dict[str, dict[str, str]] = json.loads(done.stdout.splitlines()[-1])
    return seen


def inside(folders: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Run the worker's own functions in this process."""
    sys.path.insert(0, str(LIBRARY))
    sys.path.append(str(HOME))  # behind the packages of the tests
    return {name: dict(find_faults(Path(folder))) for name, folder in folders.items()}


def find_faults(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the columns of which the worker computes no statistics, each with its reason."""
    import polars as pl  # type: ignore[import-not-found] # of the worker
    from datasets import Dataset

    for place in sorted({(file.parent.name, file.name.split("-")[0]) for file in folder.glob("*/*.parquet")}):
        config, split = place
        files = sorted(str(file) for file in (folder / config).glob(f"{split}-*.parquet"))
        features = Dataset.from_parquet(files[0], keep_in_memory=True).features
        for name, feature in features.to_dict().items():
            data = pl.read_parquet(files, columns=[name])
            column = choose_column(name, feature, len(data))
            if column is None:
                continue
            try:
                column.compute_and_prepare_response(data)
            except Exception as error:  # noqa: BLE001 - whatever it stumbles over is the finding
                yield f"{config}/{split} {name}", " ".join(str(error).split())


def choose_column(name: str, feature: Any, n_samples: int) -> Any:
    """Return the worker's column for a feature; None for one that it passes over."""
    from libcommon import statistics_utils as worker  # type: ignore[import-not-found] # the checkout's

    kind, dtype = feature.get("_type"), feature.get("dtype", "")
    settings = {"feature_name": name, "n_samples": n_samples}
    if kind == "ClassLabel":
        return worker.ClassLabelColumn(**settings, feature_dict=feature)
    if kind in {"List", "LargeList", "Sequence"}:
        return worker.ListColumn(**settings)
    if dtype in worker.INTEGER_DTYPES:
        return worker.IntColumn(**settings)
    if dtype in worker.FLOAT_DTYPES:
        return worker.FloatColumn(**settings)
    if dtype in worker.STRING_DTYPES:
        return worker.StringColumn(**settings)
    return worker.BoolColumn(**settings) if dtype == "bool" else None


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
                faults = watch({name: build([name], Path(out))[name].path})[name]
            except (OSError, ValueError) as error:
                print(f"{name}: not built: {error}")  # noqa: T201 - a command
                continue
            wrong += len(faults)
            print(f"{name}: {len(faults)} columns without statistics")  # noqa: T201
            print(*(f"  {place}: {reason}" for place, reason in faults.items()), sep="\n", end="")  # noqa: T201
    return int(wrong > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        print(json.dumps(inside(json.loads(sys.argv[2]))))  # noqa: T201 - the answer to the caller
        sys.exit()
    sys.exit(main(sys.argv[1:]) if IS_HERE else f"{VARIABLE} names no checkout of huggingface/dataset-viewer; set it")
