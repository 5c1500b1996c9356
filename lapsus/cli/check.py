"""`lapsus check`: own rows, noise that fits their language, a model, and the page; `lapsus run` and `report` in one."""

from __future__ import annotations

import shlex
import sys
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any

import click

from lapsus.cli.options import PATH, add_option, split_list
from lapsus.cli.run import (
    CHAT_OPTIONS,
    MODEL_OPTIONS,
    REWRITER_OPTIONS,
    open_rewriter_from_options,
    print_estimate,
    run,
    run_with_progress,
    select_model_options,
    set_chat_from_options,
)
from lapsus.cli.settings import find_settings, format_settings, list_keys, read_settings
from lapsus.core.messages import format_examples
from lapsus.evaluation.check_plan import CheckPlan, plan_check
from lapsus.evaluation.models import open_model
from lapsus.evaluation.runner import CACHE_NAME, Evaluation
from lapsus.evaluation.scorers import ScorerOptions, open_scorers
from lapsus.reporting.check import FOLDER, describe_check, describe_results
from lapsus.reporting.report import Report
from lapsus.reporting.report import report as write_report
from lapsus.reporting.tracks import read_tracks

DATA_OPTIONS = (  # of `lapsus run`, with the same meaning here
    "text",
    "gold",
    "id_column",
    "answers",
    "labels",
    "prompt",
    "score",
    "rubric",
    "turns",
    "protect",
    *REWRITER_OPTIONS,
    "seed",
    "split",
    "limit",
)
RUN_OPTIONS = (*DATA_OPTIONS, *MODEL_OPTIONS, *CHAT_OPTIONS, "label_map", "no_chat_template", "max_failures", "price")
FOREIGN = ("With --rows", "With --dry-run")  # before the help of options of `lapsus run`
NOT_SAVED = ("save", "dry_run", "no_open", "help")  # what belongs to one call and not to a file
NOT_RUN = ("price",)  # of RUN_OPTIONS, what only an estimate reads


class CheckCommand(click.Command):
    """A command whose options come from a file where no rows are named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the file of settings as defaults; what the command line says wins over them."""
        words = self.make_parser(ctx).parse_args(args=list(args))[0]
        rows = words.get("rows")
        file = Path(rows) if isinstance(rows, str) and rows.endswith(".toml") else None
        if file is not None:
            args.remove(str(rows))
        elif not isinstance(rows, str):
            file = find_settings(Path())
        if file is not None and not ctx.resilient_parsing and not {*args} & {*ctx.help_option_names}:
            ctx.default_map = read_settings(file, list_check_keys())
            click.echo(f"settings: {file}", err=True)
        return super().parse_args(ctx, args)


def reuse_options(command: click.Command, names: Sequence[str]) -> Callable[..., Any]:
    """Return a decorator that adds options of another command."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        by_name = {parameter.name: parameter for parameter in command.params}
        own: list[click.Parameter] = function.__dict__.setdefault("__click_params__", [])
        own += [_copy_option(by_name[name]) for name in reversed(names)]
        return function

    return decorate


def _copy_option(option: click.Parameter) -> click.Parameter:
    """Return an option whose help does not speak of what the other command alone has."""
    option = copy(option)
    if isinstance(option, click.Option):
        prefix, sign, rest = (option.help or "").partition(": ")
        option.help = rest[:1].upper() + rest[1:] if sign and prefix in FOREIGN else option.help
    return option


@click.command(
    cls=CheckCommand,
    epilog=format_examples(
        "lapsus check questions.csv --model python:mymodel:answer \\",
        "  --text question --gold answer",
        "lapsus check questions.csv --model http://localhost:8000/v1#NAME \\",
        "  --text question --gold answer --dry-run --save lapsus.toml",
        "lapsus check",
    ),
)
@click.argument("rows", required=False)
@click.option(
    "--model",
    multiple=True,
    metavar="MODEL",
    help="hf:PATH-OR-ID, http://HOST/v1#NAME, inspect:PROVIDER/NAME, python:MODULE:FUNCTION, vllm:PATH-OR-ID; "
    "repeatable.",
)
@add_option(
    "--noise",
    "typed, dictated or fillers, with --rewriter reworded, or noise of lapsus run; repeatable. [default: all that "
    "there is in the language, without a rewriter]",
    metavar="PRESET|NOISE",
)
@click.option("--language", metavar="CODE", help="Language of the texts, e.g. en or zh. [default: what they look like]")
@reuse_options(run, RUN_OPTIONS)
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    metavar="K",
    help="Times that the clean text is answered. [default: 3 without gold answers, else 1]",
)
@add_option("--margin")
@add_option("--out", "Folder for predictions, cached responses and report.", default=Path(FOLDER), show_default=True)
@click.option("--dry-run", is_flag=True, help="Print the plan and what it costs; send nothing.")
@click.option("--save", type=PATH, metavar="FILE", help="Save these options as a file, such as lapsus.toml.")
@click.option("--no-open", is_flag=True, help="Do not open the page in a browser.")
@click.pass_context
def check(ctx: click.Context, /, **options: Any) -> None:
    """Measure what noise costs a model on your own rows: plan, run and report in one.

    ROWS are a file, a saved dataset or ORG/NAME. Before anything is sent, it prints what the noise does, samples of it,
    the requests, and how small a drop the examples can show.

    Without ROWS the options are those of lapsus.toml, or of [tool.lapsus] in pyproject.toml, here or in ROWS where that
    is a file that ends in .toml. What the command line says wins over the file.
    """
    _check_options(options)
    plan = _make_plan(options)
    evaluations = list(_open_evaluations(plan, options))
    _check_names([evaluation.model.name for evaluation in evaluations])
    for line in describe_check(plan, len(evaluations)):
        click.echo(line)
    for note in plan.data.notes:
        click.echo(note, err=True)
    for evaluation in evaluations:
        click.echo(f"\n{evaluation.model.name}:")
        print_estimate(evaluation, options["price"])
    if options["save"]:
        _save(ctx, options["save"])
    run_commands = [shlex.join(_list_run_words(ctx, plan, model)) for model in options["model"]]
    if options["dry_run"]:
        click.echo("\n".join(["\nnothing was sent; the same in single steps:", *run_commands]))
        return
    files = []
    for evaluation in evaluations:
        click.echo(f"\n{evaluation.model.name}" if len(evaluations) > 1 else "")
        files += run_with_progress(evaluation).files
    margin = f"{100 * options['margin']:.10g}"
    report_options = [] if margin == "2" else ["--margin", margin]
    written = _write_report(sorted(files), options["out"] / "report", run_commands, report_options, options["margin"])
    if not options["no_open"] and is_interactive():
        webbrowser.open(written.page.absolute().as_uri())


def list_check_keys() -> dict[str, Any]:
    """Return the keys of `lapsus.toml`."""
    return list_keys(check, NOT_SAVED)


def _check_options(options: Mapping[str, Any]) -> None:
    """Refuse a call without rows or model."""
    if not options["rows"]:
        raise click.UsageError(
            "missing the rows, and there is no lapsus.toml here; write `lapsus check FILE --model MODEL --text COLUMN "
            "--gold COLUMN`"
        )
    if not options["model"]:
        raise click.UsageError("missing --model, e.g. --model python:MODULE:FUNCTION")
    if options["name"] and len(options["model"]) > 1:
        raise click.UsageError("--name names one model, but several are given; leave it out")


def _check_names(names: Sequence[str]) -> None:
    """Refuse two models of one name, whose predictions would be one."""
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise click.UsageError(f"two models are called {repeated!r}; check one of them alone, with a --name of its own")


def _make_plan(options: Mapping[str, Any]) -> CheckPlan:
    names = (
        "text",
        "gold",
        "answers",
        "prompt",
        "score",
        "noise",
        "language",
        "seed",
        "turns",
        "protect",
        "limit",
        "repeats",
    )
    out = options["out"]
    settings = {name: options[name] for name in names}
    settings["rewriter"] = open_rewriter_from_options(
        options, options["noise"], out / CACHE_NAME, out, dry_run=options["dry_run"]
    )
    labels = split_list(options["labels"])
    return plan_check(Path(options["rows"]), id=options["id_column"], split=options["split"], labels=labels, **settings)


def _open_evaluations(plan: CheckPlan, options: Mapping[str, Any]) -> Iterator[Evaluation]:
    """Yield the evaluation of each model, as `lapsus run` makes it."""
    out = options["out"]
    scorers = open_scorers(plan.settings["score"], ScorerOptions(options["rubric"], out / CACHE_NAME))
    data = set_chat_from_options(plan.data, options)
    for model in options["model"]:
        model_options = select_model_options(options)
        yield Evaluation(
            data,
            open_model(model, model_options),
            out,
            label_map=model_options.get("label_map", {}),
            max_failures=options["max_failures"],
            scorers=scorers,
        )


def _write_report(
    files: Sequence[Path], out: Path, run_commands: Sequence[str], options: Sequence[str], margin: float
) -> Report:
    """Write the report, and print its verdicts and the commands that do the same."""
    command = ["lapsus", "report", *map(str, files), "--out", str(out), *options]
    tracks = read_tracks(files, warn=partial(click.echo, err=True))
    written = write_report(tracks, out, command=shlex.join(command), margin=margin)
    for warning in written.numbers.warnings:
        click.echo(f"warning: {warning}", err=True)
    folders = {path.parent: shlex.quote(str(path.parent)) + "/*.jsonl" for path in files}
    is_whole = files == sorted(path for folder in folders for path in folder.glob("*.jsonl"))
    short = " ".join(["lapsus report", *folders.values(), shlex.join(["--out", str(out), *options])])
    report_command = short if is_whole else shlex.join(command)
    click.echo("\n".join(["", *describe_results(written.numbers)]))
    click.echo("\n".join(["\nthe same in single steps:", *run_commands, report_command]))
    click.echo(f"\nwrote {written}")
    return written


def is_interactive() -> bool:
    """Return whether somebody reads what is printed, as it is printed."""
    return sys.stdout.isatty()


def _list_run_words(ctx: click.Context, plan: CheckPlan, model: str) -> list[str]:
    """Return the words of `lapsus run` that ask a model the same."""
    settings = {**plan.settings, "labels": ",".join(plan.settings["labels"]) or None}
    by_name = {str(parameter.name): parameter for parameter in run.params}
    alone = click.Context(run)  # without a file of settings, whose values count as defaults here
    words = ["lapsus", "run", "--rows", str(ctx.params["rows"])]
    for name in (*RUN_OPTIONS, "repeats", "noise"):
        value = settings.get(name, ctx.params[name])
        if name not in NOT_RUN and value != by_name[name].get_default(alone):
            words += _list_words(by_name[name], value)
    return [*words, "--model", model, "--out", str(ctx.params["out"])]


def _list_words(option: click.Parameter, value: Any) -> Iterator[str]:
    """Yield an option with its value, as it is typed."""
    if option.multiple:
        yield from (word for each in value for word in (option.opts[0], str(each)))
    elif getattr(option, "is_flag", False):
        yield from [option.opts[0]] * bool(value)
    elif value is not None:
        yield from (option.opts[0], str(value))


def _save(ctx: click.Context, path: Path) -> None:
    """Write the options that were given as a file."""
    sources = (click.core.ParameterSource.COMMANDLINE, click.core.ParameterSource.DEFAULT_MAP)
    given = {name: value for name, value in ctx.params.items() if ctx.get_parameter_source(name) in sources}
    if given.get("price"):
        given["price"] = ",".join(f"{number:g}" for number in given["price"])
    if "margin" in given:
        given["margin"] = float(f"{100 * given['margin']:.10g}")  # in points
    path.write_text(format_settings(given, list_check_keys()), encoding="utf-8")
    click.echo(f"saved {path}; `lapsus check{'' if path.name == 'lapsus.toml' else f' {path}'}` runs it")
