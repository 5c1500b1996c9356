"""READIN's tables of systems that write their answer, as runs of `lapsus run`: a recipe names tasks and models.

    python benchmarks/systems/readin_written.py run table6.toml --data BUILT --work DIR [--system NAME]
    python benchmarks/systems/readin_written.py table table6.toml --work DIR --out docs/systems.md

BUILT is a folder with the datasets of `lapsus build`. A system with a checkpoint runs when it is named. The average and
the worst are of scores of single answers, BLEU too: the paper's averages of BLEU are of whole tracks.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from _page import table_command
from _readin_tables import grid

from lapsus.metrics import micro_worst_average

HERE = Path(__file__).parent
FAMILIES = ("keyboard", "speech")


@dataclass(frozen=True)
class System:
    """A model on a task."""

    name: str
    label: str
    task: str
    model: str
    measure: str
    options: tuple[str, ...] = ()

    @property
    def runs_here(self) -> bool:
        """Whether no checkpoint is needed."""
        return self.model.startswith("python:")


@dataclass(frozen=True)
class Recipe:
    """Systems, and what the paper has of others."""

    name: str
    title: str
    published: Mapping[str, Sequence[float]]
    systems: tuple[System, ...]

    @classmethod
    def read(cls, path: Path) -> Recipe:
        """Read a file of the form of table6.toml."""
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        systems = tuple(System(**{**each, "options": tuple(each.get("options", ()))}) for each in told["system"])
        return cls(path.stem, told["title"], told.get("published", {}), systems)


def note_of(work: Path, system: System) -> Path:
    """Return where the time of a run is kept; its answers are beside it."""
    return work / system.task / system.name / "seconds.json"


def run_one(system: System, data: Path, work: Path) -> None:
    """Run a system on the clean track and on all that people or operators made of it, if that was not done."""
    note = note_of(work, system)
    if note.exists():
        return
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "lapsus", "run", system.task, "--data", str(data / system.task)]
    command += ["--model", system.model, "--name", system.name, "--tracks", ",".join(f"{each}.*" for each in FAMILIES)]
    environment = {**os.environ, "DATA": str(data)}
    subprocess.run([*command, *system.options, "--out", str(work)], cwd=HERE, env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    note.write_text(json.dumps({"seconds": round(seconds)}), encoding="utf-8")


def score_of(row: Mapping[str, Any], measure: str) -> float:
    """Return the score of an answer from 0 to 1."""
    if measure == "sentence BLEU":
        import sacrebleu

        return float(sacrebleu.sentence_bleu(row["prediction"] or "", [row["gold"]]).score) / 100
    if measure == "exact match":
        return float(row["exact_match"])
    return float(row["score"])


def scores_of(system: System, work: Path) -> dict[str, dict[str, float]]:
    """Return the score of each row by track."""
    found = {}
    for file in sorted(note_of(work, system).parent.glob("*.jsonl")):
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        found[file.stem] = {row["id"]: score_of(row, system.measure) for row in rows}
    return found


def percent(told: Mapping[str, Any], name: str) -> str:
    """Return a rate and its interval in percent."""
    low, high = told[f"{name}_ci"]
    return f"{100 * told[name]:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def line(system: System, work: Path) -> list[str]:
    """Return the row of a system, over the examples that every track has: a recording may be missing."""
    tracks = scores_of(system, work)
    keys = [key for key in tracks["clean"] if all(key in scores for scores in tracks.values())]
    clean = [tracks["clean"][key] for key in keys]
    cells: list[str] = []
    for family in FAMILIES:
        people = [track for track in tracks if track.startswith(family)]
        told = micro_worst_average([[tracks[track][key] for track in people] for key in keys], clean_scores=clean)
        cells = cells or [percent(told, "clean_average")]
        cells += [percent(told, "micro_average"), percent(told, "worst_average")]
    seconds = json.loads(note_of(work, system).read_text(encoding="utf-8"))["seconds"]
    return [system.label, system.measure, f"{len(keys):,}", *cells, str(seconds)]


def text_of(recipe: Recipe, work: Path) -> str:
    """Return the table of what was run, then the paper's."""
    parts = [f"{family}, {what}" for family in FAMILIES for what in ("average", "worst")]
    lines = [line(system, work) for system in recipe.systems if note_of(work, system).exists()]
    theirs = [[row, *(f"{each:.2f}" for each in told)] for row, told in recipe.published.items()]
    return "\n\n".join(
        [
            grid([recipe.title, "score", "rows", "clean", *parts, "s"], lines, words=2),
            "The paper's, by other models, on recordings and typing of people:",
            grid(["", "clean", *parts], theirs),
        ]
    )


@click.group()
def main() -> None:
    """Run READIN's systems that write, and print what came out."""


@main.command()
@click.argument("recipe", type=click.Path(path_type=Path, exists=True))
@click.option("--data", type=click.Path(path_type=Path), required=True, help="the datasets of lapsus build")
@click.option("--work", type=click.Path(path_type=Path), required=True, help="what is kept of each run")
@click.option("--system", "names", multiple=True, help="only this system; may be given again")
def run(recipe: Path, data: Path, work: Path, names: tuple[str, ...]) -> None:
    """Ask the systems of a recipe."""
    systems = Recipe.read(recipe).systems
    if unknown := set(names) - {system.name for system in systems}:
        known = dict.fromkeys(system.name for system in systems)
        raise click.UsageError(f"{recipe} has no system {', '.join(sorted(unknown))}; it has {', '.join(known)}")
    for system in systems:
        if system.name in names or (not names and system.runs_here):
            run_one(system, data.resolve(), work.resolve())


main.add_command(table_command(lambda recipe, work: text_of(Recipe.read(recipe), work)))


if __name__ == "__main__":
    main()
