"""An encoder that learns in seconds: each part of the input is a bag of words and pairs of words, compared as vectors.

It reads the same inputs as an encoder-decoder (`tagged_inputs`) and is trained by the same loop (`first_token.fit`), so
that both phases of NANO can be run many times where there is no GPU. A Chinese character is a word.

>>> from lapsus.papers.nano.first_token import TrainingConfig, fit
>>> model = make_bag_encoder(buckets=512, size=8)
>>> examples = [("candidate: o trem language: pt-BR", 1.0), ("candidate: o trem language: pt-PT", 0.0)] * 8
>>> trained = fit(model, examples, TrainingConfig(steps=80, learning_rate=1e-2))
>>> [round(number) for number in trained.predict([text for text, _ in examples[:2]])]
[1, 0]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from zlib import crc32

import numpy as np
import torch
from torch import Tensor, nn

from lapsus.papers.nano.inputs import PARTS, split_parts, tokenize
from lapsus.papers.training import limit_threads


class BagComparison(nn.Module):
    """A vector for each part, what the candidate shares with each other part, and a number from all of it."""

    def __init__(self, buckets: int, size: int) -> None:
        super().__init__()
        self.words = nn.EmbeddingBag(buckets, size, mode="sum")
        nn.init.normal_(self.words.weight, std=0.3)
        self.decide = nn.Sequential(nn.Linear(9 * size, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 1))

    def forward(self, bags: Tensor, starts: Tensor, weights: Tensor) -> Tensor:
        """Return a number per input; `starts` says where each of its parts begins in `make_bag_encoder`."""
        vectors = self.words(bags, starts, per_sample_weights=weights).reshape(-1, len(PARTS), self.words.embedding_dim)
        candidate, reference, source, language = vectors.unbind(1)
        differences = [(candidate - other).abs() for other in (reference, source)]
        shared = [candidate * other for other in (reference, source, language)]
        scores: Tensor = self.decide(
            torch.cat([candidate, reference, source, language, *differences, *shared], 1)
        ).squeeze(1)
        return scores


@dataclass(frozen=True, slots=True)
class BagEncoder:
    """The network and the number of its buckets, into which words are hashed."""

    model: BagComparison
    buckets: int

    def predict(self, texts: Sequence[str], batch_size: int = 512) -> list[float]:
        """Return the number of each text."""
        self.model.eval()
        encoded = self.encode(texts)
        with torch.no_grad():
            parts = [
                self.compute_logits(encoded[at : at + batch_size]).tolist() for at in range(0, len(encoded), batch_size)
            ]
        return [number for part in parts for number in part]

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the buckets of the words and pairs of each text, with the number of their part."""
        return [[part * self.buckets + bucket for part, bucket in self._iter_buckets(text)] for text in texts]

    def _iter_buckets(self, text: str) -> Iterator[tuple[int, int]]:
        for part, content in split_parts(text):
            for unit in _hash_words(content):
                yield part, unit % self.buckets

    def compute_logits(self, encoded: Sequence[list[int]]) -> Tensor:
        """Return the number of each encoded text, as a tensor that can be trained."""
        units = np.fromiter(chain.from_iterable(encoded), np.int64)
        rows = np.repeat(np.arange(len(encoded)), [len(each) for each in encoded])
        places = rows * len(PARTS) + units // self.buckets
        order = places.argsort(kind="stable")  # the parts of a text may come in any order
        size = np.bincount(places, minlength=len(encoded) * len(PARTS))
        weights = np.repeat(1 / np.sqrt(np.maximum(size, 1)), size).astype(np.float32)
        starts = torch.from_numpy(size.cumsum() - size)
        numbers: Tensor = self.model(torch.from_numpy(units[order] % self.buckets), starts, torch.from_numpy(weights))
        return numbers


@lru_cache(maxsize=1 << 16)
def _hash_words(text: str) -> tuple[int, ...]:
    """Return a number for each word and pair of words; a sentence is met in many inputs."""
    words = tokenize(text)
    return tuple(crc32(unit.encode()) for unit in (*words, *(" ".join(pair) for pair in pairwise(words))))


def make_bag_encoder(*, buckets: int = 1 << 13, size: int = 32, seed: int = 0) -> BagEncoder:
    """Return an encoder that knows nothing."""
    with torch.random.fork_rng(devices=[]), limit_threads(1):
        torch.manual_seed(seed)
        return BagEncoder(BagComparison(buckets, size).eval(), buckets)
