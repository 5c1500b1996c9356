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
import http.client
import json
import os
import re
import time
import urllib.error
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lapsus.core.files import stage_file
from lapsus.evaluation.models.endpoint_transport import EndpointError, check_url, is_local, post, read_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")
DEFAULT_KEY = "OPENAI_API_KEY"  # the environment variable where no other is named
BUSY = frozenset({408, 429, 500, 502, 503, 504})  # HTTP status codes that are retried


TOO_LONG = re.compile(
    r"context[ _-](?:length|size|window)|too long|maximum length|max_model_len|too many tokens", re.IGNORECASE
)
LONGEST_PAUSE = 600.0  # seconds that a server may ask to wait


class ContextTooLongError(EndpointError):
    """The question has more tokens than the model reads."""


class UnsupportedRequestError(EndpointError):
    """The endpoint does not take such a question: another try would not help."""


class MalformedResponseError(ValueError):
    """The endpoint's answer is not what was asked for."""


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer, whether it was cut at the token limit, and the token counts the server reports."""

    text: str
    truncated: bool
    prompt_tokens: int
    completion_tokens: int


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
        retries: How often a busy server is asked again, each time after twice the pause.
        pause: Seconds before the first retry.
        timeout: Seconds to wait for an answer.
        workers: How many questions are out at once.
    """

    url: str
    model: str
    cache: str | None = None
    key: str | None = None
    retries: int = 4
    pause: float = 1.0
    timeout: float = 120.0
    workers: int = 4
    key_over_http: bool = False

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
        body = self._build_body(prompt, max_tokens)
        request_key = hashlib.sha256(
            f"{self.url}\n".encode() + body
        ).hexdigest()  # a name may differ in meaning by server
        cache_path = None if self.cache is None else Path(self.cache) / f"{request_key}.json"
        if cache_path is not None and cache_path.exists():
            entry = json.loads(cache_path.read_text(encoding="utf-8"))
        else:
            completion = self._post("chat/completions", body, self._parse_completion)
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

    def complete_uncached(self, prompt: str, max_tokens: int = 256) -> Completion:
        """Return the model's answer with its token counts; the cache is not used."""
        return self._post("chat/completions", self._build_body(prompt, max_tokens), self._parse_completion)

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
        body = json.dumps(request, ensure_ascii=False, sort_keys=True).encode()
        return self._post("completions", body, lambda answer: self._parse_prompt_logprobs(answer, text))

    def _build_body(self, prompt: str, max_tokens: int) -> bytes:
        request = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": 0,
            "max_tokens": max_tokens,
            "seed": 0,
        }
        return json.dumps(request, ensure_ascii=False, sort_keys=True).encode()

    def _post(self, path: str, body: bytes, parse: Callable[[bytes], T]) -> T:
        """Ask until there is a readable answer or the retries are used up."""
        url = f"{self.url.rstrip('/')}/{path}"
        for attempt in range(self.retries + 1):
            last = attempt == self.retries
            pause = self.pause * 2**attempt
            try:
                return parse(self._send(url, body))
            except EndpointError:
                raise
            except urllib.error.HTTPError as error:
                self._check_error(error, url, attempt, last=last)
                pause = max(pause, parse_retry_after(error.headers.get("Retry-After")))
            except http.client.HTTPException as error:  # the connection broke during an answer
                if last:
                    raise EndpointError(
                        f"{url} breaks off its answers ({error!r}); look at the server's log"
                    ) from error
            except MalformedResponseError as error:
                if last:
                    raise EndpointError(str(error)) from error
            except OSError as error:  # no connection, or a timeout
                if last:
                    reason = getattr(error, "reason", error)
                    raise EndpointError(
                        f"no answer from {url} ({reason}); start the server, or check the url"
                    ) from error
            time.sleep(pause)
        raise AssertionError  # the last attempt returns or raises

    def _send(self, url: str, body: bytes) -> bytes:
        headers = {"Content-Type": "application/json"}
        if secret := self._read_key():
            headers["Authorization"] = f"Bearer {secret}"
        return post(url, body, headers, self.timeout)

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

    def _check_error(self, error: urllib.error.HTTPError, url: str, attempt: int, *, last: bool) -> None:
        """Raise if a retry cannot cure the error, or if this was the last attempt."""
        message = self._redact(read_error(error))
        if error.code in {401, 403}:
            if not self.accepts_key and os.environ.get(DEFAULT_KEY):
                raise EndpointError(
                    f"{url} wants a key (status {error.code}), and $OPENAI_API_KEY is not sent there since the address "
                    "is not encrypted; use https, or add --key-over-http"
                ) from error
            raise EndpointError(
                f"{url} refused the key (status {error.code}); set ${self.key or DEFAULT_KEY} to a valid one"
            ) from error
        if error.code in {400, 413, 422} and TOO_LONG.search(message):
            raise ContextTooLongError(
                f"longer than the context of {self.model}; shorten the rows, or take another model"
            ) from error
        if error.code not in BUSY:
            raise UnsupportedRequestError(
                f"{url} answered with status {error.code} ({message[:200]}); check the model's name {self.model!r}"
            ) from error
        if last:
            hint = ", the answers so far are kept" if self.cache is not None else ""
            raise EndpointError(
                f"{url} is still busy (status {error.code}) after {attempt + 1} tries; run again later{hint}"
            ) from error

    def _parse_completion(self, body: bytes) -> Completion:
        try:
            response: Any = json.loads(body)
            choice = response["choices"][0]
            content = choice["message"]["content"]
        except (ValueError, LookupError, TypeError) as error:
            raise MalformedResponseError(
                f"{self.url} sent no chat completion but {body[:80].decode(errors='replace')!r}; "
                "give the base of an OpenAI-compatible API"
            ) from error
        usage = response.get("usage") or {}
        return Completion(
            str(content or ""),
            choice.get("finish_reason") == "length",
            int(usage.get("prompt_tokens") or 0),
            int(usage.get("completion_tokens") or 0),
        )

    def _parse_prompt_logprobs(self, body: bytes, text: str) -> PromptLogprobs:
        try:
            response: Any = json.loads(body)
            choice = response["choices"][0]
            echoed_text, logprobs = str(choice["text"]), choice.get("logprobs")
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise MalformedResponseError(
                f"{self.url} sent no completion but {body[:80].decode(errors='replace')!r}; "
                "give the base of an OpenAI-compatible API"
            ) from error
        if not logprobs or not logprobs.get("token_logprobs"):
            raise UnsupportedRequestError(f"{self.url} leaves out the log-probabilities that it was asked for")
        if not echoed_text.startswith(text):
            raise UnsupportedRequestError(f"{self.url} does not echo what it read")
        n_prompt_tokens = (response.get("usage") or {}).get("prompt_tokens")
        token_logprobs, tokens = tuple(logprobs["token_logprobs"]), tuple(map(str, logprobs.get("tokens") or ()))
        top_logprobs = tuple(max(each.values()) if each else None for each in logprobs.get("top_logprobs") or ())
        if not n_prompt_tokens or not n_prompt_tokens <= len(token_logprobs) == len(tokens) == len(top_logprobs):
            raise UnsupportedRequestError(f"{self.url} does not say which log-probability belongs to which token")
        return PromptLogprobs(tokens, token_logprobs, top_logprobs, int(n_prompt_tokens), echoed_text[len(text) :])


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
