"""Read READIN's files for the Chinese benchmarks: the same texts as entered by three annotators."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein


class Tracks(NamedTuple):
    """Rows that all three annotators have."""

    keys: list[str]
    clean: list[str]
    noisy: list[list[str]]  # the noisy texts of each annotator


def column(path: Path, name: str) -> list[str]:
    """Return a column of a READIN file, which is JSON lines whatever its ending."""
    with path.open(encoding="utf-8") as lines:
        return [str(json.loads(line)[name]).strip() for line in lines]


def labelled(folder: Path, name: str) -> list[tuple[str, str, str]]:
    """Return the pairs of questions of a file of AFQMC, from the folder afqmc_balanced, and their labels."""
    sides = (column(folder / f"{name}.json", key) for key in ("sentence1", "sentence2", "label"))
    return list(zip(*sides, strict=True))


def news(folder: Path, kind: str) -> Tracks:
    """Return the Chinese side of WMT2021, typed ("keyboard") or dictated ("asr"), from the folder realtypo_nmt."""
    sides = []
    for name in ("test_clean", *(f"test_noisy_{kind}_{n}" for n in (1, 2, 3))):
        path = folder / f"{name}.json"
        sides.append(dict(zip(column(path, "id"), column(path, "zh"), strict=True)))
    shared = [n for n in sides[0] if all(n in side for side in sides)]
    clean, *noisy = ([side[n] for n in shared] for side in sides)
    return Tracks(shared, clean, noisy)


def questions(folder: Path) -> Tracks:
    """Return the typed questions of AFQMC, from the folder afqmc_balanced; both questions of a row have its number."""
    names = ("sentence1", "sentence2")
    files = ("test_clean", *(f"test_noisy_{n}" for n in (1, 2, 3)))
    sides = [[column(folder / f"{file}.json", name) for name in names] for file in files]
    clean, *noisy = ([text for row in zip(*side, strict=True) for text in row] for side in sides)
    return Tracks([f"{n // 2}-{names[n % 2]}" for n in range(len(clean))], clean, noisy)


def different(folder: Path, name: str) -> list[str]:
    """Return the different questions of a file of AFQMC, from the folder afqmc_balanced."""
    sides = (column(folder / f"{name}.json", side) for side in ("sentence1", "sentence2"))
    return list(dict.fromkeys(text for side in sides for text in side))


def unseen(folder: Path, name: str) -> list[str]:
    """Return the different questions of a file of AFQMC, from the folder afqmc_balanced, that no track holds."""
    clean, noisy = questions(folder)[1:]
    held = {text for side in (clean, *noisy) for text in side}
    return [text for text in different(folder, name) if text not in held]


def places(clean: str, noisy: str) -> list[int]:
    """Return for each character of a text, and for its end, where what stands for it begins.

    >>> places("她来啦", "他来了啦")
    [0, 1, 3, 4]
    """
    place = [0] * (len(clean) + 1)
    for op in Levenshtein.opcodes(clean, noisy):
        for at in range(op.src_start, op.src_end):
            place[at] = op.dest_start + min(at - op.src_start, op.dest_end - op.dest_start)
        place[op.src_end] = op.dest_end
    return place
