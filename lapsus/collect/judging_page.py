"""The page for judging: one judge's sheet in a browser, served from this machine, every judgement saved as it is made.

The page asks for nothing but itself. What is saved is a file of JSON lines with a line for each judgement, the last
of an item counts; the page goes on where the file ends. A line that a crash cut short is removed from the file.

A request has limits: the bytes of a body, the seconds of a connection, and the connections at once.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import sys
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import BoundedSemaphore, Lock
from time import monotonic
from typing import Any, cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lapsus.collect.judgements import InvalidJudgementError, Judgement, parse_judgement
from lapsus.collect.sheets import read_judgements
from lapsus.io.readers import Row

TEMPLATES = Path(__file__).parent / "templates"
LOOPBACK = "127.0.0.1"
LINE_START = b'{"item": '  # of every line that is saved
MAX_BYTES = 1 << 16  # of one judgement
MAX_UNREAD = 1 << 20  # bytes of a refused body that are read, so that the browser sees the response
MAX_CONNECTIONS = 32  # at once, a thread for each
MAX_SECONDS = 30  # of one connection


@dataclass
class Sheet:
    """One judge's work: the items in this judge's order, and the file that keeps the judgements."""

    items: Sequence[Row]
    judge: str
    out: Path
    judgements: dict[str, Judgement] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock, repr=False)

    @classmethod
    def open(cls, items: Sequence[Row], judge: str, out: Path) -> Sheet:
        """Return the work as it stands: with what the file has of this judge."""
        if out.is_file():
            _mend_last_line(out)
        judgements = read_judgements(out) if out.exists() and out.stat().st_size else []
        other_judges = sorted({each.judge for each in judgements} - {judge})
        if other_judges:
            raise ValueError(f"{out} has the judgements of {other_judges[0]!r}; give each judge a file, with --out")
        order = sorted(items, key=lambda row: hashlib.sha256(f"{judge}/{row['item']}".encode()).digest())
        return cls(order, judge, out, {each.item: each for each in judgements})

    def save(self, row: Mapping[str, Any]) -> Judgement:
        """Write a judgement to the file, and return it; raise where it is none, or of no item of the sheet."""
        new_judgement = parse_judgement({**row, "judge": self.judge})
        if all(new_judgement.item != item["item"] for item in self.items):
            raise InvalidJudgementError(
                f"judges {new_judgement.item!r}, which the sheet does not have", "reload the page"
            )
        with self.lock:
            self.out.parent.mkdir(parents=True, exist_ok=True)
            _append(self.out, f"{json.dumps(asdict(new_judgement), ensure_ascii=False)}\n".encode())
            self.judgements[new_judgement.item] = new_judgement
        return new_judgement

    @property
    def remaining(self) -> int:
        """How many items have no judgement yet."""
        return sum(row["item"] not in self.judgements for row in self.items)


def _append(path: Path, line: bytes) -> None:
    """Append a line to a file and wait until the disk has it; where the disk is full, the file stays as it was."""
    with path.open("ab", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        try:
            while line:
                line = line[file.write(line) :]
            os.fsync(file.fileno())
        except OSError:
            file.truncate(size)
            raise


def _mend_last_line(path: Path) -> None:
    """End the last line of a file, or remove a judgement that a crash or a full disk cut short."""
    content = path.read_bytes()
    last_line = content.rpartition(b"\n")[2]
    if not last_line:
        return
    try:
        json.loads(last_line)
    except (ValueError, RecursionError):
        if last_line.startswith(LINE_START) or LINE_START.startswith(last_line):
            with path.open("r+b") as file:
                file.truncate(len(content) - len(last_line))
    else:
        _append(path, b"\n")


def render_page(sheet: Sheet) -> tuple[str, str]:
    """Return the HTML of a sheet, and the policy under which a browser must show it."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = ((TEMPLATES / name).read_text(encoding="utf-8") for name in ("judging.css", "judging.js"))
    ratings = {
        item: {"similarity": each.similarity, "grammatical": each.grammatical}
        for item, each in sheet.judgements.items()
    }
    data = json.dumps({"items": list(sheet.items), "ratings": ratings}, ensure_ascii=False)
    html = environment.get_template("judging.html.j2").render(
        judge=sheet.judge, style=style, script=script, data=data.replace("<", "\\u003c")
    )
    directives = [f"script-src '{_hash(script)}'", f"style-src '{_hash(style)}'", "connect-src 'self'", "img-src data:"]
    return html, "; ".join(["default-src 'none'", *directives, "base-uri 'none'", "frame-ancestors 'none'"])


def _hash(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


class Handler(BaseHTTPRequestHandler):
    """Answers the page, and takes judgements from it; other sites and other machines are refused.

    A page of another site cannot send JSON here without asking first, which is never granted; one that points its own
    name at this machine has that name as its host.
    """

    def __init__(self, sheet: Sheet, *arguments: Any) -> None:
        self.sheet = sheet
        super().__init__(*arguments)

    def do_GET(self) -> None:
        """Send the page."""
        if not self._is_own_host():
            return self._respond(HTTPStatus.FORBIDDEN, "this page is for this machine only")
        if self.path != "/":
            return self._respond(HTTPStatus.NOT_FOUND, "there is only one page, /")
        html, policy = render_page(self.sheet)
        return self._respond(HTTPStatus.OK, html, "text/html", {"Content-Security-Policy": policy})

    def do_POST(self) -> None:
        """Save a judgement."""
        length = self.headers.get("Content-Length") or ""
        if not self._is_own_host() or self.headers.get_content_type() != "application/json":
            return self._respond(HTTPStatus.FORBIDDEN, "only the page itself may send judgements")
        size = int(length) if re.fullmatch(r"[0-9]{1,9}", length) else 0
        if self.path != "/judgements" or not 0 < size <= MAX_BYTES:
            if size <= MAX_UNREAD:
                self.rfile.read(size)
            return self._respond(HTTPStatus.BAD_REQUEST, "send one judgement to /judgements")
        body = self.rfile.read(size)
        if len(body) == size:  # else the connection ended
            self._save(body)
        return None

    def _save(self, body: bytes) -> None:
        """Save the judgement in a body, and say so."""
        try:
            payload = json.loads(body)
            self.sheet.save(payload if isinstance(payload, dict) else {})
        except InvalidJudgementError as error:
            return self._respond(HTTPStatus.BAD_REQUEST, f"the judgement {error}; {error.cure}")
        except (ValueError, RecursionError):
            return self._respond(HTTPStatus.BAD_REQUEST, "that is no JSON of a judgement")
        except OSError as error:
            return self._respond(HTTPStatus.INTERNAL_SERVER_ERROR, f"{self.sheet.out}: {error.strerror}")
        return self._respond(HTTPStatus.OK, json.dumps({"remaining": self.sheet.remaining}), "application/json")

    def _is_own_host(self) -> bool:
        """Return whether the request names this server as its host."""
        _, port = cast("tuple[str, int]", self.server.server_address)
        return self.headers.get("Host") in {f"{LOOPBACK}:{port}", f"localhost:{port}"}

    def _respond(
        self,
        status: HTTPStatus,
        text: str,
        content_type: str = "text/plain",
        extra_headers: Mapping[str, str] | None = None,
    ) -> None:
        body = text.encode("utf-8", "backslashreplace")
        self.send_response(status)
        headers = {"Content-Type": f"{content_type}; charset=utf-8", "Content-Length": str(len(body))}
        headers |= {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", **(extra_headers or {})}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing: the terminal is for the address and the summary."""


class BoundedServer(ThreadingHTTPServer):
    """A server that has few connections at once, and ends those that last too long, however slowly they send."""

    daemon_threads = True
    request_queue_size = MAX_CONNECTIONS

    def __init__(self, *arguments: Any) -> None:
        self.max_seconds: float = MAX_SECONDS
        self._free = BoundedSemaphore(MAX_CONNECTIONS)
        self._deadlines: dict[socket.socket, float] = {}
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread; close the connection where there are too many."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        self._deadlines[request] = monotonic() + self.max_seconds
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and free the place of the connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._deadlines.pop(request, None)
            self._free.release()

    def service_actions(self) -> None:
        """End the connections that are past their deadline; the server calls this several times a second."""
        now = monotonic()
        for request, deadline in list(self._deadlines.items()):
            if now > deadline:
                with suppress(OSError):
                    request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of connections that end early."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def make_server(sheet: Sheet, port: int = 0) -> BoundedServer:
    """Return a server of the sheet on this machine alone; port 0 takes a free one."""
    try:
        return BoundedServer((LOOPBACK, port), partial(Handler, sheet))
    except OSError as error:
        raise OSError(f"port {port} cannot be used ({error.strerror}); give another --port, or none") from error


def format_address(http_server: ThreadingHTTPServer) -> str:
    """Return where the page is."""
    return f"http://{LOOPBACK}:{http_server.server_address[1]}/"
