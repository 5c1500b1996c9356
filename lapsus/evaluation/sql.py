"""SQL queries compared as Spider does: by the sets of their clauses, values left out; or by what they return.

>>> match_clauses("SELECT name, age FROM singer WHERE age > 20", "select age, name from singer where age > 30")
True
>>> match_clauses("SELECT name FROM singer WHERE age > 20", "SELECT name FROM singer WHERE age < 20")
False
>>> match_clauses("SELECT T1.name FROM singer AS T1", "SELECT name FROM singer")
True
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from lapsus.core.imports import import_optional
from lapsus.evaluation.sql_execution import execute_queries

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping
    from pathlib import Path

MAX_LENGTH = 10_000  # characters; a longer query has no clauses


def format_schema(schema: Mapping[str, Any]) -> str:
    """Return the tables of a database, a line each.

    >>> tables = [{"name": "singer", "words": "歌手"}]
    >>> columns = [{"table": -1, "name": "*"}, {"table": 0, "name": "name"}, {"table": 0, "name": "age"}]
    >>> format_schema({"tables": tables, "columns": columns})
    'singer(name, age)'
    """
    return "\n".join(
        f"{table['name']}({', '.join(column['name'] for column in schema['columns'] if column['table'] == place)})"
        for place, table in enumerate(schema["tables"])
    )


def match_clauses(query: str, gold: str) -> bool:
    """Tell whether two queries have the same clauses, each as a set; a query that is no SQL has none."""
    clauses, gold_clauses = _parse_clauses(query), _parse_clauses(gold)
    if gold_clauses is None:
        raise ValueError(f"the right answer {gold!r} is no SQL that can be read; mend the data")
    return bool(clauses == gold_clauses)


def _parse_clauses(query: str) -> Hashable | None:
    sqlglot = import_optional("sqlglot", "run")
    if len(query) > MAX_LENGTH:
        return None
    try:
        return _extract_clauses(sqlglot.parse_one(query, read="sqlite"), sqlglot.exp)
    except Exception:  # noqa: BLE001 - text that is no SQL also ends sqlglot with errors of other kinds
        return None


def _extract_clauses(tree: Any, exp: Any) -> Hashable | None:
    """Return the clauses of a query, nested ones and both sides of a set operation too."""
    if isinstance(tree, exp.SetOperation):
        return type(tree).__name__, _extract_clauses(tree.left, exp), _extract_clauses(tree.right, exp)
    if not isinstance(tree, exp.Select):
        return None
    tree = _drop_aliases(tree.copy(), exp)
    joins = tree.args.get("joins") or []
    start = tree.args.get("from_") or tree.args.get("from")
    tables = [start.this, *(join.this for join in joins)] if start else []
    return (
        _count(_normalise(each, exp) for each in tree.expressions),
        bool(tree.args.get("distinct")),
        _count(_normalise(each, exp) for each in tables),
        _split_conditions(tree.args.get("where"), exp),
        _count(_normalise(each, exp) for each in _find_expressions(tree, "group")),
        _split_conditions(tree.args.get("having"), exp),
        tuple(_normalise(each, exp) for each in _find_expressions(tree, "order")),
        bool(tree.args.get("limit")),
    )


def _count(parts: Iterable[Hashable]) -> Hashable:
    """Return parts in any order, each with how often it is there."""
    return frozenset(Counter(parts).items())


def _find_expressions(tree: Any, clause: str) -> Any:
    return tree.args[clause].expressions if tree.args.get(clause) else ()


def _drop_aliases(tree: Any, exp: Any) -> Any:
    """Drop the aliases: a column is known by its table's name, or by its own where there is one table."""
    tables = [table for table in tree.find_all(exp.Table) if table.parent_select is tree]
    names = {table.alias_or_name.lower(): table.name.lower() for table in tables}
    for column in list(tree.find_all(exp.Column)):
        if column.parent_select is tree:
            table = names.get(column.table.lower(), column.table.lower())
            identifier = exp.to_identifier(table) if table and len(tables) > 1 else None
            column.set("table", identifier)
    for table in tables:
        table.set("alias", None)
    return tree


def _split_conditions(clause: Any, exp: Any) -> Hashable:
    """Return the conditions that `and` joins as a set; `or` stays as one condition of two sets."""
    if clause is None:
        return _count(())
    parts = clause.this.flatten() if isinstance(clause.this, exp.And) else [clause.this]
    return _count(_normalise(part, exp) for part in parts)


def _normalise(part: Any, exp: Any) -> Hashable:
    """Return a part of a query in lower case, its values left out, a nested query by its clauses."""
    part = part.unalias() if isinstance(part, exp.Alias) else part.copy()
    if isinstance(part, exp.Or | exp.And):
        return type(part).__name__, _count(_normalise(each, exp) for each in part.flatten())
    nested = [tree for tree in part.find_all(exp.Select) if tree is not part and tree.parent_select is None]
    nested_clauses = [_extract_clauses(tree, exp) for tree in nested]
    for tree in nested:
        tree.replace(exp.Placeholder())
    for value in list(part.find_all(exp.Literal)):
        value.replace(exp.Placeholder())
    return part.sql(dialect="sqlite", normalize=True).lower().replace('"', ""), *nested_clauses


def match_results(query: str, gold: str, database: Path | str) -> bool:
    """Tell whether two queries return the same rows of an SQLite file, as `execute_queries` compares them."""
    return execute_queries(query, gold, database).match
