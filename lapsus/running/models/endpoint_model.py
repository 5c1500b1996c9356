"""Models behind an OpenAI-compatible address: `http://HOST/v1#NAME`.

Several questions are out at once, and each answer is kept as it comes. What the server counts is counted: tokens, and
answers that it cut at the most tokens allowed. Labels are read from what the model writes: no log-probabilities are
asked for, since servers were found that shift them by one, or drop them without a word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any

from lapsus.models.endpoint import ContextTooLongError, Endpoint, Reply
from lapsus.running.answers import Answer
from lapsus.running.models import ModelKind, Row
from lapsus.running.tasks import Task

IN_A_ROW = 8  # questions of each worker in one batch


@dataclass(frozen=True)
class EndpointModel:
    """An instruction model behind an address."""

    endpoint: Endpoint
    name: str
    counted: Counter[str] = field(default_factory=Counter, repr=False)

    @property
    def identity(self) -> str:
        return f"{self.endpoint.url.rstrip('/')}#{self.endpoint.model} at temperature 0, seed 0"

    @property
    def batch(self) -> int:
        return self.endpoint.workers * IN_A_ROW

    def prepare(self, task: Task) -> None:
        """Accept any task: what is written is read as any model's text."""

    def question(self, task: Task, row: Row) -> Any:
        return {"prompt": task.asked(row), "max_tokens": task.kind.max_tokens}

    def answers(self, task: Task, rows: Sequence[Row]) -> Iterator[tuple[int, Answer]]:
        with ThreadPoolExecutor(self.endpoint.workers) as pool:
            asked: dict[Future[Reply], int] = {
                pool.submit(self.endpoint.reply, task.asked(row), task.kind.max_tokens): place
                for place, row in enumerate(rows)
            }
            failed: Exception | None = None
            for done in as_completed(asked):
                try:
                    reply = done.result()
                except ContextTooLongError as error:
                    yield asked[done], Answer(None, problem=str(error))
                except OSError as error:  # keep what the others bring, then tell
                    failed = failed or error
                    for other in asked:
                        other.cancel()
                    break
                else:
                    self._count(reply)
                    yield asked[done], Answer(reply.text)
            if failed is not None:
                for done, place in asked.items():
                    if not done.cancelled() and done.exception() is None:
                        yield place, Answer(done.result().text)
                raise failed

    def _count(self, reply: Reply) -> None:
        self.counted["tokens of prompts"] += reply.prompt_tokens
        self.counted["tokens of answers"] += reply.answer_tokens
        self.counted["answers cut at the most tokens allowed"] += reply.cut

    def tokens(self, task: Task, rows: Sequence[Row]) -> int | None:
        """Return an estimate: a token for four letters, or for one character beyond Latin scripts."""
        prompts = (task.asked(row) for row in rows)
        return round(sum(sum(0.25 if char < "\u0250" else 1.0 for char in prompt) for prompt in prompts))

    def usage(self) -> Mapping[str, int]:
        return {name: number for name, number in self.counted.items() if number}


def _opener(scheme: str) -> Any:
    def open_endpoint(rest: str, options: Mapping[str, Any]) -> EndpointModel:
        url, mark, model = f"{scheme}:{rest}".partition("#")
        if not mark or not model:
            raise ValueError(f"'{scheme}:{rest}' names no model; write {scheme}://HOST/v1#NAME")
        workers = int(options.get("batch") or 8)
        settings = {name: options[name] for name in ("timeout", "retries", "pause") if options.get(name) is not None}
        return EndpointModel(Endpoint(url, model, workers=workers, **settings), options.get("name") or model)

    return open_endpoint


UNITS = tuple(
    ModelKind(scheme, f"{scheme}://HOST/v1#NAME", "a model behind an OpenAI-compatible address", _opener(scheme))
    for scheme in ("http", "https")
)
