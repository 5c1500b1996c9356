"""The command line: each command parses, calls one function, and says what it wrote."""

from __future__ import annotations

import json
import shlex
from functools import partial
from pathlib import Path
from typing import Any

import click

import lapsus
from lapsus.cli.collect import paraphrase
from lapsus.cli.dialect import dialect
from lapsus.cli.hub import build, collect, make, push
from lapsus.cli.options import executor_options, format_examples, open_executor_from_options
from lapsus.cli.run import run, tasks
from lapsus.core.messages import USER_ERRORS, format_error
from lapsus.core.plugins import add_plugin_units

ARGV_KEY = "lapsus.words"  # where the context holds the words of the command


class UserErrorGroup(click.Group):
    """A group whose commands fail with one sentence, or with the traceback under --debug.

    Other packages add commands by the entry point `lapsus.commands`.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*super().list_commands(ctx), *load_plugin_commands()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command: plugins are only loaded for a name that lapsus itself does not have."""
        return super().get_command(ctx, cmd_name) or load_plugin_commands().get(cmd_name)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Remember the words of the command."""
        words = ["lapsus", *args]
        context = super().make_context(info_name, args, parent, **extra)
        context.meta[ARGV_KEY] = words
        return context

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except USER_ERRORS as error:
            if ctx.params["debug"] or (isinstance(error, BrokenPipeError) and _is_pipe_closed()):
                raise  # click ends quietly where nobody reads on
            raise click.ClickException(format_error(error)) from error


def load_plugin_commands() -> dict[str, click.Command]:
    """Return the commands of other packages, and of lapsus.papers, by name."""
    return add_plugin_units((), "lapsus.commands", lambda command: str(command.name))


def _is_pipe_closed() -> bool:
    """Return whether what is printed goes to a program that has ended, such as `head`."""
    try:
        click.echo()
    except BrokenPipeError:
        return True
    return False


@click.group(cls=UserErrorGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(lapsus.__version__)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def main(*, debug: bool) -> None:
    """Measure what real human input costs a language model."""


for command in (build, make, push, collect, run, tasks, paraphrase, dialect):
    main.add_command(command)


@main.command(epilog=format_examples("lapsus demo --out demo"))
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("demo"), show_default=True, help="Folder for what it makes."
)
def demo(out: Path) -> None:
    """Run the whole loop on the embedded sample: build, load, perturb, score, report."""
    from lapsus.cli.demo import run_demo

    page = run_demo(out, echo=click.echo)
    click.echo(f"wrote {page}")


LOGGER = click.Choice(["wandb", "mlflow", "tensorboard"])
LEVEL = click.FloatRange(0, 1, min_open=True, max_open=True)
KINDS = ("datasets", "metrics", "operators", "tasks", "input-methods")


@main.command(
    "list",
    epilog=format_examples("lapsus list operators filler", "lapsus list tasks --language zh", "lapsus list --json"),
)
@click.argument("kind", required=False, type=click.Choice(KINDS), default=None)
@click.argument("words", nargs=-1)
@click.option("--language", metavar="CODE", help="Only units for this language, such as zh, and those for any.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_units(kind: str | None, words: tuple[str, ...], language: str | None, *, as_json: bool) -> None:
    """Show what there is: all units, those of a KIND, or those with all WORDS in their name or description.

    KIND is datasets, metrics, operators, tasks or input-methods.
    """
    from lapsus.cli.list import filter_units, format_units, select_kinds

    units = {name: filter_units(rows, words, language) for name, rows in select_kinds(kind or "").items()}
    if as_json:
        click.echo(json.dumps(units, ensure_ascii=False, indent=2))
        return
    if not any(units.values()):
        query = " ".join((*words, *((f"--language {language}",) if language else ())))
        all_of = f"lapsus list {kind}" if kind else "lapsus list"
        raise LookupError(f"nothing among the {kind or 'units'} fits {query!r}; {all_of} shows all")
    for name, rows in units.items():
        if rows:
            click.echo(click.style(name.replace("-", " "), bold=True))
            click.echo("\n".join(format_units(rows)))


@main.command(
    epilog=format_examples(
        "lapsus perturb --operator zh_homophone --set rate=0.1 --column text --key id in.jsonl out.jsonl",
        "lapsus perturb --engine ray --operator zh_keyboard --column text --key id s3://BUCKET/rows s3://BUCKET/noisy",
    )
)
@click.argument("source")
@click.argument("target")
@click.option(
    "--operator",
    "operators",
    multiple=True,
    required=True,
    metavar="OPERATOR[:ANNOTATORS][@SEVERITY]",
    help="One of the operators of `lapsus list`; of several, each is put on what the ones before made. "
    "ANNOTATORS or several seeds make as many targets.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="[OPERATOR:]NAME=VALUE",
    help="A setting of the operator; of several operators, of the one named.",
)
@click.option(
    "--column", multiple=True, required=True, help="Column of text, or of tokens; may be given several times."
)
@click.option("--key", help="Column of the example's own id. Noise depends on it, and not on the order of rows.")
@click.option("--tags-column", help="Column of BIO tags, when --column holds tokens.")
@click.option("--answers", help="Column of SQuAD answers within --column; they stay whole and are moved.")
@click.option(
    "--seed", "seeds", type=int, multiple=True, default=(0,), show_default=True, help="May be given several times."
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Processes; same bytes for any. [default: 1; with --engine ray and no --address, all CPUs]",
)
@executor_options
@click.option("--overwrite", is_flag=True, help="Replace TARGET where it exists.")
@click.option("--split", help="Split, when SOURCE is a dataset.")
@click.option("--config", help="Config, when SOURCE is a dataset.")
def perturb(
    source: str,
    target: str,
    operators: tuple[str, ...],
    settings: tuple[str, ...],
    column: tuple[str, ...],
    key: str | None,
    tags_column: str | None,
    answers: str | None,
    seeds: tuple[int, ...],
    workers: int | None,
    engine_name: str,
    address: str | None,
    *,
    overwrite: bool,
    split: str | None,
    config: str | None,
) -> None:
    """Perturb SOURCE into TARGET: JSON lines, CSV or Parquet, or a dataset of the Hub.

    Every row keeps its clean text and records its edits. A run that was stopped goes on where it stopped.
    A file that was perturbed before is perturbed further: its clean text stays. Each annotator, and each of several
    seeds, has a target of its own: of out.jsonl, out.1.jsonl and out.2.jsonl, or out.seed0.jsonl and out.seed1.jsonl.

    With --engine ray, SOURCE is a file, a folder or a pattern of JSON lines or Parquet, TARGET a folder of Parquet
    shards; both may be addresses such as s3://BUCKET/rows.
    """
    from lapsus.cli.list import parse_configured_tracks
    from lapsus.jobs.perturb_corpus import perturb_corpus
    from lapsus.jobs.perturb_file import perturb_file

    if engine_name == "ray" and (split or config):
        raise click.UsageError("--split and --config belong to datasets; with --engine ray name the files of one split")
    if len(set(seeds)) < len(seeds):
        raise click.UsageError("a seed is given twice, which makes the same noise; give each seed once")
    columns = column[0] if len(column) == 1 else column
    options: dict[str, Any] = {"column": columns, "key": key, "tags": tags_column, "answers": answers}
    jobs = {}
    for track in parse_configured_tracks(operators, settings):
        for seed in seeds:
            suffix = f"{track.suffix}.seed{seed}" if len(seeds) > 1 else track.suffix
            jobs[_add_suffix(target, suffix, folder=engine_name == "ray")] = track.make_noises(seed=seed, **options)
    existing = [name for name in jobs if len(jobs) > 1 and not overwrite and Path(name).exists()]
    if existing:
        raise FileExistsError(f"{existing[0]} exists; name another target, or replace it with --overwrite")
    place = target
    try:
        with open_executor_from_options(engine_name, address, workers) as executor:
            for place, noises in jobs.items():
                result = (
                    perturb_corpus(source, place, noises, executor=executor, overwrite=overwrite)
                    if engine_name == "ray"
                    else perturb_file(
                        source, place, noises, split=split, config=config, workers=workers or 1, overwrite=overwrite
                    )
                )
                click.echo(str(result))
    except KeyboardInterrupt:
        parts = Path(f"{place.rstrip('/')}.partial")
        hint = f" to go on (parts in {parts})" if parts.exists() else ""
        click.echo(f"stopped; run the same command again{hint}", err=True)
        raise SystemExit(130) from None  # as a shell reports Ctrl-C


def _add_suffix(target: str, suffix: str, *, folder: bool) -> str:
    """Return a target with a suffix, which stands before the ending of a file.

    >>> _add_suffix("out/a.b.jsonl", ".1", folder=False), _add_suffix("s3://bucket/noisy/", ".1", folder=True)
    ('out/a.b.1.jsonl', 's3://bucket/noisy.1')
    """
    if not suffix:
        return target
    if folder:
        return f"{target.rstrip('/')}{suffix}"
    path = Path(target)
    return str(path.with_name(f"{path.stem}{suffix}{path.suffix}"))


@main.command(epilog=format_examples("lapsus score noise_rate --predictions noisy.jsonl --references clean.jsonl"))
@click.argument("metric")
@click.option(
    "--predictions", type=click.Path(path_type=Path), multiple=True, required=True, help="File to score; repeatable."
)
@click.option("--references", type=click.Path(path_type=Path), help="File joined to the predictions by id.")
@click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Keep the rows with this value.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Option of the metric, or its column.")
def score(
    metric: str,
    predictions: tuple[Path, ...],
    references: Path | None,
    where: tuple[str, ...],
    settings: tuple[str, ...],
) -> None:
    """Print METRIC over files of predictions, as JSON."""
    from lapsus.cli.list import parse_assignments
    from lapsus.reporting.columns import MissingColumnError
    from lapsus.reporting.score import score as measure

    try:
        result = measure(metric, predictions, references, parse_assignments(settings), where=parse_assignments(where))
    except MissingColumnError as error:
        raise LookupError(f"{error.what}: give --set {error.option}") from error
    click.echo(json.dumps(result, ensure_ascii=False, indent=2))


@main.command(epilog=format_examples("lapsus report bert.clean.jsonl bert.keyboard.*.jsonl --out report"))
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder for the page and its tables.")
@click.option("--references", type=click.Path(path_type=Path), help="File, or folder of `lapsus build`, joined by id.")
@click.option("--names", metavar="PATTERN", help='How paths end, as in "{model}/{dataset}/{track}".')
@click.option("--score", "score_column", help="Column of scores from 0 to 1.")
@click.option("--prediction", help="Column of predictions.")
@click.option("--gold", help="Column of right answers.")
@click.option("--cluster", help="Column of the original that several rows share.")
@click.option("--by", multiple=True, metavar="COLUMN", help="Break averages down by this column.")
@click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Keep the rows with this value.")
@click.option("--split", default="test", show_default=True, help="Split of --references.")
@click.option("--drop-unparsed", is_flag=True, help="Leave out missing answers, which otherwise count as wrong.")
@click.option("--title", help="Title of the page.")
@click.option("--confidence-level", type=LEVEL, default=0.95, show_default=True, help="Of the intervals.")
@click.option("--log", "loggers", multiple=True, type=LOGGER, help="Log the numbers there too; repeatable.")
def report(
    files: tuple[Path, ...],
    out: Path,
    references: Path | None,
    names: str | None,
    score_column: str | None,
    prediction: str | None,
    gold: str | None,
    cluster: str | None,
    by: tuple[str, ...],
    where: tuple[str, ...],
    split: str,
    drop_unparsed: bool,
    title: str | None,
    confidence_level: float,
    loggers: tuple[str, ...],
) -> None:
    """Write tables, plots and one HTML page over predictions of any origin.

    FILES are JSON lines, CSV, Parquet, samples of lm-evaluation-harness, logs of inspect, or folders with such logs.
    """
    from tqdm import tqdm

    from lapsus.cli.list import parse_assignments
    from lapsus.integrations.loggers import LOGGERS
    from lapsus.reporting.report import report as write
    from lapsus.reporting.tracks import read_tracks

    tracks = read_tracks(
        files,
        references=references,
        names=names,
        score=score_column,
        prediction=prediction,
        gold=gold,
        cluster=cluster,
        where=parse_assignments(where),
        split=split,
        drop_unparsed=drop_unparsed,
        warn=partial(click.echo, err=True),
    )
    bar = partial(tqdm, unit=" models", disable=None, dynamic_ncols=True)
    command = shlex.join(click.get_current_context().meta[ARGV_KEY])
    written = write(tracks, out, by=by, title=title, confidence_level=confidence_level, progress=bar, command=command)
    for warning in written.numbers.warnings:
        click.echo(f"warning: {warning}", err=True)
    click.echo(f"wrote {written}")
    for name in loggers:
        LOGGERS[name](written)
        click.echo(f"logged to {name}")


@main.command(epilog=format_examples('lapsus compare report-main report-branch --fail-if "drop > 5 and p < 0.05"'))
@click.argument("old", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.argument("new", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option("--fail-if", metavar="EXPRESSION", help="Exit with 3 where this holds for a model and a kind of noise.")
@click.option("--confidence-level", type=LEVEL, default=0.95, show_default=True, help="Of the intervals.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def compare(old: Path, new: Path, *, fail_if: str | None, confidence_level: float, as_json: bool) -> None:
    """Say what got better and what got worse between two folders of `lapsus report`.

    In EXPRESSION, `clean`, `average`, `worst`, `drop` and `worst_drop` are changes from OLD to NEW in points (`drop >
    5`: noise costs over 5 points more than before); with `old_` or `new_` before them they are the values themselves
    (`new_drop > 10`). `p` and `p_holm` are the p-values of the change of the drop.
    """
    from lapsus.reporting import compare as comparing
    from lapsus.reporting.expressions import parse_condition

    fails = parse_condition(fail_if, comparing.NAMES) if fail_if else None
    changes = comparing.compare(old, new, confidence_level=confidence_level)
    click.echo(
        json.dumps([comparing.to_record(change) for change in changes], ensure_ascii=False, indent=2)
        if as_json
        else comparing.format_changes(changes)
    )
    for warning in (warning for change in changes for warning in change.warnings):
        click.echo(f"warning: {warning}", err=True)
    failing = [change for change in changes if fails and fails.evaluate(change.to_values())]
    for change in failing:
        click.echo(f"fails: {fail_if} holds for {change.model} on {change.family}", err=True)
    if failing:
        raise SystemExit(3)


@main.command(
    epilog=format_examples(
        "lapsus fidelity --clean clean.jsonl --human h1.jsonl --human h2.jsonl --synthetic s1.jsonl --column text"
    )
)
@click.option("--clean", type=click.Path(path_type=Path), required=True, help="The texts as they were meant.")
@click.option(
    "--human", type=click.Path(path_type=Path), multiple=True, required=True, help="What a person made of them."
)
@click.option(
    "--synthetic", type=click.Path(path_type=Path), multiple=True, required=True, help="What an operator made."
)
@click.option("--column", help="Column of the text in JSON lines; otherwise one text per line.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def fidelity(
    clean: Path, human: tuple[Path, ...], synthetic: tuple[Path, ...], column: str | None, *, as_json: bool
) -> None:
    """Tell how human a synthetic track is: profiles side by side, and whether a classifier can tell them apart."""
    from lapsus.reporting.fidelity import fidelity as compare
    from lapsus.reporting.fidelity import format_fidelity as tables

    result = compare(clean, human, synthetic, column)
    click.echo(json.dumps(result, ensure_ascii=False, indent=2) if as_json else tables(result))
