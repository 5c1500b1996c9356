"""Lists of JSON values as Arrow columns: messages of any form, which come back equal, also after Parquet.

As structures, messages would get each other's fields with nulls, and a content that is a text here and a list there is
refused. `datasets` reads such a column as `List(Json())`.

>>> column = encode_json_lists([[{"role": "user", "content": "hi"}], None])
>>> is_json_list(column.type), decode_json_list(column.to_pylist()[0])
(True, [{'role': 'user', 'content': 'hi'}])
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from lapsus.core.conversations import is_messages

if TYPE_CHECKING:
    from collections.abc import Iterable


NO_BRACKETS = bytes(set(range(256)) - set(b'"[]{}'))
STEPS = bytes(1 if byte in b"[{" else 2 if byte in b"]}" else 0 for byte in range(256))  # down, up


def is_json_list(kind: Any) -> bool:
    """Return whether an Arrow type is a list of JSON values."""
    import pyarrow as pa

    return pa.types.is_list(kind) and getattr(kind.value_type, "extension_name", "") == "arrow.json"


def has_messages(values: Iterable[Any]) -> bool:
    """Return whether a column holds lists of messages."""
    return any(map(is_messages, values))


def json_list_type() -> Any:
    """Return the Arrow type of lists of JSON values."""
    import pyarrow as pa

    if not hasattr(pa, "json_"):
        raise ImportError(
            "messages are kept as JSON columns, which this pyarrow lacks; upgrade it: pip install -U pyarrow"
        )
    return pa.list_(pa.json_(pa.utf8()))


def encode_json_lists(values: Iterable[Any]) -> Any:
    """Return lists of values as an Arrow array of JSON; a cell may also be the JSON of the whole list."""
    import pyarrow as pa

    lists = [json.loads(value) if isinstance(value, str) else value for value in values]
    texts = [
        None if cell is None else [json.dumps(value, ensure_ascii=False, default=str) for value in cell]
        for cell in lists
    ]
    return pa.array(texts, pa.list_(pa.utf8())).cast(json_list_type())


def decode_json_list(cell: Any) -> Any:
    """Return the values of a cell of such an array."""
    return None if cell is None else [json.loads(value) for value in cell]


def list_column(column: Any) -> list[Any]:
    """Return the values of an Arrow column as Python's."""
    values: list[Any] = column.to_pylist()
    return list(map(decode_json_list, values)) if is_json_list(column.type) else values


def list_rows(table: Any) -> list[dict[str, Any]]:
    """Return the rows of an Arrow table as dicts."""
    rows: list[dict[str, Any]] = table.to_pylist()
    for field in table.schema:
        if is_json_list(field.type):
            for row in rows:
                row[field.name] = decode_json_list(row[field.name])
    return rows


def make_array(values: list[Any], kind: Any) -> Any:
    """Return values as an Arrow array of a type."""
    import pyarrow as pa

    return encode_json_lists(values) if is_json_list(kind) else pa.array(values, kind)


def measure_depth(text: bytes) -> int:
    """Return how deep the lists and objects of JSON nest.

    >>> measure_depth(b'{"a": [1, [2]], "b": "[[[["}'), measure_depth(b"1")
    (3, 0)
    """
    brackets = re.sub(rb'"[^"]*"?', b"", text.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, NO_BRACKETS))
    steps = np.array([0, 1, -1], np.int64)[np.frombuffer(brackets.translate(STEPS), np.uint8)]
    return int(steps.cumsum().max(initial=0))
