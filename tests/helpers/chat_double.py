"""A server that plays the chat endpoints of several providers: what they refuse, and where their thinking goes.

`url(PROVIDER)` is a model behind it. The wording of each refusal is the provider's own. Every answer is "yes".
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def error(message, **fields):
    return json.dumps({"error": {"message": message, **fields}})


def unsupported(name):
    return 400, error(f"Unsupported parameter: '{name}' is not supported with this model.", param=name)


def unknown_name(name):
    message = f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
    return 400, json.dumps([{"error": {"code": 400, "message": message}}])


@dataclass(frozen=True)
class Provider:
    """What a provider refuses, by field; the tokens of its thinking and where these stand; the cap that it reads."""

    refuses: dict
    thinking: int = 0
    shown_in: str | None = None
    caps: tuple = ("max_completion_tokens", "max_tokens")
    always: tuple | None = None  # the same reply to everything


TEMPERATURE = "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) is supported."
DEPRECATED = "`temperature` is deprecated for this model."
REFUSAL = {"choices": [{"message": {"content": None, "refusal": "I can't help."}, "finish_reason": "stop"}]}
PROVIDERS = {
    "plain": Provider({}),
    "openai-reasoning": Provider(
        {
            "max_tokens": unsupported("max_tokens"),
            "temperature": (400, error(TEMPERATURE, param="temperature", code="unsupported_value")),
        },
        300,
    ),
    "anthropic": Provider({"temperature": (400, error(DEPRECATED, type="invalid_request_error", param=None))}),
    "opaque": Provider({}, 100, "nowhere"),  # neither text nor number of its thinking
    "gemini": Provider({"seed": unknown_name("seed")}, 112),
    "mistral": Provider(
        {"seed": (422, json.dumps({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}))}
    ),
    "vllm": Provider({}, 80, "reasoning"),
    "sglang": Provider({}, 80, "reasoning_content"),
    "llamacpp": Provider({}, 80, "think"),
    "llamacpp-strict": Provider({"seed": (500, error("Unsupported param: seed", code=500, type="server_error"))}),
    "ollama": Provider({}, 0, caps=("max_tokens",)),
    "tgi": Provider({"response_format": (422, json.dumps({"error": "Grammar and tools are mutually exclusive"}))}),
    "tools-none": Provider({"max_tokens": unsupported("max_tokens")}),
    "refuser": Provider({}, always=(200, json.dumps(REFUSAL))),
    "quota": Provider({}, always=(429, error("You exceeded your current quota.", code="insufficient_quota"))),
    "flag": Provider({}, always=(400, error('"auto" tool choice requires --enable-auto-tool-choice to be set'))),
    "inside": Provider({}, always=(200, error("Provider returned error", code=502))),
    "endless": Provider({}, 10_000),
}


def play(name, request):
    """Return the status and the body that a provider answers with."""
    provider = PROVIDERS[name]
    if provider.always:
        return provider.always
    for field, refusal in provider.refuses.items():
        if field in request:
            return refusal
    if name == "tools-none" and request.get("tools") and request.get("reasoning_effort") != "none":
        return 400, error("Function tools with reasoning_effort are not supported.", param="reasoning_effort")
    cap = next((request[field] for field in provider.caps if field in request), 10**6)
    text = "".join(f"{word} " for word in ["yes"] * 500) if name == "ollama" else "yes"
    tokens = min(provider.thinking + len(text.split()), cap)
    is_cut = cap < provider.thinking + len(text.split())
    thought = "hm " * min(provider.thinking, cap)
    content = " ".join(text.split()[: max(0, cap - provider.thinking)])
    message = {"content": content or None}
    if provider.shown_in == "think":
        message["content"] = f"<think>{thought}{'' if is_cut else '</think>'}{content}"
    elif provider.shown_in not in {None, "nowhere"}:
        message[provider.shown_in] = thought
    usage = {"prompt_tokens": 5, "completion_tokens": tokens}
    if provider.thinking and provider.shown_in is None:
        usage["completion_tokens_details"] = {"reasoning_tokens": min(provider.thinking, cap)}
    return 200, json.dumps(
        {"choices": [{"message": message, "finish_reason": "length" if is_cut else "stop"}], "usage": usage}
    )


class ChatHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.requests.append(request)
        status, text = play(self.path.split("/")[1], request)
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class ChatServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), ChatHandler)
        self.lock, self.requests = threading.Lock(), []

    def url(self, provider):
        return f"http://127.0.0.1:{self.server_port}/{provider}/v1#double"


@contextmanager
def serve_chat():
    server = ChatServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
