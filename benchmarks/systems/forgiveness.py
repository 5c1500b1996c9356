"""What a tokenizer forgives: how much of its numbers noise leaves as they were, without any model.

    python benchmarks/systems/forgiveness.py AFQMC [--out docs/systems.md]

AFQMC is READIN's folder `afqmc_balanced`: pieces are learnt from `train.json`; the noise is homophones put into
clean questions, and what three people typed. Of each question the share of its tokens that stay is counted (those of
the longest common subsequence), and whether all stay.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from _page import write
from rapidfuzz.distance import Indel

from lapsus.papers.encoder import train_word_pieces
from lapsus.papers.subchar.tokenizer import SubCharTokenizer
from lapsus.perturbations import ZhHomophone

MOST = 1000  # questions of the test set
READERS = (("pinyin", False), ("pinyin-toneless", False), ("zhuyin", False), ("wubi", False), ("pinyin", True))


def questions(folder: Path, name: str) -> list[str]:
    """Return both questions of each row."""
    rows = [json.loads(line) for line in (folder / f"{name}.json").read_text(encoding="utf-8").splitlines()]
    return [row[column].strip() for row in rows for column in ("sentence1", "sentence2")]


def kept(tokenizer: Any, clean: list[str], noisy: list[str]) -> tuple[float, float]:
    """Return the mean share of tokens that noise leaves, and the share of changed texts whose tokens all stay."""
    before, after = (tokenizer(texts, add_special_tokens=False).input_ids for texts in (clean, noisy))
    changed = [place for place, text in enumerate(clean) if text != noisy[place]]
    shares = [Indel.normalized_similarity(before[place], after[place]) for place in changed]
    return sum(shares) / len(shares), sum(share == 1 for share in shares) / len(shares)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.option("--out", type=click.Path(path_type=Path, exists=True), help="the page whose marked part is rewritten")
def main(folder: Path, out: Path | None) -> None:
    """Print, by tokenizer and noise, the share of tokens that stay and of questions that stay whole."""
    learnt, clean = questions(folder, "train")[:20_000], questions(folder, "test_clean")[:MOST]
    noises = {
        "homophones": ZhHomophone(rate=0.3).rewrite(clean),
        "homophones, any tone": ZhHomophone(rate=0.3, same_tone=False).rewrite(clean),
        **{f"typist {n}": questions(folder, f"test_noisy_{n}")[:MOST] for n in (1, 2, 3)},
    }
    readers = {"BERT's word pieces": train_word_pieces(learnt, size=3000)} | {
        f"{code}{', index' if index else ''}": SubCharTokenizer.train(learnt, code, index=index, size=3000)
        for code, index in READERS
    }
    lines = [f"| tokens | {' | '.join(noises)} |", f"| --- | {' | '.join('--:' for _ in noises)} |"]
    for name, tokenizer in readers.items():
        cells = [kept(tokenizer, clean, noisy) for noisy in noises.values()]
        lines.append(f"| {name} | {' | '.join(f'{100 * share:.0f} ({100 * whole:.0f})' for share, whole in cells)} |")
    click.echo("\n".join(lines))
    if out is not None:
        write(out, "forgiveness", "\n".join(lines))


if __name__ == "__main__":
    main()
