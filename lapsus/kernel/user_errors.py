"""Errors that a user can cause, and how they are shown; any other is a bug of lapsus, and its traceback is shown."""

from __future__ import annotations

USER_ERRORS = (ValueError, TypeError, LookupError, OSError, ImportError)


def one_sentence(error: BaseException) -> str:
    """Return an error's message on one line.

    >>> one_sentence(KeyError("no column 'x'"))
    "no column 'x'"
    """
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    text = str(error.args[0]) if type(error) is KeyError and error.args else str(error)  # str(KeyError) quotes its text
    return " ".join(text.split()) or type(error).__name__
