"""What puts sentences in other words, opened by a word such as `hf:PATH`.

>>> open_generator("gguf:model.bin", GeneratorSettings())
Traceback (most recent call last):
...
LookupError: 'gguf:model.bin' names no generator; write hf:PATH-OR-ID, http://HOST/v1#NAME or replay:FILE
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lapsus.collect.pairs import strip_numbering
from lapsus.core.messages import format_list
from lapsus.evaluation.models.endpoint_client import Endpoint
from lapsus.io.readers import FileFormatError, read_rows

# Paraphrases out of a file: those of another program, of people, or of an earlier run.


@dataclass(frozen=True, slots=True)
class FileGenerator:
    """The paraphrases of a file with the columns `text` and `paraphrase`, in the file's order.

    >>> list(FileGenerator("mine", {"Ada won.": ("Ada was the winner.",)}).generate(["Ada won.", "Ada lost."]))
    [['Ada was the winner.'], []]
    """

    name: str
    paraphrases_by_text: Mapping[str, tuple[str, ...]]

    @classmethod
    def from_file(cls, path: Path) -> FileGenerator:
        """Read a file: JSON lines, JSON, CSV or Parquet."""
        paraphrases_by_text: dict[str, tuple[str, ...]] = {}
        for number, row in enumerate(read_rows(path), 1):
            missing = [name for name in ("text", "paraphrase") if row.get(name) is None]
            if missing:
                what = f"row {number} lacks {format_list(missing)} (it has {format_list(row)})"
                raise FileFormatError(path, what, "give each row a text and a paraphrase")
            text = " ".join(str(row["text"]).split())
            paraphrases_by_text[text] = (*paraphrases_by_text.get(text, ()), str(row["paraphrase"]))
        return cls(f"replay:{path.stem}", paraphrases_by_text)

    def generate(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Yield what the file has for each text."""
        yield from (list(self.paraphrases_by_text.get(text, ())) for text in texts)


class ParaphraseGenerator(Protocol):
    """A source of paraphrases."""

    @property
    def name(self) -> str:
        """What the generator is called in the list of candidates."""
        ...

    def generate(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Yield for each text what it proposes, the likeliest first; none where it has none."""
        ...


@dataclass(frozen=True, slots=True)
class GeneratorSettings:
    """What generators share: how many paraphrases of a sentence each makes, and the folder that keeps answers.

    With `top_k` a checkpoint draws from its most probable tokens, as the paper's did, instead of searching in beams.
    """

    number: int = 10
    top_k: int | None = None
    seed: int = 0
    prompt: str | None = None
    cache: Path | None = None


def open_generator(spec: str, settings: GeneratorSettings) -> ParaphraseGenerator:
    """Return the generator that a word names."""
    kind, colon, rest = spec.partition(":")
    if colon and rest and kind == "replay":
        return FileGenerator.from_file(Path(rest))
    if colon and rest and kind in {"http", "https"}:
        return open_endpoint_generator(spec, settings)
    if colon and rest and kind == "hf":
        from lapsus.collect.transformers import open_seq2seq

        return open_seq2seq(rest, settings)
    raise LookupError(f"{spec!r} names no generator; write hf:PATH-OR-ID, http://HOST/v1#NAME or replay:FILE")


# Paraphrases by an instruction model behind an OpenAI-compatible address; every answer is kept in a cache.


PROMPT = (
    "Write the sentence below in other words, in {number} different ways. Keep its meaning exactly, change both its "
    "words and how it is built, and write each way on a line of its own, without any comment.\n\nSentence: {text}"
)
TOKENS_FOR_A_LETTER = 0.5  # room for an answer: English has about 0.25


@dataclass(frozen=True, slots=True)
class EndpointGenerator:
    """An instruction model that is asked for all paraphrases of a sentence at once, greedily."""

    endpoint: Endpoint
    number: int = 10
    prompt: str = PROMPT

    @property
    def name(self) -> str:
        """The model's name, as the server knows it."""
        return self.endpoint.model

    def generate(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Yield the lines of each answer; several questions are out at once."""
        step = self.endpoint.workers * 4  # so that a progress bar moves
        for start in range(0, len(texts), step):
            batch = texts[start : start + step]
            max_tokens = int(self.number * (8 + TOKENS_FOR_A_LETTER * max(map(len, batch))))
            prompts = [self.prompt.format(number=self.number, text=text) for text in batch]
            for response in self.endpoint.complete_all(prompts, max_tokens, whole_lines=True):
                yield [line for line in map(strip_numbering, response.splitlines()) if line][: self.number]


def open_endpoint_generator(spec: str, settings: GeneratorSettings) -> EndpointGenerator:
    """Return the model that `http://HOST/v1#NAME` names."""
    url, mark, model = spec.partition("#")
    if not mark or not model:
        raise ValueError(f"{spec!r} names no model; write http://HOST/v1#NAME")
    prompt = settings.prompt or PROMPT
    if "{text}" not in prompt:
        raise ValueError(f"the prompt {prompt[:40]!r} has no {{text}}, where the sentence goes; put it in")
    cache = None if settings.cache is None else str(settings.cache)
    return EndpointGenerator(Endpoint(url, model, cache=cache), settings.number, prompt)
