"""Send requests to a model's server, through urllib3: no redirects, a size limit, one deadline for the whole reply.

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
import urllib.request
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import urllib3
from urllib3 import exceptions
from urllib3.connection import HTTPConnection, HTTPSConnection

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_REPLY_BYTES = 16_000_000  # of a reply that is read; a chat completion has a few thousand
MAX_ERROR_BYTES = 64_000  # of the body of an error, of which a message shows the first few hundred
CHUNK = 1 << 16
MAX_IDLE = 256  # connections that are kept for the next request


class EndpointError(ConnectionError):
    """The endpoint gave no usable answer."""


class OversizedReplyError(EndpointError):
    """The reply is longer than `MAX_REPLY_BYTES`."""


class UnreachableError(ConnectionError):
    """There is no such host, or it takes no connection."""


class BrokenReplyError(ConnectionError):
    """The connection ended before the reply did, or the reply is no HTTP."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server sent; of the body of an error only the beginning."""

    status: int
    headers: Mapping[str, str]
    body: bytes


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


class _DeadlineMixin:
    """A connection whose timeout is a deadline for the whole reply."""

    timeout: Any
    response_class: Any

    def getresponse(self) -> Any:
        deadline = time.monotonic() + float(self.timeout)
        self.response_class = partial(_LimitedResponse, deadline=deadline)
        return super().getresponse()  # type: ignore[misc]


class _HTTPConnection(_DeadlineMixin, HTTPConnection):
    pass


class _HTTPSConnection(_DeadlineMixin, HTTPSConnection):
    pass


class _HTTPPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _HTTPConnection


class _HTTPSPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _HTTPSConnection


def _open_manager(url: str) -> urllib3.PoolManager:
    """Return the connections to an address, through the proxy that the environment names for it."""
    parts = urlsplit(url)
    context = ssl.create_default_context() if parts.scheme == "https" else None  # reads $SSL_CERT_FILE
    proxy = urllib.request.getproxies().get(parts.scheme)
    manager: urllib3.PoolManager
    if proxy and not urllib.request.proxy_bypass(parts.netloc):
        proxy = proxy if "://" in proxy else f"http://{proxy}"
        login = urlsplit(proxy).netloc.rpartition("@")[0]
        headers = urllib3.make_headers(proxy_basic_auth=login) if login else None
        manager = urllib3.ProxyManager(proxy, proxy_headers=headers, maxsize=MAX_IDLE, ssl_context=context)
    else:
        manager = urllib3.PoolManager(maxsize=MAX_IDLE, ssl_context=context)
    manager.pool_classes_by_scheme = {"http": _HTTPPool, "https": _HTTPSPool}
    return manager


class ConnectionPool:
    """Connections to one server that are used again; threads may share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._manager: urllib3.PoolManager | None = None

    def post(self, url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> Reply:
        """Return the reply, all of which must arrive within `timeout` seconds.

        Raises:
            EndpointError: The server redirects, its certificate is none, or its reply is too long.
            OSError: There is no connection, it breaks, or no time is left.
        """
        with self._lock:
            manager = self._manager = self._manager or _open_manager(url)
        try:
            response = manager.request(
                "POST",
                url,
                body=body,
                headers=headers,
                timeout=urllib3.Timeout(total=timeout),
                retries=False,
                redirect=False,
                preload_content=False,
                decode_content=False,
            )
            try:
                return _read_reply(url, response)
            finally:
                response.close()  # no effect on a connection whose reply was read whole
                response.release_conn()
        except exceptions.HTTPError as error:
            raise _translate_error(url, error) from error


def _read_reply(url: str, response: urllib3.BaseHTTPResponse) -> Reply:
    """Read a reply up to its limit; refuse a redirect."""
    if 300 <= response.status < 400:
        target = response.headers.get("Location") or response.headers.get("URI") or ""
        host = find_host(target) if "//" in target else find_host(url)
        raise EndpointError(
            f"{find_host(url)} redirects to {host} (status {response.status}), where neither question nor key is sent; "
            "give the final address of the model"
        )
    is_error = response.status >= 400
    limit = MAX_ERROR_BYTES if is_error else MAX_REPLY_BYTES
    chunks: list[bytes] = []
    length = 0
    try:
        for chunk in response.stream(CHUNK, decode_content=False):
            chunks.append(chunk)
            length += len(chunk)
            if length > limit:
                break
    except exceptions.HTTPError:
        if not is_error:
            raise
    if length > limit and not is_error:
        raise OversizedReplyError(f"the reply of {url} is longer than {MAX_REPLY_BYTES // 1_000_000} MB")
    return Reply(response.status, response.headers, b"".join(chunks))


def _translate_error(url: str, error: exceptions.HTTPError) -> OSError:
    """Return an error of urllib3 as one of the system."""
    if isinstance(error, exceptions.ProxyError):
        return UnreachableError(f"the proxy for {find_host(url)}: {error.original_error}")
    if isinstance(error, exceptions.NewConnectionError):  # NameResolutionError is one, too
        return UnreachableError(str(error).partition(": ")[2] or str(error))
    if isinstance(error, exceptions.TimeoutError):
        return TimeoutError("timed out")
    if isinstance(error, exceptions.SSLError) and "CERTIFICATE_VERIFY_FAILED" in str(error):
        return EndpointError(f"no answer from {url} ({error}); check its certificate")
    if isinstance(error, exceptions.ProtocolError):
        return BrokenReplyError(str(error))
    return OSError(str(error))
