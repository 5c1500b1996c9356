"""`lapsus tasks`: the tasks of `lapsus run`, one as a model reads it, or one written for another harness."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lapsus.cli.catalogue import format_units, list_units
from lapsus.cli.options import add_option, split_list
from lapsus.core.messages import format_examples

if TYPE_CHECKING:
    from lapsus.evaluation.tasks import Task


@click.command(
    epilog=format_examples(
        "lapsus tasks readin-afqmc",
        "lapsus tasks readin-afqmc --data readin-afqmc --export lm-eval --out tasks",
    )
)
@click.argument("task", required=False)
@click.option(
    "--export",
    "harness",
    type=click.Choice(["lm-eval", "inspect", "evaluate", "hub"]),
    help="Write the task for this harness.",
)
@click.option("--data", metavar="DIR|ORG/NAME", help="With --export: the dataset.")
@click.option("--tracks", metavar="GLOB,…", help="With --export: only these tracks, and the clean one.")
@add_option("--split", "With --export: the split. [default: test, or what stands for it]")
@add_option("--out", "With --export: the folder to write.")
def tasks(
    task: str | None, harness: str | None, data: str | None, tracks: str | None, split: str | None, out: Path | None
) -> None:
    """List tasks, show the prompt of TASK, or export it to another harness."""
    if task is None:
        if harness is not None:
            raise click.UsageError("--export needs a TASK; lapsus tasks lists them")
        print_tasks()
        return
    from lapsus.evaluation.benchmark_tasks import find_task  # a list of tasks does not wait for what a task is made of
    from lapsus.evaluation.tracks import load_tracks
    from lapsus.integrations import export

    definition = find_task(task)
    if harness is None:
        print_task(definition)
        return
    if data is None or out is None:
        raise click.UsageError("--export needs --data, the dataset, and --out, the folder to write")
    track_set = load_tracks(data, definition, split_list(tracks), split=split)
    folder = export(track_set, harness, out)
    click.echo(f"wrote {len(track_set.tracks)} tracks of {task} for {harness} to {folder}")


def print_tasks() -> None:
    """List the tasks."""
    click.echo("\n".join(format_units(list_units("tasks"))))


def print_task(task: Task) -> None:
    """Show a task as a model reads it."""
    click.echo(f"{task.name}, version {task.version}: {task.summary}")
    click.echo(f"dataset: {task.dataset}")
    click.echo(f"reads:   {', '.join(task.columns)}; noise goes to {', '.join(task.inputs)}")
    choices = ", ".join(f"{word} ({name})" if word != name else word for name, word in task.answer_type.choices.items())
    click.echo(f"answers: {choices or type(task.answer_type).__name__}")
    click.echo(f"\n{task.prompt}")
