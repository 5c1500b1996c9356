"""`lapsus score` and `lapsus fidelity`: a metric over files of predictions, and synthetic noise beside human noise."""

from __future__ import annotations

import json
from pathlib import Path

import click

from lapsus.cli.options import PATH, add_option, parse_assignments
from lapsus.core.messages import format_examples
from lapsus.evaluation.models.packaged import find_cache_folder
from lapsus.evaluation.scorers import JUDGEMENTS, ScorerOptions
from lapsus.reporting.fidelity import fidelity as measure_fidelity
from lapsus.reporting.fidelity import format_fidelity
from lapsus.reporting.score import MissingColumnError
from lapsus.reporting.score import score as compute_score
from lapsus.reporting.score_answers import is_scorer, score_answers


@click.command(
    epilog=format_examples(
        "lapsus score noise_rate --predictions noisy.jsonl --references clean.jsonl",
        "lapsus score contains --predictions answers.jsonl --references gold.csv",
    )
)
@click.argument("metric")
@click.option("--predictions", type=PATH, multiple=True, required=True, help="File to score; repeatable.")
@add_option("--references", "File joined to the predictions by id.")
@add_option("--rubric")
@add_option("--where")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="Option of the metric, or the column of one of its inputs; repeatable.",
)
@click.option(
    "--normalize", is_flag=True, help="Compare without case, spaces, marks around an answer, width and Unicode form."
)
def score(
    metric: str,
    predictions: tuple[Path, ...],
    references: Path | None,
    rubric: Path | None,
    where: tuple[str, ...],
    options: tuple[str, ...],
    *,
    normalize: bool,
) -> None:
    """Compute METRIC over prediction files, and print it as JSON.

    METRIC is a metric (lapsus list metrics), or a scorer of free answers (lapsus list scorers).
    """
    if is_scorer(metric):
        scorer_options = ScorerOptions(rubric, find_cache_folder() / JUDGEMENTS)
        result = score_answers(
            metric,
            predictions,
            references,
            parse_assignments(options),
            where=parse_assignments(where),
            scorer_options=scorer_options,
        )
        click.echo(json.dumps(result, ensure_ascii=False, indent=2))
        return
    try:
        result = compute_score(
            metric,
            predictions,
            references,
            parse_assignments(options),
            where=parse_assignments(where),
            normalize=normalize,
        )
    except MissingColumnError as error:
        raise LookupError(f"{error.what}: add --option {error.option}") from error
    click.echo(json.dumps(result, ensure_ascii=False, indent=2))
    for warning in result.get("warnings", ()):
        click.echo(f"warning: {warning}", err=True)


@click.command(
    epilog=format_examples(
        "lapsus fidelity --clean clean.jsonl --human h1.jsonl --human h2.jsonl \\",
        "  --synthetic s1.jsonl --text text",
    )
)
@click.option("--clean", type=PATH, required=True, help="File of clean texts.")
@click.option(
    "--human", type=PATH, multiple=True, required=True, help="File of one person's version of them; repeatable."
)
@click.option(
    "--synthetic", type=PATH, multiple=True, required=True, help="File of one operator's version of them; repeatable."
)
@add_option("--text", "Column of the text in a file of rows; other files hold one text per line.", multiple=False)
@add_option("--json")
def fidelity(
    clean: Path, human: tuple[Path, ...], synthetic: tuple[Path, ...], text: str | None, *, as_json: bool
) -> None:
    """Compare synthetic noise with human noise: profiles, and the AUC of a classifier that separates them."""
    result = measure_fidelity(clean, human, synthetic, text)
    click.echo(json.dumps(result, ensure_ascii=False, indent=2) if as_json else format_fidelity(result))
