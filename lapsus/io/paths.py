"""A column, or a text inside one: `question`, or `translation.zh` for the key `zh` of the objects in `translation`.

>>> path = parse_path("translation.zh", ["id", "translation"])
>>> path.name, path.get({"translation": {"zh": "你好", "en": "hello"}})
('zh', '你好')
>>> path.put({"translation": {"zh": "你好", "en": "hello"}}, "您好")
{'zh': '您好', 'en': 'hello'}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lapsus.core.messages import format_list


@dataclass(frozen=True, slots=True)
class ColumnPath:
    """Where a text stands in a row: `name` is what it is called beside the columns."""

    name: str
    column: str
    keys: tuple[str, ...] = ()

    def get(self, row: Mapping[str, Any]) -> Any:
        """Return the value at the path; None where the row has none."""
        value = row.get(self.column)
        for key in self.keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def put(self, row: Mapping[str, Any], value: Any) -> Any:
        """Return the column of the row with another value at the path."""
        return _replace(row[self.column], self.keys, value)


def _replace(container: Any, keys: tuple[str, ...], value: Any) -> Any:
    return {**container, keys[0]: _replace(container[keys[0]], keys[1:], value)} if keys else value


def parse_path(text: str, columns: Iterable[str]) -> ColumnPath:
    """Return the path that a name stands for; a column that is called so comes first.

    >>> parse_path("translation.de.text", ["translation"])
    ColumnPath(name='text', column='translation', keys=('de', 'text'))
    """
    known = list(columns)
    if text in known:
        return ColumnPath(text, text)
    if "[" in text:
        raise ValueError(f"{text!r} names several texts of a row; give each row one text, or name the whole column")
    column, *keys = text.split(".")
    if column not in known or not keys:
        raise LookupError(f"no column is called {text!r}; the rows have {format_list(known)}")
    name = keys[-1] if keys[-1] not in known else "_".join([column, *keys])
    return ColumnPath(name, column, tuple(keys))
