"""Models behind an OpenAI-compatible address: `http://HOST/v1#NAME`.

Several questions are out at once, and each answer is kept as it comes. What the server counts is counted: tokens, and
answers that it cut at the most tokens allowed. Labels are read from what the model writes; with `--tokenizer`, whose
chat template it gives, or `--plain` they are scored by log-likelihood, if the server's numbers pass a probe.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from lapsus.kernel.extras import needed
from lapsus.models.endpoint import ContextTooLongError, Endpoint
from lapsus.running.answers import Answer
from lapsus.running.kinds import ended
from lapsus.running.models import ModelKind, Row
from lapsus.running.models.endpoint_likelihoods import JoinedTokensError, Likelihoods
from lapsus.running.models.instructed import BEFORE_LABEL, as_chat
from lapsus.running.tasks import Task

Counted = tuple[Answer, Mapping[str, int]]  # an answer, and what it adds to the counts
IN_A_ROW = 8  # questions of each worker in one batch


@dataclass(frozen=True)
class EndpointModel:
    """An instruction model behind an address."""

    endpoint: Endpoint
    name: str
    likelihoods: Likelihoods | None = None  # how labels are scored, where they are
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
        asked = {"prompt": task.asked(row), "max_tokens": task.kind.max_tokens}
        if self.likelihoods is None or not task.kind.choices:
            return asked
        return asked | {"scored behind": self.likelihoods.text(task.asked(row)), "choices": ended(task.kind.choices)}

    def answers(self, task: Task, rows: Sequence[Row]) -> Iterator[tuple[int, Answer]]:
        scored = self.likelihoods if task.kind.choices else None
        if scored is not None and scored.distrust is not None:
            self.counted[f"labels written and read instead of scored, since {scored.distrust}"] += len(rows)
            scored = None
        one = self._written if scored is None else partial(self._scored, scored)
        with ThreadPoolExecutor(self.endpoint.workers) as pool:
            asked: dict[Future[Counted], int] = {pool.submit(one, task, row): place for place, row in enumerate(rows)}
            failed: BaseException | None = None
            for done in as_completed(asked):
                if done.cancelled():
                    continue
                error = done.exception()
                if error is None:
                    answer, counted = done.result()
                    self.counted.update(counted)
                    yield asked[done], answer
                elif failed is None:  # keep what the others bring, then tell
                    failed = error
                    for other in asked:
                        other.cancel()
            if failed is not None:
                raise failed

    def _scored(self, likelihoods: Likelihoods, task: Task, row: Row) -> Counted:
        """Return the likeliest label."""
        try:
            scores = likelihoods.scores(task.asked(row), ended(task.kind.choices))
        except (ContextTooLongError, JoinedTokensError) as error:
            return Answer(None, problem=str(error)), {}
        return Answer(max(scores, key=scores.__getitem__), scores), {"labels chosen by log-likelihood": 1}

    def _written(self, task: Task, row: Row) -> Counted:
        """Return what the model writes."""
        try:
            reply = self.endpoint.reply(task.asked(row), task.kind.max_tokens)
        except ContextTooLongError as error:
            return Answer(None, problem=str(error)), {}
        return Answer(reply.text), {
            "tokens of prompts": reply.prompt_tokens,
            "tokens of answers": reply.answer_tokens,
            "answers cut at the most tokens allowed": int(reply.cut),
        }

    def tokens(self, task: Task, rows: Sequence[Row]) -> int | None:
        """Return an estimate: a token for four letters, or for one character beyond Latin scripts."""
        prompts = (task.asked(row) for row in rows)
        return round(sum(sum(0.25 if char < "\u0250" else 1.0 for char in prompt) for prompt in prompts))

    def usage(self) -> Mapping[str, int]:
        return {name: number for name, number in self.counted.items() if number}


def _likelihoods(endpoint: Endpoint, options: Mapping[str, Any]) -> Likelihoods | None:
    """Return how labels are scored: behind a bare prompt, or behind a tokenizer's chat template; None without both."""
    if options.get("plain"):
        return Likelihoods(endpoint, str, BEFORE_LABEL)
    if not options.get("tokenizer"):
        return None
    tokenizer = needed("transformers", "models").AutoTokenizer.from_pretrained(options["tokenizer"])
    if not tokenizer.chat_template:
        raise ValueError(f"{options['tokenizer']} has no chat template; pass --plain to send the prompt as it is")
    first = tokenizer("")["input_ids"]  # what the server puts before a text by itself
    own = tokenizer.decode(first) if first else ""
    return Likelihoods(endpoint, lambda prompt: as_chat(tokenizer, prompt).removeprefix(own))


def _opener(scheme: str) -> Any:
    def open_endpoint(rest: str, options: Mapping[str, Any]) -> EndpointModel:
        url, mark, model = f"{scheme}:{rest}".partition("#")
        if not mark or not model:
            raise ValueError(f"'{scheme}:{rest}' names no model; write {scheme}://HOST/v1#NAME")
        workers = int(options.get("batch") or 8)
        settings = {name: options[name] for name in ("timeout", "retries", "pause") if options.get(name) is not None}
        endpoint = Endpoint(url, model, workers=workers, **settings)
        return EndpointModel(endpoint, options.get("name") or model, _likelihoods(endpoint, options))

    return open_endpoint


UNITS = tuple(
    ModelKind(scheme, f"{scheme}://HOST/v1#NAME", "a model behind an OpenAI-compatible address", _opener(scheme))
    for scheme in ("http", "https")
)
