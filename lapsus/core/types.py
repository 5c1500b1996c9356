"""The values that packages hand to each other.

>>> Track("bert", "keyboard.2", [{"id": "t-1", "score": 1}]).family
'keyboard'
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Track:
    """The predictions of one model on one track.

    A row holds its `id` and either `score`, a number from 0 to 1, or `prediction` and `gold`. It may hold `cluster`
    (the original that several rows share), `text` with `clean_text` (what the model read, and its clean form; or
    `noise_rate`), and any column that results are broken down by. `missing_predictions` are the ids of the data without
    a prediction, `unmatched_predictions` the predicted ids that are not in the data, `dropped` the ids without an answer
    that were left out on request. `files` are what the rows were read from.
    """

    model: str
    track: str
    rows: Sequence[Mapping[str, Any]] = field(repr=False)
    dataset: str = ""
    missing_predictions: tuple[str, ...] = ()
    unmatched_predictions: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()

    @property
    def family(self) -> str:
        """The track's name without the number of its annotator."""
        return re.sub(r"\.\d+$", "", self.track)

    @property
    def annotator(self) -> str:
        """The number of the annotator, or nothing where there is only one."""
        return self.track[len(self.family) + 1 :]
