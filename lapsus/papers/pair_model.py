"""A small model of pairs of texts: whether two questions ask the same, whether one text implies another.

Each side is read by a bidirectional LSTM, every unit looks for its like in the other side, and both sides are compared
(the scheme of Chen et al., Enhanced LSTM for Natural Language Inference, ACL 2017, at a tenth of its size). With
`network=ConvolutionNetwork` each unit is read with its neighbours only (nearer to Parikh et al., A Decomposable
Attention Model, EMNLP 2016), in half the time; `network=BagNetwork` counts what both sides have, in a tenth. Nothing is
downloaded: it learns from the pairs alone, in minutes on one core. The extra `papers` installs torch.

>>> pairs = [("怎么还款", "如何还款", "same"), ("怎么还款", "怎么退款", "other")] * 16
>>> model = train(pairs, epochs=20, rate=5e-3)
>>> model.predict([("怎么还款", "如何还款"), ("怎么还款", "怎么退款")])
['same', 'other']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from lapsus.papers.training import group_by_length, limit_threads, train_best_epoch, warmup_then_decay

PAD, UNKNOWN = 0, 1
MOST_UNITS = 100  # of a text; what comes after is not read
Pair = tuple[str, str]
Labelled = tuple[str, str, str]


def split_characters(text: str) -> list[str]:
    """Cut a text into its characters."""
    return list(text)


def split_words(text: str) -> list[str]:
    """Cut a text at its spaces, marks apart.

    >>> split_words("Paris is big.")
    ['paris', 'is', 'big', '.']
    """
    return "".join(c if c.isalnum() or c.isspace() else f" {c} " for c in text.lower()).split()


class PairNetwork(nn.Module):
    """Reads both sides, lets each attend to the other, compares them."""

    def __init__(self, units: int, labels: int, size: int = 96) -> None:
        super().__init__()
        self.units = nn.Embedding(units, size, padding_idx=PAD)
        self.read = nn.LSTM(size, size // 2, batch_first=True, bidirectional=True)
        self.compare = nn.Linear(4 * size, size)
        self.again = nn.LSTM(size, size // 2, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(0.3)
        self.decide = nn.Sequential(nn.Linear(6 * size, size), nn.ReLU(), nn.Dropout(0.3), nn.Linear(size, labels))

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        """Return a score per label (batch, labels) for two padded sides (batch, units)."""
        masks = (first != PAD, second != PAD)
        a, b = (self.read(self.dropout(self.units(side)))[0] for side in (first, second))
        similarity = a @ b.transpose(1, 2)
        from_b = similarity.masked_fill(~masks[1][:, None, :], float("-inf")).softmax(2) @ b
        from_a = similarity.masked_fill(~masks[0][:, :, None], float("-inf")).softmax(1).transpose(1, 2) @ a
        sides = [self._pool(a, from_b, masks[0]), self._pool(b, from_a, masks[1])]
        scores: Tensor = self.decide(torch.cat([*sides, abs(sides[0] - sides[1])], 1))
        return scores

    def _pool(self, own: Tensor, other: Tensor, mask: Tensor) -> Tensor:
        """Return the mean and the maximum over the units of a side."""
        compared = torch.relu(self.compare(torch.cat([own, other, own - other, own * other], 2)))
        states = self.again(self.dropout(compared))[0]
        mean = (states * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
        return torch.cat([mean, states.masked_fill(~mask[:, :, None], float("-inf")).amax(1)], 1)


class ConvolutionNetwork(nn.Module):
    """Reads each unit with its two neighbours, lets both sides attend to each other, compares them."""

    def __init__(self, units: int, labels: int, size: int = 64) -> None:
        super().__init__()
        self.units = nn.Embedding(units, size, padding_idx=PAD)
        self.read = nn.Conv1d(size, size, kernel_size=3, padding=1)
        self.compare = nn.Linear(4 * size, size)
        self.dropout = nn.Dropout(0.2)
        self.sharpness = 4 / size**0.5  # of attention: the vectors of units begin with length 1 in each direction
        self.decide = nn.Sequential(nn.Linear(4 * size, size), nn.ReLU(), nn.Dropout(0.2), nn.Linear(size, labels))

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        """Return a score per label (batch, labels) for two padded sides (batch, units)."""
        masks = (first != PAD, second != PAD)
        a, b = (self._read(side) for side in (first, second))
        similarity = a @ b.transpose(1, 2) * self.sharpness
        from_b = similarity.masked_fill(~masks[1][:, None, :], float("-inf")).softmax(2) @ b
        from_a = similarity.masked_fill(~masks[0][:, :, None], float("-inf")).softmax(1).transpose(1, 2) @ a
        sides = [self._pool(a, from_b, masks[0]), self._pool(b, from_a, masks[1])]
        scores: Tensor = self.decide(torch.cat([sides[0] + sides[1], abs(sides[0] - sides[1])], 1))
        return scores

    def _read(self, side: Tensor) -> Tensor:
        units = self.dropout(self.units(side))
        context: Tensor = units + torch.relu(self.read(units.transpose(1, 2))).transpose(1, 2)
        return context

    def _pool(self, own: Tensor, other: Tensor, mask: Tensor) -> Tensor:
        """Return the mean and the maximum over the units of a side."""
        compared = torch.relu(self.compare(torch.cat([own, other, abs(own - other), own * other], 2)))
        mean = (compared * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
        return torch.cat([mean, compared.masked_fill(~mask[:, :, None], float("-inf")).amax(1)], 1)


class BagNetwork(nn.Module):
    """Counts what both sides have, units and pairs of neighbours, and what one side has alone.

    Each unit and each pair of neighbours has a vector for either case; the sums decide. Pairs share `PLACES` vectors.
    """

    PLACES = 16_381

    def __init__(self, units: int, labels: int, size: int = 16) -> None:
        super().__init__()
        self.first_pair = units
        self.both, self.alone = (nn.EmbeddingBag(units + self.PLACES, size, mode="sum") for _ in range(2))
        for table in (self.both, self.alone):
            nn.init.normal_(table.weight, std=0.2)
        self.decide = nn.Sequential(
            nn.Dropout(0.3), nn.Linear(4 * size, size), nn.ReLU(), nn.Dropout(0.3), nn.Linear(size, labels)
        )

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        """Return a score per label (batch, labels) for two padded sides (batch, units)."""
        a, b = self._append_pairs(first), self._append_pairs(second)
        matches = a[:, :, None] == b[:, None, :]
        shared = (matches.any(2) & (a != PAD), matches.any(1) & (b != PAD))
        both = self._sum(self.both, a, shared[0]) + self._sum(self.both, b, shared[1])
        first_only, second_only = (
            self._sum(self.alone, a, ~shared[0] & (a != PAD)),
            self._sum(self.alone, b, ~shared[1] & (b != PAD)),
        )
        root = (first != PAD).sum(1, keepdim=True).sqrt()
        common, other, uneven = both / root, (first_only + second_only) / root, abs(first_only - second_only) / root
        scores: Tensor = self.decide(torch.cat([common, other, uneven, common * other], 1))
        return scores

    def _append_pairs(self, side: Tensor) -> Tensor:
        """Return the units of sides, then the places of their pairs of neighbours."""
        left, right = side[:, :-1], side[:, 1:]
        return torch.cat(
            [side, torch.where(right != PAD, self.first_pair + (left * 7919 + right) % self.PLACES, PAD)], 1
        )

    @staticmethod
    def _sum(table: nn.EmbeddingBag, indices: Tensor, mask: Tensor) -> Tensor:
        summed: Tensor = table(indices, per_sample_weights=mask.float())
        return summed


@dataclass(frozen=True, slots=True)
class PairModel:
    """A trained model; `tokenize` makes units of a text."""

    vocabulary: tuple[str, ...]
    labels: tuple[str, ...]
    network: nn.Module
    tokenize: Callable[[str], list[str]]

    @torch.no_grad()
    def predict(self, pairs: Sequence[Pair], batch_size: int = 256) -> list[str]:
        """Return the likeliest label of each pair."""
        encode = _make_encoder(self.vocabulary, self.tokenize)
        self.network.eval()
        predictions: list[str] = []
        with limit_threads(1):
            for start in range(0, len(pairs), batch_size):
                sides = _pad_sides([tuple(map(encode, pair)) for pair in pairs[start : start + batch_size]])
                predictions += [self.labels[label_id] for label_id in self.network(*sides).argmax(1).tolist()]
        return predictions


def train(
    pairs: Sequence[Labelled],
    dev: Sequence[Labelled] = (),
    seed: int = 0,
    *,
    tokenize: Callable[[str], list[str]] = split_characters,
    network: Callable[[int, int], nn.Module] = PairNetwork,
    epochs: int = 6,
    batch_size: int = 64,
    rate: float = 1e-3,
) -> PairModel:
    """Train on pairs with their label; keep the weights of the epoch with most of `dev` right.

    The same pairs and seed give the same weights: it runs on one thread and leaves the caller's random state alone.
    """
    if not pairs:
        raise ValueError("no pairs to train on: give at least one (text, text, label)")
    counts = Counter(unit for first, second, _ in pairs for text in (first, second) for unit in tokenize(text))
    vocabulary = ("<pad>", "<unknown>", *sorted((u for u in counts if counts[u] > 1), key=lambda u: (-counts[u], u)))
    labels = tuple(sorted({label for _, _, label in pairs}))
    encode, rng = _make_encoder(vocabulary, tokenize), Random(f"pairs/{seed}")
    encoded = [(encode(first), encode(second)) for first, second, _ in pairs]
    gold = torch.tensor([labels.index(label) for _, _, label in pairs])
    with torch.random.fork_rng(devices=[]), limit_threads(1):
        torch.manual_seed(seed)
        model = PairModel(vocabulary, labels, network(len(vocabulary), len(labels)), tokenize)
        optimizer = torch.optim.Adam(model.network.parameters(), lr=rate)
        steps = epochs * -(-len(pairs) // batch_size)
        schedule = warmup_then_decay(optimizer, steps, warmup=0)

        def train_epoch() -> None:
            for rows in group_by_length([len(a) + len(b) for a, b in encoded], batch_size, rng):
                scores = model.network(*_pad_sides([encoded[row] for row in rows]))
                optimizer.zero_grad()
                nn.functional.cross_entropy(scores, gold[rows]).backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(model.network.parameters(), 5.0)
                optimizer.step()
                schedule.step()

        def count_correct() -> int:
            predictions = model.predict([(first, second) for first, second, _ in dev])
            return sum(prediction == label for prediction, (_, _, label) in zip(predictions, dev, strict=True))

        train_best_epoch(model.network, epochs, train_epoch, count_correct)
    return model


def _make_encoder(vocabulary: Sequence[str], tokenize: Callable[[str], list[str]]) -> Callable[[str], Tensor]:
    ids = {unit: place for place, unit in enumerate(vocabulary)}
    return lambda text: torch.tensor([ids.get(unit, UNKNOWN) for unit in tokenize(text)[:MOST_UNITS]] or [UNKNOWN])


def _pad_sides(encoded: Sequence[tuple[Tensor, ...]]) -> tuple[Tensor, Tensor]:
    first, second = zip(*encoded, strict=True)
    return pad_sequence(list(first), batch_first=True), pad_sequence(list(second), batch_first=True)
