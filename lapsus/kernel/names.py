"""Names in messages: lists of known names, and suggestions for an unknown one."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """Return the message for an unknown name, with similar known names.

    >>> unknown("metric", "win_rat", ["win_rate", "noise_rate"])
    "there is no metric 'win_rat'; did you mean win_rate? (known: noise_rate, win_rate)"
    """
    known = sorted(known)
    near = get_close_matches(name, known, n=2)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"there is no {kind} {name!r}{hint} (known: {', '.join(known)})"


def shown(names: Iterable[object], most: int = 8, nothing: str = "nothing") -> str:
    """Return names as words, cut when there are many.

    >>> shown("abc", most=2)
    'a, b and 1 more'
    """
    words = [str(name) for name in names]
    listed = ", ".join(words[:most])
    return f"{listed} and {len(words) - most} more" if len(words) > most else listed or nothing
