"""The options that say where the work is done, shared by the commands that have much of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from lapsus.kernel.engines import Engine


def engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
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


def chosen_engine(name: str, address: str | None, cpus: int | None = None) -> AbstractContextManager[Engine]:
    """Return the engine that the options name."""
    from lapsus.kernel.engines import engine

    if address and name != "ray":
        raise click.UsageError("--address names a Ray cluster; give --engine ray too, or leave it out")
    return engine("ray" if name == "ray" else "local", address=address, cpus=cpus)
