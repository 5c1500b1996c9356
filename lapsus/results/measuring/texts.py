"""Whether a model saw on a noisy track the clean text of an example."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from lapsus.results.measuring.runs import Mask, Run


def same_texts(run: Run, clean: Run) -> Mask:
    """Return where the texts of a track are those of its clean form, or else those of the clean track."""
    if run.seen is None:
        return np.zeros(len(run.present), bool)
    meant = np.zeros(len(run.present), np.uint64) if run.meant is None else run.meant
    if clean.seen is not None:
        meant = np.where(meant == 0, clean.seen, meant)
    return np.asarray((run.seen != 0) & (run.seen == meant))


def texts_of(value: Any) -> tuple[str, ...]:
    """Return the texts of a column that holds one, several or none."""
    return (value,) if isinstance(value, str) else tuple(value or ())
