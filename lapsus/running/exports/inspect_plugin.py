"""What inspect finds in lapsus: any benchmark's track as a task, noise as a solver, and noise on any other task.

    inspect eval lapsus/benchmark -T task=readin-afqmc -T data=DIR -T track=keyboard.1 --model PROVIDER/NAME
    inspect eval lapsus/noisy -T of=inspect_evals/mmlu -T operator=zh_keyboard --model PROVIDER/NAME

Logs keep our ids, datasets and tracks: `lapsus report logs/*.eval --out report`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inspect_ai import Task, task, task_with
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver

from lapsus.perturbations import OPERATORS, apply
from lapsus.perturbations.core import propose
from lapsus.perturbations.noise import signature
from lapsus.running.data import open_dataset
from lapsus.running.exports import rendered
from lapsus.running.exports.judging import exported_task, judged
from lapsus.running.tasks import Task as LapsusTask
from lapsus.running.tasks import find_task


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
    found = open_dataset(data, find_task(task), [track], split=split)
    return asked(found.task, list(rendered(found, track)), f"{task}_{track}")


@solver  # type: ignore[untyped-decorator] # likewise
def noise(operator: str = "filler_eos", seed: int = 0) -> Solver:
    """Put noise into the user's words, keyed by the sample's id; chain it before a task's own solver."""
    op = OPERATORS[operator]

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - inspect gives it
        clean = state.input_text
        (made,) = propose(op, [clean], seed=seed, keys=[str(state.sample_id)])
        text = apply(clean, made.edits)
        if clean not in state.user_prompt.text:
            raise ValueError(
                f"the prompt of sample {state.sample_id!r} does not hold its input; put noise before other solvers"
            )
        state.user_prompt.text = state.user_prompt.text.replace(clean, text, 1)
        edits = [edit._asdict() for edit in made.edits]
        state.metadata |= {"text": text, "clean_text": clean, "edits": edits, "track": operator}
        state.metadata["operator"] = signature(op, seed, made.operator)
        return state

    return solve


@task  # type: ignore[untyped-decorator] # likewise
def noisy(of: str, operator: str = "filler_eos", seed: int = 0) -> Task:
    """Ask any task of inspect with noise in its samples."""
    from inspect_ai._eval.loader import load_tasks

    found = load_tasks([of])
    if not found:
        raise LookupError(f"inspect finds no task {of!r}; give FILE@TASK, or PACKAGE/TASK")
    inner = found[0]
    before = [noise(operator, seed), *([inner.setup] if inner.setup is not None else [])]
    return task_with(inner, setup=before, name=f"{inner.name.rpartition('/')[2]}_{operator}")
