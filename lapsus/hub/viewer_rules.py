"""What the Hub's viewer cannot show of rows: huggingface/dataset-viewer has no histogram of two neighbouring numbers.

Its statistics of a whole split fail where the numbers of one column, or the lengths of its texts or lists, are all n or
n + 1 (issue 3440), and where one number stands alone among nulls (issue 2653). Texts with few values are categories.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FEW_CATEGORIES, MAX_CATEGORIES, CATEGORY_SHARE = 10, 1000, 0.2


def find_columns_without_statistics(table: Any, features: Mapping[str, Any]) -> Iterator[str]:
    """Yield the columns of an Arrow table that the viewer has no statistics of.

    >>> import pyarrow as pa
    >>> table = pa.table({"id": [f"q{n}" for n in range(20)], "n": [7, 8] * 10, "m": [7, 9] * 10})
    >>> list(find_columns_without_statistics(table, {"id": None, "n": None, "m": None}))
    ['id', 'n']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in features:
        column = table.column(name)
        if hasattr(features[name], "names"):  # classes are counted
            continue
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            distinct = pc.count_distinct(column, mode="all").as_py()
            share = distinct / max(1, len(column))
            if distinct <= FEW_CATEGORIES or (share <= CATEGORY_SHARE and distinct <= MAX_CATEGORIES):
                continue
            numbers = pc.utf8_length(column)
        elif pa.types.is_list(column.type):
            numbers = pc.list_value_length(column)
        elif pa.types.is_integer(column.type):
            numbers = column
        else:
            continue
        extremes = pc.min_max(numbers)
        low, high = extremes["min"].as_py(), extremes["max"].as_py()
        if low is not None and (high == low + 1 or len(numbers) - numbers.null_count == 1):
            yield name
