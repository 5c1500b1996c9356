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
from inspect_ai._util.error import PrerequisiteError  # which its command shows as a sentence
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver

from lapsus.kernel.user_errors import USER_ERRORS, one_sentence
from lapsus.perturbations import NoiseTrack, tracks_of
from lapsus.perturbations.noise import in_turn
from lapsus.results.track_names import CLEAN
from lapsus.running.data import open_dataset
from lapsus.running.exports import rendered
from lapsus.running.exports.judging import exported_task, judged
from lapsus.running.noise_on_rows import track_name
from lapsus.running.tasks import Task as LapsusTask
from lapsus.running.tasks import find_task


@contextmanager
def shown_by_inspect() -> Iterator[None]:
    """Let inspect's command show a user's mistake as a sentence, without a traceback."""
    try:
        yield
    except USER_ERRORS as error:
        raise PrerequisiteError(one_sentence(error)) from error


def samples(rows: list[dict[str, Any]]) -> MemoryDataset:
    """Return rendered rows as samples."""
    kept = ("dataset", "track", "text", "clean_text", "row")
    return MemoryDataset(
        [
            Sample(
                input=row["question"],
                target=str(row.get("gold") or ""),
                id=row["id"],
                metadata={name: row[name] for name in kept if name in row},
            )
            for row in rows
        ]
    )


def asked(told: LapsusTask, rows: list[dict[str, Any]], name: str) -> Task:
    """Return a task of inspect that asks rendered rows and scores them as `lapsus run` does."""
    return Task(
        dataset=samples(rows),
        solver=generate(),
        scorer=lapsus_score(told),
        config=GenerateConfig(temperature=0, max_tokens=told.kind.max_tokens, seed=0),
        name=name,
        version=told.version,
    )


@scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator] # inspect is not followed
def lapsus_score(told: LapsusTask) -> Scorer:
    """Read and score an answer as `lapsus run` does."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - inspect gives it
        found = judged(told, state.output.completion, state.metadata["row"])
        answer = found.get("prediction")
        return Score(value=found["score"] or 0.0, answer=None if answer is None else str(answer), metadata=found)

    return score


def exported(folder: Path, track: str) -> Task:
    """Return the task of a track that `lapsus tasks --for inspect` wrote."""
    told = exported_task(folder)
    lines = (folder / "rows" / f"{track}.jsonl").read_text(encoding="utf-8").splitlines()
    return asked(told, [json.loads(line) for line in lines], f"{told.name}_{track}")


@task  # type: ignore[untyped-decorator] # likewise
def benchmark(task: str, data: str, track: str = "clean", split: str | None = None) -> Task:
    """Ask a task of `lapsus tasks` on one track of a dataset folder, or of a repo of the Hub."""
    with shown_by_inspect():
        found = open_dataset(data, find_task(task), [track], split=split)
        return asked(found.task, list(rendered(found, track)), f"{task}_{track}")


@solver  # type: ignore[untyped-decorator] # likewise
def noise(operator: str = "filler_eos", annotator: int | None = None, dataset: str | None = None) -> Solver:
    """Put noise into the user's words, keyed by the sample's id; chain it before a task's own solver.

    Args:
        operator: OPERATOR[@SEVERITY], several joined by `+`, or `clean` for the twin without noise.
        annotator: The number of an annotator, or a seed where the operator knows none.
        dataset: What `lapsus report` calls the data.
    """
    named = {"dataset": dataset} if dataset else {}
    if operator in CLEAN:
        return _mark({**named, "track": CLEAN[0]})
    made_by = noise_track(operator, annotator)
    track = f"{track_name(operator)}{made_by.suffix}"
    noises = made_by.noises(column="text", key="id")

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - inspect gives it
        clean = state.input_text
        made = in_turn(noises, {"id": [str(state.sample_id)], "text": [clean]})
        (text,) = made["text"]
        if clean not in state.user_prompt.text:
            raise ValueError(
                f"the prompt of sample {state.sample_id!r} does not hold its input; put noise before other solvers"
            )
        state.user_prompt.text = state.user_prompt.text.replace(clean, text, 1)
        told = {name: made[name][0] for name in ("text", "clean_text", "edits", "operator")}
        state.metadata |= {**named, **told, "track": track}
        return state

    return solve


def _mark(metadata: dict[str, Any]) -> Solver:
    """Return a solver that leaves the words as they are, and says so."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - inspect gives it
        state.metadata |= metadata | {"text": state.input_text}
        return state

    return solve


def noise_track(operator: str, annotator: int | None) -> NoiseTrack:
    """Return the noise of one annotator, or of the operator as it is.

    >>> noise_track("zh_keyboard@0.5", 2).steps[0].operator.who, noise_track("filler_eos", 2).steps[0].seed
    (2, 2)
    """
    if annotator is None:
        return tracks_of(operator)[0]
    parts = (part.partition("@") for part in operator.split("+"))
    return tracks_of("+".join(f"{name}:{annotator}{at}{severity}" for name, at, severity in parts))[-1]


@task  # type: ignore[untyped-decorator] # likewise
def noisy(of: str, operator: str = "filler_eos", annotator: int | None = None) -> Task:
    """Ask any task of inspect with noise in its samples, or with `operator=clean` the twin that it is compared with."""
    from inspect_ai._eval.loader import load_tasks

    found = load_tasks([of])
    if len(found) != 1:
        raise PrerequisiteError(f"inspect finds {len(found)} tasks for {of!r}; give one, as FILE@TASK or PACKAGE/TASK")
    inner = found[0]
    name = inner.name.rpartition("/")[2]
    with shown_by_inspect():
        noisy_first = noise(operator, annotator, name)
    before = [noisy_first, *([inner.setup] if inner.setup is not None else [])]
    number = "" if annotator is None else f"_{annotator}"
    return task_with(inner, setup=before, name=f"{name}_{operator}{number}")
