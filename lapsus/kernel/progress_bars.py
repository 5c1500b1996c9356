"""One progress bar at a time: that of lapsus, or that of `datasets` or `transformers`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def quiet_datasets() -> Iterator[None]:
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
def quiet_transformers() -> Iterator[None]:
    """Disable the bars of `transformers`, such as the one of loading weights."""
    from transformers.utils import logging

    was_shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_shown:
            logging.enable_progress_bar()
