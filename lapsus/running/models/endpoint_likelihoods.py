"""Labels scored by log-likelihood behind an address: only where the server's numbers have passed a probe.

Servers were found that echo log-probabilities shifted by one place, and one that drops them without a word. What a
model writes greedily is the likeliest by the right numbers, and is as likely when it is read as when it was written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from lapsus.models.endpoint import Echo, Endpoint, RefusedError
from lapsus.running.models.instructed import refuse_alike

PROBE = "Paris is the capital of France. Rome is the capital of Italy. Tokyo is the capital of"
WRITTEN = 12  # tokens of the probe's answer
FEWEST = 2  # places of it that would show a shift
ROUNDING = 0.1  # of a log-probability, between two ways through a server


class JoinedTokensError(ValueError):
    """The first token of a label reaches into the prompt."""


@dataclass(frozen=True)
class Likelihoods:
    """The log-likelihood of labels behind prompts.

    Args:
        endpoint: The server.
        text: How a prompt stands before its answer, such as by a chat template.
        between: What stands between this and a label.
    """

    endpoint: Endpoint
    text: Callable[[str], str]
    between: str = ""

    @cached_property
    def distrust(self) -> str | None:
        """Why the server's log-probabilities are not used; None where they are as they should be."""
        try:
            made = self.endpoint.echo(PROBE, WRITTEN)
            again = self.endpoint.echo(PROBE + made.written)
        except RefusedError as error:
            return str(error)
        return self._lie(made, again)

    def _lie(self, made: Echo, again: Echo) -> str | None:
        """Return what is wrong with the numbers of a written text, and of the same text when it is read."""
        url = self.endpoint.url
        places = [
            place
            for place in range(made.read, len(made.tokens) - 1)
            if made.tokens[place] != made.tokens[place + 1]  # a repeated token hides a shift
            and made.tokens[: place + 1] == again.tokens[: place + 1]
            and place < again.read
        ]
        if len(places) < FEWEST:
            return f"{url} wrote too little for its log-probabilities to be probed"
        for place in places:
            written, read, best = made.likely[place], again.likely[place], made.best[place]
            if written is None or read is None or best is None:
                return f"{url} leaves out some of its log-probabilities"
            if abs(written - best) > ROUNDING:
                return f"{url} shifts its log-probabilities: what it writes is not the likeliest by them"
            if abs(written - read) > ROUNDING:
                return f"{url} shifts its log-probabilities: what it wrote has others when it is read"
        return None

    def scores(self, prompt: str, words: Mapping[str, str]) -> dict[str, float]:
        """Return the log-likelihood of each label's word behind a prompt."""
        text = self.text(prompt)
        alone = self.endpoint.echo(text)
        before = alone.tokens[: alone.read]
        found: dict[str, float] = {}
        endings: dict[str, tuple[str, ...]] = {}
        for label, word in words.items():
            whole = self.endpoint.echo(f"{text}{self.between}{word}")
            likely = whole.likely[alone.read : whole.read]
            if whole.tokens[: alone.read] != before or not likely:
                raise JoinedTokensError(
                    f"{self.endpoint.model} reads the end of the prompt and the label {word!r} as one token; "
                    "end the prompt with another sign, or leave --tokenizer and --plain out"
                )
            if any(each is None for each in likely):
                raise RefusedError(
                    f"{self.endpoint.url} left out log-probabilities that it gave when it was probed; run again"
                )
            found[label] = sum(each for each in likely if each is not None)
            endings[word] = whole.tokens[alone.read : whole.read]
        refuse_alike(self.endpoint.model, endings)
        return found
