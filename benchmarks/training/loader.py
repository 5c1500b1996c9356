"""Measure what noise costs a training loop: a small encoder on one core, fed by a DataLoader with two workers.

    python benchmarks/training/loader.py DATA [--out docs/training.md]

DATA has the folders nature_slu and readin. Training with noise and without take turns on the same rows; on one core
the throughput is the inverse of all processor time, of the loop and of its workers, which a busy machine disturbs
little. Each ratio is the median of the turns. Texts are padded to one length: some noise makes them longer, which the
encoder has to read, whatever made them.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import click
import torch
from _materials import questions, snips
from datasets import Dataset
from torch.utils.data import DataLoader

sys.path.insert(0, str(Path(__file__).parents[1] / "systems"))
from _page import write

from lapsus.papers.encoder import EncoderConfig, train_word_pieces
from lapsus.perturbations import OPERATORS, Noise

OPERATOR_NAMES = ("en_keyboard", "filler_eos", "zh_homophone")
SHAPE = EncoderConfig(size=128, layers=2, heads=2)
ROWS, BATCH, TURNS, TOKENS = 640, 32, 5, 32


def make_model(tokenizer: Any) -> Any:
    """Return an encoder that has not learned yet."""
    from transformers import BertConfig, BertForSequenceClassification

    return BertForSequenceClassification(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=SHAPE.size,
            num_hidden_layers=SHAPE.layers,
            num_attention_heads=SHAPE.heads,
            intermediate_size=4 * SHAPE.size,
        )
    )


def count_seconds() -> float:
    """Return the processor time of this process and of its workers that have ended."""
    own, workers = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + workers.ru_utime + workers.ru_stime


def time_epoch(model: Any, dataset: Any, collate: Callable[[Any], Any]) -> float:
    """Return the processor time of one epoch of training."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    start = count_seconds()
    for batch in DataLoader(dataset, batch_size=BATCH, shuffle=True, num_workers=2, collate_fn=collate):
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return count_seconds() - start


def compare(texts: Sequence[str], operator: str) -> list[float]:
    """Return the throughput with noise as a share of that without, for each turn."""
    tokenizer = train_word_pieces(texts)
    rows = Dataset.from_list([{"id": str(n), "text": text, "label": n % 2} for n, text in enumerate(texts[:ROWS])])
    transform = Noise(OPERATORS[operator], text="text", id="id").transform()

    def collate(batch: Any) -> Any:
        texts = [row["text"] for row in batch]
        encoded = tokenizer(texts, padding="max_length", max_length=TOKENS, truncation=True, return_tensors="pt")
        return encoded | {"labels": torch.tensor([row["label"] for row in batch])}

    model = make_model(tokenizer)
    sides = (rows, rows.with_transform(transform))
    transform(rows[:BATCH])  # what an operator reads, it reads once
    ratios = []
    for turn in range(TURNS + 1):
        transform.set_epoch(turn)
        order = (0, 1) if turn % 2 else (1, 0)
        seconds = {side: time_epoch(model, sides[side], collate) for side in order}
        ratios.append(seconds[0] / seconds[1])
    return ratios[1:]


@click.command()
@click.argument("data", type=click.Path(path_type=Path, exists=True))
@click.option("--out", type=click.Path(path_type=Path, exists=True), help="the page whose marked part is rewritten")
def main(data: Path, out: Path | None) -> None:
    """Measure the throughput with noise."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    english = [texts[0] for texts, _ in snips(data).train]
    chinese = [texts[0] for texts, _ in questions(data).train]
    lines = ["| noise | throughput, of that without | turns |", "| --- | --: | --- |"]
    for name in OPERATOR_NAMES:
        ratios = compare(chinese if name.startswith("zh") else english, name)
        turns = ", ".join(f"{ratio:.2f}" for ratio in sorted(ratios))
        lines.append(f"| `{name}` | {median(ratios):.2f} | {turns} |")
        print(lines[-1], flush=True)
    if out is not None:
        write(out, "loader", "\n".join(lines), by="benchmarks/training/loader.py")


if __name__ == "__main__":
    main()
