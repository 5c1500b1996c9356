"""`lapsus dialect`: whether metrics of texts rate another dialect above another meaning."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lapsus.cli.options import format_examples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lapsus.evaluation.dialect import DialectSentences
    from lapsus.reporting.dialect import ConditionScores

PATH = click.Path(path_type=Path)


@click.command(
    epilog=format_examples(
        "lapsus dialect bleu chrf ter use --data built/dialect-zh --data built/dialect-pt --out study",
        "lapsus dialect bertscore:PATH@9 --data built/dialect-pt --translations mt/clean.jsonl",
        "lapsus dialect --list",
    )
)
@click.argument("metrics", nargs=-1)
@click.option(
    "--data",
    "places",
    multiple=True,
    metavar="DIR|ORG/NAME",
    help="Sentences: a folder of `lapsus build`, or a repo of the Hub, that is called as its dataset is; else "
    "DATASET=DIR; repeatable.",
)
@click.option(
    "--translations",
    multiple=True,
    metavar="[DATASET=]FILE",
    help="Machine translations: rows of id and prediction, as `lapsus run dialect-pt-translation` writes.",
)
@click.option("--sources/--no-sources", default=False, help="Let metrics read the English sentence too.")
@click.option("--references/--no-references", default=True, help="Without references, metrics estimate quality.")
@click.option("--split", help="Split of the datasets. [default: test]")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N sentences.")
@click.option(
    "--comparisons", type=click.IntRange(min=1), default=5, show_default=True, help="Tests per metric, by Bonferroni."
)
@click.option("--out", type=PATH, help="Folder for scores, tables and the plot of coefficients.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--list", "listing", is_flag=True, help="Show the metrics that there are.")
def dialect(
    metrics: tuple[str, ...],
    places: tuple[str, ...],
    translations: tuple[str, ...],
    split: str | None,
    limit: int | None,
    comparisons: int,
    out: Path | None,
    *,
    sources: bool,
    references: bool,
    as_json: bool,
    listing: bool,
) -> None:
    """Tell whether METRICs rate a sentence in another dialect above one with another meaning.

    Prints success rates (Table 1 of Sun et al., 2023) and the mixed-effects regression (Table 11), and where a metric
    reads the tag of a dialect its awareness (Table 5). Marks: better or worse than chance, by a two-sided test; few
    where there are too few sentences to tell.
    """
    from lapsus.evaluation.dialect import score_conditions
    from lapsus.evaluation.text_metrics import open_metric
    from lapsus.reporting.dialect import format_tables, make_tables, to_records

    if listing:
        _print_metrics()
        return
    if not metrics:
        raise click.UsageError("which metric? name one, such as chrf; lapsus dialect --list shows all")
    if not places:
        raise click.UsageError("on which sentences? give --data, such as --data built/dialect-zh")
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
    records = to_records(scores, comparisons)
    click.echo(
        json.dumps(records, ensure_ascii=False, indent=2)
        if as_json
        else format_tables(make_tables(scores, comparisons))
    )
    if out is not None:
        _write_study(out, scores, records, comparisons)
        click.echo(f"\nwrote {out}", err=as_json)


def _print_metrics() -> None:
    from lapsus.cli.list import format_units
    from lapsus.evaluation.text_metrics import load_metric_providers

    rows = [
        {"name": provider.usage, "summary": provider.summary, "needs": ""}
        for provider in load_metric_providers().values()
    ]
    click.echo("\n".join(format_units(rows)))


def _load_sentences(
    places: Sequence[str], translations: Sequence[str], split: str | None, out: Path | None
) -> list[DialectSentences]:
    """Return the sentences of every dataset, with their translations."""
    from lapsus.cli.run import ensure_built
    from lapsus.core.messages import format_list
    from lapsus.evaluation.dialect import find_dialect_tasks, load_sentences

    tasks = find_dialect_tasks()
    sentences_by_dataset = {}
    for word in places:
        name, equals, place = word.partition("=")
        if not equals:
            name, place = Path(word).name, word
        if name not in tasks:
            raise LookupError(
                f"--data {word} is called {name!r}, which is none of {format_list(tasks)}; write DATASET={word}"
            )
        if name in sentences_by_dataset:
            raise ValueError(f"--data has {name} twice; give it once")
        source = place if Path(place).is_dir() or "/" in place else ensure_built(tasks[name], out)
        sentences_by_dataset[name] = load_sentences(source, tasks[name], split)
    for word in translations:
        name, equals, file = word.partition("=")
        if not equals and len(sentences_by_dataset) > 1:
            raise click.UsageError(f"--translations {word}: of which dataset? write DATASET={word}")
        name, file = (name, file) if equals else (next(iter(sentences_by_dataset)), word)
        if name not in sentences_by_dataset:
            raise LookupError(
                f"--translations {word} is for {name!r}, which is not among --data ({format_list(sentences_by_dataset)})"
            )
        sentences_by_dataset[name] = sentences_by_dataset[name].with_translations(Path(file))
    return list(sentences_by_dataset.values())


def _write_study(
    out: Path, scores: Sequence[ConditionScores], records: dict[str, list[dict[str, Any]]], comparisons: int
) -> None:
    """Write the scores of every sentence, the tables and the plot."""
    from lapsus.core.files import stage_file
    from lapsus.hub.dataset_card import format_table
    from lapsus.reporting.dialect import draw_coefficients, make_tables

    drawing = draw_coefficients(scores, comparisons)
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
            f"## {title}\n\n{format_table(*parts)}\n" for title, parts in make_tables(scores, comparisons).items()
        ).encode(),
        "coefficients.svg": drawing.to_standalone_svg().encode(),
        "coefficients.png": drawing.png,
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        with stage_file(out / name) as file:
            file.write(content)
