"""Ask an instruction model through an OpenAI-compatible endpoint: greedy, cached on disk, resumable.

Any server that speaks `POST <url>/chat/completions` will do: vLLM, llama.cpp, Ollama, TGI, a hosted one. Every answer
is kept in the cache folder under the sha256 of its address and request, so that a stopped run continues where it
was, and a run that is repeated asks nothing.

>>> Endpoint("ftp://localhost/v1", model="any")
Traceback (most recent call last):
...
ValueError: 'ftp://localhost/v1' is no web address; give the endpoint's base, such as http://localhost:8000/v1
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lapsus.core.conversations import Prompt, ask
from lapsus.core.files import stage_file
from lapsus.evaluation.models.endpoint_fields import NEW_CAP, FieldChanges, find_refused_fields, load_error
from lapsus.evaluation.models.endpoint_transport import (
    BrokenReplyError,
    ConnectionPool,
    EndpointError,
    OversizedReplyError,
    Reply,
    UnreachableError,
    check_url,
    is_local,
)
from lapsus.evaluation.parsing import split_reasoning

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

T = TypeVar("T")
DEFAULT_KEY = "OPENAI_API_KEY"  # the environment variable where no other is named
BUSY = frozenset({408, 429, 500, 502, 503, 504, 529})  # HTTP status codes that are retried


TOO_LONG = re.compile(
    r"context[ _-](?:length|size|window)|too long|maximum length|max_model_len|too many tokens", re.IGNORECASE
)
MAX_PAUSE = 30.0  # seconds between two tries, where the server asks for no more
FILTERED = re.compile(r"content[ _-]?(?:filter|management policy|policy)|ResponsibleAI", re.IGNORECASE)
QUOTA = re.compile(r"insufficient_quota|billing_hard_limit|credit balance", re.IGNORECASE)
SERVER_FLAG = re.compile(r"(?<![\w!])--[a-z][a-z-]+|requires --?\w+ flag")  # of a server that was started without it
MAX_COUNT = 1 << 53  # tokens of one question, which a server may state
LONGEST_PAUSE = 600.0  # seconds that a server may ask to wait


class UnsupportedRequestError(EndpointError):
    """The endpoint does not take such a question: another try would not help."""


class RefusedRequestError(UnsupportedRequestError):
    """The endpoint refuses this question; it may answer others."""


class ContextTooLongError(RefusedRequestError):
    """The question has more tokens than the model reads."""


class FilteredError(RefusedRequestError):
    """A content filter, or the model itself, refuses the question for what it says."""


class RefusedFieldError(RefusedRequestError):
    """The endpoint refuses the request for fields that it names."""

    def __init__(self, message: str, fields: Sequence[str]) -> None:
        super().__init__(message)
        self.fields = tuple(fields)


class EmptyReplyError(RefusedRequestError):
    """The answer holds no text."""


class ThinkingCutError(EmptyReplyError):
    """All tokens allowed were used before the answer began."""


class FailedRequestError(EndpointError):
    """The endpoint did not answer this question after all tries; it may answer others."""


class MalformedResponseError(ValueError):
    """The endpoint's answer is not what was asked for."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong with one try, where another may go well.

    Args:
        cause: The error; None where the server said so.
        message: What is said after the last try; `{tries}` is their number.
        error_class: What is raised then: `EndpointError` ends the run, `FailedRequestError` is of one question.
        is_busy: Whether the server asks for patience: the try counts toward the deadline alone.
        wait: Seconds that the server asks to wait.
    """

    cause: Exception | None
    message: str
    error_class: type[EndpointError] = FailedRequestError
    is_busy: bool = False
    wait: float = 0.0


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer, whether it was cut at the token limit, the token counts the server reports, and calls of tools.

    `reasoning` is the thinking before the answer, where the server shows it, and `request_changes` is what it refused
    of the request.
    """

    text: str
    truncated: bool
    prompt_tokens: int
    completion_tokens: int
    tool_calls: tuple[Any, ...] = ()
    reasoning: str = ""
    reasoning_tokens: int = 0
    request_changes: tuple[str, ...] = ()

    @property
    def cut_while_thinking(self) -> bool:
        """Whether thinking has used tokens of an answer that was cut."""
        return self.truncated and bool(
            self.reasoning or self.reasoning_tokens or not (self.text.strip() or self.tool_calls)
        )


@dataclass(frozen=True, slots=True)
class PromptLogprobs:
    """A text as the model reads it, with what it wrote behind: each token, its log-probability, the likeliest there.

    `n_prompt_tokens` is how many of the tokens the server says were read; the others were written.
    """

    tokens: tuple[str, ...]
    logprobs: tuple[float | None, ...]
    top_logprobs: tuple[float | None, ...]
    n_prompt_tokens: int
    generated: str


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An instruction model behind an address.

    Args:
        url: The base of the API, such as `http://localhost:8000/v1`.
        model: The model's name, as the server knows it.
        cache: The folder that keeps the answers; None asks anew each time.
        key: The environment variable that holds the API key, where one is needed; None is $OPENAI_API_KEY where it is
            set, which is not sent over plain http to another machine.
        key_over_http: Whether the key is sent over plain http to another machine.
        retries: How often a server that fails is asked again, each time after twice the pause; a busy one (status 429,
            or with Retry-After) is asked until the deadline, unless this is 0.
        pause: Seconds before the first retry.
        timeout: Seconds for a whole reply.
        deadline: Seconds for all tries of one question.
        workers: How many questions are out at once.
        fields: What the server demands of the requests; it is learned from its errors.
        params: Fields of every chat request, such as `reasoning_effort`.
    """

    url: str
    model: str
    cache: str | None = None
    key: str | None = None
    retries: int = 6
    pause: float = 1.0
    timeout: float = 120.0
    deadline: float = 600.0
    workers: int = 4
    key_over_http: bool = False
    params: Mapping[str, Any] = field(default_factory=dict)
    fields: FieldChanges = field(default_factory=FieldChanges, repr=False, compare=False)
    pool: ConnectionPool = field(default_factory=ConnectionPool, repr=False, compare=False)
    stop: threading.Event = field(default_factory=threading.Event, repr=False, compare=False)  # ends all waiting

    def __post_init__(self) -> None:
        check_url(self.url)
        if self.key is not None and not self.accepts_key:
            raise ValueError(
                f"{self.url} is not encrypted, so the key in ${self.key} is not sent there; "
                "use https, or add --key-over-http"
            )
        if self.key is not None and not os.environ.get(self.key):
            raise ValueError(f"${self.key} is not set; set it to the API key, or leave out --key-env")

    @property
    def accepts_key(self) -> bool:
        """Whether a key may be sent: over https, to this machine, or where the user insists."""
        return self.key_over_http or self.url.startswith("https://") or is_local(self.url)

    def complete(self, prompt: str, max_tokens: int = 256, *, whole_lines: bool = False) -> str:
        """Return the model's answer to `prompt`, the most probable one.

        With `whole_lines`, an answer that was cut at the token limit loses the line in which it was cut.
        """
        request = self._build_request(prompt, max_tokens)
        body = _dump(request)
        request_key = hashlib.sha256(
            f"{self.url}\n".encode() + body
        ).hexdigest()  # a name may differ in meaning by server
        cache_path = None if self.cache is None else Path(self.cache) / f"{request_key}.json"
        if cache_path is not None and cache_path.exists():
            entry = json.loads(cache_path.read_text(encoding="utf-8"))
        else:
            try:
                completion = self._post_chat(request)
            except (EmptyReplyError, FilteredError):
                completion = Completion("", truncated=False, prompt_tokens=0, completion_tokens=0)
            entry = {"request": json.loads(body), "answer": completion.text, "truncated": completion.truncated}
            if cache_path is not None:
                with stage_file(cache_path) as file:  # atomic: a cache file is never partly written
                    file.write(json.dumps(entry, ensure_ascii=False).encode())
        text = str(entry["answer"])
        return text.rpartition("\n")[0] if whole_lines and entry.get("truncated") else text

    def complete_all(self, prompts: Sequence[str], max_tokens: int = 256, *, whole_lines: bool = False) -> list[str]:
        """Return the answers to `prompts`, in their order."""
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(lambda prompt: self.complete(prompt, max_tokens, whole_lines=whole_lines), prompts))

    def complete_uncached(self, prompt: Prompt, max_tokens: int = 256, **fields: Any) -> Completion:
        """Return the model's answer with its token counts; the cache is not used. `fields` are of this request."""
        return self._post_chat(self._build_request(prompt, max_tokens, **fields))

    def _post_chat(self, request: Mapping[str, Any]) -> Completion:
        """Send a chat request; what the server refuses of it is changed, and a model that thinks gets room for it."""
        while True:
            body = self.fields.apply(request)
            try:
                completion = self._post("chat/completions", _dump(body), self._parse_completion)
            except RefusedFieldError as error:
                self.fields.learn(body, error.fields)
                if self.fields.apply(request) == body:
                    raise
                continue
            self.fields.thinks |= completion.cut_while_thinking
            if completion.cut_while_thinking and self.fields.apply(request) != body:
                continue
            if completion.truncated and not (completion.text.strip() or completion.tool_calls):
                raise ThinkingCutError(
                    "all tokens allowed were used before the answer began (finish_reason 'length'); add --max-tokens "
                    "with a higher number, or let the model think less"
                )
            is_ignored = completion.completion_tokens > body.get(NEW_CAP, MAX_COUNT)
            changes = (*self.fields.describe(request), *([f"{NEW_CAP} is ignored"] if is_ignored else []))
            return replace(completion, request_changes=changes)

    def score_text(self, text: str, max_tokens: int = 1) -> PromptLogprobs:
        """Return the log-probabilities of a text's own tokens, as the completions API gives them where it does.

        Raises:
            RefusedError: The server has no such API, or leaves out what was asked for.
        """
        request = {
            "model": self.model,
            "prompt": text,
            "temperature": 0,
            "max_tokens": max_tokens,
            "seed": 0,
            "echo": True,
            "logprobs": 1,
        }
        return self._post("completions", _dump(request), lambda answer: self._parse_prompt_logprobs(answer, text))

    def _build_request(self, prompt: Prompt, max_tokens: int, **fields: Any) -> dict[str, Any]:
        request = {
            "model": self.model,
            "messages": ask(prompt),
            "temperature": 0,
            "max_tokens": max_tokens,
            "seed": 0,
        }
        return {**request, **self.params, **{name: value for name, value in fields.items() if value}}

    def _post(self, path: str, body: bytes, parse: Callable[[bytes], T]) -> T:
        """Ask until there is a readable answer, or the retries or the time are used up."""
        url = f"{self.url.rstrip('/')}/{path}"
        end = time.monotonic() + self.deadline
        n_tries = n_failures = 0
        while True:
            fault = self._try(url, body, parse, min(self.timeout, max(end - time.monotonic(), 1.0)))
            if not isinstance(fault, Fault):
                return fault
            pause = max(min(self.pause * 2**n_tries, MAX_PAUSE), fault.wait)
            n_tries += 1
            n_failures += not fault.is_busy
            out_of_tries = n_failures > self.retries or not self.retries
            if out_of_tries or time.monotonic() + pause > end:
                raise fault.error_class(fault.message.replace("{tries}", str(n_tries))) from fault.cause
            if self.stop.wait(pause):
                raise FailedRequestError("the run was stopped before this question had an answer")

    def _try(self, url: str, body: bytes, parse: Callable[[bytes], T], timeout: float) -> T | Fault:
        """Ask once; return the answer, or a fault that another try may cure."""
        try:
            reply = self._send(url, body, timeout)
            reply = _find_error_inside(reply)
            return parse(reply.body) if reply.status < 400 else self._check_error(reply, url)
        except OversizedReplyError as error:
            raise FailedRequestError(str(error)) from error
        except EndpointError:
            raise
        except MalformedResponseError as error:
            return Fault(error, clean_message(error, 500))
        except BrokenReplyError as error:
            return Fault(error, f"{url} breaks off its answers ({clean_message(error)}); look at the server's log")
        except OSError as error:  # no connection, or a timeout
            message = f"no answer from {url} ({clean_message(error)}); start the server, or check the url"
            is_unreachable = isinstance(error, UnreachableError)
            return Fault(error, message, EndpointError if is_unreachable else FailedRequestError)

    def _send(self, url: str, body: bytes, timeout: float) -> Reply:
        headers = {"Content-Type": "application/json"}
        if secret := self._read_key():
            headers["Authorization"] = f"Bearer {secret}"
        return self.pool.post(url, body, headers, timeout)

    def _read_key(self) -> str:
        """Return the API key; empty where there is none, or it must not be sent."""
        name = self.key or DEFAULT_KEY
        secret = os.environ.get(name, "").strip() if self.accepts_key else ""
        if not (secret.isascii() and secret.isprintable()):
            raise EndpointError(f"the key in ${name} holds signs that no header may; set it anew")
        return secret

    def _redact(self, text: str) -> str:
        """Return a message without the key."""
        secret = self._read_key()
        return text.replace(secret, "***") if secret else text

    def _check_error(self, reply: Reply, url: str) -> Fault:
        """Return a fault that another try may cure; raise if none can."""
        text = self._redact(reply.body.decode(errors="replace"))
        message = clean_message(text)
        if reply.status in {401, 403}:
            if not self.accepts_key and os.environ.get(DEFAULT_KEY):
                raise EndpointError(
                    f"{url} wants a key (status {reply.status}), and $OPENAI_API_KEY is not sent there since the "
                    "address is not encrypted; use https, or add --key-over-http"
                )
            raise EndpointError(
                f"{url} refused the key (status {reply.status}); set ${self.key or DEFAULT_KEY} to a valid one"
            )
        if reply.status in {400, 413, 422} and TOO_LONG.search(message):
            raise ContextTooLongError(
                f"longer than the context of {self.model}; shorten the rows, or take another model"
            )
        if reply.status in {400, 422, 451} and FILTERED.search(message):
            raise FilteredError(f"a content filter of the server refused the question ({message})")
        if reply.status == 402 or QUOTA.search(text):
            raise UnsupportedRequestError(
                f"the quota of the key for {url} is used up (status {reply.status}); raise it, then type the same "
                "command to go on"
            )
        if reply.status >= 400 and reply.status != 429 and SERVER_FLAG.search(load_error(text)[0]):
            raise UnsupportedRequestError(f"{url} was started without a flag that this needs ({message}); add it there")
        cure = f"check the model's name {self.model!r}"
        refusal = f"{url} refused the question (status {reply.status}: {message}); {cure}"
        if reply.status in {400, 422, 500} and (names := find_refused_fields(text)):
            raise RefusedFieldError(refusal, names)
        if reply.status in {400, 413, 422}:
            raise RefusedRequestError(refusal)
        if reply.status not in BUSY:
            raise UnsupportedRequestError(f"{url} answered with status {reply.status} ({message}); {cure}")
        hint = ", the answers so far are kept" if self.cache is not None else ""
        retry_after = reply.headers.get("Retry-After")
        return Fault(
            None,
            f"{url} is still busy (status {reply.status}) after {{tries}} tries; run again later{hint}",
            is_busy=reply.status == 429 or retry_after is not None,
            wait=parse_retry_after(retry_after),
        )

    def _parse_completion(self, body: bytes) -> Completion:
        response, choice = self._load_choice(body, "chat completion")
        message = choice.get("message")
        if not isinstance(message, dict):
            raise self._make_malformed_error(body, "chat completion")
        finish_reason, content = choice.get("finish_reason"), message.get("content")
        if isinstance(content, list):
            content = _join_parts(content)
        if content is not None and not isinstance(content, str):
            raise self._make_malformed_error(body, "chat completion")
        if finish_reason == "content_filter":
            raise FilteredError("a content filter of the server withheld the answer (finish_reason 'content_filter')")
        calls = message.get("tool_calls") or ()
        if not isinstance(calls, list | tuple):
            raise self._make_malformed_error(body, "chat completion")
        if not content and (message.get("refusal") or finish_reason == "refusal"):
            raise FilteredError(f"the model refused: {clean_message(message.get('refusal') or 'it gives no reason')}")
        if content is None and not calls and finish_reason != "length":
            raise EmptyReplyError(f"the answer has no text (finish_reason {clean_message(finish_reason)!r})")
        reasoning, text = split_reasoning(content or "")
        usage = response.get("usage")
        details = usage.get("completion_tokens_details") if isinstance(usage, dict) else None
        shown = message.get("reasoning_content") or message.get("reasoning")
        return Completion(
            text,
            finish_reason == "length",
            read_count(usage, "prompt_tokens"),
            read_count(usage, "completion_tokens"),
            tuple(calls),
            shown if isinstance(shown, str) else reasoning,
            read_count(details, "reasoning_tokens"),
        )

    def _parse_prompt_logprobs(self, body: bytes, text: str) -> PromptLogprobs:
        response, choice = self._load_choice(body, "completion")
        if "text" not in choice:
            raise self._make_malformed_error(body, "completion")
        echoed_text, logprobs = str(choice["text"]), choice.get("logprobs")
        if not isinstance(logprobs, dict) or not logprobs.get("token_logprobs"):
            raise UnsupportedRequestError(f"{self.url} leaves out the log-probabilities that it was asked for")
        if not echoed_text.startswith(text):
            raise UnsupportedRequestError(f"{self.url} does not echo what it read")
        n_prompt_tokens = read_count(response.get("usage"), "prompt_tokens")
        try:
            token_logprobs = tuple(None if each is None else float(each) for each in logprobs["token_logprobs"])
            tokens = tuple(map(str, logprobs.get("tokens") or ()))
            top_logprobs = tuple(
                max(map(float, each.values())) if each else None for each in logprobs.get("top_logprobs") or ()
            )
        except (ValueError, TypeError, AttributeError):
            n_prompt_tokens = 0
        if not n_prompt_tokens or not n_prompt_tokens <= len(token_logprobs) == len(tokens) == len(top_logprobs):
            raise UnsupportedRequestError(f"{self.url} does not say which log-probability belongs to which token")
        return PromptLogprobs(tokens, token_logprobs, top_logprobs, n_prompt_tokens, echoed_text[len(text) :])

    def _load_choice(self, body: bytes, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return a response and its first choice."""
        try:
            response: Any = json.loads(body)
            choice = response["choices"][0]
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise self._make_malformed_error(body, name) from error
        if not isinstance(response, dict) or not isinstance(choice, dict):
            raise self._make_malformed_error(body, name)
        return response, choice

    def _make_malformed_error(self, body: bytes, name: str) -> MalformedResponseError:
        return MalformedResponseError(
            f"{self.url} sent no {name} but {self._redact(body[:80].decode(errors='replace'))!r}; "
            "give the base of an OpenAI-compatible API"
        )


def _dump(request: Mapping[str, Any]) -> bytes:
    return json.dumps(request, ensure_ascii=False, sort_keys=True).encode()


def _find_error_inside(reply: Reply) -> Reply:
    """Return a reply with the status of the error that its body holds, where a status of success hides one."""
    if reply.status >= 400 or b'"error"' not in reply.body[:4096]:
        return reply
    try:
        response = json.loads(reply.body)
    except (ValueError, RecursionError):
        return reply
    error = response.get("error") if isinstance(response, dict) else None
    if not error or "choices" in response:
        return reply
    code = error.get("code") if isinstance(error, dict) else None
    return replace(reply, status=code if isinstance(code, int) and 400 <= code < 600 else 500)


def _join_parts(parts: list[Any]) -> str | None:
    """Return the text of content in parts; None where no part is text."""
    values = (part.get("text") if isinstance(part, dict) else part for part in parts)
    texts = [value for value in values if isinstance(value, str)]
    return "".join(texts) if texts else None


def read_count(usage: Any, name: str) -> int:
    """Return a number of tokens; 0 where the server gives no number.

    >>> read_count({"prompt_tokens": 5}, "prompt_tokens"), read_count({"prompt_tokens": "many"}, "prompt_tokens")
    (5, 0)
    """
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < MAX_COUNT else 0


def clean_message(text: Any, limit: int = 200) -> str:
    """Return what a server says as one short line without control characters."""
    characters = (char if char.isprintable() else " " for char in str(text)[: 2 * limit])
    return " ".join("".join(characters).split())[:limit]


def parse_retry_after(header: str | None) -> float:
    """Return how many seconds a busy server asks to wait: a number, or until a date.

    >>> parse_retry_after("2"), parse_retry_after(None), parse_retry_after("soon")
    (2.0, 0.0, 0.0)
    >>> parse_retry_after("Wed, 21 Oct 2015 07:28:00 GMT")
    0.0
    """
    if header is None:
        return 0.0
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - time.time()
        except ValueError:
            return 0.0
    return min(max(seconds, 0.0), LONGEST_PAUSE)
