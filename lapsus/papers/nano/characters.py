"""An encoder-decoder that learns in a minute: words made of their characters, compared where they align.

A word is the mean of its runs of three characters, so that related words and cognates begin alike; a Chinese character
is a word. Convolutions read each part of the input. The candidate and what it is compared with are then aligned by
attention between these shared vectors, so that a copied word finds itself from the first step. The tag of the language
is what the one step of decoding asks the candidate about.

It reads the same inputs as an encoder-decoder of transformers (`tagged_inputs`), and the same loop trains it
(`first_token.fit`).

>>> from lapsus.papers.nano.first_token import EncoderDecoderConfig, TrainingConfig, fit
>>> model = make_character_encoder(EncoderDecoderConfig(size=16, layers=1), buckets=512)
>>> examples = [("candidate: o trem language: pt-BR", 1.0), ("candidate: o trem language: pt-PT", 0.0)] * 8
>>> trained = fit(model, examples, TrainingConfig(steps=80, learning_rate=1e-2))
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

from lapsus.papers.nano.first_token import EncoderDecoderConfig, predict_in_batches
from lapsus.papers.nano.inputs import PARTS, split_parts, tokenize
from lapsus.papers.training import limit_threads

LONGEST = 128  # words of a part that are read
RUN = 3
N_COMPARED_PARTS = 2  # parts that a candidate is compared with: reference, source
TAG = PARTS.index("language")
SMALL = EncoderDecoderConfig(size=64)


class Convolution(nn.Module):
    """What a word and its two neighbours add to it."""

    def __init__(self, shape: EncoderDecoderConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(shape.size)
        self.mix = nn.Conv1d(shape.size, shape.size, 3, padding=1)

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        """Return the words (texts, words, size) after one more layer, which reads nothing where no word is."""
        mixed = self.mix((self.norm(words) * mask).transpose(1, 2)).transpose(1, 2)
        output: Tensor = words + functional.relu(mixed)
        return output


class Alignment(nn.Module):
    """Which words of one text have a counterpart in another, and what differs."""

    def __init__(self, shape: EncoderDecoderConfig) -> None:
        super().__init__()
        self.sharpness = nn.Parameter(torch.tensor(10.0))
        self.differ = nn.Sequential(nn.Linear(3 * shape.size + 1, shape.size), nn.ReLU())

    def forward(self, first: Tensor, second: Tensor, first_mask: Tensor, second_mask: Tensor) -> Tensor:
        """Return the mean and the largest of what the words of `first` differ by (texts, 2 size)."""
        similarity = functional.normalize(first, dim=2) @ functional.normalize(second, dim=2).transpose(1, 2)
        similarity = similarity.masked_fill(second_mask.transpose(1, 2) == 0, -1e4)
        aligned = (self.sharpness * similarity).softmax(2) @ second
        best = similarity.amax(2, keepdim=True)
        differences = self.differ(torch.cat([first, (first - aligned).abs(), first * aligned, best], 2)) * first_mask
        return torch.cat([differences.sum(1) / first_mask.sum(1).clamp(min=1), differences.amax(1)], 1)


class CharacterNetwork(nn.Module):
    """Read all parts, align the candidate with the others, ask it about the tag, and give a number."""

    def __init__(self, shape: EncoderDecoderConfig, buckets: int) -> None:
        super().__init__()
        self.runs = nn.EmbeddingBag(buckets, shape.size, mode="mean")
        nn.init.normal_(self.runs.weight, std=1.0)
        self.layers = nn.ModuleList(Convolution(shape) for _ in range(shape.layers))
        self.norm = nn.LayerNorm(shape.size)
        self.attention = nn.MultiheadAttention(shape.size, shape.heads, batch_first=True)
        self.alignments = nn.ModuleList(Alignment(shape) for _ in range(N_COMPARED_PARTS))
        wide = (4 + 4 * N_COMPARED_PARTS) * shape.size
        self.decide = nn.Sequential(nn.Linear(wide, shape.size), nn.ReLU(), nn.Dropout(shape.dropout))
        self.number = nn.Linear(shape.size, 1)

    def forward(self, runs: Tensor, starts: Tensor, word_mask: Tensor) -> Tensor:
        """Return a number per input.

        Args:
            runs: The runs of characters of all words, one word after the other.
            starts: Where each word begins in `runs`.
            word_mask: Where words are (inputs, parts, words), in their order.
        """
        vectors = self.runs(runs, starts)
        words = vectors.new_zeros(*word_mask.shape, vectors.shape[1])
        words[word_mask] = vectors
        tag = words[:, TAG].sum(1)
        has_part = word_mask[:, :TAG].any(2)  # the parts that an input has
        texts, mask = words[:, :TAG][has_part], word_mask[:, :TAG][has_part].unsqueeze(2).float()
        for layer in self.layers:
            texts = layer(texts, mask)
        words = words[:, :TAG].masked_scatter(has_part[..., None, None], self.norm(texts) * mask)
        candidate, candidate_mask = words[:, 0], word_mask[:, 0].unsqueeze(2).float()
        answer, _ = self.attention(
            tag.unsqueeze(1), candidate, candidate, key_padding_mask=~_mask_or_first(word_mask[:, 0])
        )
        pooled = candidate.sum(1) / candidate_mask.sum(1).clamp(min=1).sqrt()
        features = [answer.squeeze(1), pooled, pooled * tag, tag]
        for part, align in enumerate(self.alignments, 1):
            row_indices = has_part[:, part].nonzero().squeeze(1)
            pair = candidate.new_zeros(len(candidate), 4 * candidate.shape[2])
            if len(row_indices):
                other, other_mask = words[row_indices, part], word_mask[row_indices, part].unsqueeze(2).float()
                both = (
                    align(candidate[row_indices], other, candidate_mask[row_indices], other_mask),
                    align(other, candidate[row_indices], other_mask, candidate_mask[row_indices]),
                )
                pair = pair.index_copy(0, row_indices, torch.cat(both, 1))
            features.append(pair)
        scores: Tensor = self.number(self.decide(torch.cat(features, 1))).squeeze(1)
        return scores


def _mask_or_first(mask: Tensor) -> Tensor:
    """Return where words are; an empty text has one that says nothing, for attention to look at."""
    first = torch.zeros_like(mask)
    first[:, 0] = ~mask.any(1)
    return mask | first


@dataclass(frozen=True, slots=True)
class CharacterEncoder:
    """The network and the number of its buckets, into which runs of characters are hashed."""

    model: CharacterNetwork
    buckets: int

    def predict(self, texts: Sequence[str], batch_size: int = 256) -> list[float]:
        """Return the number of each text."""
        return predict_in_batches(self, texts, batch_size)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the buckets of the runs of each text, with the number of their word and part."""
        return [
            [
                (part * LONGEST + place) * self.buckets + run % self.buckets
                for part, content in split_parts(text)
                for place, runs in enumerate(_character_ngrams(content))
                for run in runs
            ]
            for text in texts
        ]

    def compute_logits(self, encoded: Sequence[list[int]]) -> Tensor:
        """Return the number of each encoded text, as a tensor that can be trained."""
        units = np.fromiter(chain.from_iterable(encoded), np.int64)
        rows = np.repeat(np.arange(len(encoded)), [len(each) for each in encoded])
        places = rows * len(PARTS) * LONGEST + units // self.buckets
        order = places.argsort(kind="stable")  # the parts of a text may come in any order
        words, starts = np.unique(places[order], return_index=True)
        word_mask = np.zeros((len(encoded), len(PARTS), LONGEST), bool)
        word_mask.flat[words] = True
        word_mask = word_mask[:, :, : max(1, int(word_mask.sum(2).max(initial=0)))]
        numbers: Tensor = self.model(
            torch.from_numpy(units[order] % self.buckets), torch.from_numpy(starts), torch.from_numpy(word_mask)
        )
        return numbers


@lru_cache(maxsize=1 << 16)
def _character_ngrams(text: str) -> tuple[tuple[int, ...], ...]:
    """Return the runs of each word of a text, as numbers; a sentence is met in many inputs."""
    return tuple(map(_hash_ngrams, tokenize(text)[:LONGEST]))


@lru_cache(maxsize=1 << 16)
def _hash_ngrams(word: str) -> tuple[int, ...]:
    edged = f"<{word}>"
    runs = (edged, *(edged[at : at + RUN] for at in range(len(edged) - RUN + 1) if len(edged) > RUN))
    return tuple(crc32(run.encode()) for run in runs)


def make_character_encoder(
    shape: EncoderDecoderConfig = SMALL, *, buckets: int = 1 << 13, seed: int = 0
) -> CharacterEncoder:
    """Return an encoder-decoder that knows nothing."""
    with torch.random.fork_rng(devices=[]), limit_threads(1):
        torch.manual_seed(seed)
        return CharacterEncoder(CharacterNetwork(shape, buckets).eval(), buckets)
