"""`lapsus dialect`: whether metrics of texts rate another dialect above another meaning."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lapsus.commands.help_texts import example

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lapsus.results.dialect_tables import Scores
    from lapsus.running.dialect_study import Sentences

PATH = click.Path(path_type=Path)


@click.command(
    epilog=example(
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
    from lapsus.models.text_metrics import open_metric
    from lapsus.results.dialect_tables import as_records, as_text, tables
    from lapsus.running.dialect_study import score

    if listing:
        _list()
        return
    if not metrics:
        raise click.UsageError("which metric? name one, such as chrf; lapsus dialect --list shows all")
    if not places:
        raise click.UsageError("on which sentences? give --data, such as --data built/dialect-zh")
    opened = [open_metric(word) for word in metrics]
    sets = [sentences.limited(limit) for sentences in _sentences(places, translations, split, out)]
    for sentences in sets:
        for line in sentences.said:
            click.echo(f"{sentences.name}: {line}", err=True)
    scored = [
        score(metric, sentences, references=references, sources=sources or not references)
        for metric in opened
        for sentences in sets
    ]
    made = as_records(scored, comparisons)
    click.echo(json.dumps(made, ensure_ascii=False, indent=2) if as_json else as_text(tables(scored, comparisons)))
    if out is not None:
        _write(out, scored, made, comparisons)
        click.echo(f"\nwrote {out}", err=as_json)


def _list() -> None:
    from lapsus.commands.catalogue import lines
    from lapsus.models.text_metrics import metric_kinds

    rows = [{"name": kind.form, "summary": kind.summary, "needs": ""} for kind in metric_kinds().values()]
    click.echo("\n".join(lines(rows)))


def _sentences(
    places: Sequence[str], translations: Sequence[str], split: str | None, out: Path | None
) -> list[Sentences]:
    """Return the sentences of every dataset, with their translations."""
    from lapsus.commands.run import built
    from lapsus.kernel.names import shown
    from lapsus.running.dialect_study import dialect_tasks, open_sentences

    known = dialect_tasks()
    found = {}
    for word in places:
        name, equals, place = word.partition("=")
        if not equals:
            name, place = Path(word).name, word
        if name not in known:
            raise LookupError(
                f"--data {word} is called {name!r}, which is none of {shown(known)}; write DATASET={word}"
            )
        if name in found:
            raise ValueError(f"--data has {name} twice; give it once")
        home = place if Path(place).is_dir() or "/" in place else built(known[name], out)
        found[name] = open_sentences(home, known[name], split)
    for word in translations:
        name, equals, file = word.partition("=")
        if not equals and len(found) > 1:
            raise click.UsageError(f"--translations {word}: of which dataset? write DATASET={word}")
        name, file = (name, file) if equals else (next(iter(found)), word)
        if name not in found:
            raise LookupError(f"--translations {word} is for {name!r}, which is not among --data ({shown(found)})")
        found[name] = found[name].translated(Path(file))
    return list(found.values())


def _write(out: Path, scored: Sequence[Scores], made: dict[str, list[dict[str, Any]]], comparisons: int) -> None:
    """Write the scores of every sentence, the tables and the plot."""
    from lapsus.hub.dataset_card import table
    from lapsus.kernel.atomic import staged_file
    from lapsus.results.dialect_tables import figure, tables

    drawing = figure(scored, comparisons)
    rows = [
        {"metric": one.metric, "dataset": one.dataset, "id": key, "condition": condition, "score": value}
        for one in scored
        for condition, values in one.conditions.items()
        for key, value in zip(one.ids, values, strict=True)
    ]
    files = {
        "scores.jsonl": "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode(),
        "tables.json": json.dumps(made, ensure_ascii=False, indent=1).encode(),
        "tables.md": "\n".join(
            f"## {title}\n\n{table(*made)}\n" for title, made in tables(scored, comparisons).items()
        ).encode(),
        "coefficients.svg": drawing.alone().encode(),
        "coefficients.png": drawing.png,
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        with staged_file(out / name) as file:
            file.write(content)
