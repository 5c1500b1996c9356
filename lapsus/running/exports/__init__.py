"""Tasks as other harnesses take them, rendered from the table: the same prompt, labels and scores everywhere.

Each writer takes the tracks of a dataset and a folder; `rendered` makes the rows that all of them write.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lapsus.kernel.atomic import staged_folder
from lapsus.kernel.names import unknown
from lapsus.kernel.words import as_text
from lapsus.running.data import Data

MARK = "lapsus-export.json"  # tells an earlier export, which may be replaced, from other folders


def rendered(data: Data, track: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a track as a harness asks them: the prompt, and the choices with the place of the right one.

    `labels` are the names that the report has for the choices; `row` is all that the parser and the scorer of lapsus
    need of the original.

    >>> from lapsus.running.tasks import own_task
    >>> task = own_task(["text"], "label", labels=["no", "yes"])
    >>> data = Data.of_rows("mine", task, [{"id": "a", "text": "rain?", "label": "yes"}])
    >>> (row,) = rendered(data, "clean")
    >>> row["question"], row["choices"], row["answer"]
    ('rain?', ['no', 'yes'], 1)
    """
    task = data.task
    for row in data.tracks[track]:
        judged = task.kind.judged(None, row)
        made: dict[str, Any] = {"id": str(row["id"]), "dataset": data.name, "track": track, "question": task.asked(row)}
        if task.kind.choices:
            made |= {
                "choices": list(task.kind.choices.values()),
                "labels": list(task.kind.choices),
                "answer": list(task.kind.choices).index(judged["gold"]),
            }
        texts = {"text": [row[name] for name in task.inputs]}
        if all(f"clean_{name}" in row for name in task.inputs):
            texts["clean_text"] = [row[f"clean_{name}"] for name in task.inputs]
        made |= {name: "\n".join(map(as_text, values)) for name, values in texts.items()}
        kept = {name: row[name] for name in ("id", *task.columns, *task.kind.gold_columns) if name in row}
        yield {**made, "gold": judged.get("gold"), "row": json.dumps(kept, ensure_ascii=False)}


def describe(data: Data) -> dict[str, Any]:
    """Return what a harness must know to read and score answers as lapsus does."""
    kind = data.task.kind
    names = {"intents": "intent", "slots": "slots"}
    features = {column: list(getattr(kind, name)) for name, column in names.items() if getattr(kind, name, None)}
    if kind.choices:
        features = {kind.gold_columns[0]: list(kind.choices)}
    return {"task": data.task.name, "version": data.task.version, "features": features, "tracks": list(data.tracks)}


def write_rows(data: Data, folder: Path) -> None:
    """Write the rendered rows of each track, and what describes them."""
    (folder / "rows").mkdir()
    for track in data.tracks:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rendered(data, track))
        (folder / "rows" / f"{track}.jsonl").write_text("".join(lines), encoding="utf-8")
    (folder / MARK).write_text(json.dumps(describe(data), ensure_ascii=False, indent=1), encoding="utf-8")


def export(data: Data, target: str, out: Path) -> Path:
    """Write the task of `data` for a harness; the folder appears when it is complete."""
    writers = _writers()
    if target not in writers:
        raise LookupError(unknown("harness", target, writers))
    with staged_folder(out, ours=lambda folder: (folder / MARK).is_file(), what="export") as folder:
        write_rows(data, folder)
        writers[target](data, folder)
    return out


def _writers() -> Mapping[str, Callable[[Data, Path], None]]:
    from lapsus.running.exports import evaluate_suite, hub, inspect_tasks, lm_eval

    return {
        "evaluate": evaluate_suite.write,
        "hub": hub.write,
        "inspect": inspect_tasks.write,
        "lm-eval": lm_eval.write,
    }
