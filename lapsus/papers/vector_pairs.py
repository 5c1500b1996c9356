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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from random import Random
from typing import Any, Literal, Protocol

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from lapsus.core.imports import find_package_folder, import_optional
from lapsus.papers.pair_model import Labelled, Pair, split_words
from lapsus.papers.training import group_by_length, limit_threads, train_best_epoch

# Word vectors that were trained elsewhere: a text file such as GloVe's, or wordllama's, out of its package.
# wordllama (PyPI, MIT, 19 MB) carries 256 numbers for each of 32,000 pieces of words, so that it knows any word:
#     pip install --no-deps wordllama==0.4.0.post1


WORDLLAMA = ("tokenizers/l2_supercat_tokenizer_config.json", "weights/l2_supercat_256.safetensors")


class WordVectors(Protocol):
    """A vector for each word."""

    @property
    def size(self) -> int:
        """How many numbers a vector has."""
        ...

    def lookup(self, words: Sequence[str]) -> Tensor:
        """Return the vectors of words (words, size); zeros for a word that is not known."""
        ...


@dataclass(frozen=True, slots=True)
class TextVectors:
    """The first words of a file with a word and its numbers in each line, as GloVe's and word2vec's are.

    >>> vectors = TextVectors(2, {"cup": torch.tensor([1.0, 2.0])})
    >>> vectors.lookup(["Cup", "vase"]).tolist()
    [[1.0, 2.0], [0.0, 0.0]]
    """

    size: int
    vectors: Mapping[str, Tensor] = field(repr=False)

    @classmethod
    def read(cls, path: str | PathLike[str], limit: int = 50_000) -> TextVectors:
        """Read the first `limit` words, which in such files are the most frequent ones."""
        vectors: dict[str, Tensor] = {}
        size = 0
        with Path(path).open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                word, *numbers = line.rstrip("\n").split(" ")
                if number == 1 and len(numbers) == 1:  # word2vec's first line: how many words, and their size
                    continue
                size = size or len(numbers)
                if len(vectors) == limit:
                    break
                try:
                    vectors[word] = torch.tensor([float(each) for each in numbers[len(numbers) - size :]])
                except ValueError:
                    raise ValueError(f"{path}, line {number}: is no word with numbers; get the file again") from None
                if len(vectors[word]) != size or not size:
                    raise ValueError(
                        f"{path}, line {number}: has {len(numbers)} numbers, line 1 has {size}; get the file again"
                    )
        if not vectors:
            raise ValueError(f"{path} holds no vectors; give a text file with a word and its numbers in each line")
        return cls(size, vectors)

    def lookup(self, words: Sequence[str]) -> Tensor:
        """Return the vectors of words as they are written, or else in small letters."""
        none = torch.zeros(self.size)
        vectors = [self.vectors.get(word, self.vectors.get(word.lower(), none)) for word in words]
        return torch.stack(vectors) if vectors else torch.zeros(0, self.size)


@dataclass(frozen=True, slots=True)
class PieceVectors:
    """Vectors of pieces of words: a word is the mean of its pieces."""

    tokenizer: Any = field(repr=False)
    matrix: Tensor = field(repr=False)

    @classmethod
    def load_wordllama(cls) -> PieceVectors:
        """Read the vectors of the package wordllama; its code is not run."""
        tokenizers = import_optional("tokenizers", "papers", "this model")
        safetensors = import_optional("safetensors.torch", "papers", "this model")
        try:
            home = find_package_folder("wordllama", "papers")
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                "wordllama is not installed; pip install --no-deps wordllama==0.4.0.post1", name="wordllama"
            ) from None
        pieces, weights = (home / name for name in WORDLLAMA)
        (matrix,) = safetensors.load_file(weights).values()
        return cls(tokenizers.Tokenizer.from_file(str(pieces)), matrix.float())

    @property
    def size(self) -> int:
        """How many numbers a vector has."""
        return int(self.matrix.shape[1])

    def lookup(self, words: Sequence[str]) -> Tensor:
        """Return the vectors of words."""
        pieces = [each.ids for each in self.tokenizer.encode_batch(list(words), add_special_tokens=False)]
        none = torch.zeros(self.size)
        return torch.stack([self.matrix[each].mean(0) if each else none for each in pieces] or [none])[: len(words)]


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


class VectorPairNetwork(nn.Module):
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
    network: VectorPairNetwork

    def predict(self, pairs: Sequence[Pair], batch_size: int = 256) -> list[str]:
        """Return the likeliest label of each pair."""
        with limit_threads(1):
            return self._predict_vectors([_lookup_pair(self.vectors, pair) for pair in pairs], batch_size)

    @torch.no_grad()
    def _predict_vectors(self, vector_pairs: Sequence[tuple[Tensor, Tensor]], batch_size: int = 256) -> list[str]:
        """Return the likeliest label of pairs whose vectors were read."""
        self.network.eval()
        batches = [vector_pairs[start : start + batch_size] for start in range(0, len(vector_pairs), batch_size)]
        return [
            self.labels[label_id]
            for batch in batches
            for label_id in self.network(*_pad_sides(batch)).argmax(1).tolist()
        ]


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
    encoded = [_lookup_pair(vectors, (first, second)) for first, second, _ in pairs]
    held_out = [_lookup_pair(vectors, (first, second)) for first, second, _ in dev]
    gold = torch.tensor([labels.index(label) for _, _, label in pairs])
    rng = Random(f"{kind}/{seed}")
    with torch.random.fork_rng(devices=[]), limit_threads(1):
        torch.manual_seed(seed)
        side = BagOfWords(vectors.size) if kind == "bag" else BiLstm(vectors.size, pool)
        model = VectorPairModel(vectors, labels, VectorPairNetwork(side, len(labels)))
        optimizer = torch.optim.Adam(model.network.parameters(), lr=rate)

        def train_epoch() -> None:
            for indices in group_by_length([len(a) + len(b) for a, b in encoded], batch_size, rng):
                scores = model.network(*_pad_sides([encoded[index] for index in indices]))
                optimizer.zero_grad()
                nn.functional.cross_entropy(scores, gold[indices]).backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(model.network.parameters(), 5.0)
                optimizer.step()

        def count_correct() -> int:
            predictions = model._predict_vectors(held_out)  # noqa: SLF001 - of this module
            return sum(prediction == label for prediction, (_, _, label) in zip(predictions, dev, strict=True))

        train_best_epoch(model.network, epochs, train_epoch, count_correct)
    return model


def _lookup_pair(vectors: WordVectors, pair: Pair) -> tuple[Tensor, Tensor]:
    """Return the vectors of the first words of both sides; a side without any is one word that is not known."""
    first, second = (vectors.lookup(split_words(text)[:MOST_WORDS] or [""]) for text in pair)
    return first, second


def _pad_sides(vector_pairs: Sequence[tuple[Tensor, Tensor]]) -> tuple[Side, Side]:
    """Return padded vectors and lengths, of the first sides and of the second ones: these are much shorter."""
    first, second = ([pair[side] for pair in vector_pairs] for side in (0, 1))
    return _pad(first), _pad(second)


def _pad(vectors: Sequence[Tensor]) -> Side:
    return pad_sequence(list(vectors), batch_first=True), torch.tensor([len(each) for each in vectors])
