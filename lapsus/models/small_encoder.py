"""An encoder that names a label for a text or for a pair of texts: trained here from nothing, or from a checkpoint.

From nothing it is a BERT of a few layers that learns from the training rows alone, in minutes on one core; with
`start`, the same loop fine-tunes a checkpoint of transformers. What `save` writes is a folder for
`lapsus run --model hf:FOLDER` and for `AutoModelForSequenceClassification`. The extra `models` installs what is needed.

>>> rows = [("play some jazz", "music"), ("will it rain", "weather")] * 8
>>> words = word_pieces(text for text, _ in rows)
>>> model = train(rows, tokenizer=words, shape=Shape(size=32, layers=1), epochs=20, batch_size=4, rate=2e-3)
>>> model.predict([("play some jazz",), ("will it rain",)])
['music', 'weather']
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from random import Random
from typing import Any

import torch

from lapsus.kernel.atomic import staged_folder
from lapsus.kernel.extras import needed
from lapsus.kernel.progress_bars import quiet_transformers
from lapsus.models.training import batches_by_length, best_epoch, rising_and_falling, threads

SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
Row = tuple[str, ...]  # one text or two, then the label


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of an encoder that starts from nothing; `positions` tokens are read, what comes after is cut."""

    size: int = 128
    layers: int = 2
    heads: int = 2
    positions: int = 128
    dropout: float = 0.1


@dataclass(frozen=True, slots=True)
class SmallEncoder:
    """A trained encoder with its tokenizer."""

    model: Any
    tokenizer: Any

    @property
    def labels(self) -> list[str]:
        """The labels in the order of the model's outputs."""
        names = self.model.config.id2label
        return [str(names[place]) for place in range(len(names))]

    def predict(self, texts: Sequence[Sequence[str]], batch_size: int = 256) -> list[str]:
        """Return the likeliest label of each text, given as `(text,)`, or pair of texts."""
        labels = self.labels
        return [labels[place] for place in self.scores(texts, batch_size).argmax(1).tolist()]

    @torch.no_grad()
    def scores(self, texts: Sequence[Sequence[str]], batch_size: int = 256) -> torch.Tensor:
        """Return the log-probability of each label (texts, labels)."""
        self.model.eval()
        encoded = _encoded(self.tokenizer, texts, self.model.config)
        order = sorted(range(len(encoded)), key=lambda place: len(encoded[place]["input_ids"]))
        found = torch.empty(len(encoded), len(self.labels))
        for start in range(0, len(order), batch_size):
            places = order[start : start + batch_size]
            found[places] = self.model(**_padded(self.tokenizer, encoded, places)).logits.float().log_softmax(1)
        return found

    def save(self, folder: str | PathLike[str]) -> None:
        """Write model and tokenizer to a folder, which replaces an earlier model's."""
        with (
            staged_folder(Path(folder), ours=lambda old: (old / "config.json").is_file(), what="model") as new,
            quiet_transformers(),
        ):
            self.model.save_pretrained(new)
            self.tokenizer.save_pretrained(new)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> SmallEncoder:
        """Read what `save` wrote."""
        transformers = needed("transformers", "models", "this model")
        with quiet_transformers():
            model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
        return cls(model.eval(), transformers.AutoTokenizer.from_pretrained(folder))


def word_pieces(texts: Iterable[str], size: int = 8000) -> Any:
    """Return a tokenizer like BERT's with pieces learnt from `texts`; each Chinese character stands alone."""
    tokenizers = needed("tokenizers", "models", "this model")
    transformers = needed("transformers", "models", "this model")
    learnt = tokenizers.BertWordPieceTokenizer(lowercase=True)
    learnt.train_from_iterator(texts, vocab_size=size, min_frequency=2, show_progress=False)
    return transformers.BertTokenizerFast(tokenizer_object=learnt._tokenizer, **SPECIAL)  # noqa: SLF001 - its only way


def train(
    rows: Sequence[Row],
    dev: Sequence[Row] = (),
    seed: int = 0,
    *,
    tokenizer: Any = None,
    start: str | PathLike[str] | None = None,
    shape: Shape = Shape(),
    epochs: int = 5,
    batch_size: int = 64,
    rate: float = 1e-3,
    warmup: float = 0.1,
    cores: int = 1,
) -> SmallEncoder:
    """Train on rows of one or two texts and a label; keep the weights of the epoch with most of `dev` right.

    The same rows, seed and number of cores give the same weights on one machine; the caller's random state is left
    alone.

    Args:
        rows: `(text, label)` or `(text, text, label)`.
        dev: Rows to choose the epoch by; without them the last one is kept.
        seed: Another seed, other first weights and another order of the rows.
        tokenizer: Of transformers; with `start`, the checkpoint's own one where none is given.
        start: A checkpoint to fine-tune; None starts from nothing, with `shape`.
        shape: The size of an encoder that starts from nothing.
        epochs: How often all rows are read.
        batch_size: How many rows make a step.
        rate: The learning rate at its highest.
        warmup: The share of the steps in which the rate rises.
        cores: How many threads compute.
    """
    if not rows:
        raise ValueError("no rows to train on: give at least one (text, label) or (text, text, label)")
    if epochs < 1:
        raise ValueError(f"epochs is {epochs}; give at least 1")
    labels = tuple(sorted({row[-1] for row in rows}))
    texts, gold = [row[:-1] for row in rows], torch.tensor([labels.index(row[-1]) for row in rows])
    rng = Random(f"encoder/{seed}")
    with torch.random.fork_rng(devices=[]), threads(cores):
        torch.manual_seed(seed)
        made = _beginning(start, tokenizer, shape, labels)
        encoded = _encoded(made.tokenizer, texts, made.model.config)
        lengths = [len(one["input_ids"]) for one in encoded]
        optimizer = torch.optim.AdamW(made.model.parameters(), lr=rate, weight_decay=0.01)
        schedule = rising_and_falling(optimizer, epochs * -(-len(rows) // batch_size), warmup)

        def learn() -> None:
            for places in batches_by_length(lengths, batch_size, rng):
                logits = made.model(**_padded(made.tokenizer, encoded, places)).logits
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(logits, gold[places]).backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(made.model.parameters(), 1.0)
                optimizer.step()
                schedule.step()

        def right() -> int:
            guesses = made.predict([row[:-1] for row in dev])
            return sum(guess == row[-1] for guess, row in zip(guesses, dev, strict=True))

        best_epoch(made.model, epochs, learn, right)
    return made


def _beginning(start: str | PathLike[str] | None, tokenizer: Any, shape: Shape, labels: Sequence[str]) -> SmallEncoder:
    """Return an encoder before training."""
    transformers = needed("transformers", "models", "this model")
    names = dict(enumerate(labels))
    if start is not None:
        config = transformers.AutoConfig.from_pretrained(start, id2label=names, label2id=_turned(names))
        with quiet_transformers():
            model = transformers.AutoModelForSequenceClassification.from_pretrained(
                start,
                config=config,
                ignore_mismatched_sizes=True,  # its last layer may be for other labels, and is then a new one
            )
        own = transformers.AutoTokenizer.from_pretrained(start) if tokenizer is None else tokenizer
        return SmallEncoder(model, own)
    if tokenizer is None:
        raise ValueError("an encoder from nothing needs a tokenizer; give one, such as word_pieces(texts)")
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=shape.size,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=4 * shape.size,
        max_position_embeddings=shape.positions,
        hidden_dropout_prob=shape.dropout,
        attention_probs_dropout_prob=shape.dropout,
        pad_token_id=tokenizer.pad_token_id,
        id2label=names,
        label2id=_turned(names),
    )
    tokenizer.model_max_length = shape.positions
    return SmallEncoder(transformers.BertForSequenceClassification(config), tokenizer)


def _encoded(tokenizer: Any, texts: Sequence[Sequence[str]], config: Any) -> list[dict[str, list[int]]]:
    """Return the inputs of each text or pair, cut to what the model reads."""
    if not texts:
        return []
    longest = min(config.max_position_embeddings, tokenizer.model_max_length)
    made = tokenizer(*(list(side) for side in zip(*texts, strict=True)), truncation=True, max_length=longest)
    return [{name: made[name][place] for name in made} for place in range(len(texts))]


def _turned(names: dict[int, str]) -> dict[str, int]:
    return {label: place for place, label in names.items()}


def _padded(tokenizer: Any, encoded: Sequence[dict[str, list[int]]], places: Sequence[int]) -> Any:
    return tokenizer.pad([encoded[place] for place in places], return_tensors="pt")
