"""Where the numbers of a report come from: the command, the versions, the files and what they say about themselves.

>>> from unittest.mock import patch
>>> with patch.dict("os.environ", SOURCE_DATE_EPOCH="0"):
...     made("lapsus report bert.clean.jsonl --out report").date
'1970-01-01T00:00:00Z'
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from hashlib import blake2b, file_digest
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lapsus.results.measuring.records import DataDigest, Provenance, SourceFile
from lapsus.results.track_names import RUN_NOTE

if TYPE_CHECKING:
    from lapsus.results.measuring.runs import Run
    from lapsus.results.tracks import Track

PACKAGES = ("lapsus", "numpy", "scipy", "pyarrow", "rapidfuzz", "matplotlib")


def made(command: str | None) -> Provenance:
    """Return what makes a report, now; the variable SOURCE_DATE_EPOCH stands for the time, for repeatable bytes."""
    told = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        now = datetime.now(UTC) if told is None else datetime.fromtimestamp(int(told), UTC)
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"SOURCE_DATE_EPOCH is {told!r}; give a number of seconds since 1970, or unset it.") from None
    date = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    return Provenance(command, date, platform.python_version(), {name: version(name) for name in PACKAGES})


def files_of(tracks: Iterable[Track]) -> list[SourceFile]:
    """Return the files that tracks were read from, with their hashes and what `lapsus run` noted beside them."""
    hashes: dict[Path, str] = {}
    found = []
    for track in tracks:
        for path in track.files:
            if path not in hashes:
                with path.open("rb") as file:
                    hashes[path] = file_digest(file, "sha256").hexdigest()
            note = _note(path.with_name(RUN_NOTE))
            found.append(
                SourceFile(
                    track.dataset,
                    track.model,
                    track.track,
                    path.as_posix(),
                    path.stat().st_size,
                    hashes[path],
                    note.get("identity"),
                    note.get("task"),
                    note.get("data"),
                )
            )
    return found


def _note(path: Path) -> dict[str, str]:
    """Return what `lapsus run` has written beside its predictions: the model, the task and the data."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: text for name, text in told.items() if isinstance(text, str)} if isinstance(told, dict) else {}


def digests_of(runs: Sequence[Run]) -> list[DataDigest]:
    """Return for each dataset a hash of its examples: of their ids, right answers and clean texts."""
    found = []
    for dataset in dict.fromkeys(run.track.dataset for run in runs):
        mine = [run for run in runs if run.track.dataset == dataset]
        size = len(mine[0].ids)
        digest = blake2b(digest_size=16)
        for key in mine[0].ids.to_pylist():
            digest.update(key.encode("utf-8", "backslashreplace") + b"\0")
        golds, texts = np.zeros(size, np.uint64), np.zeros(size, np.uint64)
        for run in mine:
            if run.golds is not None:
                golds = np.where(golds == 0, run.golds.codes, golds)
            clean = run.seen if run.is_clean and run.seen is not None else run.meant
            if clean is not None:
                texts = np.where(texts == 0, clean, texts)
        for column in (golds, texts):
            digest.update(column.astype("<u8").tobytes())
        found.append(DataDigest(dataset, size, digest.hexdigest()))
    return found
