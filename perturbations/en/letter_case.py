"""Write a replacement in the case of the word it replaces."""

from __future__ import annotations


def like(old: str, word: str) -> str:
    """Write `word` in the case of `old`.

    >>> like("Watch", "which"), like("NASA", "nassau"), like("I", "eye")
    ('Which', 'NASSAU', 'Eye')
    """
    if old.isupper() and len(old) > 1:
        return word.upper()
    return word.capitalize() if old[:1].isupper() else word
