"""Requests a second of `lapsus run` to a server, beside a bare asyncio client in the same run.

    python benchmarks/endpoint.py [--quick]

A server in a process of its own answers each request after 50 ms; both ask 64 at once, in turns. The bare client has a
connection for each worker and parses the replies; lapsus also builds the prompts, caches, scores and writes.
`benchmarks/running.py` writes the table into docs/benchmarks-running.md.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from lapsus.evaluation.models import open_model
from lapsus.evaluation.runner import Evaluation
from lapsus.evaluation.tasks import make_task
from lapsus.evaluation.tracks import TrackSet

QUICK = "--quick" in sys.argv
REQUESTS = 200 if QUICK else 2000
WORKERS = 64
TURNS = 1 if QUICK else 5
AIM = 0.8
TASK = make_task(["text"], "label", labels=["yes", "no"])
ROWS = [{"id": str(n), "text": f"row number {n} of words", "label": "yes"} for n in range(REQUESTS)]
SERVER = """
import asyncio
BODY = b'{"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9}}'
HEAD = b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(BODY)

async def answer(reader, writer):
    try:
        while True:
            head = (await reader.readuntil(b"\\r\\n\\r\\n")).lower()
            await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\\r\\n")[0]))
            await asyncio.sleep(0.05)
            writer.write(HEAD + BODY)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()

async def serve():
    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(serve())
"""


@contextmanager
def serving() -> Iterator[int]:
    """Run the server, and return its port."""
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield int(process.stdout.readline() if process.stdout else "0")
        finally:
            process.kill()


async def ask_bare(port: int) -> None:
    """Send all requests, a connection for each worker."""
    prompts = (TASK.render_prompt(row) for row in ROWS)

    async def work() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for prompt in prompts:
            body = json.dumps({"model": "m", "messages": [{"role": "user", "content": prompt}]}).encode()
            head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            reply = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(reply.split(b"content-length:")[1].split(b"\r\n")[0])
            if json.loads(await reader.readexactly(length))["choices"][0]["message"]["content"] != "yes":
                raise ValueError("the server sent another answer; look at its code")
        writer.close()

    await asyncio.gather(*(work() for _ in range(WORKERS)))


def ask_lapsus(port: int) -> None:
    """Run an evaluation."""
    model = open_model(f"http://127.0.0.1:{port}/v1#m", {"batch_size": WORKERS})
    with tempfile.TemporaryDirectory() as folder:
        outcome = Evaluation(TrackSet.from_rows("mine", TASK, ROWS), model, Path(folder)).execute()
    if outcome.requested != REQUESTS or outcome.failed:
        raise ValueError(f"{outcome.requested} requests sent, {outcome.failed} failed; run again")


def seconds(work: Callable[[], None]) -> float:
    """Return the time of the work."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measured() -> list[str]:
    """Return the cells of a line: requests, both rates, their ratio, the aim."""
    with serving() as port:
        ask_lapsus(port)
        turns = [
            (seconds(lambda: ask_lapsus(port)), seconds(lambda: asyncio.run(ask_bare(port)))) for _ in range(TURNS)
        ]
    ours, bare = (REQUESTS / median(times) for times in zip(*turns, strict=True))
    return [
        f"{REQUESTS:,} of 50 ms, {WORKERS} at once",
        f"{ours:,.0f}",
        f"{bare:,.0f}",
        f"{ours / bare:.2f}",
        f"{AIM:g}",
    ]


def table() -> str:
    """Return the table."""
    head = ["requests", "lapsus run, a second", "bare asyncio client", "ratio", "aim"]
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), measured()))


if __name__ == "__main__":
    print(table())
