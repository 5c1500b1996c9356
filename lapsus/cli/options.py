"""The options that several commands share, each defined once, and what is read from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import click

from lapsus.core.executors import LOCAL, Executor, open_executor
from lapsus.perturbations.conversations import TURNS

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

PATH = click.Path(path_type=Path)
LEVEL = click.FloatRange(0, 1, min_open=True, max_open=True)
NOISE_SPEC = "[TRACK=]OPERATOR[:ANNOTATORS][@SEVERITY]"

# The grammar: an option of one of these names has this form and this parameter in every command.
SHARED: dict[str, dict[str, Any]] = {
    "--text": {"name": "text", "multiple": True, "metavar": "COLUMN"},
    "--id": {"name": "id_column", "metavar": "COLUMN"},
    "--gold": {"name": "gold", "metavar": "COLUMN"},
    "--tags": {"name": "tags", "metavar": "COLUMN"},
    "--answers": {"name": "answers", "metavar": "COLUMN"},
    "--turns": {
        "name": "turns",
        "type": click.Choice(TURNS),
        "help": "With messages as --text: the turns of the user to perturb. [default: all]",
    },
    "--protect": {
        "name": "protect",
        "multiple": True,
        "metavar": "COLUMN|regex:PATTERN|gold",
        "help": "Values that noise leaves as whole words: those of a column, matches of a pattern, or the gold "
        "answers; repeatable.",
    },
    "--score": {"name": "score", "multiple": True, "metavar": "NAME"},
    "--rubric": {"name": "rubric", "type": PATH, "metavar": "FILE", "help": "With judge: what is asked of the judge."},
    "--noise": {"name": "noise", "multiple": True, "metavar": NOISE_SPEC},
    "--rewriter": {
        "name": "rewriter",
        "metavar": "MODEL",
        "help": "With --noise reworded:N: the model that says texts in other words.",
    },
    "--rewriter-judge": {
        "name": "rewriter_judge",
        "metavar": "MODEL|similarity:NAME",
        "help": "With --rewriter: what compares the meaning of text and rewording, in both directions.",
    },
    "--rewordings": {
        "name": "rewordings",
        "type": PATH,
        "metavar": "FILE",
        "help": "With --noise reworded:N: the reworded.jsonl of an earlier run, instead of --rewriter.",
    },
    "--seed": {"name": "seed", "type": int, "default": 0, "show_default": True, "metavar": "N"},
    "--out": {"name": "out", "type": PATH, "metavar": "PATH"},
    "--references": {"name": "references", "type": PATH, "metavar": "PATH"},
    "--where": {
        "name": "where",
        "multiple": True,
        "metavar": "COLUMN=VALUE",
        "help": "Keep the rows with this value; repeatable.",
    },
    "--split": {"name": "split", "metavar": "NAME"},
    "--limit": {"name": "limit", "type": click.IntRange(min=1), "metavar": "N"},
    "--confidence-level": {
        "name": "confidence_level",
        "type": LEVEL,
        "default": 0.95,
        "show_default": True,
        "help": "Level of the intervals.",
    },
    "--margin": {
        "name": "margin",
        "type": float,
        "default": 2.0,
        "show_default": True,
        "metavar": "POINTS",
        "callback": lambda _context, _parameter, points: parse_margin(points),
        "help": "The drop that does not matter: below it a model is robust.",
    },
    "--json": {"name": "as_json", "is_flag": True, "help": "Print JSON."},
    "--push": {"name": "push", "metavar": "ORG", "help": "Upload to ORG/NAME on the Hub when it is built."},
    "--private": {"name": "private", "is_flag": True},
    "--gated": {
        "name": "gated",
        "type": click.Choice(["auto", "manual"]),
        "help": "Require access requests: approved automatically (auto) or by you (manual).",
    },
}


def add_option(option: str, help: str | None = None, **changes: Any) -> Decorator:
    """Return a decorator that adds an option of the grammar; `changes` are what this command has of its own."""
    settings = SHARED[option] | ({} if help is None else {"help": help}) | changes
    return click.option(option, settings.pop("name"), **settings)


def add_executor_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --executor and --ray-address to a command."""
    command = click.option(
        "--ray-address", metavar="ADDRESS", help="With --executor ray: a running cluster, e.g. auto or 10.0.0.1:6379."
    )(command)
    return click.option(
        "--executor",
        "executor_name",
        type=click.Choice(["local", "ray"]),
        default="local",
        show_default=True,
        help='Where the work is done; ray needs the extra "lapsus[ray]".',
    )(command)


def open_executor_from_options(
    name: str, ray_address: str | None, cpus: int | None = None
) -> AbstractContextManager[Executor]:
    """Return the executor that the options name."""
    if ray_address and name != "ray":
        raise click.UsageError("--ray-address names a Ray cluster; add --executor ray, or leave it out")
    return open_executor("ray", address=ray_address, cpus=cpus) if name == "ray" else nullcontext(LOCAL)


def parse_assignments(assignments: Iterable[str]) -> dict[str, str]:
    """Parse NAME=VALUE words; raise where a name is given twice.

    >>> parse_assignments(["rate=0.1", "where=a=b"])
    {'rate': '0.1', 'where': 'a=b'}
    """
    values: dict[str, str] = {}
    for assignment in assignments:
        name, sign, value = assignment.partition("=")
        if not (name and sign):
            raise ValueError(f"{assignment!r} is no assignment; write NAME=VALUE")
        if name in values:
            raise ValueError(f"{name!r} is given twice, as {values[name]!r} and {value!r}; give each name once")
        values[name] = value
    return values


def parse_margin(points: float) -> float:
    """Return points as a fraction; raise where they make no margin.

    >>> parse_margin(2)
    0.02
    """
    if not 0 < points < 100:
        raise ValueError(
            f"--margin is {points:g}: it must be above 0 and below 100, as no study shows that a drop is exactly 0;"
            " give the points of a drop that does not matter to you, e.g. --margin 2."
        )
    return points / 100


def split_list(words: str | None) -> list[str]:
    """Return the words of a list such as "a, b".

    >>> split_list("clean, keyboard.*")
    ['clean', 'keyboard.*']
    """
    return [word.strip() for word in (words or "").split(",") if word.strip()]
