"""The JSON schema of report.json, made from the records that it holds.

>>> schema()["properties"]["schema"]
{'const': 1}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from lapsus.results.measuring.records import LEFT_OUT_IF_NONE, Estimate, Numbers, Provenance, Settings
from lapsus.results.report import SCHEMA

PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


def schema() -> dict[str, Any]:
    """Return the schema; each table is a list of flat objects, an estimate is three of their keys."""
    hints = get_type_hints(Numbers)
    tables = {name: get_args(hint)[0] for name, hint in hints.items() if get_origin(hint) is tuple}
    lists = {name: {"type": "array", "items": _object(record)} for name, record in tables.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "report.json of lapsus",
        "description": "Rates and differences are fractions; `X_low` and `X_high` are the ends of the interval of `X`.",
        "type": "object",
        "required": ["schema", "lapsus", "provenance", "settings", *lists],
        "additionalProperties": False,
        "properties": {
            "schema": {"const": SCHEMA},
            "lapsus": {"type": "string"},
            "provenance": {"anyOf": [_object(Provenance), {"type": "null"}]},
            "settings": _object(Settings),
            **lists,
        },
    }


def _object(record: Any) -> dict[str, Any]:
    properties = dict(_properties(record))
    always = [name for name, (_, required) in properties.items() if required]
    told = " ".join((record.__doc__ or "").split())
    return {
        "description": told,
        "type": "object",
        "required": always,
        "additionalProperties": False,
        "properties": {name: kind for name, (kind, _) in properties.items()},
    }


def _properties(record: Any) -> Iterator[tuple[str, tuple[dict[str, Any], bool]]]:
    """Yield the keys of a record, with their types, and whether they are always there."""
    hints = get_type_hints(record)
    for part in fields(record):
        hint = hints[part.name]
        options = get_args(hint) if isinstance(hint, UnionType) else (hint,)
        nested = next((option for option in options if is_dataclass(option)), None)
        required = part.metadata != LEFT_OUT_IF_NONE
        if Estimate in options:
            for name in (part.name, f"{part.name}_low", f"{part.name}_high"):
                yield name, ({"type": ["number", "null"]}, required)
        elif nested is not None:
            for name, (kind, always) in _properties(nested):
                yield name, (kind, always and required)
        else:
            yield part.name, (_kind(hint), required)


def _kind(hint: Any) -> dict[str, Any]:
    if isinstance(hint, UnionType):
        kinds = [_kind(option) for option in get_args(hint)]
        types = [kind["type"] for kind in kinds if kind.keys() == {"type"}]
        return {"type": types} if len(types) == len(kinds) else {"anyOf": kinds}
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _kind(get_args(hint)[0])}
    if get_origin(hint) is Mapping:
        return {"type": "object", "additionalProperties": _kind(get_args(hint)[1])}
    return {"type": PLAIN[hint]} if hint in PLAIN else {}
