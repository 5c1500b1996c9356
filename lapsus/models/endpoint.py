"""Ask an instruction model through an OpenAI-compatible endpoint: greedy, cached on disk, resumable.

Any server that speaks `POST <url>/chat/completions` will do: vLLM, llama.cpp, Ollama, TGI, a hosted one. Every answer
is kept in the cache folder under the sha256 of its address and request, so that a run that stopped goes on where it
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
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lapsus.kernel.atomic import staged_file

if TYPE_CHECKING:
    from collections.abc import Sequence

BUSY = frozenset({408, 429, 500, 502, 503, 504})  # answers after which asking again may help


class EndpointError(RuntimeError):
    """The endpoint gave no usable answer."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An instruction model behind an address.

    Args:
        url: The base of the API, such as `http://localhost:8000/v1`.
        model: The model's name, as the server knows it.
        cache: The folder that keeps the answers; None asks anew each time.
        key: The environment variable that holds the API key, where one is needed.
        retries: How often a busy server is asked again, each time after twice the pause.
        pause: Seconds before the first retry.
        timeout: Seconds to wait for an answer.
        workers: How many questions are out at once.
    """

    url: str
    model: str
    cache: str | None = None
    key: str = "OPENAI_API_KEY"
    retries: int = 4
    pause: float = 1.0
    timeout: float = 120.0
    workers: int = 4

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise ValueError(
                f"{self.url!r} is no web address; give the endpoint's base, such as http://localhost:8000/v1"
            )

    def complete(self, prompt: str, max_tokens: int = 256) -> str:
        """Return the model's answer to `prompt`, the most probable one."""
        request = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": 0,
            "max_tokens": max_tokens,
            "seed": 0,
        }
        body = json.dumps(request, ensure_ascii=False, sort_keys=True).encode()
        name = hashlib.sha256(f"{self.url}\n".encode() + body).hexdigest()  # one name may be two models at two servers
        kept = None if self.cache is None else Path(self.cache) / f"{name}.json"
        if kept is not None and kept.exists():
            return str(json.loads(kept.read_text(encoding="utf-8"))["answer"])
        answer = self._answer(self._ask(body))
        if kept is not None:
            with staged_file(kept) as file:  # a kept answer is whole or not there
                file.write(json.dumps({"request": request, "answer": answer}, ensure_ascii=False).encode())
        return answer

    def complete_all(self, prompts: Sequence[str], max_tokens: int = 256) -> list[str]:
        """Return the answers to `prompts`, in their order."""
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(lambda prompt: self.complete(prompt, max_tokens), prompts))

    def _ask(self, body: bytes) -> bytes:
        url = f"{self.url.rstrip('/')}/chat/completions"
        headers = {"Content-Type": "application/json"}
        if secret := os.environ.get(self.key):
            headers["Authorization"] = f"Bearer {secret}"
        request = urllib.request.Request(url, body, headers)  # noqa: S310 - the scheme is checked above
        for attempt in range(self.retries + 1):
            try:
                with urllib.request.urlopen(request, timeout=self.timeout) as response:  # noqa: S310 - likewise
                    return bytes(response.read())
            except urllib.error.HTTPError as error:
                said = error.read()[:200].decode(errors="replace").strip()
                if error.code in {401, 403}:
                    raise EndpointError(
                        f"{url} refused the key (status {error.code}); set ${self.key} to a valid one"
                    ) from error
                if error.code not in BUSY or attempt == self.retries:
                    raise EndpointError(
                        f"{url} answered with status {error.code} ({said}); check the model's name {self.model!r}"
                        if error.code not in BUSY
                        else f"{url} is still busy (status {error.code}) after {attempt + 1} tries; run again later"
                        + (", the answers so far are kept" if self.cache is not None else "")
                    ) from error
            except OSError as error:  # no connection, no answer in time
                if attempt == self.retries:
                    reason = getattr(error, "reason", error)
                    raise EndpointError(
                        f"no answer from {url} ({reason}); start the server, or check the url"
                    ) from error
            time.sleep(self.pause * 2**attempt)
        raise AssertionError  # the last attempt returns or raises

    def _answer(self, body: bytes) -> str:
        try:
            content: Any = json.loads(body)["choices"][0]["message"]["content"]
        except (ValueError, LookupError, TypeError) as error:
            raise EndpointError(
                f"{self.url} sent no chat completion but {body[:80].decode(errors='replace')!r}; "
                "give the base of an OpenAI-compatible API"
            ) from error
        return str(content or "")
