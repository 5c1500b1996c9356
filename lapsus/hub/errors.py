"""What went wrong with the Hub, as one sentence: the cause, and the cure."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from huggingface_hub import HfApi

RETRY_HINT = "repeat the upload, it continues where it stopped"


class UploadError(OSError):
    """An upload failed: one sentence with the cause, what the Hub shows now, and the cure."""


@contextmanager
def set_client_timeout(seconds: float) -> Iterator[None]:
    """Set the timeout of huggingface_hub's client, which has none by default.

    When it cannot connect at all, huggingface_hub makes a new client, which does not have this timeout.
    """
    from huggingface_hub import get_session

    client = get_session()
    previous_timeout = client.timeout
    client.timeout = seconds
    try:
        yield
    finally:
        client.timeout = previous_timeout


def diagnose_error(error: Exception, api: HfApi, repo_id: str, timeout: float) -> tuple[str, str]:
    """Return the cause of a failed upload, and the cure."""
    chain = tuple(_iter_causes(error))
    for step in chain:
        if (response := getattr(step, "response", None)) is not None:
            message = " ".join((getattr(step, "server_message", None) or "without a reason").split())
            return _explain_http_error(response.status_code, message, api, repo_id)
    kinds = {parent.__name__ for step in chain for parent in type(step).__mro__}  # by name: httpx is not imported
    known = {
        "OfflineModeIsEnabled": ("HF_HUB_OFFLINE forbids every connection", "unset it and repeat the upload"),
        "HFValidationError": (f"{repo_id!r} is no name of a repo", "name it like organisation/dataset"),
        "ConnectError": (f"{api.endpoint} cannot be reached", f"check the network and HF_ENDPOINT, then {RETRY_HINT}"),
        "TimeoutException": (f"the Hub was silent for {timeout:g} s", RETRY_HINT),
        "TransportError": ("the connection to the Hub broke off", RETRY_HINT),
    }
    unknown = " ".join(str(error).split()) or type(error).__name__
    return next((known[kind] for kind in known if kind in kinds), (unknown, RETRY_HINT))


def _explain_http_error(status: int, message: str, api: HfApi, repo_id: str) -> tuple[str, str]:
    """Return the meaning of an HTTP error of the Hub, and the cure."""
    tokens = f"{api.endpoint}/settings/tokens"
    if status == 401:
        cause = "the Hub does not accept the token" if api.token or _has_token() else "no token was given"
        return cause, f"make one that may write at {tokens}, set HF_TOKEN to it, and repeat the upload"
    if status == 403:
        owner = repo_id.partition("/")[0]
        return f"the token may not write to {owner!r}", f"take one that may, from {tokens}, and repeat the upload"
    if status in {409, 412}:
        return f"somebody else changed {repo_id} meanwhile", "look at that change, then repeat the upload"
    return f"the Hub answered {status} ({message})", RETRY_HINT


def _has_token() -> bool:
    from huggingface_hub import get_token

    return get_token() is not None


def _iter_causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its chain of causes; a failed worker thread wraps the original error."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
