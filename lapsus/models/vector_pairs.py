"""P̂aRTE's two models of pairs on word vectors: a bag of words, and a bidirectional LSTM.

Both make a vector of each side and decide by the two, their difference and their product (Verma et al. 2023, section 4
and appendix A): vectors that stay as they are, 50 words of a side, 15 epochs at a rate of 0.005 in batches of 32, the
epoch with most of the validation right. Where the paper says two things, its text comes before its appendix: the
LSTM's states are pooled by their maximum (`pool="mean"` is the appendix). Its "two hidden layers" and "three fully
connected layers" are one thing here, the third being the output.

>>> vectors = TextVectors(2, {"won": torch.tensor([1.0, 0.0]), "lost": torch.tensor([0.0, 1.0])})
>>> rows = [("won", "won", "yes"), ("lost", "won", "no"), ("won", "lost", "no"), ("lost", "lost", "yes")] * 8
>>> train(rows, vectors, kind="lstm", epochs=20).predict([("won", "lost"), ("lost", "lost")])
['no', 'yes']
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from lapsus.models.pair_model import Labelled, Pair, words
from lapsus.models.training import batches_by_length, best_epoch, threads
from lapsus.models.word_vectors import TextVectors, WordVectors

Pool = Literal["max", "mean"]
Kind = Literal["bag", "lstm"]
Side = tuple[Tensor, Tensor]  # padded vectors (batch, words, size), and how many words each has
MOST_WORDS = 50  # of a side; what comes after is not read

__all__ = ["BagOfWords", "BiLstm", "TextVectors", "VectorPairModel", "train"]


class BagOfWords(nn.Module):
    """The mean of a side's vectors."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.out = size

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Return a vector per side (batch, size) of padded vectors (batch, words, size)."""
        return vectors.sum(1) / lengths[:, None]


class BiLstm(nn.Module):
    """Two layers of a bidirectional LSTM with 64 units each way, pooled over the words."""

    def __init__(self, size: int, pool: Pool = "max", units: int = 64) -> None:
        super().__init__()
        self.read = nn.LSTM(size, units, num_layers=2, batch_first=True, bidirectional=True)
        self.pool = pool
        self.out = 2 * units

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Return a vector per side (batch, 2 x units) of padded vectors (batch, words, size)."""
        packed = pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.read(packed)[0], batch_first=True)
        if self.pool == "mean":
            return states.sum(1) / lengths[:, None]
        padded = torch.arange(states.shape[1])[None, :] >= lengths[:, None]
        return states.masked_fill(padded[:, :, None], float("-inf")).amax(1)


class Network(nn.Module):
    """Reads both sides in the same way, and decides by what they have in common."""

    def __init__(self, side: BagOfWords | BiLstm, labels: int) -> None:
        super().__init__()
        self.side = side
        size = side.out
        self.decide = nn.Sequential(
            nn.Linear(4 * size, size), nn.ReLU(), nn.Linear(size, size), nn.ReLU(), nn.Linear(size, labels)
        )

    def forward(self, first: Side, second: Side) -> Tensor:
        """Return a score per label (batch, labels)."""
        a, b = self.side(*first), self.side(*second)
        scores: Tensor = self.decide(torch.cat([a, b, abs(a - b), a * b], 1))
        return scores


@dataclass(frozen=True, slots=True)
class VectorPairModel:
    """A trained model."""

    vectors: WordVectors
    labels: tuple[str, ...]
    network: Network

    def predict(self, pairs: Sequence[Pair], batch_size: int = 256) -> list[str]:
        """Return the likeliest label of each pair."""
        with threads(1):
            return self._named([_read(self.vectors, pair) for pair in pairs], batch_size)

    @torch.no_grad()
    def _named(self, read: Sequence[tuple[Tensor, Tensor]], batch_size: int = 256) -> list[str]:
        """Return the likeliest label of pairs whose vectors were read."""
        self.network.eval()
        batches = [read[start : start + batch_size] for start in range(0, len(read), batch_size)]
        return [self.labels[place] for batch in batches for place in self.network(*_sides(batch)).argmax(1).tolist()]


def train(
    pairs: Sequence[Labelled],
    vectors: WordVectors,
    dev: Sequence[Labelled] = (),
    seed: int = 0,
    *,
    kind: Kind = "bag",
    pool: Pool = "max",
    epochs: int = 15,
    batch_size: int = 32,
    rate: float = 0.005,
) -> VectorPairModel:
    """Train on pairs with their label; keep the weights of the epoch with most of `dev` right.

    The same pairs and seed give the same weights: it runs on one thread and leaves the caller's random state alone.
    """
    if not pairs:
        raise ValueError("no pairs to train on: give at least one (text, text, label)")
    labels = tuple(sorted({label for _, _, label in pairs}))
    read = [_read(vectors, (first, second)) for first, second, _ in pairs]
    held_out = [_read(vectors, (first, second)) for first, second, _ in dev]
    gold = torch.tensor([labels.index(label) for _, _, label in pairs])
    rng = Random(f"{kind}/{seed}")
    with torch.random.fork_rng(devices=[]), threads(1):
        torch.manual_seed(seed)
        side = BagOfWords(vectors.size) if kind == "bag" else BiLstm(vectors.size, pool)
        model = VectorPairModel(vectors, labels, Network(side, len(labels)))
        optimizer = torch.optim.Adam(model.network.parameters(), lr=rate)

        def learn() -> None:
            for places in batches_by_length([len(a) + len(b) for a, b in read], batch_size, rng):
                scores = model.network(*_sides([read[place] for place in places]))
                optimizer.zero_grad()
                nn.functional.cross_entropy(scores, gold[places]).backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(model.network.parameters(), 5.0)
                optimizer.step()

        def right() -> int:
            guesses = model._named(held_out)  # noqa: SLF001 - of this module
            return sum(guess == label for guess, (_, _, label) in zip(guesses, dev, strict=True))

        best_epoch(model.network, epochs, learn, right)
    return model


def _read(vectors: WordVectors, pair: Pair) -> tuple[Tensor, Tensor]:
    """Return the vectors of the first words of both sides; a side without any is one word that is not known."""
    first, second = (vectors.of(words(text)[:MOST_WORDS] or [""]) for text in pair)
    return first, second


def _sides(read: Sequence[tuple[Tensor, Tensor]]) -> tuple[Side, Side]:
    """Return padded vectors and lengths, of the first sides and of the second ones: these are much shorter."""
    first, second = ([pair[side] for pair in read] for side in (0, 1))
    return _padded(first), _padded(second)


def _padded(vectors: Sequence[Tensor]) -> Side:
    return pad_sequence(list(vectors), batch_first=True), torch.tensor([len(each) for each in vectors])
