"""An encoder-decoder that learns in a minute: words made of their characters, compared where they align.

A word is the mean of its runs of three characters, so that related words and cognates begin alike; a Chinese character
is a word. Convolutions read each part of the input. The candidate and what it is compared with are then aligned by
attention between these shared vectors, so that a copied word finds itself from the first step. The tag of the language
is what the one step of decoding asks the candidate about.

It reads the same inputs as an encoder-decoder of transformers (`tagged_inputs`), and the same loop trains it
(`first_token.fit`).

>>> from lapsus.models.first_token import Shape, Training, fit
>>> begun = characters(Shape(size=16, layers=1), buckets=512)
>>> examples = [("candidate: o trem language: pt-BR", 1.0), ("candidate: o trem language: pt-PT", 0.0)] * 8
>>> trained = fit(begun, examples, Training(steps=80, rate=1e-2))
>>> [round(number) for number in trained.predict([text for text, _ in examples[:2]])]
[1, 0]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from zlib import crc32

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from lapsus.models.first_token import Shape, predicted
from lapsus.models.tagged_inputs import PARTS, parts_of, words_of
from lapsus.models.training import threads

LONGEST = 128  # words of a part that are read
RUN = 3
BESIDE = 2  # parts that a candidate is compared with: reference, source
TAG = PARTS.index("language")
SMALL = Shape(size=64)


class Convolution(nn.Module):
    """What a word and its two neighbours add to it."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(shape.size)
        self.mix = nn.Conv1d(shape.size, shape.size, 3, padding=1)

    def forward(self, words: Tensor, there: Tensor) -> Tensor:
        """Return the words (texts, words, size) after one more layer, which reads nothing where no word is."""
        mixed = self.mix((self.norm(words) * there).transpose(1, 2)).transpose(1, 2)
        made: Tensor = words + functional.relu(mixed)
        return made


class Alignment(nn.Module):
    """Which words of one text have a counterpart in another, and what differs."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.sharpness = nn.Parameter(torch.tensor(10.0))
        self.differ = nn.Sequential(nn.Linear(3 * shape.size + 1, shape.size), nn.ReLU())

    def forward(self, one: Tensor, other: Tensor, there: Tensor, there_other: Tensor) -> Tensor:
        """Return the mean and the largest of what the words of `one` differ by (texts, 2 size)."""
        likeness = functional.normalize(one, dim=2) @ functional.normalize(other, dim=2).transpose(1, 2)
        likeness = likeness.masked_fill(there_other.transpose(1, 2) == 0, -1e4)
        found = (self.sharpness * likeness).softmax(2) @ other
        best = likeness.amax(2, keepdim=True)
        differences = self.differ(torch.cat([one, (one - found).abs(), one * found, best], 2)) * there
        return torch.cat([differences.sum(1) / there.sum(1).clamp(min=1), differences.amax(1)], 1)


class Reader(nn.Module):
    """Read all parts, align the candidate with the others, ask it about the tag, and give a number."""

    def __init__(self, shape: Shape, buckets: int) -> None:
        super().__init__()
        self.runs = nn.EmbeddingBag(buckets, shape.size, mode="mean")
        nn.init.normal_(self.runs.weight, std=1.0)
        self.layers = nn.ModuleList(Convolution(shape) for _ in range(shape.layers))
        self.norm = nn.LayerNorm(shape.size)
        self.asked = nn.MultiheadAttention(shape.size, shape.heads, batch_first=True)
        self.alignments = nn.ModuleList(Alignment(shape) for _ in range(BESIDE))
        wide = (4 + 4 * BESIDE) * shape.size
        self.decide = nn.Sequential(nn.Linear(wide, shape.size), nn.ReLU(), nn.Dropout(shape.dropout))
        self.number = nn.Linear(shape.size, 1)

    def forward(self, runs: Tensor, starts: Tensor, there: Tensor) -> Tensor:
        """Return a number per input.

        Args:
            runs: The runs of characters of all words, one word after the other.
            starts: Where each word begins in `runs`.
            there: Where words are (inputs, parts, words), in their order.
        """
        vectors = self.runs(runs, starts)
        words = vectors.new_zeros(*there.shape, vectors.shape[1])
        words[there] = vectors
        tag = words[:, TAG].sum(1)
        read = there[:, :TAG].any(2)  # the parts that an input has
        texts, mask = words[:, :TAG][read], there[:, :TAG][read].unsqueeze(2).float()
        for layer in self.layers:
            texts = layer(texts, mask)
        words = words[:, :TAG].masked_scatter(read[..., None, None], self.norm(texts) * mask)
        candidate, held = words[:, 0], there[:, 0].unsqueeze(2).float()
        answer, _ = self.asked(tag.unsqueeze(1), candidate, candidate, key_padding_mask=~_some(there[:, 0]))
        whole = candidate.sum(1) / held.sum(1).clamp(min=1).sqrt()
        told = [answer.squeeze(1), whole, whole * tag, tag]
        for part, align in enumerate(self.alignments, 1):
            has = read[:, part].nonzero().squeeze(1)
            pair = candidate.new_zeros(len(candidate), 4 * candidate.shape[2])
            if len(has):
                other, held_other = words[has, part], there[has, part].unsqueeze(2).float()
                both = (
                    align(candidate[has], other, held[has], held_other),
                    align(other, candidate[has], held_other, held[has]),
                )
                pair = pair.index_copy(0, has, torch.cat(both, 1))
            told.append(pair)
        made: Tensor = self.number(self.decide(torch.cat(told, 1))).squeeze(1)
        return made


def _some(there: Tensor) -> Tensor:
    """Return where words are; an empty text has one that says nothing, for attention to look at."""
    first = torch.zeros_like(there)
    first[:, 0] = ~there.any(1)
    return there | first


@dataclass(frozen=True, slots=True)
class Characters:
    """The network and the number of its buckets, into which runs of characters are hashed."""

    model: Reader
    buckets: int

    def predict(self, texts: Sequence[str], batch: int = 256) -> list[float]:
        """Return the number of each text."""
        return predicted(self, texts, batch)

    def encoded(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the buckets of the runs of each text, with the number of their word and part."""
        return [
            [
                (part * LONGEST + place) * self.buckets + run % self.buckets
                for part, said in parts_of(text)
                for place, runs in enumerate(_runs(said))
                for run in runs
            ]
            for text in texts
        ]

    def logits(self, encoded: Sequence[list[int]]) -> Tensor:
        """Return the number of each encoded text, as a tensor that can be trained."""
        units = np.fromiter(chain.from_iterable(encoded), np.int64)
        rows = np.repeat(np.arange(len(encoded)), [len(each) for each in encoded])
        places = rows * len(PARTS) * LONGEST + units // self.buckets
        order = places.argsort(kind="stable")  # the parts of a text may come in any order
        words, starts = np.unique(places[order], return_index=True)
        there = np.zeros((len(encoded), len(PARTS), LONGEST), bool)
        there.flat[words] = True
        there = there[:, :, : max(1, int(there.sum(2).max(initial=0)))]
        made: Tensor = self.model(
            torch.from_numpy(units[order] % self.buckets), torch.from_numpy(starts), torch.from_numpy(there)
        )
        return made


@lru_cache(maxsize=1 << 16)
def _runs(text: str) -> tuple[tuple[int, ...], ...]:
    """Return the runs of each word of a text, as numbers; a sentence is met in many inputs."""
    return tuple(map(_runs_of, words_of(text)[:LONGEST]))


@lru_cache(maxsize=1 << 16)
def _runs_of(word: str) -> tuple[int, ...]:
    edged = f"<{word}>"
    runs = (edged, *(edged[at : at + RUN] for at in range(len(edged) - RUN + 1) if len(edged) > RUN))
    return tuple(crc32(run.encode()) for run in runs)


def characters(shape: Shape = SMALL, *, buckets: int = 1 << 13, seed: int = 0) -> Characters:
    """Return an encoder-decoder that knows nothing."""
    with torch.random.fork_rng(devices=[]), threads(1):
        torch.manual_seed(seed)
        return Characters(Reader(shape, buckets).eval(), buckets)
