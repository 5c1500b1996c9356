"""An encoder that names a label for a text or for a pair of texts: trained here from nothing, or from a checkpoint.

From nothing it is a BERT of a few layers that learns from the training rows alone, in minutes on one core; with
`start`, the same loop fine-tunes a checkpoint of transformers. What `save` writes is a folder for
`lapsus run --model hf:FOLDER` and for `AutoModelForSequenceClassification`. The extra `papers` installs what is needed.

>>> rows = [("play some jazz", "music"), ("will it rain", "weather")] * 8
>>> words = train_word_pieces(text for text, _ in rows)
>>> model = train(rows, tokenizer=words, shape=EncoderConfig(size=32, layers=1), epochs=20, batch_size=4, rate=2e-3)
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

from lapsus.core.files import stage_folder
from lapsus.core.imports import import_optional
from lapsus.core.terminal import hide_transformers_bars
from lapsus.papers.training import group_by_length, limit_threads, train_best_epoch, warmup_then_decay

SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
CONFIG = "config.json"  # by which a folder is known as a model
Row = tuple[str, ...]  # one text or two, then the label


@dataclass(frozen=True, slots=True)
class EncoderConfig:
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
        return [str(names[label_id]) for label_id in range(len(names))]

    def predict(self, texts: Sequence[Sequence[str]], batch_size: int = 256) -> list[str]:
        """Return the likeliest label of each text, given as `(text,)`, or pair of texts."""
        labels = self.labels
        return [labels[label_id] for label_id in self.predict_logprobs(texts, batch_size).argmax(1).tolist()]

    @torch.no_grad()
    def predict_logprobs(self, texts: Sequence[Sequence[str]], batch_size: int = 256) -> torch.Tensor:
        """Return the log-probability of each label (texts, labels)."""
        self.model.eval()
        encoded = _encode(self.tokenizer, texts, self.model.config)
        order = sorted(range(len(encoded)), key=lambda index: len(encoded[index]["input_ids"]))
        logprobs = torch.empty(len(encoded), len(self.labels))
        for start in range(0, len(order), batch_size):
            indices = order[start : start + batch_size]
            logprobs[indices] = self.model(**_pad(self.tokenizer, encoded, indices)).logits.float().log_softmax(1)
        return logprobs

    def save(self, folder: str | PathLike[str]) -> None:
        """Write model and tokenizer to a folder, which replaces an earlier model's."""
        staged = stage_folder(Path(folder), may_replace=lambda old: (old / CONFIG).is_file(), description="model")
        with staged as new, hide_transformers_bars():
            self.model.save_pretrained(new)
            self.tokenizer.save_pretrained(new)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> SmallEncoder:
        """Read what `save` wrote."""
        transformers = import_optional("transformers", "papers", "this model")
        with hide_transformers_bars():
            model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
        return cls(model.eval(), transformers.AutoTokenizer.from_pretrained(folder))


def train_word_pieces(texts: Iterable[str], size: int = 8000) -> Any:
    """Return a tokenizer like BERT's with pieces learnt from `texts`; each Chinese character stands alone."""
    tokenizers = import_optional("tokenizers", "papers", "this model")
    transformers = import_optional("transformers", "papers", "this model")
    wordpiece = tokenizers.BertWordPieceTokenizer(lowercase=True)
    wordpiece.train_from_iterator(texts, vocab_size=size, min_frequency=2, show_progress=False)
    return transformers.BertTokenizerFast(tokenizer_object=wordpiece._tokenizer, **SPECIAL)  # noqa: SLF001 - its only way


def train(
    rows: Sequence[Row],
    dev: Sequence[Row] = (),
    seed: int = 0,
    *,
    tokenizer: Any = None,
    start: str | PathLike[str] | None = None,
    shape: EncoderConfig = EncoderConfig(),
    epochs: int = 5,
    batch_size: int = 64,
    rate: float = 1e-3,
    warmup: float = 0.1,
    n_threads: int = 1,
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
        n_threads: How many threads compute.
    """
    if not rows:
        raise ValueError("no rows to train on: give at least one (text, label) or (text, text, label)")
    if epochs < 1:
        raise ValueError(f"epochs is {epochs}; give at least 1")
    labels = tuple(sorted({row[-1] for row in rows}))
    texts, gold = [row[:-1] for row in rows], torch.tensor([labels.index(row[-1]) for row in rows])
    rng = Random(f"encoder/{seed}")
    with torch.random.fork_rng(devices=[]), limit_threads(n_threads):
        torch.manual_seed(seed)
        encoder = _initialise(start, tokenizer, shape, labels)
        encoded = _encode(encoder.tokenizer, texts, encoder.model.config)
        lengths = [len(inputs["input_ids"]) for inputs in encoded]
        optimizer = torch.optim.AdamW(encoder.model.parameters(), lr=rate, weight_decay=0.01)
        schedule = warmup_then_decay(optimizer, epochs * -(-len(rows) // batch_size), warmup)

        def train_epoch() -> None:
            for indices in group_by_length(lengths, batch_size, rng):
                logits = encoder.model(**_pad(encoder.tokenizer, encoded, indices)).logits
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(logits, gold[indices]).backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(encoder.model.parameters(), 1.0)
                optimizer.step()
                schedule.step()

        def count_correct() -> int:
            predictions = encoder.predict([row[:-1] for row in dev])
            return sum(prediction == row[-1] for prediction, row in zip(predictions, dev, strict=True))

        train_best_epoch(encoder.model, epochs, train_epoch, count_correct)
    return encoder


def _initialise(
    start: str | PathLike[str] | None, tokenizer: Any, shape: EncoderConfig, labels: Sequence[str]
) -> SmallEncoder:
    """Return an encoder before training."""
    transformers = import_optional("transformers", "papers", "this model")
    names = dict(enumerate(labels))
    if start is not None:
        config = transformers.AutoConfig.from_pretrained(start, id2label=names, label2id=_invert(names))
        with hide_transformers_bars():
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
        label2id=_invert(names),
    )
    tokenizer.model_max_length = shape.positions
    return SmallEncoder(transformers.BertForSequenceClassification(config), tokenizer)


def _encode(tokenizer: Any, texts: Sequence[Sequence[str]], config: Any) -> list[dict[str, list[int]]]:
    """Return the inputs of each text or pair, cut to what the model reads."""
    if not texts:
        return []
    max_length = min(config.max_position_embeddings, tokenizer.model_max_length)
    inputs = tokenizer(*(list(side) for side in zip(*texts, strict=True)), truncation=True, max_length=max_length)
    return [{name: inputs[name][index] for name in inputs} for index in range(len(texts))]


def _invert(names: dict[int, str]) -> dict[str, int]:
    return {label: label_id for label_id, label in names.items()}


def _pad(tokenizer: Any, encoded: Sequence[dict[str, list[int]]], indices: Sequence[int]) -> Any:
    return tokenizer.pad([encoded[index] for index in indices], return_tensors="pt")
