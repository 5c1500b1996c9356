"""The group of all commands: a command's module is imported when the command is called."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

import lapsus
from lapsus.cli.catalogue import read_catalogue
from lapsus.core.messages import USER_ERRORS, format_error, format_unknown_name
from lapsus.core.plugins import index_units, iter_plugin_units

ARGV_KEY = "lapsus.words"  # where the context holds the words of the command
COMMANDS = {  # name -> module of lapsus.cli and its function
    "build": "hub:build",
    "check": "check:check",
    "collect": "collect:collect",
    "collection": "hub:collection",
    "compare": "report:compare",
    "demo": "demo:demo",
    "dialect": "dialect:dialect",
    "edits": "hub:edits",
    "fidelity": "score:fidelity",
    "list": "list:list_units",
    "make": "hub:make",
    "perturb": "perturb:perturb",
    "plan": "plan:plan",
    "push": "hub:push",
    "release": "hub:release",
    "report": "report:report",
    "run": "run:run",
    "score": "score:score",
    "tasks": "tasks:tasks",
}


class StrictGroup(click.Group):
    """A group in which an option that takes one value is given at most once, and whose help cuts no summary."""

    def summarise_commands(self, ctx: click.Context) -> dict[str, str]:
        """Return the first sentence of each command by its name."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        return {name: command.get_short_help_str(1000) for name, command in commands.items() if command}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their first sentences."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(self.summarise_commands(ctx).items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the words name, and check its options."""
        if args[0][:1].isalpha() and self.get_command(ctx, args[0]) is None:
            raise click.UsageError(format_unknown_name("command", args[0], self.list_commands(ctx)), ctx)
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not isinstance(command, click.Group) and not ctx.resilient_parsing:
            check_single_values(command, rest, click.Context(command, info_name=name, parent=ctx))
        return name, command, rest


def check_single_values(command: click.Command, args: Sequence[str], context: click.Context) -> None:
    """Raise where an option that takes one value is given more than once."""
    _, _, order = command.make_parser(context).parse_args(args=list(args))
    counts = Counter(
        parameter
        for parameter in order
        if isinstance(parameter, click.Option) and not (parameter.multiple or parameter.count or parameter.is_flag)
    )
    for option, count in counts.items():
        if count > 1:
            raise click.UsageError(f"{option.opts[0]} takes one value, but is given {count} times", context)


class LazyGroup(StrictGroup):
    """The group `lapsus`, whose commands fail with one sentence, or with the traceback under --debug.

    Other packages add commands by the entry point `lapsus.commands`.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        own = {unit["name"] for unit in read_catalogue()["commands"]}
        return sorted({*COMMANDS, *own, *load_plugin_commands(own=False)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; plugins are loaded only for a name that lapsus itself does not have."""
        if cmd_name not in COMMANDS:
            return load_plugin_commands().get(cmd_name)
        module, _, function = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(f"lapsus.cli.{module}"), function)
        return command

    def summarise_commands(self, ctx: click.Context) -> dict[str, str]:
        """Return the first sentence of each command by its name; those of lapsus are not imported."""
        own = {unit["name"]: unit["summary"] for unit in read_catalogue()["commands"]}
        plugins = load_plugin_commands(own=False)
        return own | {name: command.get_short_help_str(1000) for name, command in plugins.items()}

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Keep the words of the command for the report, and print no colours where NO_COLOR is set."""
        words = ["lapsus", *args]
        if os.environ.get("NO_COLOR"):
            extra.setdefault("color", False)
        context = super().make_context(info_name, args, parent, **extra)
        context.meta[ARGV_KEY] = words
        return context

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except USER_ERRORS as error:
            if ctx.params["debug"] or (isinstance(error, BrokenPipeError) and _is_pipe_closed()):
                raise  # click ends quietly where nobody reads on
            raise click.ClickException(format_error(error)) from error


def load_plugin_commands(*, own: bool = True) -> dict[str, click.Command]:
    """Return the commands that packages add, by name; without `own`, only those of other packages."""
    return index_units(iter_plugin_units("lapsus.commands", own=own), lambda command: str(command.name))


def _is_pipe_closed() -> bool:
    """Return whether what is printed goes to a program that has ended, such as `head`."""
    try:
        click.echo()
    except BrokenPipeError:
        return True
    return False


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(lapsus.__version__)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def main(*, debug: bool) -> None:
    """Measure what real human input costs a language model."""
