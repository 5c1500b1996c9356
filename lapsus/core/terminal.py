"""The terminal: one progress bar at a time, and Ctrl-C while processes start."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def hide_datasets_bars() -> Iterator[None]:
    """Disable the bars of `datasets` (one per split) while a bar of lapsus is shown."""
    from datasets.utils import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    was_quiet = are_progress_bars_disabled()
    disable_progress_bars()
    try:
        yield
    finally:
        if not was_quiet:
            enable_progress_bars()


@contextmanager
def hide_transformers_bars() -> Iterator[None]:
    """Disable the bars of `transformers`, such as the one of loading weights."""
    from transformers.utils import logging

    was_shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_shown:
            logging.enable_progress_bar()


@contextmanager
def defer_interrupts() -> Iterator[None]:
    """Delay Ctrl-C until the block ends, for processes that start in the block: half started they print tracebacks.

    Those processes inherit that SIGINT is blocked; it is delivered to this process after the block.
    """
    if not hasattr(signal, "pthread_sigmask") or current_thread() is not main_thread():
        yield
        return
    pending_signals: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: pending_signals.append(number))
    old_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # children inherit the blocked signals
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old_mask)
        signal.signal(signal.SIGINT, handler)
        if pending_signals:
            signal.raise_signal(signal.SIGINT)
