"""Help text that several commands share."""

from __future__ import annotations


def example(*lines: str) -> str:
    """Return the epilog that shows a command in use."""
    return "\n".join(["\b", "Example:", *(f"  {line}" for line in lines)])
