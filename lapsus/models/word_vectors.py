"""Word vectors that were trained elsewhere: a text file such as GloVe's, or wordllama's, out of its package.

wordllama (PyPI, MIT, 19 MB) carries 256 numbers for each of 32,000 pieces of words, so that it knows any word:

    pip install --no-deps wordllama==0.4.0.post1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from lapsus.kernel.extras import needed, shipped

WORDLLAMA = ("tokenizers/l2_supercat_tokenizer_config.json", "weights/l2_supercat_256.safetensors")


class WordVectors(Protocol):
    """A vector for each word."""

    @property
    def size(self) -> int:
        """How many numbers a vector has."""
        ...

    def of(self, words: Sequence[str]) -> Tensor:
        """Return the vectors of words (words, size); zeros for a word that is not known."""
        ...


@dataclass(frozen=True, slots=True)
class TextVectors:
    """The first words of a file with a word and its numbers in each line, as GloVe's and word2vec's are.

    >>> vectors = TextVectors(2, {"cup": torch.tensor([1.0, 2.0])})
    >>> vectors.of(["Cup", "vase"]).tolist()
    [[1.0, 2.0], [0.0, 0.0]]
    """

    size: int
    known: Mapping[str, Tensor] = field(repr=False)

    @classmethod
    def read(cls, path: str | PathLike[str], most: int = 50_000) -> TextVectors:
        """Read the first `most` words, which in such files are the most frequent ones."""
        known: dict[str, Tensor] = {}
        size = 0
        with Path(path).open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                word, *numbers = line.rstrip("\n").split(" ")
                if number == 1 and len(numbers) == 1:  # word2vec's first line: how many words, and their size
                    continue
                size = size or len(numbers)
                if len(known) == most:
                    break
                try:
                    known[word] = torch.tensor([float(each) for each in numbers[len(numbers) - size :]])
                except ValueError:
                    raise ValueError(f"{path}, line {number}: is no word with numbers; get the file again") from None
                if len(known[word]) != size or not size:
                    raise ValueError(
                        f"{path}, line {number}: has {len(numbers)} numbers, line 1 has {size}; get the file again"
                    )
        if not known:
            raise ValueError(f"{path} holds no vectors; give a text file with a word and its numbers in each line")
        return cls(size, known)

    def of(self, words: Sequence[str]) -> Tensor:
        """Return the vectors of words as they are written, or else in small letters."""
        none = torch.zeros(self.size)
        found = [self.known.get(word, self.known.get(word.lower(), none)) for word in words]
        return torch.stack(found) if found else torch.zeros(0, self.size)


@dataclass(frozen=True, slots=True)
class PieceVectors:
    """Vectors of pieces of words: a word is the mean of its pieces."""

    tokenizer: Any = field(repr=False)
    matrix: Tensor = field(repr=False)

    @classmethod
    def wordllama(cls) -> PieceVectors:
        """Read the vectors of the package wordllama; its code is not run."""
        tokenizers = needed("tokenizers", "models", "this model")
        safetensors = needed("safetensors.torch", "models", "this model")
        try:
            home = shipped("wordllama", "models")
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

    def of(self, words: Sequence[str]) -> Tensor:
        """Return the vectors of words."""
        pieces = [each.ids for each in self.tokenizer.encode_batch(list(words), add_special_tokens=False)]
        none = torch.zeros(self.size)
        return torch.stack([self.matrix[each].mean(0) if each else none for each in pieces] or [none])[: len(words)]
