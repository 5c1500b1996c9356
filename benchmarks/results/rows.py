"""Make the rows of the results page from the original files: `python rows.py SNIPS_FOLDER AFQMC_DEV_JSON OUT`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lapsus.dataset_scripts.nature import NatureSnips
from lapsus.dataset_scripts.source import open_source


def write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def main(snips: Path, afqmc: Path, out: Path) -> None:
    """Write SNIPS as text with intent, and AFQMC's public rows, split into threshold rows and test rows."""
    out.mkdir(parents=True, exist_ok=True)
    source = open_source(snips)
    for split in ("train", "test"):
        rows = NatureSnips.utterances(source, split)
        told = ({"id": row["id"], "text": " ".join(row["tokens"]), "intent": row["intent"]} for row in rows)
        write(out / f"snips-{split}.jsonl", told)
    pairs = [json.loads(line) for line in afqmc.read_text(encoding="utf-8").splitlines()]
    named = [{"id": str(number), **row} for number, row in enumerate(pairs)]
    write(out / "afqmc-train.jsonl", named[3::4][:400])
    write(out / "afqmc-test.jsonl", [row for number, row in enumerate(named) if number % 4 != 3][:600])


main(*map(Path, sys.argv[1:4]))
