"""How the requests of a run end: answered, refused, or failed; and when there are too many failures to go on.

A refused request would be refused again, such as one that a content filter stops; its response is cached. A failed one
is sent again by the next run.

>>> outcomes = RunOutcomes(max_failures=0.5)
>>> outcomes.add("a", Response("yes"))
>>> outcomes.add("b", Response(None, error="the server is still busy", cacheable=False))
>>> str(outcomes)
'1 answered, 0 refused, 1 failed'
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lapsus.core.messages import format_list
from lapsus.core.types import Response, Row
from lapsus.evaluation.tasks import Task

WINDOW = 20  # requests that ended last, of which the share of failures is taken
FIRST_ANSWERS = 50  # of which the share of cut ones is taken
DEFAULT_MAX_FAILURES = 0.5


class TooManyFailuresError(ConnectionError):
    """More requests fail than the run allows."""


class TruncatedAnswersError(ValueError):
    """More answers are cut than the run allows."""


@dataclass(slots=True)
class RunOutcomes:
    """The requests of a run that have ended.

    Args:
        max_failures: The share of failures among the last requests at which the run goes on, and of cut answers among
            the first ones; 1 never ends it.
    """

    max_failures: float
    answered: int = 0
    refused: int = 0
    failed: dict[str, Response] = field(default_factory=dict)  # by request key
    recent: deque[bool] = field(default_factory=lambda: deque(maxlen=WINDOW))
    cut: int = 0

    def add(self, key: str, response: Response, *, was_cut: bool = False) -> None:
        """Count a response; raise where too many of the last ones are failures, or of the first ones were cut."""
        self.recent.append(not response.cacheable)
        if not response.cacheable:
            self.failed[key] = response
        elif response.error:
            self.refused += 1
        else:
            self.answered += 1
        if sum(self.recent) > self.max_failures * WINDOW:
            self._raise(f"{sum(self.recent)} of the last {len(self.recent)} requests failed")
        self.cut += was_cut
        if self.answered + self.refused == FIRST_ANSWERS and self.cut > self.max_failures * FIRST_ANSWERS:
            raise TruncatedAnswersError(
                f"{self.cut} of the first {FIRST_ANSWERS} answers were cut at the most tokens allowed; add "
                "--max-tokens with a higher number, let the model think less (--params "
                """'{"reasoning_effort": "low"}'), or allow it with --max-failures 1"""
            )

    def check_any_answer(self) -> None:
        """Raise where every request failed, and these were too few to be noticed before."""
        if self.failed and not self.answered and not self.refused and self.max_failures < 1:
            self._raise(f"all {len(self.failed)} requests failed")

    def _raise(self, reason: str) -> None:
        last = next(reversed(self.failed.values()), None)
        problem = "" if last is None else f", the last since: {last.error}"
        raise TooManyFailuresError(f"{reason}{problem}; cure this, or allow more with --max-failures 1")

    def __str__(self) -> str:
        return f"{self.answered:,} answered, {self.refused:,} refused, {len(self.failed):,} failed"


@contextmanager
def explain_end(outcomes: RunOutcomes, cache_path: Path | None) -> Iterator[None]:
    """Add to an error of the block what is kept, and how to go on."""
    try:
        yield
    except Exception as error:
        if cache_path is not None and (outcomes.answered or outcomes.failed):
            cure = "type the same command to go on" if isinstance(error, OSError) else "no request is sent again"
            error.add_note(f"{outcomes}, and the answers are kept in {cache_path}: {cure}")
        raise


def collect_changes(rows: Iterable[Row]) -> list[str]:
    """Return what a server refused of the requests for these rows."""
    return sorted({change for row in rows for change in row.get("request_changes") or ()})


def describe_changes(model: str, changes: Sequence[str]) -> str:
    """Return what a user must know of the requests that a server took."""
    drawn = "; answers without temperature 0 are drawn, so that a repeated run differs" * ("no temperature" in changes)
    return f"the server of {model} refused fields of the requests, which it got with {format_list(changes)}{drawn}"


def is_incomplete(task: Task, response: Response, row: Row) -> bool:
    """Return whether an answer was cut; one that names a label is complete."""
    choices = task.answer_type.choices
    return response.was_cut and not (choices and not response.error and task.answer_type.parse(response.value, row))
