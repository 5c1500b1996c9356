"""Paraphrases by an instruction model behind an OpenAI-compatible address; every answer is kept in a cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lapsus.models.endpoint import Endpoint
from lapsus.paraphrases.generators import Settings
from lapsus.paraphrases.pairs import numbered

PROMPT = (
    "Write the sentence below in other words, in {number} different ways. Keep its meaning exactly, change both its "
    "words and how it is built, and write each way on a line of its own, without any comment.\n\nSentence: {text}"
)
TOKENS_FOR_A_LETTER = 0.5  # room for an answer: English has about 0.25


@dataclass(frozen=True, slots=True)
class Instructed:
    """An instruction model that is asked for all paraphrases of a sentence at once, greedily."""

    endpoint: Endpoint
    number: int = 10
    prompt: str = PROMPT

    @property
    def name(self) -> str:
        """The model's name, as the server knows it."""
        return self.endpoint.model

    def paraphrases(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Yield the lines of each answer; several questions are out at once."""
        step = self.endpoint.workers * 4  # so that a progress bar moves
        for start in range(0, len(texts), step):
            part = texts[start : start + step]
            room = int(self.number * (8 + TOKENS_FOR_A_LETTER * max(map(len, part))))
            asked = [self.prompt.format(number=self.number, text=text) for text in part]
            for answer in self.endpoint.complete_all(asked, room):
                yield [line for line in map(numbered, answer.splitlines()) if line][: self.number]


def open_instructed(word: str, settings: Settings) -> Instructed:
    """Return the model that `http://HOST/v1#NAME` names."""
    url, mark, model = word.partition("#")
    if not mark or not model:
        raise ValueError(f"{word!r} names no model; write http://HOST/v1#NAME")
    prompt = settings.prompt or PROMPT
    if "{text}" not in prompt:
        raise ValueError(f"the prompt {prompt[:40]!r} has no {{text}}, where the sentence goes; put it in")
    cache = None if settings.cache is None else str(settings.cache)
    return Instructed(Endpoint(url, model, cache=cache), settings.number, prompt)
