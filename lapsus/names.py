"""What to say of a name that nothing has."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """Say that a name is unknown, and which are near.

    >>> unknown("metric", "win_rat", ["win_rate", "noise_rate"])
    "there is no metric 'win_rat'; did you mean win_rate? (known: noise_rate, win_rate)"
    """
    known = sorted(known)
    near = get_close_matches(name, known, n=2)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"there is no {kind} {name!r}{hint} (known: {', '.join(known)})"
