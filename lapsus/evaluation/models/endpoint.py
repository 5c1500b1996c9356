"""Models behind an OpenAI-compatible address: `http://HOST/v1#NAME`.

Several questions are out at once, and each answer is kept as it comes. What the server counts is counted: tokens, and
answers that it cut at the most tokens allowed. Labels are read from what the model writes; with `--tokenizer`, whose
chat template it gives, or `--no-chat-template` they are scored by log-likelihood, if the server's numbers pass a probe.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from queue import Empty, SimpleQueue
from typing import Any

from lapsus.core.conversations import Prompt, require_text
from lapsus.core.imports import import_optional
from lapsus.core.types import Request, Response, Row
from lapsus.evaluation.answer_types import terminate_choices
from lapsus.evaluation.models import ModelProvider
from lapsus.evaluation.models.causal import BEFORE_LABEL, apply_chat_template, check_distinct_labels
from lapsus.evaluation.models.endpoint_client import (
    ContextTooLongError,
    EmptyReplyError,
    Endpoint,
    FailedRequestError,
    FilteredError,
    PromptLogprobs,
    RefusedRequestError,
    ThinkingCutError,
    UnsupportedRequestError,
)
from lapsus.evaluation.models.endpoint_transport import EndpointError, check_url
from lapsus.evaluation.tasks import Task
from lapsus.evaluation.tool_answer import ToolCallAnswer, render_without_functions

# Labels scored by log-likelihood behind an address: only where the server's numbers have passed a probe.
# Servers were found that echo log-probabilities shifted by one place, and one that drops them without a word. What a
# model writes greedily is the likeliest by the right numbers, and is as likely when it is read as when it was written.


PROBE = "Paris is the capital of France. Rome is the capital of Italy. Tokyo is the capital of"
PROBE_TOKENS = 12  # tokens of the probe's answer
MIN_PROBE_POSITIONS = 2  # places of it that would show a shift
ROUNDING = 0.1  # of a log-probability, between two ways through a server


class TokenBoundaryError(ValueError):
    """The first token of a label reaches into the prompt."""


@dataclass(frozen=True)
class LogprobScorer:
    """The log-likelihood of labels behind prompts.

    Args:
        endpoint: The server.
        format_prompt: How a prompt stands before its answer, such as by a chat template.
        separator: What stands between this and a label.
    """

    endpoint: Endpoint
    format_prompt: Callable[[Prompt], str]
    separator: str = ""

    @cached_property
    def unreliable_because(self) -> str | None:
        """Why the server's log-probabilities are not used; None where they are as they should be."""
        try:
            completion = self.endpoint.score_text(PROBE, PROBE_TOKENS)
            reread = self.endpoint.score_text(PROBE + completion.generated)
        except UnsupportedRequestError as error:
            return str(error)
        return self._find_inconsistency(completion, reread)

    def _find_inconsistency(self, completion: PromptLogprobs, reread: PromptLogprobs) -> str | None:
        """Return what is wrong with the numbers of a written text, and of the same text when it is read."""
        url = self.endpoint.url
        places = [
            place
            for place in range(completion.n_prompt_tokens, len(completion.tokens) - 1)
            if completion.tokens[place] != completion.tokens[place + 1]  # a repeated token hides a shift
            and completion.tokens[: place + 1] == reread.tokens[: place + 1]
            and place < reread.n_prompt_tokens
        ]
        if len(places) < MIN_PROBE_POSITIONS:
            return f"{url} wrote too little for its log-probabilities to be probed"
        for place in places:
            generated_logprob, prompt_logprob, top_logprob = (
                completion.logprobs[place],
                reread.logprobs[place],
                completion.top_logprobs[place],
            )
            if generated_logprob is None or prompt_logprob is None or top_logprob is None:
                return f"{url} leaves out some of its log-probabilities"
            if abs(generated_logprob - top_logprob) > ROUNDING:
                return f"{url} shifts its log-probabilities: what it writes is not the likeliest by them"
            if abs(generated_logprob - prompt_logprob) > ROUNDING:
                return f"{url} shifts its log-probabilities: what it wrote has others when it is read"
        return None

    def score_labels(self, text: str, words: Mapping[str, str]) -> dict[str, float]:
        """Return the log-likelihood of each label's word behind a formatted prompt."""
        prompt_echo = self.endpoint.score_text(text)
        prompt_tokens = prompt_echo.tokens[: prompt_echo.n_prompt_tokens]
        scores: dict[str, float] = {}
        endings: dict[str, tuple[str, ...]] = {}
        for label, word in words.items():
            full_echo = self.endpoint.score_text(f"{text}{self.separator}{word}")
            logprobs = full_echo.logprobs[prompt_echo.n_prompt_tokens : full_echo.n_prompt_tokens]
            if full_echo.tokens[: prompt_echo.n_prompt_tokens] != prompt_tokens or not logprobs:
                raise TokenBoundaryError(
                    f"{self.endpoint.model} reads the end of the prompt and the label {word!r} as one token; "
                    "end the prompt with another sign, or leave out --tokenizer and --no-chat-template"
                )
            if any(each is None for each in logprobs):
                raise UnsupportedRequestError(
                    f"{self.endpoint.url} left out log-probabilities that it gave when it was probed; run again"
                )
            scores[label] = sum(each for each in logprobs if each is not None)
            endings[word] = full_echo.tokens[prompt_echo.n_prompt_tokens : full_echo.n_prompt_tokens]
        check_distinct_labels(self.endpoint.model, endings)
        return scores


GRACE = 20.0  # seconds in which answers that are under way may arrive when a run is stopped
REFUSALS = "requests that the model or a content filter refused"
CountedResponse = tuple[Response, Mapping[str, int]]  # an answer, and what it adds to the counts
REQUESTS_PER_WORKER = 16  # of one batch


@dataclass(frozen=True)
class EndpointModel:
    """An instruction model behind an address."""

    endpoint: Endpoint
    name: str
    logprob_scorer: LogprobScorer | None = None  # how labels are scored, where they are
    usage_counts: Counter[str] = field(default_factory=Counter, repr=False)
    send_tools: bool = False  # whether functions go into the field `tools` of a request, and not into its prompt
    json_schema: Mapping[str, Any] | None = None  # of the answers; an empty one is that of the task

    @property
    def identity(self) -> str:
        params = json.dumps(self.endpoint.params, ensure_ascii=False, sort_keys=True) if self.endpoint.params else ""
        settings = "temperature 0, seed 0" + (f", with {params}" if params else "")
        return f"{self.endpoint.url.rstrip('/')}#{self.endpoint.model} at {settings}"

    @property
    def batch_size(self) -> int:
        return self.endpoint.workers * REQUESTS_PER_WORKER

    def prepare(self, task: Task) -> None:
        """Accept any task: what is written is read as any model's text; tools are sent where calls are answers."""
        if self.send_tools and not isinstance(task.answer_type, ToolCallAnswer):
            raise TypeError(f"the answers of the task {task.name} are no calls of functions; leave out --send-tools")
        if self.json_schema is not None and self.send_tools:
            raise TypeError("--json-schema and --send-tools exclude each other; leave one out")
        if self.json_schema is not None and not (self.json_schema or task.answer_type.schema):
            raise TypeError(f"the task {task.name} has no JSON schema; write one out, or leave out --json-schema")

    def build_prompt(self, task: Task, row: Row) -> Any:
        prompt = self._build_prompt(task, row)
        if self.json_schema is None:
            return prompt
        schema = {"name": "answer", "strict": True, "schema": self.json_schema or task.answer_type.schema}
        return prompt | {"response_format": {"type": "json_schema", "json_schema": schema}}

    def _build_prompt(self, task: Task, row: Row) -> dict[str, Any]:
        if self.send_tools and isinstance(task.answer_type, ToolCallAnswer):
            answer_type = task.answer_type
            prompt = {"prompt": render_without_functions(task, answer_type, row), "max_tokens": answer_type.max_tokens}
            return prompt | {"tools": answer_type.list_tools(row)}
        text = task.render_prompt(row)
        prompt = {"prompt": text, "max_tokens": task.answer_type.max_tokens}
        if self.logprob_scorer is None or not task.answer_type.choices:
            return prompt
        return prompt | {
            "scored behind": self.logprob_scorer.format_prompt(text),
            "choices": terminate_choices(task.answer_type.choices),
        }

    def respond(self, task: Task, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        scorer = self.logprob_scorer if task.answer_type.choices else None
        if scorer is not None and scorer.unreliable_because is not None:
            self.usage_counts[f"labels written and read instead of scored, since {scorer.unreliable_because}"] += len(
                requests
            )
            scorer = None
        endpoint = replace(self.endpoint, stop=threading.Event())
        if scorer is None:
            answer = partial(self._generate, endpoint)
        else:
            answer = partial(self._choose_label, replace(scorer, endpoint=endpoint))
        n_workers = min(endpoint.workers, len(requests))
        pool = WorkerPool(partial(answer, task), requests, endpoint.stop, self.usage_counts)
        yield from pool.iter_responses(n_workers)

    def _choose_label(self, scorer: LogprobScorer, task: Task, request: Request) -> CountedResponse:
        """Return the likeliest label."""
        try:
            scores = scorer.score_labels(request.prompt["scored behind"], request.prompt["choices"])
        except TokenBoundaryError as error:
            return Response(None, error=str(error)), {}
        except (RefusedRequestError, FailedRequestError) as error:
            return _make_error_response(error), {}
        return Response(max(scores, key=scores.__getitem__), scores), {"labels chosen by log-likelihood": 1}

    def _generate(self, endpoint: Endpoint, task: Task, request: Request) -> CountedResponse:
        """Return what the model writes."""
        try:
            reply = endpoint.complete_uncached(
                request.prompt["prompt"],
                task.answer_type.max_tokens,
                **{name: request.prompt.get(name) for name in ("tools", "response_format")},
            )
        except (RefusedRequestError, FailedRequestError) as error:
            return _make_error_response(error), {REFUSALS: int(isinstance(error, FilteredError))}
        message = {"content": reply.text, "tool_calls": list(reply.tool_calls)}
        response = Response(
            message if reply.tool_calls else reply.text,
            finish_reason="length" if reply.truncated else None,
            reasoning=reply.reasoning or None,
            request_changes=reply.request_changes,
        )
        return response, {
            "tokens of prompts": reply.prompt_tokens,
            "tokens of answers": reply.completion_tokens,
            "tokens of thinking, among those of answers": reply.reasoning_tokens,
            "answers cut at the most tokens allowed": int(reply.truncated),
        }

    def count_tokens(self, task: Task, requests: Sequence[Request]) -> int | None:
        """Return an estimate: a token for four letters, or for one character beyond Latin scripts."""
        prompts = (to_prompt_text(request.prompt["prompt"]) for request in requests)
        return round(sum(sum(0.25 if char < "\u0250" else 1.0 for char in prompt) for prompt in prompts))

    def get_usage(self) -> Mapping[str, int]:
        return {name: number for name, number in self.usage_counts.items() if number}


def _make_error_response(error: EndpointError) -> Response:
    """Return the response to a question that has no answer; it is cached where the reason lies in the question."""
    is_final = isinstance(error, ContextTooLongError | FilteredError | EmptyReplyError)
    reasons: dict[type[EndpointError], str] = {
        ThinkingCutError: "thinking",
        FilteredError: "refusal",
        ContextTooLongError: "context",
    }
    return Response(None, error=str(error), cacheable=is_final, finish_reason=reasons.get(type(error)))


Outcome = tuple[int, CountedResponse | Exception]  # the index of a request, and its answer or error


class WorkerPool:
    """Threads that answer requests; they do not keep the process alive when it ends.

    Args:
        answer: Answers one request.
        requests: The requests.
        stop: Ends the work: no other request is sent.
        usage_counts: Where the counts of the responses are added.
    """

    def __init__(
        self,
        answer: Callable[[Request], CountedResponse],
        requests: Sequence[Request],
        stop: threading.Event,
        usage_counts: Counter[str],
    ) -> None:
        self.answer, self.requests, self.stop, self.usage_counts = answer, requests, stop, usage_counts
        self.waiting: SimpleQueue[int] = SimpleQueue()
        self.done: SimpleQueue[Outcome] = SimpleQueue()
        self.threads: list[threading.Thread] = []
        for index in range(len(requests)):
            self.waiting.put(index)

    def iter_responses(self, n_workers: int) -> Iterator[tuple[int, Response]]:
        """Yield responses as they come; after an error or Ctrl-C only those that are under way, then raise it."""
        self.threads = [threading.Thread(target=self._work, daemon=True) for _ in range(n_workers)]
        for thread in self.threads:
            thread.start()
        try:
            for _ in self.requests:
                yield self._unwrap(self.done.get())
        except GeneratorExit:
            raise
        except BaseException:
            self.stop.set()
            for outcome in self._drain():
                if not isinstance(outcome[1], Exception) and outcome[1][0].cacheable:
                    yield self._unwrap(outcome)
            raise
        finally:
            self.stop.set()

    def _unwrap(self, outcome: Outcome) -> tuple[int, Response]:
        """Count a response and return it; raise an error."""
        index, counted = outcome
        if isinstance(counted, Exception):
            raise counted
        response, counts = counted
        self.usage_counts.update(counts)
        return index, response

    def _work(self) -> None:
        while not self.stop.is_set():
            try:
                index = self.waiting.get_nowait()
            except Empty:
                return
            try:
                self.done.put((index, self.answer(self.requests[index])))
            except Exception as error:  # noqa: BLE001 - it is raised where the answers are read
                self.done.put((index, error))
                self.stop.set()

    def _drain(self) -> Iterator[Outcome]:
        """Yield what arrives until all threads have ended, or for `GRACE` seconds."""
        end = time.monotonic() + GRACE
        while time.monotonic() < end:
            is_over = not any(thread.is_alive() for thread in self.threads)
            try:
                yield self.done.get(timeout=0.02)
            except Empty:
                if is_over:
                    return


def to_prompt_text(prompt: Prompt) -> str:
    """Return all that a prompt says, to be counted."""
    return prompt if isinstance(prompt, str) else json.dumps(prompt, ensure_ascii=False)


def _make_logprob_scorer(endpoint: Endpoint, options: Mapping[str, Any]) -> LogprobScorer | None:
    """Return how labels are scored: behind a bare prompt, or behind a tokenizer's chat template; None without both."""
    if options.get("chat_template") is False:
        return LogprobScorer(endpoint, partial(require_text, model="a model without a chat template"), BEFORE_LABEL)
    if not options.get("tokenizer"):
        return None
    tokenizer = import_optional("transformers", "models").AutoTokenizer.from_pretrained(options["tokenizer"])
    if not tokenizer.chat_template:
        raise ValueError(f"{options['tokenizer']} has no chat template; add --no-chat-template")
    special_tokens = tokenizer("")["input_ids"]  # what the server puts before a text by itself
    special_prefix = tokenizer.decode(special_tokens) if special_tokens else ""
    return LogprobScorer(endpoint, lambda prompt: apply_chat_template(tokenizer, prompt).removeprefix(special_prefix))


SETTINGS = {  # options that a server has, and their names there
    "timeout": "timeout",
    "retries": "retries",
    "pause": "pause",
    "deadline": "deadline",
    "key_env": "key",
    "key_over_http": "key_over_http",
}


CURES = {
    "max_tokens": ", and add --max-tokens",
    "max_completion_tokens": ", and add --max-tokens",
    "tools": ", and add --tools",
    "messages": ", and add --system or --shots",
    "response_format": ", and add --json-schema",
    **dict.fromkeys(("model", "stream", "n"), ""),
}  # of fields of a request that no parameter may replace
FIXED_FIELDS = CURES.keys()


def _make_opener(scheme: str) -> Any:
    def open_endpoint(rest: str, options: Mapping[str, Any]) -> EndpointModel:
        url, mark, model = f"{scheme}:{rest}".partition("#")
        check_url(url)
        if not mark or not model:
            raise ValueError(f"'{scheme}:{rest}' names no model; write {scheme}://HOST/v1#NAME")
        workers = int(options.get("batch_size") or 8)
        settings = {setting: options[name] for name, setting in SETTINGS.items() if options.get(name) is not None}
        params = dict(options.get("params") or {})
        if wrong := sorted(FIXED_FIELDS & params.keys()):
            raise ValueError(f"--params holds {wrong[0]!r}, which lapsus sets itself; leave it out{CURES[wrong[0]]}")
        endpoint = Endpoint(url, model, workers=workers, params=params, **settings)
        return EndpointModel(
            endpoint,
            options.get("name") or model,
            _make_logprob_scorer(endpoint, options),
            send_tools=bool(options.get("send_tools")),
            json_schema=options.get("json_schema"),
        )

    return open_endpoint


UNITS = tuple(
    ModelProvider(
        scheme,
        f"{scheme}://HOST/v1#NAME",
        "a model behind an OpenAI-compatible address",
        _make_opener(scheme),
        ("batch_size", "chat_template", "tokenizer", "send_tools", "params", "json_schema", *SETTINGS),
    )
    for scheme in ("http", "https")
)
