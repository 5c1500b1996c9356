"""A release: the package, the datasets, the Spaces and the collection of an organisation, one step after the other.

`plan_release` says what would be published; `run_release` does it and notes each finished step in a file beside the
datasets, so that the same command goes on after any failure. Every repo is loaded back after its upload.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from importlib.metadata import version
from pathlib import Path
from typing import Literal, TypeAlias
from zipfile import BadZipFile, ZipFile

from lapsus import metrics
from lapsus.core.files import stage_file
from lapsus.core.messages import USER_ERRORS, format_error
from lapsus.hub.build import build_dataset
from lapsus.hub.built_folder import CARD, find_row_count_mismatch, read_card
from lapsus.hub.collection import update_collection
from lapsus.hub.errors import UploadError
from lapsus.hub.stand_off import ENDING, make_edits_benchmark
from lapsus.hub.upload import upload, upload_space

Kind: TypeAlias = Literal["package", "dataset", "edits", "space", "collection"]
STATE = ".release.json"  # in the folder of datasets
EDITS_FOLDER = ".edits"


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to publish; `obstacle` says why it cannot be."""

    kind: Kind
    repo: str
    folder: Path
    version: str = ""
    license: str = ""
    size: int = 0  # bytes
    obstacle: str = ""

    def __str__(self) -> str:
        facts = [self.kind, self.repo, self.version, self.license, format_size(self.size) if self.size else ""]
        line = "  ".join(filter(None, facts))
        return f"{line}  left out: {self.obstacle}" if self.obstacle else line


@dataclass(frozen=True, slots=True)
class Release:
    """What is to be published, in order."""

    org: str
    folder: Path
    steps: tuple[Step, ...]
    package: Path | None = None  # a wheel, where PyPI lacks this version

    def describe(self) -> list[str]:
        """Return a line for each step, and one with the sum."""
        todo = [step for step in self.steps if not step.obstacle]
        size = format_size(sum(step.size for step in todo))
        return [*map(str, self.steps), f"{len(todo)} of {len(self.steps)} steps, {size}"]


def format_size(size: int) -> str:
    """Return a number of bytes in a unit that can be read.

    >>> format_size(512), format_size(2_500_000)
    ('1 kB', '2.5 MB')
    """
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{max(1, round(size / 1e3))} kB"


def plan_release(
    org: str,
    folder: Path,
    *,
    package: Path | None = None,
    edits_license: str | None = None,
    only: Sequence[str] = (),
) -> Release:
    """Return the steps of a release.

    Args:
        org: The organisation of the repos.
        folder: The folder that `lapsus build --all` wrote: a dataset in each folder of it.
        package: The wheel of this version of lapsus, where PyPI does not have it yet.
        edits_license: The licence of the edits of datasets whose texts have none; otherwise they are left out.
        only: Patterns of names, such as `readin-*`; otherwise everything.
    """
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder}: is no folder; name the one that lapsus build --all wrote")
    steps = [Step("package", "lapsus", package or folder, version("lapsus"), obstacle=_check_package(package))]
    steps += [_plan_dataset(org, card.parent, edits_license) for card in sorted(folder.glob(f"*/{CARD}"))]
    for name in metrics.list_metrics():
        path = metrics.FOLDER / name
        size = sum(file.stat().st_size for file in path.iterdir() if file.is_file())
        steps.append(Step("space", f"{org}/{name}", path, version("lapsus"), "apache-2.0", size))
    steps.append(Step("collection", org, folder))
    if only:
        steps = [
            step
            for step in steps
            if step.kind in {"package", "collection"} or _matches(step.repo.rpartition("/")[2], only)
        ]
    return Release(org, folder, tuple(steps), package)


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _plan_dataset(org: str, folder: Path, edits_license: str | None) -> Step:
    """Return the step of a built folder: its rows, its edits alone, or why neither."""
    try:
        card = read_card(folder)
    except ValueError as error:
        return Step("dataset", f"{org}/{folder.name}", folder, obstacle=str(error))
    size = sum(file.stat().st_size for file in folder.rglob("*.parquet"))
    step = Step("dataset", f"{org}/{card.name}", folder, card.version or "", card.license or "", size)
    obstacle = "rows are missing; build it from all files" if card.partial else find_row_count_mismatch(folder)
    if not obstacle and not card.license and not edits_license:
        obstacle = "its source states no licence; --edits-license publishes noise without texts"
    if obstacle or card.license:
        return replace(step, obstacle=obstacle)
    try:
        make_edits_benchmark(folder, edits_license)
    except (ValueError, LookupError) as error:
        return replace(step, obstacle=str(error))
    return replace(step, kind="edits", repo=f"{step.repo}{ENDING}", license=edits_license or "")


def _check_package(wheel: Path | None) -> str:
    """Return what is wrong with a wheel: it must be lapsus, in this version."""
    if wheel is None:
        return ""
    expected = f"lapsus-{version('lapsus')}"
    try:
        with ZipFile(wheel) as archive:
            names = archive.namelist()
    except (OSError, BadZipFile) as error:
        return f"{wheel} is no wheel ({error}); build one with: python -m build --wheel"
    missing = [name for name in ("lapsus/__init__.py", f"{expected}.dist-info/METADATA") if name not in names]
    return f"{wheel.name} has no {missing[0]}, so it is not {expected}; build it again" if missing else ""


def run_release(release: Release, *, private: bool = False) -> Iterator[str]:
    """Do the steps that are not done yet, and yield a sentence for each; an error ends it, and the next run goes on."""
    state = release.folder / STATE
    done = read_state(state)
    if package_fault := next((step.obstacle for step in release.steps if step.kind == "package"), ""):
        raise ValueError(package_fault)
    for number, step in enumerate(release.steps, 1):
        place = f"{number}/{len(release.steps)} {step.kind} {step.repo}"
        key, digest = f"{step.kind} {step.repo}", hash_step(step, release.package)
        if step.obstacle:
            yield f"{place}: left out: {step.obstacle}"
        elif step.kind != "collection" and done.get(key) == digest:
            yield f"{place}: done before"
        else:
            try:
                result = ACTIONS[step.kind](release, step, private)
            except USER_ERRORS as error:
                hint = f"{len(done)} steps are done; run the same command to go on"
                raise UploadError(f"{place}: {format_error(error)}; {hint}") from error
            yield f"{place}: {result}"
            done[key] = digest
            with stage_file(state) as file:
                file.write(json.dumps(done, indent=1).encode())


def read_state(path: Path) -> dict[str, str]:
    """Return the finished steps of an earlier run, by their digest."""
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(key): str(value) for key, value in state.items()} if isinstance(state, dict) else {}


def hash_step(step: Step, package: Path | None) -> str:
    """Return a hash of what a step publishes: it is done again when its files have changed."""
    digest = hashlib.sha256(f"{step.version} {package and package.name}".encode())
    files = sorted(path for path in step.folder.rglob("*") if path.is_file()) if step.kind != "collection" else []
    for path in files if step.kind != "package" else []:
        if path.suffix in {".parquet", ".md", ".py", ".txt"} and "__pycache__" not in path.parts:
            with path.open("rb") as file:
                digest.update(path.name.encode() + hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _release_package(release: Release, step: Step, private: bool) -> str:  # noqa: ARG001 - as every action
    return f"{step.version} from " + (release.package.name if release.package else "PyPI")


def _release_dataset(release: Release, step: Step, private: bool) -> str:  # noqa: ARG001 - likewise
    result = upload(step.folder, step.repo, private=private, version=step.version)
    return f"{result}; {load_back(step)}"


def _release_edits(release: Release, step: Step, private: bool) -> str:
    benchmark, _ = make_edits_benchmark(step.folder, step.license)
    folder = build_dataset(benchmark, release.folder / EDITS_FOLDER / benchmark.NAME).path
    result = upload(folder, step.repo, private=private, version=step.version)
    return f"{result}; {load_back(replace(step, folder=folder))}"


def _release_space(release: Release, step: Step, private: bool) -> str:
    import evaluate

    result = upload_space(step.folder, step.repo, private=private, package=release.package)
    with tempfile.TemporaryDirectory() as cache:
        name = evaluate.load(step.repo, revision=f"lapsus-{step.version}", cache_dir=cache).name
    return f"{result}; loads as {name}"


def _release_collection(release: Release, step: Step, private: bool) -> str:  # noqa: ARG001 - likewise
    return str(update_collection(step.repo))


ACTIONS: dict[Kind, Callable[[Release, Step, bool], str]] = {
    "package": _release_package,
    "dataset": _release_dataset,
    "edits": _release_edits,
    "space": _release_space,
    "collection": _release_collection,
}


def load_back(step: Step) -> str:
    """Load a published dataset as a user would; raise where it is not what the folder holds."""
    import datasets
    from huggingface_hub import metadata_load

    infos = (metadata_load(step.folder / CARD) or {})["dataset_info"]
    infos = [infos] if isinstance(infos, dict) else infos
    expected = {info["config_name"]: {each["name"]: each["num_examples"] for each in info["splits"]} for info in infos}
    revision = f"v{step.version}"
    published = datasets.get_dataset_config_names(step.repo, revision=revision)
    if missing := [name for name in expected if name not in published]:
        raise ValueError(f"{step.repo} at {revision} has no config {missing[0]!r}, which was sent; look at the repo")
    config = next(iter(expected))
    with tempfile.TemporaryDirectory() as cache:
        loaded = datasets.load_dataset(step.repo, config, revision=revision, cache_dir=cache)
        counts = {split: rows.num_rows for split, rows in loaded.items()}
        del loaded
    if counts != expected[config]:
        raise ValueError(f"{step.repo} at {revision} loads {counts} of {config}, not {expected[config]}; push it again")
    return f"loads {sum(counts.values()):,} rows of {config}, {len(expected)} configs"
