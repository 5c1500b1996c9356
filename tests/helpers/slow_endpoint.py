"""A server of chat completions that is busy, slow, broken or lying, as a test asks."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REPLY = {
    "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 5, "completion_tokens": 1},
}
PATIENCE = 4.0  # seconds; a busy machine answers within them


class Server(ThreadingHTTPServer):
    """Plays a list of faults to the first questions, then answers; counts what is out at once."""

    daemon_threads = True

    def __init__(self, script):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script, self.lock = list(script), threading.Lock()
        self.asked, self.out, self.most_out = [], 0, 0
        self.bodies = []

    @property
    def word(self):
        return f"http://127.0.0.1:{self.server_port}/v1#tiny"

    def handle_error(self, request, client_address):
        """Say nothing: broken connections are meant."""


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.asked.append((time.monotonic(), body["messages"][0]["content"], self.path))
            self.server.bodies.append(body)
            fault = self.server.script.pop(0) if self.server.script else None
            self.server.out += 1
            self.server.most_out = max(self.server.most_out, self.server.out)
        time.sleep(0.02)
        with self.server.lock:
            self.server.out -= 1
        match fault:
            case None:
                self.send(200, json.dumps(REPLY))
            case "drop":
                self.connection.close()
            case "slow":
                time.sleep(2 * PATIENCE)
                self.send(200, json.dumps(REPLY))
            case "malformed":
                self.send(200, "<html>no JSON</html>")
            case "truncated":
                self.send(200, json.dumps(REPLY)[:20], announced=400)
            case "cut":
                self.send(
                    200,
                    json.dumps({**REPLY, "choices": [{"message": {"content": "well,"}, "finish_reason": "length"}]}),
                )
            case "long":
                self.send(400, json.dumps({"error": {"message": "maximum context length is 8 tokens"}}))
            case (status, headers, body):
                self.send(status, body, headers=headers)
            case (status, headers):
                self.send(status, "busy", headers=headers)

    def send(self, status, text, *, announced=None, headers=()):
        body = text.encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(announced or len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def log_message(self, *_):
        pass


@contextmanager
def serving(*script):
    server = Server(script)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
