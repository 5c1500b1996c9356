"""Texts of messages: lists of names, suggestions for an unknown one, errors in one sentence, examples of a command."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

USER_ERRORS = (ValueError, TypeError, LookupError, OSError, ImportError)
"""Errors that a user can cause, shown in one sentence; any other is a bug of lapsus and shows its traceback."""


def format_unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Return the message for an unknown name, with similar known names.

    >>> format_unknown_name("metric", "win_rat", ["win_rate", "noise_rate"])
    "there is no metric 'win_rat'; did you mean win_rate? (known: noise_rate, win_rate)"
    """
    known = sorted(known)
    near = get_close_matches(name, known, n=2)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"there is no {kind} {name!r}{hint} (known: {', '.join(known)})"


def format_list(names: Iterable[object], limit: int = 8, empty: str = "nothing") -> str:
    """Return names with commas between them; of many, the first ones and the number of the others.

    >>> format_list("abc", limit=2)
    'a, b and 1 more'
    """
    words = [str(name) for name in names]
    listed = ", ".join(words[:limit])
    return f"{listed} and {len(words) - limit} more" if len(words) > limit else listed or empty


def format_error(error: BaseException) -> str:
    """Return an error's message and its notes on one line.

    >>> format_error(KeyError("no column 'x'"))
    "no column 'x'"
    """
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    text = str(error.args[0]) if type(error) is KeyError and error.args else str(error)  # str(KeyError) quotes its text
    parts = [" ".join(text.split()) or type(error).__name__, *getattr(error, "__notes__", ())]
    return "; ".join(parts)


def format_examples(*lines: str) -> str:
    r"""Return the end of a command's help that shows it in use; `\b` keeps click from wrapping it."""
    return "\n".join(["\b", "Example:", *(f"  {line}" for line in lines)])
