"""Cells of CSV files that a spreadsheet shows as text: a leading apostrophe before what it would run as a formula.

>>> [escape_formula(text) for text in ("=1+1", "-3.5", "plain", "'=1")]
["'=1+1", '-3.5', 'plain', "''=1"]
>>> [restore_text(escape_formula(text)) for text in ("=1+1", "-3.5", "plain", "'=1")]
['=1+1', '-3.5', 'plain', "'=1"]
"""

from __future__ import annotations

import re
from typing import Any

FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")  # the wide signs begin one where East Asian text is typed
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?%?|[-+]?(?:inf|nan)")


def escape_formula(value: Any) -> Any:
    """Return a text that would begin a formula with an apostrophe before it; anything else as it is."""
    if isinstance(value, str) and FORMULA.match(value) and not NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def restore_text(value: Any) -> Any:
    """Return a text as it was before `escape_formula`."""
    return value[1:] if isinstance(value, str) and value.startswith("'") and FORMULA.match(value) else value
