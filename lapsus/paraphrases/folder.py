"""The folder between the steps: the pairs, the candidates, and the sheets for judges."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lapsus.kernel.atomic import staged_file
from lapsus.kernel.rows import Row, read
from lapsus.paraphrases.candidates import Candidate
from lapsus.paraphrases.sheets import write_sheets

PAIRS, CANDIDATES = "pairs.jsonl", "candidates.jsonl"


@dataclass(frozen=True, slots=True)
class Proposed:
    """What `lapsus paraphrase propose` wrote."""

    pairs: list[Row]
    candidates: list[Candidate]


def write(folder: Path, pairs: Iterable[Row], candidates: Sequence[Candidate]) -> None:
    """Write the pairs, the candidates and the sheets."""
    write_rows(folder / PAIRS, pairs)
    write_rows(folder / CANDIDATES, map(asdict, candidates))
    write_sheets(candidates, folder)


def open_folder(folder: Path) -> Proposed:
    """Read what was written."""
    for name in (PAIRS, CANDIDATES):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder} has no {name}; give the folder that `lapsus paraphrase propose` wrote")
    return Proposed(read(folder / PAIRS), [Candidate(**row) for row in read(folder / CANDIDATES)])


def write_rows(path: Path, rows: Iterable[Any]) -> int:
    """Write rows as JSON lines, all or nothing; return how many."""
    number = 0
    with staged_file(path) as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            number += 1
    return number
