"""`lapsus paraphrase`: a set like P̂aRTE, from pairs over paraphrases and judges to rows that `lapsus build` reads."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lapsus.cli.options import format_examples

if TYPE_CHECKING:
    from lapsus.collect.judgements import Agreement, Verdict

PATH = click.Path(path_type=Path)


@click.group(
    epilog=format_examples(
        "lapsus paraphrase propose built/rte --by hf:PATH --out mine",
        "lapsus paraphrase judge mine/sheet.csv --judge ida",
        "lapsus paraphrase pair mine --judgements ida.jsonl --judgements ben.jsonl --judgements lu.jsonl --out set",
    )
)
def paraphrase() -> None:
    """Make a set like P̂aRTE: put pairs in other words, have people judge them, build the pairs."""


@paraphrase.command(
    epilog=format_examples("lapsus paraphrase propose built/rte --by hf:PATH --by http://HOST/v1#NAME --out mine")
)
@click.argument("pairs", type=PATH)
@click.option("--by", multiple=True, required=True, metavar="GENERATOR",
              help="hf:PATH-OR-ID (an encoder-decoder), http://HOST/v1#NAME or replay:FILE; repeatable.")  # fmt: skip
@click.option("--out", type=PATH, required=True, help="Folder for candidates and sheets.")
@click.option("--split", default="test", show_default=True, help="Split, where PAIRS is a folder.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N pairs.")
@click.option("--number", type=click.IntRange(min=1), default=10, show_default=True, metavar="N",
              help="Paraphrases of a sentence that each generator makes: beams, or lines of an answer.")  # fmt: skip
@click.option("--top-k", type=click.IntRange(min=1), metavar="K",
              help="With hf: draw from the K most probable tokens instead of searching in beams.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of --top-k.")
@click.option("--prompt", help="What a generator is asked, with {text} and {number}.")
@click.option("--cache", type=PATH, help="Folder that keeps the answers of an address. [default: OUT/answers]")
@click.option("--most-overlap", type=click.FloatRange(0, 1), default=0.75, show_default=True,
              help="Leave out what shares a larger part of its words with the sentence (Jaccard).")  # fmt: skip
@click.option("--least-overlap", type=click.FloatRange(0, 1), default=0, show_default=True,
              help="Leave out what shares no more than this; 0 leaves nothing out.")  # fmt: skip
@click.option("--encoder", metavar="PATH-OR-ID", help="Sentence encoder that ranks. [default: the generator's order]")
@click.option("--keep", type=click.IntRange(min=1), default=3, show_default=True, help="Most paraphrases to judge.")
def propose(
    pairs: Path,
    by: tuple[str, ...],
    out: Path,
    split: str,
    limit: int | None,
    number: int,
    top_k: int | None,
    seed: int,
    prompt: str | None,
    cache: Path | None,
    most_overlap: float,
    least_overlap: float,
    encoder: str | None,
    keep: int,
) -> None:
    """Put the sentences of PAIRS in other words, and write sheets for judges.

    PAIRS is a folder of `lapsus build rte`, or a file with id, premise, hypothesis and label.
    """
    from functools import partial

    from tqdm import tqdm

    from lapsus.collect import proposals as folder
    from lapsus.collect.candidates import OverlapFilter, collect_candidates
    from lapsus.collect.generators import GeneratorSettings, open_generator
    from lapsus.collect.pairs import read_pairs, unique_sentences
    from lapsus.collect.transformers import SentenceEncoder

    overlap = OverlapFilter(most_overlap, least_overlap)
    rows = read_pairs(pairs, split)[:limit]
    settings = GeneratorSettings(number, top_k, seed, prompt, cache or out / "answers")
    paraphrasers = [open_generator(word, settings) for word in by]
    sentence_encoder = SentenceEncoder.load(encoder) if encoder else None
    bar = partial(tqdm, unit=" sentences", disable=None, dynamic_ncols=True)
    paraphrases, counts = collect_candidates(unique_sentences(rows), paraphrasers, overlap, sentence_encoder, keep, bar)
    if not paraphrases:
        raise ValueError(
            f"none of {counts.proposed:,} paraphrases is left to judge ({counts.out_of_bounds:,} overlap too much)"
        )
    folder.write_folder(out, rows, paraphrases)
    click.echo(
        f"{counts.sentences:,} sentences of {len(rows):,} pairs: {counts.proposed:,} paraphrases, {counts.out_of_bounds:,} with "
        f"an overlap out of bounds, {counts.repeated:,} repeated; {counts.accepted:,} to judge, {counts.sentences_without:,} "
        "sentences without any"
    )
    click.echo(f"wrote sheet.csv, sheet.jsonl, and label_studio.json with label_studio.xml to {out}")
    click.echo(f"next: lapsus paraphrase judge {out}/sheet.csv --judge NAME")


@paraphrase.command(epilog=format_examples("lapsus paraphrase judge mine/sheet.csv --judge ida"))
@click.argument("sheet", type=PATH)
@click.option("--judge", required=True, help="Who judges.")
@click.option("--out", type=PATH, help="File of judgements; what it has of this judge is kept. [default: JUDGE.jsonl]")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port of the page. [default: a free one]")
@click.option("--open/--no-open", "show", default=True, help="Open the page in the browser.")
def judge(sheet: Path, judge: str, out: Path | None, port: int, *, show: bool) -> None:
    """Judge a SHEET in the browser, on this machine; every judgement is saved as it is made."""
    import re
    import webbrowser

    from lapsus.collect.judging_page import Sheet, format_address, make_server
    from lapsus.collect.sheets import iter_sheet

    if out is None and re.fullmatch(r"[\w.@+-]+", judge) is None:
        raise click.UsageError(f"{judge!r} is no name of a file; give --out FILE")
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
            click.echo(f"\n{work.out} has {len(work.judgements):,} judgements, {work.remaining:,} are left")


@paraphrase.command(
    epilog=format_examples(
        "lapsus paraphrase pair mine --judgements ida.jsonl --judgements ben.jsonl --judgements lu.jsonl --out set"
    )
)
@click.argument("proposed", type=PATH)
@click.option("--judgements", type=PATH, multiple=True, metavar="FILE",
              help="A filled-in sheet, the file of the page, or an export of Label Studio; repeatable.")  # fmt: skip
@click.option("--out", type=PATH, required=True, help="Folder for the pairs and the verdicts.")
@click.option("--similarity", type=click.FloatRange(0, 100), default=75, show_default=True,
              help="Accept what is over this, as the mean of the judges.")  # fmt: skip
@click.option("--judges", type=click.IntRange(min=1), default=3, show_default=True, help="Fewest judges of an item.")
@click.option("--leave-out", type=PATH, metavar="FILE", help="Rows with the id of pairs whose label no longer holds.")
@click.option("--unjudged", is_flag=True, help="Take the first-ranked paraphrases instead, which nobody has seen.")
@click.option("--least-likeness", type=click.FloatRange(-1, 1), help="With --unjudged: how alike the encoder finds it.")
def pair(
    proposed: Path,
    judgements: tuple[Path, ...],
    out: Path,
    similarity: float,
    judges: int,
    leave_out: Path | None,
    least_likeness: float | None,
    *,
    unjudged: bool,
) -> None:
    """Build the pairs P'-H, P-H' and P'-H' of what the judges accepted, and say how far they agree.

    PROPOSED is the folder of `lapsus paraphrase propose`.
    """
    from lapsus.collect import proposals as folder
    from lapsus.collect.candidates import choose_judged, choose_unjudged
    from lapsus.collect.judgements import AcceptanceRule, decide_verdicts, measure_agreement
    from lapsus.collect.pairs import build_pairs
    from lapsus.collect.sheets import merge_judgements
    from lapsus.io.readers import read_rows

    if unjudged == bool(judgements):
        raise click.UsageError("give --judgements FILE, once for each judge, or --unjudged")
    if least_likeness is not None and not unjudged:
        raise click.UsageError("--least-likeness belongs to --unjudged; judges decide by --similarity")
    proposals = folder.read_folder(proposed)
    if unjudged:
        best = choose_unjudged(proposals.candidates, least_likeness)
    else:
        items = [each.item for each in proposals.candidates]
        all_judgements = merge_judgements(judgements, items)
        item_verdicts = decide_verdicts(all_judgements, items, AcceptanceRule(similarity, judges))
        folder.write_rows(out / "verdicts.jsonl", map(asdict, item_verdicts))
        print_verdicts(item_verdicts)
        print_agreement(measure_agreement(all_judgements))
        best = choose_judged(proposals.candidates, item_verdicts)
    rows = list(build_pairs(proposals.pairs, best))
    if leave_out is not None:
        excluded_ids = {str(row.get("id")) for row in read_rows(leave_out)}
        unknown_ids = excluded_ids - {row["id"] for row in rows}
        if unknown_ids:
            raise ValueError(f"{leave_out} names {min(unknown_ids)!r}, which is no pair of this set; take it out")
        rows = [row for row in rows if row["id"] not in excluded_ids]
    if not rows:
        raise ValueError("no pair is left: none of their sentences has an accepted paraphrase")
    file = out / ("parte-unjudged.jsonl" if unjudged else "parte.jsonl")
    folder.write_rows(file, rows)
    counts = [sum(row["rewritten"] == side for row in rows) for side in ("premise", "hypothesis", "both")]
    click.echo(
        f"{len(rows):,} pairs of {len({row['original_id'] for row in rows}):,}: premise {counts[0]:,}, "
        f"hypothesis {counts[1]:,}, both {counts[2]:,}"
    )
    if unjudged:
        click.echo("nobody has judged these paraphrases: some labels will no longer hold", err=True)
    click.echo(f"wrote {file}")
    click.echo(f"next: lapsus build parte --source {file} --allow-partial --out {out}/built")


def print_verdicts(verdicts: list[Verdict]) -> None:
    """Print how many items came to which end."""
    outcomes = ("accepted", "ungrammatical", "not similar", "too few judges")
    counts = ", ".join(f"{sum(each.outcome == outcome for each in verdicts):,} {outcome}" for outcome in outcomes)
    click.echo(f"{len(verdicts):,} paraphrases: {counts}")


def print_agreement(agreement: Agreement) -> None:
    """Print how far judges agree."""
    if agreement.mean_distance is None or agreement.same_grammaticality is None:
        click.echo("agreement: no item has two judges")
        return
    similarity, grammatical = (
        "not defined, all said the same" if alpha is None else f"{alpha:.3f}"
        for alpha in (agreement.similarity, agreement.grammatical)
    )
    click.echo(
        f"agreement of {agreement.judges} judges on {agreement.items:,} items (Krippendorff's alpha): similarity {similarity}, "
        f"{agreement.mean_distance:.1f} points apart on average; grammatical {grammatical}, the same in {agreement.same_grammaticality:.1%}"
    )
