"""Send one request to a model's server: no redirects, a size limit, one deadline for the whole reply.

>>> check_url("http://ann:secret@localhost:8000/v1")
Traceback (most recent call last):
...
ValueError: the address at localhost:8000 holds a user or password; leave it out, and give a key with --key-env NAME
>>> is_local("http://127.0.0.1:8000/v1"), is_local("http://example.org/v1")
(True, False)
"""

from __future__ import annotations

import http.client
import io
import ipaddress
import socket
import ssl
import time
import urllib.error
import urllib.request
from functools import cache, partial
from typing import Any
from urllib.parse import urlsplit

MAX_REPLY_BYTES = 16_000_000  # of a reply that is read; a chat completion has a few thousand
MAX_ERROR_BYTES = 64_000  # of the body of an error, of which a message shows the first few hundred
CHUNK = 1 << 16


class EndpointError(ConnectionError):
    """The endpoint gave no usable answer."""


class OversizedReplyError(EndpointError):
    """The reply is longer than `MAX_REPLY_BYTES`."""


def find_host(url: str) -> str:
    """Return the host and port of an address, without a user or password."""
    host = urlsplit(url).netloc.rpartition("@")[2]
    return "".join(char for char in host if char.isprintable())[:200] or "no host"


def is_local(url: str) -> bool:
    """Return whether an address is of this machine."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_url(url: str) -> None:
    """Refuse an address that is none of the web, or that may hold a key; the message does not repeat it."""
    cure = "leave it out, and give a key with --key-env NAME"
    parts = urlsplit(url)
    if "@" in parts.netloc:
        raise ValueError(f"the address at {find_host(url)} holds a user or password; {cure}")
    if "?" in url:
        raise ValueError(f"the address at {find_host(url)} holds a query, which may be a key; {cure}")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError(f"{url!r} is no web address; give the endpoint's base, such as http://localhost:8000/v1")


class _DeadlineReader(io.RawIOBase):
    """The bytes of a socket until a deadline."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._socket, self._deadline = connection, deadline
        self._bytes: Any = connection.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError("timed out")
        self._socket.settimeout(remaining)
        return self._bytes.readinto(buffer)  # type: ignore[no-any-return]

    def close(self) -> None:
        self._bytes.close()
        super().close()


class _LimitedResponse(http.client.HTTPResponse):
    """A response that must be read before a deadline."""

    def __init__(self, connection: socket.socket, *arguments: Any, deadline: float, **options: Any) -> None:
        super().__init__(connection, *arguments, **options)
        self.fp.close()
        self.fp = io.BufferedReader(_DeadlineReader(connection, deadline), CHUNK)


@cache
def _limit_connection(base: type[http.client.HTTPConnection]) -> Any:
    """Return a kind of connection whose timeout is a deadline for the whole reply."""

    class LimitedConnection(base):  # type: ignore[misc, valid-type]
        def connect(self) -> None:
            self.response_class = partial(_LimitedResponse, deadline=time.monotonic() + self.timeout)
            super().connect()

    return LimitedConnection


class _HTTPHandler(urllib.request.HTTPHandler):
    def http_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_limit_connection(http.client.HTTPConnection), request)


class _HTTPSHandler(urllib.request.HTTPSHandler):
    def https_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_limit_connection(http.client.HTTPSConnection), request, context=_make_ssl_context())


class _RedirectRefuser(urllib.request.HTTPRedirectHandler):
    def http_error_302(self, req: Any, fp: Any, code: int, msg: str, headers: Any) -> Any:
        fp.close()
        target = headers.get("Location") or headers.get("URI") or ""
        host = find_host(target) if "//" in target else find_host(req.full_url)
        raise EndpointError(
            f"{find_host(req.full_url)} redirects to {host} (status {code}), where neither question nor key is sent; "
            "give the final address of the model"
        )

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


@cache
def _make_ssl_context() -> ssl.SSLContext:
    return ssl.create_default_context()


def post(url: str, body: bytes, headers: dict[str, str], timeout: float) -> bytes:
    """Return the body of the reply, all of which must arrive within `timeout` seconds.

    Raises:
        EndpointError: The server redirects, or its reply is too long.
        urllib.error.HTTPError: The status is no success.
        OSError: There is no connection, or no time is left.
    """
    request = urllib.request.Request(url, body, headers)  # noqa: S310 - `check_url` has checked the scheme
    opener = urllib.request.build_opener(_HTTPHandler, _HTTPSHandler, _RedirectRefuser)
    with opener.open(request, timeout=timeout) as response:
        chunks: list[bytes] = []
        length = 0
        while chunk := response.read(CHUNK):
            chunks.append(chunk)
            length += len(chunk)
            if length > MAX_REPLY_BYTES:
                raise OversizedReplyError(f"the reply of {url} is longer than {MAX_REPLY_BYTES // 1_000_000} MB")
        declared = response.headers.get("Content-Length", "")
        if declared.isdigit() and length < int(declared):
            raise http.client.IncompleteRead(b"", int(declared) - length)
        return b"".join(chunks)


def read_error(error: urllib.error.HTTPError) -> str:
    """Return the beginning of what a server says about an error."""
    try:
        with error:
            return error.read(MAX_ERROR_BYTES)[:400].decode(errors="replace").strip()
    except (OSError, http.client.HTTPException):
        return ""
