"""Names of files and folders of a run: two names are never one file, also where the case of letters does not count.

>>> name_files(Path("out"), ["clean", "K 1", "K-1"])
Traceback (most recent call last):
...
ValueError: the tracks 'K 1' and 'K-1' would be one file, K-1.jsonl; rename one of them
"""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lapsus.evaluation.tracks import to_folder_name

if TYPE_CHECKING:
    from collections.abc import Iterable

OLD_SPELLING = (
    "was written by an earlier version of lapsus, with other names of columns; delete it, or give another --out"
)


def name_files(folder: Path, tracks: Iterable[str]) -> dict[str, Path]:
    """Return the file of each track; refuse two that have one name, also where the case of letters does not count."""
    paths: dict[str, Path] = {}
    tracks_by_name: dict[str, str] = {}
    for track in tracks:
        name = to_folder_name(track)
        other = tracks_by_name.setdefault(_fold_name(name), track)
        if other != track:
            raise ValueError(f"the tracks {other!r} and {track!r} would be one file, {name}.jsonl; rename one of them")
        paths[track] = folder / f"{name}.jsonl"
    return paths


def check_siblings(folder: Path) -> None:
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
