"""`lapsus report` and `lapsus compare`: reports of predictions, and how two of them differ."""

from __future__ import annotations

import json
import shlex
from functools import partial
from pathlib import Path

import click
from tqdm import tqdm

from lapsus.cli.main import ARGV_KEY
from lapsus.cli.options import PATH, add_option, parse_assignments
from lapsus.core.messages import format_examples
from lapsus.integrations.loggers import LOGGERS
from lapsus.reporting import compare as comparison
from lapsus.reporting.expressions import parse_condition
from lapsus.reporting.report import report as write_report
from lapsus.reporting.tracks import read_tracks

FOLDER = click.Path(path_type=Path, file_okay=False, exists=True)


@click.command(epilog=format_examples("lapsus report bert.clean.jsonl bert.keyboard.*.jsonl --out report"))
@click.argument("files", type=PATH, nargs=-1, required=True)
@add_option("--out", "Folder for the page and its tables.", required=True)
@add_option("--references", "File, or folder of lapsus build, joined by id.")
@click.option("--path-pattern", metavar="PATTERN", help='Pattern of file paths, e.g. "{model}/{dataset}/{track}".')
@add_option(
    "--score", "Column of scores from 0 to 1, or a scorer (lapsus list scorers); repeatable, the first decides."
)
@add_option("--rubric")
@click.option("--prediction", metavar="COLUMN", help="Column of predictions.")
@add_option("--gold", "Column of gold answers.")
@click.option("--cluster", metavar="COLUMN", help="Column that names the original of each row.")
@click.option(
    "--group-by",
    multiple=True,
    metavar="COLUMN",
    help="Also report scores by the values of this column; repeatable.",
)
@add_option("--where")
@add_option("--split", "Split of --references.", default="test", show_default=True)
@click.option(
    "--drop-unparsed", is_flag=True, help="Exclude rows without a prediction; by default they count as wrong."
)
@click.option(
    "--normalize",
    is_flag=True,
    help="Compare without case, spaces, marks around an answer, width and Unicode form.",
)
@click.option(
    "--lower-is-better/--higher-is-better",
    default=None,
    help="Whether scores are error rates. [default: by the name of --score, such as wer]",
)
@click.option("--title", help="Title of the page.")
@add_option("--confidence-level")
@add_option("--margin")
@click.option(
    "--fail-if",
    metavar="EXPRESSION",
    help="Exit with 3 if this holds for a model, e.g. 'typed.average.low < 85 or drop.high > 5'.",
)
@click.option(
    "--log-to", multiple=True, type=click.Choice(sorted(LOGGERS)), help="Also log the numbers there; repeatable."
)
@add_option("--json", "Print the numbers as JSON, as report.json holds them.")
def report(
    files: tuple[Path, ...],
    out: Path,
    references: Path | None,
    path_pattern: str | None,
    score: tuple[str, ...],
    rubric: Path | None,
    prediction: str | None,
    gold: str | None,
    cluster: str | None,
    group_by: tuple[str, ...],
    where: tuple[str, ...],
    split: str,
    drop_unparsed: bool,
    normalize: bool,
    lower_is_better: bool | None,
    title: str | None,
    confidence_level: float,
    margin: float,
    fail_if: str | None,
    log_to: tuple[str, ...],
    *,
    as_json: bool,
) -> None:
    """Write an HTML report, tables and plots from prediction files.

    FILES are JSON lines, CSV, Parquet, samples of lm-evaluation-harness, logs of inspect, or folders with such logs.
    In the EXPRESSION of --fail-if, FAMILY.clean, .average, .worst, .drop and .worst_drop are values in points, with
    .low and .high the ends of their intervals; without FAMILY they are those of each family of noise in turn. With it,
    the command also fails where noise changed no text, calls failed, or a value is not known.
    """
    tracks = read_tracks(
        files,
        references=references,
        path_pattern=path_pattern,
        score=score or None,
        rubric=rubric,
        prediction=prediction,
        gold=gold,
        cluster=cluster,
        where=parse_assignments(where) if where else None,
        split=split,
        drop_unparsed=drop_unparsed,
        normalize=normalize,
        lower_is_better=lower_is_better,
        warn=partial(click.echo, err=True),
    )
    bar = partial(tqdm, unit=" models", disable=None, dynamic_ncols=True)
    command = shlex.join(click.get_current_context().meta[ARGV_KEY])
    written = write_report(
        tracks,
        out,
        group_by=group_by,
        title=title,
        confidence_level=confidence_level,
        progress=bar,
        command=command,
        margin=margin,
        fail_if=fail_if,
    )
    for warning in written.numbers.warnings:
        click.echo(f"warning: {warning}", err=True)
    if as_json:
        click.echo((written.folder / "report.json").read_text(encoding="utf-8"))
    click.echo(f"wrote {written}", err=as_json)
    for name in log_to:
        LOGGERS[name](written)
        click.echo(f"logged to {name}", err=as_json)
    for failure in written.failures:
        click.echo(f"fails: {failure}", err=True)
    if written.failures:
        raise SystemExit(3)


@click.command(epilog=format_examples('lapsus compare report-main report-pr --fail-if "average < -2 and p < .05"'))
@click.argument("old", type=FOLDER)
@click.argument("new", type=FOLDER)
@click.option(
    "--fail-if", metavar="EXPRESSION", help="Exit with 3 if this holds for a model and a family of noisy tracks."
)
@add_option("--confidence-level")
@add_option("--margin")
@add_option("--json")
def compare(
    old: Path, new: Path, *, fail_if: str | None, confidence_level: float, margin: float, as_json: bool
) -> None:
    """Compare two report folders.

    The verdict follows the score on noisy text: better or worse where a change is significant, else not worse
    by --margin, or undecided. In EXPRESSION, `clean`, `average` (noisy text), `worst`, `drop` and
    `worst_drop` are changes from OLD to NEW in points (`average < -2`: noisy text lost more than 2 points); with
    `old_` or `new_` before them they are the values themselves (`new_drop > 10`). `average.low` and `average.high` are
    the ends of the interval of a change, `drop.p` its p-value (of clean, average, worst and drop); `p` and `p_holm`
    are those of the average.
    """
    condition = parse_condition(fail_if, comparison.NAMES) if fail_if else None
    changes = comparison.compare(old, new, confidence_level=confidence_level, margin=margin)
    click.echo(
        json.dumps([comparison.to_record(change) for change in changes], ensure_ascii=False, indent=2)
        if as_json
        else comparison.format_changes(changes)
    )
    for warning in (warning for change in changes for warning in change.warnings):
        click.echo(f"warning: {warning}", err=True)
    for change in changes:
        if change.note and not as_json:
            click.echo(f"{change.model} on {change.family}: {change.note}")
    problems = comparison.find_problems(new) if condition else []
    for problem in problems:
        click.echo(f"fails: {problem}", err=True)
    failing = [change for change in changes if condition and condition.evaluate(change.to_values())]
    for change in failing:
        click.echo(f"fails: {fail_if} holds for {change.model} on {change.family}", err=True)
    if failing or problems:
        raise SystemExit(3)
