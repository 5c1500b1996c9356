"""Paraphrases out of a file: those of another program, of people, or of an earlier run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lapsus.kernel.names import shown
from lapsus.kernel.rows import BrokenFileError, read


@dataclass(frozen=True, slots=True)
class Replay:
    """The paraphrases of a file with the columns `text` and `paraphrase`, in the file's order.

    >>> list(Replay("mine", {"Ada won.": ("Ada was the winner.",)}).paraphrases(["Ada won.", "Ada lost."]))
    [['Ada was the winner.'], []]
    """

    name: str
    known: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, path: Path) -> Replay:
        """Read a file: JSON lines, JSON, CSV or Parquet."""
        known: dict[str, tuple[str, ...]] = {}
        for number, row in enumerate(read(path), 1):
            lacking = [name for name in ("text", "paraphrase") if row.get(name) is None]
            if lacking:
                what = f"row {number} lacks {shown(lacking)} (it has {shown(row)})"
                raise BrokenFileError(path, what, "give each row a text and a paraphrase")
            text = " ".join(str(row["text"]).split())
            known[text] = (*known.get(text, ()), str(row["paraphrase"]))
        return cls(f"replay:{path.stem}", known)

    def paraphrases(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Yield what the file has for each text."""
        yield from (list(self.known.get(text, ())) for text in texts)
