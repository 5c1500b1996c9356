"""`lapsus dialect`: whether text metrics rate another dialect above another meaning."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from lapsus.cli.options import add_option
from lapsus.cli.run import ensure_built
from lapsus.core.files import stage_file
from lapsus.core.messages import format_examples, format_list
from lapsus.core.types import ConditionScores
from lapsus.evaluation.dialect import DialectSentences, find_dialect_tasks, load_sentences, score_conditions
from lapsus.evaluation.text_metrics import open_metric
from lapsus.hub.dataset_card import format_table
from lapsus.reporting.dialect import draw_coefficients, format_tables, make_tables, to_records


@click.command(
    epilog=format_examples(
        "lapsus dialect bleu chrf --data built/dialect-pt --out study",
        "lapsus dialect bertscore:PATH@9 --data dialect-pt --translations mt.jsonl",
    )
)
@click.argument("metrics", nargs=-1)
@click.option(
    "--data",
    "places",
    multiple=True,
    metavar="DIR|ORG/NAME",
    help="Sentences: a folder of lapsus build or a Hub repo that has the name of its dataset, else DATASET=DIR; "
    "repeatable.",
)
@click.option(
    "--translations",
    multiple=True,
    metavar="[DATASET=]FILE",
    help="Machine translations: rows of id and prediction, as lapsus run dialect-pt-translation writes; repeatable.",
)
@click.option("--sources/--no-sources", default=False, help="Let metrics read the English sentence too.")
@click.option(
    "--references/--no-references",
    default=True,
    help="Whether metrics read references; without, they estimate quality.",
)
@add_option("--split", "Split of the datasets. [default: test]")
@add_option("--limit", "Only the first N sentences.")
@click.option(
    "--n-tests",
    type=click.IntRange(min=1),
    metavar="N",
    default=5,
    show_default=True,
    help="Number of tests per metric, for Bonferroni's correction.",
)
@add_option("--out", "Folder for scores, tables and the plot of coefficients.")
@add_option("--json")
def dialect(
    metrics: tuple[str, ...],
    places: tuple[str, ...],
    translations: tuple[str, ...],
    split: str | None,
    limit: int | None,
    n_tests: int,
    out: Path | None,
    *,
    sources: bool,
    references: bool,
    as_json: bool,
) -> None:
    """Test whether text metrics rate a sentence in another dialect above one with another meaning.

    METRICS are those of `lapsus list text-metrics`. Prints success rates (Table 1 of Sun et al., 2023), the
    mixed-effects regression (Table 11) and, if a metric reads the tag of a dialect, its awareness (Table 5). Marks:
    better or worse than chance (two-sided test), or "few": too few sentences for the test.
    """
    if not metrics:
        raise click.UsageError("missing METRICS, e.g. chrf; lapsus list text-metrics lists them")
    if not places:
        raise click.UsageError("missing --data, e.g. --data built/dialect-zh")
    text_metrics = [open_metric(word) for word in metrics]
    sentence_sets = [sentences.limit(limit) for sentences in _load_sentences(places, translations, split, out)]
    for sentences in sentence_sets:
        for line in sentences.notes:
            click.echo(f"{sentences.name}: {line}", err=True)
    scores = [
        score_conditions(metric, sentences, references=references, sources=sources or not references)
        for metric in text_metrics
        for sentences in sentence_sets
    ]
    records = to_records(scores, n_tests)
    click.echo(
        json.dumps(records, ensure_ascii=False, indent=2) if as_json else format_tables(make_tables(scores, n_tests))
    )
    if out is not None:
        _write_study(out, scores, records, n_tests)
        click.echo(f"\nwrote {out}", err=as_json)


def _load_sentences(
    places: Sequence[str], translations: Sequence[str], split: str | None, out: Path | None
) -> list[DialectSentences]:
    """Return the sentences of every dataset, with their translations."""
    tasks = find_dialect_tasks()
    sentences_by_dataset = {}
    for word in places:
        name, equals, place = word.partition("=")
        if not equals:
            name, place = Path(word).name, word
        if name not in tasks:
            raise LookupError(
                f"--data {word} has the name {name!r}, which is none of {format_list(tasks)}; write DATASET={word}"
            )
        if name in sentences_by_dataset:
            raise ValueError(f"--data has {name} twice; give it once")
        source = place if Path(place).is_dir() or "/" in place else ensure_built(tasks[name], out)
        sentences_by_dataset[name] = load_sentences(source, tasks[name], split)
    for word in translations:
        name, equals, file = word.partition("=")
        if not equals and len(sentences_by_dataset) > 1:
            raise click.UsageError(f"--translations {word} names no dataset; write DATASET={word}")
        name, file = (name, file) if equals else (next(iter(sentences_by_dataset)), word)
        if name not in sentences_by_dataset:
            raise LookupError(
                f"--translations {word} is for {name!r}, which is not among --data "
                f"({format_list(sentences_by_dataset)})"
            )
        sentences_by_dataset[name] = sentences_by_dataset[name].with_translations(Path(file))
    return list(sentences_by_dataset.values())


def _write_study(
    out: Path, scores: Sequence[ConditionScores], records: dict[str, list[dict[str, Any]]], n_tests: int
) -> None:
    """Write the scores of every sentence, the tables and the plot."""
    drawing = draw_coefficients(scores, n_tests)
    rows = [
        {"metric": result.metric, "dataset": result.dataset, "id": key, "condition": condition, "score": value}
        for result in scores
        for condition, values in result.conditions.items()
        for key, value in zip(result.ids, values, strict=True)
    ]
    files = {
        "scores.jsonl": "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode(),
        "tables.json": json.dumps(records, ensure_ascii=False, indent=1).encode(),
        "tables.md": "\n".join(
            f"## {title}\n\n{format_table(*parts)}\n" for title, parts in make_tables(scores, n_tests).items()
        ).encode(),
        "coefficients.svg": drawing.to_standalone_svg().encode(),
        "coefficients.png": drawing.png,
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        with stage_file(out / name) as file:
            file.write(content)
