"""`lapsus plan`: how many examples a study needs, and what the examples that there are can show."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from lapsus.cli.options import add_option
from lapsus.core.messages import format_examples
from lapsus.reporting import planning

PERCENT = click.FloatRange(0, 100, min_open=True, max_open=True)


@click.command(
    epilog=format_examples(
        "lapsus plan --clean 90 --drop 5",
        "lapsus plan report --drop 2 --annotators 3",
        "lapsus plan report --examples 200",
    )
)
@click.argument("pilot", type=click.Path(path_type=Path, file_okay=False, exists=True), required=False)
@click.option("--clean", type=PERCENT, metavar="PERCENT", help="Without PILOT: the score on clean text.")
@click.option(
    "--changed",
    type=PERCENT,
    metavar="PERCENT",
    help="Without PILOT: the share of answers that change by chance, up or down. [default: 5]",
)
@click.option("--drop", type=PERCENT, multiple=True, metavar="POINTS", help="The drop to show; repeatable.")
@click.option("--examples", type=click.IntRange(min=2), metavar="N", help="Say what N examples can show.")
@click.option(
    "--annotators", type=click.IntRange(min=1), multiple=True, metavar="N", help="Annotators of each noise; repeatable."
)
@click.option(
    "--tests",
    type=click.IntRange(min=1),
    metavar="N",
    help="Models times kinds of noise, tested together. [default: those of PILOT, else 1]",
)
@add_option("--json")
def plan(
    pilot: Path | None,
    clean: float | None,
    changed: float | None,
    drop: tuple[float, ...],
    examples: int | None,
    annotators: tuple[int, ...],
    tests: int | None,
    *,
    as_json: bool,
) -> None:
    """Plan a study: examples and annotators that show a drop with a chance of 80 %.

    PILOT is the folder of a report, whose scores tell what varies; without it state --clean. The level is that of the
    strictest of --tests tests by Holm's method. Repeats are answers to the clean text: the drop needs one, the worst
    average by chance as many as annotators.
    """
    if pilot is None and clean is None:
        raise click.UsageError("give the folder of a report, or state rates, e.g. lapsus plan --clean 90 --drop 5")
    if pilot is not None and not (clean is None and changed is None):
        raise click.UsageError("the pilot tells the rates: leave out --clean and --changed, or the folder")
    if drop and examples is not None:
        raise click.UsageError("--drop asks for the examples, --examples for the drop: give one of them")
    if clean is not None and drop and max(drop) > clean:
        raise click.UsageError(f"a clean score of {clean:g} cannot drop by {max(drop):g} points; give a smaller --drop")
    if pilot is None:
        pilots = [planning.state_rates((clean or 0) / 100, (changed or 5) / 100)]
    else:
        pilots = planning.read_pilots(pilot)
    n_tests, numbers = tests or len(pilots), annotators or planning.ANNOTATORS
    drops = [points / 100 for points in drop] or list(planning.DROPS)
    rows = (
        planning.plan_examples(pilots, drops, numbers, n_tests)
        if examples is None
        else planning.plan_drops(pilots, examples, numbers, n_tests)
    )
    if as_json:
        click.echo(json.dumps([asdict(row) for row in rows], ensure_ascii=False, indent=2))
        return
    click.echo(planning.format_plan(rows))
    if any(pilot.annotators == 1 for pilot in pilots) and max(numbers) > 1:
        correlation = f"drops of two annotators correlate with {planning.CORRELATION:g}"
        click.echo(f"assumed, as one annotator does not tell it: {correlation}")
