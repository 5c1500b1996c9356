"""Write a generated part of a page of the docs."""

from collections.abc import Callable
from pathlib import Path

import click


def write(page: Path, name: str, text: str, by: str = "a script of benchmarks/systems") -> None:
    """Replace what stands between two markers of a page; the first one says by what it is written."""
    start, end = f"<!-- {name}: written by {by} -->", f"<!-- /{name} -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(start)
    _, mark, after = rest.partition(end)
    if not mark:
        raise ValueError(f"{page} has no markers {start} … {end}")
    page.write_text(f"{before}{start}\n\n{text}\n\n{end}{after}", encoding="utf-8")


def table_command(text_of: Callable[[Path, Path], str]) -> click.Command:
    """Return the command `table` of a script, which writes what `text_of` makes of a recipe and the kept runs."""

    @click.command()
    @click.argument("recipe", type=click.Path(path_type=Path, exists=True))
    @click.option("--work", type=click.Path(path_type=Path), required=True, help="what is kept of each run")
    @click.option("--out", type=click.Path(path_type=Path, exists=True), help="the page whose marked part is rewritten")
    def table(recipe: Path, work: Path, out: Path | None) -> None:
        """Write what the systems of a recipe reached."""
        told = text_of(recipe, work)
        click.echo(told)
        if out is not None:
            write(out, recipe.stem, told)

    return table
