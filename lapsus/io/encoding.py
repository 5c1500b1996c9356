"""Columns of answers as numbers, so that a million of them are compared at once.

>>> encode_column(["yes", 1, 1.0, None, "1"])
EncodedColumn(codes=array([ 0,  1,  1, -1,  1]...), words=['yes', '1'])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.core.text import to_label
from lapsus.io.tables import Column

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from lapsus.core.checks import IntArray

    Codes = NDArray[np.uint64]


MAX_WORDS = 100  # distinct answers, at most, that are kept as text
NO_VALUE = np.uint64(0)  # the code of no answer


@dataclass(frozen=True, slots=True)
class EncodedColumn:
    """A column's distinct values as text (`to_label`), and the number of each row's; -1 is None."""

    codes: IntArray
    words: Sequence[str]

    def rename(self, names: Callable[[list[str]], Iterable[str | None]]) -> EncodedColumn:
        """Return the column with other words; those that become the same word become one, None becomes -1."""
        new_words = list(names(list(self.words)))
        words = list(dict.fromkeys(word for word in new_words if word is not None))
        indices = {word: place for place, word in enumerate(words)}
        table = np.array([*(-1 if word is None else indices[word] for word in new_words), -1], np.int64)
        return EncodedColumn(table[self.codes], words)

    def to_column(self) -> Column:
        """Return the words row by row, as an Arrow column."""
        import pyarrow as pa

        return pa.chunked_array([pa.array(self.words, pa.string()).take(pa.array(self.codes, mask=self.codes < 0))])


def encode_column(column: Column) -> EncodedColumn:
    """Return the distinct values of a column as text, and the number of each row's."""
    import pandas as pd

    if isinstance(column, list):
        codes, words = pd.factorize(
            np.array([v if v is None or isinstance(v, str) else to_label(v) for v in column] + [None], object)[:-1]
        )
        return EncodedColumn(np.asarray(codes, np.int64), [str(word) for word in words])
    import pyarrow as pa

    if pa.types.is_nested(column.type):
        return encode_column(column.to_pylist())
    if pa.types.is_null(column.type):
        return EncodedColumn(np.full(len(column), -1), [])
    encoded = pa.chunked_array(column).combine_chunks() if isinstance(column, pa.Array) else column.combine_chunks()
    encoded = encoded.dictionary_encode()
    codes = np.asarray(encoded.indices.fill_null(-1), np.int64)
    words = encoded.dictionary.to_pylist()
    encoded_values = EncodedColumn(codes, words)
    return (
        encoded_values
        if pa.types.is_string(column.type)
        else encoded_values.rename(lambda values: map(to_label, values))
    )


@dataclass(frozen=True, eq=False)
class HashedColumn:
    """A column of answers as hashes of their texts; 0 is no answer. `words` are the texts, where they are few.

    The hash of a text is the same in every column, file and process. It has 64 bits: that two of a million different
    texts share one has a probability of 3 in 100 million.
    """

    numbers: NDArray[Any]  # of each row: its place in `hashes`
    hashes: Codes  # of each distinct text; the last one is that of None
    words: dict[int, str]  # texts by hash: all if they are at most MOST_WORDS, else the most common

    @property
    def codes(self) -> Codes:
        """The hash of each row's answer."""
        return np.asarray(self.hashes[self.numbers])

    @cached_property
    def all_known(self) -> bool:
        """Whether every answer's text is known."""
        return len(self.words) == self.distinct

    @property
    def distinct(self) -> int:
        """The number of different answers."""
        return len(self.hashes) - 1

    def __len__(self) -> int:
        return len(self.numbers)

    def scatter(self, rows: NDArray[Any], size: int) -> HashedColumn:
        """Return a column of this size with these answers in the given rows, and none in the others."""
        numbers = np.full(size, len(self.hashes) - 1, self.numbers.dtype)
        numbers[rows] = self.numbers
        return HashedColumn(numbers, self.hashes, self.words)

    def count_values(self, rows: NDArray[Any] | None = None) -> dict[str, int]:
        """Return how often each answer occurs in some rows; one whose text is not known goes by its hash."""
        numbers = self.numbers if rows is None else self.numbers[rows]
        counts = np.bincount(numbers, minlength=len(self.hashes))[:-1]
        used = np.flatnonzero(counts)
        keys = self.hashes[used].tolist()
        return {self.words.get(key, f"#{key}"): count for key, count in zip(keys, counts[used].tolist(), strict=True)}


def hash_column(encoded: EncodedColumn) -> HashedColumn:
    """Return a coded column as hashes."""
    size = len(encoded.words)
    dtype = np.min_scalar_type(size)
    numbers = np.where(encoded.codes < 0, size, encoded.codes).astype(dtype)
    hashes = np.append(hash_texts(encoded.words), NO_VALUE)
    common: Iterable[int] = range(size)
    if size > MAX_WORDS:
        counts = np.bincount(numbers, minlength=size)[:size]
        common = np.argsort(-counts, kind="stable")[:MAX_WORDS].tolist()
    return HashedColumn(numbers, hashes, {int(hashes[place]): encoded.words[place] for place in common})


def hash_texts(texts: Sequence[str]) -> Codes:
    """Return a 64-bit hash of each text, never 0.

    >>> hash_texts(["yes"]) == hash_texts(["no", "yes"])[1:]
    array([ True])
    """
    from pandas.util import hash_array

    array = np.array([*texts, ""], object)[:-1]
    try:
        hashes = hash_array(array, categorize=False)
    except UnicodeEncodeError:  # halves of surrogate pairs
        valid_texts = [text.encode("utf-8", "backslashreplace").decode() for text in texts]
        hashes = hash_array(np.array([*valid_texts, ""], object)[:-1], categorize=False)
    return np.where(hashes == 0, np.uint64(1), hashes.astype(np.uint64))
