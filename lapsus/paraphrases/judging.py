"""The page for judging: one judge's sheet in a browser, served from this machine, every judgement saved as it is made.

The page asks for nothing but itself. What is saved is a file of JSON lines with a line for each judgement, the last
of an item counts; the page goes on where the file ends.
"""

from __future__ import annotations

import hashlib
import json
import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any, cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lapsus.kernel.rows import Row
from lapsus.paraphrases.judgements import Judgement, NotAJudgementError, judgement
from lapsus.paraphrases.sheets import read_judgements

TEMPLATES = Path(__file__).parent / "templates"
LOOPBACK = "127.0.0.1"
MOST_BYTES = 1 << 16  # of one judgement


@dataclass
class Sheet:
    """One judge's work: the items in this judge's order, and the file that keeps what was said."""

    items: Sequence[Row]
    judge: str
    out: Path
    said: dict[str, Judgement] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock, repr=False)

    @classmethod
    def open(cls, items: Sequence[Row], judge: str, out: Path) -> Sheet:
        """Return the work as it stands: with what the file has of this judge."""
        kept = read_judgements(out) if out.exists() and out.stat().st_size else []
        others = sorted({each.judge for each in kept} - {judge})
        if others:
            raise ValueError(f"{out} has the judgements of {others[0]!r}; give each judge a file, with --out")
        order = sorted(items, key=lambda row: hashlib.sha256(f"{judge}/{row['item']}".encode()).digest())
        return cls(order, judge, out, {each.item: each for each in kept})

    def save(self, row: Mapping[str, Any]) -> Judgement:
        """Write a judgement to the file, and return it; raise where it is none, or of no item of the sheet."""
        made = judgement({**row, "judge": self.judge})
        if all(made.item != item["item"] for item in self.items):
            raise NotAJudgementError(f"judges {made.item!r}, which the sheet does not have", "reload the page")
        with self.lock:
            self.out.parent.mkdir(parents=True, exist_ok=True)
            with self.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(made), ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
            self.said[made.item] = made
        return made

    @property
    def left(self) -> int:
        """How many items have no judgement yet."""
        return sum(row["item"] not in self.said for row in self.items)


def page(sheet: Sheet) -> tuple[str, str]:
    """Return the HTML of a sheet, and the policy under which a browser must show it."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = ((TEMPLATES / name).read_text(encoding="utf-8") for name in ("judging.css", "judging.js"))
    said = {item: {"similarity": each.similarity, "grammatical": each.grammatical} for item, each in sheet.said.items()}
    data = json.dumps({"items": list(sheet.items), "said": said}, ensure_ascii=False)
    html = environment.get_template("judging.html.j2").render(
        judge=sheet.judge, style=style, script=script, data=data.replace("<", "\\u003c")
    )
    allowed = [f"script-src '{_hash(script)}'", f"style-src '{_hash(style)}'", "connect-src 'self'", "img-src data:"]
    return html, "; ".join(["default-src 'none'", *allowed, "base-uri 'none'", "frame-ancestors 'none'"])


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
        if not self._own():
            return self._say(HTTPStatus.FORBIDDEN, "this page is for this machine only")
        if self.path != "/":
            return self._say(HTTPStatus.NOT_FOUND, "there is only one page, /")
        html, policy = page(self.sheet)
        return self._say(HTTPStatus.OK, html, "text/html", {"Content-Security-Policy": policy})

    def do_POST(self) -> None:
        """Save a judgement."""
        length = int(self.headers.get("Content-Length") or 0)
        if not self._own() or self.headers.get_content_type() != "application/json":
            return self._say(HTTPStatus.FORBIDDEN, "only the page itself may send judgements")
        if self.path != "/judgements" or not 0 < length <= MOST_BYTES:
            return self._say(HTTPStatus.BAD_REQUEST, "send one judgement to /judgements")
        try:
            told = json.loads(self.rfile.read(length))
            self.sheet.save(told if isinstance(told, dict) else {})
        except NotAJudgementError as error:
            return self._say(HTTPStatus.BAD_REQUEST, f"the judgement {error}; {error.cure}")
        except ValueError:
            return self._say(HTTPStatus.BAD_REQUEST, "that is no JSON")
        except OSError as error:
            return self._say(HTTPStatus.INTERNAL_SERVER_ERROR, f"{self.sheet.out}: {error.strerror}")
        return self._say(HTTPStatus.OK, json.dumps({"left": self.sheet.left}), "application/json")

    def _own(self) -> bool:
        """Return whether the request names this server as its host."""
        _, port = cast("tuple[str, int]", self.server.server_address)
        return self.headers.get("Host") in {f"{LOOPBACK}:{port}", f"localhost:{port}"}

    def _say(
        self, status: HTTPStatus, text: str, kind: str = "text/plain", more: Mapping[str, str] | None = None
    ) -> None:
        body = text.encode()
        self.send_response(status)
        headers = {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(body))}
        headers |= {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", **(more or {})}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing: the terminal is for the address and the summary."""


def server(sheet: Sheet, port: int = 0) -> ThreadingHTTPServer:
    """Return a server of the sheet on this machine alone; port 0 takes a free one."""
    try:
        made = ThreadingHTTPServer((LOOPBACK, port), partial(Handler, sheet))
    except OSError as error:
        raise OSError(f"port {port} cannot be used ({error.strerror}); give another --port, or none") from error
    made.daemon_threads = True
    return made


def address(running: ThreadingHTTPServer) -> str:
    """Return where the page is."""
    return f"http://{LOOPBACK}:{running.server_address[1]}/"
