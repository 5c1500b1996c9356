"""Regression with an encoder-decoder: a text goes in, the logit of one entry of the first decoded token comes out.

So NANO, MetricX and T5's own regression tasks get a number out of a model that writes: `place` is the entry of the
vocabulary that is read. A checkpoint of transformers is loaded (mT5, T5, ByT5, MetricX), or a small T5 begins here from
nothing. The extra `models` installs what is needed.

>>> begun = small(byte_pieces(["a tram", "a train"]), Shape(size=16, layers=1, heads=2))
>>> trained = fit(begun, [("a tram", 1.0), ("a train", 0.0)] * 8, Training(steps=60, rate=1e-2))
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

from lapsus.kernel.atomic import staged_folder
from lapsus.kernel.extras import needed
from lapsus.kernel.progress_bars import quiet_transformers
from lapsus.models.training import batches_by_length, rising, threads

BY = "this model"
NOTE = "first_token.json"
Example = tuple[str, float]


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of an encoder-decoder that starts from nothing."""

    size: int = 128
    layers: int = 2
    heads: int = 4
    dropout: float = 0.1


@dataclass(frozen=True, slots=True)
class Training:
    """How a model is trained.

    Args:
        steps: How many batches are read; examples come again in another order when all were read.
        batch: How many examples a batch has.
        rate: The learning rate, reached after `warmup` steps and kept.
        warmup: In how many steps the rate rises; by default a tenth of them.
        every: After how many steps `dev` is asked how good the weights are; 0 keeps the last ones.
        cores: How many threads compute; with one, sums are taken in the same order each time.
    """

    steps: int = 500
    batch: int = 32
    rate: float = 1e-3
    warmup: int | None = None
    every: int = 0
    cores: int = 1


USUAL = Training()


@dataclass(frozen=True, slots=True)
class FirstToken:
    """An encoder-decoder, its tokenizer, the entry of the vocabulary that is the number, and how much text is read.

    `ended` tells whether the token that ends a text is read too; MetricX does without it.
    """

    model: Any
    tokenizer: Any
    place: int
    longest: int = 256
    ended: bool = True

    def predict(self, texts: Sequence[str], batch: int = 64) -> list[float]:
        """Return the number of each text."""
        return predicted(self, texts, batch)

    def encoded(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each text."""
        if not texts:
            return []
        made: list[list[int]] = self.tokenizer(list(texts), truncation=True, max_length=self.longest)["input_ids"]
        return made if self.ended else [tokens[:-1] for tokens in made]

    def logits(self, encoded: Sequence[list[int]]) -> torch.Tensor:
        """Return the number of each tokenised text, as a tensor that can be trained."""
        device = self.model.device
        inputs = self.tokenizer.pad({"input_ids": list(encoded)}, return_tensors="pt").to(device)
        start = torch.full((len(encoded), 1), self.model.config.decoder_start_token_id, device=device)
        made = self.model(
            input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], decoder_input_ids=start
        )
        logits: torch.Tensor = made.logits[:, 0, self.place]
        return logits

    def save(self, folder: str | PathLike[str], notes: Mapping[str, Any] | None = None) -> None:
        """Write model, tokenizer and notes about them to a folder, which replaces an earlier model's."""
        with staged_folder(Path(folder), ours=lambda old: (old / NOTE).is_file(), what="model") as new:
            with quiet_transformers():
                self.model.save_pretrained(new)
            self.tokenizer.save_pretrained(new)
            told = {"place": self.place, "longest": self.longest, **(notes or {})}
            (new / NOTE).write_text(json.dumps(told), encoding="utf-8")

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> FirstToken:
        """Read what `save` wrote."""
        told = about(folder)
        return checkpoint(str(folder), place=told["place"], longest=told["longest"])


def about(folder: str | PathLike[str]) -> dict[str, Any]:
    """Return the notes beside a saved model."""
    note = Path(folder) / NOTE
    if not note.is_file():
        raise FileNotFoundError(f"{folder} has no {NOTE}; give the folder of a trained model of lapsus")
    told: dict[str, Any] = json.loads(note.read_text(encoding="utf-8"))
    return told


def checkpoint(
    path: str, *, place: int | None = None, longest: int = 1024, tokenizer: str | None = None, ended: bool = True
) -> FirstToken:
    """Return a checkpoint of transformers, such as google/mt5-base.

    Args:
        path: A folder, or the id of a model on the Hub.
        place: The entry of the vocabulary that is read; by default the last one, which stands for no text in T5's.
        longest: How many tokens are read; the paper of NANO reads 1,024.
        tokenizer: Where the tokenizer is, if not beside the model.
        ended: Whether the token that ends a text is read.
    """
    transformers = needed("transformers", "models", BY)
    with quiet_transformers():
        model = transformers.AutoModelForSeq2SeqLM.from_pretrained(path)
    words = transformers.AutoTokenizer.from_pretrained(tokenizer or path)
    return FirstToken(model.eval(), words, model.config.vocab_size - 1 if place is None else place, longest, ended)


def small(words: Any, shape: Shape = Shape(), *, seed: int = 0, longest: int = 256) -> FirstToken:
    """Return a T5 that knows nothing, with the tokenizer that `byte_pieces` learnt."""
    transformers = needed("transformers", "models", BY)
    config = transformers.T5Config(
        vocab_size=len(words),
        d_model=shape.size,
        d_kv=shape.size // shape.heads,
        d_ff=2 * shape.size,
        num_layers=shape.layers,
        num_decoder_layers=1,
        num_heads=shape.heads,
        dropout_rate=shape.dropout,
        pad_token_id=words.pad_token_id,
        eos_token_id=words.eos_token_id,
        decoder_start_token_id=words.pad_token_id,
    )
    with torch.random.fork_rng(devices=[]), threads(1):
        torch.manual_seed(seed)
        model = transformers.T5ForConditionalGeneration(config)
    return FirstToken(model.eval(), words, len(words) - 1, longest)


def byte_pieces(texts: Iterable[str], size: int = 4096) -> Any:
    """Return a tokenizer of merged bytes, so that no text has an unknown part; its last entry stands for no text."""
    tokenizers = needed("tokenizers", "models", BY)
    transformers = needed("transformers", "models", BY)
    learnt = tokenizers.ByteLevelBPETokenizer()
    special = ["<pad>", "</s>"]
    learnt.train_from_iterator(texts, vocab_size=size - 1, min_frequency=2, special_tokens=special, show_progress=False)
    learnt.add_special_tokens(["<number>"])
    words = tokenizers.Tokenizer.from_str(learnt.to_str())
    words.post_processor = tokenizers.processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="</s>")  # noqa: S106


class Regressor(Protocol):
    """What `fit` trains: a network that gives a number for each encoded text."""

    @property
    def model(self) -> Any:
        """The network."""
        ...

    def encoded(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the units of each text."""
        ...

    def logits(self, encoded: Sequence[list[int]]) -> torch.Tensor:
        """Return the number of each encoded text."""
        ...

    def predict(self, texts: Sequence[str]) -> list[float]:
        """Return the number of each text."""
        ...


@torch.no_grad()
def predicted(made: Regressor, texts: Sequence[str], batch: int) -> list[float]:
    """Return the number of each text, read in batches of similar length."""
    made.model.eval()
    encoded = made.encoded(texts)
    order = sorted(range(len(encoded)), key=lambda number: len(encoded[number]))
    found = [0.0] * len(encoded)
    for start in range(0, len(order), batch):
        numbers = order[start : start + batch]
        for number, value in zip(numbers, made.logits([encoded[each] for each in numbers]).tolist(), strict=True):
            found[number] = value
    return found


R = TypeVar("R", bound=Regressor)


def fit(
    begun: R,
    examples: Sequence[Example],
    training: Training = USUAL,
    *,
    seed: int = 0,
    dev: Callable[[R], float] | None = None,
    tell: Callable[[int, float], object] | None = None,
) -> R:
    """Return the model trained on texts and their numbers, with the root of the mean squared error as its loss.

    The model that is given stays as it was. The same examples and seed give the same weights on one machine; the
    caller's random state is left alone.

    Args:
        begun: The model to begin with.
        examples: Texts, each with the number that is right.
        training: How it is trained.
        seed: Another seed, another order of the examples.
        dev: Tells how good a model is, the higher the better; the best weights are kept.
        tell: Is told of steps and their loss.
    """
    if not examples:
        raise ValueError("no examples to train on: give at least one (text, number)")
    made: R = replace(begun, model=deepcopy(begun.model))  # type: ignore[type-var]
    encoded, wanted = made.encoded([text for text, _ in examples]), torch.tensor([number for _, number in examples])
    rng = Random(f"first token/{seed}")
    best, weights = -float("inf"), None
    rise = max(1, training.steps // 10 if training.warmup is None else training.warmup)
    with torch.random.fork_rng(devices=[]), threads(training.cores):
        torch.manual_seed(seed)
        optimizer = torch.optim.AdamW(made.model.parameters(), lr=training.rate, weight_decay=0.0)
        schedule = rising(optimizer, rise)
        order: list[list[int]] = []
        for step in range(1, training.steps + 1):
            made.model.train()
            order = order or batches_by_length([len(each) for each in encoded], training.batch, rng)
            numbers = order.pop()
            difference = made.logits([encoded[number] for number in numbers]) - wanted[numbers].to(
                next(made.model.parameters()).device
            )
            loss = (difference.square().mean() + 1e-12).sqrt()
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(made.model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            if tell is not None:
                tell(step, float(loss.detach()))
            if dev is not None and training.every and step % training.every == 0:
                found = dev(made)
                if found > best:
                    best, weights = found, {name: value.clone() for name, value in made.model.state_dict().items()}
    if weights is not None:
        made.model.load_state_dict(weights)
    made.model.eval()
    return made
