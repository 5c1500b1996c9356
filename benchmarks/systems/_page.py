"""Write a generated part of a page of the docs."""

from pathlib import Path


def write(page: Path, name: str, text: str, by: str = "a script of benchmarks/systems") -> None:
    """Replace what stands between two markers of a page; the first one says by what it is written."""
    start, end = f"<!-- {name}: written by {by} -->", f"<!-- /{name} -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(start)
    _, mark, after = rest.partition(end)
    if not mark:
        raise ValueError(f"{page} has no markers {start} … {end}")
    page.write_text(f"{before}{start}\n\n{text}\n\n{end}{after}", encoding="utf-8")
