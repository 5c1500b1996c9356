"""The command line: each command parses, calls one function, and says what it wrote."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

import lapsus

# What a user can cause; anything else is a bug of ours, and its traceback is welcome.
USER_ERRORS = (ValueError, TypeError, LookupError, OSError, ImportError)


class OneSentenceErrors(click.Group):
    """A group whose commands fail with one sentence, or with the traceback under --debug."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except USER_ERRORS as error:
            if ctx.params["debug"]:
                raise
            raise click.ClickException(one_sentence(error)) from error


def one_sentence(error: BaseException) -> str:
    """Return an error's message on one line.

    >>> one_sentence(KeyError("no column 'x'"))
    "no column 'x'"
    """
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    return " ".join(text.split()) or type(error).__name__


def example(text: str) -> str:
    """Return the epilog that shows a command in use."""
    return f"\b\nExample:\n  {text}"


@click.group(cls=OneSentenceErrors, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(lapsus.__version__)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def main(*, debug: bool) -> None:
    """Measure what real human input costs a language model."""


@main.command(epilog=example("lapsus demo --out demo"))
@click.option("--out", type=click.Path(path_type=Path), default=Path("demo"), show_default=True)
def demo(out: Path) -> None:
    """Run the whole loop on the embedded sample: build, load, perturb, score, report."""
    from lapsus.demo import run

    page = run(out, say=click.echo)
    click.echo(f"wrote {page}")


@main.command("list", epilog=example("lapsus list --json | jq .metrics"))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_units(*, as_json: bool) -> None:
    """Show the datasets, metrics and operators: what each is, what it needs."""
    from lapsus.catalogue import catalogue

    units = catalogue()
    if as_json:
        click.echo(json.dumps(units, ensure_ascii=False, indent=2))
        return
    for kind, rows in units.items():
        click.echo(click.style(kind, bold=True))
        width = max((len(row["name"]) for row in rows), default=0)
        for row in rows:
            needs = f"  [needs {row['needs']}]" if row["needs"] else ""
            click.echo(f"  {row['name']:<{width}}  {row['summary']}{needs}")


@main.command(epilog=example("lapsus build readin-afqmc --source READIN.zip --out readin-afqmc"))
@click.argument("name")
@click.option("--source", type=click.Path(path_type=Path), help="Folder or archive with the original files.")
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="Folder to write, as load_dataset reads it."
)
@click.option(
    "--allow-partial", is_flag=True, help="Build what is there when rows are missing, and say so in the card."
)
@click.option("--push", metavar="ORG", help="Upload to ORG/NAME on the Hub when it is built.")
@click.option("--private", is_flag=True, help="With --push: make the repo private.")
@click.option("--i-have-the-rights", is_flag=True, help="With --push: publish although the source states no licence.")
def build(
    name: str,
    source: Path | None,
    out: Path,
    *,
    allow_partial: bool,
    push: str | None,
    private: bool,
    i_have_the_rights: bool,
) -> None:
    """Build dataset NAME from its original files: Parquet and a card."""
    from lapsus.catalogue import find_benchmark
    from lapsus.publish import publish

    benchmark = find_benchmark(name)
    if push and benchmark.LICENSE is None and not i_have_the_rights:
        raise click.UsageError(
            f"the source of {name} states no licence, so it cannot be published for you; "
            "build it without --push, or pass --i-have-the-rights if you do"
        )
    built = publish(benchmark, out, source=source, allow_partial=allow_partial)
    rows = sum(sum(splits.values()) for splits in built.rows.values())
    for place, (official, found) in built.differs.items():
        click.echo(f"partial: {place} has {found:,} of {official:,} rows", err=True)
    click.echo(f"wrote {rows:,} rows in {len(built.rows)} configs to {built.path}")
    if push:
        from lapsus.upload import upload

        click.echo(f"uploaded to {upload(built.path, f'{push}/{name}', private=private)}")


if __name__ == "__main__":
    sys.exit(main())
