"""`lapsus collect paraphrases`: a set like P̂aRTE, from pairs over paraphrases and judges to rows for `lapsus build`."""

from __future__ import annotations

import re
import webbrowser
from dataclasses import asdict
from functools import partial
from pathlib import Path

import click
from tqdm import tqdm

from lapsus.cli.main import StrictGroup
from lapsus.cli.options import PATH, add_option
from lapsus.collect import proposals as proposal_folder
from lapsus.collect.candidates import choose_judged, choose_unjudged, collect_candidates
from lapsus.collect.generators import GeneratorSettings, open_generator
from lapsus.collect.judgements import AcceptanceRule, Agreement, Verdict, decide_verdicts, measure_agreement
from lapsus.collect.judging_page import Sheet, format_address, make_server
from lapsus.collect.pairs import build_pairs, read_ids, read_pairs, unique_sentences
from lapsus.collect.sheets import iter_sheet, merge_judgements
from lapsus.core.messages import format_examples
from lapsus.core.overlap import OverlapFilter
from lapsus.evaluation.text_metrics import open_metric


@click.group(
    cls=StrictGroup,
    epilog=format_examples("lapsus collect paraphrases propose built/rte --generator hf:PATH --out mine"),
)
def collect() -> None:
    """Collect data from people: paraphrases of sentence pairs."""


@collect.group(
    cls=StrictGroup,
    epilog=format_examples(
        "lapsus collect paraphrases propose built/rte --generator hf:PATH --out mine",
        "lapsus collect paraphrases judge mine/sheet.csv --judge ida",
        "lapsus collect paraphrases pair mine --judgements ida.jsonl \\",
        "  --judgements ben.jsonl --judgements lu.jsonl --out set",
    ),
)
def paraphrases() -> None:
    """Make a set like P̂aRTE: paraphrase pairs, have people rate the paraphrases, build the new pairs."""


@paraphrases.command(
    epilog=format_examples(
        "lapsus collect paraphrases propose built/rte --generator hf:PATH \\",
        "  --generator http://HOST/v1#NAME --out mine",
    )
)
@click.argument("pairs", type=PATH)
@click.option("--generator", "generators", multiple=True, required=True, metavar="GENERATOR",
              help="hf:PATH-OR-ID (an encoder-decoder), http://HOST/v1#NAME or replay:FILE; repeatable.")  # fmt: skip
@add_option("--out", "Folder for candidates and sheets.", required=True)
@add_option("--split", "Split, if PAIRS is a folder.", default="test", show_default=True)
@add_option("--limit", "Only the first N pairs.")
@click.option("--per-generator", type=click.IntRange(min=1), default=10, show_default=True, metavar="N",
              help="Paraphrases of a sentence that each generator makes: beams, or lines of a response.")  # fmt: skip
@click.option("--top-k", type=click.IntRange(min=1), metavar="K",
              help="With hf: sample from the K most probable tokens instead of beam search.")  # fmt: skip
@add_option("--seed", "Seed of --top-k.")
@click.option("--prompt", metavar="TEXT", help="Prompt of a generator, with {text} and {number}.")
@click.option("--cache", type=PATH, metavar="PATH",
              help="Folder of cached responses of a server. [default: OUT/answers]")  # fmt: skip
@click.option("--max-overlap", type=click.FloatRange(0, 1), default=0.75, show_default=True,
              help="Exclude paraphrases that share more of their words with the sentence (Jaccard index).")  # fmt: skip
@click.option("--min-overlap", type=click.FloatRange(0, 1), default=0, show_default=True,
              help="Exclude paraphrases that share no more of their words than this; 0 excludes none.")  # fmt: skip
@click.option("--encoder", metavar="PATH-OR-ID", help="Sentence encoder that ranks. [default: the generator's order]")
@click.option("--per-sentence", type=click.IntRange(min=1), default=3, show_default=True, metavar="N",
              help="Maximum number of paraphrases of a sentence to rate.")  # fmt: skip
def propose(
    pairs: Path,
    generators: tuple[str, ...],
    out: Path,
    split: str,
    limit: int | None,
    per_generator: int,
    top_k: int | None,
    seed: int,
    prompt: str | None,
    cache: Path | None,
    max_overlap: float,
    min_overlap: float,
    encoder: str | None,
    per_sentence: int,
) -> None:
    """Generate paraphrases of the sentences in PAIRS, and write rating sheets.

    PAIRS is a folder of `lapsus build rte`, or a file with id, premise, hypothesis and label.
    """
    overlap = OverlapFilter(max_overlap, min_overlap)
    rows = read_pairs(pairs, split)[:limit]
    settings = GeneratorSettings(per_generator, top_k, seed, prompt, cache or out / "answers")
    opened_generators = [open_generator(spec, settings) for spec in generators]
    sentence_encoder = open_metric(f"cosine:{encoder}") if encoder else None
    bar = partial(tqdm, unit=" sentences", disable=None, dynamic_ncols=True)
    candidates, counts = collect_candidates(
        unique_sentences(rows), opened_generators, overlap, sentence_encoder, per_sentence, bar
    )
    if not candidates:
        raise ValueError(
            f"none of {counts.proposed:,} paraphrases is left to rate ({counts.out_of_bounds:,} overlap too much); "
            "raise --max-overlap, or add a --generator"
        )
    proposal_folder.write_folder(out, rows, candidates)
    click.echo(
        f"{counts.sentences:,} sentences of {len(rows):,} pairs: {counts.proposed:,} paraphrases, "
        f"{counts.out_of_bounds:,} with an overlap out of bounds, {counts.repeated:,} repeated; "
        f"{counts.accepted:,} to rate, {counts.sentences_without:,} sentences without any"
    )
    click.echo(f"wrote sheet.csv, sheet.jsonl, and label_studio.json with label_studio.xml to {out}")
    click.echo(f"next: lapsus collect paraphrases judge {out}/sheet.csv --judge NAME")


@paraphrases.command(epilog=format_examples("lapsus collect paraphrases judge mine/sheet.csv --judge ida"))
@click.argument("sheet", type=PATH)
@click.option("--judge", required=True, metavar="NAME", help="Name of the judge.")
@add_option("--out", "File of judgements; earlier ones of this judge are kept. [default: JUDGE.jsonl]")
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", default=0,
              help="Port of the page. [default: a free one]")  # fmt: skip
@click.option("--open/--no-open", "show", default=True, help="Open the page in the browser.")
def judge(sheet: Path, judge: str, out: Path | None, port: int, *, show: bool) -> None:
    """Rate the paraphrases of a SHEET in the browser, on this machine; every judgement is saved at once."""
    if out is None and re.fullmatch(r"[\w.@+-]+", judge) is None:
        raise click.UsageError(f"{judge!r} is no file name; add --out FILE")
    work = Sheet.open(list(iter_sheet(sheet)), judge, out or Path(f"{judge}.jsonl"))
    with make_server(work, port) as http_server:
        click.echo(
            f"judge at {format_address(http_server)} ({work.remaining:,} of {len(work.items):,} to do); Ctrl-C ends"
        )
        if show:
            webbrowser.open(format_address(http_server))
        try:
            http_server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            click.echo(f"\n{work.out} has {len(work.judgements):,} judgements; {work.remaining:,} are left")


@paraphrases.command(
    epilog=format_examples(
        "lapsus collect paraphrases pair mine --judgements ida.jsonl \\",
        "  --judgements ben.jsonl --judgements lu.jsonl --out set",
    )
)
@click.argument("proposed", type=PATH)
@click.option("--judgements", type=PATH, multiple=True, metavar="FILE",
              help="Rating sheet, file of the judging page, or export of Label Studio; repeatable.")  # fmt: skip
@add_option("--out", "Folder for the pairs and the verdicts.", required=True)
@click.option("--min-rating", type=click.FloatRange(0, 100), default=75, show_default=True,
              help="Accept a paraphrase if the judges' mean rating of its similarity is above this.")  # fmt: skip
@click.option("--min-judges", type=click.IntRange(min=1), default=3, show_default=True, metavar="N",
              help="Minimum number of judges of a paraphrase.")  # fmt: skip
@click.option("--exclude", type=PATH, metavar="FILE", help="Rows with the ids of pairs whose label no longer holds.")
@click.option("--without-judges", is_flag=True, help="Take the first-ranked paraphrases instead, which nobody rated.")
@click.option("--min-similarity", type=click.FloatRange(-1, 1),
              help="With --without-judges: minimum similarity by the encoder.")  # fmt: skip
def pair(
    proposed: Path,
    judgements: tuple[Path, ...],
    out: Path,
    min_rating: float,
    min_judges: int,
    exclude: Path | None,
    min_similarity: float | None,
    *,
    without_judges: bool,
) -> None:
    """Build the pairs P'-H, P-H' and P'-H' of accepted paraphrases, and print the judges' agreement.

    PROPOSED is the folder of `lapsus collect paraphrases propose`.
    """
    if without_judges == bool(judgements):
        raise click.UsageError("give --judgements FILE, once for each judge, or --without-judges")
    if min_similarity is not None and not without_judges:
        raise click.UsageError("--min-similarity belongs to --without-judges; judges decide by --min-rating")
    proposals = proposal_folder.read_folder(proposed)
    if without_judges:
        best = choose_unjudged(proposals.candidates, min_similarity)
    else:
        items = [candidate.item for candidate in proposals.candidates]
        all_judgements = merge_judgements(judgements, items)
        item_verdicts = decide_verdicts(all_judgements, items, AcceptanceRule(min_rating, min_judges))
        proposal_folder.write_rows(out / "verdicts.jsonl", map(asdict, item_verdicts))
        print_verdicts(item_verdicts)
        print_agreement(measure_agreement(all_judgements))
        best = choose_judged(proposals.candidates, item_verdicts)
    rows = list(build_pairs(proposals.pairs, best))
    if exclude is not None:
        excluded_ids = read_ids(exclude)
        unknown_ids = excluded_ids - {row["id"] for row in rows}
        if unknown_ids:
            raise ValueError(f"{exclude} has the id {min(unknown_ids)!r}, which is no pair of this set; remove it")
        rows = [row for row in rows if row["id"] not in excluded_ids]
    if not rows:
        raise ValueError("no pair is left: none of their sentences has an accepted paraphrase")
    file = out / ("parte-unjudged.jsonl" if without_judges else "parte.jsonl")
    proposal_folder.write_rows(file, rows)
    counts = [sum(row["rewritten"] == side for row in rows) for side in ("premise", "hypothesis", "both")]
    click.echo(
        f"{len(rows):,} pairs of {len({row['original_id'] for row in rows}):,}: premise {counts[0]:,}, "
        f"hypothesis {counts[1]:,}, both {counts[2]:,}"
    )
    if without_judges:
        click.echo("nobody rated these paraphrases, so some labels will no longer hold", err=True)
    click.echo(f"wrote {file}")
    click.echo(f"next: lapsus build parte --source {file} --allow-partial --out {out}/built")


def print_verdicts(verdicts: list[Verdict]) -> None:
    """Print how many paraphrases had each outcome."""
    outcomes = ("accepted", "ungrammatical", "not similar", "too few judges")
    counts = ", ".join(f"{sum(verdict.outcome == outcome for verdict in verdicts):,} {outcome}" for outcome in outcomes)
    click.echo(f"{len(verdicts):,} paraphrases: {counts}")


def print_agreement(agreement: Agreement) -> None:
    """Print how far judges agree."""
    if agreement.mean_distance is None or agreement.same_grammaticality is None:
        click.echo("agreement: no item has two judges")
        return
    similarity, grammatical = (
        "not defined, all ratings are equal" if alpha is None else f"{alpha:.3f}"
        for alpha in (agreement.similarity, agreement.grammatical)
    )
    click.echo(
        f"agreement of {agreement.judges} judges on {agreement.items:,} items (Krippendorff's alpha): "
        f"similarity {similarity}, {agreement.mean_distance:.1f} points apart on average; "
        f"grammatical {grammatical}, the same in {agreement.same_grammaticality:.1%}"
    )
