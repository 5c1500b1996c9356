"""The folder between the steps: the pairs, the candidates, and the sheets for judges."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lapsus.collect.candidates import Paraphrase
from lapsus.collect.sheets import write_sheets
from lapsus.core.files import stage_file
from lapsus.io.readers import Row, read_rows

PAIRS, CANDIDATES = "pairs.jsonl", "candidates.jsonl"


@dataclass(frozen=True, slots=True)
class ProposalFolder:
    """What `lapsus collect paraphrases propose` wrote."""

    pairs: list[Row]
    candidates: list[Paraphrase]


def write_folder(folder: Path, pairs: Iterable[Row], candidates: Sequence[Paraphrase]) -> None:
    """Write the pairs, the candidates and the sheets."""
    write_rows(folder / PAIRS, pairs)
    write_rows(folder / CANDIDATES, map(asdict, candidates))
    write_sheets(candidates, folder)


def read_folder(folder: Path) -> ProposalFolder:
    """Read what was written."""
    for name in (PAIRS, CANDIDATES):
        if not (folder / name).is_file():
            raise FileNotFoundError(
                f"{folder} has no {name}; give the folder that `lapsus collect paraphrases propose` wrote"
            )
    return ProposalFolder(read_rows(folder / PAIRS), [Paraphrase(**row) for row in read_rows(folder / CANDIDATES)])


def write_rows(path: Path, rows: Iterable[Any]) -> int:
    """Write rows as JSON lines, all or nothing; return how many."""
    number = 0
    with stage_file(path) as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            number += 1
    return number
