"""Any model that inspect_ai knows: `inspect:PROVIDER/NAME`, such as `inspect:anthropic/claude-sonnet-4-0`."""

from __future__ import annotations

import asyncio
import re
import weakref
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from typing import Any

from lapsus.core.conversations import Prompt
from lapsus.core.types import Request, Response, Row
from lapsus.evaluation.models import ModelProvider
from lapsus.evaluation.tasks import Task
from lapsus.io.readers import strip_error_message


@dataclass(frozen=True)
class InspectModel:
    """A model of inspect, asked for text; inspect retries, limits and authenticates as its provider needs."""

    model: Any = field(repr=False)
    spec: str
    name: str
    batch_size: int
    usage_counts: Counter[str] = field(default_factory=Counter, repr=False)

    @property
    def identity(self) -> str:
        return f"inspect:{self.spec} at temperature 0, seed 0"

    def prepare(self, task: Task) -> None:
        """Accept any task: what is written is read as any model's text."""

    def build_prompt(self, task: Task, row: Row) -> Any:
        return {"prompt": task.render_prompt(row), "max_tokens": task.answer_type.max_tokens}

    def respond(self, task: Task, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        replies = self._loop.run(
            self._generate_all([request.prompt["prompt"] for request in requests], task.answer_type.max_tokens)
        )
        failure: BaseException | None = None
        for place, reply in enumerate(replies):
            if isinstance(reply, BaseException):  # keep what the others bring, then tell
                failure = reply if failure is None else failure
                continue
            if reply.usage is not None:
                self.usage_counts["tokens of prompts"] += reply.usage.input_tokens
                self.usage_counts["tokens of answers"] += reply.usage.output_tokens
            yield place, Response(reply.completion)
        if failure is not None:
            raise ConnectionError(
                f"inspect:{self.spec} gave no answer ({type(failure).__name__}: {strip_error_message(failure)}); "
                "run again to go on"
            ) from failure

    @cached_property
    def _loop(self) -> asyncio.Runner:
        """The loop of all batches, as a provider's connections belong to the loop that made them."""
        runner = asyncio.Runner()
        weakref.finalize(self, runner.close)
        return runner

    async def _generate_all(self, prompts: Sequence[Prompt], max_tokens: int) -> list[Any]:
        from inspect_ai.model import GenerateConfig, messages_from_openai

        config = GenerateConfig(temperature=0, seed=0, max_tokens=max_tokens, max_connections=self.batch_size)
        inputs = [
            prompt  # one by one, since inspect joins what an assistant says before and after a tool
            if isinstance(prompt, str)
            else [each for message in prompt for each in await messages_from_openai([message])]
            for prompt in prompts
        ]
        generations = (self.model.generate(each, config=config) for each in inputs)
        return await asyncio.gather(*generations, return_exceptions=True)

    def count_tokens(self, task: Task, requests: Sequence[Request]) -> int | None:
        """Return nothing: a provider counts tokens when it is asked."""
        return None

    def get_usage(self) -> Mapping[str, int]:
        return {name: number for name, number in self.usage_counts.items() if number}


def open_inspect(rest: str, options: Mapping[str, Any]) -> InspectModel:
    """Return the model that inspect knows by this name."""
    if find_spec("inspect_ai") is None:
        raise ModuleNotFoundError('inspect:… needs inspect_ai; install it with: pip install "lapsus[inspect]"')
    from inspect_ai.model import get_model

    try:
        model = get_model(rest)
    except Exception as error:  # a provider may raise anything: for a key, a package or a name that it misses
        message = re.sub(r"\[/?\w[^\]]*\]", "", ": ".join(str(error).split("\n\n"))).removeprefix("ERROR: ")
        raise ValueError(
            f"inspect does not open {rest} ({' '.join(message.split()).rstrip('.')}); give what it asks for"
        ) from error
    name = options.get("name") or rest.rpartition("/")[2]
    return InspectModel(model, rest, name, int(options.get("batch_size") or 16))


UNITS = (
    ModelProvider("inspect", "inspect:PROVIDER/NAME", "any model that inspect_ai knows", open_inspect, ("batch_size",)),
)
