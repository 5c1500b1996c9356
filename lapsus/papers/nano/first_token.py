"""Regression with an encoder-decoder: a text goes in, the logit of one entry of the first decoded token comes out.

So NANO, MetricX and T5's own regression tasks get a number out of a model that writes: `token_index` is the entry of
the vocabulary that is read. A checkpoint of transformers is loaded (mT5, T5, ByT5, MetricX), or a small T5 begins here
from nothing. The extra `papers` installs what is needed.

>>> begun = make_small_t5(train_byte_pieces(["a tram", "a train"]), EncoderDecoderConfig(size=16, layers=1, heads=2))
>>> trained = fit(begun, [("a tram", 1.0), ("a train", 0.0)] * 8, TrainingConfig(steps=60, learning_rate=1e-2))
>>> [round(number) for number in trained.predict(["a tram", "a train"])]
[1, 0]
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from random import Random
from typing import Any, Protocol, TypeVar

import torch

from lapsus.core.files import stage_folder
from lapsus.core.imports import import_optional
from lapsus.core.terminal import hide_transformers_bars
from lapsus.papers.training import group_by_length, limit_threads, warmup_constant

BY = "this model"
NOTE = "first_token.json"
Example = tuple[str, float]


@dataclass(frozen=True, slots=True)
class EncoderDecoderConfig:
    """The size of an encoder-decoder that starts from nothing."""

    size: int = 128
    layers: int = 2
    heads: int = 4
    dropout: float = 0.1


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """How a model is trained.

    Args:
        steps: How many batches are read; examples come again in another order when all were read.
        batch_size: How many examples a batch has.
        learning_rate: The learning rate, reached after `warmup` steps and kept.
        warmup: In how many steps the rate rises; by default a tenth of them.
        eval_every: After how many steps `dev` is asked how good the weights are; 0 keeps the last ones.
        n_threads: How many threads compute; with one, sums are taken in the same order each time.
    """

    steps: int = 500
    batch_size: int = 32
    learning_rate: float = 1e-3
    warmup: int | None = None
    eval_every: int = 0
    n_threads: int = 1


DEFAULT_TRAINING = TrainingConfig()


@dataclass(frozen=True, slots=True)
class FirstTokenRegressor:
    """An encoder-decoder, its tokenizer, the entry of the vocabulary that is the number, and how much text is read.

    `append_eos` tells whether the token that ends a text is read too; MetricX does without it.
    """

    model: Any
    tokenizer: Any
    token_index: int
    max_length: int = 256
    append_eos: bool = True

    def predict(self, texts: Sequence[str], batch_size: int = 64) -> list[float]:
        """Return the number of each text."""
        return predict_in_batches(self, texts, batch_size)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each text."""
        if not texts:
            return []
        token_ids: list[list[int]] = self.tokenizer(list(texts), truncation=True, max_length=self.max_length)[
            "input_ids"
        ]
        return token_ids if self.append_eos else [tokens[:-1] for tokens in token_ids]

    def compute_logits(self, encoded: Sequence[list[int]]) -> torch.Tensor:
        """Return the number of each tokenised text, as a tensor that can be trained."""
        device = self.model.device
        inputs = self.tokenizer.pad({"input_ids": list(encoded)}, return_tensors="pt").to(device)
        start = torch.full((len(encoded), 1), self.model.config.decoder_start_token_id, device=device)
        outputs = self.model(
            input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], decoder_input_ids=start
        )
        logits: torch.Tensor = outputs.logits[:, 0, self.token_index]
        return logits

    def save(self, folder: str | PathLike[str], notes: Mapping[str, Any] | None = None) -> None:
        """Write model, tokenizer and notes about them to a folder, which replaces an earlier model's."""
        with stage_folder(Path(folder), may_replace=lambda old: (old / NOTE).is_file(), description="model") as new:
            with hide_transformers_bars():
                self.model.save_pretrained(new)
            self.tokenizer.save_pretrained(new)
            contents = {
                "place": self.token_index,
                "longest": self.max_length,
                "ended": self.append_eos,
                **(notes or {}),
            }
            (new / NOTE).write_text(json.dumps(contents), encoding="utf-8")

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> FirstTokenRegressor:
        """Read what `save` wrote."""
        notes = read_notes(folder)
        return load_checkpoint(
            str(folder),
            token_index=notes["place"],
            max_length=notes["longest"],
            append_eos=notes.get("ended", True),
        )


def read_notes(folder: str | PathLike[str]) -> dict[str, Any]:
    """Return the notes beside a saved model."""
    note = Path(folder) / NOTE
    if not note.is_file():
        raise FileNotFoundError(f"{folder} has no {NOTE}; give the folder of a trained model of lapsus")
    notes: dict[str, Any] = json.loads(note.read_text(encoding="utf-8"))
    return notes


def load_checkpoint(
    path: str,
    *,
    token_index: int | None = None,
    max_length: int = 1024,
    tokenizer: str | None = None,
    append_eos: bool = True,
) -> FirstTokenRegressor:
    """Return a checkpoint of transformers, such as google/mt5-base.

    Args:
        path: A folder, or the id of a model on the Hub.
        token_index: The entry of the vocabulary that is read; by default the last one, no text in T5's.
        max_length: How many tokens are read; the paper of NANO reads 1,024.
        tokenizer: Where the tokenizer is, if not beside the model.
        append_eos: Whether the token that ends a text is read.
    """
    transformers = import_optional("transformers", "papers", BY)
    with hide_transformers_bars():
        model = transformers.AutoModelForSeq2SeqLM.from_pretrained(path)
    loaded_tokenizer = transformers.AutoTokenizer.from_pretrained(tokenizer or path)
    return FirstTokenRegressor(
        model.eval(),
        loaded_tokenizer,
        model.config.vocab_size - 1 if token_index is None else token_index,
        max_length,
        append_eos,
    )


def make_small_t5(
    tokenizer: Any, shape: EncoderDecoderConfig = EncoderDecoderConfig(), *, seed: int = 0, max_length: int = 256
) -> FirstTokenRegressor:
    """Return a T5 that knows nothing, with the tokenizer that `train_byte_pieces` learnt."""
    transformers = import_optional("transformers", "papers", BY)
    config = transformers.T5Config(
        vocab_size=len(tokenizer),
        d_model=shape.size,
        d_kv=shape.size // shape.heads,
        d_ff=2 * shape.size,
        num_layers=shape.layers,
        num_decoder_layers=1,
        num_heads=shape.heads,
        dropout_rate=shape.dropout,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng(devices=[]), limit_threads(1):
        torch.manual_seed(seed)
        model = transformers.T5ForConditionalGeneration(config)
    return FirstTokenRegressor(model.eval(), tokenizer, len(tokenizer) - 1, max_length)


def train_byte_pieces(texts: Iterable[str], size: int = 4096) -> Any:
    """Return a tokenizer of merged bytes, so that no text has an unknown part; its last entry stands for no text."""
    tokenizers = import_optional("tokenizers", "papers", BY)
    transformers = import_optional("transformers", "papers", BY)
    bpe = tokenizers.ByteLevelBPETokenizer()
    special = ["<pad>", "</s>"]
    bpe.train_from_iterator(texts, vocab_size=size - 1, min_frequency=2, special_tokens=special, show_progress=False)
    bpe.add_special_tokens(["<number>"])
    tokenizer = tokenizers.Tokenizer.from_str(bpe.to_str())
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>")  # noqa: S106


class Regressor(Protocol):
    """What `fit` trains: a network that gives a number for each encoded text."""

    @property
    def model(self) -> Any:
        """The network."""
        ...

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the units of each text."""
        ...

    def compute_logits(self, encoded: Sequence[list[int]]) -> torch.Tensor:
        """Return the number of each encoded text."""
        ...

    def predict(self, texts: Sequence[str]) -> list[float]:
        """Return the number of each text."""
        ...


@torch.no_grad()
def predict_in_batches(model: Regressor, texts: Sequence[str], batch_size: int) -> list[float]:
    """Return the number of each text, read in batches of similar length."""
    model.model.eval()
    encoded = model.encode(texts)
    order = sorted(range(len(encoded)), key=lambda number: len(encoded[number]))
    predictions = [0.0] * len(encoded)
    for start in range(0, len(order), batch_size):
        numbers = order[start : start + batch_size]
        for number, value in zip(
            numbers, model.compute_logits([encoded[each] for each in numbers]).tolist(), strict=True
        ):
            predictions[number] = value
    return predictions


R = TypeVar("R", bound=Regressor)


def fit(
    model: R,
    examples: Sequence[Example],
    training: TrainingConfig = DEFAULT_TRAINING,
    *,
    seed: int = 0,
    dev: Callable[[R], float] | None = None,
    log: Callable[[int, float], object] | None = None,
) -> R:
    """Return the model trained on texts and their numbers, with the root of the mean squared error as its loss.

    The model that is given stays as it was. The same examples and seed give the same weights on one machine; the
    caller's random state is left alone.

    Args:
        model: The model to begin with.
        examples: Texts, each with the number that is right.
        training: How it is trained.
        seed: Another seed, another order of the examples.
        dev: Tells how good a model is, the higher the better; the best weights are kept. It needs `eval_every`.
        log: Is told of steps and their loss.
    """
    if not examples:
        raise ValueError("no examples to train on: give at least one (text, number)")
    if dev is not None and not training.eval_every:
        raise ValueError("dev is given but never asked: set eval_every of the TrainingConfig, such as 100")
    trained: R = replace(model, model=deepcopy(model.model))  # type: ignore[type-var]
    encoded, targets = trained.encode([text for text, _ in examples]), torch.tensor([number for _, number in examples])
    rng = Random(f"first token/{seed}")
    best_score, weights = -float("inf"), None
    warmup_steps = max(1, training.steps // 10 if training.warmup is None else training.warmup)
    with torch.random.fork_rng(devices=[]), limit_threads(training.n_threads):
        torch.manual_seed(seed)
        optimizer = torch.optim.AdamW(trained.model.parameters(), lr=training.learning_rate, weight_decay=0.0)
        schedule = warmup_constant(optimizer, warmup_steps)
        order: list[list[int]] = []
        for step in range(1, training.steps + 1):
            trained.model.train()
            order = order or group_by_length([len(each) for each in encoded], training.batch_size, rng)
            numbers = order.pop()
            difference = trained.compute_logits([encoded[number] for number in numbers]) - targets[numbers].to(
                next(trained.model.parameters()).device
            )
            loss = (difference.square().mean() + 1e-12).sqrt()
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(trained.model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            if log is not None:
                log(step, float(loss.detach()))
            if dev is not None and training.eval_every and step % training.eval_every == 0:
                score = dev(trained)
                if score > best_score:
                    best_score, weights = (
                        score,
                        {name: value.clone() for name, value in trained.model.state_dict().items()},
                    )
    if weights is not None:
        trained.model.load_state_dict(weights)
    trained.model.eval()
    return trained
