"""Tasks as other harnesses take them, rendered from the table: the same prompt, labels and scores everywhere.

Each writer takes the tracks of a dataset and a folder; `render_rows` makes the rows that all of them write.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lapsus.core.conversations import require_text
from lapsus.core.files import stage_folder
from lapsus.core.messages import format_unknown_name
from lapsus.core.text import to_text
from lapsus.core.types import StrPath

if TYPE_CHECKING:
    from lapsus.evaluation.tasks import Task
    from lapsus.evaluation.tracks import TrackSet

MARK = "lapsus-export.json"  # tells an earlier export, which may be replaced, from other folders


def render_rows(data: TrackSet, track: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a track as a harness asks them: the prompt, and the choices with the place of the right one.

    `labels` are the names that the report has for the choices; `row` is all that the parser and the scorer of lapsus
    need of the original.

    >>> from lapsus.evaluation.tasks import make_task
    >>> from lapsus.evaluation.tracks import TrackSet
    >>> task = make_task(["text"], "label", labels=["no", "yes"], prompt="{text}")
    >>> data = TrackSet.from_rows("mine", task, [{"id": "a", "text": "rain?", "label": "yes"}])
    >>> (row,) = render_rows(data, "clean")
    >>> row["question"], row["choices"], row["answer"]
    ('rain?', ['no', 'yes'], 1)
    """
    task = data.task
    for row in data.tracks[track]:
        scored = task.answer_type.score(None, row)
        rendered_row: dict[str, Any] = {
            "id": str(row["id"]),
            "dataset": data.name,
            "track": track,
            "question": require_text(task.render_prompt(row), "an exported task"),
        }
        if task.answer_type.choices:
            rendered_row |= {
                "choices": list(task.answer_type.choices.values()),
                "labels": list(task.answer_type.choices),
                "answer": list(task.answer_type.choices).index(scored["gold"]),
            }
        texts = {"text": [row[name] for name in task.inputs]}
        if all(f"clean_{name}" in row for name in task.inputs):
            texts["clean_text"] = [row[f"clean_{name}"] for name in task.inputs]
        rendered_row |= {name: "\n".join(map(to_text, values)) for name, values in texts.items()}
        original = {name: row[name] for name in ("id", *task.columns, *task.answer_type.gold_columns) if name in row}
        yield {**rendered_row, "gold": scored.get("gold"), "row": json.dumps(original, ensure_ascii=False)}


def describe_task(data: TrackSet) -> dict[str, Any]:
    """Return what a harness must know to read and score answers as lapsus does."""
    answer_type = data.task.answer_type
    names = {"intents": "intent", "slots": "slots"}
    features = {
        column: list(getattr(answer_type, name)) for name, column in names.items() if getattr(answer_type, name, None)
    }
    if answer_type.choices:
        features = {answer_type.gold_columns[0]: list(answer_type.choices)}
    return {"task": data.task.name, "version": data.task.version, "features": features, "tracks": list(data.tracks)}


def write_rows(data: TrackSet, folder: Path) -> None:
    """Write the rendered rows of each track, and what describes them."""
    (folder / "rows").mkdir()
    for track in data.tracks:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in render_rows(data, track))
        (folder / "rows" / f"{track}.jsonl").write_text("".join(lines), encoding="utf-8")
    (folder / MARK).write_text(json.dumps(describe_task(data), ensure_ascii=False, indent=1), encoding="utf-8")


def export(data: TrackSet, target: str, out: StrPath) -> Path:
    """Write the task of `data` for a harness; the folder appears when it is complete."""
    writers = _load_writers()
    if target not in writers:
        raise LookupError(format_unknown_name("harness", target, writers))
    out = Path(out)
    with stage_folder(out, may_replace=lambda folder: (folder / MARK).is_file(), description="export") as folder:
        write_rows(data, folder)
        writers[target](data, folder)
    return out


def _load_writers() -> Mapping[str, Callable[[TrackSet, Path], None]]:
    from lapsus.integrations import evaluate, hub, inspect, lm_eval

    return {
        "evaluate": evaluate.write_evaluate_suite,
        "hub": hub.write_hub_files,
        "inspect": inspect.write_inspect_tasks,
        "lm-eval": lm_eval.write_lm_eval_tasks,
    }


# How the answers that a harness collected are read and scored: as `lapsus run` does.


def load_exported_task(folder: StrPath) -> Task:
    """Return the task of an exported folder, with the labels of its data; refuse one of another version."""
    from lapsus.evaluation.benchmark_tasks import find_task

    description = json.loads((Path(folder) / MARK).read_text(encoding="utf-8"))
    task = find_task(description["task"])
    if task.version != description["version"]:
        raise ValueError(
            f"{folder} was exported from version {description['version']} of {task.name}, which is now {task.version}; "
            "export it again (lapsus tasks --export)"
        )
    return task.with_label_names(description["features"])


def score_response(task: Task, response: str, row: str) -> dict[str, Any]:
    """Return prediction, score and the other columns that `lapsus run` would write about an answer."""
    original: Mapping[str, Any] = json.loads(row)
    prediction = task.answer_type.parse(response, original)
    return {"unparsed": prediction is None, **task.answer_type.score(prediction, original)}
