"""Read what recognisers wrote of Mandarin: the sets of transcripts of zh_asr_pairs, without marks."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from pathlib import Path

NO_MARKS = re.compile(r"<unk>|\W|_")
FILES = {  # of each voice of `zh_speech` that is fitted on them
    "accented Mandarin": "mandarin-accented",
    "standard Mandarin": "mandarin",
    "AISHELL-1": "aishell1",
    "MagicData": "magicdata",
}
SHORTEST = 4  # characters; what is shorter has no neighbours to tell it by


def bare(text: str) -> str:
    """Return a text without marks, spaces, and what the recogniser gave up."""
    return NO_MARKS.sub("", text)


def recognised(folder: Path, voice: str, half: int) -> list[tuple[str, str]]:
    """Return different (said, recognised) texts of a voice: half 0 is fitted on, half 1 is judged on, in random order.

    A sentence is in one half, whoever said it.
    """
    with (folder / f"{FILES[voice]}.csv").open(encoding="utf-8", newline="") as file:
        rows = dict.fromkeys((bare(row["transcript"]), bare(row["recognition"])) for row in csv.DictReader(file))
    drawn = [(crc32(said[::-1].encode()), (said, heard)) for said, heard in rows if len(said) >= SHORTEST]
    return [row for place, row in sorted(drawn) if place % 2 == half]
