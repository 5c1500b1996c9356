"""`lapsus list`: datasets, metrics, operators, scorers, tasks, text metrics and input methods."""

from __future__ import annotations

import json

import click

from lapsus.cli.catalogue import GROUPS, Unit, filter_units, format_units, make_unit
from lapsus.cli.catalogue import list_units as list_catalogue
from lapsus.cli.options import add_option
from lapsus.core.messages import format_examples
from lapsus.perturbations.zh.input_method.installed import list_input_methods

KINDS = (*GROUPS, "input-methods")


@click.command(
    "list",
    epilog=format_examples("lapsus list operators filler", "lapsus list tasks --language zh", "lapsus list --json"),
)
@click.argument("kind", required=False, type=click.Choice(KINDS), default=None, metavar="[KIND]")
@click.argument("words", nargs=-1)
@click.option("--language", metavar="CODE", help="Only units for this language, e.g. zh, and units for any language.")
@add_option("--json")
def list_units(kind: str | None, words: tuple[str, ...], language: str | None, *, as_json: bool) -> None:
    """List datasets, metrics, operators, scorers, tasks, text metrics and input methods.

    KIND is one of datasets, metrics, operators, scorers, tasks, text-metrics and input-methods. With WORDS, only units
    with all of them in their name or description are listed.
    """
    units = {name: filter_units(rows, words, language) for name, rows in select_kinds(kind).items()}
    if as_json:
        click.echo(json.dumps(units, ensure_ascii=False, indent=2))
        return
    if not any(units.values()):
        query = " ".join((*words, *((f"--language {language}",) if language else ())))
        command = f"lapsus list {kind}" if kind else "lapsus list"
        raise LookupError(f"no match for {query!r} among the {kind or 'units'}; {command} lists all")
    for name, rows in units.items():
        if rows:
            click.echo(click.style(name.replace("-", " "), bold=True))
            click.echo("\n".join(format_units(rows)))


def select_kinds(kind: str | None = None) -> dict[str, list[Unit]]:
    """Return the units of a kind, or of all kinds."""
    return {
        name: describe_input_methods() if name == "input-methods" else list_catalogue(name)
        for name in (KINDS if kind is None else (kind,))
    }


def describe_input_methods() -> list[Unit]:
    """Return the Pinyin input methods that `zh_keyboard` supports: whether each is installed, or how to install it."""
    return [
        make_unit(method.name, "installed" if method.available else f"missing; {method.install}", language="zh")
        for method in list_input_methods()
    ]
