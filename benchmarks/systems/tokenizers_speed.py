"""Sub-character tokenizers beside BERT's, in one run on one thread: sentences a second, as ratios.

    TOKENIZERS_PARALLELISM=false python benchmarks/systems/tokenizers_speed.py TRAIN.jsonl [--out docs/systems.md]

TRAIN is JSON lines of texts, such as READIN's `train.json` of AFQMC. All tokenizers have 8,000 tokens, learnt from the
same texts; each is timed in turns with BERT's, and the median of the ratios of five turns is shown.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import click
from _page import write

from lapsus.papers.encoder import train_word_pieces
from lapsus.papers.subchar.codes import CODES
from lapsus.papers.subchar.tokenizer import SubCharTokenizer


def rate(tokenizer: Any, texts: list[str]) -> float:
    """Return how many texts a processor second takes."""
    begun = process_time()
    tokenizer(texts)
    return len(texts) / (process_time() - begun)


@click.command()
@click.argument("train", type=click.Path(path_type=Path, exists=True))
@click.option("--out", type=click.Path(path_type=Path, exists=True), help="the page whose marked part is rewritten")
def main(train: Path, out: Path | None) -> None:
    """Print sentences a second, tokens a sentence, and the ratio to BERT's tokenizer."""
    rows = [json.loads(line) for line in train.read_text(encoding="utf-8").splitlines()]
    texts = [text.strip() for row in rows for text in row.values() if isinstance(text, str) and len(text) > 1]
    learnt, timed = texts[:20_000], texts[20_000:24_000]
    bert = train_word_pieces(learnt)
    lines = ["| tokens | sentences a second | of BERT's | tokens a sentence |", "| --- | --: | --: | --: |"]
    for name, code, index in (
        *((code, code, False) for code in CODES),
        *((f"{code}, index", code, True) for code in ("pinyin", "wubi")),
    ):
        made = SubCharTokenizer.train(learnt, code, index=index, size=8000)
        turns = [(rate(made, timed), rate(bert, timed)) for _ in range(5)]
        ratio = median(own / other for own, other in turns)
        tokens = sum(len(ids) - 2 for ids in made(timed).input_ids) / len(timed)
        lines.append(f"| {name} | {median(own for own, _ in turns):,.0f} | {ratio:.2f} | {tokens:.1f} |")
    tokens = sum(len(ids) - 2 for ids in bert(timed).input_ids) / len(timed)
    lines.append(f"| BERT's word pieces | {median(other for _, other in turns):,.0f} | 1 | {tokens:.1f} |")
    click.echo("\n".join(lines))
    if out is not None:
        write(out, "tokenizers", "\n".join(lines))


if __name__ == "__main__":
    main()
