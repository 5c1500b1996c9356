"""How the answers that a harness collected are read and scored: as `lapsus run` does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lapsus.running.exports import MARK
from lapsus.running.tasks import Task, find_task


def exported_task(folder: Path) -> Task:
    """Return the task of an exported folder, with the labels of its data; refuse one of another version."""
    told = json.loads((folder / MARK).read_text(encoding="utf-8"))
    task = find_task(told["task"])
    if task.version != told["version"]:
        raise ValueError(
            f"{folder} was exported from version {told['version']} of {task.name}, which is now {task.version}; "
            "export it again (lapsus tasks --for)"
        )
    return task.bound(told["features"])


def judged(task: Task, answer: str, row: str) -> dict[str, Any]:
    """Return prediction, score and the other columns that `lapsus run` would write about an answer."""
    original: Mapping[str, Any] = json.loads(row)
    prediction = task.kind.parse(answer, original)
    return {"unparsed": prediction is None, **task.kind.judged(prediction, original)}
