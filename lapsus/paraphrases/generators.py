"""What puts sentences in other words, opened by a word such as `hf:PATH`.

>>> open_generator("gguf:model.bin", Settings())
Traceback (most recent call last):
...
LookupError: 'gguf:model.bin' names no generator; write hf:PATH-OR-ID, http://HOST/v1#NAME or replay:FILE
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class Generator(Protocol):
    """A source of paraphrases."""

    @property
    def name(self) -> str:
        """What the generator is called in the list of candidates."""
        ...

    def paraphrases(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Yield for each text what it proposes, the likeliest first; none where it has none."""
        ...


@dataclass(frozen=True, slots=True)
class Settings:
    """What generators share: how many paraphrases of a sentence each makes, and the folder that keeps answers.

    With `top_k` a checkpoint draws from its most probable tokens, as the paper's did, instead of searching in beams.
    """

    number: int = 10
    top_k: int | None = None
    seed: int = 0
    prompt: str | None = None
    cache: Path | None = None


def open_generator(word: str, settings: Settings) -> Generator:
    """Return the generator that a word names."""
    kind, colon, rest = word.partition(":")
    if colon and rest and kind == "replay":
        from lapsus.paraphrases.replay import Replay

        return Replay.of(Path(rest))
    if colon and rest and kind in {"http", "https"}:
        from lapsus.paraphrases.instructed import open_instructed

        return open_instructed(word, settings)
    if colon and rest and kind == "hf":
        from lapsus.paraphrases.seq2seq import open_seq2seq

        return open_seq2seq(rest, settings)
    raise LookupError(f"{word!r} names no generator; write hf:PATH-OR-ID, http://HOST/v1#NAME or replay:FILE")
