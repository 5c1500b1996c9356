"""The whole way at once: rows, noise that fits their language, answers of a model, and the page.

It plans, then calls what everybody can call: `lapsus.run` and `lapsus.report`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from lapsus.core.types import StrPath
from lapsus.evaluation.check_plan import CheckPlan, plan_check
from lapsus.evaluation.models import ModelAdapter
from lapsus.evaluation.rewording import open_rewriter
from lapsus.evaluation.runner import CACHE_NAME, run
from lapsus.perturbations.conversations import Turns
from lapsus.perturbations.specs import split_track_name
from lapsus.reporting.analysis.records import ALPHA, MARGIN, Results, check_margin
from lapsus.reporting.analysis.verdicts import describe_verdict, round_up
from lapsus.reporting.report import Report, report
from lapsus.stats import DetectionModel, count_examples

CHANCE = 0.05  # the share of answers that is taken to change by chance, before anything is known
WANTED = 0.05  # the drop that an example of a size is given for
FOLDER = "check"  # where a check writes, unless another folder is named


def check(
    rows: Any,
    model: str | ModelAdapter | Callable[[list[dict[str, Any]]], Any],
    text: str | Sequence[str],
    gold: str | None = None,
    *,
    answers: str | None = None,
    id: str = "id",
    labels: Sequence[str] = (),
    prompt: str | None = None,
    score: Any = (),
    noise: str | Sequence[str] = (),
    language: str | None = None,
    seed: int = 0,
    turns: Turns | None = None,
    protect: Sequence[str] = (),
    rewriter: Any = None,
    rewriter_judge: str | None = None,
    rewordings: StrPath | None = None,
    split: str | None = None,
    limit: int | None = None,
    repeats: int | None = None,
    margin: float = MARGIN,
    out: StrPath = FOLDER,
    echo: Callable[[str], object] = print,
    **options: Any,
) -> Report:
    """Measure what noise costs a model on your own rows: print the plan, write predictions and page, return the page.

    Args:
        rows: A file, a saved dataset or ORG/NAME; a list of rows, a data frame or a `datasets.Dataset`.
        model: As `lapsus.run` takes it: a function of rows, `hf:PATH`, `http://HOST/v1#NAME`, an adapter.
        text: The column of texts, or several.
        gold: The column of gold answers; without it changes of answers are counted.
        answers: The column of lists of accepted answers, instead of `gold`.
        id: The column of ids.
        labels: The labels, where they are not those of the gold column.
        prompt: The instruction for a model that reads text, with columns as `{column}`.
        score: Scorers of free answers; by default one that fits the gold answers.
        noise: Presets (`typed`, `dictated`, `fillers`, with a rewriter `reworded`) or
            `[TRACK=]OPERATOR[:ANNOTATORS][@SEVERITY]`; by default all presets of the language.
        language: The code of the language of the texts; by default what their letters and words tell.
        seed: The seed of the noise.
        turns: Of conversations, the turns of the user that get noise.
        protect: What noise leaves as whole words, as `lapsus.run` takes it.
        rewriter: The model that rewords, as `lapsus.run` takes it.
        rewriter_judge: What compares the meaning of rewordings.
        rewordings: The file `reworded.jsonl` of an earlier run, instead of `rewriter`.
        split: The split of a saved dataset.
        limit: Only the first so many examples.
        repeats: How often the clean text is answered; by default 3 times without gold answers, else once.
        margin: The drop that does not matter, as a fraction: below it a model is robust.
        out: The folder for predictions, cached responses and the folder `report`.
        echo: Gets each line of the plan.
        options: Of the model and of `lapsus.run`.
    """
    words = [noise] if isinstance(noise, str) else noise
    source = open_rewriter(words, rewriter, rewriter_judge, rewordings, cache=Path(out, CACHE_NAME), out=out)
    plan = plan_check(
        rows,
        text,
        gold,
        answers=answers,
        id=id,
        labels=labels,
        prompt=prompt,
        score=score,
        noise=noise,
        language=language,
        seed=seed,
        turns=turns,
        protect=protect,
        rewriter=source,
        split=split,
        limit=limit,
        repeats=repeats,
    )
    check_margin(margin)
    for line in describe_check(plan):
        echo(line)
    echo(f"{len(plan.data.tracks)} tracks, {sum(map(len, plan.data.tracks.values())):,} rows for the model")
    for note in plan.data.notes:
        echo(note)
    settings = plan.settings
    tracks = run(plan.data.task, plan.data, model, score=settings["score"], out=out, **options)
    page = report(tracks, Path(out) / "report", margin=margin)
    for warning in page.numbers.warnings:
        echo(f"warning: {warning}")
    for line in describe_results(page.numbers):
        echo(line)
    echo(f"wrote {page}; the same in single steps{'' if id == 'id' else f', with {id!r} called id'}:")
    given = {"seed": seed, "turns": turns, "protect": protect, "limit": limit, "split": split, **options}
    if source is not None:
        given["rewordings"] = rewordings or str(source.name_file(plan.data.name))
    for line in format_calls(plan, rows, model, out, given, margin):
        echo(line)
    return page


def format_calls(
    plan: CheckPlan, rows: Any, model: Any, out: StrPath, options: Mapping[str, Any], margin: float
) -> Iterator[str]:
    """Yield the calls of Python that do the same as a check; `options` are those of `lapsus.run` that were given."""
    settings = {name: plan.settings[name] for name in ("gold", "answers", "labels", "prompt")}
    task = {**settings, "name": plan.data.name, "free": bool(plan.settings["score"])}
    extra = {"noise": list(plan.settings["noise"]), "score": list(plan.settings["score"]), **options, "out": str(out)}
    extra["repeats"] = plan.settings["repeats"]
    sources = [
        repr(str(each)) if isinstance(each, str | PathLike) else name
        for name, each in (("rows", rows), ("model", model))
    ]
    asked = _format_arguments([repr(list(plan.settings["text"]))], task)
    yield f"  task = lapsus.evaluation.make_task({asked})"
    yield f"  tracks = lapsus.run({_format_arguments(['task', *sources], extra)})"
    yield f"  lapsus.report(tracks, {str(Path(out) / 'report')!r}, margin={margin!r})"


def _format_arguments(values: Sequence[str], settings: Mapping[str, Any]) -> str:
    return ", ".join([*values, *(f"{name}={value!r}" for name, value in settings.items() if value)])


def describe_check(plan: CheckPlan, n_models: int = 1) -> Iterator[str]:
    """Yield the lines of a plan, and how small a drop its examples can show."""
    yield from plan.describe()
    n_families = len({split_track_name(spec) for spec in plan.noises})
    if plan.graded:
        yield "\n" + describe_detection(plan.size, n_families * n_models)


def describe_results(numbers: Results) -> Iterator[str]:
    """Yield the verdict about each model on each kind of noise, with the drop and its interval in points."""
    for record in numbers.summary:
        if record.test is None or record.test.difference.value is None:
            continue
        low, high = record.test.difference.interval or (None, None)
        ends = "" if low is None or high is None else f" [{_format_points(-high)}, {_format_points(-low)}]"
        drop = f"a drop of {_format_points(-record.test.difference.value)} points{ends}"
        yield f"{record.model}, {record.family}: {describe_verdict(record.decision)}; {drop}"


def _format_points(fraction: float) -> str:
    """Return a fraction in points.

    >>> _format_points(0.0332), _format_points(-0.0001)
    ('3.3', '0.0')
    """
    return f"{round(100 * fraction, 1) + 0.0:.1f}"


def find_detectable_drop(examples: int, n_tests: int) -> float | None:
    """Return the smallest drop that so many examples show with a chance of 80 %, at the level of the report.

    A share of `CHANCE` of the answers is taken to change by chance; None where no drop is found so often.

    >>> [round(find_detectable_drop(number, 3), 2) for number in (100, 1000)]
    [0.11, 0.02]
    """
    return DetectionModel(CHANCE, 1.0, examples, examples - 1).minimum_detectable(ALPHA / n_tests)


def describe_detection(examples: int, n_tests: int) -> str:
    """Say how small a drop so many examples can show; for few, also how many show one of five points.

    >>> describe_detection(50, 3)
    '50 examples show only drops from about 19 points on; for a drop of 5 points take about 300'
    """
    drop = find_detectable_drop(examples, n_tests)
    if drop is not None and drop <= WANTED:
        return (
            f"{examples:,} examples show drops from about {100 * drop:.1f} points on (with a chance of 80 %, in "
            f"{n_tests} tests, if {100 * CHANCE:.0f} % of the answers change by chance)"
        )
    model = DetectionModel(CHANCE, 1.0, examples, examples - 1)
    size = count_examples(model, examples, WANTED, alpha=ALPHA / n_tests)
    cure = f"; for a drop of {100 * WANTED:.0f} points take about {round_up(size):,}" if size else ""
    problem = "no drop surely" if drop is None else f"only drops from about {100 * drop:.0f} points on"
    return f"{examples:,} examples show {problem}{cure}"
