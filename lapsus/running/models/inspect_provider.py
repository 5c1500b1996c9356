"""Any model that inspect_ai knows: `inspect:PROVIDER/NAME`, such as `inspect:anthropic/claude-sonnet-4-0`."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from typing import Any

from lapsus.kernel.rows import first_sentence
from lapsus.running.answers import Answer
from lapsus.running.models import ModelKind, Row
from lapsus.running.tasks import Task


@dataclass(frozen=True)
class InspectModel:
    """A model of inspect, asked for text; inspect retries, limits and authenticates as its provider needs."""

    model: Any = field(repr=False)
    word: str
    name: str
    batch: int
    counted: Counter[str] = field(default_factory=Counter, repr=False)

    @property
    def identity(self) -> str:
        return f"inspect:{self.word} at temperature 0, seed 0"

    def prepare(self, task: Task) -> None:
        """Accept any task: what is written is read as any model's text."""

    def question(self, task: Task, row: Row) -> Any:
        return {"prompt": task.asked(row), "max_tokens": task.kind.max_tokens}

    def answers(self, task: Task, rows: Sequence[Row]) -> Iterator[tuple[int, Answer]]:
        replies = self._loop.run(self._all([task.asked(row) for row in rows], task.kind.max_tokens))
        failed: BaseException | None = None
        for place, reply in enumerate(replies):
            if isinstance(reply, BaseException):  # keep what the others bring, then tell
                failed = reply if failed is None else failed
                continue
            if reply.usage is not None:
                self.counted["tokens of prompts"] += reply.usage.input_tokens
                self.counted["tokens of answers"] += reply.usage.output_tokens
            yield place, Answer(reply.completion)
        if failed is not None:
            raise ConnectionError(
                f"inspect:{self.word} gave no answer ({type(failed).__name__}: {first_sentence(failed)}); "
                "run again to go on"
            ) from failed

    @cached_property
    def _loop(self) -> asyncio.Runner:
        """The loop of all batches, as a provider's connections belong to the loop that made them."""
        return asyncio.Runner()

    async def _all(self, prompts: Sequence[str], max_tokens: int) -> list[Any]:
        from inspect_ai.model import GenerateConfig

        config = GenerateConfig(temperature=0, seed=0, max_tokens=max_tokens, max_connections=self.batch)
        asked = (self.model.generate(prompt, config=config) for prompt in prompts)
        return await asyncio.gather(*asked, return_exceptions=True)

    def tokens(self, task: Task, rows: Sequence[Row]) -> int | None:
        """Return nothing: a provider counts tokens when it is asked."""
        return None

    def usage(self) -> Mapping[str, int]:
        return {name: number for name, number in self.counted.items() if number}


def open_inspect(rest: str, options: Mapping[str, Any]) -> InspectModel:
    """Return the model that inspect knows by this name."""
    if find_spec("inspect_ai") is None:
        raise ModuleNotFoundError('inspect:… needs inspect_ai; install it with: pip install "lapsus[inspect]"')
    from inspect_ai.model import get_model

    try:
        model = get_model(rest)
    except Exception as error:  # a provider may raise anything: for a key, a package or a name that it misses
        said = re.sub(r"\[/?\w[^\]]*\]", "", ": ".join(str(error).split("\n\n"))).removeprefix("ERROR: ")
        raise ValueError(
            f"inspect does not open {rest} ({' '.join(said.split()).rstrip('.')}); give what it asks for"
        ) from error
    name = options.get("name") or rest.rpartition("/")[2]
    return InspectModel(model, rest, name, int(options.get("batch") or 16))


UNITS = (ModelKind("inspect", "inspect:PROVIDER/NAME", "any model that inspect_ai knows", open_inspect),)
