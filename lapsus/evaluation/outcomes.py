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
from dataclasses import dataclass, field

from lapsus.core.types import Response

WINDOW = 20  # requests that ended last, of which the share of failures is taken
DEFAULT_MAX_FAILURES = 0.5


class TooManyFailuresError(ConnectionError):
    """More requests fail than the run allows."""


@dataclass(slots=True)
class RunOutcomes:
    """The requests of a run that have ended.

    Args:
        max_failures: The share of failures among the last requests at which the run goes on; 1 never ends it.
    """

    max_failures: float
    answered: int = 0
    refused: int = 0
    failed: dict[str, Response] = field(default_factory=dict)  # by request key
    recent: deque[bool] = field(default_factory=lambda: deque(maxlen=WINDOW))

    def add(self, key: str, response: Response) -> None:
        """Count a response; raise where too many of the last ones are failures."""
        self.recent.append(not response.cacheable)
        if not response.cacheable:
            self.failed[key] = response
        elif response.error:
            self.refused += 1
        else:
            self.answered += 1
        if sum(self.recent) > self.max_failures * WINDOW:
            self._raise(f"{sum(self.recent)} of the last {len(self.recent)} requests failed")

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
