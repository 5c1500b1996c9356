"""Ctrl-C held back while processes or clusters start, which half started would leave tracebacks or crash."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def later_interrupts() -> Iterator[None]:
    """Block SIGINT, so that processes started in the block inherit that; deliver it here afterwards."""
    if not hasattr(signal, "pthread_sigmask") or current_thread() is not main_thread():  # Windows; no handler of ours
        yield
        return
    heard: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # children inherit the blocked signals
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        signal.signal(signal.SIGINT, handler)
        if heard:
            signal.raise_signal(signal.SIGINT)
