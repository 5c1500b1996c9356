"""Options of a command as a file: `lapsus.toml`, or the table `[tool.lapsus]` of `pyproject.toml`.

The keys are the options of the command. One table of them validates files and makes the JSON schema for editors.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from lapsus.core.messages import format_unknown_name

FILES = ("lapsus.toml", "pyproject.toml")
SCHEMA_URL = "https://lapsus-bench.github.io/lapsus/lapsus.schema.json"
TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list}


class Key(NamedTuple):
    """A key of a file: the parameter of the command, the type of its values, and what it says."""

    parameter: str
    type: str
    several: bool
    summary: str
    choices: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of a value."""
        value = {"type": self.type, **({"enum": list(self.choices)} if self.choices else {})}
        described = {"description": self.summary} if self.summary else {}
        if not self.several:
            return {**value, **described}
        return {"anyOf": [value, {"type": "array", "items": value}], **described}


def list_keys(command: click.Command, left_out: Sequence[str] = ()) -> dict[str, Key]:
    """Return the keys of a file for a command: its arguments and options by their names, but for those left out."""
    keys = {}
    for parameter in command.params:
        if parameter.name is None or parameter.name in left_out:
            continue
        name = parameter.name if isinstance(parameter, click.Argument) else _name_option(parameter)
        choices = tuple(map(str, getattr(parameter.type, "choices", ())))
        summary = str(getattr(parameter, "help", "") or getattr(parameter, "metavar", "") or "")
        keys[name] = Key(parameter.name, _name_type(parameter), parameter.multiple, summary, choices)
    return keys


def read_settings(path: Path, keys: Mapping[str, Key]) -> dict[str, Any]:
    """Return the values of a file by the parameters of the command; refuse unknown keys and values of another type."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no TOML: {error}") from error
    if path.name == "pyproject.toml":
        content = content.get("tool", {}).get("lapsus", {})
    values = {}
    for name, value in content.items():
        if name not in keys:
            raise LookupError(f"{path}: {format_unknown_name('key', name, keys)}")
        key = keys[name]
        items = value if key.several and isinstance(value, list) else [value]
        for item in items:
            if not _has_type(item, key.type):
                raise ValueError(
                    f"{path}: {name} is {item!r}; give {'a' if key.type[0] not in 'aio' else 'an'} {key.type}"
                )
        values[key.parameter] = items if key.several else value
    return values


def find_settings(folder: Path) -> Path | None:
    """Return the file of a folder that holds settings: `lapsus.toml`, else a `pyproject.toml` with its table."""
    for name in FILES:
        path = folder / name
        if path.is_file() and (name == FILES[0] or "[tool.lapsus" in path.read_text(encoding="utf-8")):
            return path
    return None


def format_settings(values: Mapping[str, Any], keys: Mapping[str, Key]) -> str:
    """Return a file that holds values of parameters.

    >>> print(format_settings({"text": ["question"], "limit": 20}, {
    ...     "text": Key("text", "string", True, ""), "limit": Key("limit", "integer", False, "")}), end="")
    #:schema https://lapsus-bench.github.io/lapsus/lapsus.schema.json
    text = ["question"]
    limit = 20
    """
    lines = [f"#:schema {SCHEMA_URL}"]
    lines += [
        f"{name} = {_format_value(values[key.parameter])}" for name, key in keys.items() if key.parameter in values
    ]
    return "\n".join(lines) + "\n"


def build_settings_schema(keys: Mapping[str, Key]) -> dict[str, Any]:
    """Return the JSON schema of a file, for editors."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": SCHEMA_URL,
        "title": "lapsus.toml",
        "description": "What lapsus check runs: a model, rows, columns, noise and limits.",
        "type": "object",
        "additionalProperties": False,
        "properties": {name: key.schema for name, key in keys.items()},
    }


def _name_option(parameter: click.Parameter) -> str:
    return max(parameter.opts, key=len).removeprefix("--")


def _name_type(parameter: click.Parameter) -> str:
    if getattr(parameter, "is_flag", False):
        return "boolean"
    if isinstance(parameter.type, click.IntRange) or parameter.type is click.INT:
        return "integer"
    return "number" if isinstance(parameter.type, click.FloatRange) or parameter.type is click.FLOAT else "string"


def _has_type(value: Any, name: str) -> bool:
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))  # type: ignore[arg-type]


def _format_value(value: Any) -> str:
    """Return a value as TOML.

    >>> _format_value(["a", "Zoë"]), _format_value(True), _format_value(0.5)
    ('["a", "Zoë"]', 'true', '0.5')
    """
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_format_value, value))}]"
    return json.dumps(value if isinstance(value, bool | int | float) else str(value), ensure_ascii=False).replace(
        "\x7f", "\\u007F"
    )
