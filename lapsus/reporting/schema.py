"""The JSON schema of report.json, made from the records that it holds.

>>> build_schema()["properties"]["schema"]
{'const': 2}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from lapsus.reporting.analysis.records import (
    INTERNAL,
    LEFT_OUT_IF_NONE,
    AnalysisSettings,
    Estimate,
    Provenance,
    Results,
)
from lapsus.reporting.report import SCHEMA

JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


def build_schema() -> dict[str, Any]:
    """Return the schema; each table is a list of flat objects, an estimate is three of their keys."""
    hints = get_type_hints(Results)
    tables = {name: get_args(hint)[0] for name, hint in hints.items() if get_origin(hint) is tuple}
    lists = {name: {"type": "array", "items": _build_object(record)} for name, record in tables.items()}
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
            "provenance": {"anyOf": [_build_object(Provenance), {"type": "null"}]},
            "settings": _build_object(AnalysisSettings),
            **lists,
        },
    }


def _build_object(record: Any) -> dict[str, Any]:
    properties = dict(_iter_properties(record))
    required_keys = [name for name, (_, required) in properties.items() if required]
    description = " ".join((record.__doc__ or "").split())
    return {
        "description": description,
        "type": "object",
        "required": required_keys,
        "additionalProperties": False,
        "properties": {name: kind for name, (kind, _) in properties.items()},
    }


def _iter_properties(record: Any) -> Iterator[tuple[str, tuple[dict[str, Any], bool]]]:
    """Yield the keys of a record, with their types, and whether they are always there."""
    hints = get_type_hints(record)
    for part in fields(record):
        if part.metadata == INTERNAL:
            continue
        hint = hints[part.name]
        options = get_args(hint) if isinstance(hint, UnionType) else (hint,)
        nested = next((option for option in options if is_dataclass(option)), None)
        required = part.metadata != LEFT_OUT_IF_NONE
        if Estimate in options:
            for name in (part.name, f"{part.name}_low", f"{part.name}_high"):
                yield name, ({"type": ["number", "null"]}, required)
        elif nested is not None:
            for name, (kind, always) in _iter_properties(nested):
                yield name, (kind, always and required)
        else:
            yield part.name, (_build_type(hint), required)


def _build_type(hint: Any) -> dict[str, Any]:
    if isinstance(hint, UnionType):
        kinds = [_build_type(option) for option in get_args(hint)]
        types = [kind["type"] for kind in kinds if kind.keys() == {"type"}]
        return {"type": types} if len(types) == len(kinds) else {"anyOf": kinds}
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _build_type(get_args(hint)[0])}
    if get_origin(hint) is Mapping:
        return {"type": "object", "additionalProperties": _build_type(get_args(hint)[1])}
    return {"type": JSON_TYPES[hint]} if hint in JSON_TYPES else {}
