"""`lapsus paraphrase`: a set like P̂aRTE, from pairs over paraphrases and judges to rows that `lapsus build` reads."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lapsus.commands.help_texts import example

if TYPE_CHECKING:
    from lapsus.paraphrases.judgements import Agreement, Verdict

PATH = click.Path(path_type=Path)


@click.group(
    epilog=example(
        "lapsus paraphrase propose built/rte --by hf:PATH --out mine",
        "lapsus paraphrase judge mine/sheet.csv --judge ida",
        "lapsus paraphrase pair mine --judgements ida.jsonl --judgements ben.jsonl --judgements lu.jsonl --out set",
    )
)
def paraphrase() -> None:
    """Make a set like P̂aRTE: put pairs in other words, have people judge them, build the pairs."""


@paraphrase.command(
    epilog=example("lapsus paraphrase propose built/rte --by hf:PATH --by http://HOST/v1#NAME --out mine")
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

    from lapsus.paraphrases import folder
    from lapsus.paraphrases.candidates import candidates
    from lapsus.paraphrases.generators import Settings, open_generator
    from lapsus.paraphrases.likeness import Encoder
    from lapsus.paraphrases.overlap import Overlap
    from lapsus.paraphrases.pairs import read_pairs, sentences

    overlap = Overlap(most_overlap, least_overlap)
    rows = read_pairs(pairs, split)[:limit]
    settings = Settings(number, top_k, seed, prompt, cache or out / "answers")
    generators = [open_generator(word, settings) for word in by]
    ranking = Encoder.load(encoder) if encoder else None
    bar = partial(tqdm, unit=" sentences", disable=None, dynamic_ncols=True)
    chosen, counts = candidates(sentences(rows), generators, overlap, ranking, keep, bar)
    if not chosen:
        raise ValueError(f"none of {counts.proposed:,} paraphrases is left to judge ({counts.near:,} overlap too much)")
    folder.write(out, rows, chosen)
    click.echo(
        f"{counts.sentences:,} sentences of {len(rows):,} pairs: {counts.proposed:,} paraphrases, {counts.near:,} with "
        f"an overlap out of bounds, {counts.repeated:,} repeated; {counts.kept:,} to judge, {counts.without:,} "
        "sentences without any"
    )
    click.echo(f"wrote sheet.csv, sheet.jsonl, and label_studio.json with label_studio.xml to {out}")
    click.echo(f"next: lapsus paraphrase judge {out}/sheet.csv --judge NAME")


@paraphrase.command(epilog=example("lapsus paraphrase judge mine/sheet.csv --judge ida"))
@click.argument("sheet", type=PATH)
@click.option("--judge", required=True, help="Who judges.")
@click.option("--out", type=PATH, help="File of judgements; what it has of this judge is kept. [default: JUDGE.jsonl]")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port of the page. [default: a free one]")
@click.option("--open/--no-open", "show", default=True, help="Open the page in the browser.")
def judge(sheet: Path, judge: str, out: Path | None, port: int, *, show: bool) -> None:
    """Judge a SHEET in the browser, on this machine; every judgement is saved as it is made."""
    import re
    import webbrowser

    from lapsus.paraphrases.judging import Sheet, address, server
    from lapsus.paraphrases.sheets import sheet_rows

    if out is None and re.fullmatch(r"[\w.@+-]+", judge) is None:
        raise click.UsageError(f"{judge!r} is no name of a file; give --out FILE")
    work = Sheet.open(list(sheet_rows(sheet)), judge, out or Path(f"{judge}.jsonl"))
    with server(work, port) as running:
        click.echo(f"judge at {address(running)} ({work.left:,} of {len(work.items):,} to do); Ctrl-C ends")
        if show:
            webbrowser.open(address(running))
        try:
            running.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            click.echo(f"\n{work.out} has {len(work.said):,} judgements, {work.left:,} are left")


@paraphrase.command(
    epilog=example(
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
    from lapsus.kernel.rows import read
    from lapsus.paraphrases import folder
    from lapsus.paraphrases.choosing import judged_best, unjudged_best
    from lapsus.paraphrases.judgements import Rule, agreement, verdicts
    from lapsus.paraphrases.pairs import reworded
    from lapsus.paraphrases.sheets import read_all

    if unjudged == bool(judgements):
        raise click.UsageError("give --judgements FILE, once for each judge, or --unjudged")
    if least_likeness is not None and not unjudged:
        raise click.UsageError("--least-likeness belongs to --unjudged; judges decide by --similarity")
    told = folder.open_folder(proposed)
    if unjudged:
        best = unjudged_best(told.candidates, least_likeness)
    else:
        items = [each.item for each in told.candidates]
        said = read_all(judgements, items)
        found = verdicts(said, items, Rule(similarity, judges))
        folder.write_rows(out / "verdicts.jsonl", map(asdict, found))
        tell_verdicts(found)
        tell_agreement(agreement(said))
        best = judged_best(told.candidates, found)
    rows = list(reworded(told.pairs, best))
    if leave_out is not None:
        gone = {str(row.get("id")) for row in read(leave_out)}
        strange = gone - {row["id"] for row in rows}
        if strange:
            raise ValueError(f"{leave_out} names {min(strange)!r}, which is no pair of this set; take it out")
        rows = [row for row in rows if row["id"] not in gone]
    if not rows:
        raise ValueError("no pair is left: none of their sentences has an accepted paraphrase")
    file = out / ("parte-unjudged.jsonl" if unjudged else "parte.jsonl")
    folder.write_rows(file, rows)
    sides = [sum(row["rewritten"] == side for row in rows) for side in ("premise", "hypothesis", "both")]
    click.echo(
        f"{len(rows):,} pairs of {len({row['original_id'] for row in rows}):,}: premise {sides[0]:,}, "
        f"hypothesis {sides[1]:,}, both {sides[2]:,}"
    )
    if unjudged:
        click.echo("nobody has judged these paraphrases: some labels will no longer hold", err=True)
    click.echo(f"wrote {file}")
    click.echo(f"next: lapsus build parte --source {file} --allow-partial --out {out}/built")


def tell_verdicts(found: list[Verdict]) -> None:
    """Print how many items came to which end."""
    ends = ("accepted", "ungrammatical", "not similar", "too few judges")
    counted = ", ".join(f"{sum(each.outcome == end for each in found):,} {end}" for end in ends)
    click.echo(f"{len(found):,} paraphrases: {counted}")


def tell_agreement(found: Agreement) -> None:
    """Print how far judges agree."""
    if found.apart is None or found.same is None:
        click.echo("agreement: no item has two judges")
        return
    similarity, grammatical = (
        "not defined, all said the same" if alpha is None else f"{alpha:.3f}"
        for alpha in (found.similarity, found.grammatical)
    )
    click.echo(
        f"agreement of {found.judges} judges on {found.items:,} items (Krippendorff's alpha): similarity {similarity}, "
        f"{found.apart:.1f} points apart on average; grammatical {grammatical}, the same in {found.same:.1%}"
    )
