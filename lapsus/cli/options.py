"""The options that say where the work is done, shared by the commands that have much of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from lapsus.core.executors import Executor


def executor_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --engine and --address to a command."""
    command = click.option("--address", help="With --engine ray: a running cluster, such as auto or 10.0.0.1:6379.")(
        command
    )
    return click.option(
        "--engine",
        "engine_name",
        type=click.Choice(["local", "ray"]),
        default="local",
        show_default=True,
        help='Where the work is done; ray needs the extra "lapsus[ray]".',
    )(command)


def open_executor_from_options(
    name: str, address: str | None, cpus: int | None = None
) -> AbstractContextManager[Executor]:
    """Return the engine that the options name."""
    from lapsus.core.executors import open_executor

    if address and name != "ray":
        raise click.UsageError("--address names a Ray cluster; give --engine ray too, or leave it out")
    return open_executor("ray" if name == "ray" else "local", address=address, cpus=cpus)


# Help text that several commands share.


def format_examples(*lines: str) -> str:
    """Return the epilog that shows a command in use."""
    return "\n".join(["\b", "Example:", *(f"  {line}" for line in lines)])
