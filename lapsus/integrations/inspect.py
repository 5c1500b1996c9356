"""What inspect finds in lapsus: any benchmark's track as a task, noise as a solver, and noise on any other task.

    inspect eval lapsus/benchmark -T task=readin-afqmc -T data=DIR -T track=keyboard.1 --model PROVIDER/NAME
    inspect eval lapsus/noisy -T of=inspect_evals/mmlu -T operator=zh_keyboard --model PROVIDER/NAME
    inspect eval lapsus/noisy -T of=inspect_evals/mmlu -T operator=clean --model PROVIDER/NAME

Logs keep our ids, datasets and tracks: `lapsus report logs/*.eval --out report`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from inspect_ai import Task, task, task_with
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

from lapsus.core.messages import USER_ERRORS, format_error
from lapsus.evaluation.benchmark_tasks import find_task
from lapsus.evaluation.run_folder import to_folder_name
from lapsus.evaluation.tasks import Task as LapsusTask
from lapsus.evaluation.tracks import TrackSet, load_tracks
from lapsus.integrations import load_exported_task, render_rows, score_response
from lapsus.integrations.inspect_users import NoisyUser, get_clean_turns, make_noise_track, noise, says

__all__ = ["NoisyUser", "benchmark", "get_clean_turns", "make_noise_track", "noise", "noisy", "says"]


@contextmanager
def show_errors_in_inspect() -> Iterator[None]:
    """Let inspect's command show a user's mistake as a sentence, without a traceback."""
    try:
        yield
    except USER_ERRORS as error:
        raise PrerequisiteError(format_error(error)) from error


def to_samples(rows: list[dict[str, Any]]) -> MemoryDataset:
    """Return rendered rows as samples."""
    metadata_columns = ("dataset", "track", "text", "clean_text", "row")
    return MemoryDataset(
        [
            Sample(
                input=row["question"],
                target=str(row.get("gold") or ""),
                id=row["id"],
                metadata={name: row[name] for name in metadata_columns if name in row},
            )
            for row in rows
        ]
    )


def make_inspect_task(lapsus_task: LapsusTask, rows: list[dict[str, Any]], name: str) -> Task:
    """Return a task of inspect that asks rendered rows and scores them as `lapsus run` does."""
    return Task(
        dataset=to_samples(rows),
        solver=generate(),
        scorer=lapsus_score(lapsus_task),
        config=GenerateConfig(temperature=0, max_tokens=lapsus_task.answer_type.max_tokens, seed=0),
        name=name,
        version=lapsus_task.version,
    )


@scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator] # inspect is not followed
def lapsus_score(lapsus_task: LapsusTask) -> Scorer:
    """Read and score an answer as `lapsus run` does."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - inspect gives it
        scored = score_response(lapsus_task, state.output.completion, state.metadata["row"])
        answer = scored.get("prediction")
        return Score(value=scored["score"] or 0.0, answer=None if answer is None else str(answer), metadata=scored)

    return score


def make_exported_task(folder: Path, track: str) -> Task:
    """Return the task of a track that `lapsus tasks --export inspect` wrote."""
    lapsus_task = load_exported_task(folder)
    lines = (folder / "rows" / f"{track}.jsonl").read_text(encoding="utf-8").splitlines()
    return make_inspect_task(lapsus_task, [json.loads(line) for line in lines], f"{lapsus_task.name}_{track}")


@task  # type: ignore[untyped-decorator] # likewise
def benchmark(task: str, data: str, track: str = "clean", split: str | None = None) -> Task:
    """Ask a task of `lapsus tasks` on one track of a dataset folder, or of a repo of the Hub."""
    with show_errors_in_inspect():
        track_set = load_tracks(data, find_task(task), [track], split=split)
        return make_inspect_task(track_set.task, list(render_rows(track_set, track)), f"{task}_{track}")


@task  # type: ignore[untyped-decorator] # likewise
def noisy(
    of: str,
    operator: str = "filler_eos",
    annotator: int | None = None,
    protect: str | None = None,
    leave: str | None = None,
) -> Task:
    """Run any task of inspect with noise in what its user says, or with `operator=clean` the twin to compare it with.

    Later messages of a simulated user get noise too; it must be another model than the one under test. `protect` and
    `leave` are those of `noise`.
    """
    from inspect_ai._eval.loader import load_tasks

    tasks = load_tasks([of])
    if len(tasks) != 1:
        raise PrerequisiteError(f"inspect finds {len(tasks)} tasks for {of!r}; give one, as FILE@TASK or PACKAGE/TASK")
    original_task = tasks[0]
    name = original_task.name.rpartition("/")[2]
    with show_errors_in_inspect():
        noise_solver = noise(operator, annotator, name, protect=[protect] if protect else (), hook=True, leave=leave)
    before = [noise_solver, *([original_task.setup] if original_task.setup is not None else [])]
    number = "" if annotator is None else f"_{annotator}"
    return task_with(original_task, setup=before, name=f"{name}_{operator}{number}")


# Tasks of inspect: a file with one task per track, each over the rows that stand beside it.


HEAD = '''"""Tasks of inspect, one per track; written by `lapsus tasks --export inspect`.

    inspect eval tasks.py@{first} --model PROVIDER/NAME
"""

from pathlib import Path

from inspect_ai import task

from lapsus.integrations.inspect import make_exported_task

HERE = Path(__file__).parent
'''

EACH = '''

@task(name="{name}")
def {function}():
    """The track {track}."""
    return make_exported_task(HERE, "{track}")
'''


def write_inspect_tasks(data: TrackSet, folder: Path) -> None:
    """Write `tasks.py`."""
    functions = {
        track: to_folder_name(f"{data.task.name}_{track}").replace("-", "_").replace(".", "_") for track in data.tracks
    }
    parts = [HEAD.format(first=f"{data.task.name}_{next(iter(functions))}")]
    parts += [
        EACH.format(name=f"{data.task.name}_{track}", function=function, track=track)
        for track, function in functions.items()
    ]
    (folder / "tasks.py").write_text("".join(parts), encoding="utf-8")
