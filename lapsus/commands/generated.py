"""Texts that are generated from the units: the README's tables and the cards of the metrics.

`python -m lapsus.commands.generated` rewrites them, in a checkout; `--check` only tells which are stale.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from lapsus import metrics
from lapsus.commands.catalogue import catalogue
from lapsus.hub.dataset_card import table
from lapsus.hub.metric_card import card

UNITS = re.compile(r"(<!-- units: .*? -->\n).*(<!-- /units -->)", re.DOTALL)
LINKS = {"datasets": "hub_cards/{}.md", "metrics": "metrics/{}/README.md"}


def texts(root: Path) -> dict[Path, str]:
    """Return every generated text by its path in the checkout at `root`."""
    readme = root / "README.md"
    cards = {root / "metrics" / name / "README.md": card(name) for name in metrics.names()}
    tables = UNITS.sub(lambda marks: f"{marks[1]}{unit_tables()}{marks[2]}", readme.read_text(encoding="utf-8"))
    return {readme: tables, **cards}


def unit_tables() -> str:
    """Return a table of datasets, of metrics and of operators."""
    parts = []
    for kind, rows in catalogue().items():
        link = LINKS.get(kind)
        cells = (
            [
                f"[`{row['name']}`]({link.format(row['name'])})" if link else f"`{row['name']}`",
                row["summary"],
                row["needs"],
            ]
            for row in rows
        )
        parts.append(f"## {kind.capitalize()}\n\n{table(['name', 'what it does', 'needs'], cells)}\n")
    return "\n" + "\n".join(parts) + "\n"


def main() -> int:
    """Write what is stale, or with --check say so and fail."""
    stale = {path: text for path, text in texts(Path.cwd()).items() if path.read_text(encoding="utf-8") != text}
    check = "--check" in sys.argv[1:]
    for path, text in stale.items():
        print(f"{path.name} of {path.parent.name} is stale; run `make cards`" if check else f"wrote {path}")  # noqa: T201
        if not check:
            path.write_text(text, encoding="utf-8")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
