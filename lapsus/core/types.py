"""The values that packages hand to each other.

A run turns each `Example` into a `Request`, the model turns it into a `Response`, and the answer type reads that as a
`Prediction`; the predictions of a model on one track are a `Track`.

>>> Track("bert", "keyboard.2", [{"id": "t-1", "score": 1}]).family
'keyboard'
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

StrPath = str | os.PathLike[str]
Row = Mapping[str, Any]  # a row as it stands in a file or a dataset: its columns are the user's


@dataclass(frozen=True)
class Track:
    """The predictions of one model on one track.

    A row holds its `id` and either `score`, a number from 0 to 1, or `prediction` and `gold`. It may hold `cluster`
    (the original that several rows share), `text` with `clean_text` (what the model read, and its clean form; or
    `noise_rate`), and any column that results are broken down by. `missing_predictions` are the ids of the data without
    a prediction, `unmatched_predictions` the predicted ids that are not in the data, `dropped` the unparsed ids that
    were left out on request. `files` are what the rows were read from.
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


@dataclass(frozen=True, slots=True)
class Example:
    """One example of a dataset on one track.

    Args:
        id: The example's id, the same on every track.
        track: The name of the track.
        columns: Its row: the texts, the gold answer, and on noisy tracks `clean_*`, `edits` and `operator`.
    """

    id: str
    track: str
    columns: Row = field(repr=False)


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is asked about an example.

    Args:
        example: The example.
        prompt: All that the model reads, as JSON can hold it: a text, several texts, or the visible columns.
        key: The hash of model, task, prompt and repeat under which the response is cached.
    """

    example: Example
    prompt: Any = field(repr=False)
    key: str


@dataclass(frozen=True, slots=True)
class Response:
    """What a model returned for a request.

    Args:
        value: A text, a label, a number, a list or an object, as JSON can hold it.
        logprobs: The log-likelihood of each label, where the model chose by it.
        error: Why there is no value, such as a context that is too long; the row then counts as unparsed.
        cacheable: Whether the same request would get the same again; other responses are not cached.
        finish_reason: Why the model stopped, where it did not end by itself: `length`, `thinking` (the tokens were used
            before the answer began), `refusal` or `context`.
        reasoning: What the model thought before it answered, where that is known.
        request_changes: What the server refused of the request, so that it was left out or replaced.
    """

    value: Any
    logprobs: Mapping[str, float] | None = None
    error: str | None = None
    cacheable: bool = field(default=True, repr=False)
    finish_reason: str | None = field(default=None, repr=False)
    reasoning: str | None = field(default=None, repr=False)
    request_changes: tuple[str, ...] = field(default=(), repr=False)

    @property
    def was_cut(self) -> bool:
        """Whether the tokens allowed were used before the answer was complete."""
        return self.finish_reason in {"length", "thinking"}


@dataclass(frozen=True, slots=True)
class Prediction:
    """A response as the answer type parsed and scored it: one row of a predictions file.

    Args:
        request: The request.
        response: What the model returned.
        value: The parsed response; None where it could not be parsed.
        scores: The columns `prediction`, `gold` and `score`, and others of the answer type.
    """

    request: Request
    response: Response
    value: Any | None
    scores: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ConditionScores:
    """The scores of a text metric for each sentence under each condition.

    `by_tag` has them by the dialect of the text and the tag that the metric was given.
    """

    metric: str
    dataset: str
    ids: Sequence[str]
    conditions: Mapping[str, Sequence[float]]
    by_tag: Mapping[tuple[str, str], Sequence[float]] = field(default_factory=dict)
