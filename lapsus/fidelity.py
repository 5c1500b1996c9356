"""How human a synthetic track is: files in, profiles side by side and the classifier's verdict out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


def read_texts(path: Path, column: str | None = None) -> list[str]:
    """Return the texts of a file: its lines, or one column of its JSON lines, without the space around them.

    Args:
        path: a text file with one text per line, or a file whose name ends in .jsonl or .json with one object per line.
        column: which value of each object is the text; not needed where only one is a string.
    """
    return list(_texts_by_id(path, column).values())


def _texts_by_id(path: Path, column: str | None) -> dict[str, str]:
    """Return the texts by the `id` of their objects, or by their place where there is none."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if path.suffix not in {".jsonl", ".json"}:
        return {str(number): line.strip() for number, line in enumerate(lines, 1)}
    texts: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            row = _row(path, number, line)
            key = str(row.get("id", number))
            if key in texts:
                raise ValueError(f"line {number} of {path} has the id {key!r} of a line before: give each its own.")
            texts[key] = _value(path, number, row, column).strip()
    return texts


def _row(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {number} of {path} is no JSON ({error.msg}): give one object per line.") from None
    if not isinstance(row, dict):
        raise TypeError(f"line {number} of {path} is {line.strip()[:40]!r}: give one JSON object per line.")
    return row


def _value(path: Path, number: int, row: dict[str, Any], column: str | None) -> str:
    strings = [name for name, value in row.items() if isinstance(value, str) and name != "id"]
    wanted = column or (strings[0] if len(strings) == 1 else None)
    if wanted is None:
        raise ValueError(f"line {number} of {path} has the texts {strings}: name one of them with --column.")
    if wanted not in strings:
        raise LookupError(f"line {number} of {path} has no text {wanted!r}: its texts are {strings}.")
    text: str = row[wanted]
    return text


def fidelity(
    clean: Path, human: Sequence[Path], synthetic: Sequence[Path], column: str | None = None
) -> dict[str, Any]:
    """Return `human_likeness` of the files' texts, each file one writer of the same clean sentences.

    Sentences are matched by the `id` of their JSON objects, where they have one, and those that every file has are
    compared; other files must have one line per clean line.
    """
    from lapsus.metrics.human_likeness.score import human_likeness

    meant = _texts_by_id(clean, column)
    people, machines = ([_texts_by_id(path, column) for path in paths] for paths in (human, synthetic))
    shared = [key for key in meant if all(key in track for track in (*people, *machines))]
    for path, track in zip((*human, *synthetic), (*people, *machines), strict=True):
        if not shared or (len(track) != len(meant) and list(track) == [str(n) for n in range(1, len(track) + 1)]):
            raise ValueError(f"{path} has {len(track)} texts and {clean} has {len(meant)}: give one for each.")
    rows = [([track[key] for track in machines], meant[key], [track[key] for track in people]) for key in shared]
    return human_likeness(*map(list, zip(*rows, strict=True)))


def table(result: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the comparison: a name, the synthetic side, the human side, each human."""
    sides = [result["synthetic"], result["human"], *result["humans"]]
    yield ("", "synthetic", "human", *(f"human {n}" for n in range(1, len(result["humans"]) + 1)))
    for key, name in (("micro_average", "error rate, micro"), ("worst_average", "error rate, worst")):
        yield (name, *(f"{side[key]:.3f}" for side in sides))
    for key in ("unchanged", "equal_length", "edits_per_text", "new_latin"):
        yield (key.replace("_", " "), *(f"{side[key]:.3f}" for side in sides))
    for group, name in (("kinds", "kind: "), ("span_lengths", "span of ")):
        for key in sides[0][group]:
            yield (name + key.replace("_", " "), *(f"{side[group][key]:.3f}" for side in sides))
    aucs = [result["auc"], None, *result["human_aucs"]]
    yield ("AUC against the humans", *("-" if auc is None else f"{auc:.3f}" for auc in aucs))


def report(result: dict[str, Any]) -> str:
    """Return the comparison as aligned text, with what gives either side away.

    >>> from lapsus.metrics.human_likeness.score import human_likeness
    >>> clean = ["花呗怎么不能提额了", "借呗额度为什么没有了"]
    >>> print(report(human_likeness(clean, clean, [["花呗怎么不能贴了"], [clean[1]]])).splitlines()[1])
    error rate, micro           0.000  0.111    0.111
    """
    rows = list(table(result))
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]
    for side, names in result["features"].items():
        lines.append(f"what says {side}: {', '.join(names) or 'nothing'}")
    return "\n".join(line.rstrip() for line in lines)
