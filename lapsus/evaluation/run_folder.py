"""The folder of a run: prediction files, which are moved to their place when all are complete, and the manifest.

Two names are never one file, also where the case of letters does not count.

>>> import tempfile
>>> folder = Path(tempfile.mkdtemp())
>>> write_prediction_files([(folder / "clean.jsonl", [{"id": "a", "response": "Yes.", "prediction": "yes"}])])
>>> read_previous(folder / "clean.jsonl", lambda row: {**row, "prediction": row["response"]})["a"]["prediction"]
'Yes.'
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from lapsus.core.checks import shorten_repr
from lapsus.core.files import stage_file
from lapsus.core.messages import format_list
from lapsus.core.track_names import MANIFEST_NAME

Row = dict[str, Any]
COMPARABLE_KEYS = {  # what the tracks in one folder must share
    "model_identity": "revision of the model",
    "task": "version of the task",
    "rows_digest": "rows, gold answers or labels",
    "seed": "seed of the noise",
    "scorers": "scorers",
    "request_changes": "fields that the server takes",
}
DEFAULTS: Mapping[str, Any] = {"request_changes": []}  # of manifests without the key
OLD_SPELLING = (
    "was written by an earlier version of lapsus, with other names of columns; delete it, or give another --out"
)


def read_previous(path: Path, reuse: Callable[[Row], Row | None]) -> dict[str, Row]:
    """Return the rows that an earlier run has left at `path`, each as `reuse` returns it, by id.

    Args:
        path: The file; it need not exist.
        reuse: Returns what a row is now; None for a row that is of no use.
    """
    rows: dict[str, Row] = {}
    for line in path.read_bytes().splitlines(keepends=True) if path.exists() else ():
        row = _decode_row(line)
        updated = None if row is None or str(row["id"]) in rows else reuse(row)
        if updated is not None:
            rows[str(updated["id"])] = updated
    return rows


def write_prediction_files(files: Iterable[tuple[Path, Iterable[Mapping[str, Any]]]]) -> None:
    """Write files of rows; each is moved to its place when all of them are complete."""
    with ExitStack() as stack:
        for path, rows in files:
            file = stack.enter_context(stage_file(path))
            file.writelines(map(_encode_row, rows))


def _encode_row(row: Mapping[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def _decode_row(line: bytes) -> Row | None:
    """Return a whole row; a line that a crash cut short is none."""
    if not line.endswith(b"\n"):
        return None
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and "id" in row else None


def to_folder_name(name: str) -> str:
    """Return a name that can be a folder's.

    >>> to_folder_name("HuggingFaceTB/SmolLM2-135M")
    'HuggingFaceTB-SmolLM2-135M'
    """
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "model"


def name_files(folder: Path, tracks: Iterable[str]) -> dict[str, Path]:
    """Return the file of each track; refuse two that have one name, also where the case of letters does not count.

    >>> name_files(Path("out"), ["clean", "K 1", "K-1"])
    Traceback (most recent call last):
    ...
    ValueError: the tracks 'K 1' and 'K-1' would be one file, K-1.jsonl; rename one of them
    """
    paths: dict[str, Path] = {}
    tracks_by_name: dict[str, str] = {}
    for track in tracks:
        name = to_folder_name(track)
        other = tracks_by_name.setdefault(_fold_name(name), track)
        if other != track:
            raise ValueError(f"the tracks {other!r} and {track!r} would be one file, {name}.jsonl; rename one of them")
        paths[track] = folder / f"{name}.jsonl"
    return paths


def _check_siblings(folder: Path) -> None:
    """Refuse a folder where another dataset or model has the same name but for the case of its letters."""
    for path in (folder.parent, folder):
        siblings = path.parent.iterdir() if path.parent.is_dir() else ()
        other = next(
            (each for each in siblings if each.name != path.name and _fold_name(each.name) == _fold_name(path.name)),
            None,
        )
        if other is not None:
            raise ValueError(
                f"{other} and {path} are one folder where the case of letters does not count; give another name"
            )


def _fold_name(name: str) -> str:
    """Return what two names share that are one file on some system."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def check_run_folder(folder: Path, manifest: Mapping[str, Any], tracks: Iterable[str]) -> None:
    """Refuse a folder with predictions of another model or task, or with tracks of another run beside the new ones."""
    _check_siblings(folder)
    if not (folder / MANIFEST_NAME).exists():
        return
    previous = read_manifest(folder / MANIFEST_NAME)
    dataset, new_dataset = (str(part.get("data_identity", "")).rpartition(" at ")[0] for part in (previous, manifest))
    if dataset and dataset != new_dataset:
        raise ValueError(f"{folder} holds the predictions of {dataset!r}, another dataset; give another --out")
    if previous["task"].rpartition(" ")[0] != manifest["task"].rpartition(" ")[0]:
        raise ValueError(f"{folder} holds the predictions of another task ({previous['task']}); give another --out")
    if previous["model_identity"].partition(" at ")[0] != manifest["model_identity"].partition(" at ")[0]:
        raise ValueError(
            f"{folder} holds the predictions of another model ({previous['model_identity']}); "
            "give this one a --name of its own, or another --out"
        )
    if manifest["prompt"] != previous.get("prompt", manifest["prompt"]):
        raise ValueError(
            f"{folder} holds the answers to another prompt ({shorten_repr(previous['prompt'])}), which these "
            "would replace; give this prompt a --name of its own, or another --out"
        )
    if manifest.get("chat") != previous.get("chat"):
        raise ValueError(
            f"{folder} holds the answers to another system prompt, other example rows or another "
            "--max-tokens, which these would replace; give this run a --name of its own, or another --out"
        )
    new_tracks = set(map(to_folder_name, tracks))
    other_tracks = sorted(path.stem for path in folder.glob("*.jsonl") if path.stem not in new_tracks)
    differing = [
        description
        for name, description in COMPARABLE_KEYS.items()
        if (name == "scorers" or manifest.get(name) is not None)
        and manifest.get(name) != previous.get(name, DEFAULTS.get(name))
    ]
    if other_tracks and differing:
        raise ValueError(
            f"{folder} also holds {format_list(other_tracks)}, from a run of other {format_list(differing)}, "
            "which a report would join with this one; run these tracks too, delete their files (their responses "
            "stay cached), or give another --out"
        )


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of an earlier run."""
    try:
        manifest = json.loads(path.read_bytes())
        old_spelling = "identity" in manifest and "model_identity" not in manifest
        names = () if old_spelling else ("task", "model_identity")
        manifest = {**manifest, **{name: str(manifest[name]) for name in names}}
    except (ValueError, LookupError, TypeError) as error:
        raise ValueError(f"{path} names no model and task; delete it, or give another --out") from error
    if old_spelling:
        raise ValueError(f"{path.parent} {OLD_SPELLING}")
    return manifest
