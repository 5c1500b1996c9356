"""A server of chat completions that answers by keywords: it stands for a product, without a model behind it.

    python examples/products/server.py

It listens on http://127.0.0.1:8799/v1, or on the port that is given. A request with `tools` gets a call of one, a
request with a passage a sentence of it, and any other the queue of the support desk. It reads no passwords, and cuts
long answers.
"""

from __future__ import annotations

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = 8799
QUEUES = {
    "delivery": {"parcel", "courier", "delivery"},
    "refund": {"refund", "money"},
    "account": {"account", "login"},
    "repair": {"repair", "brake", "wheel"},
}
TOPICS = {"set_alarm": "alarm", "get_weather": "weather", "set_lamp": "lamp", "play_music": "music"}
MAX_WORDS = 14  # of an answer
MIN_LETTERS = 4  # of a word that tells what a question is about


def split_words(text):
    """Return the words of a text in lower case."""
    return re.findall(r"\w+", text.lower())


def choose_queue(messages):
    """Return the queue whose keywords the user says."""
    words = set(split_words(" ".join(message["content"] for message in messages if message["role"] == "user")))
    if "password" in words:
        return {"content": None, "refusal": "Never tell anybody your password."}
    queues = [queue for queue, keywords in QUEUES.items() if words & keywords]
    return {"content": f"The queue is {queues[0]}." if queues else "Could you tell me more?"}


def call_tool(request, tools):
    """Return a call of the function whose topic the request names, with the values that stand in it."""
    words = split_words(request)
    functions = {tool["function"]["name"]: tool["function"]["parameters"] for tool in tools}
    name = next((name for name in functions if TOPICS.get(name) in words), None)
    if name is None:
        return {"content": "What shall I do?"}
    numbers = (int(word) for word in words if word.isdigit())
    arguments = {
        key: next(numbers, None) if kind["type"] == "integer" else next((w for w in kind["enum"] if w in words), None)
        for key, kind in functions[name]["properties"].items()
    }
    arguments = {key: value for key, value in arguments.items() if value is not None}
    call = {"name": name, "arguments": json.dumps(arguments)}
    return {"content": None, "tool_calls": [{"id": "call-1", "type": "function", "function": call}]}


def quote_sentence(prompt):
    """Return the sentence of the passage that shares most long words with the question."""
    passage, _, question = prompt.partition("Question:")
    topics = {word for word in split_words(question.partition("Answer in")[0]) if len(word) >= MIN_LETTERS}
    sentences = re.findall(r"[^.]+", passage.removeprefix("Passage:"))
    overlaps = [len(topics & set(split_words(sentence))) for sentence in sentences]
    if not max(overlaps):
        return {"content": "The text does not say."}
    return {"content": f"The text says: {sentences[overlaps.index(max(overlaps))].strip()}."}


def answer(body):
    """Return the choice that answers a request."""
    messages = body["messages"]
    last = messages[-1]["content"]
    if body.get("tools"):
        message = call_tool(last, body["tools"])
    elif last.startswith("Passage:"):
        message = quote_sentence(last)
    else:
        message = choose_queue(messages)
    words = (message["content"] or "").split()
    if len(words) > MAX_WORDS:
        return {"message": {"content": " ".join(words[:MAX_WORDS])}, "finish_reason": "length"}
    return {"message": message, "finish_reason": "stop"}


class Handler(BaseHTTPRequestHandler):
    """Answers POST requests."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = json.dumps({"choices": [answer(body)], "usage": {}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        """Say nothing."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if sys.argv[1:] else PORT), Handler).serve_forever()
